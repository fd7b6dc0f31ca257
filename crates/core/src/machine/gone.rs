//! Work that HEAD does not hold any more, though nothing in the log says so: of the slice that is
//! committed, and of done ones once the project's end is what comes next.

use super::facts::{AnchorQuestion, CommitSeen, Facts, OwnQuestion, StandingQuestion, Verdict};
use super::text::short;
use crate::diagnostic::{Code, Finding};
use crate::model::{ActiveStatus, Evidence, Rest, Slice, SliceStatus, Snapshot, Survival};

/// Places and commits that are named.
const NAMED: usize = 5;

/// What tells the work of a slice that is committed or about to be accepted.
pub(super) fn own_question(snapshot: &Snapshot, id: &str) -> Option<OwnQuestion> {
    let head = snapshot.ledger.slices.get(id)?.head.as_deref()?;
    ask_own_at(snapshot, id, head)
}

/// The same of a commit that is to be its head.
pub(super) fn ask_own_at(snapshot: &Snapshot, id: &str, head: &str) -> Option<OwnQuestion> {
    let ledger = snapshot.ledger.slices.get(id)?;
    Some(OwnQuestion {
        slice_id: id.to_owned(),
        basis: snapshot.plan.slice(id)?.basis_commit.clone()?,
        head: head.to_owned(),
        claimed: ledger.claimed.iter().cloned().collect(),
        earlier_bases: ledger.earlier_bases.clone(),
        arrivals: ledger.arrivals.clone(),
        earlier: ledger.earlier.map(|seq| seq.0),
    })
}

/// The committed slice's work, to be looked for at HEAD.
pub(super) fn ask_committed(snapshot: &Snapshot) -> Option<OwnQuestion> {
    let active = &snapshot.active;
    let id = active.slice_id.as_deref();
    own_question(
        snapshot,
        id.filter(|_| active.status == ActiveStatus::Committed)?,
    )
}

/// What the done slices rest on, to be looked for at HEAD where it is not the commit that was seen.
pub(super) fn standing_question(snapshot: &Snapshot, seen: &str) -> StandingQuestion {
    let mut question = StandingQuestion {
        seen: seen.to_owned(),
        ..StandingQuestion::default()
    };
    for slice in list_closed(snapshot) {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id);
        let accepted = ledger.and_then(|ledger| ledger.accepted.clone());
        let id = slice.slice_id.clone();
        question
            .survivals
            .extend(accepted.map(|accepted| (id, accepted)));
        let records = slice.evidence.iter().filter_map(Evidence::record);
        let stored = records.map(|record| AnchorQuestion::ask_stored(snapshot, slice, record));
        question.anchors.extend(stored);
    }
    question
}

/// Done slices, and those that were cancelled as there already.
fn list_closed(snapshot: &Snapshot) -> impl Iterator<Item = &Slice> {
    let slices = snapshot.plan.candidate_slices.iter();
    slices.filter(|slice| slice.rests_on_proof())
}

/// What HEAD lacks of the committed slice's work.
fn lacking<'a>(snapshot: &Snapshot, facts: &'a Facts) -> Option<&'a Survival> {
    let is_committed = snapshot.active.status == ActiveStatus::Committed;
    facts.committed.as_ref().filter(|_| is_committed)
}

/// That nothing of the committed slice's work is at HEAD while its commit is, with those among these
/// commits that took it away.
pub(super) fn tell_taken_back(
    snapshot: &Snapshot,
    facts: &Facts,
    others: &[&CommitSeen],
) -> Option<String> {
    let found = lacking(snapshot, facts).filter(|found| found.rest == Rest::None)?;
    let id = snapshot.active.slice_id.as_deref()?;
    let head = snapshot.ledger.slices.get(id)?.head.as_deref()?;
    Some(format!(
        "commit {} of slice `{id}` is on HEAD, and nothing of its work is there any more: not {}{}",
        short(head),
        list_names(&found.lost),
        by(&found.lost, others)
    ))
}

/// What of the committed slice's work HEAD lacks, where some of it is there.
pub(super) fn tell_part(
    snapshot: &Snapshot,
    facts: &Facts,
    others: &[&CommitSeen],
) -> Option<Finding> {
    let found = lacking(snapshot, facts).filter(|found| found.rest == Rest::Part)?;
    let id = snapshot.active.slice_id.as_deref()?;
    let places = [&found.lost[..], &found.rewritten[..]].concat();
    let what = format!(
        "HEAD holds only a part of the work of slice `{id}`, which is committed: not, or not as it was, {}{}",
        list_names(&places),
        by(&places, others)
    );
    Some(Finding::new(Code::ReboundInPart, what).at(id))
}

/// Slices that any re-ground opens again, as far as the facts tell.
pub(super) fn find_lost_done(
    snapshot: &Snapshot,
    facts: &Facts,
    others: &[&CommitSeen],
) -> Vec<Finding> {
    let lost = |slice: &Slice| {
        let id = &slice.slice_id;
        let is_done = slice.status == SliceStatus::Done;
        let survival = facts.survivals.get(id);
        let what = match survival.filter(|found| found.rest == Rest::None) {
            Some(found) => format!(
                "its work is not at HEAD any more: not {}{}",
                list_names(&found.lost),
                by(&found.lost, others)
            ),
            None => {
                let mut records = slice.evidence.iter().filter_map(Evidence::record);
                let gone = records.find(|record| {
                    let key = AnchorQuestion::ask_stored(snapshot, slice, record).key();
                    let answer = facts.anchors.get(&key);
                    answer.is_some_and(|answer| match answer.verdict {
                        Verdict::Missing => true,
                        Verdict::Changed => !is_done,
                        _ => false,
                    })
                })?;
                format!("what proves `{}` is gone: {}", gone.criterion, gone.anchor)
            }
        };
        let was = match is_done {
            true => "done",
            false => "cancelled as there already",
        };
        let what = format!(
            "slice `{id}` is {was} in the log, and {what}; any re-ground opens it again, and may change or cancel it"
        );
        Some(Finding::new(Code::CriterionLostProof, what).at(id.clone()))
    };
    list_closed(snapshot).filter_map(lost).collect()
}

/// The commits that changed these places.
fn by(places: &[String], others: &[&CommitSeen]) -> String {
    let is_at = |path: &String| {
        places.iter().any(|place| {
            let rest = place.strip_prefix(path.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        })
    };
    let others = others
        .iter()
        .filter(|commit| commit.paths.iter().any(is_at));
    let named: Vec<String> = others.map(|commit| short(&commit.id).to_owned()).collect();
    match named.is_empty() {
        true => String::new(),
        false => format!("; changed there by {}", list_names(&named)),
    }
}

fn list_names(names: &[String]) -> String {
    let named = names.iter().take(NAMED).cloned();
    let named = named.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
