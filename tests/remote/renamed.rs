//! A branch that gets another name, here or there, and one that is rewritten.

use crate::remote::{LOG, Shared, say, standing};

const NEW: &str = "refs/cook/log/feature";

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
