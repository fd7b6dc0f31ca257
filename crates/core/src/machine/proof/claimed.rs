//! What a re-ground claims: each claim verifies, and none serves two criteria.

use super::place::Place;
use super::question::{fresh_question, list_claims};
use super::text::{describe, many};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::{AnchorAnswer, AnchorQuestion, Verdict, WorkOf};
use crate::machine::work::Work;
use crate::model::{Evidence, EvidenceClaim, EvidenceRecord, Reground, SliceStatus, Snapshot};

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
            Verdict::Verified if let Some(why) = misfit(work, block, &question, answer) => {
                let what = format!("{}; {why}", describe(&question, answer));
                wrong.push(Finding::new(Code::EvidenceUnrelated, what).at(id));
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
        let stored = find_stored(work, block, &question, &place);
        if let Some(other) = stored.or_else(|| find_standing(work, block, &question, &place)) {
            return Err(refuse_shared(&other, claim));
        }
        let before = work.before;
        let slice = work.find_planned(&id)?;
        if let Some(other) = slice
            .evidence
            .iter()
            .filter_map(Evidence::record)
            .find(|other| {
                let again = list_claims(before, block, &id, &other.criterion);
                other.anchor == record.anchor
                    && other.criterion != record.criterion
                    && again.count() == 0
            })
        {
            return Err(refuse_shared(&other.criterion, claim));
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

/// Another criterion of the slice that rests on this place by its stored proof.
fn find_stored(
    work: &Work,
    block: &Reground,
    question: &AnchorQuestion,
    place: &Place,
) -> Option<String> {
    let slice = work.before.plan.slice(&question.slice_id)?;
    let is_there = |record: &&EvidenceRecord| {
        let criterion = &record.criterion;
        let stored = AnchorQuestion::ask_stored(work.before, slice, record);
        let found = work.facts.anchors.get(&stored.key());
        *criterion != question.criterion
            && slice.acceptance_criteria.contains(criterion)
            && list_claims(work.before, block, &slice.slice_id, criterion)
                .next()
                .is_none()
            && found.is_some_and(|found| Place::of(&found.target).is_one_with(place))
    };
    let mut records = slice.evidence.iter().filter_map(Evidence::record);
    records
        .find(is_there)
        .map(|record| record.criterion.clone())
}

/// A criterion of another slice that is done, whose proof stands where this one is claimed: what stands
/// as one slice left it is not what another made.
fn find_standing(
    work: &Work,
    block: &Reground,
    question: &AnchorQuestion,
    place: &Place,
) -> Option<String> {
    if !matches!(question.work, Some(WorkOf::Claimed(_))) {
        return None;
    }
    let slices = work.before.plan.candidate_slices.iter();
    let mut others = slices
        .filter(|other| other.status == SliceStatus::Done && other.slice_id != question.slice_id);
    others.find_map(|other| {
        let mut records = other.evidence.iter().filter_map(Evidence::record);
        let record = records.find(|record| {
            let stored = AnchorQuestion::ask_stored(work.before, other, record);
            let found = work.facts.anchors.get(&stored.key());
            let mut again = list_claims(work.before, block, &other.slice_id, &record.criterion);
            stored.work.is_some()
                && again.next().is_none()
                && found.is_some_and(|found| {
                    matches!(found.verdict, Verdict::Verified | Verdict::Moved)
                        && Place::of(&found.target).holds(place)
                })
        })?;
        Some(format!("{}: {}", other.slice_id, record.criterion))
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

/// Why an anchor that verifies is no proof of this criterion.
fn misfit(
    work: &Work,
    block: &Reground,
    question: &AnchorQuestion,
    answer: &AnchorAnswer,
) -> Option<&'static str> {
    let Some(of) = &question.work else {
        let slice = work.before.plan.slice(&question.slice_id);
        let is_gone = is_dropped(work.before, block, question)
            || was_dropped(work.before, question)
            || slice.is_some_and(|slice| slice.status == SliceStatus::Cancelled);
        return (is_gone && !answer.related)
            .then_some("what is dropped rests on a text or a receipt at HEAD");
    };
    let stored = match of {
        WorkOf::Accepted(_) => find_given_anew(work, question),
        WorkOf::Claimed(_) => None,
    };
    let stands_for = |found: &AnchorAnswer| {
        found.verdict == Verdict::Changed
            && Place::of(&found.target).is_one_with(&Place::of(&answer.target))
    };
    if let Some((record, found)) = stored {
        let is_same = record.anchor == question.anchor;
        let is_test = question.anchor.starts_with("test:");
        let is_named = found.now.as_ref() == Some(&question.anchor);
        return match (record.receipt.is_some(), answer.receipt.is_some()) {
            (true, _) if is_same && found.verdict == Verdict::Verified => None,
            // Any other says less than what was run before, or nothing of it.
            (true, _) if !(is_test && (answer.related || is_named)) => {
                Some("a run is replaced by a test that is the slice's work")
            }
            // It may be green without the text.
            (false, true) => Some("a text is not shown by a run"),
            (false, false) if !answer.related && !stands_for(found) => Some(NOT_ITS_WORK),
            _ => None,
        };
    }
    (!answer.related).then_some(NOT_ITS_WORK)
}

const NOT_ITS_WORK: &str = "it is not the slice's own work";

/// The proof of a done slice that is given anew, and what it is worth now.
fn find_given_anew<'a>(
    work: &Work<'a>,
    question: &AnchorQuestion,
) -> Option<(&'a EvidenceRecord, &'a AnchorAnswer)> {
    let slice = work.before.plan.slice(&question.slice_id)?;
    let mut records = slice.evidence.iter().filter_map(Evidence::record);
    let record = records.find(|record| record.criterion == question.criterion)?;
    let stored = AnchorQuestion::ask_stored(work.before, slice, record);
    let found = work.facts.anchors.get(&stored.key())?;
    (slice.status == SliceStatus::Done).then_some((record, found))
}

/// A criterion that a slice was rid of before.
fn was_dropped(snapshot: &Snapshot, question: &AnchorQuestion) -> bool {
    let slice = snapshot.plan.slice(&question.slice_id);
    slice.is_some_and(|slice| {
        let mut records = slice.evidence.iter().filter_map(Evidence::record);
        !slice.acceptance_criteria.contains(&question.criterion)
            && records.any(|record| record.criterion == question.criterion)
    })
}

/// Proof that several criteria share: one anchor may serve one criterion of a slice, and one
/// dropped criterion of the whole plan. The lines that prove the slice to accept prove no other.
pub(in crate::machine) fn require_distinct(work: &Work, block: &Reground) -> Result<(), Refusal> {
    let mut seen: Vec<(String, Place, &str, Option<bool>)> = Vec::new();
    for claim in &block.evidence {
        let Some(question) = fresh_question(work.before, block, claim) else {
            continue;
        };
        let place = Place::of(&work.facts.anchor(&question)?.target);
        let slice_id = match is_dropped(work.before, block, &question) {
            true => String::new(),
            false => question.slice_id.clone(),
        };
        // Of work of its own, and of the slice to accept.
        let is_new = question.work.as_ref();
        let is_new = is_new.map(|work| matches!(work, WorkOf::Claimed(_)));
        if let Some((_, _, other, _)) = seen.iter().find(|(of, shown, criterion, was_new)| {
            if *of == slice_id {
                return *criterion != claim.criterion && shown.is_one_with(&place);
            }
            let is_one = shown.holds(&place) && place.holds(shown);
            is_one && matches!((is_new, was_new), (Some(a), Some(b)) if a || *b)
        }) {
            return Err(refuse_shared(other, claim));
        }
        seen.push((slice_id, place, &claim.criterion, is_new));
    }
    Ok(())
}

/// The block's plan leaves the criterion out or cancels its slice, and the plan before has it.
fn is_dropped(snapshot: &Snapshot, block: &Reground, question: &AnchorQuestion) -> bool {
    let had = snapshot
        .plan
        .slice(&question.slice_id)
        .is_some_and(|slice| slice.acceptance_criteria.contains(&question.criterion));
    let keeps = block.plan.as_ref().is_none_or(|plan| {
        plan.candidate_slices
            .iter()
            .filter(|planned| planned.slice_id == question.slice_id)
            .filter(|planned| planned.status != Some(SliceStatus::Cancelled))
            .any(|planned| planned.acceptance_criteria.contains(&question.criterion))
    });
    had && !keeps
}
