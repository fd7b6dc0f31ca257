//! The one way into the brief: a change is laid against what is there, and every
//! earlier entry is kept, followed, superseded, demoted or retired, each with a
//! cause. Anything else is a `silent_drop`.

mod end;
mod next;
mod take;
mod undo;

pub use next::{Author, Incoming, Reconciled};
pub use undo::undo;

use crate::brief::artifact::Artifact;
use crate::brief::field::settle;
use crate::brief::render::Brief;
use crate::diagnostic::{Code, Refusal};
use crate::model::{BriefChange, BriefDocument, BriefLine, BriefOutcome, MAX_FIELD_CHARS, Slot};
use next::{Next, Outcomes};
use std::collections::{BTreeMap, BTreeSet};

/// Lays a change against the brief.
///
/// # Errors
/// `silent_drop` with every entry that would be lost, `user_only` for a forbid,
/// `brief_entry_unknown`, `brief_contradictory`,
/// `brief_full`, `brief_invalid`.
pub fn reconcile(
    prior: &BriefDocument,
    change: &BriefChange,
    incoming: &Incoming,
    author: &Author,
) -> Result<Reconciled, Refusal> {
    let lines = normalise_lines(&change.entries)?;
    let mut next = Next {
        prior,
        incoming,
        author,
        live: Vec::new(),
        matched: BTreeSet::new(),
        records: Vec::new(),
        findings: Vec::new(),
    };
    let outcomes = by_entry(prior, &change.reconciliation)?;
    next.begin(&outcomes)?;
    for (number, line) in lines.into_iter().enumerate() {
        let stamp = incoming.stamps.get(number).cloned().flatten();
        next.take(line, stamp, change.whole, &outcomes)?;
    }
    if change.whole {
        next.refuse_drops(&outcomes)?;
    }
    // First, so that a claim which has just become a question is nobody's cause.
    next.follow_and_demote(&outcomes)?;
    next.end(&outcomes)?;
    next.finish(change)
}

/// The brief as it would be if nothing were added: what a reader is shown before the
/// next change writes it down. Causes that only concern the log are not kept.
pub fn close(
    prior: &BriefDocument,
    incoming: &Incoming,
    author: &Author,
) -> Result<Reconciled, Refusal> {
    reconcile(prior, &BriefChange::default(), incoming, author)
}

/// The entries as one artifact would hold them, each field checked.
fn normalise_lines(lines: &[BriefLine]) -> Result<Vec<BriefLine>, Refusal> {
    let artifact = Artifact {
        brief: Brief {
            task: "t".to_owned(),
            done_when: "d".to_owned(),
            lines: lines.to_vec(),
        },
        ..Artifact::default()
    };
    // Through the same reader as an artifact, so that none takes more than another. It
    // sorts by slot; the order of the change is found again by place within the slot.
    let mut artifact = artifact;
    for line in &mut artifact.brief.lines {
        for (_, text) in line.texts_mut() {
            *text = settle(text);
        }
    }
    let mut ignored = Vec::new();
    let read = Artifact::from_value(&artifact.to_json(), &mut ignored)
        .map_err(|breach| Refusal::new(Code::BriefInvalid, breach.to_string()))?;
    let mut by_slot: BTreeMap<Slot, std::vec::IntoIter<BriefLine>> = Slot::ALL
        .into_iter()
        .map(|slot| {
            let own: Vec<BriefLine> = read.brief.of(slot).cloned().collect();
            (slot, own.into_iter())
        })
        .collect();
    Ok(lines
        .iter()
        .filter_map(|line| by_slot.get_mut(&line.slot)?.next())
        .collect())
}

/// Each cause beside the entry it speaks of.
fn by_entry<'a>(
    prior: &BriefDocument,
    reconciliation: &'a [BriefOutcome],
) -> Result<Outcomes<'a>, Refusal> {
    let mut outcomes = Outcomes::new();
    for outcome in reconciliation {
        if !prior.entries.iter().any(|entry| entry.id == outcome.id) {
            return Err(Refusal::new(
                Code::BriefEntryUnknown,
                format!("no live entry has the id `{}`", outcome.id),
            ));
        }
        if outcomes.insert(&outcome.id, outcome).is_some() {
            return Err(Refusal::new(
                Code::BriefContradictory,
                format!("`{}` is named twice", outcome.id),
            ));
        }
        if outcome.why.trim().is_empty() || outcome.why.chars().count() > MAX_FIELD_CHARS {
            return Err(Refusal::new(
                Code::BriefInvalid,
                format!(
                    "`{}` needs a reason of at most {MAX_FIELD_CHARS} characters",
                    outcome.id
                ),
            ));
        }
    }
    Ok(outcomes)
}
