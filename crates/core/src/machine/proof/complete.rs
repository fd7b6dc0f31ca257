//! When a slice has enough.

use super::place::Place;
use super::question::find_question;
use super::text::{describe, many};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::Verdict;
use crate::machine::work::Work;
use crate::model::{Evidence, Reground};

/// Every criterion of a slice has proof of its own that verifies and that the
/// slice's commits produced. Refused otherwise; this is the only way to `done`.
pub(in crate::machine) fn require_complete(
    work: &mut Work,
    block: &Reground,
    id: &str,
) -> Result<(), Refusal> {
    let slice = work.find_planned(id)?.clone();
    let mut wrong = Vec::new();
    let mut targets: Vec<(Place, String)> = Vec::new();
    let mut old = Vec::new();
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
        let question = find_question(work.before, block, &slice, entry);
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
        if !answer.is_new {
            old.push(describe(&question, answer));
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
    if old.len() == slice.acceptance_criteria.len() && !old.is_empty() {
        return Err(Refusal::new(
            Code::EvidenceNotNew,
            format!(
                "nothing that proves slice `{id}` is new since its basis: {}",
                old[0]
            ),
        ));
    }
    for what in old {
        work.remark(Code::ProofNotNew, id, what);
    }
    if let Some(slice) = work.next.plan.slice_mut(id) {
        slice.evidence = evidence;
    }
    Ok(())
}
