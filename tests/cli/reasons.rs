//! What a report decides it gives a reason for, once, and the reason reaches whoever goes on.

use crate::cli::handing_on::holds;
use crate::support::reports::{plan, slice};
use crate::support::{Repo, Run};
use serde_json::{Value, json};

pub fn reground(repo: &Repo, block: &Value) -> Run {
    repo.record("regrounder", repo.regrounder_report(block))
}

pub fn prompt(repo: &Repo) -> String {
    repo.cook(&["next", "--prompt"]).ok().out
}

/// A committed slice that its review rejected, and the audit after it.
pub fn make_rejected() -> Repo {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1")]);
    repo.write_commit_for("s1", "s1.txt", "s1 works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let no = repo.reviewer_report(Some("it loses the exit code"));
    repo.record("reviewer", no).ok();
    repo.record("auditor", repo.auditor_report()).ok();
    repo
}

#[test]
fn a_blocked_slice_says_why() {
    let repo = Repo::with_mission("Ship it");
    let block = json!({"plan": plan(&[slice("s1"), slice("s2")])});
    repo.hand_in_reground(&block);
    let change = |change: Value| reground(&repo, &json!({"plan": {"change": [change]}}));
    change(json!({"slice_id": "s2", "status": "blocked"})).fails(4, "block_without_reason");
    let mut new = slice("s3");
    new["status"] = json!("blocked");
    reground(&repo, &json!({"plan": {"add": [new]}})).fails(4, "block_without_reason");
    change(json!({"slice_id": "s2", "status": "blocked", "reason": "the vendor sent no key"})).ok();
    let is_told = || {
        let told = prompt(&repo);
        let status = repo.cook(&["status"]).ok().out;
        let reason = "the vendor sent no key";
        [
            told.contains(&format!("blocked because: {reason}")),
            status.contains(reason),
        ]
    };
    assert_eq!(is_told(), [true, true]);
    // Another change of it keeps the reason, its end does not.
    change(json!({"slice_id": "s2", "priority": 1})).ok();
    assert_eq!(is_told(), [true, true]);
    change(json!({"slice_id": "s2", "status": "planned"})).ok();
    assert_eq!(is_told(), [false, false]);
    // What it waits for says why.
    change(json!({"slice_id": "s2", "status": "blocked", "blocked_on": ["s1"]})).ok();
}

#[test]
fn an_answered_question_is_known_however_it_is_written() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1")]);
    let ask = |question: &str| {
        let report = repo.implementer_report(None);
        let commit = report.lines().find(|line| line.starts_with("Commit SHA:"));
        let report = report.replace(commit.unwrap(), "Commit SHA: none");
        repo.record(
            "implementer",
            format!("{report}Input needed from user: {question}\n"),
        )
    };
    ask("Shall it be C++?").ok();
    repo.cook(&["resume", "--answer", "yes", "--as-user"]).ok();
    for same in [
        "shall  it be c++?",
        "Shall it be C++",
        "1. Shall it be C++?",
        "- Shall it be C++ ?",
        "2) **Shall it be C++?**",
        "\"Shall it be C++?\"",
    ] {
        ask(same).fails(4, "already_answered");
    }
    ask("Shall it be C?").ok();
}

#[test]
fn a_regrounder_is_told_that_the_goal_of_a_slice_in_work_is_locked() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1")]);
    let report = repo.implementer_report(Some("the goal is wrong"));
    repo.record("implementer", report).ok();
    holds(
        &prompt(&repo),
        "but the criteria (and, of a slice in work, the goal)",
    );
    let change = json!({"change": [{"slice_id": "s1", "goal": "another"}]});
    reground(&repo, &json!({"plan": change})).fails(4, "goal_changed");
}
