//! What the proof of done slices is worth now.

use super::question::{claims_for, stored_question};
use super::text::describe;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::Verdict;
use crate::machine::work::Work;
use crate::model::{Evidence, Reground, SliceStatus, Submission};

/// Reopens done slices whose proof is gone; a changed one must be anchored again.
pub(in crate::machine) fn revalidate_done(
    work: &mut Work,
    block: &Reground,
    submission: &Submission,
) -> Result<Vec<String>, Refusal> {
    let done: Vec<String> = work
        .before
        .plan
        .candidate_slices
        .iter()
        .filter(|slice| slice.status == SliceStatus::Done)
        .map(|slice| slice.slice_id.clone())
        .collect();
    let mut reopened = Vec::new();
    let mut changed = Vec::new();
    for id in done {
        let lost = revalidate(work, block, &id)?;
        if !lost.gone.is_empty() {
            for what in &lost.gone {
                work.findings
                    .push(Finding::new(Code::CriterionLostProof, what.clone()).at(id.clone()));
            }
            work.reopen(&id, lost.gone, Some(submission));
            reopened.push(id);
        } else {
            changed.extend(
                lost.changed
                    .into_iter()
                    .map(|what| Finding::new(Code::EvidenceChanged, what).at(id.clone())),
            );
        }
    }
    if let Some(first) = changed.first() {
        return Err(Refusal::new(Code::EvidenceChanged, first.message.clone()).with(changed));
    }
    Ok(reopened)
}

/// What a done slice's stored proof is worth now.
#[derive(Debug, Default)]
pub(in crate::machine) struct Lost {
    /// Gone: the slice is reopened with these findings.
    pub gone: Vec<String>,
    /// Changed: must be anchored again in this report.
    pub changed: Vec<String>,
}

/// Re-verifies one done slice; anchors that moved are followed.
pub(in crate::machine) fn revalidate(
    work: &mut Work,
    block: &Reground,
    id: &str,
) -> Result<Lost, Refusal> {
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
