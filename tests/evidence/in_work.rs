//! The slice in work, where its commit leaves HEAD.

use crate::evidence::job::{CRITERION, Job, claim};

#[test]
fn the_same_tree_under_another_commit_goes_on() {
    let job = Job::begin(&[CRITERION]);
    job.build();
    job.judge();
    job.git(&["commit", "-q", "--amend", "-m", "Said otherwise"]);
    job.accept(&[claim(CRITERION, "lib.sh:5")]).ok();
    assert_eq!(job.status("a"), "done");
}

/// In however many commits of the slice it stands then.
#[test]
fn the_same_tree_after_a_rebase_is_not_reported_again() {
    let job = Job::begin(&[CRITERION]);
    job.foreign("notes.md", "Some notes.\n");
    job.build();
    job.git(&[
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Say so\n\nCook-Slice: a",
    ]);
    job.judge();
    let tree = job.git(&["rev-parse", "HEAD^{tree}"]);
    job.git(&[
        "rebase",
        "-q",
        "--force-rebase",
        "--keep-empty",
        "--reset-author-date",
        "HEAD~2",
    ]);
    assert_eq!(job.git(&["rev-parse", "HEAD^{tree}"]), tree);
    assert_eq!(job.repo.due()["rule"], "7", "{:#}", job.repo.due());
    job.accept(&[claim(CRITERION, "lib.sh:5")]).ok();
    assert_eq!(job.status("a"), "done");
}

#[test]
fn another_tree_is_reported_again() {
    let job = Job::begin(&[CRITERION]);
    job.build();
    job.judge();
    job.repo
        .write("lib.sh", job.repo.read("lib.sh") + "# more\n");
    job.git(&[
        "commit",
        "-q",
        "-a",
        "--amend",
        "-m",
        "More\n\nCook-Slice: a",
    ]);
    assert_eq!(job.repo.due()["role"], "completion-implementer");
    job.judge();
    job.accept(&[claim(CRITERION, "lib.sh:5")]).ok();
}

#[test]
fn work_that_was_taken_back_proves_nothing() {
    let job = Job::begin(&[CRITERION]);
    job.build();
    job.judge();
    job.git(&["revert", "--no-edit", "HEAD"]);
    let report = job.repo.due();
    assert!(report["role"].is_string());
    job.accept(&[claim(CRITERION, "lib.sh:2")])
        .expect_refused("evidence_not_new");
}
