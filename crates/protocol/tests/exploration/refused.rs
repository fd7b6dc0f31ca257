//! Reports and commands that are refused, each in a state that takes them but for one thing: what is
//! refused, by which code, and what is taken there.

use super::CORE;
use super::events::{Bounds, audit, claims, first_plan, reconcile, submission};
use super::explore::{explain_due, try_event};
use super::walk::Walk;
use super::world::{Dirt, Gates, Harm, Moment, Touch, id};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{
    Facts, Rule, apply, claims as list_claims, find_audit_to_answer, find_slice, find_state,
    list_left_without,
};
use cook_protocol::model::{
    ActiveStatus, Actor, Conclude, Decision, Event, Reground, Resume, Role, Verdict,
};
use serde_json::{Value, json};

const TWO: Bounds = Bounds {
    slices: 2,
    max_slices: 2,
    ..CORE
};

/// Slice `a` has its commit, a review that says yes, and an audit.
fn reach_reconcile() -> Walk {
    let mut walk = Walk::new(TWO);
    walk.reach_rule_7(true);
    walk
}

/// Slice `a` is done, and `b` waits.
fn reach_selection() -> Walk {
    let mut walk = reach_reconcile();
    walk.take(walk.report_accepted("a"));
    walk
}

/// One slice is left to accept before the end.
fn reach_end() -> Walk {
    let mut walk = Walk::new(CORE);
    walk.reach_rule_7(true);
    walk
}

/// Every vote is in.
fn reach_conclusion() -> Walk {
    let mut walk = Walk::new(CORE);
    walk.reach_wave();
    walk.take(walk.report_judged(true));
    assert_eq!(walk.rule(), Rule::Conclude);
    walk
}

fn block(walk: &Walk, value: Value) -> Event {
    let block: Reground = serde_json::from_value(value).unwrap();
    let mut event = walk.reground(|_| {});
    if let Event::Regrounded { block: given, .. } = &mut event {
        *given = block;
    }
    event
}

/// A report that accepts slice `a` with its proof, and more.
fn accept_with(walk: &Walk, more: Value) -> Event {
    let proof = claims(walk.snapshot.plan.slice("a").unwrap(), "good");
    let mut event = block(walk, more);
    if let Event::Regrounded { block, .. } = &mut event {
        let findings = std::mem::take(&mut block.reconcile).map(|given| given.findings);
        block.reconcile = reconcile("a", Decision::Accepted);
        if let (Some(reconcile), Some(findings)) = (&mut block.reconcile, findings) {
            reconcile.findings = findings;
        }
        block.evidence = proof;
    }
    event
}

/// Why a report is refused, in words.
#[track_caller]
fn refuse_saying(walk: &Walk, report: &Event, code: Code, words: &str) {
    let (world, mood, budget) = (&walk.world, &walk.mood, &walk.budget);
    let (_, tried) = try_event(&walk.snapshot, world, mood, budget, report, Actor::Role);
    let refusal = tried.unwrap_err();
    assert_eq!(refusal.code, code, "{}", refusal.message);
    assert!(refusal.message.ends_with(words), "{}", refusal.message);
}

fn slice(name: &str) -> Value {
    json!({"slice_id": name, "goal": "more", "acceptance_criteria": ["c1"],
        "contract_ids": ["C-c"], "priority": 1, "why_now": ""})
}

#[test]
fn a_plan_says_what_changes_once_and_of_slices_that_are_there() {
    let walk = reach_selection();
    for (plan, code) in [
        (
            json!({"candidate_slices": [slice("c")], "add": [slice("d")]}),
            Code::PlanTwice,
        ),
        (
            json!({"change": [{"slice_id": "b", "drop_criteria": [3]}]}),
            Code::CriteriaWeakened,
        ),
        (
            json!({"change": [{"slice_id": "b", "drop_criteria": [1, 1]}]}),
            Code::NamedTwice,
        ),
        (json!({"order": ["c"]}), Code::OrderUnknown),
        (json!({"order": ["a"]}), Code::OrderUnknown),
        (json!({"order": ["b", "b"]}), Code::OrderUnknown),
    ] {
        let report = block(&walk, json!({"plan": plan, "select": "b"}));
        walk.clone().refuse(report, code);
    }
    let again = block(&walk, json!({"plan": {"add": [slice("b")]}, "select": "b"}));
    refuse_saying(
        &walk,
        &again,
        Code::SliceDuplicated,
        "`b` is in the plan already",
    );
    let plan = json!({"add": [slice("c")], "order": ["c", "b"]});
    let report = block(&walk, json!({"plan": plan, "select": "c"}));
    walk.clone().take(report);
}

#[test]
fn a_list_names_a_thing_once() {
    let walk = reach_selection();
    let again = json!({"slice_id": "a", "why": "it is slow"});
    let twice = block(&walk, json!({"reopen": [again, again]}));
    refuse_saying(&walk, &twice, Code::NamedTwice, "reopen names `a` twice");
    for more in [
        json!({"select": "b", "answers_to": [
            {"answer": "answer-1", "slices": ["b"]}, {"answer": "answer-1", "slices": ["b"]}]}),
        json!({"select": "b", "answers_to": [{"answer": "answer-1", "slices": ["b", "b"]}]}),
        json!({"select": "b", "release_blocker_ids": ["slow", "slow"]}),
        json!({"select": "b", "high_value_gaps": ["slow", "slow"]}),
    ] {
        walk.clone().refuse(block(&walk, more), Code::NamedTwice);
    }
    walk.clone().take(block(&walk, json!({"reopen": [again]})));
}

#[test]
fn a_reopened_slice_says_what_to_fix_and_rests_on_a_commit_of_head() {
    let walk = reach_selection();
    let at = |commit: &str| {
        let reopen = json!([{"slice_id": "a", "why": "it is slow", "at": commit}]);
        block(&walk, json!({"reopen": reopen}))
    };
    walk.clone()
        .refuse(at(&"f".repeat(40)), Code::ReopenElsewhere);
    walk.clone().take(at(&walk.world.head.map(id).unwrap()));
    let walk = reach_reconcile();
    let reopen = |findings: Value| {
        let reconcile = json!({"slice_id": "a", "decision": "reopened", "findings": findings});
        block(&walk, json!({"reconcile": reconcile}))
    };
    walk.clone()
        .refuse(reopen(json!([])), Code::ReopenWithoutReason);
    walk.clone().take(reopen(json!(["it is slow"])));
}

#[test]
fn what_is_accepted_has_nothing_open_and_is_what_was_reviewed() {
    let walk = reach_reconcile();
    let finds = json!({"slice_id": "a", "decision": "accepted", "findings": ["it is slow"]});
    let more = json!({"change": [{"slice_id": "a", "add_criteria": ["a3"]}]});
    for (more, code) in [
        (json!({"reconcile": finds}), Code::BlockersOpen),
        (json!({"plan": more}), Code::ReviewNegative),
    ] {
        let report = accept_with(&walk, more);
        walk.clone().refuse(report, code);
    }
    // Whatever else a report does, the slice waits.
    let beside = block(&walk, json!({"plan": {"add": [slice("c")]}}));
    walk.clone().refuse(beside, Code::NoProgress);
    walk.clone().take(accept_with(&walk, json!({})));
}

#[test]
fn the_end_is_not_reached_with_something_missing() {
    let walk = reach_end();
    for named in ["release_blocker_ids", "high_value_gaps"] {
        let report = accept_with(&walk, json!({named: ["slow"]}));
        walk.clone().refuse(report, Code::BlockersOpen);
    }
    walk.clone().take(accept_with(&walk, json!({})));
    let walk = reach_conclusion();
    let bare = block(&walk, json!({}));
    walk.clone().refuse(bare, Code::ConcludeMissing);
}

/// The no of a committed slice's audit is answered where the slice is accepted or reopened.
#[test]
fn an_audit_is_answered_where_its_slice_is_reconciled() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.implement(true);
    walk.take(Event::Audited {
        verdicts: audit(false),
        submission: submission(&walk.snapshot, Role::Auditor),
    });
    assert_eq!(walk.rule(), Rule::Reconcile);
    let no = find_audit_to_answer(&walk.snapshot).unwrap().id;
    let answers = json!([{"no": no, "reason": "it is not so"}]);
    let policy = json!({"to": "await_user_input", "question": "which one?"});
    let asks = block(&walk, json!({"policy": policy, "answers": answers}));
    walk.clone().refuse(asks, Code::AnswerUnknown);
    walk.take(accept_with(&walk, json!({"answers": answers})));
}

#[test]
fn nothing_is_done_while_git_looks_away() {
    let walk = reach_conclusion();
    let stop = walk.reground(|block| block.conclude = Some(Conclude::Stop));
    let (world, mood, budget) = (&walk.world, &walk.mood, &walk.budget);
    let (mut facts, tried) = try_event(&walk.snapshot, world, mood, budget, &stop, Actor::Role);
    tried.unwrap();
    let worktree = facts.worktree.as_mut().unwrap();
    worktree.unwatched.push("src/a".to_owned());
    let refusal = apply(Some(&walk.snapshot), &facts, &stop, Actor::Role).unwrap_err();
    assert_eq!(refusal.code, Code::StopDirty, "{}", refusal.message);
}

#[test]
fn work_is_stopped_for_a_reason_and_a_question_is_asked_once() {
    let walk = reach_selection();
    let policy = json!({"to": "blocked", "why": "none", "exit": "cook resume"});
    walk.clone().refuse(
        block(&walk, json!({"policy": policy})),
        Code::BlockWithoutReason,
    );
    let said = Event::Resumed(Resume {
        answer: Some("the first".to_owned()),
        ..Resume::default()
    });
    walk.clone().refuse(said.clone(), Code::DoesNotApply);
    let (world, mood, budget) = (&walk.world, &walk.mood, &walk.budget);
    let (_, tried) = try_event(&walk.snapshot, world, mood, budget, &said, Actor::User);
    assert!(tried.unwrap_err().message.contains("no open question"));
    for role in [Role::Regrounder, Role::Implementer] {
        let ask = |walk: &Walk| Event::Asked {
            role,
            question: "which one?".to_owned(),
            submission: submission(&walk.snapshot, role),
        };
        let mut walk = match role {
            Role::Regrounder => walk.clone(),
            _ => {
                let mut walk = walk.clone();
                walk.take(block(&walk, json!({"select": "b"})));
                walk
            }
        };
        walk.take(ask(&walk));
        walk.take(Event::Resumed(Resume {
            answer: Some("the first".to_owned()),
            ..Resume::default()
        }));
        // What was answered is weighed first.
        if walk.rule() == Rule::Recover {
            walk.take(walk.reground(|_| {}));
        }
        assert_eq!(walk.due().role, Some(role));
        let again = ask(&walk);
        walk.refuse(again, Code::AlreadyAnswered);
    }
}

#[test]
fn a_review_is_voided_while_work_goes_on_and_its_commit_is_there() {
    let again = || {
        Event::Resumed(Resume {
            review_again: true,
            ..Resume::default()
        })
    };
    let mut walk = reach_reconcile();
    let mut stopped = walk.clone();
    stopped.take(stopped.pause());
    stopped.refuse(again(), Code::DoesNotApply);
    walk.take(walk.report_reopened("a"));
    walk.clone().take(again());
    assert!(walk.world.rewind());
    walk.refuse(again(), Code::DoesNotApply);
}

#[test]
fn gates_that_nobody_trusts_are_not_run_and_an_audit_is_of_head() {
    let bounds = Bounds {
        commands: true,
        ..TWO
    };
    let mut walk = Walk::new(bounds);
    walk.plan_and_select();
    walk.own_commit();
    walk.mood.trusted = false;
    let report = walk.report_implemented();
    walk.refuse(report, Code::TrustMissing);
    walk.mood.trusted = true;
    walk.take(walk.report_implemented());
    walk.take(walk.report_reviewed(true));
    let mut report = walk.report_audited();
    if let Event::Audited { submission, .. } = &mut report {
        submission.began_at = Some(id(0));
    }
    walk.refuse(report, Code::TreeChanged);
    walk.take(walk.report_audited());
}

#[test]
fn an_edited_plan_weakens_nothing() {
    let mut walk = reach_selection();
    let mut plan = walk.snapshot.plan.clone();
    plan.candidate_slices[0].acceptance_criteria[0] = "something easier".to_owned();
    let edited = Event::Adopted { plan };
    walk.refuse(edited, Code::AdoptIllegal);
    let plan = walk.snapshot.plan.clone();
    walk.take(Event::Adopted { plan });
}

/// What a merge brought in is somebody else's work.
#[test]
fn a_report_claims_what_its_session_made() {
    let mut walk = Walk::new(CORE);
    walk.plan_and_select();
    walk.own_commit();
    walk.foreign_commit(Touch::Elsewhere);
    walk.take(walk.report_implemented());
    let (_, facts, _) = walk.log.last().unwrap();
    let mut commit = facts.commit.clone().unwrap();
    commit.claimed = ["1", "2", "3"].map(str::to_owned).into();
    commit.merged = ["2".to_owned()].into();
    let range = facts.since.clone().unwrap();
    let claimed = list_claims("a", "9", &commit, &range, |made| made == "3");
    assert!(claimed.contains(&"1".to_owned()) && claimed.contains(&"9".to_owned()));
    assert!(!claimed.contains(&"2".to_owned()) && !claimed.contains(&"3".to_owned()));
}

/// What the state is found by.
fn measure_state(walk: &Walk) -> Facts {
    let at = Moment {
        mood: &walk.mood,
        budget: &walk.budget,
        workflow_branch: walk.snapshot.ledger.branch.as_deref(),
        runs: false,
    };
    let mut facts = Facts::default();
    let rules = |facts: &Facts| find_state(&walk.snapshot, facts, &walk.due());
    walk.world.decide(&at, &mut facts, rules).unwrap();
    facts
}

#[test]
fn what_is_lost_is_shown_before_a_report_says_it() {
    let walk = reach_selection();
    let mut facts = measure_state(&walk);
    let found = find_state(&walk.snapshot, &facts, &walk.due()).unwrap();
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    for answer in facts.anchors.values_mut() {
        answer.verdict = Verdict::Missing;
    }
    let found = find_state(&walk.snapshot, &facts, &walk.due()).unwrap();
    let codes: Vec<Code> = found.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::ProofBroken]);
}

/// What a report opens again it may change, as that is shown to it.
#[test]
fn a_done_slice_that_was_reverted_may_be_changed() {
    let change = |walk: &Walk| {
        let plan = json!({"change": [{"slice_id": "a", "add_criteria": ["a3"]}]});
        block(walk, json!({"plan": plan}))
    };
    let mut walk = reach_selection();
    walk.harm(Harm::Lost);
    walk.take(change(&walk));
}

#[test]
fn a_commit_that_left_head_is_taken_away_before_another_is_reported() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.implement(false);
    let no = walk.snapshot.ledger.slices["a"].review.clone().unwrap();
    assert!(walk.world.rewind());
    walk.own_commit();
    assert_eq!(walk.rule(), Rule::Implement);
    let (due, facts) = explain_due(&walk.snapshot, &walk.world, &walk.mood, &walk.budget);
    let shown = find_slice(&walk.snapshot, &facts, &due).unwrap();
    assert_eq!(shown.active.status, ActiveStatus::InProgress);
    let mut red = walk.clone();
    red.mood.gates = Gates::Red;
    red.take(red.report_implemented());
    assert_ne!(red.snapshot.active.status, ActiveStatus::Committed);
    assert!(red.snapshot.ledger.slices["a"].head.is_none());
    walk.take(walk.report_implemented());
    let ledger = &walk.snapshot.ledger.slices["a"];
    assert!(ledger.review.is_none());
    let asked = no.findings.first().unwrap();
    let is_kept = |list: &[String]| list.iter().any(|it| it.contains(asked.as_str()));
    assert!(is_kept(&ledger.fixed), "{ledger:?}");
}

/// A review that said yes to the commit that is gone says nothing of the next one.
#[test]
fn what_a_commit_that_left_head_had_fixed_is_to_be_fixed_again() {
    let mut walk = Walk::new(TWO);
    walk.reach_rule_7(false);
    walk.take(walk.report_reopened("a"));
    walk.implement(true);
    let fixed = walk.snapshot.ledger.slices["a"].fixed.clone();
    assert!(!fixed.is_empty());
    assert!(walk.world.rewind());
    walk.own_commit();
    walk.take(walk.report_implemented());
    assert_eq!(walk.snapshot.ledger.slices["a"].fixed, fixed);
}

/// Also where the acceptance itself waits for a clean worktree.
#[test]
fn a_slice_that_said_no_is_cancelled_with_an_answer() {
    let mut walk = Walk::new(TWO);
    let mut plan = first_plan(&TWO);
    plan.candidate_slices[1].blocked_on = None;
    walk.take(walk.reground(|block| {
        block.plan = Some(plan);
        block.select = Some("b".to_owned());
    }));
    walk.implement(false);
    walk.take(walk.report_audited());
    walk.take(walk.report_reopened("b"));
    walk.take(Event::Returned {
        slice_id: "b".to_owned(),
        why: "too large".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    walk.take(walk.reground(|block| block.select = Some("a".to_owned())));
    walk.implement(true);
    walk.take(walk.report_audited());
    let plan = json!({"cancel": [{"slice_id": "b", "reason": "not wanted"}]});
    for dirt in [Dirt::Clean, Dirt::Surface] {
        let mut walk = walk.clone();
        walk.mood.dirt = dirt;
        let bare = accept_with(&walk, json!({"plan": plan}));
        walk.clone().refuse(bare, Code::NoUnanswered);
        let left = list_left_without(&walk.snapshot, &[&"b".to_owned()]);
        let answers: Vec<Value> = left
            .iter()
            .map(|no| json!({"no": no.id, "reason": "it is not so"}))
            .collect();
        walk.take(accept_with(
            &walk,
            json!({"plan": plan, "answers": answers}),
        ));
    }
}
