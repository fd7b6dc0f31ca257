//! What a re-ground claims: each claim verifies, and none serves two criteria.

use super::place::Place;
use super::question::{claims_for, fresh_question};
use super::text::{describe, many};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::{AnchorQuestion, Verdict};
use crate::machine::work::Work;
use crate::model::{Evidence, EvidenceRecord, Reground, Slice, Snapshot};

/// Stamps every claim of the block into its slice's evidence; a claim that does
/// not verify refuses the report.
pub(in crate::machine) fn stamp(work: &mut Work, block: &Reground) -> Result<(), Refusal> {
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
            Verdict::Verified if !answer.related && question.work.is_some() => {
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
        let place = Place::of(&answer.target);
        let stored = work.before.plan.slice(&id);
        for other in stored
            .iter()
            .flat_map(|slice| &slice.evidence)
            .filter_map(Evidence::record)
        {
            let given_anew = claims_for(work.before, block, &id, &other.criterion)
                .next()
                .is_some();
            let counts =
                stored.is_some_and(|slice| slice.acceptance_criteria.contains(&other.criterion));
            if other.criterion == claim.criterion || given_anew || !counts {
                continue;
            }
            let question =
                AnchorQuestion::stored(work.before, stored.unwrap_or(&Slice::default()), other);
            let Some(found) = work.facts.anchors.get(&question.key()) else {
                continue;
            };
            if Place::of(&found.target).is_one_with(&place) {
                return Err(Refusal::new(
                    Code::EvidenceShared,
                    format!(
                        "`{}` and `{}` rest on the same proof ({})",
                        other.criterion, claim.criterion, claim.anchor
                    ),
                ));
            }
        }
        let slice = work.planned(&id)?;
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

/// Proof that several criteria share: one anchor may serve one criterion of a slice, and one
/// dropped criterion of the whole plan.
pub(in crate::machine) fn require_distinct(work: &Work, block: &Reground) -> Result<(), Refusal> {
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
