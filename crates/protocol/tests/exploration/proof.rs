//! What may prove a criterion: no place serves two. And what follows from an accepted proof at HEAD.

use super::CORE;
use super::events::{Bounds, asks, claim, claims, first_plan, reconcile, slice_plan};
use super::walk::Walk;
use super::world::{Harm, Touch, id};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Rule, Step, Verdict};
use cook_protocol::model::{
    CancelledSlice, ChangedSlice, Conclude, Count, Decision, Event, Evidence, EvidenceClaim,
    PlanBlock, Reground, Reopen, SliceStatus,
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
    walk.refuse(walk.report_accepted_by(vec![again]), Code::EvidenceShared);
    walk.take(walk.report_accepted("a"));
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
    let half = walk.report_accepted_by(vec![claim("a", "a1", "good")]);
    walk.refuse(half, Code::EvidenceMissing);
    let slice = walk.snapshot.plan.slice("a").unwrap();
    let old = walk.report_accepted_by(claims(slice, "old"));
    walk.refuse(old, Code::EvidenceNotNew);
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

#[test]
fn a_proof_that_is_broken_opens_its_slice_with_any_report() {
    for (kind, harm) in [
        ("good", Harm::Red),
        ("good", Harm::Lost),
        ("text", Harm::Lost),
        ("text", Harm::Gone),
    ] {
        let mut walk = make_harmed(kind, harm);
        let found = codes(walk.take(walk.reground(|block| block.policy = asks())));
        assert!(found.contains(&Code::ProofBroken), "{kind} {harm:?}");
        assert_eq!(status(&walk), SliceStatus::Planned, "{kind} {harm:?}");
        let ledger = &walk.snapshot.ledger.slices["a"];
        assert!(ledger.basis.is_some() && ledger.accepted.is_none());
        walk.drive();
        // What ran and is red stays so, whatever is claimed; a text may stand elsewhere.
        let mut walk = make_harmed(kind, harm);
        let report = walk.reground(|block| {
            anew(block);
            block.policy = asks();
        });
        let found = codes(walk.take(report));
        let is_text = kind == "text";
        assert_eq!(found.contains(&Code::ProofReplaced), is_text, "{harm:?}");
        assert_eq!(status(&walk) == SliceStatus::Done, is_text, "{harm:?}");
        walk.drive();
    }
    // Harm to what is of another kind is none.
    for (kind, harm) in [("text", Harm::Red), ("good", Harm::Gone)] {
        let mut walk = make_harmed(kind, harm);
        walk.take(walk.reground(select));
        assert_eq!(status(&walk), SliceStatus::Done);
        walk.drive();
    }
}

/// Whoever selects may go on without a guard; whoever accepts or ends the project says what took its place.
#[test]
fn a_proof_without_its_test_is_answered_before_more_is_accepted() {
    let mut walk = make_harmed("good", Harm::Unguarded);
    let found = codes(walk.take(walk.reground(select)));
    assert!(found.contains(&Code::ProofUnguarded), "{found:?}");
    walk.implement(true);
    walk.take(walk.report_audited());
    let mut again = walk.clone();
    walk.refuse(walk.report_accepted("b"), Code::ProofUnguarded);
    let mut accept = walk.report_accepted("b");
    if let Event::Regrounded { block, .. } = &mut accept {
        anew(block);
    }
    walk.take(accept);
    let remarks = &walk.snapshot.ledger.remarks;
    let replaced = remarks
        .iter()
        .filter(|it| it.code == Code::ProofReplaced.id());
    assert_eq!(replaced.count(), 2);
    walk.drive();
    // The same report may open the slice again in place of an answer.
    let mut accept = again.report_accepted("b");
    if let Event::Regrounded { block, .. } = &mut accept {
        block.reopen = vec![reopen(None)];
    }
    again.take(accept);
    assert_eq!(status(&again), SliceStatus::Planned);
    again.drive();
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

/// A later slice changed the test, says so in a commit, and its review answers for it.
#[test]
fn a_test_that_a_slice_declares_to_be_changed_is_the_proof_once_it_is_accepted() {
    let tests = claims(&first_slice(), "good");
    let begin = |positive: bool| {
        let mut walk = Walk::new(TWO);
        walk.accept_first(tests.clone());
        walk.take(walk.select_second_with(Vec::new()));
        walk.world.commit(Some("b"), Touch::Harm(Harm::Declared));
        walk.take(walk.report_implemented());
        let mut review = walk.report_reviewed(true);
        if let (Event::Reviewed { verdicts, .. }, true) = (&mut review, positive) {
            let changes = &walk.snapshot.ledger.slices["b"].test_changes;
            let answers = changes.iter().map(|change| change.id.clone());
            verdicts
                .findings
                .extend(answers.map(|id| format!("WAIVE {id}: the mission asks for it")));
        }
        walk.take(review);
        walk.take(walk.report_audited());
        walk
    };
    let mut walk = begin(true);
    let head = walk.world.head.map(id).unwrap();
    let found = codes(walk.take(walk.report_accepted("b")));
    assert!(found.contains(&Code::ProofReplaced), "{found:?}");
    let slice = walk.snapshot.plan.slice("a").unwrap();
    let records = slice.evidence.iter().filter_map(Evidence::record);
    let stamps: Vec<&str> = records.map(|record| record.head_sha.as_str()).collect();
    assert_eq!((slice.status, stamps), (SliceStatus::Done, vec![&*head; 2]));
    walk.drive();
    // A review that does not answer for it accepts nothing, and what is not declared is broken.
    let mut walk = begin(false);
    walk.refuse(walk.report_accepted("b"), Code::ReviewNegative);
    let mut walk = begin(true);
    walk.world.commit(Some("b"), Touch::Harm(Harm::Red));
    let ledger = walk.snapshot.ledger.slices.get_mut("b").unwrap();
    ledger.claimed.push(walk.world.head.map(id).unwrap());
    walk.take(walk.report_accepted("b"));
    assert_eq!(status(&walk), SliceStatus::Planned);
}

/// A slice that is accepted again without another claim rests on what its proofs show then.
#[test]
fn what_is_accepted_again_is_stamped_again() {
    let mut walk = make_harmed("text", Harm::Gone);
    walk.take(walk.reground(|block| block.select = Some("a".to_owned())));
    walk.implement(true);
    walk.take(walk.report_audited());
    walk.take(walk.report_accepted_by(Vec::new()));
    walk.take(walk.reground(select));
    assert_eq!(status(&walk), SliceStatus::Done);
    walk.drive();
}

/// It is looked at as a done one is.
#[test]
fn what_was_cancelled_as_there_already_rests_on_its_proof() {
    let cancelled = || {
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
        }));
        walk
    };
    let mut walk = cancelled();
    walk.harm(Harm::Red);
    walk.take(walk.reground(select));
    assert_eq!(status(&walk), SliceStatus::Planned);
    walk.drive();
    let mut walk = cancelled();
    walk.harm(Harm::Unrunnable);
    walk.refuse(walk.reground(select), Code::ProofUnrunnable);
    let report = walk.reground(|block| {
        anew(block);
        select(block);
    });
    assert!(codes(walk.take(report)).contains(&Code::ProofReplaced));
    assert_eq!(status(&walk), SliceStatus::Cancelled);
    walk.drive();
}

/// A report may accept a slice and open the broken one again, which waits for the one that mends it.
#[test]
fn a_slice_is_accepted_beside_one_that_is_broken() {
    let mut walk = Walk::new(TWO);
    walk.accept_first(claims(&first_slice(), "good"));
    walk.take(walk.select_second_with(Vec::new()));
    walk.world.commit(Some("b"), Touch::Harm(Harm::Red));
    walk.take(walk.report_implemented());
    walk.take(walk.report_reviewed(true));
    walk.take(walk.report_audited());
    let mut accept = walk.report_accepted("b");
    if let Event::Regrounded { block, .. } = &mut accept {
        block.plan = Some(PlanBlock {
            add: vec![slice_plan("c", &[], &TWO)],
            change: vec![ChangedSlice {
                slice_id: "a".to_owned(),
                blocked_on: Some(vec!["c".to_owned()]),
                ..ChangedSlice::default()
            }],
            ..PlanBlock::default()
        });
        block.select = Some("c".to_owned());
    }
    walk.take(accept);
    assert_eq!(status(&walk), SliceStatus::Planned);
    let b = walk.snapshot.plan.slice("b").unwrap();
    assert_eq!(b.status, SliceStatus::Done);
    walk.drive();
    assert_eq!(status(&walk), SliceStatus::Done);
}
