//! The profile by the size of the work: what an hour's job costs by hand, and what may not be asked for.

use crate::support::{COOK, Repo, Run, run};
use serde_json::{Value, json};

const MISSION: &str = "Add two\n\n- two() returns 2, and a test says so\n";
const CRITERION: &str = "two() returns 2, and a test says so";
const TESTS: &str = "import unittest, lib\nclass T(unittest.TestCase):\n    def test_one(self): self.assertEqual(lib.one(), 1)\n";
const MORE: &str = "    def test_two(self): self.assertEqual(lib.two(), 2)\n";

fn with_tests() -> Repo {
    let repo = Repo::new();
    repo.write("Makefile", "test:\n\tpython3 -m unittest -v\n");
    repo.write(".gitignore", "__pycache__\n");
    repo.write("lib.py", "def one(): return 1\n");
    repo.write("test_lib.py", TESTS);
    repo.commit("Begin", None);
    repo
}

fn begin(repo: &Repo, size: &str) {
    repo.cook(&[
        "init",
        "--for",
        size,
        "--mission",
        MISSION,
        "--as-user",
        "--commit",
    ])
    .ok();
}

fn claim(criterion: &str, anchor: &str) -> Value {
    json!({"criterion": criterion, "anchor": anchor})
}

fn implementer_report(commit: &str, evidence: &Value) -> String {
    format!(
        "MISSION ANCHOR: Add two\nRemaining contract IDs before slice: add-two\nSlice ID: add-two\nSlice goal: Add two\n\
         Contract IDs closed or advanced:\n- add-two\nFiles changed:\n- lib.py\n- test_lib.py\n\
         Tests added or strengthened:\n- test_two\nVerification commands run:\n- make test\n\
         Verification results: all passed\nCommit SHA: {commit}\nWhat release gap this closed: none\n\
         Plan adjustment required (yes/no): no\nResidual risks discovered:\n- none\nRemaining contract IDs after slice:\n- none\n\n\
         ```json\n{}\n```\n",
        json!({ "evidence": evidence })
    )
}

const REVIEW: &str = "MISSION ANCHOR: Add two\nRemaining contract IDs: add-two\nRubric:\n\
    - Contract coverage: pass - test_two\n- Correctness risk: pass - small\n- Verification evidence: pass - test_two\n\
    - Docs/state parity: pass - none to change\nFindings:\n- none\nAcceptable as-is (yes/no): yes\nSmallest follow-up slice: none\n";

/// Commits the work and hands in its report; the answer to a review of it.
fn build(repo: &Repo, evidence: &Value, review: &str) -> Run {
    repo.write("lib.py", "def one(): return 1\ndef two(): return 2\n");
    repo.write("test_lib.py", format!("{TESTS}{MORE}"));
    let commit = repo.commit("Add two", Some("add-two"));
    repo.cook_reads(
        &["record", "implementer"],
        implementer_report(&commit, evidence),
    )
    .ok();
    repo.cook_reads(&["record", "reviewer"], review)
}

#[test]
fn a_review_that_says_no_ends_nothing() {
    let repo = with_tests();
    begin(&repo, "hour");
    let no = REVIEW
        .replace(
            "Acceptable as-is (yes/no): yes",
            "Acceptable as-is (yes/no): no",
        )
        .replace("slice: none", "slice: say what two() is for");
    build(&repo, &json!([claim(CRITERION, "test:test_two")]), &no).ok();
    let next = repo.cook(&["next", "--json"]).ok().json();
    assert_eq!(next["role"], "completion-regrounder", "{next}");
}

#[test]
fn without_a_choice_it_is_a_day() {
    let repo = with_tests();
    repo.cook(&["init", "--mission", MISSION, "--commit"])
        .ok()
        .says("the profile is `standard`, and 1 judge votes at the end");
    repo.cook(&["run", "--estimate"]).ok().says("5 sessions");
    // More is anybody's to ask for, less the user's.
    repo.cook(&["init", "--for", "week"]).ok();
    let profile = repo.document("profile.json");
    assert_eq!(profile["required_stop_judges"], 3);
    repo.cook(&["init", "--for", "day"])
        .expect_refused("user_only");
    repo.cook(&["init", "--assurance", "lite"])
        .expect_refused("user_only");
    // What was lost is what it was.
    std::fs::remove_file(repo.root.join(".agent/profile.json")).unwrap();
    repo.cook(&["init"]).ok();
    assert_eq!(repo.document("profile.json"), profile);
}

#[test]
fn no_judge_is_asked_for_only_under_lite() {
    let repo = with_tests();
    begin(&repo, "day");
    let profile = repo.read(".agent/profile.json");
    let none = profile.replace("\"required_stop_judges\": 1", "\"required_stop_judges\": 0");
    repo.write(".agent/profile.json", none);
    let refused = repo
        .cook(&["init", "--as-user"])
        .expect_refused("does_not_apply");
    assert!(
        refused
            .err
            .contains("which only the assurance `lite` allows"),
        "{}",
        refused.err
    );
    // A plan that an agent made ends with a judge, whatever the profile says.
    repo.write(".agent/profile.json", profile);
    repo.cook(&["init", "--assurance", "lite", "--as-user"])
        .ok();
    let profile = repo.read(".agent/profile.json");
    let none = profile.replace("\"required_stop_judges\": 1", "\"required_stop_judges\": 0");
    repo.write(".agent/profile.json", none);
    repo.cook(&["init", "--as-user", "--commit"]).ok();
    let state = repo.document("state.json");
    assert_eq!(state["remaining_stop_judges"], 1, "{state}");
}

/// One new proof carries no old one to the end: what is remarked is for a judge.
#[test]
fn a_proof_that_is_not_new_needs_a_judge() {
    let repo = with_tests();
    let old = "one() is tested";
    let mission = format!("{MISSION}- [ ] {old}\n");
    let words = ["init", "--for", "hour", "--mission", &mission];
    repo.cook(&[&words[..], &["--as-user", "--commit"]].concat())
        .ok();
    let evidence = json!([
        claim(CRITERION, "test:test_two"),
        claim(old, "test:test_one")
    ]);
    build(&repo, &evidence, REVIEW).ok();
    let due = repo.cook(&["next", "--json"]).ok().json();
    assert_eq!(due["role"], "completion-regrounder", "{due}");
    let block = json!({
        "reconcile": {"slice_id": "add-two", "decision": "accepted"},
        "evidence": evidence,
    });
    repo.cook_reads(&["record", "regrounder"], repo.regrounder_report(&block))
        .ok()
        .says("proof_not_new");
    let due = repo.cook(&["next", "--json"]).ok().json();
    assert_eq!(due["rule"], "8", "{due}");
    assert_eq!(repo.document("state.json")["remaining_stop_judges"], 1);
    repo.cook(&["verify"]).exits(1).says("[proof_not_new]");
}

/// `script`, which makes a terminal, is part of every Debian.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_asked_how_much_work_it_is() {
    for (typed, assurance) in [("hour\n", "lite"), ("\n", "standard"), ("fortnight\n", "")] {
        let repo = with_tests();
        let mut terminal = repo.command("script");
        terminal.args(["--quiet", "--return", "--command"]);
        terminal.arg(format!("{COOK} init --mission 'Add two' --skip-gates"));
        let run = run(terminal.arg(repo.beside("typescript")), typed);
        let run = run.says("How much work is it?");
        if assurance.is_empty() {
            run.exits(4)
                .says("`fortnight` is none of hour, day and week");
            assert!(!repo.root.join(".agent").exists());
            continue;
        }
        run.ok();
        assert_eq!(
            repo.document("profile.json")["assurance"],
            assurance,
            "{typed}"
        );
    }
}
