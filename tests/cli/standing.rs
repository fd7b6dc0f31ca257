//! What somebody said stands until somebody answers it: rejections, the user's words, what an implementer
//! says of the plan.

use crate::cli::handing_on::holds;
use crate::cli::reasons::{make_rejected, prompt, reground};
use crate::support::Repo;
use crate::support::reports::{slice, waiting_slice};
use serde_json::json;

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
