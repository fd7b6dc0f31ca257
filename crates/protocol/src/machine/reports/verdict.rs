//! The reports of reviewer and auditor.

use super::read_only::require_same_tree;
use super::vote::require_new_words;
use crate::diagnostic::{Code, Finding, Lines, Refusal, clean};
use crate::machine::records::attach;
use crate::machine::slices::key_sha256;
use crate::machine::work::Work;
use crate::model::{
    ActiveStatus, AuditNote, AuditorVerdict, Count, ReviewNote, SliceRecordType, StrengthNote,
    Submission, Verdicts, is_waiver, read_waivers,
};
use crate::report::untrue;

/// The field of a review that says what it found.
const FINDINGS: &str = "findings";

/// A review of the current key.
pub(in crate::machine) fn review(
    work: &mut Work,
    verdicts: &Verdicts,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_same_tree(work, submission)?;
    let (id, head, criteria) = find_committed_key(work)?;
    require_new_words(work, submission)?;
    let seq = work.seq();
    let (findings, weak) = weigh_defects(work, (&id, &head), verdicts, submission);
    let is_shown = !work.ledger(&id).offered.is_empty();
    work.ledger(&id).review = Some(ReviewNote {
        session: submission.session.clone().filter(|_| is_shown),
        commit: head.clone(),
        criteria_sha256: criteria.clone(),
        acceptable: verdicts.positive,
        fails: verdicts.fails.clone(),
        concerns: verdicts.concerns.clone(),
        findings,
        follow_up: verdicts.follow_up.clone(),
        report_sha256: submission.report_sha256.clone(),
        weak,
        seq,
    });
    let record = work.slice_record(SliceRecordType::Reviewed, &id, &head);
    attach(record, submission);
    record.criteria_sha256 = Some(criteria);
    Ok(())
}

/// What the review finds, with the planted defects that no gate notices and that it does not answer for;
/// and whether those keep the slice from being accepted.
fn weigh_defects(
    work: &mut Work,
    (id, head): (&str, &str),
    verdicts: &Verdicts,
    submission: &Submission,
) -> (Vec<String>, bool) {
    // What is asked now decides, whatever was when the commit was reported.
    let required = work.facts.config.as_ref().and_then(|it| it.strength);
    let ledger = work.ledger(id);
    let mut note = ledger.strength.take().filter(|note| note.commit == head);
    if note.is_none() && required.is_some() {
        let why = "the commit was reported before `[rules] strength` was in force";
        note = Some(StrengthNote {
            commit: head.to_owned(),
            problem: Some(why.to_owned()),
            ..StrengthNote::default()
        });
    }
    // One may stand below what is no finding.
    let field = submission.report.fields.get(FINDINGS);
    let lines = field.iter().flat_map(|text| text.lines());
    let all = verdicts.findings.iter().map(String::as_str).chain(lines);
    let mut changes = std::mem::take(&mut work.ledger(id).test_changes);
    let is_change = |id: &str| changes.iter().any(|change| change.id == id);
    let is_defect = |id: &str| note.as_ref().is_some_and(|note| note.has(id));
    if note.is_none() && changes.is_empty() {
        return (verdicts.findings.clone(), false);
    }
    let (mut waived, unknown) = read_waivers(all, |id| is_change(id) || is_defect(id));
    for waiver in &mut waived {
        waiver.why = clean(&waiver.why, Lines::Fold);
    }
    for change in &mut changes {
        let answer = waived.iter().find(|waiver| waiver.id == change.id);
        change.answered = answer.map(|waiver| waiver.why.clone());
    }
    let unanswered: Vec<String> = changes
        .iter()
        .filter(|change| change.answered.is_none())
        .map(|change| format!("change of a test `{}`: {}", change.id, change.what))
        .collect();
    waived.retain(|waiver| !changes.iter().any(|change| change.id == waiver.id));
    work.ledger(id).test_changes = changes;
    let mut short = Vec::new();
    let mut problem = None;
    if let Some(mut note) = note {
        note.required = required;
        note.waived = waived;
        short = note.list_short();
        problem = note.problem.clone();
        work.ledger(id).strength = Some(note);
    }
    let own = verdicts.findings.iter().filter(|text| !is_waiver(text));
    let mut findings: Vec<String> = own.chain(&short).cloned().collect();
    if verdicts.positive {
        findings.extend(unanswered.iter().cloned());
        for text in &unanswered {
            let what =
                format!("the review's yes accepts nothing: it does not answer for the {text}");
            work.findings
                .push(Finding::new(Code::TestChangeUnanswered, what).at(id));
        }
    }
    if verdicts.positive && !short.is_empty() {
        let why = match &problem {
            Some(why) => format!("whether gates notice defects is not known ({why})"),
            None => "gates notice too few of the planted defects".to_owned(),
        };
        let what =
            format!("the review's yes accepts nothing: {why}, and it does not answer for that");
        work.findings
            .push(Finding::new(Code::DefectsUnnoticed, what).at(id));
    }
    for text in unknown {
        let what = format!(
            "`{text}` waives nothing: no planted defect and no change of a test has that id here, or no reason is given"
        );
        work.findings
            .push(Finding::new(Code::WaiverUnknown, what).at(id));
    }
    let is_weak = !short.is_empty() || verdicts.positive && !unanswered.is_empty();
    (findings, is_weak)
}

/// An audit of the current key.
pub(in crate::machine) fn audit(
    work: &mut Work,
    verdicts: &Verdicts,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_same_tree(work, submission)?;
    let (id, head, criteria) = find_committed_key(work)?;
    let seq = work.seq();
    let rejects = finds_disorder(work, &id, verdicts, submission);
    work.set_audit_aside(&id);
    work.ledger(&id).audit = Some(AuditNote {
        commit: head.clone(),
        criteria_sha256: criteria.clone(),
        findings: verdicts.findings.clone(),
        concerns: verdicts.concerns.clone(),
        next_slice: verdicts.follow_up.clone(),
        rejects,
        report_sha256: submission.report_sha256.clone(),
        seq,
    });
    let record = work.slice_record(SliceRecordType::Audited, &id, &head);
    attach(record, submission);
    record.criteria_sha256 = Some(criteria);
    work.next.ledger.assured.unaudited = Count(0);
    work.next.state.last_auditor_verdict = Some(auditor_verdict(!verdicts.positive));
    Ok(())
}

/// Something is open beside the slice's own contracts, which are open until it is accepted; or a
/// dimension fails, the worktree is not clean, plan or state is untrue.
fn finds_disorder(work: &Work, id: &str, verdicts: &Verdicts, submission: &Submission) -> bool {
    let slice = work.next.plan.slice(id);
    let is_own = |contract: &String| slice.is_some_and(|it| it.contract_ids.contains(contract));
    verdicts.blocker_count.0 + verdicts.high_value_gap_count.0 > 0
        || !verdicts.open_contract_ids.iter().all(is_own)
        || !verdicts.fails.is_empty()
        || submission.worktree_clean == Some(false)
        || !untrue(&submission.report).is_empty()
}

fn find_committed_key(work: &mut Work) -> Result<(String, String, String), Refusal> {
    let id = work
        .active_id()
        .filter(|_| work.next.active.status == ActiveStatus::Committed)
        .ok_or_else(|| Refusal::new(Code::WrongSlice, "no committed slice is in work"))?;
    let head = work
        .next
        .ledger
        .slices
        .get(&id)
        .and_then(|slice| slice.head.clone())
        .ok_or_else(|| Refusal::new(Code::WrongSlice, "the committed slice has no commit"))?;
    let ledger = work.ledger(&id).clone();
    let slice = work.next.plan.slice(&id);
    let criteria = slice.map_or_else(String::new, |slice| key_sha256(slice, &ledger));
    Ok((id, head, criteria))
}

/// `clear` or `open`, from what an audit named.
fn auditor_verdict(open: bool) -> AuditorVerdict {
    if open {
        AuditorVerdict::Open
    } else {
        AuditorVerdict::Clear
    }
}
