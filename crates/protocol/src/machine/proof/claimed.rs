//! What a re-ground claims: each claim holds at HEAD, and none serves two criteria.

use super::place::Place;
use super::question::{ask_again, fresh_question, list_claims};
use super::text::{describe, many};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::{AnchorAnswer, AnchorQuestion, Required, Verdict};
use crate::machine::work::Work;
use crate::model::{Evidence, EvidenceClaim, EvidenceRecord, Reground, Slice};

/// Stamps every claim of the block into its slice's evidence; a claim that does
/// not hold refuses the report.
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
        let answer = work.facts.anchor(&question)?.clone();
        let id = question.slice_id.clone();
        let code = match answer.verdict {
            Verdict::Verified if !is_proof(&answer) => Code::EvidenceUnrelated,
            Verdict::Verified => {
                keep(work, block, claim, &question, &answer)?;
                continue;
            }
            Verdict::Malformed => Code::EvidenceMalformed,
            _ => Code::EvidenceUnverified,
        };
        wrong.push(Finding::new(code, describe(&question, &answer)).at(id));
    }
    match wrong.first().map(|finding| finding.code) {
        None => Ok(()),
        Some(code) => Err(Refusal::new(code, many(&wrong)).with(wrong)),
    }
}

/// It shows a text, or something that ran. A commit or somebody's word is no proof of a criterion.
pub(super) fn is_proof(answer: &AnchorAnswer) -> bool {
    answer.text.is_some() || answer.receipt.is_some()
}

/// Writes the record of a claim that holds.
fn keep(
    work: &mut Work,
    block: &Reground,
    claim: &EvidenceClaim,
    question: &AnchorQuestion,
    answer: &AnchorAnswer,
) -> Result<(), Refusal> {
    let id = &question.slice_id;
    let place = Place::of(&answer.target);
    if let Some(other) = find_stored(work, block, question, &place) {
        return Err(refuse_shared(&other, claim));
    }
    let record = EvidenceRecord {
        criterion: claim.criterion.clone(),
        anchor: claim.anchor.clone(),
        basis: claim.basis,
        receipt: answer.receipt.clone(),
        head_sha: work.head()?,
        recorded_at: work.now(),
        text: answer.text.clone(),
        held_at: answer.tests.as_ref().and(work.facts.head()?.tree.clone()),
        tests: answer.tests.clone(),
        retired: None,
    };
    let was = work.before.plan.slice(id);
    let was_accepted = was.is_some_and(Slice::rests_on_proof);
    let slice = work.find_planned(id)?;
    let is_accepted = was_accepted && slice.rests_on_proof();
    let mut replaced = None;
    slice.evidence.retain(|entry| match entry {
        Evidence::Record(old) if old.criterion == record.criterion => {
            replaced = Some((old.anchor.clone(), old.receipt.is_some()));
            false
        }
        _ => true,
    });
    let has_run = record.receipt.is_some();
    slice.evidence.push(Evidence::Record(record));
    if let Some((old, had_run)) = replaced.filter(|_| is_accepted) {
        if had_run && !has_run {
            let what = format!(
                "`{}` of slice `{id}`, which is closed, was proved by a run ({old}); {} is none and does not take its place",
                claim.criterion, claim.anchor
            );
            return Err(Refusal::new(Code::EvidenceUnrelated, what).replace_hints([
                "claim a test or a command, or take the slice up again with `reopen`",
            ]));
        }
        let what = format!(
            "`{}` of slice `{id}`, which is closed, was proved by {old} and is proved by {} now",
            claim.criterion, claim.anchor
        );
        work.remark(Code::ProofReplaced, id, what);
    }
    Ok(())
}

/// Another criterion that rests on this place by its stored proof: of the slice, and of every other one where it
/// is to be accepted.
pub(super) fn find_stored(
    work: &Work,
    block: &Reground,
    question: &AnchorQuestion,
    place: &Place,
) -> Option<String> {
    let is_claimed = matches!(question.required, Required::Claimed { .. });
    let counts = |slice: &&Slice| {
        let now = work.next.plan.slice(&slice.slice_id);
        slice.slice_id == question.slice_id || is_claimed && now.is_some_and(Slice::rests_on_proof)
    };
    let slices = work.before.plan.candidate_slices.iter();
    slices.filter(counts).find_map(|slice| {
        let is_there = |record: &&EvidenceRecord| {
            let criterion = &record.criterion;
            let stored = ask_again(work.before, block, slice, record);
            let found = work.facts.anchors.get(&stored.key());
            let is_other = slice.slice_id != question.slice_id || *criterion != question.criterion;
            is_other
                && list_claims(work.before, block, &slice.slice_id, criterion)
                    .next()
                    .is_none()
                && found.is_some_and(|found| Place::of(&found.target).is_one_with(place))
        };
        let mut records = slice.evidence.iter().filter_map(Evidence::record);
        records
            .find(is_there)
            .map(|record| record.criterion.clone())
    })
}

fn refuse_shared(other: &str, claim: &EvidenceClaim) -> Refusal {
    Refusal::new(
        Code::EvidenceShared,
        format!(
            "`{other}` and `{}` rest on the same proof ({})",
            claim.criterion, claim.anchor
        ),
    )
}

/// No two criteria share a claim: of one slice, or of a slice that is to be accepted and any other.
pub(in crate::machine) fn require_distinct(work: &Work, block: &Reground) -> Result<(), Refusal> {
    let mut seen: Vec<(AnchorQuestion, Place)> = Vec::new();
    for claim in &block.evidence {
        let Some(question) = fresh_question(work.before, block, claim) else {
            continue;
        };
        let place = Place::of(&work.facts.anchor(&question)?.target);
        let is_claimed =
            |question: &AnchorQuestion| matches!(question.required, Required::Claimed { .. });
        let other = seen.iter().find(|(other, there)| {
            let is_same_slice = other.slice_id == question.slice_id;
            let may_share = !is_same_slice && !is_claimed(other) && !is_claimed(&question);
            let is_same_criterion = is_same_slice && other.criterion == question.criterion;
            !may_share && !is_same_criterion && there.is_one_with(&place)
        });
        if let Some((other, _)) = other {
            return Err(refuse_shared(&other.criterion, claim));
        }
        seen.push((question, place));
    }
    Ok(())
}
