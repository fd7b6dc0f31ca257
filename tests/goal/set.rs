//! Set, looked at, reached, dropped.

use crate::goal::{CHECK, SOUND, mend, repo, set, state, with_goal};
use crate::support::Repo;
use serde_json::json;

#[test]
fn a_goal_is_set_missed_and_reached() {
    let repo = repo();
    set(&repo, &[])
        .ok()
        .says("goal: slugs are lower case")
        .says("frozen: tests/slug.sh");
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    let told = state(&repo, 1);
    assert_eq!(told["state"], "not_reached");
    assert_eq!(told["checks"][0]["check"], CHECK);
    assert_eq!(told["checks"][0]["verdict"], "red");
    assert_eq!(told["frozen"], json!(["tests/slug.sh"]));
    assert_eq!(told["commit"], repo.head().as_str());
    repo.cook(&["goal"])
        .exits(1)
        .says("not reached")
        .says("red");
    repo.cook(&["verify", "stop"])
        .exits(1)
        .says("goal_not_reached")
        .says(CHECK);
    repo.cook(&[]).ok().says("bring the goal about");

    // Green in the worktree is no commit yet.
    repo.write("slug.sh", SOUND);
    let told = state(&repo, 1);
    assert_eq!(
        (&told["state"], &told["is_head"]),
        (&json!("not_reached"), &json!(false))
    );
    assert_eq!(told["checks"][0]["verdict"], "green");
    repo.cook(&["goal"]).exits(1).says("commit it");
    repo.git(&["commit", "-qam", "Lower the case"]);
    let told = state(&repo, 0);
    assert_eq!(told["state"], "goal_reached");
    repo.cook(&["verify", "stop"]).ok().says("passed");
    repo.cook(&["goal"]).ok().says("reached").never_says("done");
    repo.cook(&["status"]).ok().says("the goal is reached");
    let next = repo.cook(&["next"]).ok();
    next.says("nobody (goal_reached)").never_says("done");
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    repo.cook(&["doctor", "fsck"]).ok();
    repo.cook(&["verify", "slice", "goal", "--rerun", "--strict"])
        .ok()
        .says("reproduced")
        .says("the goal");
}

#[test]
fn rules_that_need_a_contract_a_review_or_a_judge_never_answer() {
    let repo = with_goal();
    assert_eq!(repo.rule(), "4");
    let next = repo.cook(&["next", "--json"]).ok().json();
    assert_eq!(next["role"], "completion-implementer");
    repo.cook(&["goal"]).exits(1);
    assert_eq!(repo.rule(), "4");
    repo.cook(&["next", "--prompt"])
        .ok()
        .says("slugs are lower case")
        .says(CHECK);
    repo.cook(&["status"]).ok().says("slugs are lower case");
    repo.cook(&["brief"]).ok().says("slugs are lower case");
    repo.cook(&["next", "--why"]).ok();
    mend(&repo);
    assert_eq!(state(&repo, 0)["state"], "goal_reached");
    assert_eq!(repo.rule(), "S");
    repo.cook(&["log"]).ok().says("goal_asked").says("goal_set");
}

#[test]
fn what_was_reached_is_open_again_with_a_commit_that_breaks_it() {
    let repo = with_goal();
    mend(&repo);
    state(&repo, 0);
    repo.write("slug.sh", crate::goal::OPEN);
    repo.commit("Break it", None);
    assert_eq!(state(&repo, 1)["state"], "not_reached");
    assert_eq!(repo.rule(), "4");
    mend(&repo);
    state(&repo, 0);
}

#[test]
fn what_does_not_matter_beside_the_commit_keeps_nothing_from_being_reached() {
    let repo = with_goal();
    mend(&repo);
    repo.write("notes.txt", "mine\n");
    assert_eq!(state(&repo, 0)["state"], "goal_reached");
    assert_eq!(repo.read("notes.txt"), "mine\n");
}

#[test]
fn a_check_that_is_green_before_any_work_is_refused_unless_the_user_allows_it() {
    let repo = repo();
    let green = ["goal", "it works", "--check", "sh -c true", "--as-user"];
    repo.cook(&green)
        .exits(4)
        .says("goal_check_green")
        .says("--allow-green");
    repo.cook(&["goal"]).exits(4).says("goal_none");
    repo.cook(&[&green[..], &["--check", CHECK, "--allow-green"]].concat())
        .ok();
    let told = state(&repo, 1);
    assert_eq!(told["checks"][0]["green_at_base"], true);
    assert_eq!(told["checks"][1]["green_at_base"], false);
    mend(&repo);
    state(&repo, 0);
}

#[test]
fn one_goal_at_a_time_and_the_user_alone_gives_it_up() {
    let repo = with_goal();
    set(&repo, &[])
        .exits(4)
        .says("goal_exists")
        .says("cook goal drop");
    repo.cook_env(&["goal", "drop", "--as-user"], "CLAUDECODE", "1")
        .exits(4)
        .says("user_only");
    repo.cook(&["goal", "drop"]).exits(4).says("--as-user");
    let setting = ["goal", "other", "--check", CHECK, "--as-user"];
    repo.cook_env(&setting, "CLAUDECODE", "1")
        .exits(4)
        .says("user_only");
    repo.cook(&["goal", "drop", "--as-user"])
        .ok()
        .says("nobody (the goal was dropped)");
    assert_eq!(state(&repo, 1)["state"], "dropped");
    repo.cook(&["goal", "drop", "--as-user"])
        .fails(4, "goal_none")
        .says("dropped already");
    repo.cook(&["resume", "--as-user"])
        .exits(4)
        .says("goal_none");
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    // Another one goes on in the same log.
    set(&repo, &[]).ok();
    mend(&repo);
    state(&repo, 0);
    repo.cook(&["verify", "control-plane"]).ok();
}

#[test]
fn a_goal_becomes_a_mission() {
    let repo = with_goal();
    repo.cook(&[
        "init",
        "--assurance",
        "lite",
        "--as-user",
        "--skip-gates",
        "--commit",
    ])
    .ok();
    assert!(repo.root.join(".agent/state.json").exists());
    repo.cook(&["goal"]).exits(4).says("goal_none");
    let next = repo.cook(&["next", "--json"]).ok().json();
    assert_eq!(next["role"], "completion-regrounder");
    repo.cook(&["verify", "control-plane"]).ok();
}

#[test]
fn a_goal_needs_words_and_a_command() {
    let repo = repo();
    repo.cook(&["goal"])
        .exits(4)
        .says("cook goal 'WORDS' --check");
    repo.cook(&["goal", "words"])
        .exits(2)
        .says("--check 'COMMAND'");
    repo.cook(&["goal", "--check", CHECK])
        .exits(2)
        .says("WORDS");
    repo.cook(&["goal", "x", "--check", "sh 'open", "--as-user"])
        .exits(2);
    repo.cook(&["goal", "x", "--check", CHECK, "--check", CHECK, "--as-user"])
        .exits(2)
        .says("given twice");
    let mission = Repo::with_mission("Something larger");
    mission
        .cook(&["goal", "x", "--check", "false", "--as-user"])
        .exits(4)
        .says("goal_exists");
}

#[test]
fn setup_that_is_not_trusted_is_named_with_the_one_command_that_trusts_it() {
    let repo = repo();
    repo.write(
        ".agent/cook.toml",
        "[clean_room]\nsetup = [\"true\", \"sh -c true\"]\n",
    );
    repo.commit("Settings", None);
    set(&repo, &[])
        .exits(3)
        .says("`true`, `sh -c true`")
        .says("cook trust --gates");
    repo.cook(&["trust", "--gates", "--as-user"]).ok();
    set(&repo, &[]).ok();
}

#[test]
fn a_mission_is_no_goal_to_drop() {
    let mission = Repo::with_mission("Something larger");
    let run = mission
        .cook(&["goal", "x", "--check", "false", "--as-user"])
        .exits(4)
        .says("git worktree add");
    assert!(!run.err.contains("goal drop"), "{}", run.err);
}

#[test]
fn a_goal_becomes_a_mission_before_its_text_changes() {
    let repo = with_goal();
    let refuse = |words: &[&str]| {
        let run = repo.cook(words).exits(4);
        run.says("cook init --assurance standard");
    };
    refuse(&["plan", "refocus", "--mission", "Larger", "--as-user"]);
    repo.cook(&["goal", "drop", "--as-user"]).ok();
    refuse(&["plan", "refocus", "--mission", "Larger", "--as-user"]);
    refuse(&["init", "--mission", "Larger", "--as-user"]);
    repo.cook(&["init", "--assurance", "standard", "--as-user"])
        .ok();
    repo.cook(&["plan", "refocus", "--mission", "Larger", "--as-user"])
        .ok()
        .says("completion-regrounder");
}
