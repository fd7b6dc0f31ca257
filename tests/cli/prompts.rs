//! What a prompt shows of proof and of findings: all that is decided on, once, and no more than can
//! be read.

use crate::support::Repo;
use serde_json::json;

fn prompt(repo: &Repo) -> String {
    repo.cook(&["next", "--prompt"]).exits(0).out
}

#[track_caller]
fn counts(text: &str, part: &str, times: usize) {
    assert_eq!(text.matches(part).count(), times, "`{part}` in:\n{text}");
}

#[test]
fn what_a_red_gate_printed_reaches_who_plans_the_mending_and_who_does_it() {
    let repo = Repo::wave();
    repo.write("results", "FAIL: test_two\nAssertionError: two is three\n");
    repo.write("red", "");
    let settings = repo.read(".agent/cook.toml");
    let gate = "\n[gates]\nt = { run = \"bash test.sh\" }\n";
    repo.write(".agent/cook.toml", settings + gate);
    repo.cook(&["init", "--as-user"]).exits(0);
    repo.commit("break it", None);
    repo.cook(&["verify", "stop"]).says("`t` ended with");
    counts(&prompt(&repo), "AssertionError: two is three", 1);
    let slice = json!({
        "slice_id": "n", "goal": "two is two", "acceptance_criteria": ["it prints two"],
        "contract_ids": [], "priority": 5, "why_now": "red", "blocked_on": [],
    });
    let block = json!({"plan": {"add": [slice]}, "select": "n"});
    repo.record("regrounder", repo.reground("none", "none", "n", &block))
        .exits(0);
    let text = prompt(&repo);
    assert!(text.contains("Cook-Slice: n"), "{text}");
    counts(&text, "AssertionError: two is three", 1);
}

#[test]
fn whoever_re_grounds_is_told_of_what_is_not_committed() {
    let repo = Repo::wave();
    repo.cook(&["plan", "refocus", "--mission", "Another aim", "--as-user"])
        .exits(0);
    repo.write("users.txt", "not committed");
    let text = prompt(&repo);
    let part = "the worktree is not clean: .agent/mission.md, users.txt; a slice can be selected or accepted only after the user commits";
    counts(&text, part, 1);
    std::fs::remove_file(repo.root.join("users.txt")).unwrap();
    repo.commit("another aim", None);
    counts(&prompt(&repo), "the worktree is not clean", 0);
}
