//! Is this slice proven: its review, its audit, its receipts and its criteria, at its head.

use super::answered::Answered;
use super::control_plane::{sound, state};
use super::criteria::{Judge, Rerun};
use super::no_log::log_missing;
use super::outcome::Outcome;
use super::proof::tell_strength;
use super::{goal, word};
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::machine::{Head, current_audit, current_review, short};
use cook_core::model::{Accepted, Slice, SliceStatus, Snapshot};
use cook_git::Repo;

/// Recomputes the log, and looks at one slice at the commit that it was accepted at.
///
/// # Errors
/// `slice_unknown`; git that does not answer, a log that cannot be read.
pub fn slice(workspace: &Workspace, id: &str, rerun: Rerun) -> Result<Answered, Failure> {
    let asks = format!("is slice `{id}` proven?");
    let mut outcome = state(workspace)?;
    let Some(snapshot) = sound(workspace, &outcome)? else {
        if !outcome.has_found(Code::LogDamaged) {
            outcome.findings.push(log_missing(workspace));
        }
        return Ok(Answered::without_log(&asks, outcome));
    };
    // Nobody reviews a goal, which has one slice.
    if snapshot.goal().is_some() && snapshot.plan.slice(id).is_some() {
        return goal::answer(workspace, &snapshot, rerun, outcome);
    }
    let Some(slice) = snapshot.plan.slice(id) else {
        let what = format!("the plan has no slice `{id}`");
        return Err(Failure::unknown(Code::SliceUnknown, what));
    };
    let mut answered = Answered {
        asks,
        answer: String::new(),
        has_log: true,
        commit: None,
        criteria: Vec::new(),
        base: None,
        outcome: Outcome::default(),
    };
    let accepted = snapshot.ledger.slices.get(id);
    let accepted = accepted.and_then(|ledger| ledger.accepted.as_ref());
    match accepted.filter(|_| slice.status == SliceStatus::Done) {
        Some(accepted) => {
            answered.answer = format!("at its head `{}`", short(&accepted.head));
            acceptance(workspace, slice, accepted, &mut outcome)?;
            let at = find_head(&workspace.repo, &accepted.head)?;
            if let Some(at) = &at {
                let judge = Judge::new(workspace, &snapshot, at, rerun);
                answered.criteria = judge.criteria(Some(id))?;
            } else {
                let code = match workspace.repo.is_shallow() {
                    true => Code::HistoryShallow,
                    false => Code::ProofBroken,
                };
                let what = format!("its head {} is not in this clone", short(&accepted.head));
                outcome.find(code, what, id);
            }
        }
        None => {
            answered.answer = "it is not done".to_owned();
            outcome.find(Code::SliceNotProven, why_not(slice), id);
        }
    }
    let is_shallow = workspace.repo.is_shallow();
    let wrong = answered.criteria.iter();
    let wrong = wrong.filter_map(|criterion| criterion.finding(is_shallow));
    outcome.findings.extend(wrong);
    word::say(workspace, &mut answered.answer, &mut outcome)?;
    answered.outcome = outcome.sort();
    Ok(answered)
}

fn why_not(slice: &Slice) -> String {
    match slice.status {
        SliceStatus::Done => "it came in as done, and no acceptance is on record".to_owned(),
        status => format!("it is {}", status.id().replace('_', " ")),
    }
}

fn find_head(repo: &Repo, head: &str) -> Result<Option<Head>, Failure> {
    let Some(commit) = repo.resolve(head)? else {
        return Ok(None);
    };
    Ok(Some(Head {
        tree: Some(repo.find_tree(&commit)?),
        commit: Some(commit),
        branch: None,
    }))
}

/// The review, the audit and the receipts that it was accepted with.
fn acceptance(
    workspace: &Workspace,
    slice: &Slice,
    accepted: &Accepted,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let store = workspace.store()?;
    let seq = accepted.seq.0.saturating_sub(1);
    let before: Snapshot = store.entry(&seq.to_string())?.snapshot;
    let id = slice.slice_id.as_str();
    let mut lacking = |what: String| {
        let finding = Finding::new(Code::SliceNotProven, what);
        outcome.findings.push(finding.at(id.to_owned()));
    };
    match current_review(&before) {
        Some(review) if !review.rejects() => {}
        Some(_) => lacking("the review of its head did not find it acceptable".to_owned()),
        None => lacking("no review of its head is on record".to_owned()),
    }
    if current_audit(&before).is_none() && before.assurance().is_strict() {
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
        outcome.add_checked(tell_strength(id, note));
    }
    if let Some(assurance) = before.describe_assurance() {
        outcome.add_checked(format!(
            "assurance under which it was accepted: {assurance}"
        ));
    }
    outcome.add_checked(format!(
        "{} and {} that it was accepted with",
        match current_audit(&before) {
            Some(_) => "the review, the audit",
            None => "the review",
        },
        cook_core::diagnostic::count_noun(ids.len() as u64, "receipt")
    ));
    Ok(())
}
