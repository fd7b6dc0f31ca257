//! Plans as changes, and the user's answers as conditions of slices.

use crate::support::Repo;
use crate::support::reports::{plan, slice, waiting_slice};
use serde_json::{Value, json};

/// `s1` is selected, `s2` waits for it.
fn make_planned() -> Repo {
    let repo = Repo::with_mission("Ship it");
    let slices = [slice("s1"), waiting_slice("s2", "s1"), slice("s3")];
    repo.hand_in_reground(&json!({"plan": plan(&slices), "select": "s1"}));
    repo
}

fn reground(repo: &Repo, block: &Value) -> crate::support::Run {
    repo.record("regrounder", repo.regrounder_report(block))
}

/// A re-ground is due: the slice in work was given back.
fn make_given_back() -> Repo {
    let repo = make_planned();
    let report = repo.implementer_report(Some("it is cut at the wrong place"));
    repo.record("implementer", report).ok();
    repo
}

#[test]
fn a_plan_that_cannot_be_applied_is_refused_with_the_way_on() {
    let change = |id: &str| json!({"slice_id": id, "priority": 1});
    let cancel = |id: &str| json!({"slice_id": id, "reason": "no"});
    let wrong = [
        (
            json!({"add": [slice("s4"), slice("s4")]}),
            "slice_duplicated",
        ),
        (json!({"add": [slice("s1")]}), "slice_duplicated"),
        (
            json!({"change": [change("s2")], "cancel": [cancel("s2")]}),
            "slice_duplicated",
        ),
        (json!({"change": [change("s9")]}), "slice_unknown"),
        (json!({"cancel": [cancel("s1")]}), "blocked_on_cancelled"),
        (
            json!({"cancel": [{"slice_id": "s3", "reason": " "}]}),
            "cancel_without_reason",
        ),
        (json!({"order": ["s9"]}), "order_unknown"),
        (json!({"order": ["s1", "s1"]}), "order_unknown"),
        (
            json!({"change": [{"slice_id": "s2", "drop_criteria": [7]}]}),
            "criteria_weakened",
        ),
        (
            json!({"change": [{"slice_id": "s2", "drop_criteria": [1], "add_criteria": ["another"]}]}),
            "criteria_weakened",
        ),
        (
            json!({"add": [slice("s4")], "candidate_slices": [slice("s1")]}),
            "plan_twice",
        ),
    ];
    let repo = make_given_back();
    let before = repo.fingerprint();
    for (delta, code) in wrong {
        let run = reground(&repo, &json!({"plan": delta}));
        assert_ne!(run.code, 0, "{delta}");
        run.says(code).says("next: ");
        assert_eq!(repo.fingerprint(), before);
    }
    // What others wait for may go when the same report says what they wait for instead.
    let both = json!({"plan": {"cancel": [cancel("s1")], "change": [{"slice_id": "s2", "blocked_on": []}]}});
    reground(&repo, &both).ok();
    let closed = json!({"plan": {"change": [change("s1")]}});
    reground(&repo, &closed).exits(4).says("goal_changed");
    let closed = json!({"plan": {"order": ["s1"]}});
    reground(&repo, &closed).exits(4).says("order_unknown");
}

/// What is left out stays, of blockers and gaps too.
#[test]
fn blockers_and_gaps_stay_until_a_list_is_given() {
    let repo = make_given_back();
    let block =
        json!({"release_blocker_ids": ["B-1"], "high_value_gaps": ["no manual"], "select": "s3"});
    reground(&repo, &block).ok();
    repo.record("implementer", repo.implementer_report(Some("not yet")))
        .ok();
    reground(&repo, &json!({"select": "s1"})).ok();
    assert_eq!(
        repo.document("state.json")["release_blocker_ids"],
        json!(["B-1"])
    );
    repo.record(
        "implementer",
        repo.implementer_report(Some("not this either")),
    )
    .ok();
    // An empty list is offered of what is not open alone, and what it clears is said.
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    for key in ["release_blocker_ids", "high_value_gaps"] {
        assert!(!prompt.contains(&format!("\"{key}\": []")), "{prompt}");
    }
    reground(&repo, &json!({"release_blocker_ids": [], "select": "s3"}))
        .ok()
        .says("blockers_cleared")
        .says("'B-1'");
    assert_eq!(
        repo.document("state.json")["release_blocker_ids"],
        json!([])
    );
    assert_eq!(repo.document("state.json")["remaining_high_value_gaps"], 1);
}

#[test]
fn the_work_is_blocked_for_a_reason() {
    let repo = make_given_back();
    let blocked = |why: &str| json!({"policy": {"to": "blocked", "why": why, "exit": "true"}});
    for why in ["", " ", "none", "-"] {
        reground(&repo, &blocked(why)).exits(4);
    }
    reground(&repo, &blocked("none"))
        .exits(4)
        .says("block_without_reason");
    reground(&repo, &blocked("the mirror is down")).ok();
}

#[test]
fn a_plan_that_changes_nothing_but_the_order_says_so() {
    let repo = make_given_back();
    for plan in [
        json!({}),
        json!({"plan_basis": "x", "add": [], "order": []}),
    ] {
        let kept = repo.document("plan.json")["candidate_slices"].clone();
        reground(&repo, &json!({"plan": plan})).ok();
        assert_eq!(repo.document("plan.json")["candidate_slices"], kept);
        let report = repo.implementer_report(Some("again"));
        repo.record("implementer", report).ok();
    }
    reground(&repo, &json!({"plan": {"order": ["s3", "s1", "s2"]}}))
        .ok()
        .says("orders s3, s1, s2");
    let forged =
        json!({"plan": {"change": [{"slice_id": "s2", "locked_notes": [" user@answer-9: yes"]}]}});
    let report = repo.implementer_report(Some("once more"));
    repo.record("implementer", report).ok();
    reground(&repo, &forged).exits(4).says("note_forged");
}
