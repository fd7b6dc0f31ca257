//! Troubles a workflow must come out of, each driven to `done`.

use super::CORE;
use super::events::{
    Bounds, answers, blocks_it, claims, plan_of, reconcile, slice_plan, submission, verdicts,
};
use super::prompts::make_prompt;
use super::walk::Walk;
use super::world::{Contract, Dirt, Gates, Harm, Moment, Mood, Touch, World, id, settings};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Facts, Rule, Step, VERIFY_STOP, Verdict, apply};
use cook_protocol::model::{
    ActiveStatus, Actor, AnswerTo, Conclude, Count, Decision, Event, Evidence, Limits, PlanBlock,
    Policy, Reopen, Resume, Role, SliceStatus, WaitingKind,
};
use cook_protocol::refusal::Refusal;

const ONE: Bounds = CORE;
const TWO: Bounds = Bounds {
    slices: 2,
    max_slices: 3,
    judges: 2,
    ..CORE
};

fn make_resumed(change: impl FnOnce(&mut Resume)) -> Event {
    let mut resume = Resume::default();
    change(&mut resume);
    Event::Resumed(resume)
}

#[test]
fn two_slices_from_init_to_done() {
    let mut walk = Walk::new(TWO);
    walk.drive();
    assert_eq!(
        walk.snapshot.state.latest_completed_slice.as_deref(),
        Some("b")
    );
    assert_eq!(walk.wave(), Count(1));
}

#[test]
fn an_empty_plan_goes_straight_to_the_judges() {
    let mut walk = Walk::new(TWO);
    let empty = PlanBlock {
        plan_basis: "all of it is there".to_owned(),
        candidate_slices: Vec::new(),
        ..PlanBlock::default()
    };
    walk.take(walk.reground(|block| block.plan = Some(empty)));
    assert_eq!((walk.rule(), walk.wave()), (Rule::Judge, Count(1)));
    walk.drive();
}

#[test]
fn all_slices_blocked_end_in_a_question_or_a_blocker() {
    let mut walk = Walk::new(TWO);
    let mut plan = super::events::first_plan(&TWO);
    for slice in &mut plan.candidate_slices {
        slice.status = Some(SliceStatus::Blocked);
        slice.reason = Some("the vendor sent no key".to_owned());
    }
    walk.take(walk.reground(|block| block.plan = Some(plan)));
    assert_eq!(walk.rule(), Rule::Select);
    walk.refuse(walk.reground(|_| {}), Code::NoProgress);
    walk.refuse(
        walk.reground(|block| block.select = Some("a".to_owned())),
        Code::SelectBlocked,
    );
    walk.take(walk.regrounder_asks());
    assert_eq!(
        walk.due().blocking_command.as_deref(),
        Some("cook resume --answer 'TEXT'")
    );
    walk.drive();
}

/// A done slice is taken up again.
fn again(id: &str) -> Reopen {
    Reopen {
        slice_id: id.to_owned(),
        why: "it is not as it should be".to_owned(),
        at: None,
    }
}

#[test]
fn a_reviewer_who_is_wrong_can_be_answered_by_a_new_commit() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.refuse(walk.report_accepted("a"), Code::ReviewNegative);
    walk.take(walk.report_reopened("a"));
    assert_eq!(walk.rule(), Rule::Implement);
    walk.refuse(walk.report_implemented(), Code::CommitAlreadyReported);
    walk.drive();
}

#[test]
fn a_reviewer_who_is_wrong_can_be_asked_again_by_the_user() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.take(make_resumed(|resume| resume.review_again = true));
    assert_eq!(walk.rule(), Rule::Review);
    walk.take(walk.report_reviewed(false));
    walk.take(walk.report_audited());
    walk.take(walk.report_reopened("a"));
    walk.take(make_resumed(|resume| resume.review_again = true));
    assert_eq!(walk.rule(), Rule::Review, "also after it was reopened");
    walk.drive();
}

#[test]
fn another_review_is_of_the_newest_reported_commit_only() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.take(walk.report_reopened("a"));
    walk.own_commit();
    walk.mood.gates = Gates::Red;
    walk.take(walk.report_implemented());
    walk.refuse(
        make_resumed(|resume| resume.review_again = true),
        Code::DoesNotApply,
    );
    walk.mood.gates = Gates::Green;
    walk.drive();
}

#[test]
fn the_implementer_may_give_a_wrongly_reviewed_slice_back() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.take(walk.report_reopened("a"));
    walk.take(Event::Returned {
        slice_id: "a".to_owned(),
        why: "the review asks for what the mission forbids".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    assert_eq!(walk.rule(), Rule::Recover);
    assert!(walk.due().reason.contains("forbids"));
    walk.drive();
}

#[test]
fn a_no_then_a_new_head_must_be_answered() {
    let mut walk = Walk::new(TWO);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.foreign_commit(Touch::Elsewhere);
    assert_eq!(walk.rule(), Rule::Recover);
    walk.refuse(walk.report_judged(true), Code::NotYourTurn);
    walk.refuse(
        walk.reground(|block| block.answers.clear()),
        Code::NoUnanswered,
    );
    let wave = walk.wave();
    walk.take(walk.reground(|_| {}));
    assert_eq!((walk.rule(), walk.wave().0), (Rule::Judge, wave.0 + 1));
    walk.drive();
}

#[test]
fn a_rebase_in_the_middle_of_a_slice() {
    let mut walk = Walk::on(ONE, World::of_length(2));
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented());
    assert!(walk.world.rebase());
    assert_eq!(walk.rule(), Rule::Recover);
    walk.take(walk.reground(|_| {}));
    assert_eq!(walk.rule(), Rule::Implement);
    assert!(
        walk.due().action.starts_with("report"),
        "{}",
        walk.due().action
    );
    walk.take(walk.report_implemented());
    walk.drive();
}

#[test]
fn a_commit_without_trailer_is_claimed_by_its_report() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.foreign_commit(Touch::Surface);
    assert_eq!(
        walk.rule(),
        Rule::Recover,
        "to everybody else it is foreign"
    );
    walk.take(walk.report_implemented());
    assert_eq!(walk.status(), ActiveStatus::Committed);
    walk.drive();
}

#[test]
fn a_lost_report_is_asked_for_and_no_work_is_redone() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.own_commit();
    walk.own_commit();
    assert!(
        walk.due().action.starts_with("report"),
        "{}",
        walk.due().action
    );
    walk.take(walk.report_implemented());
    assert_eq!(walk.snapshot.ledger.slices["a"].claimed.len(), 2);
    walk.drive();
}

#[test]
fn a_commit_after_the_report_is_reported_before_it_is_reviewed() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented());
    walk.own_commit();
    assert_eq!(walk.rule(), Rule::Implement);
    walk.drive();
}

fn prompt_now(walk: &Walk) -> String {
    let due = walk.due();
    make_prompt(&walk.snapshot, &due, due.role.unwrap())
}

fn must_fix(walk: &Walk) -> Vec<String> {
    let slice = walk.snapshot.plan.slice("a").unwrap();
    slice.must_fix_findings.clone().unwrap_or_default()
}

/// A question, an amended criterion: each makes another review due of the commit that was rejected.
fn walk_voided(by: &str) -> Walk {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    match by {
        "question" => {
            walk.take(walk.regrounder_asks());
            walk.take(make_resumed(|resume| {
                resume.answer = Some("exit 3".to_owned())
            }));
        }
        _ => {
            walk.take(Event::CriterionAmended {
                slice_id: "a".to_owned(),
                number: 1,
                text: "what was meant".to_owned(),
                reason: "clearer".to_owned(),
            });
        }
    }
    walk
}

#[test]
fn a_reviews_no_outlives_what_voids_it() {
    for by in ["question", "amendment"] {
        let mut walk = walk_voided(by);
        assert_eq!(walk.rule(), Rule::Recover, "{by}");
        assert!(prompt_now(&walk).contains("a hole"));
        let before = walk.reground(|block| block.answers.clear());
        walk.refuse(before, Code::NoUnanswered);
        let nobodys = walk.reground(|block| {
            let mut other = block.answers[0].clone();
            other.no = "review-99".to_owned();
            block.answers.push(other);
        });
        walk.refuse(nobodys, Code::AnswerUnknown);
        walk.take(walk.reground(|block| {
            block.answers.clear();
            block.reconcile = reconcile("a", Decision::Reopened);
            // The review says what is to be fixed.
            block.reconcile.as_mut().unwrap().findings.clear();
        }));
        assert_eq!(walk.rule(), Rule::Implement, "{by}");
        assert_eq!(must_fix(&walk), ["a hole", "close the hole"], "{by}");
        walk.drive();

        let mut walk = walk_voided(by);
        walk.take(walk.reground(|_| {}));
        assert_eq!(walk.rule(), Rule::Review, "{by}");
        let prompt = prompt_now(&walk);
        for part in [
            "not acceptable",
            "- a hole",
            "close the hole",
            "it is not so",
        ] {
            assert!(prompt.contains(part), "{by}: {part}\n{prompt}");
        }
        walk.drive_until(|walk| walk.rule() == Rule::Judge);
        assert!(prompt_now(&walk).contains("a hole; close the hole; answer: it is not so"));
        walk.drive();
    }
}

#[test]
fn a_question_is_answered_once() {
    let mut walk = walk_voided("question");
    let again = walk.regrounder_asks();
    walk.refuse(again, Code::AlreadyAnswered);
}

#[test]
fn a_list_names_a_thing_once() {
    let mut walk = walk_voided("question");
    let twice = walk.reground(|block| {
        let again = block.answers[0].clone();
        block.answers.push(again);
    });
    walk.refuse(twice, Code::NamedTwice);
}

#[test]
fn a_commit_after_a_no_is_reviewed_against_it() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.own_commit();
    assert_eq!(walk.rule(), Rule::Implement);
    assert!(prompt_now(&walk).contains("close the hole"));
    walk.take(walk.report_implemented());
    assert_eq!(walk.rule(), Rule::Review);
    assert_eq!(
        walk.snapshot.ledger.slices["a"].fixed,
        ["a hole", "close the hole"]
    );
    assert!(prompt_now(&walk).contains("not acceptable"));
    // Another one before the review: nobody has seen yet whether it was fixed.
    walk.own_commit();
    walk.take(walk.report_implemented());
    assert_eq!(
        walk.snapshot.ledger.slices["a"].fixed,
        ["a hole", "close the hole"]
    );
    walk.drive();
}

#[test]
fn what_must_be_fixed_adds_up_until_a_review() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.take(walk.reground(|block| {
        block.reconcile = reconcile("a", Decision::Reopened);
        block.reconcile.as_mut().unwrap().findings = vec!["a  hole".to_owned(), "mine".to_owned()];
    }));
    walk.mood.gates = Gates::Red;
    for _ in 0..2 {
        walk.own_commit();
        walk.take(walk.report_implemented());
        let must = must_fix(&walk);
        assert_eq!(must[..3], ["a hole", "close the hole", "mine"]);
        assert_eq!(must.len(), 4, "the gate stands once: {must:?}");
    }
    walk.mood.gates = Gates::Green;
    walk.own_commit();
    walk.take(walk.report_implemented());
    assert_eq!(walk.snapshot.ledger.slices["a"].fixed.len(), 4);
    walk.drive();
}

#[test]
fn a_reset_takes_the_work_away_and_not_the_no() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.world.rewind();
    assert_eq!(walk.rule(), Rule::Recover);
    walk.take(walk.reground(|_| {}));
    assert_eq!(must_fix(&walk), ["a hole", "close the hole"]);
    assert!(prompt_now(&walk).contains("not acceptable"));
    walk.drive();
}

#[test]
fn undo_past_a_reopening_keeps_the_no() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(false);
    walk.take(walk.report_reopened("a"));
    walk.take(walk.undo(3));
    assert_eq!(walk.status(), ActiveStatus::Committed);
    walk.take(walk.reground(|_| {}));
    assert_eq!(walk.rule(), Rule::Audit, "the no stands");
    walk.take(walk.report_audited());
    walk.refuse(walk.report_accepted("a"), Code::ReviewNegative);
    walk.drive();
}

#[test]
fn what_stopped_the_work_reaches_the_next_reground() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.implement(true);
    walk.take(walk.report_audited());
    walk.take(walk.reground(|block| block.policy = blocks_it()));
    walk.take(walk.resume());
    assert_eq!(walk.rule(), Rule::Recover);
    assert!(walk.due().reason.contains("the key is missing"));
    walk.take(walk.reground(|_| {}));
    assert_eq!(walk.snapshot.ledger.stopped_for, None);
    walk.drive();
}

#[test]
fn a_plan_that_names_no_change_changes_nothing() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    let plan = walk.snapshot.plan.clone();
    walk.refuse(
        walk.reground(|block| block.reconcile = reconcile("a", Decision::Reopened)),
        Code::NotYourTurn,
    );
    walk.take(walk.pause());
    walk.foreign_commit(Touch::Surface);
    walk.take(walk.resume());
    walk.take(walk.reground(|block| block.plan = Some(PlanBlock::default())));
    assert_eq!(walk.snapshot.plan.plan_basis, plan.plan_basis);
    assert_eq!(
        walk.snapshot.plan.candidate_slices.len(),
        plan.candidate_slices.len()
    );
    walk.drive();
}

#[test]
fn a_done_slice_is_reopened_and_changed_in_one_report() {
    let mut walk = Walk::new(TWO);
    walk.drive_until(|walk| walk.rule() == Rule::Select);
    walk.drive_until(|walk| walk.snapshot.state.latest_completed_slice.is_some());
    assert_eq!(walk.rule(), Rule::Select);
    let change = cook_protocol::model::ChangedSlice {
        slice_id: "a".to_owned(),
        add_criteria: vec!["a3".to_owned()],
        ..Default::default()
    };
    let reopens = serde_json::json!([{"slice": "a", "why": ["one", "two"]}]);
    walk.take(walk.reground(|block| {
        block.reopen = serde_json::from_value(reopens).unwrap();
        block.plan = Some(PlanBlock {
            change: vec![change],
            ..PlanBlock::default()
        });
    }));
    assert_eq!(must_fix(&walk), ["one", "two"]);
    let slice = walk.snapshot.plan.slice("a").unwrap();
    assert_eq!(slice.acceptance_criteria, ["a1", "a2", "a3"]);
    walk.drive();
}

#[test]
fn a_done_slice_whose_work_is_lost_is_changed_as_it_is_shown() {
    for is_cancelled in [false, true] {
        let mut walk = Walk::new(TWO);
        walk.drive_until(|walk| walk.snapshot.state.latest_completed_slice.is_some());
        let plan: PlanBlock = serde_json::from_value(match is_cancelled {
            false => serde_json::json!({
                "change": [{"slice_id": "a", "add_criteria": ["a3"], "status": "planned"}],
                "order": ["a", "b"],
            }),
            true => serde_json::json!({
                "cancel": [{"slice_id": "a", "reason": "nobody needs it"}],
                "change": [{"slice_id": "b", "blocked_on": []}],
            }),
        })
        .unwrap();
        let report = walk.reground(|block| block.plan = Some(plan.clone()));
        // While its work is there it stays as it is.
        walk.refuse(report.clone(), Code::GoalChanged);
        walk.mood.stored = Verdict::Missing;
        walk.take(report);
        walk.mood.stored = Verdict::Verified;
        let slice = walk.snapshot.plan.slice("a").unwrap();
        match is_cancelled {
            true => assert_eq!(slice.status, SliceStatus::Cancelled),
            false => assert_eq!(slice.acceptance_criteria, ["a1", "a2", "a3"]),
        }
        walk.drive();
    }
}

#[test]
fn drift_without_a_commit_is_put_right_by_a_reground() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.mood.edited = true;
    assert_eq!(walk.rule(), Rule::Recover);
    let step = walk.take(walk.reground(|_| {}));
    assert!(step.displace);
    walk.drive();
}

#[test]
fn edits_can_be_put_aside_by_the_user() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.mood.edited = true;
    assert!(walk.take(Event::Restored).displace);
    assert_eq!(walk.rule(), Rule::Implement);
    walk.refuse(Event::Restored, Code::DoesNotApply);
    walk.drive();
}

#[test]
fn red_gates_up_to_the_budget_and_out_of_it() {
    let mut walk = Walk::new(Bounds { attempts: 2, ..ONE });
    walk.plan_and_select();
    walk.mood.gates = Gates::Red;
    for _ in 0..2 {
        walk.own_commit();
        walk.take(walk.report_implemented());
    }
    assert_eq!(walk.rule(), Rule::Stopped);
    assert_eq!(
        walk.due().blocking_command.as_deref(),
        Some("cook resume --add attempts=2")
    );
    walk.refuse(walk.resume(), Code::BudgetSpent);
    walk.refuse(
        make_resumed(|resume| resume.budget = Some(Limits::default())),
        Code::BudgetSpent,
    );
    walk.mood.gates = Gates::Green;
    walk.drive();
}

#[test]
fn gates_that_had_to_be_red_before_leave_nothing_to_fix() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.own_commit();
    walk.mood.gates = Gates::OptionalRed;
    walk.take(walk.report_implemented());
    walk.take(walk.report_reviewed(false));
    walk.take(walk.report_audited());
    walk.take(walk.report_reopened("a"));
    let handoff = walk.snapshot.active.handoff.clone().unwrap();
    assert_eq!(
        handoff.must_fix_findings,
        ["a hole", "close the hole", "it does not do it"]
    );
    walk.drive();
}

#[test]
fn gates_that_notice_too_little_keep_a_slice_from_being_accepted() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.own_commit();
    walk.mood.gates = Gates::Weak;
    walk.take(walk.report_implemented());
    let remarks = &walk.snapshot.ledger.remarks;
    assert!(remarks.iter().any(|it| it.code == "defects_unnoticed"));
    walk.take(walk.report_reviewed(true));
    walk.take(walk.report_audited());
    walk.refuse(walk.report_accepted("a"), Code::ReviewNegative);
    walk.take(walk.report_reopened("a"));
    let handoff = walk.snapshot.active.handoff.clone().unwrap();
    for (must, id) in handoff.must_fix_findings.iter().zip(["d1", "d2"]) {
        let begin =
            format!("planted defect `{id}`: every gate passes with it; a.rs:1, a condition");
        assert!(must.starts_with(&begin), "{must}");
    }
    assert_eq!(handoff.must_fix_findings.len(), 3);
    // A new commit that is noticed is accepted as ever.
    walk.mood.gates = Gates::Green;
    walk.drive();
}

#[test]
fn dirt_of_the_user_stops_acceptance_with_a_question() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    walk.mood.dirt = Dirt::User;
    walk.take(walk.report_accepted("a"));
    assert_eq!(walk.due().policy, Policy::AwaitUserInput);
    assert_eq!(walk.due().blocking_command.as_deref(), Some("cook resume"));
    assert_eq!(walk.snapshot.active.status, ActiveStatus::Committed);
    assert_eq!(walk.snapshot.state.latest_completed_slice, None);
    walk.mood.dirt = Dirt::Clean;
    walk.take(Event::Resumed(Resume::default()));
    walk.drive();
}

#[test]
fn dirt_of_the_slice_sends_it_back() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    walk.mood.dirt = Dirt::Surface;
    walk.take(walk.report_accepted("a"));
    let handoff = walk.snapshot.active.handoff.clone().unwrap();
    assert!(
        handoff.must_fix_findings[0].starts_with("commit or take back"),
        "{:?}",
        handoff.must_fix_findings
    );
    assert_eq!(walk.due().rule, Rule::Implement);
    walk.mood.dirt = Dirt::Clean;
    walk.drive();
}

#[test]
fn a_no_before_a_repaired_contract_is_still_owed_an_answer() {
    let mut walk = Walk::new(Bounds { judges: 2, ..ONE });
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.mood.contract = Contract::Missing;
    assert_eq!(walk.due().rule, Rule::Bootstrap);
    walk.take(Event::Bootstrapped {
        mission: None,
        profile: walk.snapshot.profile.clone(),
        branch: None,
        settings: None,
        import: None,
    });
    walk.mood.contract = Contract::Committed;
    assert_eq!(walk.due().rule, Rule::Recover);
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1);
    walk.drive();
}

#[test]
fn settings_that_somebody_else_changed_wait_for_the_user() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    walk.mood.contract = Contract::Edited;
    assert_eq!(walk.due().policy, Policy::AwaitUserInput);
    let named = walk.due().blocking_command;
    assert_eq!(named.as_deref(), Some("cook init --as-user"));
    walk.refuse(walk.report_accepted("a"), Code::NotYourTurn);
    // Put back with git, it goes on.
    walk.mood.contract = Contract::Committed;
    assert_eq!(walk.due().rule, Rule::Reconcile);
    // Or the user says that it is theirs.
    walk.mood.contract = Contract::Edited;
    let init = Event::Bootstrapped {
        mission: None,
        profile: walk.snapshot.profile.clone(),
        branch: None,
        settings: Some(settings(true)),
        import: None,
    };
    walk.take(init);
    assert_eq!(walk.due().rule, Rule::Reconcile);
    walk.take(walk.report_accepted("a"));
}

#[test]
fn settings_that_are_a_slices_work_are_the_users_once_it_is_reported() {
    let mut walk = Walk::new(ONE);
    let mut plan = super::events::first_plan(&ONE);
    let own = &mut plan.candidate_slices[0].implementation_surfaces;
    own.get_or_insert_default()
        .extend(settings(false).into_keys());
    walk.take(walk.reground(|block| {
        block.plan = Some(plan);
        block.select = Some("a".to_owned());
    }));
    walk.mood.contract = Contract::Edited;
    assert_eq!(walk.due().rule, Rule::Implement, "they are its work");
    walk.own_commit();
    walk.take(walk.report_implemented());
    assert_eq!(walk.snapshot.ledger.settings, settings(true));
    walk.drive();
}

#[test]
fn without_session_and_ticket_a_verdict_s_words_count_once() {
    fn nameless(event: Event) -> Event {
        let mut event = event;
        if let Event::Reviewed { submission, .. }
        | Event::Audited { submission, .. }
        | Event::Judged { submission, .. } = &mut event
        {
            submission.session = None;
        }
        event
    }
    let mut walk = Walk::new(Bounds { judges: 2, ..ONE });
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented());
    walk.take(nameless(walk.report_reviewed(false)));
    walk.take(nameless(walk.report_audited()));
    walk.take(walk.report_reopened("a"));
    walk.own_commit();
    walk.take(walk.report_implemented());
    walk.refuse(nameless(walk.report_reviewed(true)), Code::DuplicateReport);
    walk.take(walk.report_reviewed(true));
    walk.take(nameless(walk.report_audited()));
    walk.drive_until(|walk| walk.rule() == Rule::Judge);
    walk.take(nameless(walk.report_judged(true)));
    walk.refuse(nameless(walk.report_judged(true)), Code::DuplicateReport);
    walk.drive();
}

#[test]
fn another_branch_stops_and_lets_go() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.mood.other_branch = true;
    assert_eq!(walk.due().policy, Policy::AwaitUserInput);
    assert_eq!(
        walk.due().blocking_command.as_deref(),
        Some("git switch main")
    );
    walk.own_commit();
    walk.refuse(walk.report_implemented(), Code::NotYourTurn);
    walk.mood.other_branch = false;
    walk.drive();
}

#[test]
fn another_branch_can_be_adopted() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.mood.other_branch = true;
    walk.take(Event::BranchAdopted);
    assert_eq!(walk.snapshot.ledger.branch.as_deref(), Some("side"));
    assert_eq!(walk.rule(), Rule::Recover);
    walk.drive();
}

#[test]
fn a_new_mission_after_history() {
    let mut walk = Walk::new(ONE);
    walk.drive();
    let steps = walk.snapshot.counters.steps;
    walk.take(Event::Refocused {
        mission: "something new\nin two lines".to_owned(),
    });
    assert_eq!(walk.snapshot.state.mission_anchor, "something new");
    assert!(walk.snapshot.plan.candidate_slices.is_empty());
    assert_eq!(walk.rule(), Rule::Recover);
    assert_eq!(walk.snapshot.counters.steps, steps);
    walk.drive();
}

#[test]
fn an_unborn_head() {
    let mut walk = Walk::on(ONE, World::default());
    let plan = super::events::first_plan(&ONE);
    walk.refuse(
        walk.reground(|block| {
            block.plan = Some(plan.clone());
            block.select = Some("a".to_owned());
        }),
        Code::NoCommitYet,
    );
    walk.take(walk.reground(|block| block.plan = Some(plan.clone())));
    walk.world.commit(None, Touch::Elsewhere);
    walk.drive();
}

#[test]
fn a_spent_steps_budget_is_extended() {
    let mut walk = Walk::new(Bounds { steps: 3, ..ONE });
    walk.drive_until(|walk| walk.rule() == Rule::Stopped);
    assert_eq!(walk.snapshot.counters.steps, Count(3));
    let waiting = walk.snapshot.ledger.waiting.clone().unwrap();
    assert_eq!(waiting.kind, WaitingKind::Budget);
    walk.drive();
}

#[test]
fn two_waves_at_one_head_and_the_users_third() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    let go_on = |walk: &Walk| {
        walk.reground(|block| {
            block.conclude = Some(Conclude::GoOn {
                reason: Some("the judge read an old page".to_owned()),
            });
        })
    };
    for wave in 1..=2 {
        assert_eq!(walk.wave(), Count(wave));
        walk.take(walk.report_judged(false));
        assert_eq!(walk.rule(), Rule::Conclude);
        if wave == 1 {
            walk.take(go_on(&walk));
        }
    }
    walk.refuse(go_on(&walk), Code::WaveLimit);
    walk.take(make_resumed(|resume| resume.new_wave = true));
    assert_eq!(walk.rule(), Rule::Recover);
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1, "the no is owed");
    walk.take(walk.reground(|_| {}));
    assert_eq!((walk.rule(), walk.wave()), (Rule::Judge, Count(3)));
    walk.drive();
}

#[test]
fn a_pause_in_the_middle_of_a_wave_does_not_end_it() {
    let mut walk = Walk::new(TWO);
    walk.reach_wave();
    walk.take(walk.report_judged(true));
    walk.take(walk.pause());
    walk.take(walk.resume());
    assert_eq!((walk.rule(), walk.wave()), (Rule::Judge, Count(1)));
    assert_eq!(walk.snapshot.ledger.wave.votes.len(), 1);
    walk.drive();
}

#[test]
fn a_head_that_moved_while_paused_ends_the_wave() {
    let mut walk = Walk::new(TWO);
    walk.reach_wave();
    walk.take(walk.report_judged(true));
    walk.take(walk.pause());
    walk.foreign_commit(Touch::Elsewhere);
    walk.take(walk.resume());
    assert_eq!(walk.rule(), Rule::Recover);
    walk.take(walk.reground(|_| {}));
    assert_eq!(walk.wave(), Count(2));
    assert_eq!(walk.snapshot.ledger.wave.votes, []);
    walk.drive();
}

#[test]
fn undo_past_a_no_leaves_it_owed() {
    let mut walk = Walk::new(TWO);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.take(walk.undo(1));
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1);
    assert_eq!(walk.rule(), Rule::Recover);
    walk.refuse(
        walk.reground(|block| block.answers.clear()),
        Code::NoUnanswered,
    );
    walk.drive();
    assert_eq!(walk.wave(), Count(2));
}

#[test]
fn a_slice_that_takes_up_a_part_of_a_no_does_not_answer_the_rest() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    assert_eq!(walk.rule(), Rule::Conclude);
    let plan = slice_plan("b", &[], &walk.bounds);
    let no = answers(&walk.snapshot);
    let take_up = |walk: &Walk, reason: Option<&str>, says: bool| {
        let said = if says { no.clone() } else { Vec::new() };
        walk.reground(|block| {
            block.plan = Some(PlanBlock {
                add: vec![plan.clone()],
                ..PlanBlock::default()
            });
            block.conclude = Some(Conclude::GoOn {
                reason: reason.map(str::to_owned),
            });
            block.answers = said;
        })
    };
    walk.refuse(take_up(&walk, None, false), Code::NoUnanswered);
    walk.refuse(take_up(&walk, Some(" "), false), Code::NoUnanswered);
    walk.take(take_up(&walk, Some("b closes the hole"), false));
    let answer = |walk: &Walk| walk.snapshot.ledger.answered_rejections[0].answer.clone();
    assert_eq!(answer(&walk), "b closes the hole");
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.take(take_up(&walk, None, true));
    assert_eq!(answer(&walk), "it is not so");
}

#[test]
fn what_the_last_audit_leaves_open_is_answered_before_the_end() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    let audited = |walk: &Walk| Event::Audited {
        verdicts: super::events::audit(false),
        submission: submission(&walk.snapshot, Role::Auditor),
    };
    let commit = |walk: &mut Walk| {
        walk.implement(true);
    };
    commit(&mut walk);
    walk.take(audited(&walk));
    // Slices stay open: it stands until the next audit, or an answer.
    walk.take(walk.report_accepted("a"));
    let seq = |walk: &Walk| {
        walk.snapshot
            .ledger
            .open_audit
            .as_deref()
            .map(|it| it.seq.0)
    };
    assert!(seq(&walk).is_some());
    walk.take(walk.reground(|block| {
        block.answers.clear();
        block.select = Some("b".to_owned());
    }));
    let earlier = seq(&walk).unwrap();
    commit(&mut walk);
    walk.take(audited(&walk));
    let id = format!("audit-{}", walk.snapshot.ledger.seq.0);
    walk.refuse(walk.report_accepted("b"), Code::NoUnanswered);
    let answer = |walk: &Walk, no: &str, reason: &str| {
        let proof = claims(walk.snapshot.plan.slice("b").unwrap(), "good");
        walk.reground(|block| {
            block.reconcile = reconcile("b", Decision::Accepted);
            block.evidence = proof;
            block.answers = vec![AnswerTo {
                no: no.to_owned(),
                reason: reason.to_owned(),
            }];
        })
    };
    walk.refuse(answer(&walk, &id, "none"), Code::NoUnanswered);
    let earlier = format!("audit-{earlier}");
    walk.refuse(answer(&walk, &earlier, "old"), Code::AnswerUnknown);
    walk.take(answer(&walk, &id, "the hole is a door"));
    assert_eq!(seq(&walk), None);
    let answers = &walk.snapshot.ledger.answered_rejections;
    assert_eq!(answers[0].answer, "the hole is a door");
    assert_eq!(walk.rule(), Rule::Judge);
    walk.drive();
}

#[test]
fn undo_past_the_answer_to_a_no_leaves_it_owed() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.take(walk.reground(|block| {
        block.conclude = Some(Conclude::GoOn {
            reason: Some("it was the wrong page".to_owned()),
        });
    }));
    assert_eq!(walk.snapshot.ledger.unanswered, []);
    walk.take(walk.undo(1));
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1);
    walk.drive();
}

#[test]
fn undo_past_a_vote_begins_another_wave() {
    let mut walk = Walk::new(TWO);
    walk.reach_wave();
    walk.take(walk.report_judged(true));
    walk.take(walk.undo(1));
    walk.take(walk.reground(|_| {}));
    assert_eq!((walk.rule(), walk.wave()), (Rule::Judge, Count(2)));
    walk.drive();
}

#[test]
fn undo_past_a_selection() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented());
    walk.take(walk.undo(2));
    assert_eq!(walk.status(), ActiveStatus::Idle);
    assert_eq!(walk.snapshot.undone.seqs, [2, 3]);
    walk.drive();
}

#[test]
fn undo_past_a_reviews_no_keeps_it_for_the_same_commit() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.implement(false);
    walk.take(walk.undo(2));
    assert_eq!(walk.status(), ActiveStatus::Selected);
    walk.take(walk.reground(|_| {}));
    walk.take(walk.report_implemented());
    assert_eq!(walk.rule(), Rule::Audit, "the review stands");
    walk.take(walk.report_audited());
    walk.refuse(walk.report_accepted("a"), Code::ReviewNegative);
    walk.drive();
}

#[test]
fn undo_back_into_a_pause_waits_for_the_user() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.take(walk.pause());
    walk.take(walk.resume());
    walk.own_commit();
    walk.take(walk.report_implemented());
    walk.take(walk.undo(2));
    assert_eq!(walk.due().policy, Policy::Paused);
    assert_eq!(walk.due().blocking_command.as_deref(), Some("cook resume"));
    walk.drive();
}

#[test]
fn a_cancelled_workflow_can_be_taken_up_again() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.take(Event::Cancelled {
        why: "not now".to_owned(),
    });
    assert_eq!(walk.snapshot.state.contract_status, "cancelled");
    assert_eq!(walk.snapshot.plan.open_slices().count(), 0);
    walk.refuse(
        Event::Cancelled {
            why: "again".to_owned(),
        },
        Code::DoesNotApply,
    );
    walk.take(walk.resume());
    let mut plan = plan_of(&walk.snapshot);
    plan.candidate_slices
        .push(super::events::slice_plan("c", &[], &TWO));
    walk.take(walk.reground(|block| {
        block.plan = Some(plan);
        block.select = Some("c".to_owned());
    }));
    walk.drive();
    assert_eq!(
        walk.snapshot.state.latest_completed_slice.as_deref(),
        Some("c")
    );
}

#[test]
fn done_is_left_only_by_a_new_commit_or_the_user() {
    let mut walk = Walk::new(ONE);
    walk.drive();
    walk.refuse(walk.resume(), Code::DoesNotApply);
    walk.refuse(walk.report_judged(true), Code::NotYourTurn);
    walk.foreign_commit(Touch::Surface);
    assert_eq!(walk.rule(), Rule::Stopped);
    assert!(
        walk.due()
            .findings
            .iter()
            .any(|finding| finding.code == Code::HeadMovedSinceDone)
    );
    walk.take(walk.resume());
    assert_eq!(walk.rule(), Rule::Recover);
    walk.drive();
}

/// Gates that are green by chance at HEAD: judges hear of it before they vote, and every role later.
#[test]
fn what_is_said_of_runs_at_head_is_told_to_judges_and_reviewers() {
    let told = |walk: &Walk| -> Vec<String> {
        let remarks = walk.snapshot.ledger.remarks.iter();
        remarks.map(|remark| remark.what.clone()).collect()
    };
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    walk.mood.verifier = Gates::ByChance;
    walk.take(walk.report_accepted("a"));
    assert_eq!(walk.rule(), Rule::Judge);
    assert_eq!(told(&walk), ["`test` was red and green"]);
    let asked = make_prompt(&walk.snapshot, &walk.due(), Role::StopJudge);
    assert!(asked.contains("test` was red and green"), "{asked}");
    walk.foreign_commit(Touch::Elsewhere);
    walk.take(Event::Verified);
    assert_eq!(told(&walk).len(), 1, "the same is said once");
    walk.drive_until(|walk| walk.rule() == Rule::Conclude);
    let step = walk.take(walk.reground(|block| block.conclude = Some(Conclude::Stop)));
    assert!(walk.is_done());
    assert_eq!(told(&walk).last().unwrap(), "the script was red and green");
    let code = Code::GateSurroundings;
    assert!(step.findings.iter().any(|finding| finding.code == code));
}

#[test]
fn lost_proof_reopens_a_done_slice() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    walk.take(walk.report_accepted_with("a", "text"));
    walk.foreign_commit(Touch::Surface);
    walk.take(Event::Verified);
    walk.take(walk.report_judged(false));
    walk.mood.stored = cook_protocol::machine::Verdict::Missing;
    assert_eq!(walk.rule(), Rule::Recover);
    let owed = cook_protocol::machine::list_owed(&walk.snapshot).into_iter();
    let given = owed.map(|no| AnswerTo {
        no: no.id,
        reason: "the slice is taken up again".to_owned(),
    });
    walk.take(walk.reground(|block| block.answers = given.collect()));
    walk.mood.stored = cook_protocol::machine::Verdict::Verified;
    let slice = walk.snapshot.plan.slice("a").unwrap();
    assert_eq!(slice.status, SliceStatus::Planned);
    walk.drive();
}

#[test]
fn changed_proof_of_a_done_slice_is_anchored_again_each_on_its_own() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.mood.stored = cook_protocol::machine::Verdict::Changed;
    let go_on = Some(Conclude::GoOn {
        reason: Some("the page moved".to_owned()),
    });
    let slice = walk.snapshot.plan.slice("a").unwrap().clone();
    let mut proof = super::events::claims(&slice, "good");
    let first = proof[0].anchor.clone();
    proof[1].anchor = first;
    walk.refuse(
        walk.reground(|block| {
            block.conclude.clone_from(&go_on);
            block.evidence.clone_from(&proof);
        }),
        Code::EvidenceShared,
    );
    for shared in ["shared", "overlap"] {
        walk.refuse(
            walk.reground(|block| {
                block.conclude.clone_from(&go_on);
                block.evidence = super::events::claims(&slice, shared);
            }),
            Code::EvidenceShared,
        );
    }
    walk.take(walk.reground(|block| {
        block.conclude.clone_from(&go_on);
        block.evidence = super::events::claims(&slice, "good");
    }));
    walk.mood.stored = cook_protocol::machine::Verdict::Verified;
    // One at a time does not help either.
    walk.take(walk.report_judged(false));
    let one = super::events::claim("a", "a2", "good");
    let one = cook_protocol::model::EvidenceClaim {
        anchor: "test:good:a:a1".to_owned(),
        ..one
    };
    walk.refuse(
        walk.reground(|block| {
            block.conclude = Some(Conclude::GoOn { reason: None });
            block.evidence = vec![one];
        }),
        Code::EvidenceShared,
    );
    walk.take(walk.reground(|block| {
        block.conclude = Some(Conclude::GoOn { reason: None });
        block.reopen = vec![again("a")];
    }));
    walk.drive();
}

/// A criterion that is dropped rests on what stands at HEAD, and not while its slice is looked at.
#[test]
fn a_criterion_is_dropped_with_proof_and_before_the_work_is_looked_at() {
    let drops = |walk: &Walk, kind: &str| {
        let mut plan = plan_of(&walk.snapshot);
        let criteria = &mut plan.candidate_slices[0].acceptance_criteria;
        let criterion = criteria.pop().unwrap();
        let proof = super::events::claim("a", &criterion, kind);
        walk.reground(|block| {
            block.plan = Some(plan);
            block.evidence = vec![proof];
            block.policy = super::events::asks();
        })
    };
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.take(Event::Returned {
        slice_id: "a".to_owned(),
        why: "it holds already".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    walk.refuse(drops(&walk, "unrelated"), Code::EvidenceUnrelated);
    walk.take(drops(&walk, "good"));
    let mut walk = Walk::new(TWO);
    walk.reach_rule_7(true);
    walk.refuse(drops(&walk, "good"), Code::UnreconciledCommit);
}

/// A session that committed and gave the slice back leaves work: the next one is not told that there is none.
#[test]
fn commits_of_a_slice_that_was_given_back_are_told() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    assert!(walk.due().reason.contains("has no commit of its own yet"));
    walk.own_commit();
    walk.take(Event::Returned {
        slice_id: "a".to_owned(),
        why: "later".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    let due = walk.due();
    let told = "slice `a` was given back; the implementer came back: later";
    assert!(due.reason.contains(told), "{}", due.reason);
    walk.take(walk.reground(|_| {}));
    let due = walk.due();
    assert_eq!(due.rule, Rule::Implement);
    let told = "1 commit of its own came before it was given back";
    assert!(due.reason.contains(told), "{}", due.reason);
    walk.drive();
}

/// A commit is one slice's.
#[test]
fn a_commit_that_another_slice_claims_is_refused() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(Event::Returned {
        slice_id: "a".to_owned(),
        why: "b comes first".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    let mut plan = plan_of(&walk.snapshot);
    plan.candidate_slices[1].blocked_on = Some(Vec::new());
    walk.take(walk.reground(|block| {
        block.plan = Some(plan);
        block.select = Some("b".to_owned());
    }));
    walk.implement(true);
    walk.take(walk.report_audited());
    walk.take(walk.report_accepted("b"));
    walk.take(walk.reground(|block| block.select = Some("a".to_owned())));
    walk.refuse(walk.report_implemented(), Code::CommitAlreadyReported);
    walk.drive();
}

/// A reader's ticket speaks for the worktree that it was given for.
#[test]
fn a_ticket_holds_the_worktree_it_was_given_for() {
    for (seen, fits) in [("User", true), ("Clean", false)] {
        let mut walk = Walk::new(ONE);
        walk.plan_and_select();
        walk.own_commit();
        walk.take(walk.report_implemented());
        walk.mood.dirt = Dirt::User;
        let mut event = walk.report_reviewed(true);
        if let Event::Reviewed { submission, .. } = &mut event {
            let head = walk.world.head(&walk.mood, Some("main"));
            submission.ticket = Some(cook_protocol::machine::ticket("tip", &head, Some(seen)));
        }
        match fits {
            true => drop(walk.take(event)),
            false => walk.refuse(event, Code::TreeChanged),
        }
    }
}

/// A reader judges the commit that its session began at, and no other.
#[test]
fn a_reader_judges_the_commit_it_began_at() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented());
    let mut event = walk.report_reviewed(true);
    if let Event::Reviewed { submission, .. } = &mut event {
        submission.began_at = Some("another".to_owned());
    }
    walk.refuse(event, Code::TreeChanged);
    walk.take(walk.report_reviewed(true));
}

/// Its history was written anew, and a commit on HEAD is what was looked at: nobody looks again.
#[test]
fn a_committed_slice_follows_its_commit_to_the_same_tree() {
    for at in [Rule::Review, Rule::Audit, Rule::Reconcile] {
        let mut walk = Walk::new(ONE);
        walk.plan_and_select();
        walk.own_commit();
        walk.take(walk.report_implemented());
        if at != Rule::Review {
            walk.take(walk.report_reviewed(true));
        }
        if at == Rule::Reconcile {
            walk.take(walk.report_audited());
        }
        walk.world.reword();
        assert_eq!(walk.rule(), at);
        let is_told = walk
            .due()
            .findings
            .iter()
            .any(|one| one.code == Code::Rebound);
        assert!(is_told);
        walk.drive();
        let record = walk.snapshot.ledger.slices["a"].accepted.clone();
        assert_eq!(
            record.unwrap().head,
            walk.world.head.map(super::world::id).unwrap()
        );
    }
    // Another tree is other work.
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    walk.world.reword();
    walk.world.same.clear();
    assert_eq!(walk.rule(), Rule::Recover);
    walk.take(walk.reground(|_| {}));
    assert_eq!(walk.rule(), Rule::Implement);
}

/// Nobody knows when the session of a report that is handed in by hand began.
#[test]
fn a_report_by_hand_claims_its_commit_and_those_with_the_trailer() {
    for driven in [true, false] {
        let mut walk = Walk::new(ONE);
        walk.plan_and_select();
        let mut event = walk.report_implemented();
        walk.foreign_commit(Touch::Elsewhere);
        walk.own_commit();
        walk.foreign_commit(Touch::Elsewhere);
        if let (
            Event::Implemented {
                commit, submission, ..
            },
            false,
        ) = (&mut event, driven)
        {
            commit.clone_from(&super::world::id(walk.world.head.unwrap()));
            submission.began_at = None;
        }
        if driven {
            event = walk.report_implemented();
        }
        walk.take(event);
        let claimed = &walk.snapshot.ledger.slices["a"].claimed;
        assert_eq!(claimed.len(), if driven { 3 } else { 2 }, "{claimed:?}");
    }
}

/// A HEAD that nobody looked at in a clean room is looked at before a judge is asked.
#[test]
fn judges_are_asked_after_the_gates_ran_at_this_head() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(Event::Verified);
    assert_eq!(walk.due().blocking_command, None);
    walk.foreign_commit(Touch::Surface);
    let due = walk.due();
    assert_eq!(due.rule, Rule::Judge);
    assert_eq!(due.blocking_command.as_deref(), Some(VERIFY_STOP));
    walk.refuse(walk.report_judged(true), Code::NotYourTurn);
}

#[test]
fn work_that_is_gone_opens_its_slice_with_any_report() {
    let mut walk = Walk::new(TWO);
    walk.reach_rule_7(true);
    walk.take(walk.report_accepted("a"));
    walk.mood.stored = cook_protocol::machine::Verdict::Missing;
    walk.take(walk.reground(|block| block.policy = super::events::asks()));
    let slice = walk.snapshot.plan.slice("a").unwrap();
    assert_eq!(slice.status, SliceStatus::Planned);
    let ledger = &walk.snapshot.ledger.slices["a"];
    assert!(ledger.basis.is_some() && ledger.accepted.is_none());
}

#[test]
fn an_amended_criterion_voids_review_and_proof() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    walk.take(Event::CriterionAmended {
        slice_id: "a".to_owned(),
        number: 1,
        text: "what was meant".to_owned(),
        reason: "the text was false".to_owned(),
    });
    assert_eq!(walk.rule(), Rule::Review);
    assert_eq!(walk.snapshot.ledger.amendments[0].old, "a1");
    walk.drive();
}

#[test]
fn untrusted_commands_are_asked_for_and_then_run() {
    let mut walk = Walk::new(Bounds {
        commands: true,
        ..ONE
    });
    walk.mood.trusted = false;
    walk.plan_and_select();
    assert_eq!(
        walk.due().blocking_command.as_deref(),
        Some("cook trust 'bash .agent/verify_completion_stop.sh' && cook trust 'check a'")
    );
    walk.refuse(walk.resume(), Code::TrustMissing);
    walk.mood.trusted = true;
    walk.drive();
}

#[test]
fn a_missing_contract_is_repaired_first() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.mood.contract = Contract::Missing;
    assert_eq!(walk.rule(), Rule::Bootstrap);
    assert_eq!(walk.due().blocking_command.as_deref(), Some("cook init"));
    walk.refuse(walk.report_implemented(), Code::NotYourTurn);
    walk.drive();
}

#[test]
fn the_plan_lets_go_of_the_slice_in_work() {
    for to in [
        SliceStatus::Planned,
        SliceStatus::Blocked,
        SliceStatus::Cancelled,
    ] {
        let mut walk = Walk::new(ONE);
        walk.plan_and_select();
        walk.own_commit();
        walk.take(Event::Returned {
            slice_id: "a".to_owned(),
            why: "not this way".to_owned(),
            submission: submission(&walk.snapshot, Role::Implementer),
        });
        let mut plan = plan_of(&walk.snapshot);
        plan.candidate_slices[0].status = Some(to);
        plan.candidate_slices[0].reason = Some("not this way".to_owned());
        walk.take(walk.reground(|block| block.plan = Some(plan)));
        assert_eq!(walk.status(), ActiveStatus::Idle);
        walk.drive();
        let claimed = walk
            .snapshot
            .ledger
            .slices
            .get("a")
            .map(|slice| slice.claimed.clone());
        if to != SliceStatus::Cancelled {
            let first = id(1);
            assert!(
                claimed.is_some_and(|claimed| claimed.contains(&first)),
                "the commit made before it was let go is still its own"
            );
        }
    }
}

#[test]
fn fewer_judges_are_the_users_to_ask_for() {
    let mut walk = Walk::new(TWO);
    let mut profile = walk.snapshot.profile.clone();
    profile.required_stop_judges = Count(1);
    let init = Event::Bootstrapped {
        mission: None,
        profile,
        branch: None,
        settings: None,
        import: None,
    };
    let refused = walk.attempt(&init, Actor::Runner).map(|step| step.rule);
    assert_eq!(refused, Err(Code::UserOnly));
    assert!(walk.attempt(&init, Actor::User).is_ok());
    walk.drive();
}

fn begin(walk: &Walk, event: &Event) -> Result<Step, Refusal> {
    let at = Moment {
        mood: &Mood::GOOD,
        budget: &walk.budget,
        workflow_branch: Some("main"),
        runs: true,
    };
    let rules = |facts: &Facts| apply(None, facts, event, Actor::User);
    walk.world.decide(&at, &mut Facts::default(), rules)
}

#[test]
fn a_mission_may_come_with_a_later_init_or_an_answer() {
    let world = World::of_length(1);
    let event = Event::Bootstrapped {
        mission: None,
        profile: cook_protocol::model::Profile::new("demo"),
        branch: Some("main".to_owned()),
        settings: Some(settings(false)),
        import: None,
    };
    let mut walk = Walk::on(ONE, world);
    let begun = begin(&walk, &event);
    walk.snapshot = begun.unwrap().snapshot;
    assert_eq!(walk.due().policy, Policy::AwaitUserInput);
    let mut answered = Walk::on(ONE, World::of_length(1));
    answered.snapshot = walk.snapshot.clone();
    answered.take(make_resumed(|resume| {
        resume.answer = Some("all of it".to_owned())
    }));
    assert_eq!(answered.snapshot.state.mission_anchor, "all of it");
    assert_eq!(answered.snapshot.plan.mission_anchor, "all of it");
    answered.drive();
    let again = Event::Bootstrapped {
        mission: Some("at last\nall of it".to_owned()),
        profile: walk.snapshot.profile.clone(),
        branch: None,
        settings: None,
        import: None,
    };
    assert!(walk.attempt(&again, Actor::User).is_ok());
    assert_eq!(walk.snapshot.state.mission_anchor, "at last");
    walk.drive();
}

#[test]
fn a_workflow_does_not_begin_with_an_empty_mission() {
    let world = World::of_length(1);
    let event = Event::Bootstrapped {
        mission: Some(" \n".to_owned()),
        profile: cook_protocol::model::Profile::new("demo"),
        branch: Some("main".to_owned()),
        settings: None,
        import: None,
    };
    let refused = begin(&Walk::on(ONE, world), &event).map(|step| step.rule);
    assert_eq!(
        refused.map_err(|refusal| refusal.code),
        Err(Code::MissionMissing)
    );
}

#[test]
fn a_rewritten_history_is_noticed() {
    let mut walk = Walk::on(ONE, World::of_length(3));
    walk.take(walk.reground(|block| block.plan = Some(super::events::first_plan(&ONE))));
    assert!(walk.world.rewind());
    assert_eq!(walk.rule(), Rule::Select);
    let findings = walk.due().findings;
    assert!(
        findings
            .iter()
            .any(|finding| finding.code == Code::HistoryRewritten)
    );
    walk.drive();
}

/// To rule 7 with evidence that an earlier re-ground stored.
fn walk_to_rule_7_with_stored(kind: &str) -> Walk {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    for criterion in ["a1", "a2"] {
        walk.foreign_commit(Touch::Surface);
        assert_eq!(walk.rule(), Rule::Recover);
        let given = super::events::claim("a", criterion, kind);
        walk.take(walk.reground(|block| block.evidence = vec![given]));
    }
    walk.implement(true);
    walk.take(walk.report_audited());
    walk
}

fn accept_as_stored(walk: &Walk) -> Event {
    walk.reground(|block| {
        block.reconcile = super::events::reconcile("a", cook_protocol::model::Decision::Accepted);
    })
}

#[test]
fn stored_evidence_is_judged_again_when_the_slice_is_accepted() {
    let mut walk = walk_to_rule_7_with_stored("good");
    let mut lost = walk.clone();
    let slice = lost.snapshot.plan.slice_mut("a").unwrap();
    let Evidence::Record(record) = &mut slice.evidence[0] else {
        panic!("{slice:?}");
    };
    record.anchor = "gone:a:a1".to_owned();
    lost.refuse(accept_as_stored(&lost), Code::EvidenceUnverified);
    walk.take(accept_as_stored(&walk));
    walk.drive();
    for kind in ["shared", "overlap"] {
        let mut walk = walk_to_rule_7_with_stored(kind);
        walk.refuse(accept_as_stored(&walk), Code::EvidenceShared);
    }
}

#[test]
fn a_claim_that_is_no_proof_is_not_helped_by_an_older_one() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.take(walk.reground(|block| {
        block.conclude = Some(Conclude::GoOn { reason: None });
        block.reopen = vec![again("a")];
        block.select = Some("a".to_owned());
    }));
    walk.implement(true);
    walk.take(walk.report_audited());
    let Event::Regrounded {
        mut block,
        submission,
    } = accept_as_stored(&walk)
    else {
        unreachable!()
    };
    block.evidence = vec![super::events::claim("a", "a1", "unrelated")];
    walk.refuse(
        Event::Regrounded { block, submission },
        Code::EvidenceUnrelated,
    );
    walk.drive();
}

#[test]
fn no_other_slice_is_selected_while_one_is_committed() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented());
    walk.foreign_commit(Touch::Surface);
    assert_eq!(walk.rule(), Rule::Recover);
    let mut plan = plan_of(&walk.snapshot);
    plan.candidate_slices
        .push(super::events::slice_plan("c", &[], &TWO));
    walk.refuse(
        walk.reground(|block| {
            block.plan = Some(plan);
            block.select = Some("c".to_owned());
        }),
        Code::UnreconciledCommit,
    );
    for to in [
        SliceStatus::Planned,
        SliceStatus::Blocked,
        SliceStatus::Cancelled,
    ] {
        let mut plan = plan_of(&walk.snapshot);
        plan.candidate_slices[0].status = Some(to);
        plan.candidate_slices[0].reason = Some("not this way".to_owned());
        walk.refuse(
            walk.reground(|block| block.plan = Some(plan)),
            Code::UnreconciledCommit,
        );
    }
    walk.drive();
}

#[test]
fn review_and_audit_count_for_one_commit_and_one_set_of_criteria() {
    let mut walk = Walk::new(ONE);
    walk.reach_rule_7(true);
    let is_current = |snapshot: &cook_protocol::model::Snapshot| {
        (
            cook_protocol::machine::current_review(snapshot).is_some(),
            cook_protocol::machine::current_audit(snapshot).is_some(),
        )
    };
    assert_eq!(is_current(&walk.snapshot), (true, true));
    let mut other = walk.snapshot.clone();
    other.plan.candidate_slices[0].acceptance_criteria.pop();
    assert_eq!(is_current(&other), (false, false));
    let mut other = walk.snapshot.clone();
    other.ledger.slices.get_mut("a").unwrap().head = Some(id(0));
    assert_eq!(is_current(&other), (false, false));
}

#[test]
fn a_commit_that_is_no_work_of_the_slice_is_refused_with_its_reason() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.refuse(walk.report_implemented(), Code::CommitNotAfterBasis);
    walk.own_commit();
    let before = walk.report_implemented();
    assert!(walk.world.amend());
    walk.refuse(before, Code::CommitNotOnHead);
    walk.take(walk.report_implemented());
    walk.drive();
}

#[test]
fn those_who_judge_ask_nothing() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented());
    walk.refuse(walk.report_asked(Role::Reviewer), Code::NotYourTurn);
    walk.drive();
}

#[test]
fn an_implementers_question_is_answered_and_the_work_goes_on() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.take(walk.report_asked(Role::Implementer));
    walk.refuse(walk.resume(), Code::AnswerMissing);
    walk.take(make_resumed(|resume| {
        resume.answer = Some("the first".to_owned())
    }));
    assert_eq!(walk.rule(), Rule::Implement);
    let notes = |walk: &Walk| walk.snapshot.plan.candidate_slices[0].locked_notes.clone();
    assert!(notes(&walk).unwrap().concat().contains("the first"));
    walk.drive();
}

#[test]
fn a_vote_is_told_from_another_by_session_then_ticket_then_text() {
    let mut walk = Walk::new(Bounds { judges: 3, ..ONE });
    walk.reach_wave();
    let vote = |walk: &Walk, session: Option<&str>, ticket: Option<&str>, text: &str| {
        let mut given = submission(&walk.snapshot, Role::StopJudge);
        given.session = session.map(str::to_owned);
        given.ticket = ticket.map(str::to_owned);
        given.report_sha256 = text.to_owned();
        Event::Judged {
            verdicts: verdicts(true),
            submission: given,
        }
    };
    walk.take(vote(&walk, Some("s1"), Some("t1"), "same words"));
    walk.refuse(
        vote(&walk, Some("s1"), Some("t2"), "others"),
        Code::DuplicateReport,
    );
    walk.refuse(
        vote(&walk, None, Some("t1"), "others"),
        Code::DuplicateReport,
    );
    walk.refuse(vote(&walk, None, None, "same words"), Code::DuplicateReport);
    walk.take(vote(&walk, Some("s2"), Some("t2"), "same words"));
    assert!(answers(&walk.snapshot).is_empty());
    walk.drive();
}

/// A text is looked at where HEAD moved; a test is run before the project ends.
#[test]
fn a_wave_ends_when_what_was_accepted_is_taken_back() {
    for (kind, votes) in [("text", 0), ("text", 1), ("good", 0)] {
        let mut walk = Walk::new(Bounds { judges: 3, ..ONE });
        walk.reach_rule_7(true);
        walk.take(walk.report_accepted_with("a", kind));
        for _ in 0..votes {
            walk.take(walk.report_judged(true));
        }
        walk.harm(Harm::Lost);
        if kind == "text" {
            let due = walk.due();
            assert_eq!(due.rule, Rule::Recover, "{due:?}");
            let told = "slice `a` is done in the log";
            assert!(due.reason.contains(told), "{}", due.reason);
            walk.refuse(walk.report_judged(true), Code::NotYourTurn);
            let step = walk.take(walk.reground(|_| {}));
            assert_eq!(step.next.rule, Rule::Select, "{:?}", step.next);
            assert!(walk.snapshot.ledger.wave.votes.is_empty());
        } else {
            walk.take(Event::Verified);
            walk.drive_until(|walk| walk.rule() == Rule::Conclude);
            let stop = walk.reground(|block| block.conclude = Some(Conclude::Stop));
            walk.refuse(stop, Code::StopNotUnanimous);
        }
        walk.drive();
    }
}

#[test]
fn a_foreign_commit_that_takes_nothing_away_leaves_the_judges_due() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.foreign_commit(Touch::Elsewhere);
    assert_eq!(walk.rule(), Rule::Judge);
    walk.take(Event::Verified);
    walk.drive();
}
