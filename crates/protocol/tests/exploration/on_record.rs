//! What somebody said stays on record: no no goes away but by an answer or by a later word of who said it, and
//! what the user says is weighed by a model.

use super::CORE;
use super::events::{Bounds, audit, submission};
use super::invariants::{Check, Seen, require};
use super::walk::Walk;
use cook_protocol::diagnostic::Code;
use cook_protocol::model::{
    AnswerTo, AuditNote, Event, PlanBlock, Reground, ReviewNote, Role, Snapshot,
};
use std::collections::BTreeSet;

const TWO: Bounds = Bounds {
    slices: 2,
    max_slices: 2,
    ..CORE
};

fn list_reviews(snapshot: &Snapshot, id: &str) -> Vec<ReviewNote> {
    let ledger = snapshot.ledger.slices.get(id);
    let reviews = ledger.map(|it| [it.review.clone(), it.sent_back.clone()]);
    let reviews = reviews.into_iter().flatten().flatten();
    let noes = reviews.filter(|review| review.rejects());
    noes.map(|review| *review).collect()
}

fn find_newest_audit(snapshot: &Snapshot) -> Option<AuditNote> {
    let ledger = &snapshot.ledger;
    let slices = ledger.slices.values();
    let audits = slices.flat_map(|it| [it.audit.clone(), it.earlier_audit.clone()]);
    let audits = audits.chain([ledger.open_audit.clone()]).flatten();
    audits.max_by_key(|audit| audit.seq.0).map(|audit| *audit)
}

/// Every no that somebody who decides is shown, or that waits for an answer.
fn list_noes(snapshot: &Snapshot) -> BTreeSet<String> {
    let ledger = &snapshot.ledger;
    let answered = ledger.answered_rejections.iter();
    let owed = ledger
        .unanswered
        .iter()
        .chain(answered.map(|answered| &answered.no));
    let votes = ledger.wave.votes.iter().filter(|vote| !vote.can_stop);
    let reviews = ledger
        .slices
        .keys()
        .flat_map(|id| list_reviews(snapshot, id));
    let audit = find_newest_audit(snapshot).filter(|audit| audit.rejects);
    owed.filter(|no| !no.id.starts_with("answer-"))
        .map(|no| no.id.clone())
        .chain(votes.map(|vote| format!("no-{}", vote.seq.0)))
        .chain(reviews.map(|review| format!("review-{}", review.seq.0)))
        .chain(audit.map(|audit| format!("audit-{}", audit.seq.0)))
        .collect()
}

/// Holds of each transition: a no is where it was, owed, or answered; or who said it said something else of
/// the same since; or a re-ground sent the slice back for it, as its history tells. A refocus keeps those that nobody
/// answered.
pub fn check_noes(seen: &Seen) -> Check {
    if matches!(seen.offer.event, Event::Refocused { .. }) {
        return Ok(());
    }
    let after = list_noes(seen.after());
    let newest_audit = [seen.before, seen.after()].map(find_newest_audit);
    let newest_audit = newest_audit.iter().flatten().map(|it| it.seq.0).max();
    for no in list_noes(seen.before) {
        let number = no
            .rsplit('-')
            .next()
            .and_then(|seq| seq.parse::<u64>().ok());
        let is_replaced = match no.split('-').next() {
            Some("audit") => newest_audit > number,
            Some("review") => seen.before.ledger.slices.keys().any(|id| {
                let was = |review: &ReviewNote| Some(review.seq.0) == number;
                let is_newer = |review: &ReviewNote| Some(review.seq.0) > number;
                let known = list_reviews(seen.before, id);
                let known = known.iter().find(|review| was(review));
                let sent_back_from = &seen.before.ledger.slices[id].last_head;
                known.is_some_and(|known| {
                    list_reviews(seen.after(), id).iter().any(is_newer)
                        || sent_back_from.as_ref() == Some(&known.commit)
                })
            }),
            _ => false,
        };
        require(after.contains(&no) || is_replaced, || {
            format!("{no} is on record nowhere any more")
        })?;
    }
    Ok(())
}

impl Walk {
    fn is_owed(&self, id: &str) -> bool {
        let mut owed = self.snapshot.ledger.unanswered.iter();
        owed.any(|no| no.id == id)
    }

    fn find_answer(&self, id: &str) -> Option<&str> {
        let mut answered = self.snapshot.ledger.answered_rejections.iter();
        let known = answered.find(|answered| answered.no.id == id)?;
        Some(&known.answer)
    }
}

/// An audit that is taken back, with the acceptance after it or alone, is owed an answer; so is what was
/// answered after it.
#[test]
fn no_no_goes_away_with_what_is_taken_back() {
    for transitions in 1..=4 {
        let mut walk = Walk::new(TWO);
        walk.plan_and_select();
        walk.implement(true);
        walk.take(Event::Audited {
            verdicts: audit(false),
            submission: submission(&walk.snapshot, Role::Auditor),
        });
        let id = format!("audit-{}", walk.snapshot.ledger.seq.0);
        let answer = |block: &mut Reground| {
            block.answers = vec![AnswerTo {
                no: id.clone(),
                reason: "the auditor read an old page".to_owned(),
            }];
        };
        let mut accepted = walk.report_accepted("a");
        if let Event::Regrounded { block, .. } = &mut accepted {
            answer(block);
        }
        walk.take(accepted);
        assert!(walk.find_answer(&id).is_some());
        walk.take(walk.undo(transitions));
        let stands = find_newest_audit(&walk.snapshot).is_some();
        assert!(stands || walk.is_owed(&id), "{transitions}");
        if !stands {
            let silent = walk.reground(|block| {
                block.answers.clear();
                block.plan = Some(PlanBlock::default());
            });
            walk.refuse(silent, Code::NoUnanswered);
        }
        walk.drive();
    }
}
