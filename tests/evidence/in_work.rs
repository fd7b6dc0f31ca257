//! The slice in work, where its commit leaves HEAD.

use crate::job::{CRITERION, Job, claim};

#[test]
fn the_same_tree_under_another_commit_goes_on() {
    let job = Job::begin(&[CRITERION]);
    job.build();
    job.judge();
    job.git(&["commit", "-q", "--amend", "-m", "Said otherwise"]);
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
