//! Slices that are done, and what becomes of their proof.

use crate::job::{Job, OWN, library, list_planned, proof, with};
use serde_json::json;

const FIRST: &str = "the first line of slice a";

/// Row 1.
#[test]
fn the_same_tree_in_another_commit_changes_nothing() {
    let job = Job::with_done();
    job.git(&["commit", "-q", "--amend", "-m", "Another message"]);
    job.stands();
}

/// Row 2.
#[test]
fn a_rebase_a_squash_and_a_cherry_pick_on_a_moved_base_are_followed() {
    for how in ["rebase", "squash"] {
        let job = Job::with_done();
        let root = job.git(&["rev-list", "--max-parents=0", "HEAD"]);
        let tip = job.repo.head();
        job.git(&["checkout", "-q", "-b", "moved", &root]);
        job.repo.write("other.txt", "somebody else's text\n");
        job.repo.commit("Somebody else's", None);
        match how {
            "rebase" => {
                job.git(&["cherry-pick", &format!("{root}..{tip}")]);
            }
            _ => {
                job.git(&["cherry-pick", "-n", &format!("{root}..{tip}")]);
                job.repo.commit("All of it", None);
            }
        }
        job.git(&["branch", "-q", "-f", "main", "moved"]);
        job.git(&["checkout", "-q", "main"]);
        job.stands().says("rebound");
        assert_eq!(job.anchor("a"), "lib.txt:5");
    }
}

/// Row 3.
#[test]
fn a_rebase_with_a_conflict_keeps_a_part_with_a_reason() {
    let conflict = || {
        let job = Job::with_done();
        // The second line was lost in the conflict.
        job.git(&["reset", "-q", "--hard", "HEAD~1"]);
        job.repo
            .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
        job.must_answer("evidence_changed").says("part-a");
        job
    };
    let job = conflict();
    let answers = json!([{"no": "part-a", "reason": "the line came with the base"}]);
    job.reground(json!({"select": "b", "answers": answers}))
        .ok()
        .says("rebound_in_part");
    assert_eq!(job.status("a"), "done");

    let job = conflict();
    let head = job.repo.head();
    let reopen = json!([{"slice_id": "a", "why": "a line is lost", "at": head}]);
    job.reground(json!({"reopen": reopen})).ok();
    assert_eq!(job.status("a"), "planned");
}

/// Row 4.
#[test]
fn a_formatter_is_followed() {
    let job = Job::with_done();
    let text = with(&library(), &OWN);
    let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
    job.repo.write("lib.txt", indented);
    job.repo.commit("Format", None);
    job.repo
        .write("lib.txt", text.replace("of slice", "\n   of slice"));
    job.repo.commit("Format again", None);
    job.stands();
    assert_eq!(job.anchor("a"), "lib.txt:5-6");
}

#[test]
fn line_ends_are_followed() {
    let job = Job::with_done();
    let text = with(&library(), &OWN);
    job.repo.write("lib.txt", text.replace('\n', "\r\n"));
    job.repo.commit("Line ends", None);
    job.stands();
}

/// Row 5.
#[test]
fn a_rename_with_edits_and_a_move_are_followed() {
    let job = Job::with_done();
    job.git(&["mv", "lib.txt", "src.txt"]);
    let text = with(&library(), &OWN).replace("line 1 of", "one line at the top\nline 1 of");
    job.repo.write("src.txt", text);
    job.repo.commit("Rename", None);
    job.stands();
    assert_eq!(job.anchor("a"), "src.txt:6");

    let job = Job::with_done();
    job.foreign(&[(5, ""), OWN[1]]);
    job.repo.write("moved.txt", format!("{FIRST}\n"));
    job.repo.commit("Move", None);
    job.stands();
    assert_eq!(job.anchor("a"), "moved.txt:1");
}

#[test]
fn of_two_possible_places_the_report_says_which() {
    let job = Job::with_done();
    job.foreign(&[(5, ""), OWN[1]]);
    job.repo.write("one.txt", format!("{FIRST}\n"));
    job.repo.write("two.txt", format!("{FIRST}\n"));
    job.repo.write("other.txt", "somebody else's line\n");
    job.repo.commit("Copy", None);
    job.must_answer("evidence_changed");
    let named = |anchor: &str| {
        let again = proof("a", "a works", anchor, "observed");
        job.reground(json!({"select": "b", "evidence": [again]}))
    };
    named("other.txt:1").exits(4).says("evidence_unrelated");
    named("two.txt:1").ok();
    assert_eq!(job.anchor("a"), "two.txt:1");
    assert_eq!(job.status("a"), "done");
}

/// Row 6.
#[test]
fn rewritten_lines_are_anchored_again_in_their_place_or_the_slice_is_reopened() {
    let rewritten = || {
        let job = Job::with_done();
        job.foreign(&[
            (5, "somebody wrote this in its place"),
            OWN[1],
            (9, "and this"),
        ]);
        job
    };
    let job = rewritten();
    let hint = job.must_answer("evidence_changed");
    assert!(
        hint.err.contains("lib.txt:5") && hint.err.contains("reopen"),
        "{}",
        hint.err
    );
    // Somebody else's text in another place is nobody's proof.
    for wrong in ["lib.txt:9", "lib.txt:3"] {
        let again = json!([proof("a", "a works", wrong, "observed")]);
        job.reground(json!({"select": "b", "evidence": again}))
            .exits(4)
            .says("evidence_unrelated");
    }
    let again = json!([proof("a", "a works", "lib.txt:5", "observed")]);
    job.reground(json!({"select": "b", "evidence": again})).ok();
    assert_eq!(job.status("a"), "done");

    // Asking, blocking and cancelling are never refused for evidence.
    for policy in [
        json!({"to": "await_user_input", "question": "was that wanted?"}),
        json!({"to": "blocked", "why": "it is unclear", "exit": "cook resume"}),
    ] {
        let job = rewritten();
        job.reground(json!({"policy": policy})).ok();
        assert_eq!(job.status("a"), "done");
    }
    let job = rewritten();
    let mut slices = list_planned(&job.repo);
    slices[1]["status"] = json!("cancelled");
    slices[1]["reason"] = json!("nobody needs it");
    job.reground(json!({"plan": {"plan_basis": "x", "candidate_slices": slices}}))
        .ok();
}

#[test]
fn a_reopened_slice_is_closed_again_at_the_commit_that_holds_its_work() {
    let job = Job::with_done();
    let head = job.repo.head();
    let reopen = json!([{"slice_id": "a", "why": "look at it again", "at": head}]);
    job.reground(json!({"reopen": reopen, "select": "a"})).ok();
    let due = job.repo.due();
    assert_eq!(due["rule"], "4");
    assert!(due["action"].as_str().unwrap().contains("report"), "{due}");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:15", "observed")])
        .ok();
    job.stands();
    // A commit that is not on HEAD holds nothing.
    let job = Job::with_done();
    let reopen = json!([{"slice_id": "a", "why": "look at it again", "at": "0123456789abcdef"}]);
    job.reground(json!({"reopen": reopen}))
        .exits(4)
        .says("reopen_elsewhere");
}

/// Row 8, and 9.
#[test]
fn a_revert_reopens_whatever_a_receipt_says() {
    for proofs in ["text", "receipt"] {
        let job = Job::begin(&["a works", "it still runs"]);
        job.write_own("a");
        job.repo
            .write("check.sh", "echo test the first line ... ok\n");
        job.git(&["reset", "-q", "--soft", "HEAD~1"]);
        job.repo.commit("Work on a", Some("a"));
        job.judge();
        let second = match proofs {
            "text" => proof("a", "it still runs", "lib.txt:15", "observed"),
            _ => proof("a", "it still runs", "check.sh:1", "observed"),
        };
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed"), second])
            .ok();
        job.git(&["revert", "--no-edit", "HEAD"]);
        job.is_reopened();
    }
    let job = Job::with_done();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.stands();
}

/// Row 9, reopened in between.
#[test]
fn a_revert_of_a_revert_is_reported_as_it_is() {
    let job = Job::with_done();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.reground(json!({"policy": {"to": "await_user_input", "question": "wanted?"}}))
        .ok();
    assert_eq!(job.status("a"), "planned");
    job.repo.cook(&["answer", "no", "--as-user"]).ok();
    job.git(&["revert", "--no-edit", "HEAD"]);
    let head = job.repo.head();
    let reopen = json!([{"slice_id": "a", "why": "it stands again", "at": head}]);
    job.reground(json!({"reopen": reopen, "select": "a"})).ok();
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    job.stands();
}

/// Row 10.
#[test]
fn a_reset_before_the_slice_or_to_a_rejected_attempt_reopens() {
    let job = Job::with_done();
    job.git(&["reset", "-q", "--hard", "HEAD~1"]);
    job.is_reopened();

    let job = Job::begin(&["a works"]);
    let rejected = [
        (5, "a first attempt at slice a"),
        (15, "which was not good"),
    ];
    let attempt = job
        .repo
        .write_commit_for("a", "lib.txt", &with(&library(), &rejected));
    job.report().ok();
    let repo = &job.repo;
    repo.record("reviewer", repo.reviewer_report(Some("it is wrong")))
        .ok();
    repo.record("auditor", repo.auditor_report()).ok();
    job.reground(json!({"reconcile": {"slice_id": "a", "decision": "reopened"}}))
        .ok();
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    job.git(&["reset", "-q", "--hard", &attempt]);
    let again = json!([proof("a", "a works", "lib.txt:5", "observed")]);
    job.reground(json!({"select": "b", "evidence": again}))
        .exits(4)
        .says("evidence_unrelated");
    job.is_reopened();
}

/// Row 17.
#[test]
fn a_commit_that_is_gone_is_followed_by_its_digests() {
    let job = Job::with_done();
    job.git(&["commit", "-q", "--amend", "-m", "Another message"]);
    job.repo
        .write("lib.txt", format!("on top\n{}", with(&library(), &OWN)));
    job.repo.commit("Somebody else's", None);
    job.git(&["reflog", "expire", "--expire=now", "--all"]);
    job.git(&["gc", "-q", "--prune=now"]);
    job.stands();
    assert_eq!(job.anchor("a"), "lib.txt:6");
    // The same after a rewrite of everything.
    let job = Job::with_done();
    job.git(&["checkout", "-q", "--orphan", "fresh"]);
    job.repo.commit("All of it", None);
    job.git(&["branch", "-q", "-f", "main", "fresh"]);
    job.git(&["checkout", "-q", "main"]);
    job.git(&["branch", "-q", "-D", "fresh"]);
    job.git(&["reflog", "expire", "--expire=now", "--all"]);
    job.git(&["gc", "-q", "--prune=now"]);
    job.stands();
}

/// Row 17: what a name leads to stands where all of the slice's work in that file does.
#[test]
fn a_named_part_is_followed_by_its_digests() {
    let with_named = |anchor: &str, basis: &str| {
        let job = Job::begin_with(&["a works"], &[("code.py", "def first():\n    return 1\n")]);
        let readme = "# A project\n\n## Use\n\nRead it.\n\n## Options\n\n`--all` takes all of them.\n\n## End\n\nThat is all.\n";
        job.repo.write("README.md", readme);
        job.repo.write(
            "code.py",
            "def first():\n    return 1\n\n\ndef works():\n    total = first()\n    return total + 1\n",
        );
        job.repo.commit("Work on a", Some("a"));
        job.judge();
        job.accept(&[proof("a", "a works", anchor, basis)]).ok();
        job
    };
    // One commit holds both, so that none has what the slice left.
    let rewrite = |job: &Job| {
        job.git(&["commit", "-q", "-a", "--amend", "-m", "Squashed"]);
    };
    let throw_away = |job: &Job| {
        job.git(&["reflog", "expire", "--expire=now", "--all"]);
        job.git(&["gc", "-q", "--prune=now"]);
    };
    for (anchor, basis, path, was, other) in [
        (
            "code.py:works",
            "observed",
            "code.py",
            "    total = first()\n",
            "    total = first() * 2\n",
        ),
        (
            "doc:README.md#options",
            "doc",
            "README.md",
            "`--all` takes all of them.\n",
            "`--every` takes some of them.\n",
        ),
    ] {
        let job = with_named(anchor, basis);
        let text = job.repo.read(path);
        job.repo.write(path, format!("on top\n\n{text}"));
        rewrite(&job);
        throw_away(&job);
        job.stands();
        assert_eq!(job.anchor("a"), anchor);

        let job = with_named(anchor, basis);
        job.repo
            .write(path, job.repo.read(path).replace(was, other));
        rewrite(&job);
        throw_away(&job);
        job.must_answer("evidence_changed").says(anchor);
        // Nobody can say whose the other text is: it is no answer, and opening the slice is one.
        let again = [proof("a", "a works", anchor, basis)];
        job.reground(json!({"select": "b", "evidence": again}))
            .exits(4);
        let back = json!([{"slice_id": "a", "why": "it says something else"}]);
        job.reground(json!({"reopen": back})).ok();

        let job = with_named(anchor, basis);
        job.git(&["checkout", "-q", "HEAD~1", "--", "."]);
        job.repo.write("other.txt", "a colleague's\n");
        job.git(&["add", "other.txt"]);
        rewrite(&job);
        throw_away(&job);
        // Where the digests place nothing, it is asked for.
        job.must_answer("evidence_changed");
    }
}

/// Row 17: another commit has its tree, and all is followed from there.
#[test]
fn what_another_commit_has_the_tree_of_is_followed_as_if_it_were_there() {
    let throw_away = |job: &Job| {
        job.git(&["commit", "-q", "--amend", "-m", "Another message"]);
        job.git(&["reflog", "expire", "--expire=now", "--all"]);
        job.git(&["gc", "-q", "--prune=now"]);
    };
    let job = Job::with_done();
    throw_away(&job);
    job.git(&["mv", "lib.txt", "src.txt"]);
    job.repo.commit("Call it otherwise", None);
    job.stands();
    assert_eq!(job.anchor("a"), "src.txt:5");

    // So it is where no commit has its tree, and one has what the slice left.
    let job = Job::with_done();
    job.git(&["reset", "-q", "--soft", "HEAD~1"]);
    job.repo.write("other.txt", "a colleague's\n");
    job.repo.commit("Squash it with others", None);
    throw_away(&job);
    job.git(&["mv", "lib.txt", "src.txt"]);
    job.repo.commit("Call it otherwise", None);
    job.stands();
    assert_eq!(job.anchor("a"), "src.txt:5");

    // What comes in the place of a test is seen, too.
    let check =
        "awk '/^def test_/{n=$2; sub(/[(].*/,\"\",n); print \"t.py::\" n \" PASSED\"}' t.py\n";
    let begin = || {
        let files = [("check.sh", check), ("t.py", "import one\n")];
        let job = Job::begin_with(&["a works"], &files);
        job.plan_anew("sh check.sh");
        let test = "import one\n\n\ndef test_works():\n    assert one(two, three) == four\n";
        job.repo.write_commit_for("a", "t.py", test);
        job.judge();
        job.accept(&[proof("a", "a works", "test:test_works", "test")])
            .ok();
        throw_away(&job);
        (job, test)
    };
    let (job, test) = begin();
    let hollow = "\n\ndef test_works():\n    pass\n";
    job.repo.write("t.py", format!("{test}{hollow}"));
    job.repo.commit("Somebody else's", None);
    job.must_answer("evidence_changed");
    // So it is where the proof was stamped anew, at a commit that is gone now.
    let (job, test) = begin();
    let renamed = test.replace("test_works", "test_all");
    job.repo.write("t.py", &renamed);
    job.repo.commit("Call it otherwise", None);
    let change = json!([{"slice_id": "b", "goal": "make b work well"}]);
    job.reground(json!({"plan": {"plan_basis": "x", "change": change}}))
        .ok();
    assert_eq!(job.anchor("a"), "test:t.py::test_all");
    throw_away(&job);
    let hollow = hollow.replace("test_works", "test_all");
    job.repo.write("t.py", format!("{renamed}{hollow}"));
    job.repo.commit("Somebody else's", None);
    job.must_answer("evidence_changed");
    let (job, test) = begin();
    job.repo
        .write("t.py", format!("{test}\n\ndef test_more():\n    pass\n"));
    job.repo.commit("Somebody else's", None);
    job.stands();
}

/// Rows 4 and 13: a section is what it says, however its lines are broken.
#[test]
fn a_section_that_is_wrapped_otherwise_stands() {
    let text = |section: &str| {
        format!(
            "# A project\n\n## Use\n\nRead it.\n\n## Options\n\n{section}\n\n## End\n\nThat is all.\n"
        )
    };
    let job = Job::begin(&["a works"]);
    job.repo.write_commit_for(
        "a",
        "README.md",
        &text("`--all` takes all of them, and no other one."),
    );
    job.judge();
    let anchor = "doc:README.md#options";
    job.accept(&[proof("a", "a works", anchor, "doc")]).ok();
    let wrapped = text("`--all` takes all of them,\nand no other one.  ");
    let titled = wrapped.replace("## Options", "Options\n-------");
    job.repo.write("README.md", titled);
    job.repo.commit("Format it", None);
    job.stands();
    // Moved elsewhere, the refusal names what is taken.
    let job = Job::begin(&["a works"]);
    let said = "`--all` takes all of them, and no other one.";
    job.repo.write_commit_for("a", "README.md", &text(said));
    job.judge();
    job.accept(&[proof("a", "a works", anchor, "doc")]).ok();
    job.repo.write("README.md", text("See the manual."));
    job.repo.write("manual.md", format!("# Manual\n\n{said}\n"));
    job.repo.commit("Move it", None);
    let refused = job.must_answer("evidence_changed");
    let hint = refused.err.split("add to `evidence` ").nth(1).unwrap();
    let (block, _) = hint.split_once(", or to").unwrap();
    let block: serde_json::Value = serde_json::from_str(block).unwrap();
    job.reground(json!({"select": "b", "evidence": [block]}))
        .ok();
}
