//! What may prove a criterion: no place serves two, and what is lost is not claimed back.

use super::CORE;
use super::events::{Bounds, claim, claims, first_plan, reconcile};
use super::walk::Walk;
use super::world::Touch;
use cook_core::diagnostic::Code;
use cook_core::machine::{Rule, Verdict};
use cook_core::model::{
    CancelledSlice, ChangedSlice, Conclude, Count, Decision, Event, Evidence, EvidenceClaim,
    PlanBlock, SliceStatus,
};

const TWO: Bounds = Bounds {
    slices: 2,
    max_slices: 2,
    ..CORE
};

impl Walk {
    fn report_accepted_with(&self, evidence: Vec<EvidenceClaim>) -> Event {
        self.reground(|block| {
            block.reconcile = reconcile("a", Decision::Accepted);
            block.evidence = evidence;
        })
    }

    /// To the selection of the second slice, the first done with these.
    fn accept_first(&mut self, evidence: Vec<EvidenceClaim>) {
        self.reach_rule_7(true);
        self.take(self.report_accepted_with(evidence));
    }

    fn select_second_with(&self, evidence: Vec<EvidenceClaim>) -> Event {
        self.reground(|block| {
            block.evidence = evidence;
            block.select = Some("b".to_owned());
        })
    }
}

#[test]
fn a_place_that_proves_a_criterion_is_not_claimed_for_another_later() {
    let mut walk = Walk::new(TWO);
    walk.accept_first(vec![claim("a", "a1", "good"), claim("a", "a2", "overlap")]);
    // Not the anchor that is stored, but lines among its own.
    let shared = walk.select_second_with(vec![claim("a", "a1", "overlap")]);
    walk.refuse(shared, Code::EvidenceShared);
    // Unless the other is given another place.
    let given = vec![claim("a", "a1", "overlap"), claim("a", "a2", "good")];
    walk.take(walk.select_second_with(given));
}

#[test]
fn what_dropped_a_criterion_proves_no_other_of_its_slice() {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.foreign_commit(Touch::Surface);
    let dropping = claim("a", "a2", "good");
    let anchor = dropping.anchor.clone();
    walk.take(walk.reground(|block| {
        block.evidence = vec![dropping];
        block.plan = Some(PlanBlock {
            change: vec![ChangedSlice {
                slice_id: "a".to_owned(),
                drop_criteria: vec![Count(2)],
                ..ChangedSlice::default()
            }],
            ..PlanBlock::default()
        });
    }));
    walk.implement(true);
    walk.take(walk.report_audited());
    let again = EvidenceClaim {
        anchor,
        ..claim("a", "a1", "good")
    };
    walk.refuse(walk.report_accepted_with(vec![again]), Code::EvidenceShared);
    walk.take(walk.report_accepted("a"));
}

#[test]
fn proof_that_is_lost_is_not_given_anew_without_new_work() {
    let mut walk = Walk::new(TWO);
    walk.accept_first(vec![claim("a", "a1", "good"), claim("a", "a2", "good")]);
    let slice = walk.snapshot.plan.slice_mut("a").unwrap();
    let Evidence::Record(record) = &mut slice.evidence[0] else {
        panic!("{slice:?}");
    };
    record.anchor = "gone:a:a1".to_owned();
    let given = walk.reground(|block| block.evidence = vec![claim("a", "a1", "good")]);
    walk.take(given);
    let slice = walk.snapshot.plan.slice("a").unwrap();
    assert_eq!(slice.status, SliceStatus::Planned);
}

#[test]
fn proof_does_not_move_onto_that_of_another_criterion() {
    let mut walk = Walk::new(TWO);
    walk.accept_first(vec![claim("a", "a1", "good"), claim("a", "a2", "overlap")]);
    let slice = walk.snapshot.plan.slice_mut("a").unwrap();
    let Evidence::Record(record) = &mut slice.evidence[0] else {
        panic!("{slice:?}");
    };
    record.anchor = "overlap:a:a1".to_owned();
    walk.mood.stored = Verdict::Moved;
    walk.refuse(walk.select_second_with(Vec::new()), Code::EvidenceChanged);
    walk.take(walk.select_second_with(vec![claim("a", "a1", "good")]));
}

#[test]
fn one_entry_does_not_prove_two_slices() {
    let entry = |slice: &str, criterion: &str| EvidenceClaim {
        anchor: "entry:l.bin".to_owned(),
        ..claim(slice, criterion, "good")
    };
    let mut walk = Walk::new(TWO);
    walk.accept_first(vec![entry("a", "a1"), claim("a", "a2", "good")]);
    walk.take(walk.select_second_with(Vec::new()));
    walk.implement(true);
    walk.take(walk.report_audited());
    let accepting = |evidence| {
        walk.reground(|block| {
            block.reconcile = reconcile("b", Decision::Accepted);
            block.evidence = evidence;
        })
    };
    let shared = accepting(vec![entry("b", "b1"), claim("b", "b2", "good")]);
    walk.clone().refuse(shared, Code::EvidenceShared);
    let both = accepting(vec![
        entry("b", "b1"),
        claim("b", "b2", "good"),
        entry("a", "a1"),
    ]);
    walk.refuse(both, Code::EvidenceShared);
}

#[test]
fn each_criterion_is_proved_and_one_by_what_is_new() {
    let mut walk = Walk::new(TWO);
    walk.reach_rule_7(true);
    let half = walk.report_accepted_with(vec![claim("a", "a1", "good")]);
    walk.refuse(half, Code::EvidenceMissing);
    let slice = walk.snapshot.plan.slice("a").unwrap();
    let old = walk.report_accepted_with(claims(slice, "old"));
    walk.refuse(old, Code::EvidenceNotNew);
}

/// Nobody wrote it for the slice: changed, it is there no more.
#[test]
fn what_was_cancelled_as_there_already_is_planned_again_once_its_proof_changes() {
    let mut walk = Walk::new(TWO);
    let mut plan = first_plan(&TWO);
    plan.candidate_slices[1].blocked_on = Some(Vec::new());
    walk.take(walk.reground(|block| block.plan = Some(plan)));
    let proof = claims(walk.snapshot.plan.slice("a").unwrap(), "good");
    walk.take(walk.reground(|block| {
        block.plan = Some(PlanBlock {
            cancel: vec![CancelledSlice {
                slice_id: "a".to_owned(),
                reason: "it is there already".to_owned(),
            }],
            ..PlanBlock::default()
        });
        block.evidence = proof;
        block.select = Some("b".to_owned());
    }));
    walk.foreign_commit(Touch::Surface);
    walk.mood.stored = Verdict::Changed;
    walk.take(walk.reground(|_| {}));
    let slice = walk.snapshot.plan.slice("a").unwrap();
    assert_eq!(slice.status, SliceStatus::Planned);
}

#[test]
fn nothing_ends_on_proof_that_cannot_be_told() {
    let mut walk = Walk::new(CORE);
    walk.drive_until(|walk| walk.rule() == Rule::Conclude);
    walk.mood.stored = Verdict::Unverifiable;
    let stop = walk.reground(|block| block.conclude = Some(Conclude::Stop));
    walk.refuse(stop, Code::EvidenceChanged);
}
