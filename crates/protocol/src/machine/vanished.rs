//! A slice in work whose commit left HEAD: where HEAD has the same tree it goes on there, else its work is
//! reported again.

use super::facts::{FactSet, Facts};
use super::text::short;
use super::work::Work;
use super::{asked, slices};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{ActiveStatus, SliceStatus, Snapshot};
use std::borrow::Cow;

/// The state as it speaks of HEAD, where a committed slice's commit left it and HEAD has its tree: review
/// and audit looked at that tree.
pub fn follow<'a>(snapshot: &'a Snapshot, facts: &Facts) -> Cow<'a, Snapshot> {
    follow_to(snapshot, facts).map_or(Cow::Borrowed(snapshot), |(next, _)| Cow::Owned(next))
}

/// The same, with what a reader should know of it.
pub(super) fn follow_to(snapshot: &Snapshot, facts: &Facts) -> Option<(Snapshot, Finding)> {
    let id = snapshot.active.slice_id.as_ref()?;
    let ledger = snapshot.ledger.slices.get(id)?;
    let from = ledger.head.as_ref()?;
    let now = facts.head.as_ref()?;
    let head = now.commit.as_ref()?;
    let basis = &snapshot.active.handoff.as_ref()?.basis_commit;
    let range = facts.ranges.get(basis)?;
    let has_left = snapshot.active.status == ActiveStatus::Committed
        && facts.on_head.get(from) == Some(&false);
    let stays = ledger.head_tree.is_some() && ledger.head_tree == now.tree;
    let is_on_basis = range.ancestor || range.merge_base.is_some();
    if !has_left || !stays || !is_on_basis {
        return None;
    }
    let (from, basis) = (
        from.clone(),
        range.merge_base.clone().unwrap_or(basis.clone()),
    );
    let what = format!(
        "its commit {} is not on HEAD any more, and HEAD, {}, has the same tree",
        short(&from),
        short(head)
    );
    let finding = Finding::new(Code::Rebound, what).at(id.clone());
    let mut next = snapshot.clone();
    if let Some(ledger) = next.ledger.slices.get_mut(id) {
        let review = ledger.review.as_mut().map(|review| &mut review.commit);
        let audit = ledger.audit.as_mut().map(|audit| &mut audit.commit);
        let heads = ledger.head.as_mut().into_iter().chain(&mut ledger.reported);
        for commit in heads.chain(review).chain(audit) {
            if *commit == from {
                commit.clone_from(head);
            }
        }
        ledger.basis = Some(basis.clone());
        // The same tree needs no second report, in however many commits it stands now.
        let own = range
            .commits
            .iter()
            .filter(|commit| commit.slice.as_ref() == Some(id));
        ledger.claimed.extend(own.map(|commit| commit.id.clone()));
        ledger.claimed.push(head.clone());
    }
    if let Some(slice) = next.plan.slice_mut(id) {
        slice.basis_commit = Some(basis.clone());
    }
    if let Some(handoff) = &mut next.active.handoff {
        handoff.basis_commit = basis;
    }
    Some((next, finding))
}

/// What tells where a committed slice's commit went, beside what is asked of the state that [`follow`] makes.
pub fn ask_to_follow(set: &mut FactSet, snapshot: &Snapshot) {
    let handoff = snapshot.active.handoff.as_ref();
    let slice = snapshot.active.slice_id.as_ref();
    let ledger = slice.and_then(|id| snapshot.ledger.slices.get(id));
    let head = ledger.and_then(|ledger| ledger.head.clone());
    let is_committed = snapshot.active.status == ActiveStatus::Committed;
    if let (Some(handoff), Some(head), true) = (handoff, head, is_committed) {
        set.head = true;
        set.ranges.insert(handoff.basis_commit.clone());
        set.on_head.insert(head);
    }
}

/// The facts as they speak of what [`follow`] makes of the state.
pub(super) fn follow_facts(facts: &Facts, before: &Snapshot, next: &Snapshot) -> Facts {
    let mut facts = facts.clone();
    let of = |snapshot: &Snapshot| {
        let handoff = snapshot.active.handoff.as_ref();
        handoff.map(|handoff| handoff.basis_commit.clone())
    };
    if let (Some(was), Some(is)) = (of(before), of(next))
        && let Some(mut range) = facts.ranges.get(&was).cloned()
    {
        (range.resolves, range.ancestor, range.merge_base) = (true, true, None);
        facts.ranges.insert(is, range);
    }
    let head = facts.head.as_ref().and_then(|head| head.commit.clone());
    facts.on_head.extend(head.map(|head| (head, true)));
    facts
}

/// The committed slice's commit is not on HEAD.
pub(super) fn has_vanished(work: &Work) -> Result<bool, Refusal> {
    if work.next.active.status != ActiveStatus::Committed {
        return Ok(false);
    }
    let id = work.next.active.slice_id.as_ref();
    let ledger = id.and_then(|id| work.before.ledger.slices.get(id));
    match ledger.and_then(|ledger| ledger.head.as_ref()) {
        Some(head) => Ok(!work.facts.on_head(head)?),
        None => Ok(true),
    }
}

/// What the commit fixed is to be fixed again, and a review's no stays. A commit that was not
/// rejected may be reported again once it is back.
pub(super) fn take_commit_away(work: &mut Work, id: &str) {
    let mut must = work.ledger(id).fixed.clone();
    let is_rejected = slices::rejection(&work.next).is_some();
    asked::add_new(&mut must, work.take_review(id));
    work.set_audit_aside(id);
    let ledger = work.ledger(id);
    let head = ledger.head.take();
    ledger.last_head = head.filter(|_| is_rejected || must.is_empty());
    ledger.head_tree = None;
    ledger.receipts.clear();
    work.must_fix(id, must);
    work.next.active.status = ActiveStatus::InProgress;
}

/// Puts a slice in progress whose commit left HEAD while others of its own are there to be reported.
pub(super) fn take_vanished_away(work: &mut Work) -> Result<(), Refusal> {
    if !has_vanished(work)? {
        return Ok(());
    }
    let Some(id) = work.active_id() else {
        return Ok(());
    };
    take_commit_away(work, &id);
    if let Some(slice) = work.next.plan.slice_mut(&id) {
        slice.status = SliceStatus::InProgress;
    }
    work.sync_handoff();
    Ok(())
}
