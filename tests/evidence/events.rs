//! What git itself does to a history, by its own commands: an honest report of it is taken, and one that
//! names what somebody else wrote is refused.

use crate::job::{Job, OWN, library, list_planned, proof, with};
use crate::support::Run;
use serde_json::{Value, json};

/// What git does to a history: tests of an honest report of it, tests of a dishonest one. `rows` holds
/// them to be among its own.
pub const EVENTS: [(&str, &[&str], &[&str]); 19] = [
    (
        "rebase",
        &[
            "a_rebase_a_squash_and_a_cherry_pick_on_a_moved_base_are_followed",
            "what_a_rebase_brings_is_nobody_s_proof",
        ],
        &[
            "what_a_rebase_brings_is_nobody_s_proof",
            "what_a_rebase_rewrites_is_not_the_slices_in_work",
        ],
    ),
    (
        "rebase with a conflict",
        &[
            "a_rebase_with_a_conflict_keeps_a_part_with_a_reason",
            "a_line_that_both_wrote_in_a_rebase_is_answered",
        ],
        &["a_line_that_both_wrote_in_a_rebase_is_answered"],
    ),
    (
        "squash",
        &["a_rebase_a_squash_and_a_cherry_pick_on_a_moved_base_are_followed"],
        &["a_squash_with_somebody_elses_work_is_not_the_slices"],
    ),
    (
        "amend",
        &["the_same_tree_in_another_commit_changes_nothing"],
        &["an_amend_with_another_text_is_answered"],
    ),
    (
        "cherry-pick",
        &["a_cherry_pick_of_somebody_else_s_work_is_nobody_s_proof"],
        &["a_cherry_pick_of_somebody_else_s_work_is_nobody_s_proof"],
    ),
    (
        "formatter over everything",
        &["a_formatter_is_followed"],
        &["a_formatter_does_not_make_every_line_a_place_for_proof"],
    ),
    (
        "rename with edit",
        &["a_rename_with_edits_and_a_move_are_followed"],
        &["the_edit_that_came_with_a_rename_is_nobody_s_proof"],
    ),
    (
        "merge from main",
        &["what_a_merge_brings_in_is_somebody_elses"],
        &["what_a_merge_brings_in_is_somebody_elses"],
    ),
    (
        "merge into main",
        &["own_commits_stay_own_behind_a_merge_into_a_colleagues_branch"],
        &["what_a_merge_brings_in_is_somebody_elses"],
    ),
    (
        "revert",
        &["a_revert_reopens_whatever_a_receipt_says"],
        &["proof_that_is_lost_is_not_replaced_by_other_work_of_the_slice"],
    ),
    (
        "revert of a revert",
        &["a_revert_of_a_revert_is_reported_as_it_is"],
        &["a_revert_holds_no_work_to_reopen_at"],
    ),
    (
        "reset to a rejected attempt",
        &["a_reset_that_is_taken_back_changes_nothing"],
        &[
            "a_reset_before_the_slice_or_to_a_rejected_attempt_reopens",
            "the_text_of_a_rejected_attempt_proves_nothing_wherever_it_is_committed",
        ],
    ),
    (
        "deletion",
        &["a_slice_that_only_deletes_is_proved_by_what_is_gone"],
        &["a_slice_that_only_deletes_is_proved_by_what_is_gone"],
    ),
    (
        "binary",
        &["what_has_no_lines_is_proved_as_an_entry"],
        &["an_entry_that_is_as_before_is_no_proof_when_it_is_named_again"],
    ),
    (
        "mode",
        &["a_mode_that_is_put_back_is_lost"],
        &["a_mode_that_is_put_back_is_lost"],
    ),
    (
        "submodule bump",
        &["a_submodule_is_proved_by_the_commit_it_was_moved_to"],
        &["a_submodule_is_proved_by_the_commit_it_was_moved_to"],
    ),
    (
        "dropped criterion",
        &["a_criterion_is_dropped_with_a_text_or_a_receipt_at_head"],
        &["a_dropped_criterion_is_held_to_its_proof_to_the_end"],
    ),
    (
        "pruned commit",
        &["a_commit_that_is_gone_is_followed_by_its_digests"],
        &["a_revert_is_seen_though_the_commit_is_gone"],
    ),
    (
        "shallow clone",
        &["a_history_that_is_cut_off_is_followed_by_its_digests"],
        &["a_history_that_is_cut_off_is_followed_by_its_digests"],
    ),
];

fn claims(anchor: &str) -> Value {
    json!([proof("a", "a works", anchor, "observed")])
}

impl Job {
    /// The report goes on with this as proof of the done slice; where a part of it is left, it says so.
    fn says_of_done(&self, anchor: &str) -> Run {
        let block = json!({"select": "b", "evidence": claims(anchor)});
        let run = self.reground(block.clone());
        if !run.err.contains("part-a") {
            return run;
        }
        let mut block = block;
        block["answers"] = json!([{"no": "part-a", "reason": "what is left of it does"}]);
        self.reground(block)
    }

    #[track_caller]
    fn refuses(&self, anchor: &str) {
        self.says_of_done(anchor)
            .exits(4)
            .says("evidence_unrelated");
        assert_eq!(self.status("a"), "done");
    }

    #[track_caller]
    fn takes(&self, anchor: &str) {
        self.says_of_done(anchor).ok();
        assert_eq!(self.status("a"), "done");
        assert_eq!(self.anchor("a"), anchor);
    }

    /// Taken with a question; the user answers it.
    #[track_caller]
    fn takes_and_asks(&self, anchor: &str) {
        let policy = json!({"to": "await_user_input", "question": "was that meant?"});
        self.reground(json!({"evidence": claims(anchor), "policy": policy}))
            .ok();
        assert_eq!(self.status("a"), "done");
        self.repo.cook(&["answer", "yes", "--as-user"]).ok();
    }

    /// A commit of somebody's before the work of `a`, on a branch of its own.
    fn upstream(&self, changes: &[(usize, &str)]) {
        self.git(&["checkout", "-q", "-b", "upstream", "main~1"]);
        self.repo.write("lib.txt", with(&library(), changes));
        self.repo.write("up.txt", "somebody wrote this upstream\n");
        self.repo.commit("Upstream", None);
        self.git(&["checkout", "-q", "main"]);
    }

    fn put_link(&self, mode: &str, id: &str, slice: Option<&str>) {
        let info = format!("{mode},{id},sub");
        self.git(&["update-index", "--add", "--cacheinfo", &info]);
        let message = slice.map_or("Link".to_owned(), |id| format!("Link\n\nCook-Slice: {id}"));
        self.git(&["commit", "-q", "-m", &message]);
    }
}

/// Row 2.
#[test]
fn what_a_rebase_brings_is_nobody_s_proof() {
    let job = Job::with_done();
    job.upstream(&[(10, "somebody wrote this line upstream")]);
    job.git(&["rebase", "-q", "upstream"]);
    for wrong in ["up.txt:1", "lib.txt:10"] {
        job.refuses(wrong);
    }
    job.stands().says("rebound");
    assert_eq!(job.anchor("a"), "lib.txt:5");
}

/// Row 3, and 6.
#[test]
fn a_line_that_both_wrote_in_a_rebase_is_answered() {
    let job = Job::with_done();
    job.upstream(&[(5, "somebody wrote this"), (10, "and this")]);
    let mut rebase = job.repo.command("git");
    rebase.args(["rebase", "-q", "upstream"]);
    assert!(!rebase.output().unwrap().status.success(), "no conflict");
    let both = [(5, "both wrote this in the end"), (10, "and this"), OWN[1]];
    job.repo.write("lib.txt", with(&library(), &both));
    job.git(&["add", "lib.txt"]);
    job.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    job.must_answer("evidence_changed");
    for wrong in ["up.txt:1", "lib.txt:10"] {
        job.refuses(wrong);
    }
    job.takes("lib.txt:5");
}

/// Row 1: the same commit, and another text.
#[test]
fn an_amend_with_another_text_is_answered() {
    let job = Job::with_done();
    let changes = [(5, "somebody amended this line"), (10, "and this"), OWN[1]];
    job.repo.write("lib.txt", with(&library(), &changes));
    job.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    job.must_answer("evidence_changed");
    job.refuses("lib.txt:10");
    job.takes("lib.txt:5");

    // Without the work it is as if it were reverted.
    let job = Job::with_done();
    job.repo.write("lib.txt", with(&library(), &[]));
    job.repo.write("other.txt", "somebody amended this\n");
    job.git(&["add", "-A"]);
    job.git(&["commit", "-q", "--amend", "--no-edit"]);
    job.is_reopened();
}

/// Row 2.
#[test]
fn a_cherry_pick_of_somebody_else_s_work_is_nobody_s_proof() {
    let job = Job::with_done();
    let work = job.repo.head();
    job.git(&["checkout", "-q", "-b", "colleague", "main~1"]);
    let theirs = job
        .repo
        .write_commit_for("a", "other.txt", "a colleague wrote this line\n");
    job.git(&["checkout", "-q", "main"]);
    job.git(&["reset", "-q", "--hard", "main~1"]);
    job.git(&["cherry-pick", &theirs, &work]);
    job.refuses("other.txt:1");
    job.stands().says("rebound");
    assert_eq!(job.anchor("a"), "lib.txt:5");
}

/// Row 5.
#[test]
fn the_edit_that_came_with_a_rename_is_nobody_s_proof() {
    let job = Job::with_done();
    job.git(&["mv", "lib.txt", "src.txt"]);
    let text = with(&library(), &OWN);
    job.repo
        .write("src.txt", format!("somebody wrote this on top\n{text}"));
    job.repo.commit("Rename", None);
    job.refuses("src.txt:1");
    job.stands();
    assert_eq!(job.anchor("a"), "src.txt:6");
}

/// Row 9: what is reverted stands nowhere, whichever commit is named.
#[test]
fn a_revert_holds_no_work_to_reopen_at() {
    let job = Job::with_done();
    job.git(&["revert", "--no-edit", "HEAD"]);
    let head = job.repo.head();
    let reopen = json!([{"slice_id": "a", "why": "it stands", "at": head}]);
    job.reground(json!({"reopen": reopen, "select": "a"})).ok();
    // Nothing of it can be reported there.
    job.report().exits(4);
    assert_ne!(job.status("a"), "done");
}

/// Row 10.
#[test]
fn a_reset_that_is_taken_back_changes_nothing() {
    let job = Job::with_done();
    let head = job.repo.head();
    job.git(&["reset", "-q", "--hard", "HEAD~1"]);
    job.git(&["reset", "-q", "--hard", &head]);
    job.stands();
}

/// Row 12.
#[test]
fn a_mode_that_is_put_back_is_lost() {
    let job = Job::begin(&["a works"]);
    job.git(&["update-index", "--chmod=+x", "drop.txt"]);
    job.git(&["commit", "-q", "-m", "Mode\n\nCook-Slice: a"]);
    job.git(&["checkout", "-q", "--", "."]);
    job.judge();
    let wrong = json!([proof("a", "a works", "entry:lib.txt", "observed")]);
    job.accept(wrong.as_array().unwrap())
        .exits(4)
        .says("evidence_unrelated");
    job.accept(claims("entry:drop.txt").as_array().unwrap())
        .ok();
    job.git(&["update-index", "--chmod=-x", "drop.txt"]);
    job.git(&["commit", "-q", "-m", "As before"]);
    job.git(&["checkout", "-q", "--", "."]);
    job.is_reopened();
}

/// Row 12.
#[cfg(unix)]
#[test]
fn a_link_is_proved_as_an_entry() {
    let job = Job::begin(&["a works"]);
    let link = job.repo.root.join("link");
    let point = |to: &str| {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(to, &link).unwrap();
    };
    point("lib.txt");
    job.repo.commit("Link", Some("a"));
    job.judge();
    job.accept(claims("entry:link").as_array().unwrap()).ok();
    point("drop.txt");
    job.repo.commit("To another file", None);
    job.must_answer("evidence_changed");
    job.refuses("entry:lib.txt");
    job.takes_and_asks("entry:link");
    job.git(&["rm", "-q", "link"]);
    job.repo.commit("Take it away", None);
    job.is_reopened();
}

/// Row 12.
#[test]
fn a_submodule_is_proved_by_the_commit_it_was_moved_to() {
    let job = Job::with_done();
    let [first, second, third] = ["1", "2", "3"].map(|digit| digit.repeat(40));
    std::fs::create_dir(job.repo.root.join("sub")).unwrap();
    job.put_link("160000", &first, None);
    let mut slices = list_planned(&job.repo);
    slices.push(slices[1].clone());
    slices[2]["slice_id"] = json!("c");
    let plan = json!({"plan_basis": "x", "candidate_slices": slices});
    job.reground(json!({"plan": plan, "select": "b"})).ok();
    job.put_link("160000", &second, Some("b"));
    job.judge();
    let moved = |anchor: &str| json!([proof("b", "b works", anchor, "observed")]);
    job.accept(moved("entry:lib.txt").as_array().unwrap())
        .exits(4)
        .says("evidence_unrelated");
    job.accept(moved("entry:sub").as_array().unwrap()).ok();
    // Somebody moves it on: it is named again, or the slice is opened.
    job.put_link("160000", &third, None);
    job.reground(json!({"select": "c"}))
        .exits(4)
        .says("evidence_changed");
    let ask = |question: &str, evidence: Value| {
        let policy = json!({"to": "await_user_input", "question": question});
        job.reground(json!({"evidence": evidence, "policy": policy}))
    };
    ask("was it meant?", moved("entry:drop.txt"))
        .exits(4)
        .says("evidence_unrelated");
    ask("was it meant?", moved("entry:sub")).ok();
    assert_eq!(job.status("b"), "done");
    job.repo.cook(&["answer", "yes", "--as-user"]).ok();
    // Back to where it was: nothing of the slice is left.
    job.put_link("160000", &first, None);
    ask("and this?", json!([])).ok();
    assert_eq!(job.status("b"), "planned");
}

impl Job {
    /// The history is cut off below HEAD, as in a shallow clone.
    fn cut_off(&self) {
        let head = format!("{}\n", self.repo.head());
        std::fs::write(self.repo.root.join(".git/shallow"), head).unwrap();
        self.git(&["reflog", "expire", "--expire=now", "--all"]);
        self.git(&["gc", "-q", "--prune=now"]);
    }
}

/// Row 17.
#[test]
fn a_history_that_is_cut_off_is_followed_by_its_digests() {
    let job = Job::with_done();
    job.repo.write(
        "lib.txt",
        format!("somebody wrote this on top\n{}", with(&library(), &OWN)),
    );
    job.repo.commit("Somebody else's", None);
    job.cut_off();
    job.refuses("lib.txt:1");
    job.stands();
    assert_eq!(job.anchor("a"), "lib.txt:6");

    let job = Job::with_done();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.cut_off();
    job.is_reopened();
}
