//! The reports of reviewers, auditors and judges.

use super::assurance::note_lowest;
use super::facts::is_for_tree;
use super::slices::key_sha256;
use super::wave::list_other_ratings;
use super::work::{Work, attach};
use crate::digest::hex;
use crate::model::{AuditorVerdict, StrengthNote, Vote, is_waiver, read_waivers};
use crate::prelude::*;
use crate::report::{counts, untrue};
use sha2::{Digest, Sha256};

// The reports of reviewer and auditor.

/// The field of a review that holds its findings.
const FINDINGS: &str = "findings";

/// Records a review of the current commit and criteria.
pub(super) fn review(
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
    work.ledger(&id).review = Some(Box::new(ReviewNote {
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
    }));
    let record = work.slice_record(SliceRecordType::Reviewed, &id, &head);
    attach(record, submission);
    record.criteria_sha256 = Some(criteria);
    Ok(())
}

/// Returns the review's findings, with the unnoticed defects and changed tests that it does not answer for, and
/// whether those keep the slice from being accepted.
fn weigh_defects(
    work: &mut Work,
    (id, head): (&str, &str),
    verdicts: &Verdicts,
    submission: &Submission,
) -> (Vec<String>, bool) {
    // The present setting decides, not the one when the commit was reported.
    let required = work.facts.config.as_ref().and_then(|it| it.strength);
    let ledger = work.ledger(id);
    let mut note = ledger.strength.take().filter(|note| note.commit == head);
    if note.is_none() && required.is_some() {
        let why = "the commit was reported before `[rules] strength` was in force";
        note = Some(Box::new(StrengthNote {
            commit: head.to_owned(),
            problem: Some(why.to_owned()),
            ..StrengthNote::default()
        }));
    }
    // A waiver may stand below a text that is not a finding.
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
            let what = format!("the review's yes does not count: it does not address the {text}");
            work.note(Code::TestChangeUnanswered, id, what);
        }
    }
    if verdicts.positive && !short.is_empty() {
        let why = match &problem {
            Some(why) => format!("whether gates notice defects is not known ({why})"),
            None => "gates notice too few of the planted defects".to_owned(),
        };
        let what = format!("the review's yes does not count: {why}, which it does not address");
        work.note(Code::DefectsUnnoticed, id, what);
    }
    for text in unknown {
        let what = format!(
            "`{text}` has no effect: it needs the id of a planted defect or of a changed test, and a reason"
        );
        work.note(Code::WaiverUnknown, id, what);
    }
    let is_weak = !short.is_empty() || verdicts.positive && !unanswered.is_empty();
    (findings, is_weak)
}

/// Records an audit of the current commit and criteria.
pub(super) fn audit(
    work: &mut Work,
    verdicts: &Verdicts,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_same_tree(work, submission)?;
    let (id, head, criteria) = find_committed_key(work)?;
    let seq = work.seq();
    let planned = list_planned(work, &id, verdicts);
    let rejects = finds_disorder(work, &id, verdicts, submission, &planned);
    work.set_audit_aside(&id);
    work.ledger(&id).audit = Some(Box::new(AuditNote {
        commit: head.clone(),
        criteria_sha256: criteria.clone(),
        findings: verdicts.findings.clone(),
        concerns: verdicts.concerns.clone(),
        next_slice: verdicts.follow_up.clone(),
        rejects,
        planned,
        report_sha256: submission.report_sha256.clone(),
        seq,
    }));
    let record = work.slice_record(SliceRecordType::Audited, &id, &head);
    attach(record, submission);
    record.criteria_sha256 = Some(criteria);
    work.next.ledger.assured.unaudited = Count(0);
    work.next.state.last_auditor_verdict = Some(auditor_verdict(!verdicts.positive));
    Ok(())
}

/// Contracts that the audit calls open and that other open slices of the plan are to fulfil.
fn list_planned(work: &Work, id: &str, verdicts: &Verdicts) -> Vec<String> {
    if !verdicts.weighs_plan {
        return Vec::new();
    }
    let others = || work.next.plan.open_slices().filter(|it| it.slice_id != id);
    let is_planned = |contract: &&String| others().any(|it| it.contract_ids.contains(contract));
    let open = verdicts.open_contract_ids.iter();
    open.filter(is_planned).cloned().collect()
}

/// Whether the project is not in order: an open contract that is neither planned nor the slice's own (which is
/// open until acceptance), a blocker, a gap, a failed dimension, an unclean worktree, or an untrue plan or state.
fn finds_disorder(
    work: &Work,
    id: &str,
    verdicts: &Verdicts,
    submission: &Submission,
    planned: &[String],
) -> bool {
    let slice = work.next.plan.slice(id);
    let is_own = |contract: &String| slice.is_some_and(|it| it.contract_ids.contains(contract));
    let mut open = verdicts.open_contract_ids.iter();
    verdicts.blocker_count.0 + verdicts.high_value_gap_count.0 > 0
        || !open.all(|contract| is_own(contract) || planned.contains(contract))
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
        .find_ledger(&id)
        .and_then(|slice| slice.head.clone())
        .ok_or_else(|| Refusal::new(Code::WrongSlice, "the committed slice has no commit"))?;
    let ledger = work.ledger(&id).clone();
    let slice = work.next.plan.slice(&id);
    let criteria = slice.map_or_else(String::new, |slice| key_sha256(slice, &ledger));
    Ok((id, head, criteria))
}

fn auditor_verdict(open: bool) -> AuditorVerdict {
    if open {
        AuditorVerdict::Open
    } else {
        AuditorVerdict::Clear
    }
}

// A judge's report: a vote of the current wave, from a session of its own.

/// Records a vote of the current wave.
pub(super) fn judge(
    work: &mut Work,
    verdicts: &Verdicts,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_same_tree(work, submission)?;
    let head = work.head()?;
    require_new_judge(work, submission)?;
    require_new_words(work, submission)?;
    require_latest_commit(work, verdicts, &head)?;
    let seq = work.seq();
    let mut blockers: Vec<String> = verdicts.findings.clone();
    blockers.extend(list_other_ratings(&verdicts.findings, &verdicts.concerns));
    blockers.extend(counts(verdicts));
    let wave = &mut work.next.ledger.wave;
    wave.votes
        .retain(|vote| vote.head == head || !vote.can_stop);
    wave.votes.push(Vote {
        head: head.clone(),
        can_stop: verdicts.positive,
        blocker_count: verdicts.blocker_count,
        high_value_gap_count: verdicts.high_value_gap_count,
        blockers,
        concerns: match work.before.assurance().is_strict() {
            true => Vec::new(),
            false => verdicts.concerns.clone(),
        },
        session: submission.session.clone(),
        ticket: submission.ticket.clone(),
        report_sha256: submission.report_sha256.clone(),
        seq,
    });
    if wave.opened_at.as_ref() != Some(&head) {
        wave.opened_at = Some(head.clone());
        wave.opened = Count(1);
    }
    work.stop_record(&head, verdicts, submission);
    note_lowest(work);
    Ok(())
}

/// Maximum number of report digests that are kept.
const MAX_DIGESTS: usize = 256;

/// Refuses a repeated report. Without a session or a ticket only the words distinguish two verdicts, whatever
/// commit or wave they are for. (An audit decides nothing, and may repeat its words.)
fn require_new_words(work: &mut Work, submission: &Submission) -> Result<(), Refusal> {
    if submission.session.is_some() || submission.ticket.is_some() {
        return Ok(());
    }
    let words = words_sha256(&submission.report);
    let taken = &mut work.next.ledger.taken_digests;
    if taken.contains(&words) {
        return Err(Refusal::new(
            Code::DuplicateReport,
            "an identical report was recorded before, and this one has neither a session nor a ticket",
        )
        .replace_hints(["if it is a new report, record it with the ticket of `cook next --json`: `cook record ROLE FILE --ticket TICKET`"]));
    }
    taken.push(words);
    let over = taken.len().saturating_sub(MAX_DIGESTS);
    taken.drain(..over);
    Ok(())
}

/// Digest of a report's text, with white space folded.
fn words_sha256(report: &ReportRecord) -> String {
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut digest = Sha256::new();
    digest.update(report.role.id());
    for (field, value) in &report.fields {
        digest.update([0]);
        digest.update(field);
        digest.update([0]);
        digest.update(fold(value));
    }
    let rubric = serde_json::to_string(&report.rubric).unwrap_or_default();
    digest.update(fold(&rubric));
    hex(&digest.finalize())
}

/// Requires that each vote has a session of its own; compares sessions, else tickets, else texts.
fn require_new_judge(work: &Work, submission: &Submission) -> Result<(), Refusal> {
    let twin = work.next.ledger.wave.votes.iter().find(|vote| {
        match (
            &submission.session,
            &vote.session,
            &submission.ticket,
            &vote.ticket,
        ) {
            (Some(mine), Some(theirs), _, _) => mine == theirs,
            (_, _, Some(mine), Some(theirs)) => mine == theirs,
            _ => submission.report_sha256 == vote.report_sha256,
        }
    });
    match twin {
        None => Ok(()),
        Some(vote) => Err(refusal!(
            Code::DuplicateReport,
            "vote {} of this wave came {}; each judge must vote independently",
            vote.seq.0,
            match (&submission.session, &submission.ticket) {
                (Some(mine), _) if vote.session.as_ref() == Some(mine) => "from the same session",
                (_, Some(mine)) if vote.ticket.as_ref() == Some(mine) => "with the same ticket",
                _ => "in the same words",
            }
        )),
    }
}

/// Requires that the commit which a judge names is the latest completed slice's, or HEAD.
fn require_latest_commit(work: &Work, verdicts: &Verdicts, head: &str) -> Result<(), Refusal> {
    let Some(named) = &verdicts.commit else {
        return Ok(());
    };
    let latest = work
        .next
        .state
        .latest_completed_slice
        .as_ref()
        .and_then(|id| work.next.find_ledger(id))
        .and_then(|slice| slice.last_head.clone());
    let fits = |commit: &str| commit.starts_with(named.as_str());
    if named.len() >= 7 && (fits(head) || latest.as_deref().is_some_and(fits)) {
        return Ok(());
    }
    Err(refusal!(
        Code::WrongCommit,
        "the report names `{named}` as the latest completed slice's commit, but that is {}",
        latest.as_deref().map_or("none", short)
    ))
}

// Checks that reviewers, auditors and judges share.

/// Requires that a read-only role examined HEAD, and that the worktree is clean or as it was when the role's
/// ticket was given out or, without a ticket, at the last transition.
fn require_same_tree(work: &Work, submission: &Submission) -> Result<(), Refusal> {
    let head = work.facts.head()?.commit.as_deref().unwrap_or("(none)");
    let elsewhere = |began: &&str| *began != head;
    if let Some(began) = submission.began_at.as_deref().filter(elsewhere) {
        return Err(refusal!(
            Code::TreeChanged,
            "its session began at {}, but HEAD is {head}: it examined another commit",
            clean(began, Lines::Fold)
        )
        .replace_hints(["start a new session of the role that is due: `cook next`"]));
    }
    let worktree = work.facts.worktree()?;
    let ticket = submission.ticket.as_deref();
    let told = ticket.and_then(|ticket| is_for_tree(ticket, &worktree.digest));
    let seen = work.before.ledger.status_seen.as_ref();
    let same = told.unwrap_or_else(|| seen.is_none_or(|seen| seen == &worktree.digest));
    if same || worktree.is_clean() {
        return Ok(());
    }
    let since = match told {
        Some(_) => "its ticket was given",
        None => "the last transition",
    };
    Err(refusal!(Code::TreeChanged, "the worktree changed since {since}: {}",
            worktree.first_dirty())
    .replace_hints([
        format!(
            "get a new ticket: `cook next` prints it for the present worktree, and `cook record {} FILE --ticket TICKET` records the report with it",
            submission.report.role.short()
        ),
        "or revert the changes; if you commit them, the new commit must be examined".to_owned(),
    ]))
}
