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
