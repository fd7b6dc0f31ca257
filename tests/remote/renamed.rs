//! A branch that gets another name, here or there, and one that is rewritten.

use crate::remote::{LOG, Shared, say, standing};
use crate::support::reports::slice;

const NEW: &str = "refs/cook/log/feature";

/// The log goes on under the branch's new name, and whoever works on under the former one is told.
#[test]
fn a_log_that_gets_another_branch_leaves_none_behind() {
    let shared = Shared::make_pushed();
    let (first, second) = (&shared.first, shared.another(2));
    second.cook(&["pull"]).ok();
    say(&second, "of the second").ok();
    first.git(&["branch", "-m", "main", "feature"]);
    first.cook(&["plan", "adopt", "--branch", "--as-user"]).ok();
    first.cook(&["push", "--yes"]).ok().says(NEW).says(LOG);
    assert_eq!(shared.at(LOG), shared.at(NEW));

    second
        .cook(&["push"])
        .expect_refused("remote_ahead")
        .says("branch_adopted");
    second.cook(&["pull"]).ok().says("transitions_set_aside");
    second
        .cook(&["next"])
        .ok()
        .says("the workflow runs on `feature`");
    // Once it has gone on, the former name stays where it was.
    let before = shared.at(LOG);
    say(first, "more").ok();
    first.cook(&["push"]).ok();
    assert_eq!(shared.at(LOG), before);
    assert_ne!(shared.at(NEW), before);
    // Another work may begin under the former name.
    let third = shared.another(3);
    third.git(&["switch", "-q", "main"]);
    third.cook(&["init", "--as-user"]).ok();
    third.cook(&["push", "--yes"]).ok();
    assert_ne!(shared.at(LOG), before);
}

/// What was recorded under the former name meanwhile is taken in before it.
#[test]
fn what_went_on_under_the_former_name_is_not_passed_over() {
    let shared = Shared::make_pushed();
    let (first, second) = (&shared.first, shared.another(2));
    second.cook(&["pull"]).ok();
    say(&second, "of the second").ok();
    second.cook(&["push"]).ok();
    first.git(&["branch", "-m", "main", "feature"]);
    first.cook(&["plan", "adopt", "--branch", "--as-user"]).ok();
    let before = (standing(first), shared.at(LOG));
    first
        .cook(&["push", "--yes"])
        .expect_refused("remote_ahead")
        .says("was that of branch `main`")
        .says("git switch -C main");
    assert_eq!((standing(first), shared.at(LOG)), before);
    assert_eq!(shared.at(NEW), "");
    // As it says.
    first.git(&["switch", "-q", "-C", "main"]);
    first.cook(&["plan", "adopt", "--branch", "--as-user"]).ok();
    first.cook(&["pull"]).ok().says("transitions_set_aside");
    first.git(&["switch", "-q", "feature"]);
    first.cook(&["plan", "adopt", "--branch", "--as-user"]).ok();
    first.cook(&["push", "--yes"]).ok();
    assert_eq!(shared.at(LOG), shared.at(NEW));
}

/// Work that ended under its branch's name is proven under it, whatever the log did afterwards.
#[test]
fn a_log_that_ended_under_a_name_stays_there() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    first.plan_and_select(&[slice("one")]);
    first.trust("bash .agent/verify_completion_stop.sh");
    first.work_until_done();
    first.cook(&["push"]).ok();
    let done = shared.at(LOG);
    first.git(&["switch", "-q", "-c", "feature"]);
    first.cook(&["plan", "adopt", "--branch", "--as-user"]).ok();
    first.cook(&["push", "--yes"]).ok();
    assert_eq!(shared.at(LOG), done);
    assert_ne!(shared.at(NEW), done);
}

/// The branch has another name here than there.
#[test]
fn a_branch_of_another_name_is_told_which_log_it_may_mean() {
    let shared = Shared::make_pushed();
    let second = shared.another(2);
    second.git(&["switch", "-q", "-c", "mine", "origin/main"]);
    second
        .cook(&["pull"])
        .fails(3, "remote_log_absent")
        .says("the branch is `main` there");
}

/// What was amended after it was pushed is not pulled back.
#[test]
fn a_branch_that_was_rewritten_is_told_how_it_goes_on() {
    let shared = Shared::make_pushed();
    let (first, second) = (&shared.first, shared.another(2));
    first.write_commit_for("x", "x.txt", "x\n");
    first.cook(&["push"]).ok();
    let there = first.head();
    second.git(&["pull", "-q"]);
    second.cook(&["pull"]).ok();
    first.git(&["commit", "-q", "--amend", "-m", "Better"]);
    let lease = format!("--force-with-lease=main:{there}");
    first
        .cook(&["push"])
        .expect_refused("remote_ahead")
        .says(&format!("git push {lease} origin HEAD:refs/heads/main"));
    first.git(&["push", "-q", &lease, "origin", "HEAD:refs/heads/main"]);
    first.cook(&["push"]).ok();
    second
        .cook(&["pull"])
        .ok()
        .says("git reset --keep FETCH_HEAD");
    second.git(&["fetch", "-q", "origin", "main"]);
    second.git(&["reset", "-q", "--keep", "FETCH_HEAD"]);
    assert_eq!(second.head(), first.head());
    second.cook(&["pull"]).ok().never_says("branch_elsewhere");
}
