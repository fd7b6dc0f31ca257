//! What somebody said stands until somebody answers it: rejections, the user's words, what an implementer
//! says of the plan.

use crate::cli::handing_on::holds;
use crate::cli::reasons::{make_rejected, prompt, reground};
use crate::support::Repo;
use crate::support::reports::{slice, waiting_slice};
use serde_json::json;

/// A report of the slice in work that wants another plan and asks the user.
fn asking(repo: &Repo, why: &str) -> String {
    let report = repo.implementer_report(None);
    let risk = format!(
        "Plan adjustment required: yes\nResidual risks discovered:\n- {why}\n- {why} leaks"
    );
    let report = report.replace(
        "Plan adjustment required: no\nResidual risks discovered: none",
        &risk,
    );
    format!("{report}Input needed from user: which port?\n")
}

#[test]
fn what_reports_say_of_the_plan_stays_until_the_slice_is_accepted() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.record("implementer", asking(&repo, "s2 must come first"))
        .ok();
    repo.cook(&["resume", "--answer", "8080", "--as-user"]).ok();
    holds(&prompt(&repo), "s2 must come first");
    repo.write_commit_for("s1", "s1.txt", "s1 works\n");
    let report = repo.implementer_report(None);
    let risk = "Residual risks discovered: no test of the port";
    let report = report.replace("Residual risks discovered: none", risk);
    repo.record("implementer", report).ok();
    let is_told = |role: &str| {
        let told = prompt(&repo);
        holds(&told, "s2 must come first");
        holds(&told, "s2 must come first leaks");
        assert!(told.contains("no test of the port"), "{role}: {told}");
    };
    is_told("reviewer");
    repo.record("reviewer", repo.reviewer_report(None)).ok();
    is_told("auditor");
    repo.record("auditor", repo.auditor_report()).ok();
    is_told("regrounder");
}

#[test]
fn what_a_report_with_red_gates_says_of_the_plan_stays() {
    let repo = Repo::with_selection();
    repo.write("red", "");
    let sha = repo.write_commit_for("a", "red", "");
    let report = repo.implementation("a", &sha);
    let wants = report
        .lines()
        .map(|line| match line.split_once(": ") {
            Some((label, _)) if label.starts_with("Plan adjustment required") => {
                format!("{label}: yes")
            }
            Some((label, _)) if label.starts_with("Residual risks") => {
                format!("{label}: b must come first")
            }
            _ => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n");
    repo.record("implementer", wants);
    assert_eq!(repo.rule(), "4");
    holds(&prompt(&repo), "b must come first");
    repo.git(&["rm", "-q", "red"]);
    repo.implement_a();
    assert_eq!(repo.rule(), "5");
    holds(&prompt(&repo), "b must come first");
}

/// Whoever asks the user first decides after the answer.
#[test]
fn why_a_slice_came_back_stays_while_the_user_is_asked() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.record(
        "implementer",
        repo.implementer_report(Some("it is cut wrong")),
    )
    .ok();
    let asks = json!({"policy": {"to": "await_user_input", "question": "which port?"}});
    reground(&repo, &asks).ok();
    repo.cook(&["resume", "--answer", "8080", "--as-user"]).ok();
    holds(&prompt(&repo), "it is cut wrong");
}

/// Sent back by a review's no, given back by its implementer and planned again: the no still stands.
fn make_rejected_and_planned() -> (Repo, String) {
    let repo = make_rejected();
    let reopen = json!({"reconcile": {"slice_id": "s1", "decision": "reopened"}});
    reground(&repo, &reopen).ok();
    let report = repo.implementer_report(Some("it is cut at the wrong place"));
    repo.record("implementer", report).ok();
    let again = json!({"plan": {"change": [{"slice_id": "s1", "status": "planned"}]}});
    reground(&repo, &again).ok();
    let prompt = prompt(&repo);
    let at = prompt.find("`review-").map(|at| at + 1);
    let id = at.map(|at| prompt[at..].split('`').next().unwrap());
    let id = id.unwrap_or("review-0").to_owned();
    (repo, id)
}

#[test]
fn a_reviews_no_is_answered_where_its_slice_is_cancelled() {
    let (repo, id) = make_rejected_and_planned();
    let mut cancel = json!({"plan": {"cancel": [{"slice_id": "s1", "reason": "not needed"}]}});
    reground(&repo, &cancel)
        .fails(4, "no_unanswered")
        .says(&id)
        .says("it loses the exit code");
    cancel["answers"] = json!([{"no": id, "reason": "its commit is harmless: nobody calls it"}]);
    reground(&repo, &cancel).ok();
    assert_eq!(repo.rule(), "8");
    let told = prompt(&repo);
    holds(
        &told,
        "it loses the exit code; answer: its commit is harmless",
    );
}

#[test]
fn a_reviews_no_outlives_the_users_cancel_and_another_mission() {
    let (repo, id) = make_rejected_and_planned();
    repo.cook(&["cancel", "--as-user"]).ok();
    repo.cook(&["resume", "--as-user"]).ok();
    assert_eq!(repo.rule(), "2");
    holds(&prompt(&repo), &id);
    reground(&repo, &json!({})).fails(4, "no_unanswered");
    let (repo, id) = make_rejected_and_planned();
    repo.cook(&["plan", "refocus", "--mission", "Another aim", "--as-user"])
        .ok();
    holds(&prompt(&repo), &id);
    reground(&repo, &json!({})).fails(4, "no_unanswered");
}

/// What the user wants of a slice is not gone with the slice.
#[test]
fn what_the_user_said_of_the_last_open_slice_is_answered_where_it_is_cancelled() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.build_slice("s1");
    repo.accept_slice("s1");
    let asks = json!({"policy": {"to": "await_user_input", "question": "which port?"}});
    reground(&repo, &asks).ok();
    repo.cook(&["resume", "--answer", "8080", "--as-user"]).ok();
    let told = prompt(&repo);
    let at = told.find("`answer-").expect("it is named") + 1;
    let id = told[at..].split('`').next().unwrap().to_owned();
    reground(
        &repo,
        &json!({"answers_to": [{"answer": id, "slices": ["s2"]}]}),
    )
    .ok();
    let mut cancel = json!({"plan": {"cancel": [{"slice_id": "s2", "reason": "not needed"}]}});
    let before = repo.fingerprint();
    reground(&repo, &cancel)
        .fails(4, "answer_unplaced")
        .says("8080");
    assert_eq!(repo.fingerprint(), before);
    // By the user's own hand as well.
    repo.cook(&["cancel", "--as-user"]).ok();
    repo.cook(&["resume", "--as-user"]).ok();
    assert_eq!(repo.rule(), "2");
    reground(&repo, &json!({})).fails(4, "answer_unplaced");
    cancel = json!({"answers": [{"no": id, "reason": "there is no server any more"}]});
    reground(&repo, &cancel).ok();
    assert_eq!(repo.rule(), "8");
    holds(&prompt(&repo), "answer: there is no server any more");
}

/// Their words open what was found done, and reach whoever decides.
#[test]
fn what_the_user_says_opens_a_project_that_is_done() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1")]);
    repo.build_slice("s1");
    repo.accept_slice("s1");
    repo.conclude();
    assert_eq!(repo.rule(), "S");
    repo.cook(&["brief", "say", "the port is 8080", "--as-user"])
        .ok()
        .says("open again");
    assert_eq!(repo.rule(), "2");
    let told = prompt(&repo);
    holds(&told, "the user said: the port is 8080");
    holds(&told, "s1 works");
    reground(&repo, &json!({}))
        .fails(4, "answer_unplaced")
        .says("8080");
    let at = told.find("`answer-").expect("it is named") + 1;
    let id = told[at..].split('`').next().unwrap();
    let answer = json!({"answers": [{"no": id, "reason": "s1 listens there already"}]});
    reground(&repo, &answer).ok();
    assert_eq!(repo.rule(), "8");
    holds(&prompt(&repo), "answer: s1 listens there already");
    repo.conclude();
    assert_eq!(repo.rule(), "S");
}

/// What is in work does not go on beside what the same report takes up again below it.
#[test]
fn a_report_does_not_open_what_its_selection_waits_for() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("sub"), waiting_slice("div", "sub")]);
    repo.build_slice("sub");
    repo.accept_slice("sub");
    reground(&repo, &json!({"select": "div"})).ok();
    repo.record("implementer", repo.implementer_report(Some("sub is wrong")))
        .ok();
    let reopen = json!([{"slice_id": "sub", "why": "it is wrong"}]);
    let mut both = json!({"reopen": reopen, "select": "div"});
    reground(&repo, &both).fails(4, "select_blocked");
    both["select"] = json!("sub");
    reground(&repo, &both).ok();
}
