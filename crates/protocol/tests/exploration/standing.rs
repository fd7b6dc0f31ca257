//! What accepted proofs are worth, told from the commit graph and the mood alone: nothing ends on one that does
//! not hold, nothing is built on one that nobody can tell of, none is given up unseen, and nobody judges a
//! project from which the text of one is gone.

use super::invariants::{Check, Seen, require};
use super::world::{Mood, World, is_text};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Dispatch, Rule, Verdict};
use cook_protocol::model::{
    Conclude, Decision, Evidence, EvidenceRecord, Policy, Slice, SliceRecordType, Snapshot,
};
use cook_protocol::question::AnchorQuestion;

/// Proofs of done slices, and of those that were cancelled as there already.
fn list_accepted(snapshot: &Snapshot) -> impl Iterator<Item = (&Slice, &EvidenceRecord)> {
    let slices = snapshot.plan.candidate_slices.iter().map(|slice| &**slice);
    let slices = slices.filter(|slice| slice.rests_on_proof());
    slices.flat_map(|slice| {
        let records = slice.evidence.iter().filter_map(Evidence::record);
        let records = records.filter(|record| record.retired.is_none());
        records.map(move |record| (slice, record))
    })
}

/// Where it was last seen to hold says nothing of what it is.
fn has(snapshot: &Snapshot, id: &str, record: &EvidenceRecord) -> bool {
    list_accepted(snapshot).any(|(slice, known)| {
        let known = EvidenceRecord {
            held_at: record.held_at.clone(),
            ..known.clone()
        };
        slice.slice_id == id && known == *record
    })
}

/// Done rests on proofs that all hold at HEAD. What was accepted before and stays so is red after no re-ground;
/// where nobody knows, nothing is built on it.
pub fn check_built_on(seen: &Seen) -> Check {
    let (before, after) = (seen.before, seen.after());
    let is_done = |snapshot: &Snapshot| snapshot.state.continuation_policy == Policy::Done;
    let ends = is_done(after) && !is_done(before);
    let block = seen.block();
    let accepts = block
        .and_then(|block| block.reconcile.as_ref())
        .is_some_and(|reconcile| reconcile.decision == Decision::Accepted);
    let stops = block.is_some_and(|block| block.conclude == Some(Conclude::Stop));
    let selects = block.is_some_and(|block| block.select.is_some());
    for (slice, record) in list_accepted(after) {
        let id = &slice.slice_id;
        let stays = has(before, id, record);
        let mood = if stays { seen.offer.mood } else { Mood::GOOD };
        let worth = seen.world.worth(record, &mood);
        let holds = matches!(worth, Verdict::Verified | Verdict::Moved);
        require(!ends || holds, || {
            format!("done, and slice `{id}` rests on what is {worth:?}")
        })?;
        let may_stay = match worth {
            Verdict::Missing => block.is_none(),
            Verdict::Changed => !accepts && !stops,
            Verdict::Unverifiable => !accepts && !stops && !selects,
            Verdict::Stale => !stops,
            _ => true,
        };
        require(!stays || may_stay, || {
            format!("slice `{id}` stays done with {worth:?}")
        })?;
    }
    let is_bare = |slice: &Slice| {
        let mut criteria = slice.acceptance_criteria.iter();
        let proves = |criterion: &String| {
            let mut records = slice.evidence.iter().filter_map(Evidence::record);
            records.any(|record| record.criterion == *criterion)
        };
        criteria.any(|criterion| !proves(criterion))
    };
    let mut closed = after.plan.candidate_slices.iter();
    let bare = closed.find(|slice| slice.rests_on_proof() && is_bare(slice));
    require(!ends || bare.is_none(), || {
        format!("done without proof of {bare:?}")
    })
}

/// An accepted proof is given up by the user, with its slice that is taken up again, for another one that
/// roles are shown, or for the changed test that the review of an accepted slice answered for.
pub fn check_given_up(seen: &Seen) -> Check {
    if seen.offer.event.is_user_only() {
        return Ok(());
    }
    for (slice, record) in list_accepted(seen.before) {
        let id = &slice.slice_id;
        let mut records = seen.step.records.slice.iter();
        let is_reopened = records
            .any(|record| record.kind == SliceRecordType::Reopened && record.slice_id == *id);
        if is_reopened || has(seen.after(), id, record) {
            continue;
        }
        let (criterion, anchor) = (&record.criterion, &record.anchor);
        let now = list_accepted(seen.after())
            .find(|(other, now)| other.slice_id == *id && now.criterion == *criterion);
        let (_, now) = now.ok_or_else(|| format!("{anchor} of slice `{id}` is gone"))?;
        let mut claims = seen.block().into_iter().flat_map(|block| &block.evidence);
        let is_claimed = claims.any(|claim| {
            let of = claim.slice_id.as_ref();
            of == Some(id) && claim.criterion == *criterion && claim.anchor == now.anchor
        });
        let mut remarks = seen.after().ledger.remarks.iter();
        let is_shown = remarks.any(|remark| {
            let told = [criterion, anchor, &now.anchor];
            remark.slice_id == *id
                && remark.code == Code::ProofReplaced.id()
                && told.iter().all(|told| remark.what.contains(told.as_str()))
        });
        let is_told = seen
            .step
            .findings
            .iter()
            .any(|it| it.code == Code::ProofReplaced);
        require(
            is_told && (is_claimed && is_shown || is_declared(seen, slice, record)),
            || format!("{anchor} of slice `{id}` became {} unseen", now.anchor),
        )?;
    }
    Ok(())
}

/// The slice that is accepted changed that test, and its review answered for it.
fn is_declared(seen: &Seen, slice: &Slice, record: &EvidenceRecord) -> bool {
    let key = AnchorQuestion::ask_stored(slice, record).key();
    let answer = seen.facts.anchors.get(&key);
    let is_green = answer.is_some_and(|answer| answer.now.as_ref() == Some(&record.anchor));
    let reconcile = seen.block().and_then(|block| block.reconcile.as_ref());
    let accepted = reconcile.filter(|it| it.decision == Decision::Accepted);
    let ledger = accepted.and_then(|it| seen.before.ledger.slices.get(&it.slice_id));
    let mut changes = ledger.into_iter().flat_map(|ledger| &ledger.test_changes);
    is_green
        && changes.any(|change| {
            let named = change.name.as_ref();
            named.is_some_and(|name| record.anchor == format!("test:{name}"))
                && change.declared.is_some()
                && change.answered.is_some()
        })
}

/// What needs no run is looked at where HEAD moved: the regrounder is asked, or the work is stopped.
pub fn nobody_judges_what_is_gone(snapshot: &Snapshot, world: &World, due: &Dispatch) -> Check {
    let mut texts = list_accepted(snapshot).filter(|(_, record)| is_text(&record.anchor));
    let gone = texts.find(|(_, record)| world.worth(record, &Mood::GOOD) == Verdict::Missing);
    let judges = matches!(due.rule, Rule::Judge | Rule::Conclude);
    require(gone.is_none() || !judges, || {
        format!("{gone:?} is gone from HEAD, and {due:?}")
    })
}
