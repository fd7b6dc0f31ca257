//! Reports that are handed in by hand: whose the commits before them are, and which worktree they saw.

use crate::job::{Job, OWN, library, proof, with};
use serde_json::json;

/// Nobody knows when the session began: the commit that is named is its own, and those that bear the
/// trailer. What the user did in between is named, and is nobody's work.
#[test]
fn a_user_s_commit_amid_a_session_is_the_user_s() {
    let job = Job::begin(&["a works"]);
    job.repo.write(".agent/README.md", "# Ours\n");
    job.repo.commit("Say what this is", None);
    job.repo.write(
        "lib.txt",
        with(&library(), &[(10, "the user wrote this line")]),
    );
    job.repo.commit("The user's line", None);
    let text = with(
        &library(),
        &[OWN[0], OWN[1], (10, "the user wrote this line")],
    );
    job.repo.write_commit_for("a", "lib.txt", &text);
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:10", "observed")])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

/// The commit that a report names needs no trailer.
#[test]
fn a_named_commit_is_the_slice_s() {
    let job = Job::begin(&["a works"]);
    job.foreign(&OWN);
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

/// Pausing, resuming and saying something make nobody's commit the slice's, and it stays named.
#[test]
fn a_pause_launders_nothing() {
    let job = Job::begin(&["a works"]);
    job.foreign(&[(10, "somebody wrote this line")]);
    let is_named = || job.repo.due().to_string().contains("foreign_commits");
    assert!(is_named());
    job.repo.cook(&["pause"]).ok();
    job.repo.cook(&["resume", "--as-user"]).ok();
    if job.repo.rule() == "2" {
        assert!(is_named());
        job.repo.cook(&["pause"]).ok();
        job.repo.cook(&["resume", "--as-user"]).ok();
    }
    job.repo.cook(&["brief", "say", "go on", "--as-user"]).ok();
    assert!(is_named());
    let text = with(
        &library(),
        &[OWN[0], OWN[1], (10, "somebody wrote this line")],
    );
    job.repo.write_commit_for("a", "lib.txt", &text);
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:10", "observed")])
        .exits(4)
        .says("evidence_unrelated");
}

/// A ticket stands for the worktree as it was when it was given.
#[test]
fn a_ticket_of_a_dirty_worktree_holds_that_worktree() {
    let job = Job::begin(&["a works"]);
    job.write_own("a");
    job.report().ok();
    job.repo.write("notes.txt", "the user's own notes\n");
    let due = job.repo.due();
    let ticket = due["ticket"].as_str().unwrap().to_owned();
    let record = || {
        let words = ["reviewer", "--session", "one", "--ticket", &ticket];
        job.repo.record_with(&words, job.repo.reviewer_report(None))
    };
    // Somebody changed it since.
    job.repo.write("more.txt", "notes of somebody\n");
    record()
        .exits(4)
        .says("tree_changed")
        .says("since its ticket was given");
    std::fs::remove_file(job.repo.root.join("more.txt")).unwrap();
    record().ok();
    // Without a ticket the last transition speaks.
    job.repo.write("more.txt", "notes of somebody\n");
    job.repo
        .record("auditor", job.repo.auditor_report())
        .exits(4)
        .says("since the last transition");
}

/// A commit is reported for one slice.
#[test]
fn two_slices_do_not_claim_one_commit() {
    let job = Job::begin(&["a works"]);
    // `a` has a commit of its own and goes back; `b` begins before it.
    let root = job.repo.head();
    job.repo
        .write_commit_for("a", "a.txt", "the work of slice a\n");
    let report = job.repo.implementer_report(Some("b is needed first"));
    job.repo.record("implementer", report).ok();
    job.select_b().ok();
    let commit = job
        .repo
        .write_commit_for("b", "b.txt", "the work of slice b\n");
    job.report().ok();
    for (role, report) in [
        ("reviewer", job.repo.reviewer_report(None)),
        ("auditor", job.repo.auditor_report()),
    ] {
        job.repo.record_with(&[role, "--session", "b"], report).ok();
    }
    job.accept(&[proof("b", "b works", "b.txt:1", "observed")])
        .ok();
    job.reground(json!({"select": "a"})).ok();
    assert_eq!(job.repo.document("active-slice.json")["basis_commit"], root);
    let report = job.repo.implementer_report(None);
    assert!(report.contains(&commit));
    job.repo
        .record("implementer", report)
        .exits(4)
        .says("commit_already_reported")
        .says("slice `b`");
}
