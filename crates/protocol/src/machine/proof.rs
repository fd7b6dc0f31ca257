//! Criteria and their proof (`protocol/completion.md#acceptance-criteria`): which anchors a re-ground must have
//! verified, what each one is worth, and when a slice has enough proof.

use super::facts::{AnchorAnswer, Facts, Verdict};
use super::work::Work;
use crate::model::{EvidenceClaim, EvidenceRecord};
use crate::prelude::*;
use crate::question::{AnchorQuestion, Question, Required};
use std::ops::RangeInclusive;

// Which anchors must be checked, and which claim belongs to which criterion.

/// Every anchor that must be checked before this block can be judged.
pub(super) fn list_questions(snapshot: &Snapshot, block: &Reground) -> BTreeSet<AnchorQuestion> {
    let mut by_key: BTreeMap<String, AnchorQuestion> = BTreeMap::new();
    for slice in &snapshot.plan.candidate_slices {
        let is_accepted = block.find_accepted() == Some(slice.slice_id.as_str());
        let records = slice.evidence.iter().filter_map(Evidence::record);
        let is_asked = |record: &&EvidenceRecord| {
            is_accepted || slice.rests_on_proof() && record.retired.is_none()
        };
        for record in records.filter(is_asked) {
            let question = ask_again(snapshot, block, slice, record);
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

fn fresh_question(
    snapshot: &Snapshot,
    block: &Reground,
    claim: &EvidenceClaim,
) -> Option<AnchorQuestion> {
    let slice_id = claim_slice(snapshot, block, claim)?;
    let claimed = match block.find_accepted() == Some(slice_id.as_str()) {
        true => ask_of_work(snapshot, &slice_id),
        false => None,
    };
    Some(AnchorQuestion {
        slice_id,
        criterion: claim.criterion.clone(),
        anchor: claim.anchor.clone(),
        basis: claim.basis,
        required: claimed.unwrap_or(Required::AtHead),
    })
}

/// The question about a stored record. For the slice to be accepted it is the same as for a new claim.
fn ask_again(
    snapshot: &Snapshot,
    block: &Reground,
    slice: &Slice,
    record: &EvidenceRecord,
) -> AnchorQuestion {
    let mut stored = AnchorQuestion::ask_stored(slice, record);
    if block.find_accepted() == Some(slice.slice_id.as_str())
        && let Some(claimed) = ask_of_work(snapshot, &slice.slice_id)
    {
        stored.required = claimed;
    }
    if let (Required::Accepted(kept), Ok(Anchor::Test(name))) =
        (&mut stored.required, Anchor::parse(&record.anchor))
    {
        kept.declared_at = find_declaring_head(snapshot, block, &name);
    }
    stored
}

/// The head of the slice to be accepted, if its commits declare that this test changed.
fn find_declaring_head(snapshot: &Snapshot, block: &Reground, name: &str) -> Option<String> {
    let ledger = snapshot.find_ledger(block.find_accepted()?)?;
    let mut changes = ledger.test_changes.iter();
    let is_declared = changes.any(|change| change.is_declared_of(name));
    ledger.head.clone().filter(|_| is_declared)
}

fn ask_of_work(snapshot: &Snapshot, slice_id: &str) -> Option<Required> {
    Some(Required::Claimed {
        basis: snapshot.plan.slice(slice_id)?.basis_commit.clone()?,
        head: snapshot.find_ledger(slice_id)?.head.clone()?,
    })
}

/// The question whose answer decides this record: that of the claim in this block from which it was made, or that
/// of the stored record.
fn find_question(
    snapshot: &Snapshot,
    block: &Reground,
    slice: &Slice,
    record: &EvidenceRecord,
) -> AnchorQuestion {
    list_claims(snapshot, block, &slice.slice_id, &record.criterion)
        .filter(|claim| claim.anchor == record.anchor)
        .find_map(|claim| fresh_question(snapshot, block, claim))
        .unwrap_or_else(|| ask_again(snapshot, block, slice, record))
}

/// The slice that a claim is about: the one it names, else the one that is reconciled, else the active one, else
/// the only one with that criterion.
fn claim_slice(snapshot: &Snapshot, block: &Reground, claim: &EvidenceClaim) -> Option<String> {
    if let Some(id) = &claim.slice_id {
        return Some(id.clone());
    }
    if let Some(reconcile) = &block.reconcile {
        return Some(reconcile.slice_id.clone());
    }
    if snapshot.is_in_work() {
        return snapshot.active.slice_id.clone();
    }
    let slices = snapshot.plan.candidate_slices.iter();
    let mut owners = slices.filter(|slice| slice.acceptance_criteria.contains(&claim.criterion));
    match (owners.next(), owners.next()) {
        (Some(only), None) => Some(only.slice_id.clone()),
        _ => None,
    }
}

fn list_claims<'a>(
    snapshot: &'a Snapshot,
    block: &'a Reground,
    id: &'a str,
    criterion: &'a str,
) -> impl Iterator<Item = &'a EvidenceClaim> {
    block.evidence.iter().filter(move |claim| {
        claim.criterion == criterion && claim_slice(snapshot, block, claim).as_deref() == Some(id)
    })
}

impl AnchorQuestion {
    /// The question about an anchor that may be claimed for the slice in work, without a criterion yet.
    pub fn ask_claimed(
        snapshot: &Snapshot,
        slice_id: &str,
        anchor: &str,
        basis: Basis,
    ) -> Option<Self> {
        Some(Self {
            slice_id: slice_id.to_owned(),
            criterion: String::new(),
            anchor: anchor.to_owned(),
            basis,
            required: ask_of_work(snapshot, slice_id)?,
        })
    }
}

/// Whether a criterion may leave a slice: the same report must give proof of it.
pub(super) fn may_drop(snapshot: &Snapshot, block: &Reground, id: &str, criterion: &str) -> bool {
    list_claims(snapshot, block, id, criterion).next().is_some()
}

/// The anchors that allow a criterion to leave a slice.
pub(super) fn list_dropping_anchors(
    snapshot: &Snapshot,
    block: &Reground,
    id: &str,
    criterion: &str,
) -> String {
    let claims = list_claims(snapshot, block, id, criterion);
    let anchors: Vec<String> = claims.map(|claim| format!("`{}`", claim.anchor)).collect();
    anchors.join(", ")
}

/// The place of a proof. Two places are the same if they are equal, or lines of one file that overlap: a range
/// that is one line longer shows nothing new.
enum Place {
    Lines(String, RangeInclusive<usize>),
    Other(String),
}

impl Place {
    fn of(target: &str) -> Self {
        let lines = || {
            let (path, range) = target.rsplit_once('#')?;
            let (first, last) = range.split_once('-')?;
            let lines = first.parse().ok()?..=last.parse().ok()?;
            Some(Self::Lines(path.to_owned(), lines))
        };
        lines().unwrap_or_else(|| Self::Other(target.to_owned()))
    }

    fn is_one_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Other(one), Self::Other(other)) => one == other,
            (Self::Lines(path, lines), Self::Lines(other, others)) => {
                path == other && lines.start() <= others.end() && others.start() <= lines.end()
            }
            _ => false,
        }
    }
}

// The claims of a re-ground: each holds at HEAD, and none serves two criteria.

/// Adds every claim of the block to its slice's evidence. A claim that does not hold refuses the report.
pub(super) fn stamp(work: &mut Work, block: &Reground) -> Result<(), Refusal> {
    let mut wrong = Vec::new();
    for claim in &block.evidence {
        let Some(question) = fresh_question(work.before, block, claim) else {
            return Err(refusal!(
                Code::SliceUnknown,
                "the evidence of `{}` does not name a slice",
                claim.criterion
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

/// Whether the anchor shows a text or a run. A commit or a person's word does not prove a criterion.
fn is_proof(answer: &AnchorAnswer) -> bool {
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
            return Err(refusal!(Code::EvidenceUnrelated, "a run ({old}) proved `{}` of the closed slice `{id}`; {} is not a run and cannot replace it",
                claim.criterion, claim.anchor).replace_hints([
                "cite a test or a command, or open the slice again with `reopen`",
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

/// Another criterion whose stored proof is at this place: of the same slice or, if the slice is to be accepted, of
/// any other slice.
fn find_stored(
    work: &Work,
    block: &Reground,
    question: &AnchorQuestion,
    place: &Place,
) -> Option<String> {
    let is_claimed = matches!(question.required, Required::Claimed { .. });
    let counts = |slice: &&Shared<Slice>| {
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
    refusal!(
        Code::EvidenceShared,
        "`{other}` and `{}` rest on the same proof ({})",
        claim.criterion,
        claim.anchor
    )
}

/// Refuses claims that two criteria share, within one slice or between a slice to be accepted and another.
pub(super) fn require_distinct(work: &Work, block: &Reground) -> Result<(), Refusal> {
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

// When a slice has enough proof.

/// Requires that every criterion of a slice has its own proof that holds at HEAD, and that at least one proof did
/// not hold at the basis. This is the only way to `done`.
pub(super) fn require_complete(work: &mut Work, block: &Reground, id: &str) -> Result<(), Refusal> {
    let slice = work.find_planned(id)?.clone();
    let mut wrong = Vec::new();
    let mut old = Vec::new();
    let mut is_run_new = false;
    let mut stamped = Vec::new();
    let (head, now) = (work.head()?, work.now());
    for criterion in &slice.acceptance_criteria {
        let mut records = slice.evidence.iter().filter_map(Evidence::record);
        let Some(record) = records.find(|record| record.criterion == *criterion) else {
            wrong.push(
                finding!(
                    Code::EvidenceMissing,
                    "`{criterion}` has no evidence of its own"
                )
                .at(id),
            );
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
                // The record shows what holds now, whenever it was claimed.
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
        return Err(refusal!(
            Code::EvidenceNotNew,
            "every proof of slice `{id}` existed at its basis already: {}",
            old[0]
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
        let ledger = work.before.find_ledger(id);
        ledger.is_some_and(|ledger| !ledger.receipts.is_empty())
    };
    if !is_run_new && has_run(work) {
        let what =
            "no command or test that proves it is new since its basis: its new proof is text alone";
        work.remark(Code::TextOnly, id, what);
    }
    Ok(())
}

// What the proof of done slices is worth now.

/// Reopens done slices whose proof no longer holds, and replans slices that were cancelled as there already and
/// are not any more. Proof that is unguarded or cannot be run waits for an answer.
pub(super) fn revalidate_done(
    work: &mut Work,
    block: &Reground,
    submission: Option<&Submission>,
) -> Result<Vec<String>, Refusal> {
    // Slices that the block reopens itself are open by now.
    let closed = list_closed(&work.next).map(|slice| slice.slice_id.clone());
    let closed: Vec<String> = closed.filter(|id| !reopens(block, id)).collect();
    let mut reopened = Vec::new();
    let mut owed = Vec::new();
    for id in closed {
        let lost = revalidate(work, block, &id)?;
        if !lost.gone.is_empty() {
            for what in &lost.gone {
                work.note(Code::ProofBroken, &*id, what.clone());
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

/// Whether the block's decision reopens the slice. The status in its plan does not count.
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
    /// Whether the block builds on this proof and is refused: it accepts a slice, ends the project, or selects a
    /// slice although the proof cannot be run.
    fn refuses(&self, block: &Reground) -> bool {
        let builds = block.find_accepted().is_some() || stops(block);
        builds || block.select.is_some() && self.finding.code == Code::ProofUnrunnable
    }
}

/// The problems with a done slice's stored proof.
#[derive(Default)]
struct Lost {
    /// Proof that does not hold: the slice is reopened with these findings.
    gone: Vec<String>,
    /// Problems that this report must answer.
    owed: Vec<Owed>,
}

/// Checks the proof of one done slice again, and follows anchors that moved.
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
        // A test that ran and is red stays red, whatever else is claimed.
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
                    "`{}` of the done slice `{id}`: commits of the accepted slice declare a change of its test, and the changed test is its proof now",
                    record.criterion
                );
                work.note(Code::ProofReplaced, id, what);
            }
            Verdict::Missing => lost.gone.push(describe(&question, answer)),
            Verdict::Changed => lost.owed.push(owe(Code::ProofUnguarded)),
            Verdict::Unverifiable | Verdict::Malformed => {
                lost.owed.push(owe(Code::ProofUnrunnable));
            }
            // It did not run on this tree. At the end that is refused.
            Verdict::Stale if stops(block) => lost.owed.push(owe(Code::ProofUnrunnable)),
            Verdict::Stale => {
                work.note(Code::ProofNotAsked, id, describe(&question, answer));
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

/// Whether commits of the slice to be accepted declare the change of the test, so that its review has answered for
/// it, and the changed version is green.
fn is_declared(question: &AnchorQuestion, answer: &AnchorAnswer) -> bool {
    let Required::Accepted(kept) = &question.required else {
        return false;
    };
    kept.declared_at.is_some() && answer.now.as_ref() == Some(&question.anchor)
}

/// Lists the answers that are possible for proof which is no longer where it was.
fn list_ways(work: &Work, record: &EvidenceRecord, id: &str) -> String {
    format!(
        "put the proof back; or add to `evidence` {{\"slice_id\": \"{id}\", \"criterion\": {}, \"anchor\": …}}; or to `reopen` {}",
        serde_json::json!(record.criterion),
        reopen_line(work, id),
    )
}

/// The entry for `reopen`. It names HEAD if that may hold the slice's work, and not if HEAD is another slice's
/// commit.
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

// The proof of done slices, checked when HEAD moved and the end of the project is next.

/// Asks whether the proof of the done slices holds at HEAD, if HEAD is not the commit `seen`.
pub(super) fn ask_standing(snapshot: &Snapshot, seen: &str) -> Question {
    let stored = list_closed(snapshot).flat_map(|slice| {
        list_proofs(slice).map(move |record| AnchorQuestion::ask_stored(slice, record))
    });
    Question::Standing {
        seen: seen.to_owned(),
        anchors: stored.collect(),
    }
}

fn list_proofs(slice: &Slice) -> impl Iterator<Item = &EvidenceRecord> {
    let records = slice.evidence.iter().filter_map(Evidence::record);
    records.filter(|record| record.retired.is_none())
}

/// Done slices, and those that were cancelled as there already.
fn list_closed(snapshot: &Snapshot) -> impl Iterator<Item = &Slice> {
    let slices = snapshot.plan.candidate_slices.iter().map(|slice| &**slice);
    slices.filter(|slice| slice.rests_on_proof())
}

/// Findings for slices that any re-ground would reopen, as far as the facts tell.
pub(super) fn find_lost(snapshot: &Snapshot, facts: &Facts) -> Vec<Finding> {
    let lost = |slice: &Slice| {
        let id = &slice.slice_id;
        let gone = list_proofs(slice).find(|record| {
            let answer = facts
                .standing
                .get(&AnchorQuestion::ask_stored(slice, record).key());
            answer.is_some_and(|answer| answer.verdict == Verdict::Missing)
        })?;
        let was = match slice.status {
            SliceStatus::Done => "done",
            _ => "cancelled as there already",
        };
        Some(finding!(Code::ProofBroken, "slice `{id}` is {was} in the log, but the proof of `{}` no longer holds: {}; the next re-ground opens the slice again, and may change or cancel it",
            gone.criterion, gone.anchor).at(id.clone()))
    };
    list_closed(snapshot).filter_map(lost).collect()
}

// Descriptions of proofs.

fn describe(question: &AnchorQuestion, answer: &AnchorAnswer) -> String {
    format!(
        "`{}` ({}): {}",
        question.criterion, question.anchor, answer.why
    )
}

fn many(findings: &[Finding]) -> String {
    match findings {
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len()),
        [] => String::new(),
    }
}
