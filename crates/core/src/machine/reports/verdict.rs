//! The reports of reviewer and auditor.

use super::read_only::require_same_tree;
use super::vote::require_new_words;
use crate::diagnostic::{Code, Finding, Lines, Refusal, clean};
use crate::machine::records::attach;
use crate::machine::slices::key_sha256;
use crate::machine::work::Work;
use crate::model::{
    ActiveStatus, AuditNote, AuditorVerdict, Count, ReviewNote, SliceRecordType, StrengthNote,
    Submission, Verdicts, is_waiver,
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
    let Some(mut note) = note else {
        return (verdicts.findings.clone(), false);
    };
    note.required = required;
    // One may stand below what is no finding.
    let field = submission.report.fields.get(FINDINGS);
    let lines = field.iter().flat_map(|text| text.lines());
    let all = verdicts.findings.iter().map(String::as_str).chain(lines);
    let (mut waived, unknown) = note.read_waivers(all);
    for waiver in &mut waived {
        waiver.why = clean(&waiver.why, Lines::Fold);
    }
    note.waived = waived;
    let short = note.list_short();
    let own = verdicts.findings.iter().filter(|text| !is_waiver(text));
    let findings = own.chain(&short).cloned().collect();
    let problem = note.problem.clone();
    work.ledger(id).strength = Some(note);
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
            "`{text}` waives nothing: no planted defect has that id here, or no reason is given"
        );
        work.findings
            .push(Finding::new(Code::WaiverUnknown, what).at(id));
    }
    (findings, !short.is_empty())
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
