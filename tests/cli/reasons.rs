//! What a report decides it gives a reason for, once, and the reason reaches whoever goes on.

use crate::cli::handing_on::{holds, lacks};
use crate::support::reports::{plan, proof, slice};
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
fn a_reopened_slice_is_told_what_to_fix() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.build_slice("s1");
    holds(&prompt(&repo), "\"findings\": [\"<what must be fixed");
    let reopen = |findings: Value| {
        let decision = json!({"slice_id": "s1", "decision": "reopened", "findings": findings});
        reground(&repo, &json!({"reconcile": decision}))
    };
    for nothing in [json!([]), json!(["none"]), json!(["-"])] {
        reopen(nothing).fails(4, "reopen_without_reason");
    }
    reopen(json!(["it leaks handles"])).ok();
    let told = prompt(&repo);
    holds(&told, "must be fixed: 1. it leaks handles");
    lacks(&told, "The review that sent it back");
    holds(&told, "which a re-ground reopened");
    // A done slice too.
    repo.write_commit_for("s1", "s1.txt", "s1 works\nbetter\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let again = |report: String| report.replace("- read", "- read again");
    let review = again(repo.reviewer_report(None));
    repo.record("reviewer", review).ok();
    repo.record("auditor", again(repo.auditor_report())).ok();
    repo.accept_slice("s1");
    reopen(json!([])).fails(4, "reopen_without_reason");
}

#[test]
fn what_an_attempt_did_about_each_must_fix_reaches_who_judges_it() {
    let repo = make_rejected();
    lacks(&prompt(&repo), "Must-fix answered");
    let decision =
        json!({"slice_id": "s1", "decision": "reopened", "findings": ["it leaks handles"]});
    reground(&repo, &json!({"reconcile": decision})).ok();
    let told = prompt(&repo);
    holds(
        &told,
        "Must-fix answered:\n- <for each thing that must be fixed its number",
    );
    holds(&told, "must be fixed: 2. it leaks handles");
    repo.write_commit_for("s1", "s1.txt", "s1 works\nbetter\n");
    let report = repo.implementer_report(None);
    let report = format!(
        "{report}Must-fix answered:\n- 2: no leak: it is closed in s1.txt:2\n- 9: there is no such\n"
    );
    repo.record("implementer", report).ok();
    let judged = |role: &str| {
        let told = prompt(&repo);
        holds(
            &told,
            "it leaks handles; what was done about it: no leak: it is closed in s1.txt:2",
        );
        holds(
            &told,
            "it loses the exit code; what was done about it: nothing said",
        );
        assert!(told.contains("9: there is no such"), "{role}: {told}");
    };
    judged("reviewer");
    let again = |report: String| report.replace("- read", "- read again");
    repo.record("reviewer", again(repo.reviewer_report(None)))
        .ok();
    judged("auditor");
}

#[test]
fn a_prompt_and_a_repair_request_offer_what_their_rule_takes() {
    let repo = make_rejected();
    let offered = |text: &str| {
        let keys = [
            "reconcile",
            "reopen",
            "conclude",
            "answers_to",
            "select",
            "policy",
        ];
        let is_offered = |key: &&str| text.contains(&format!("\n  \"{key}\": "));
        keys.into_iter().filter(is_offered).collect::<Vec<_>>()
    };
    let asked = prompt(&repo);
    assert_eq!(offered(&asked), ["reconcile", "select", "policy"]);
    repo.write(".agent/tmp/broken.txt", "MISSION ANCHOR: Ship it");
    let repair = repo
        .cook(&[
            "record",
            "regrounder",
            "--repair-prompt",
            ".agent/tmp/broken.txt",
        ])
        .ok()
        .out;
    assert_eq!(offered(&repair), offered(&asked));
    holds(&repair, "\nMISSION ANCHOR: Ship it\n");
}

#[test]
fn a_no_that_the_user_voids_is_told_to_everybody_after() {
    let repo = make_rejected();
    repo.cook(&["resume", "--review-again", "--as-user"]).ok();
    let voided = "the user voided that review";
    let told = |role: &str| {
        let prompt = prompt(&repo);
        holds(&prompt, "it loses the exit code");
        assert!(prompt.contains(voided), "{role}: {prompt}");
        prompt
    };
    let reviewer = told("reviewer");
    lacks(&reviewer, "What this attempt had to fix");
    lacks(&reviewer, "a re-ground answered");
    repo.record("reviewer", repo.reviewer_report(None)).ok();
    told("auditor");
    repo.record("auditor", repo.auditor_report()).ok();
    told("regrounder");
    repo.hand_in_reground(&json!({
        "reconcile": {"slice_id": "s1", "decision": "accepted"},
        "evidence": proof("s1"),
    }));
    assert_eq!(repo.rule(), "8");
    told("judge");
    let brief = repo.cook(&["brief", "--all"]).ok().out;
    holds(&brief, voided);
    repo.cook(&["verify", "control-plane"]).ok();
}

#[test]
fn a_no_is_voided_as_well_where_its_slice_was_reopened() {
    let repo = make_rejected();
    let decision = json!({"slice_id": "s1", "decision": "reopened", "findings": []});
    repo.hand_in_reground(&json!({"reconcile": decision}));
    repo.cook(&["resume", "--review-again", "--as-user"]).ok();
    let told = prompt(&repo);
    holds(&told, "the user voided that review");
    holds(&told, "it loses the exit code");
    lacks(&told, "What this attempt had to fix");
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
fn a_list_names_a_thing_once() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.build_slice("s1");
    repo.accept_slice("s1");
    let reopen = json!({"slice_id": "s1", "why": "it fails"});
    let to = json!({"answer": "answer-1", "slices": ["s2"]});
    for block in [
        json!({"reopen": [reopen, {"slice_id": "s1", "why": "it is slow"}]}),
        json!({"reopen": [reopen], "plan": {"cancel": [{"slice_id": "s1", "reason": "r"}]}}),
        json!({"reopen": [reopen],
            "reconcile": {"slice_id": "s1", "decision": "reopened", "findings": ["x"]}}),
        json!({"answers": [{"no": "no-1", "reason": "a"}, {"no": "no-1", "reason": "b"}]}),
        json!({"answers_to": [to, {"answer": "answer-1", "slices": []}]}),
        json!({"answers_to": [{"answer": "answer-1", "slices": ["s2", "s2"]}]}),
        json!({"plan": {"change": [{"slice_id": "s2", "drop_criteria": [1, 1]}]}}),
        json!({"high_value_gaps": ["docs", "docs"]}),
        json!({"release_blocker_ids": ["b", "b"]}),
    ] {
        reground(&repo, &block).fails(4, "named_twice");
    }
    reground(&repo, &json!({"reopen": [reopen]})).ok();
}

#[test]
fn an_answer_that_says_nothing_is_none() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1")]);
    repo.build_slice("s1");
    repo.accept_slice("s1");
    repo.record("stop-judge", repo.judge_report(Some("no manual")))
        .ok();
    repo.commit("by the user", None);
    let told = prompt(&repo);
    let number = told
        .split("`no-")
        .nth(1)
        .unwrap()
        .split('`')
        .next()
        .unwrap();
    let answers = json!([{"no": format!("no-{number}"), "reason": "none"}]);
    reground(&repo, &json!({"answers": answers})).fails(4, "no_unanswered");
    let policy = json!({"to": "await_user_input", "question": "which manual?"});
    let answers = json!([{"no": format!("no-{number}"), "reason": "it is a page now"}]);
    reground(&repo, &json!({"answers": answers, "policy": policy})).ok();
    repo.cook(&["resume", "--answer", "\u{200b}", "--as-user"])
        .fails(4, "answer_missing");
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
