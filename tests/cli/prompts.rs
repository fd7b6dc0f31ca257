//! What a prompt shows of proof and of findings: all that is decided on, once, and no more than can
//! be read.

use crate::support::Repo;
use crate::support::story::evidence_a;
use serde_json::json;

fn prompt(repo: &Repo) -> String {
    repo.cook(&["next", "--prompt"]).exits(0).out
}

#[track_caller]
fn counts(text: &str, part: &str, times: usize) {
    assert_eq!(text.matches(part).count(), times, "`{part}` in:\n{text}");
}

/// `a` with a commit whose gate prints this.
fn printing(results: &str) -> Repo {
    let repo = Repo::with_selection();
    repo.write("results", results);
    repo.write(
        "a.txt",
        "the one thing to be said\nthe two things to be said\n",
    );
    let sha = repo.commit("do a", Some("a"));
    repo.record("implementer", repo.implementation("a", &sha))
        .exits(0);
    repo.record("reviewer", repo.review(true)).exits(0);
    repo.record("auditor", repo.audit("b")).exits(0);
    repo
}

const TAP: &str = "1..2\nok 1 - prints one\nok 2 - prints two\n";

#[test]
fn whoever_accepts_is_shown_the_proof_of_each_criterion() {
    let repo = printing(TAP);
    let text = prompt(&repo);
    let (before, _) = text.split_once("the diff:").unwrap();
    for (criterion, anchors) in [
        ("  criterion 1: ", ["test:prints one", "results:1-3"]),
        ("  criterion 2: ", ["test:prints two", "a.txt:1-2"]),
    ] {
        let mut lines = before.lines();
        let line = lines.rfind(|line| line.starts_with(criterion));
        let line = line.unwrap_or_else(|| panic!("{criterion}: {before}"));
        for anchor in anchors {
            assert!(line.contains(anchor), "{anchor}: {line}");
        }
    }
    assert!(before.contains("a.txt:1-2"), "{before}");
    assert!(!before.contains("names no test that passed"), "{before}");
    // Each is taken as it stands there, and in the runner's own words.
    let evidence = json!([
        {"criterion": "prints one", "anchor": "test:prints one"},
        {"criterion": "prints two", "anchor": "test:prints two"},
    ]);
    let block = json!({
        "reconcile": {"slice_id": "a", "decision": "accepted"}, "evidence": evidence,
    });
    repo.record("regrounder", repo.reground("accepted", "a", "none", &block))
        .exits(0)
        .says("accepts a");
}

#[test]
fn where_a_gate_names_no_test_the_prompt_says_what_can_be_cited() {
    let repo = printing("..\nall of it prints\n\nOK\n");
    let text = prompt(&repo);
    let (before, _) = text.split_once("the diff:").unwrap();
    for part in [
        "gate `bash test.sh` names no test that passed; cite a line that it prints",
        "cmd:bash test.sh#all of it prints",
    ] {
        assert!(before.contains(part), "{part}: {before}");
    }
}

#[test]
fn a_red_gate_names_the_tests_of_unittest_once() {
    let repo = Repo::with_selection();
    repo.write("results", "test_two (test_a.T.test_two) ... FAIL\n\nFAIL: test_two (test_a.T.test_two)\n----\nAssertionError\n\nFAILED (failures=1)\n");
    repo.write("red", "");
    let sha = repo.commit("do a", Some("a"));
    repo.record("implementer", repo.implementation("a", &sha))
        .exits(0);
    let text = prompt(&repo);
    counts(&text, "failed: test_a.T.test_two\n", 1);
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

#[test]
fn a_judge_is_told_of_no_file_of_votes() {
    let text = prompt(&Repo::wave());
    counts(&text, "stop-check-history", 0);
    counts(&text, "`slice-history.jsonl`", 1);
    counts(&prompt(&Repo::with_commit()), "stop-check-history", 1);
}

#[test]
fn what_became_of_a_slice_is_said_and_not_what_was_wanted() {
    let repo = Repo::with_review();
    repo.write("a.txt", "one\ntwo\nand more\n");
    let block = json!({
        "reconcile": {"slice_id": "a", "decision": "accepted"},
        "evidence": evidence_a(), "select": "b",
    });
    repo.record("regrounder", repo.reground("accepted", "a", "b", &block))
        .exits(0)
        .says("would accept a, which is reopened")
        .never_says("selects b");
    repo.cook(&["log"])
        .exits(0)
        .says("would accept a, which is reopened")
        .never_says("accepts a");
    let repo = Repo::with_review();
    repo.write("elsewhere.txt", "the user's\n");
    repo.record("regrounder", repo.reground("accepted", "a", "b", &block))
        .exits(0)
        .says("would accept a, which waits")
        .never_says("accepts a");
    repo.cook(&["log"])
        .exits(0)
        .says("would accept a, which waits")
        .never_says("accepts a");
}

#[test]
fn findings_stand_once_in_the_prompt_of_whoever_mends_them() {
    let repo = Repo::with_commit();
    repo.record("reviewer", repo.review(false)).exits(0);
    repo.record("auditor", repo.audit("a")).exits(0);
    let block = json!({"reconcile": {"slice_id": "a", "decision": "reopened"}});
    repo.record("regrounder", repo.reground("reopened", "a", "none", &block))
        .exits(0);
    let text = prompt(&repo);
    counts(&text, "two is odd", 1);
    counts(&text, "mend two", 1);
    repo.write("a.txt", "one\ntwo\nthree\n");
    let sha = repo.commit("again", Some("a"));
    repo.record("implementer", repo.implementation("a", &sha))
        .exits(0);
    // Whoever reviews the next attempt reads what it had to fix.
    let text = prompt(&repo);
    counts(&text, "two is odd", 1);
}

#[test]
fn a_long_list_of_findings_is_cut_with_what_shows_the_rest() {
    let repo = Repo::with_commit();
    let findings: String = (0..250)
        .map(|number| format!("\n- finding {number} {}", "x".repeat(60)))
        .collect();
    let report = repo.review(false);
    let report = report.replace("Findings: two is odd", &format!("Findings:{findings}"));
    repo.record("reviewer", report).exits(0);
    repo.record("auditor", repo.audit("a")).exits(0);
    let text = prompt(&repo);
    assert!(text.len() < 24_000, "{}", text.len());
    counts(
        &text,
        "are left out here; `cook log 5` shows the report)",
        1,
    );
    let block = json!({
        "reconcile": {"slice_id": "a", "decision": "reopened", "findings": ["above all the last"]},
    });
    repo.record("regrounder", repo.reground("reopened", "a", "none", &block))
        .exits(0);
    let text = prompt(&repo);
    assert!(text.len() < 20_000, "{}", text.len());
    counts(
        &text,
        "are left out here; `cat .agent/active-slice.json` shows all)",
        1,
    );
    counts(&text, "finding 0 ", 1);
    counts(&text, "above all the last", 1);
}

#[test]
fn a_no_stands_once_with_its_answer_for_the_next_judges() {
    let repo = Repo::wave();
    for judge in 0..3 {
        let report = repo
            .judge(judge != 1)
            .replace("as measured", "the manual lies");
        repo.record_with(&["stop-judge", "--session", &format!("s{judge}")], report)
            .exits(0);
    }
    let block = json!({"conclude": {"decision": "go_on", "reason": "the manual is mended"}});
    repo.record("regrounder", repo.reground("none", "none", "none", &block))
        .exits(0);
    assert_eq!(repo.rule(), "8");
    counts(&prompt(&repo), "the manual is mended", 1);
}
