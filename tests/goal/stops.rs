//! The stop of an agent that a goal holds, in and outside of its own goal loop.

use crate::goal::{CHECK, SOUND, mend, state, with_goal};
use crate::support::Repo;
use crate::support::hooks::stop_checked;
use serde_json::{Value, json};

fn stop(repo: &Repo, more: Value) -> Value {
    stop_checked(repo, "s", &more)
}

#[test]
fn a_stop_is_refused_three_times_without_a_change_also_in_the_agent_s_own_loop() {
    let repo = with_goal();
    for more in [json!({}), json!({"goal_active": true}), json!({})] {
        let told = stop(&repo, more);
        assert_eq!(told["decision"], "block", "{told}");
        let reason = told["reason"].as_str().unwrap();
        assert!(reason.starts_with("cook goal: not reached."), "{reason}");
        assert!(reason.contains(&format!("- false `{CHECK}`: ")), "{reason}");
    }
    let told = stop(&repo, json!({}));
    assert_eq!(told["decision"], Value::Null, "{told}");
    let said = told["systemMessage"].as_str().unwrap();
    assert!(
        said.contains("although `cook goal` is not reached"),
        "{said}"
    );
    assert_eq!(stop(&repo, json!({})), Value::Null, "it stays let go");
    // A change of the worktree is one, without a commit.
    repo.write("slug.sh", "slug() { echo b; }\n");
    assert_eq!(stop(&repo, json!({}))["decision"], "block");
    repo.write("slug.sh", SOUND);
    let told = stop(&repo, json!({"goal_active": true}));
    assert_eq!(told["decision"], Value::Null, "{told}");
    assert!(
        told["systemMessage"]
            .as_str()
            .unwrap()
            .contains("commit it"),
        "{told}"
    );
    repo.git(&["commit", "-qam", "Lower the case"]);
    let told = stop(&repo, json!({}));
    assert!(
        told["systemMessage"]
            .as_str()
            .unwrap()
            .contains("cook goal: reached at"),
        "{told}"
    );
    assert_eq!(stop(&repo, json!({})), Value::Null, "it is said once");
    let log = repo.cook(&["log"]).ok().out;
    assert!(log.lines().next().unwrap().contains("goal_asked"), "{log}");
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn a_dropped_goal_holds_nobody() {
    let repo = with_goal();
    assert_eq!(stop(&repo, json!({}))["decision"], "block");
    repo.cook(&["goal", "drop", "--as-user"]).ok();
    let told = stop(&repo, json!({}));
    let reason = told["reason"].as_str().unwrap_or_default();
    assert!(!reason.contains("cook goal"), "{told}");
}

#[test]
fn a_sub_agent_and_a_session_of_cook_s_own_are_left_alone() {
    let repo = with_goal();
    assert_eq!(stop(&repo, json!({"agent_id": "sub"})), Value::Null);
    mend(&repo);
    assert!(stop(&repo, json!({}))["decision"].is_null());
    state(&repo, 0);
}
