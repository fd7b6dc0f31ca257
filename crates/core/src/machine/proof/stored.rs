//! What the proof of done slices is worth now.

use super::place::Place;
use super::question::{ask_stored, fresh_question, list_claims};
use super::text::describe;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::{AnchorAnswer, AnchorQuestion, Verdict};
use crate::machine::text::short;
use crate::machine::work::Work;
use crate::model::{
    Anchor, Basis, Conclude, Decision, Evidence, EvidenceRecord, Reground, Rest, SliceStatus,
    Submission, Survival, fits,
};
use std::collections::BTreeSet;

/// Reopens done slices whose work or proof is gone, and plans again what was cancelled as there already
/// and is not shown any more. Where it was rewritten, what goes on from there
/// waits until the proof is anchored again, or the slice reopened.
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
                    .push(Finding::new(Code::CriterionLostProof, what.clone()).at(id.clone()));
            }
            work.reopen(&id, lost.gone, submission);
            if let Some(slice) = work.next.plan.slice_mut(&id) {
                slice.stands_at = lost.stands_at;
            }
            reopened.push(id);
            continue;
        }
        owed.extend(lost.owed);
    }
    if !goes_on(block) {
        work.findings
            .extend(owed.into_iter().map(|owed| owed.finding));
        return Ok(reopened);
    }
    match owed.first() {
        None => Ok(reopened),
        Some(first) => {
            let message = first.finding.message.clone();
            let hints: Vec<String> = owed.iter().map(|owed| owed.answer.clone()).collect();
            let findings = owed.into_iter().map(|owed| owed.finding).collect();
            Err(Refusal::new(Code::EvidenceChanged, message)
                .with(findings)
                .replace_hints(hints))
        }
    }
}

/// The block takes a done slice up again by its decision or its plan.
fn reopens(block: &Reground, id: &str) -> bool {
    let by_decision = block.reconcile.as_ref().is_some_and(|reconcile| {
        reconcile.decision == Decision::Reopened && reconcile.slice_id == id
    });
    let planned = block.plan.iter().flat_map(|plan| &plan.candidate_slices);
    by_decision
        || planned
            .filter(|planned| planned.slice_id == id)
            .any(|planned| planned.status == Some(SliceStatus::Planned))
}

fn stops(block: &Reground) -> bool {
    matches!(block.conclude, Some(Conclude::Stop))
}

/// The block builds on what is done: it accepts, selects, or ends the project.
fn goes_on(block: &Reground) -> bool {
    let accepts = block
        .reconcile
        .as_ref()
        .is_some_and(|reconcile| reconcile.decision == Decision::Accepted);
    accepts || block.select.is_some() || stops(block)
}

/// Something that the report must answer.
struct Owed {
    finding: Finding,
    /// What would answer it.
    answer: String,
}

/// What a done slice's work and stored proof are worth now.
#[derive(Default)]
struct Lost {
    /// Gone: the slice is reopened with these findings.
    gone: Vec<String>,
    /// Rewritten, or kept in part: to be answered in this report.
    owed: Vec<Owed>,
    /// Its commit, where all of its work is at HEAD and nothing but runs is gone.
    stands_at: Option<String>,
}

/// Looks at one done slice again; anchors that moved are followed.
fn revalidate(work: &mut Work, block: &Reground, id: &str) -> Result<Lost, Refusal> {
    let mut lost = Lost::default();
    let Some(slice) = work.before.plan.slice(id) else {
        return Ok(lost);
    };
    let survival = match work.before.ledger.slices.get(id) {
        Some(ledger) if ledger.accepted.is_some() => Some(work.facts.survival(id)?.clone()),
        _ => None,
    };
    let mut evidence = slice.evidence.clone();
    let mut has_text = false;
    let mut red_runs = 0;
    let mut offered = BTreeSet::new();
    for entry in &mut evidence {
        let criterion = match &*entry {
            Evidence::Record(record) => record.criterion.clone(),
            Evidence::Text(_) => continue,
        };
        let Evidence::Record(record) = entry else {
            continue;
        };
        let question = ask_stored(work.before, block, slice, record);
        let answer = work.facts.anchor(&question)?;
        has_text |= answer.receipt.is_none();
        // What is lost stays lost, whatever else is claimed.
        let mut claims = list_claims(work.before, block, id, &criterion);
        let is_done = slice.status == SliceStatus::Done;
        let may_claim = !is_done || answer.verdict != Verdict::Missing || is_unnamed(answer);
        if claims.next().is_some() && may_claim {
            continue;
        }
        match answer.verdict {
            Verdict::Verified => {}
            Verdict::Moved if let Some(other) = find_met(work, block, &question, answer) => {
                let what = format!(
                    "{}; `{other}` rests on that place, and one proof serves one criterion",
                    describe(&question, answer)
                );
                lost.owed.push(Owed {
                    finding: Finding::new(Code::EvidenceChanged, what).at(id),
                    answer: list_ways(work, record, id, "PATH:LINE"),
                });
            }
            Verdict::Moved => {
                if let Some(now) = &answer.now {
                    record.anchor = now.clone();
                    record.head_sha = work.facts.head()?.commit.clone().unwrap_or_default();
                }
            }
            Verdict::Missing => {
                red_runs += usize::from(answer.receipt.is_some());
                lost.gone.push(describe(&question, answer));
            }
            // Nobody wrote it for the slice: there is nothing to look for in its place.
            verdict if !is_done && (verdict == Verdict::Changed || stops(block)) => {
                lost.gone.push(describe(&question, answer));
            }
            // At the end nothing rests on what cannot be told.
            verdict if verdict == Verdict::Changed || stops(block) => {
                let near = match (&answer.now, record.basis) {
                    _ if is_claimed(work, block, id, &answer.target) => "PATH:LINE",
                    (Some(now), _) => now,
                    // A section that says something else, or another entry, may be anchored as it is.
                    (None, Basis::Doc) => &record.anchor,
                    (None, _) if record.anchor.starts_with("entry:") => &record.anchor,
                    (None, Basis::Test) => "test:NAME",
                    (None, _) => "PATH:LINE",
                };
                // One place serves one criterion.
                let near = match offered.insert(near.to_owned()) || answer.now.is_none() {
                    true => near,
                    false => "PATH:LINE",
                };
                lost.owed.push(Owed {
                    finding: Finding::new(Code::EvidenceChanged, describe(&question, answer))
                        .at(id),
                    answer: list_ways(work, record, id, near),
                });
            }
            _ => {
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
            && list_claims(work.before, block, id, criterion)
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
    if let Some(survival) = survival {
        survive(work, block, id, &survival, has_text, &mut lost)?;
        let is_whole = survival.rest == Rest::Whole && survival.on_head;
        let ledger = work.before.ledger.slices.get(id);
        let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
        lost.stands_at = accepted
            .filter(|_| is_whole && red_runs == lost.gone.len())
            .map(|accepted| accepted.head.clone());
    }
    Ok(lost)
}

/// A test that no gate names any more may have become another one.
fn is_unnamed(answer: &AnchorAnswer) -> bool {
    answer.receipt.is_none() && answer.target.starts_with("test:")
}

/// What follows from how much of the slice's work is at HEAD.
fn survive(
    work: &mut Work,
    block: &Reground,
    id: &str,
    survival: &Survival,
    has_text: bool,
    lost: &mut Lost,
) -> Result<(), Refusal> {
    let places = |places: &[String]| places.join(", ");
    let Some(head) = work.facts.head()?.commit.clone() else {
        lost.gone
            .push("HEAD has no commit, so its work is not there".to_owned());
        return Ok(());
    };
    match survival.rest {
        Rest::None => lost.gone.push(format!(
            "its work is not at HEAD any more: {}",
            places(&survival.lost)
        )),
        Rest::Whole => {
            if !survival.on_head {
                rebind(work, id, &head);
            }
        }
        Rest::Part => {
            let ledger = work.before.ledger.slices.get(id);
            let kept = ledger.and_then(|ledger| ledger.accepted.as_ref());
            let kept = kept.map_or(&[][..], |accepted| accepted.kept.as_slice());
            let is_new = |place: &&String| !kept.contains(place);
            let new: Vec<String> = survival.lost.iter().filter(is_new).cloned().collect();
            // Where its proof is a text, that text says what holds.
            if survival.on_head && (has_text || new.is_empty()) {
                return Ok(());
            }
            let all: Vec<String> = [&survival.lost[..], &survival.rewritten[..]].concat();
            let name = format!("part-{id}");
            let what = format!("only a part of its work is at HEAD: not {}", places(&all));
            match block.answers.iter().find(|answer| answer.no == name) {
                Some(answer) => {
                    let what = format!("{what}; kept: {}", answer.reason);
                    work.remark(Code::ReboundInPart, id, what);
                    if !survival.on_head {
                        rebind(work, id, &head);
                    }
                    if let Some(accepted) = &mut work.ledger(id).accepted {
                        accepted.kept = all;
                    }
                }
                None => lost.owed.push(Owed {
                    finding: Finding::new(Code::ReboundInPart, what).at(id),
                    answer: format!(
                        "add to `answers` {{\"no\": \"{name}\", \"reason\": …}}, or to `reopen` {}",
                        reopen_line(work, id),
                    ),
                }),
            }
        }
    }
    Ok(())
}

/// The history was rewritten, and HEAD holds the work. What others had put on top of it stays theirs,
/// whoever committed it anew.
fn rebind(work: &mut Work, id: &str, head: &str) {
    let upto = work.before.ledger.head_seen.clone();
    let ledger = work.ledger(id);
    if let Some(accepted) = &mut ledger.accepted {
        let after = std::mem::replace(&mut accepted.head, head.to_owned());
        ledger.note_arrival(after, upto);
    }
    let what = format!(
        "its commit is not on HEAD any more, and its work is, at {}",
        short(head)
    );
    work.findings.push(Finding::new(Code::Rebound, what).at(id));
}

/// What answers for proof that is not where it was.
fn list_ways(work: &Work, record: &EvidenceRecord, id: &str, near: &str) -> String {
    let is_other = |anchor: &Anchor| !fits(record.basis, anchor);
    let basis = match Anchor::parse(near).ok().filter(is_other) {
        // A place in a file.
        Some(_) => Basis::Observed,
        None => record.basis,
    };
    format!(
        "add to `evidence` {{\"slice_id\": \"{id}\", \"criterion\": {}, \"anchor\": \"{near}\", \"basis\": \"{}\"}}, or to `reopen` {}",
        serde_json::json!(record.criterion),
        basis.id(),
        reopen_line(work, id),
    )
}

/// The report claims just that place for another slice.
fn is_claimed(work: &Work, block: &Reground, id: &str, target: &str) -> bool {
    let place = Place::of(target);
    let mut claims = block.evidence.iter();
    claims.any(|claim| {
        let question = fresh_question(work.before, block, claim);
        let question = question.filter(|question| question.slice_id != id);
        let found = question.and_then(|question| work.facts.anchors.get(&question.key()));
        let there = found.map(|found| Place::of(&found.target));
        there.is_some_and(|there| there.holds(&place) && place.holds(&there))
    })
}

/// Another criterion whose proof stands where this one went: of the slice, or of another that is done.
fn find_met(
    work: &Work,
    block: &Reground,
    question: &AnchorQuestion,
    answer: &AnchorAnswer,
) -> Option<String> {
    let place = Place::of(&answer.target);
    let slices = work.before.plan.candidate_slices.iter();
    let done = slices.filter(|slice| slice.rests_on_proof());
    let records = done.flat_map(|slice| {
        let records = slice.evidence.iter().filter_map(Evidence::record);
        records.map(move |record| (slice, record))
    });
    records
        .filter(|(slice, record)| {
            let is_own = slice.slice_id == question.slice_id;
            let mut again = list_claims(work.before, block, &slice.slice_id, &record.criterion);
            let stored = ask_stored(work.before, block, slice, record);
            let found = work.facts.anchors.get(&stored.key());
            !(is_own && record.criterion == question.criterion)
                && slice.acceptance_criteria.contains(&record.criterion)
                && again.next().is_none()
                && found.is_some_and(|found| {
                    let there = Place::of(&found.target);
                    let is_one = match is_own {
                        true => there.is_one_with(&place),
                        false => there.holds(&place),
                    };
                    is_one && matches!(found.verdict, Verdict::Verified | Verdict::Moved)
                })
        })
        .map(|(slice, record)| format!("{}: {}", slice.slice_id, record.criterion))
        .next()
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
