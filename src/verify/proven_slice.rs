//! Is this slice proven: its review, its audit, its receipts and its criteria, at its head.

use super::control_plane::check_state;
use super::criterion_proof::{Judge, Rerun};
use super::reached_goal;
use super::verification::Answered;
use super::verify_outcome::Outcome;
use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure, count_noun};
use cook_protocol::machine::{Head, current_audit, current_review, short};
use cook_protocol::model::{Accepted, Slice, SliceStatus, Snapshot, StrengthNote};

/// Recomputes the log, and looks at one slice at the commit that it was accepted at.
///
/// # Errors
/// `slice_unknown`; git that does not answer, a log that cannot be read.
pub fn slice(workspace: &Workspace, id: &str, rerun: Rerun) -> Result<Answered, Failure> {
    let outcome = check_state(workspace)?;
    let snapshot = outcome.sound_log(workspace)?;
    let mut answered = Answered::new(
        format!("is slice `{id}` proven?"),
        "it is not done",
        outcome,
    );
    let Some(snapshot) = snapshot else {
        return Ok(answered.without_log(workspace));
    };
    let Some(slice) = snapshot.plan.slice(id) else {
        let what = format!("the plan has no slice `{id}`");
        return Err(Failure::unknown(Code::SliceUnknown, what));
    };
    // Nobody reviews a goal, which has one slice.
    if snapshot.goal().is_some() {
        return reached_goal::answer(workspace, &snapshot, rerun, answered.outcome);
    }
    let ledger = snapshot.ledger.slices.get(id);
    let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
    let Some(accepted) = accepted.filter(|_| slice.status == SliceStatus::Done) else {
        let why = match slice.status {
            SliceStatus::Done => "it came in as done, and no acceptance is on record".to_owned(),
            status => format!("it is {}", status.id().replace('_', " ")),
        };
        answered.outcome.find_at(Code::SliceNotProven, why, id);
        return answered.finish(workspace);
    };
    answered.answer = format!("at its head `{}`", short(&accepted.head));
    check_acceptance(workspace, slice, accepted, &mut answered.outcome)?;
    match workspace.repo.resolve(&accepted.head)? {
        Some(commit) => {
            let at = Head {
                tree: Some(workspace.repo.find_tree(&commit)?),
                commit: Some(commit),
                branch: None,
            };
            let judge = Judge::new(workspace, &snapshot, &at, rerun);
            answered.criteria = judge.criteria(Some(id))?;
        }
        None => {
            let code = match workspace.repo.is_shallow() {
                true => Code::HistoryShallow,
                false => Code::ProofBroken,
            };
            let what = format!("its head {} is not in this clone", short(&accepted.head));
            answered.outcome.find_at(code, what, id);
        }
    }
    answered.finish(workspace)
}

/// The review, the audit and the receipts that it was accepted with.
fn check_acceptance(
    workspace: &Workspace,
    slice: &Slice,
    accepted: &Accepted,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let store = workspace.store()?;
    let seq = accepted.seq.0.saturating_sub(1);
    let before: Snapshot = store.entry(&seq.to_string())?.snapshot;
    let id = slice.slice_id.as_str();
    let mut lacking = |what: String| outcome.find_at(Code::SliceNotProven, what, id);
    match current_review(&before) {
        Some(review) if !review.rejects() => {}
        Some(_) => lacking("the review of its head did not find it acceptable".to_owned()),
        None => lacking("no review of its head is on record".to_owned()),
    }
    let audit = current_audit(&before);
    if audit.is_none() && before.assurance().is_strict() {
        lacking("no audit of its head is on record".to_owned());
    }
    let ledger = before.ledger.slices.get(id);
    let ids = ledger.map_or(&[][..], |ledger| &ledger.receipts);
    let tree = ledger.and_then(|ledger| ledger.head_tree.as_deref());
    let kept = store.receipts()?;
    for id in ids {
        match kept.get(id) {
            Some(receipt) if receipt.has_passed() && receipt.tree_oid.as_deref() == tree => {}
            Some(receipt) if receipt.has_passed() => {
                lacking(format!("the receipt {} is of another tree", short(id)));
            }
            Some(receipt) => lacking(format!("`{}` {}", receipt.command, receipt.ending())),
            None => lacking(format!("the log does not hold the receipt {}", short(id))),
        }
    }
    if let Some(note) = ledger.and_then(|ledger| ledger.strength.as_ref()) {
        outcome.add_checked(describe_strength(id, note));
    }
    if let Some(assurance) = before.describe_assurance() {
        outcome.add_checked(format!(
            "assurance under which it was accepted: {assurance}"
        ));
    }
    let audit = audit.map_or("", |_| ", the audit");
    let receipts = count_noun(ids.len() as u64, "receipt");
    outcome.add_checked(format!(
        "the review{audit} and {receipts} that it was accepted with"
    ));
    Ok(())
}

/// What planted defects said of the gates that a slice was accepted with, by the log.
pub(super) fn describe_strength(id: &str, note: &StrengthNote) -> String {
    let mut told = format!("strength of the gates over `{id}`: {}", note.tell());
    for waiver in &note.waived {
        told.push_str(&format!("; waived `{}`: {}", waiver.id, waiver.why));
    }
    told
}
