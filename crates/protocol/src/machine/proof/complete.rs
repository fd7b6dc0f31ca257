//! When a slice has enough.

use super::claimed::{find_stored, is_proof};
use super::place::Place;
use super::question::find_question;
use super::text::{describe, many};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::Verdict;
use crate::machine::work::Work;
use crate::model::{Evidence, EvidenceRecord, Reground};

/// Every criterion of a slice has proof of its own that holds at HEAD, and one of them at least did not
/// hold at the basis. Refused otherwise; this is the only way to `done`.
pub(in crate::machine) fn require_complete(
    work: &mut Work,
    block: &Reground,
    id: &str,
) -> Result<(), Refusal> {
    let slice = work.find_planned(id)?.clone();
    let mut wrong = Vec::new();
    let mut old = Vec::new();
    let mut is_run_new = false;
    let mut stamped = Vec::new();
    let (head, now) = (work.head()?, work.now());
    for criterion in &slice.acceptance_criteria {
        let mut records = slice.evidence.iter().filter_map(Evidence::record);
        let Some(record) = records.find(|record| record.criterion == *criterion) else {
            let what = format!("`{criterion}` has no evidence of its own");
            wrong.push(Finding::new(Code::EvidenceMissing, what).at(id));
            continue;
        };
        let question = find_question(work.before, block, &slice, record);
        let answer = work.facts.anchor(&question)?;
        let place = Place::of(&answer.target);
        let (code, what) = match find_stored(work, block, &question, &place) {
            _ if answer.verdict != Verdict::Verified => {
                (Code::EvidenceUnverified, describe(&question, answer))
            }
            _ if !is_proof(answer) => (Code::EvidenceUnrelated, describe(&question, answer)),
            Some(other) => (
                Code::EvidenceShared,
                format!(
                    "`{other}` and `{criterion}` rest on the same proof ({})",
                    record.anchor
                ),
            ),
            None => {
                match answer.is_new {
                    true => is_run_new |= answer.receipt.is_some(),
                    false => old.push(describe(&question, answer)),
                }
                // What is accepted is what it shows now, whenever it was claimed.
                stamped.push(EvidenceRecord {
                    receipt: answer.receipt.clone(),
                    head_sha: head.clone(),
                    recorded_at: now.clone(),
                    text: answer.text.clone(),
                    tests: answer.tests.clone(),
                    retired: None,
                    ..record.clone()
                });
                continue;
            }
        };
        wrong.push(Finding::new(code, what).at(id));
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
    let slice = work.find_planned(id)?;
    for entry in &mut slice.evidence {
        if let Evidence::Record(record) = entry
            && let Some(now) = stamped.iter().find(|it| it.criterion == record.criterion)
        {
            record.clone_from(now);
        }
    }
    let has_run = |work: &Work| {
        let ledger = work.before.ledger.slices.get(id);
        ledger.is_some_and(|ledger| !ledger.receipts.is_empty())
    };
    if !is_run_new && has_run(work) {
        let what =
            "no command or test that proves it is new since its basis: its new proof is text alone";
        work.remark(Code::TextOnly, id, what);
    }
    Ok(())
}
