//! A history that is written anew while a committed slice is looked at.

use crate::job::{Job, OWN, library, proof, with};
use crate::support::Repo;
use serde_json::json;

impl Job {
    /// The reader who is due hands in a yes with the ticket for this HEAD.
    fn says_yes(&self, session: &str) {
        match self.repo.due()["role"].as_str().unwrap() {
            "completion-reviewer" => {
                self.hears(session, "reviewer", self.repo.reviewer_report(None))
            }
            _ => self.hears(session, "auditor", self.repo.auditor_report()),
        }
    }

    fn hears(&self, session: &str, role: &str, report: String) {
        let ticket = self.repo.due()["ticket"].as_str().unwrap().to_owned();
        let words = [role, "--session", session, "--ticket", &ticket];
        self.repo.record_with(&words, report).ok();
    }

    /// `a` begins from what somebody else has just committed.
    fn with_others_below(theirs: &[(usize, &str)]) -> Self {
        let job = Self::begin(&["a works"]);
        job.select_instead("b");
        job.foreign(theirs);
        job.select_instead("a");
        job
    }

    /// The active slice goes back, and this one is selected.
    pub fn select_instead(&self, slice: &str) {
        let report = self.repo.implementer_report(Some("the other is first"));
        self.repo.record("implementer", report).ok();
        self.select(slice);
    }

    /// The reviewer says no, and `a` goes back.
    fn send_back(&self) {
        let no = self.repo.reviewer_report(Some("a line is missing"));
        self.hears("no", "reviewer", no);
        self.says_yes("auditor");
        let back =
            json!({"slice_id": "a", "decision": "reopened", "findings": ["a line is missing"]});
        self.reground(json!({"reconcile": back})).ok();
    }

    /// `a` has two commits, and is reported and reviewed.
    fn with_review() -> Self {
        let job = Self::begin(&["a works"]);
        job.repo
            .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
        job.write_own("a");
        job.report().ok();
        job.repo
            .record("reviewer", job.repo.reviewer_report(None))
            .ok();
        job
    }
}

/// Rows 1 and 2: the same tree on the same basis is what was looked at, whatever its commits are called.
#[test]
fn a_review_carries_over_to_the_same_tree_on_the_same_basis() {
    for how in ["amend", "squash", "filter", "prune"] {
        let job = Job::with_review();
        match how {
            "squash" => {
                job.git(&["reset", "-q", "--soft", "HEAD~2"]);
                job.repo.commit("All of it", None);
            }
            "filter" => {
                let words = [
                    "filter-branch",
                    "-f",
                    "--msg-filter",
                    "sed /Cook-Slice/d",
                    "HEAD",
                ];
                job.git(&words);
                job.git(&["update-ref", "-d", "refs/original/refs/heads/main"]);
            }
            _ => {
                job.git(&["commit", "-q", "--amend", "-m", "Work\n\nCook-Slice: a"]);
            }
        }
        if how == "prune" {
            job.git(&["reflog", "expire", "--expire=now", "--all"]);
            job.git(&["gc", "-q", "--prune=now"]);
        }
        let due = job.repo.due();
        assert_eq!(due["rule"], "6", "{how}: {due}");
        assert!(due.to_string().contains("rebound"), "{how}: {due}");
        let prompt = job.repo.cook(&["next", "--prompt"]).ok().out;
        assert!(prompt.contains(&job.repo.head()[..12]), "{how}: {prompt}");
        job.says_yes("auditor");
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
            .ok();
        job.stands();
        job.repo.cook(&["verify", "control-plane"]).ok();
    }
}

/// Row 2: on another basis, or with another tree, it is due again.
#[test]
fn a_review_of_another_tree_or_basis_is_due_again() {
    for how in ["rebase", "amend"] {
        let job = Job::with_review();
        match how {
            "rebase" => {
                let root = job.git(&["rev-list", "--max-parents=0", "HEAD"]);
                let tip = job.repo.head();
                job.git(&["checkout", "-q", "-b", "moved", &root]);
                job.repo.write("other.txt", "somebody else's text\n");
                job.git(&["add", "other.txt"]);
                job.git(&["commit", "-q", "-m", "Somebody else's"]);
                job.git(&["cherry-pick", &format!("{root}..{tip}")]);
                job.git(&["branch", "-q", "-f", "main", "moved"]);
                job.git(&["checkout", "-q", "main"]);
            }
            _ => {
                job.repo.write("more.txt", "one more line of slice a\n");
                job.git(&["add", "more.txt"]);
                job.git(&["commit", "-q", "--amend", "--no-edit"]);
            }
        }
        if job.repo.rule() == "2" {
            job.reground(json!({})).ok();
        }
        let due = job.repo.due();
        assert_eq!(due["rule"], "4", "{how}: {due}");
        assert!(
            due["action"].as_str().unwrap().starts_with("report"),
            "{due}"
        );
        job.report().ok();
        assert_eq!(job.repo.rule(), "5", "{how}");
        job.says_yes("reviewer");
        job.says_yes("auditor");
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
            .ok();
    }
}

/// Work of the slice and somebody else's in one commit: nobody can say whose its lines are.
#[test]
fn a_squash_with_somebody_elses_work_is_not_the_slices() {
    let job = Job::begin(&["a works"]);
    job.repo.write("other.txt", "somebody else's text\n");
    job.repo.commit("Somebody else's", None);
    job.write_own("a");
    job.judge();
    job.git(&["reset", "-q", "--soft", "HEAD~2"]);
    job.repo.commit("All of it", None);
    let due = job.repo.due();
    assert_ne!(due["rule"], "7", "{due}");
    let run = job.accept(&[proof("a", "a works", "other.txt:1", "observed")]);
    assert_ne!((run.code, &*job.status("a")), (0, "done"), "{}", run.out);
}

/// The slice is done; what another one wrote on top of it is squashed into a commit with its trailer, and it is
/// taken up again there.
#[test]
fn what_another_slice_put_on_top_is_not_its_own_when_it_is_squashed_with_it() {
    for at_once in [true, false] {
        let job = Job::with_done();
        job.select("b");
        job.repo
            .write_commit_for("b", "other.txt", "slice b wrote this text\n");
        job.report().ok();
        job.git(&["reset", "-q", "--soft", "HEAD~2"]);
        let squashed = job.repo.commit("All of it", Some("a"));
        if !at_once {
            job.reground(json!({})).ok();
            let later = job.repo.implementer_report(Some("the other one is due"));
            job.repo.record("implementer", later).ok();
        }
        assert_eq!(job.status("a"), "done");
        // It is to be looked at again, and is reported where it stands.
        let reopen = json!([{"slice_id": "a", "why": "to be looked at", "at": squashed}]);
        job.reground(json!({"reopen": reopen, "select": "a"})).ok();
        job.judge();
        job.accept(&[proof("a", "a works", "other.txt:1", "observed")])
            .exits(4)
            .says("evidence_unrelated");
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
            .ok();
        // Given anew neither.
        let again = json!([proof("a", "a works", "other.txt:1", "observed")]);
        job.reground(json!({"select": "b", "evidence": again}))
            .exits(4)
            .says("evidence_unrelated");
    }
}

/// The basis of the slice is committed anew as if the slice had written it.
#[test]
fn what_stood_at_a_basis_that_was_committed_anew_is_nobody_s_proof() {
    for how in ["amend", "reset"] {
        let job = Job::with_others_below(&[(10, "a colleague wrote this line")]);
        match how {
            "amend" => {
                job.git(&["commit", "-q", "--amend", "-m", "Work\n\nCook-Slice: a"]);
            }
            _ => {
                job.git(&["reset", "-q", "--soft", "HEAD~1"]);
                job.repo.commit("Work", Some("a"));
            }
        }
        // The regrounder is due, for the basis is not on HEAD; nobody has written anything for the slice.
        job.reground(json!({})).ok();
        let report = job.report();
        if report.code == 0 {
            let repo = &job.repo;
            repo.record("reviewer", repo.reviewer_report(None)).ok();
            repo.record("auditor", repo.auditor_report()).ok();
            job.accept(&[proof("a", "a works", "lib.txt:10", "observed")])
                .exits(4)
                .says("evidence_unrelated");
        }
        assert_ne!(job.status("a"), "done", "{how}");
    }
}

/// What the slice writes on top of it is its own all the same.
#[test]
fn work_on_a_basis_that_was_committed_anew_is_the_slices() {
    let theirs = (10, "a colleague wrote this line");
    let job = Job::with_others_below(&[theirs]);
    job.git(&["commit", "-q", "--amend", "-m", "Theirs, in other words"]);
    job.reground(json!({})).ok();
    let text = with(&library(), &[OWN[0], theirs, OWN[1]]);
    job.repo.write_commit_for("a", "lib.txt", &text);
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:10", "observed")])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

/// What a colleague commits on top of a report is nobody's, whoever commits it anew; what the slice
/// wrote before and after it stays the slice's.
#[test]
fn what_came_after_a_report_is_nobody_s_when_it_is_committed_anew() {
    let theirs = (10, "a colleague wrote this line");
    let all = with(&library(), &[OWN[0], theirs, OWN[1]]);
    for how in ["amend", "reset", "reset more"] {
        let job = Job::begin(&["a works"]);
        job.repo
            .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
        job.report().ok();
        job.foreign(&[OWN[0], theirs]);
        if how == "reset more" {
            job.repo.write_commit_for("a", "lib.txt", &all);
            job.report().ok();
            job.repo.write("other.txt", "a colleague wrote this file\n");
            job.repo.commit("Somebody else's file", None);
        }
        job.send_back();
        job.repo.write("lib.txt", &all);
        job.git(&["add", "lib.txt"]);
        let words = ["commit", "-q", "--amend", "-m", "Work\n\nCook-Slice: a"];
        match how {
            "amend" => drop(job.git(&words)),
            _ => {
                let back = if how == "reset" { "HEAD~2" } else { "HEAD~4" };
                job.git(&["reset", "-q", "--soft", back]);
                job.repo.commit("Work", Some("a"));
            }
        }
        job.judge();
        for anchor in ["lib.txt:10", "other.txt:1"] {
            let run = job.accept(&[proof("a", "a works", anchor, "observed")]);
            assert_eq!(run.code, 4, "{how}, {anchor}: {}{}", run.out, run.err);
        }
        let own = if how == "amend" {
            "lib.txt:15"
        } else {
            "lib.txt:5"
        };
        job.accept(&[proof("a", "a works", own, "observed")]).ok();
    }
}

/// What the slice commits on top of its report stays its own when others saw it before it is amended.
#[test]
fn own_commits_after_a_report_stay_own_when_they_are_committed_anew() {
    let job = Job::begin(&["a works"]);
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
    job.report().ok();
    job.write_own("a");
    job.repo.cook(&["pause"]).ok();
    job.repo.cook(&["resume", "--as-user"]).ok();
    job.report().ok();
    job.send_back();
    job.git(&["reset", "-q", "--soft", "HEAD~2"]);
    job.repo.write("more.txt", "one more line of slice a\n");
    job.repo.commit("Work", Some("a"));
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:15", "observed")])
        .ok();
}

/// What others put on top of a report came after it: also the same line once more.
#[test]
fn what_stands_on_top_of_a_report_takes_nothing_from_it() {
    let job = Job::begin(&["a works"]);
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
    job.report().ok();
    job.foreign(&[OWN[0], (10, OWN[0].1), (15, OWN[0].1)]);
    job.says_yes("reviewer");
    job.foreign(&[(5, ""), (10, OWN[0].1)]);
    job.says_yes("auditor");
    job.foreign(&[OWN[0]]);
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

/// The first line of slice a, with another line of its before it, more lines after it, and a copy.
fn with_copy(before: &str, after: &str) -> String {
    let own = OWN[0].1;
    let changes = [(4, before), (5, &*format!("{own}\n{after}"))];
    with(&library(), &changes)
}

/// Others copy a line of the report on top of it: whose it is does not hang on which of the two is
/// found first.
#[test]
fn a_copy_that_others_put_on_top_of_a_report_takes_nothing_from_it() {
    let (more, copy) = ("one more", format!("one more\n{}", OWN[0].1));
    let job = Job::begin(&["a works"]);
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
    job.repo
        .write_commit_for("a", "lib.txt", &with_copy("before it", more));
    job.report().ok();
    job.repo.write("lib.txt", with_copy("before it", &copy));
    job.repo.commit("Somebody's copy", None);
    job.says_yes("reviewer");
    job.repo.write("lib.txt", with_copy("before it", more));
    job.repo.commit("Somebody takes it back", None);
    job.says_yes("auditor");
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

/// Rows 1 and 2: in a clone, git is asked again about what was rewritten since: its former commits travel with the log.
#[test]
fn what_was_rewritten_is_asked_about_again_in_any_clone() {
    let job = Job::with_review();
    job.git(&["commit", "-q", "--amend", "-m", "Work, amended"]);
    while job.repo.due()["role"].as_str() != Some("completion-regrounder") {
        job.says_yes("reader");
    }
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    let below = job.git(&["rev-list", "--max-parents=0", "HEAD"]);
    job.git(&["checkout", "-q", "-b", "upstream", &below]);
    job.repo.write("other.txt", "a colleague's\n");
    job.repo.commit("Other", None);
    job.git(&["checkout", "-q", "main"]);
    job.git(&["rebase", "-q", "upstream"]);
    job.reground(json!({"select": "b"})).ok();
    let bare = job.repo.beside("bare.git");
    let bare = bare.to_str().unwrap();
    job.git(&["init", "-q", "--bare", "-b", "main", bare]);
    job.git(&[
        "--git-dir",
        bare,
        "config",
        "uploadpack.allowFilter",
        "true",
    ]);
    job.repo.cook(&["push", bare, "--yes"]).ok();
    for how in [&[][..], &["--depth", "1"], &["--filter=blob:none"]] {
        let clone = Repo::directory();
        let from = format!("file://{bare}");
        clone.git(&[&["clone", "-q"], how, &[&from, "."]].concat());
        let words = ["verify", "slice", "a", "--from", "origin", "--json"];
        let run = clone.cook(&words).ok();
        run.never_says("proof_not_reproducible");
    }
}
