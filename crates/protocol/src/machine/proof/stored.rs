//! What the proof of done slices is worth now.

use super::question::{ask_again, find_accepted, list_claims};
use super::text::describe;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::{AnchorAnswer, AnchorQuestion, Required, Verdict};
use crate::machine::work::Work;
use crate::model::{Conclude, Decision, Evidence, EvidenceRecord, Reground, Submission};

/// Reopens done slices whose proof no longer holds, and plans again what was cancelled as there already
/// and is not shown any more. What is unguarded or cannot be run waits until it is answered.
pub(in crate::machine) fn revalidate_done(
    work: &mut Work,
    block: &Reground,
    submission: Option<&Submission>,
) -> Result<Vec<String>, Refusal> {
    // What the block reopens itself is open by now.
    let closed: Vec<String> = work
        .next
        .plan
        .candidate_slices
        .iter()
        .filter(|slice| slice.rests_on_proof())
        .map(|slice| slice.slice_id.clone())
        .filter(|id| !reopens(block, id))
        .collect();
    let mut reopened = Vec::new();
    let mut owed = Vec::new();
    for id in closed {
        let lost = revalidate(work, block, &id)?;
        if !lost.gone.is_empty() {
            for what in &lost.gone {
                work.findings
                    .push(Finding::new(Code::ProofBroken, what.clone()).at(id.clone()));
            }
            work.reopen(&id, lost.gone, submission);
            reopened.push(id);
            continue;
        }
        owed.extend(lost.owed);
    }
    let (refused, noted): (Vec<Owed>, Vec<Owed>) =
        owed.into_iter().partition(|owed| owed.refuses(block));
    work.findings
        .extend(noted.into_iter().map(|owed| owed.finding));
    match refused.first() {
        None => Ok(reopened),
        Some(first) => {
            let (code, message) = (first.finding.code, first.finding.message.clone());
            let hints: Vec<String> = refused.iter().map(|owed| owed.answer.clone()).collect();
            let findings = refused.into_iter().map(|owed| owed.finding).collect();
            Err(Refusal::new(code, message)
                .with(findings)
                .replace_hints(hints))
        }
    }
}

/// The block takes a done slice up again by its decision; what a plan calls its status says nothing.
fn reopens(block: &Reground, id: &str) -> bool {
    block.reconcile.as_ref().is_some_and(|reconcile| {
        reconcile.decision == Decision::Reopened && reconcile.slice_id == id
    })
}

fn stops(block: &Reground) -> bool {
    matches!(block.conclude, Some(Conclude::Stop))
}

/// Something that the report must answer.
struct Owed {
    finding: Finding,
    /// What would answer it.
    answer: String,
}

impl Owed {
    /// What the block does builds on it: it accepts or ends the project, or selects where nobody can say
    /// whether the proof holds.
    fn refuses(&self, block: &Reground) -> bool {
        let builds = find_accepted(block).is_some() || stops(block);
        builds || block.select.is_some() && self.finding.code == Code::ProofUnrunnable
    }
}

/// What a done slice's stored proof is worth now.
#[derive(Default)]
struct Lost {
    /// It does not hold: the slice is reopened with these findings.
    gone: Vec<String>,
    /// To be answered in this report.
    owed: Vec<Owed>,
}

/// Looks at one done slice again; anchors that moved are followed.
fn revalidate(work: &mut Work, block: &Reground, id: &str) -> Result<Lost, Refusal> {
    let mut lost = Lost::default();
    let Some(slice) = work.before.plan.slice(id) else {
        return Ok(lost);
    };
    let mut evidence = slice.evidence.clone();
    for entry in &mut evidence {
        let Evidence::Record(record) = entry else {
            continue;
        };
        if record.retired.is_some() {
            continue;
        }
        let question = ask_again(work.before, block, slice, record);
        let answer = work.facts.anchor(&question)?;
        let mut claims = list_claims(work.before, block, id, &record.criterion);
        // A test that was run and is red stays red, whatever else is claimed.
        let is_red = answer.verdict == Verdict::Missing && answer.receipt.is_some();
        if claims.next().is_some() && !is_red {
            continue;
        }
        let owe = |code: Code| Owed {
            finding: Finding::new(code, describe(&question, answer)).at(id),
            answer: list_ways(work, record, id),
        };
        match answer.verdict {
            Verdict::Verified if record.tests.is_some() => {
                record.held_at.clone_from(&work.facts.head()?.tree);
            }
            Verdict::Verified => {}
            Verdict::Moved => {
                if let Some(now) = &answer.now {
                    record.anchor.clone_from(now);
                }
            }
            Verdict::Missing if is_declared(&question, answer) => {
                record.head_sha = work.head()?;
                record.tests.clone_from(&answer.tests);
                record.held_at.clone_from(&work.facts.head()?.tree);
                record.receipt.clone_from(&answer.receipt);
                let what = format!(
                    "`{}` of slice `{id}`, which is done: its test was changed as commits of the accepted slice declare, and the changed test is its proof now",
                    record.criterion
                );
                work.findings
                    .push(Finding::new(Code::ProofReplaced, what).at(id));
            }
            Verdict::Missing => lost.gone.push(describe(&question, answer)),
            Verdict::Changed => lost.owed.push(owe(Code::ProofUnguarded)),
            Verdict::Unverifiable | Verdict::Malformed => {
                lost.owed.push(owe(Code::ProofUnrunnable));
            }
            // Not asked. At the end nothing may be.
            Verdict::Stale if stops(block) => lost.owed.push(owe(Code::ProofUnrunnable)),
            Verdict::Stale => {
                work.findings
                    .push(Finding::new(Code::ProofNotAsked, describe(&question, answer)).at(id));
            }
        }
    }
    if slice.acceptance_criteria.is_empty() {
        lost.gone
            .push("it never said what must hold, so nothing proves it".to_owned());
    }
    for criterion in &slice.acceptance_criteria {
        let mut records = evidence.iter().filter_map(Evidence::record);
        let is_stamped = records.any(|record| record.criterion == *criterion);
        let mut claims = list_claims(work.before, block, id, criterion);
        if !is_stamped && claims.next().is_none() {
            lost.gone
                .push(format!("`{criterion}` has no evidence that can be checked"));
        }
    }
    if let Some(slice) = work.next.plan.slice_mut(id) {
        slice.evidence = evidence;
    }
    Ok(lost)
}

/// The slice that is accepted changed the test and says so in a commit: the review of that answered for it, and the
/// version that it saw is green.
fn is_declared(question: &AnchorQuestion, answer: &AnchorAnswer) -> bool {
    let Required::Accepted(kept) = &question.required else {
        return false;
    };
    kept.declared_at.is_some() && answer.now.as_ref() == Some(&question.anchor)
}

/// What answers for proof that is not where it was.
fn list_ways(work: &Work, record: &EvidenceRecord, id: &str) -> String {
    format!(
        "put the proof back; or add to `evidence` {{\"slice_id\": \"{id}\", \"criterion\": {}, \"anchor\": …}}; or to `reopen` {}",
        serde_json::json!(record.criterion),
        reopen_line(work, id),
    )
}

/// HEAD is named where the slice's work may be there; a commit that another one rests on is that one's.
fn reopen_line(work: &Work, id: &str) -> String {
    let head = work.next_head().unwrap_or_default();
    let ledgers = work.before.ledger.slices.iter();
    let mut others = ledgers.filter(|(other, _)| *other != id);
    let is_others = others.any(|(_, ledger)| {
        let accepted = ledger.accepted.as_ref().map(|accepted| &accepted.head);
        [ledger.head.as_ref(), accepted].contains(&Some(&head))
    });
    match is_others {
        true => format!("{{\"slice_id\": \"{id}\", \"why\": …}}"),
        false => format!("{{\"slice_id\": \"{id}\", \"why\": …, \"at\": \"{head}\"}}"),
    }
}
