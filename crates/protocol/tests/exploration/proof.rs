//! What may prove a criterion: no place serves two. And what follows from an accepted proof at HEAD.

use super::CORE;
use super::events::{Bounds, asks, claim, claims, reconcile};
use super::walk::Walk;
use super::world::{Harm, id};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Rule, Step, Verdict};
use cook_protocol::model::{
    Conclude, Decision, Event, EvidenceClaim, Reground, Reopen, SliceStatus,
};

const TWO: Bounds = Bounds {
    slices: 2,
    max_slices: 2,
    ..CORE
};

impl Walk {
    fn report_accepted_by(&self, evidence: Vec<EvidenceClaim>) -> Event {
        self.reground(|block| {
            block.reconcile = reconcile("a", Decision::Accepted);
            block.evidence = evidence;
        })
    }

    /// To the selection of the second slice, the first done with these.
    fn accept_first(&mut self, evidence: Vec<EvidenceClaim>) {
        self.reach_rule_7(true);
        self.take(self.report_accepted_by(evidence));
    }

    fn select_second_with(&self, evidence: Vec<EvidenceClaim>) -> Event {
        self.reground(|block| {
            block.evidence = evidence;
            block.select = Some("b".to_owned());
        })
    }
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

/// The first slice is done by proofs of this kind, which came to harm, and the second waits.
fn make_harmed(kind: &str, harm: Harm) -> Walk {
    let mut walk = Walk::new(TWO);
    let proof = claims(&first_slice(), kind);
    walk.accept_first(proof);
    walk.harm(harm);
    walk
}

fn first_slice() -> cook_protocol::model::Slice {
    let mut walk = Walk::new(TWO);
    walk.plan_and_select();
    walk.snapshot.plan.slice("a").unwrap().clone()
}

/// Every proof of the first slice is given anew.
fn anew(block: &mut Reground) {
    block.evidence.extend(claims(&first_slice(), "other"));
}

fn select(block: &mut Reground) {
    block.select = Some("b".to_owned());
}

fn status(walk: &Walk) -> SliceStatus {
    walk.snapshot.plan.slice("a").unwrap().status
}

fn codes(step: Step) -> Vec<Code> {
    step.findings.iter().map(|finding| finding.code).collect()
}

fn reopen(at: Option<String>) -> Reopen {
    Reopen {
        slice_id: "a".to_owned(),
        why: "nobody can tell whether it works".to_owned(),
        at,
    }
}

#[test]
fn a_proof_that_cannot_be_run_holds_up_what_is_built_on_it() {
    let begin = || make_harmed("good", Harm::Unrunnable);
    begin().refuse(begin().reground(select), Code::ProofUnrunnable);
    // A question, a blocker: nothing is built.
    begin().take(begin().reground(|block| block.policy = asks()));
    let mut walk = begin();
    walk.take(walk.reground(|block| {
        anew(block);
        select(block);
    }));
    assert_eq!(status(&walk), SliceStatus::Done);
    walk.drive();
    // The commit that holds the work is reported as it is, and nothing is built anew.
    let mut walk = begin();
    let head = walk.world.head.map(id);
    walk.take(walk.reground(|block| {
        block.reopen = vec![reopen(head)];
        block.select = Some("a".to_owned());
    }));
    assert_eq!(walk.rule(), Rule::Implement);
    let due = walk.due();
    assert!(due.action.contains("holds its work"), "{}", due.action);
    walk.take(walk.report_implemented());
    walk.drive();
}

/// What nobody ran does not hold up the work, and ends nothing.
#[test]
fn nothing_ends_on_a_proof_that_nobody_can_tell_of() {
    let mut walk = make_harmed("good", Harm::Gone);
    walk.mood.stored = Verdict::Stale;
    let found = codes(walk.take(walk.reground(select)));
    assert!(found.contains(&Code::ProofNotAsked), "{found:?}");
    walk.drive_until(|walk| walk.rule() == Rule::Conclude);
    let stop = |walk: &Walk| walk.reground(|block| block.conclude = Some(Conclude::Stop));
    for (stored, code) in [
        (Verdict::Stale, Code::ProofUnrunnable),
        (Verdict::Unverifiable, Code::ProofUnrunnable),
        (Verdict::Changed, Code::ProofUnguarded),
        (Verdict::Missing, Code::StopNotUnanimous),
    ] {
        walk.mood.stored = stored;
        walk.refuse(stop(&walk), code);
    }
    walk.mood.stored = Verdict::Moved;
    walk.take(stop(&walk));
    assert!(walk.is_done());
}
