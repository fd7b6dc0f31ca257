//! Reports as agents hand them in: checked without a repository, repaired,
//! stale, doubled, contradictory, hostile.

use crate::support::Repo;
use crate::support::story::{MISSION, plan};
use serde_json::json;

#[track_caller]
fn expect_unchanged(repo: &Repo, args: &[&str], report: impl AsRef<[u8]>, exit: i32, code: &str) {
    let before = repo.fingerprint();
    let run = repo.record_with(args, report).exits(exit);
    assert!(
        run.err.contains(&format!("[{code}]")),
        "{code}: {}",
        run.err
    );
    assert!(run.err.contains("next: "), "{}", run.err);
    assert!(!run.err.contains('\u{1b}') && !run.out.contains('\u{1b}'));
    assert!(before == repo.fingerprint(), "{code}: something changed");
}

#[test]
fn check_needs_no_repository() {
    let dir = Repo::directory();
    let good = Repo::with_commit().review(true);
    let run = dir
        .record_with(&["reviewer", "--check", "--json"], &good)
        .exits(0);
    let value = run.json();
    assert_eq!(value["schema_version"], 1);
    assert_eq!(value["valid"], true);
    assert_eq!(value["fields"]["mission_anchor"], MISSION);
    assert_eq!(value["rubric"]["correctness_risk"]["verdict"], "pass");
    let bad = good.replace("Acceptable as-is: yes", "Acceptable as-is: perhaps");
    let value = dir
        .record_with(&["reviewer", "--check", "--json"], &bad)
        .exits(1)
        .json();
    assert_eq!(value["valid"], false);
    assert_eq!(value["findings"][0]["code"], "field_not_yes_no");
    dir.record_with(&["reviewer", "--check"], &bad)
        .exits(1)
        .says("field_not_yes_no");
    dir.record_with(&["reviewer", "--repair-prompt"], &bad)
        .exits(0)
        .says("Acceptable as-is");
    dir.record("reviewer", &good).fails(3, "not_a_repository");
    dir.record("judge-dredd", &good)
        .fails(2, "usage")
        .says("stop-judge");
    dir.record_with(&["reviewer", "no-such-file", "--check"], "")
        .fails(3, "input_unreadable");
}

/// A moved HEAD is no matter of a role that is not due: `cook next` prints no ticket for it.
#[test]
fn whose_turn_it_is_comes_before_where_head_is() {
    let repo = Repo::with_commit();
    repo.write("notes.txt", "mine\n");
    repo.commit("Take notes", None);
    repo.record("reviewer", repo.review(true))
        .fails(4, "head_moved");
    repo.record("auditor", repo.audit("b"))
        .fails(4, "not_your_turn");
}

#[test]
fn a_ticket_is_good_for_one_state_of_log_and_head() {
    let repo = Repo::with_commit();
    let ticket = |repo: &Repo| {
        let next = repo.cook(&["next", "--json"]).json();
        next["ticket"].as_str().unwrap().to_owned()
    };
    let old = ticket(&repo);
    assert_eq!(old, ticket(&repo), "reading twice gives the same ticket");
    repo.commit("foreign", None);
    expect_unchanged(
        &repo,
        &["reviewer", "--ticket", &old],
        repo.review(true),
        4,
        "stale_ticket",
    );
    let fresh = ticket(&repo);
    repo.record_with(&["reviewer", "--ticket", &fresh], repo.review(true))
        .exits(0);
    expect_unchanged(
        &repo,
        &["auditor", "--ticket", &fresh],
        repo.audit("b"),
        4,
        "stale_ticket",
    );
}

#[test]
fn judges_are_told_apart_by_their_sessions() {
    let repo = Repo::wave();
    repo.record_with(&["stop-judge", "--session", "s1"], repo.judge(true))
        .exits(0);
    expect_unchanged(
        &repo,
        &["stop-judge", "--session", "s1"],
        repo.judge(true),
        4,
        "duplicate_report",
    );
    // The same words of another judge are another vote.
    repo.record_with(&["stop-judge", "--session", "s2"], repo.judge(true))
        .exits(0);
    let next = repo.cook(&["next", "--json"]).json();
    assert_eq!(next["judgments"], json!({"have": 2, "need": 3}));
}

#[test]
fn the_same_text_without_a_session_is_one_vote() {
    let repo = Repo::wave();
    repo.record("stop-judge", repo.judge(true)).exits(0);
    expect_unchanged(
        &repo,
        &["stop-judge"],
        repo.judge(true),
        4,
        "duplicate_report",
    );
}

#[test]
fn hostile_reports_are_refused_or_read_harmlessly() {
    let repo = Repo::with_commit();
    let good = repo.review(true);
    expect_unchanged(&repo, &["reviewer"], "", 4, "report_empty");
    expect_unchanged(
        &repo,
        &["reviewer"],
        b"\xff\xfe MISSION ANCHOR: x\n",
        4,
        "report_not_text",
    );
    expect_unchanged(
        &repo,
        &["reviewer"],
        vec![b'x'; 10 << 20],
        4,
        "report_too_large",
    );
    expect_unchanged(
        &repo,
        &["reviewer"],
        vec![b'x'; 17 << 20],
        3,
        "input_too_large",
    );
    expect_unchanged(
        &repo,
        &["reviewer"],
        "\u{1b}]0;owned\u{7}\u{1b}[2Jhello\u{202e}",
        4,
        "header_missing",
    );
    expect_unchanged(
        &repo,
        &["reviewer"],
        good.replace(
            "Findings: two is odd",
            &format!("Findings: {}", "x".repeat(30_000)),
        ),
        4,
        "field_too_long",
    );
    let escapes = good.replace("two is odd", "\u{1b}[31mred\u{1b}[0m \u{202e}drow");
    let windows = format!("\u{feff}{}", escapes.replace('\n', "\r\n"));
    let run = repo.record("reviewer", &windows).exits(0);
    assert!(!run.out.contains('\u{1b}'));
    for args in [
        &["log", "@"][..],
        &["next", "--prompt"],
        &["log", "@-..@"],
        &["status"],
        &["log"],
    ] {
        let run = repo.cook(args).exits(0);
        assert!(
            !run.out.contains('\u{1b}') && !run.out.contains('\u{202e}'),
            "{args:?}"
        );
    }
    let history = repo.read(".agent/slice-history.jsonl");
    assert!(
        !history.contains("\\u001b") && !history.contains('\u{202e}'),
        "{history}"
    );
}

#[test]
fn plans_that_cannot_be_are_refused_by_name() {
    let repo = Repo::set_up();
    let base = plan();
    let slice = |id: &str, blocked: &[&str]| {
        json!({"slice_id": id, "goal": "g", "priority": 5, "acceptance_criteria": ["c"],
               "why_now": "w", "blocked_on": blocked})
    };
    let cases = [
        (
            "slice_duplicated",
            json!({"candidate_slices": [slice("x", &[]), slice("x", &[])]}),
        ),
        (
            "dependency_cycle",
            json!({"candidate_slices": [slice("one", &["two"]), slice("two", &["three"]), slice("three", &["one"])]}),
        ),
        (
            "slice_id_invalid",
            json!({"candidate_slices": [slice("../x", &[])]}),
        ),
        ("plan_marks_done", {
            let mut p = base.clone();
            p["candidate_slices"][0]["status"] = json!("done");
            p
        }),
        ("criteria_empty", {
            let mut p = base.clone();
            p["candidate_slices"][0]["acceptance_criteria"] = json!([]);
            p
        }),
        ("criteria_empty", {
            let mut p = base.clone();
            p["candidate_slices"][0]["acceptance_criteria"] = json!(["c", " \t"]);
            p
        }),
        ("criteria_empty", {
            let mut p = base.clone();
            p["candidate_slices"][0]["goal"] = json!(" ");
            p
        }),
    ];
    for (code, plan) in cases {
        let report = repo.reground("none", "none", "none", &json!({"plan": plan}));
        expect_unchanged(&repo, &["regrounder"], &report, 4, code);
        if code == "dependency_cycle" {
            let run = repo.record("regrounder", &report);
            for id in ["one", "two", "three"] {
                assert!(run.err.contains(id), "the circle is named: {}", run.err);
            }
        }
    }
    let blocked = repo.reground("none", "none", "b", &json!({"plan": base, "select": "b"}));
    expect_unchanged(&repo, &["regrounder"], &blocked, 4, "select_blocked");
    let mut two = base.clone();
    two["candidate_slices"][0]["status"] = json!("selected");
    two["candidate_slices"][1]["status"] = json!("selected");
    let report = repo.reground("none", "none", "none", &json!({"plan": two}));
    let before = repo.fingerprint();
    repo.record("regrounder", &report).exits(4);
    assert!(before == repo.fingerprint());
    let report = repo.reground("none", "none", "none", &json!({}));
    let run = repo
        .record("regrounder", report.replace("```json\n{}\n```", ""))
        .exits(4);
    assert!(run.err.contains("report_block_missing"), "{}", run.err);
    let run = repo
        .record("regrounder", report.replace("{}", "{\"frobnicate\": 1}"))
        .exits(4);
    assert!(
        run.err.contains("report_block_invalid") && run.err.contains("frobnicate"),
        "{}",
        run.err
    );
}

#[test]
fn commits_that_a_report_cannot_claim() {
    let repo = Repo::with_selection();
    let basis = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["switch", "-q", "-c", "side"]);
    repo.write("side.txt", "x");
    let side = repo.commit("side", Some("a"));
    repo.git(&["switch", "-q", "main"]);
    let report = |sha: &str| repo.implementation("a", sha);
    for (sha, code) in [
        ("deadbeefdeadbeef", "commit_unknown"),
        (side.as_str(), "commit_not_on_head"),
        (basis.as_str(), "commit_not_after_basis"),
    ] {
        let before = repo.fingerprint();
        let run = repo.record("implementer", report(sha)).exits(4);
        assert!(
            run.err.contains(&format!("[{code}]")),
            "{code}: {}",
            run.err
        );
        assert!(before == repo.fingerprint());
    }
    let empty = repo.commit("empty", Some("a"));
    expect_unchanged(&repo, &["implementer"], report(&empty), 4, "commit_empty");
    repo.write(".agent/README.md", "mine now\n");
    let contract = repo.commit("contract", Some("a"));
    expect_unchanged(
        &repo,
        &["implementer"],
        report(&contract),
        4,
        "protected_path",
    );
}

/// Beside its form a check says what the repository has against a report, where one waits for it.
#[test]
fn a_check_says_what_would_refuse_the_report() {
    let repo = Repo::with_commit();
    let before = repo.fingerprint();
    let check = |role: &str, report: String, exit: i32| {
        let run = repo.record_with(&[role, "--check", "--json"], report);
        run.exits(exit).json()
    };
    let good = check("reviewer", repo.review(true), 0);
    assert!(good["against"].as_str().unwrap().starts_with("transition "));
    // Another role's report is read, and that is all.
    let early = check("auditor", repo.audit("b"), 0);
    assert_eq!(early["not_held"], "rule 5 waits for the reviewer");
    // A contract id that the state does not hold.
    let wrong = repo.review(true).replace("C-a, C-b", "C-a");
    let wrong = check("reviewer", wrong, 1);
    assert_eq!(wrong["valid"], false);
    assert_eq!(wrong["findings"][0]["code"], "remaining_ids_mismatch");
    assert!(before == repo.fingerprint(), "a check changed something");
}

/// At the end of a job accepted tests run with empty caches, which a check cannot do and the report's recording does.
#[test]
fn a_check_of_the_last_report_takes_for_green_what_would_run_anew() {
    let repo = Repo::wave();
    repo.judges_say_yes();
    let block = json!({"conclude": {"decision": "stop"}});
    let report = repo.reground("none", "none", "none", &block);
    let run = repo.record_with(&["regrounder", "--check", "--json"], report);
    let checked = run.exits(0).json();
    assert_ne!(checked["assumed"], json!([]), "{checked}");
    repo.conclude_done().exits(0);
}
