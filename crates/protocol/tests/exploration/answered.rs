//! Rejections and what answers them: an answer holds no longer than the slices that it rests on.

use super::CORE;
use super::events::{Bounds, audit, submission};
use super::walk::Walk;
use super::world::Touch;
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::find_audit_to_answer;
use cook_protocol::model::{Count, Event, PlaceAnswer, Resume, Role, Verdicts};

const ONE: Bounds = Bounds {
    max_slices: 2,
    ..CORE
};

fn make_audited(walk: &Walk, verdicts: Verdicts) -> Event {
    Event::Audited {
        verdicts,
        submission: submission(&walk.snapshot, Role::Auditor),
    }
}

#[test]
fn what_a_later_audit_leaves_out_is_told_to_the_judges() {
    let mut walk = Walk::new(Bounds { slices: 2, ..ONE });
    walk.plan_and_select();
    walk.implement(true);
    walk.take(make_audited(&walk, audit(false)));
    let earlier = format!("audit-{}", walk.snapshot.ledger.seq.0);
    walk.take(walk.report_accepted("a"));
    walk.take(walk.reground(|block| {
        block.answers.clear();
        block.select = Some("b".to_owned());
    }));
    walk.drive();
    let answered = &walk.snapshot.ledger.answered_rejections;
    let told = answered.iter().find(|told| told.no.id == earlier).unwrap();
    assert!(
        told.answer.ends_with("names: nothing open"),
        "{}",
        told.answer
    );
}

/// An audit that names contracts as open, and nothing else.
fn name_open(contracts: &[&str], weighs_plan: bool) -> Verdicts {
    Verdicts {
        weighs_plan,
        open_contract_ids: contracts.iter().map(|&id| id.to_owned()).collect(),
        blocker_count: Count(0),
        ..audit(false)
    }
}

/// The audit of the first of two slices, and the walk after it.
fn audit_first(verdicts: Verdicts) -> (Walk, String) {
    let mut walk = Walk::new(Bounds { slices: 2, ..ONE });
    walk.plan_and_select();
    walk.implement(true);
    walk.take(make_audited(&walk, verdicts));
    let id = format!("audit-{}", walk.snapshot.ledger.seq.0);
    (walk, id)
}

#[test]
fn what_no_slice_of_the_plan_brings_about_is_owed_an_answer() {
    let lies: [fn(&mut Verdicts); 4] = [
        |said| said.open_contract_ids.push("C-z".to_owned()),
        |said| said.blocker_count = Count(1),
        |said| said.high_value_gap_count = Count(1),
        |said| said.fails = vec!["correctness_risk".to_owned()],
    ];
    for lie in lies {
        let mut verdicts = name_open(&["C-b"], true);
        lie(&mut verdicts);
        let (walk, id) = audit_first(verdicts);
        let owed = find_audit_to_answer(&walk.snapshot).map(|no| no.id);
        assert_eq!(owed, Some(id));
    }
}

#[test]
fn what_a_report_says_of_risks_stays_beside_later_ones() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    for risk in ["it leaks", "it is slow", "it leaks"] {
        walk.own_commit();
        let mut event = walk.report_implemented();
        if let Event::Implemented { submission, .. } = &mut event {
            let fields = &mut submission.report.fields;
            fields.insert("residual_risks_discovered".to_owned(), risk.to_owned());
        }
        walk.take(event);
    }
    let remarked = walk.snapshot.ledger.slices["a"].remarked.as_deref();
    assert_eq!(remarked, Some("it leaks\nit is slow"));
    walk.drive();
}

/// A regrounder asks and the user answers; the name of that answer.
fn ask_and_answer(walk: &mut Walk) -> String {
    walk.foreign_commit(Touch::Surface);
    walk.take(walk.regrounder_asks());
    walk.take(Event::Resumed(Resume {
        answer: Some("leave such keys out".to_owned()),
        ..Resume::default()
    }));
    walk.snapshot.ledger.answers[0].id()
}

/// Where an answer binds is said of an answer and of slices that there are.
#[test]
fn an_answer_is_placed_by_its_name_on_slices_of_the_plan() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    let said = ask_and_answer(&mut walk);
    let placing = |walk: &Walk, answer: &str, id: &str| {
        walk.reground(|block| {
            block.answers_to = vec![PlaceAnswer {
                answer: answer.to_owned(),
                slices: vec![id.to_owned()],
            }];
        })
    };
    walk.refuse(placing(&walk, &said, "nobody"), Code::SliceUnknown);
    walk.refuse(placing(&walk, "answer-0", "a"), Code::AnswerUnknown);
    walk.take(placing(&walk, &said, "a"));
}
