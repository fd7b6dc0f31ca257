//! Taking transitions back.

use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::due::require_reground;
use crate::machine::work::Work;
use crate::machine::{brief, wave};
use crate::model::{Blocker, Policy, ReviewNote, SliceLedger, Snapshot, Undone};
use std::collections::BTreeMap;

/// Takes transitions back: the documents as they were; histories, counters and
/// judges' rejections never revert.
pub(in crate::machine) fn undo(
    work: &mut Work,
    to: &Snapshot,
    to_seq: u64,
    seqs: &[u64],
) -> Result<(), Refusal> {
    if to_seq >= work.before.ledger.seq.0 || to.ledger.seq.0 != to_seq {
        return Err(Refusal::new(
            Code::UndoTooFar,
            format!("transition {to_seq} is not an earlier one"),
        ));
    }
    let mut current = work.before.clone();
    wave::void(&mut current);
    let noes = wave::list_noes(&current.ledger);
    let mut next = to.clone();
    wave::void(&mut next);
    next.counters = current.counters;
    // What was void at `to`, and all that came after it: taking an undo back makes what it
    // had voided count again.
    let mut undone: Vec<u64> = to.undone.seqs.clone();
    undone.extend(
        seqs.iter()
            .copied()
            .filter(|seq| !to.undone.seqs.contains(seq)),
    );
    undone.sort_unstable();
    next.undone = Undone { seqs: undone };
    next.ledger.seq = current.ledger.seq;
    next.ledger.lease_epoch = current.ledger.lease_epoch;
    // A re-ground is due, and what it accounts for is not asked again.
    next.ledger.mark = current.ledger.mark.take();
    next.ledger.scripted_commands = current.ledger.scripted_commands;
    next.ledger.settings = std::mem::take(&mut current.ledger.settings);
    let owed = std::mem::take(&mut current.ledger.unanswered);
    wave::owe(&mut next.ledger.unanswered, owed);
    let gone = current.ledger.answers.iter();
    for answer in gone.filter(|answer| !next.ledger.answers.contains(answer)) {
        let what = format!("undone with the rest: {}", answer.note());
        work.findings.push(Finding::new(Code::AnswersEnded, what));
    }
    brief::undo(work, to, &mut next);
    next.ledger.wave = current.ledger.wave;
    next.ledger.wave.running = false;
    next.state.current_stop_wave_id = current.state.current_stop_wave_id;
    keep_negative_reviews(&current.ledger.slices, &mut next);
    keep_noes(noes, &mut next);
    let cause = format!(
        "the user took back with `cook undo` what came after transition {to_seq} (`cook log {}` and the numbers after it tell what that was)",
        to_seq + 1
    );
    require_reground(&mut next, cause);
    if next.state.continuation_policy == Policy::Done {
        next.state.continuation_policy = Policy::Continue;
    }
    work.next = next;
    work.displace = true;
    Ok(())
}

/// No no goes away with what is taken back: one that stands nowhere any more, or whose answer is taken back with
/// it, is owed an answer.
fn keep_noes(noes: Vec<Blocker>, next: &mut Snapshot) {
    let standing = wave::list_noes(&next.ledger);
    let stands = |no: &Blocker| standing.iter().any(|known| known.id == no.id);
    // The user's own words are taken back with the rest.
    let lost = noes.into_iter().filter(|no| !no.is_users() && !stands(no));
    wave::owe(&mut next.ledger.unanswered, lost);
}

/// A review that said no stays, whatever is taken back, also one that sent the slice back since;
/// `cook resume --review-again` voids it.
fn keep_negative_reviews(current: &BTreeMap<String, SliceLedger>, next: &mut Snapshot) {
    for (id, slice) in current {
        if next.plan.slice(id).is_none() {
            continue;
        }
        for review in [&slice.sent_back, &slice.review].into_iter().flatten() {
            let kept = next.ledger.slices.entry(id.clone()).or_default();
            let known = [&kept.sent_back, &kept.review];
            let is_known = known
                .into_iter()
                .flatten()
                .any(|known| known.seq == review.seq);
            if is_known || !review.rejects() {
                continue;
            }
            let earlier = kept.review.replace(review.clone());
            kept.sent_back = earlier
                .filter(ReviewNote::rejects)
                .or(kept.sent_back.take());
        }
    }
}
