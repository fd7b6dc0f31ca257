//! Criteria and their proof (`protocol/completion.md#acceptance-criteria`): which anchors a
//! re-ground must have verified, what each one is worth, and when a slice has enough.

use super::facts::{AnchorAnswer, AnchorQuestion, Verdict};
use super::work::Work;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{
    Decision, Evidence, EvidenceClaim, EvidenceRecord, Reground, Slice, SliceStatus, Snapshot,
};
use std::collections::{BTreeMap, BTreeSet};

/// The slice a claim speaks of: the one it names, else the one that is
/// reconciled, else the active one, else the only one with that criterion.
pub(super) fn claim_slice(
    snapshot: &Snapshot,
    block: &Reground,
    claim: &EvidenceClaim,
) -> Option<String> {
    if let Some(id) = &claim.slice_id {
        return Some(id.clone());
    }
    if let Some(reconcile) = &block.reconcile {
        return Some(reconcile.slice_id.clone());
    }
    if super::drift::in_work(snapshot) {
        return snapshot.active.slice_id.clone();
    }
    let mut owners = snapshot
        .plan
        .candidate_slices
        .iter()
        .filter(|slice| slice.acceptance_criteria.contains(&claim.criterion));
    match (owners.next(), owners.next()) {
        (Some(only), None) => Some(only.slice_id.clone()),
        _ => None,
    }
}

/// The slice this block wants accepted.
fn accepted(block: &Reground) -> Option<&str> {
    block
        .reconcile
        .as_ref()
        .filter(|reconcile| reconcile.decision == Decision::Accepted)
        .map(|reconcile| reconcile.slice_id.as_str())
}

/// Basis and head of a slice that is to be accepted.
fn span(snapshot: &Snapshot, id: &str) -> Option<(String, String)> {
    let basis = snapshot.plan.slice(id)?.basis_commit.clone()?;
    let head = snapshot.ledger.slices.get(id)?.head.clone()?;
    Some((basis, head))
}

fn fresh_question(
    snapshot: &Snapshot,
    block: &Reground,
    claim: &EvidenceClaim,
) -> Option<AnchorQuestion> {
    let slice_id = claim_slice(snapshot, block, claim)?;
    let changed_between = if accepted(block) == Some(slice_id.as_str()) {
        span(snapshot, &slice_id)
    } else {
        None
    };
    Some(AnchorQuestion {
        slice_id,
        criterion: claim.criterion.clone(),
        anchor: claim.anchor.clone(),
        basis: claim.basis,
        stamped_at: None,
        changed_between,
    })
}

fn stored_question(
    snapshot: &Snapshot,
    block: &Reground,
    slice: &Slice,
    record: &EvidenceRecord,
) -> AnchorQuestion {
    let changed_between = if accepted(block) == Some(slice.slice_id.as_str()) {
        span(snapshot, &slice.slice_id)
    } else {
        None
    };
    AnchorQuestion {
        changed_between,
        ..AnchorQuestion::stored(slice, record)
    }
}

/// Every anchor that must be looked at before this block can be judged.
pub(super) fn questions(snapshot: &Snapshot, block: &Reground) -> BTreeSet<AnchorQuestion> {
    let mut by_key: BTreeMap<String, AnchorQuestion> = BTreeMap::new();
    for slice in &snapshot.plan.candidate_slices {
        let wanted =
            slice.status == SliceStatus::Done || accepted(block) == Some(slice.slice_id.as_str());
        for record in slice
            .evidence
            .iter()
            .filter_map(Evidence::record)
            .filter(|_| wanted)
        {
            let question = stored_question(snapshot, block, slice, record);
            by_key.insert(question.key(), question);
        }
    }
    for claim in &block.evidence {
        if let Some(question) = fresh_question(snapshot, block, claim) {
            by_key.insert(question.key(), question);
        }
    }
    by_key.into_values().collect()
}

/// What a done slice's stored proof is worth now.
#[derive(Debug, Default)]
pub(super) struct Lost {
    /// Gone: the slice is reopened with these findings.
    pub gone: Vec<String>,
    /// Changed: must be anchored again in this report.
    pub changed: Vec<String>,
}

/// Re-verifies one done slice; anchors that moved are followed.
pub(super) fn revalidate(work: &mut Work, block: &Reground, id: &str) -> Result<Lost, Refusal> {
    let mut lost = Lost::default();
    let Some(slice) = work.before.plan.slice(id) else {
        return Ok(lost);
    };
    let mut evidence = slice.evidence.clone();
    for entry in &mut evidence {
        let criterion = match &*entry {
            Evidence::Record(record) => record.criterion.clone(),
            Evidence::Text(_) => continue,
        };
        if claims_for(work.before, block, id, &criterion)
            .next()
            .is_some()
        {
            continue;
        }
        let Evidence::Record(record) = entry else {
            continue;
        };
        let question = stored_question(work.before, block, slice, record);
        let answer = work.facts.anchor(&question)?;
        match answer.verdict {
            Verdict::Verified => {}
            Verdict::Moved => {
                if let Some(now) = &answer.now {
                    record.anchor = now.clone();
                    record.head_sha = work.facts.head()?.commit.clone().unwrap_or_default();
                }
            }
            Verdict::Changed => lost.changed.push(describe(&question, answer)),
            Verdict::Missing => lost.gone.push(describe(&question, answer)),
            Verdict::Stale | Verdict::Unverifiable | Verdict::Malformed => {
                work.findings.push(
                    Finding::new(Code::CriterionLostProof, describe(&question, answer)).at(id),
                );
            }
        }
    }
    if slice.acceptance_criteria.is_empty() {
        lost.gone
            .push("it never said what must hold, so nothing proves it".to_owned());
    }
    for criterion in &slice.acceptance_criteria {
        let stamped = evidence
            .iter()
            .filter_map(Evidence::record)
            .any(|r| &r.criterion == criterion);
        if !stamped
            && claims_for(work.before, block, id, criterion)
                .next()
                .is_none()
        {
            lost.gone
                .push(format!("`{criterion}` has no evidence that can be checked"));
        }
    }
    if let Some(slice) = work.next.plan.slice_mut(id) {
        slice.evidence = evidence;
    }
    Ok(lost)
}

fn describe(question: &AnchorQuestion, answer: &AnchorAnswer) -> String {
    format!(
        "`{}` ({}): {}",
        question.criterion, question.anchor, answer.why
    )
}

fn claims_for<'a>(
    snapshot: &'a Snapshot,
    block: &'a Reground,
    id: &'a str,
    criterion: &'a str,
) -> impl Iterator<Item = &'a EvidenceClaim> {
    block.evidence.iter().filter(move |claim| {
        claim.criterion == criterion && claim_slice(snapshot, block, claim).as_deref() == Some(id)
    })
}

/// Stamps every claim of the block into its slice's evidence; a claim that does
/// not verify refuses the report.
pub(super) fn stamp(work: &mut Work, block: &Reground) -> Result<(), Refusal> {
    let mut wrong = Vec::new();
    for claim in &block.evidence {
        let Some(question) = fresh_question(work.before, block, claim) else {
            return Err(Refusal::new(
                Code::SliceUnknown,
                format!(
                    "no slice is named for the evidence of `{}`",
                    claim.criterion
                ),
            ));
        };
        let answer = work.facts.anchor(&question)?;
        let id = question.slice_id.clone();
        match answer.verdict {
            Verdict::Verified if !answer.related && question.changed_between.is_some() => {
                wrong.push(
                    Finding::new(Code::EvidenceUnrelated, describe(&question, answer)).at(id),
                );
                continue;
            }
            Verdict::Verified => {}
            Verdict::Malformed => {
                wrong.push(
                    Finding::new(Code::EvidenceMalformed, describe(&question, answer)).at(id),
                );
                continue;
            }
            _ => {
                wrong.push(
                    Finding::new(Code::EvidenceUnverified, describe(&question, answer)).at(id),
                );
                continue;
            }
        }
        let record = EvidenceRecord {
            criterion: claim.criterion.clone(),
            anchor: claim.anchor.clone(),
            basis: claim.basis,
            receipt: answer.receipt.clone(),
            head_sha: work.head()?,
            recorded_at: work.now(),
        };
        let Some(slice) = work.next.plan.slice_mut(&id) else {
            return Err(Refusal::new(
                Code::SliceUnknown,
                format!("no slice `{id}` in the plan"),
            ));
        };
        if let Some(other) = slice
            .evidence
            .iter()
            .filter_map(Evidence::record)
            .find(|other| other.anchor == record.anchor && other.criterion != record.criterion)
        {
            return Err(Refusal::new(
                Code::EvidenceShared,
                format!(
                    "`{}` and `{}` rest on the same proof ({})",
                    other.criterion, record.criterion, record.anchor
                ),
            ));
        }
        slice.evidence.retain(
            |entry| !matches!(entry, Evidence::Record(old) if old.criterion == record.criterion),
        );
        slice.evidence.push(Evidence::Record(record));
    }
    match wrong.first().map(|finding| finding.code) {
        None => Ok(()),
        Some(code) => Err(Refusal::new(code, many(&wrong)).with(wrong)),
    }
}

fn many(findings: &[Finding]) -> String {
    match findings {
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len()),
        [] => String::new(),
    }
}

/// Every criterion of a slice has proof of its own that verifies and that the
/// slice's commits produced. Refused otherwise; this is the only way to `done`.
pub(super) fn require_complete(work: &mut Work, block: &Reground, id: &str) -> Result<(), Refusal> {
    let Some(slice) = work.next.plan.slice(id).cloned() else {
        return Err(Refusal::new(
            Code::SliceUnknown,
            format!("no slice `{id}` in the plan"),
        ));
    };
    let mut wrong = Vec::new();
    let mut targets: Vec<(Place, String)> = Vec::new();
    let mut evidence = slice.evidence.clone();
    for criterion in &slice.acceptance_criteria {
        let Some(entry) = evidence.iter_mut().find_map(|entry| match entry {
            Evidence::Record(record) if &record.criterion == criterion => Some(record),
            _ => None,
        }) else {
            wrong.push(
                Finding::new(
                    Code::EvidenceMissing,
                    format!("`{criterion}` has no evidence of its own"),
                )
                .at(id),
            );
            continue;
        };
        let question = question_for(work.before, block, &slice, entry);
        let answer = work.facts.anchor(&question)?;
        let place = Place::of(&answer.target);
        let holds = matches!(answer.verdict, Verdict::Verified | Verdict::Moved);
        if !holds {
            wrong.push(Finding::new(Code::EvidenceUnverified, describe(&question, answer)).at(id));
        } else if !answer.related {
            wrong.push(Finding::new(Code::EvidenceUnrelated, describe(&question, answer)).at(id));
        } else if let Some((_, other)) = targets.iter().find(|(one, _)| one.is_one_with(&place)) {
            wrong.push(
                Finding::new(
                    Code::EvidenceShared,
                    format!(
                        "`{other}` and `{criterion}` rest on the same proof ({})",
                        entry.anchor
                    ),
                )
                .at(id),
            );
        }
        targets.push((place, criterion.clone()));
        if let Some(now) = answer
            .now
            .as_ref()
            .filter(|_| answer.verdict == Verdict::Moved)
        {
            entry.anchor = now.clone();
            entry.head_sha = work.facts.head()?.commit.clone().unwrap_or_default();
        }
    }
    if let Some(code) = wrong.first().map(|finding| finding.code) {
        return Err(Refusal::new(code, many(&wrong)).with(wrong));
    }
    if let Some(slice) = work.next.plan.slice_mut(id) {
        slice.evidence = evidence;
    }
    Ok(())
}

/// The question whose answer speaks for this record: the fresh claim it was
/// stamped from in this block, or the stored one.
fn question_for(
    snapshot: &Snapshot,
    block: &Reground,
    slice: &Slice,
    record: &EvidenceRecord,
) -> AnchorQuestion {
    claims_for(snapshot, block, &slice.slice_id, &record.criterion)
        .filter(|claim| claim.anchor == record.anchor)
        .find_map(|claim| fresh_question(snapshot, block, claim))
        .unwrap_or_else(|| stored_question(snapshot, block, slice, record))
}

/// A criterion may leave a slice only with proof, given in the same report.
pub(super) fn may_drop(snapshot: &Snapshot, block: &Reground, id: &str, criterion: &str) -> bool {
    claims_for(snapshot, block, id, criterion).next().is_some()
}

/// The anchors by which a criterion leaves a slice.
pub(super) fn dropped_by(
    snapshot: &Snapshot,
    block: &Reground,
    id: &str,
    criterion: &str,
) -> String {
    let claims = claims_for(snapshot, block, id, criterion);
    let anchors: Vec<String> = claims.map(|claim| format!("`{}`", claim.anchor)).collect();
    anchors.join(", ")
}

/// The block's plan leaves the criterion out, and the plan before has it.
fn is_dropped(snapshot: &Snapshot, block: &Reground, question: &AnchorQuestion) -> bool {
    let had = snapshot
        .plan
        .slice(&question.slice_id)
        .is_some_and(|slice| slice.acceptance_criteria.contains(&question.criterion));
    let keeps = block.plan.as_ref().is_none_or(|plan| {
        plan.candidate_slices
            .iter()
            .filter(|planned| planned.slice_id == question.slice_id)
            .any(|planned| planned.acceptance_criteria.contains(&question.criterion))
    });
    had && !keeps
}

/// Proof that several criteria share: one anchor may serve one criterion of a slice, and one
/// dropped criterion of the whole plan.
pub(super) fn require_distinct(work: &Work, block: &Reground) -> Result<(), Refusal> {
    let mut seen: Vec<(String, Place, &str)> = Vec::new();
    for claim in &block.evidence {
        let Some(question) = fresh_question(work.before, block, claim) else {
            continue;
        };
        let place = Place::of(&work.facts.anchor(&question)?.target);
        let slice_id = match is_dropped(work.before, block, &question) {
            true => String::new(),
            false => question.slice_id.clone(),
        };
        if let Some((_, _, other)) = seen.iter().find(|(of, shown, criterion)| {
            *of == slice_id && *criterion != claim.criterion && shown.is_one_with(&place)
        }) {
            return Err(Refusal::new(
                Code::EvidenceShared,
                format!(
                    "`{other}` and `{}` rest on the same proof ({})",
                    claim.criterion, claim.anchor
                ),
            ));
        }
        seen.push((slice_id, place, &claim.criterion));
    }
    Ok(())
}

/// Where a proof stands. Two are one when they are the same place, or lines of one file that
/// overlap: a range that is one line longer shows nothing new.
enum Place {
    Lines {
        path: String,
        first: usize,
        last: usize,
    },
    Other(String),
}

impl Place {
    fn of(target: &str) -> Self {
        let lines = || {
            let (path, range) = target.rsplit_once('#')?;
            let (first, last) = range.split_once('-')?;
            Some(Self::Lines {
                path: path.to_owned(),
                first: first.parse().ok()?,
                last: last.parse().ok()?,
            })
        };
        lines().unwrap_or_else(|| Self::Other(target.to_owned()))
    }

    fn is_one_with(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Lines { path, first, last },
                Self::Lines {
                    path: of,
                    first: from,
                    last: to,
                },
            ) => path == of && first <= to && from <= last,
            (Self::Other(one), Self::Other(other)) => one == other,
            _ => false,
        }
    }
}
