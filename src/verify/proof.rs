//! The proof of done slices, checked again: which criterion lost it, and how.

use super::asked::list_asked;
use super::criteria::{Judge, Rerun};
use super::outcome::Outcome;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::{FactSet, Verdict};
use cook_core::model::{Caches, Snapshot, StrengthNote};

pub(super) fn check(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let mut set = FactSet {
        head: true,
        existing_receipts_only: workspace.caches == Caches::Kept,
        ..FactSet::default()
    };
    let mut with_record = Vec::new();
    for asked in list_asked(snapshot, None) {
        if asked.record.is_some() {
            set.anchors.insert(asked.question(snapshot));
            with_record.push(asked);
        } else {
            outcome.find(
                Code::EvidenceImported,
                format!("`{}` has no evidence that can be checked", asked.criterion),
                &asked.slice_id,
            );
        }
    }
    if set.anchors.is_empty() {
        return Ok(());
    }
    let facts = workspace.measure(&set, Some(snapshot))?;
    let head = workspace.repo.head()?;
    let judge = Judge::new(workspace, snapshot, &head, Rerun::No);
    let (mut verified, mut recorded) = (0, 0);
    for asked in with_record {
        let question = asked.question(snapshot);
        let Some(answer) = facts.anchors.get(&question.key()) else {
            continue;
        };
        let code = match answer.verdict {
            Verdict::Verified | Verdict::Moved => {
                verified += 1;
                continue;
            }
            Verdict::Changed | Verdict::Stale => Code::ProofStale,
            // It ran on another machine.
            _ if judge.is_recorded(asked, answer)? => {
                recorded += 1;
                continue;
            }
            Verdict::Missing | Verdict::Unverifiable | Verdict::Malformed => Code::ProofBroken,
        };
        outcome.find(
            code,
            format!(
                "`{}` rests on {}: {}",
                question.criterion, question.anchor, answer.why
            ),
            &question.slice_id,
        );
    }
    let elsewhere = match recorded {
        0 => String::new(),
        recorded => format!(", {recorded} by the log alone"),
    };
    outcome.add_checked(format!(
        "{verified} of {} proofs of done slices hold{elsewhere}",
        set.anchors.len()
    ));
    Ok(())
}

/// What planted defects said of each accepted slice.
pub(super) fn add_strengths(snapshot: &Snapshot, outcome: &mut Outcome) {
    for (id, ledger) in &snapshot.ledger.slices {
        if let (Some(_), Some(note)) = (&ledger.accepted, &ledger.strength) {
            outcome.add_checked(tell_strength(id, note));
        }
    }
}

/// What planted defects said of the gates that a slice was accepted with, by the log.
pub(super) fn tell_strength(id: &str, note: &StrengthNote) -> String {
    let mut told = format!("strength of the gates over `{id}`: {}", note.tell());
    for waiver in &note.waived {
        told.push_str(&format!("; waived `{}`: {}", waiver.id, waiver.why));
    }
    told
}
