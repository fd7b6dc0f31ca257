//! Troubles a workflow must come out of, each driven to `done`.

use super::CORE;
use super::events::{Bounds, answers, reconcile, submission, verdicts};
use super::prompts::make_prompt;
use super::walk::Walk;
use super::world::{Contract, Gates, Harm, Moment, Mood, Touch, World, id, settings};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Facts, Rule, Step, apply};
use cook_protocol::model::{
    ActiveStatus, Actor, Conclude, Count, Decision, Event, Evidence, Policy, Resume, Role,
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
fn a_rewritten_history_is_noticed_and_under_strict_rules_looked_at() {
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
    walk.mood.strict = true;
    assert_eq!(walk.rule(), Rule::Recover);
    walk.take(walk.reground(|_| {}));
    assert_eq!(walk.rule(), Rule::Select);
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
