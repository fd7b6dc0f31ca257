//! A judge's report: a vote of the current wave, from a session of its own.

use super::read_only::require_same_tree;
use crate::diagnostic::{Code, Refusal};
use crate::digest::hex;
use crate::machine::asked::list_other_ratings;
use crate::machine::assurance::note_lowest;
use crate::machine::text::short;
use crate::machine::work::Work;
use crate::model::{Count, ReportRecord, Submission, Verdicts, Vote};
use crate::report::counts;
use sha2::{Digest, Sha256};

/// A vote of the current wave.
pub(in crate::machine) fn judge(
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

/// Reports whose digests are kept.
const MAX_DIGESTS: usize = 256;

/// Without a session or a ticket the words are all that tells two verdicts apart, whatever
/// commit or wave they are handed in for. (An audit decides nothing, and may say the same.)
pub(super) fn require_new_words(work: &mut Work, submission: &Submission) -> Result<(), Refusal> {
    if submission.session.is_some() || submission.ticket.is_some() {
        return Ok(());
    }
    let words = words_sha256(&submission.report);
    let taken = &mut work.next.ledger.taken_digests;
    if taken.contains(&words) {
        return Err(Refusal::new(
            Code::DuplicateReport,
            "a report in these very words was taken before, and this one comes with neither session nor ticket",
        )
        .replace_hints(["when it is a report of its own, hand it in with the ticket of `cook next --json`: `cook record ROLE FILE --ticket TICKET`"]));
    }
    taken.push(words);
    let over = taken.len().saturating_sub(MAX_DIGESTS);
    taken.drain(..over);
    Ok(())
}

/// Digest of what a report says, white space folded.
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

/// Two votes come from two sessions; told by session, else by ticket, else by text.
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
        Some(vote) => Err(Refusal::new(
            Code::DuplicateReport,
            format!(
                "vote {} of this wave came {}; each judge answers for itself",
                vote.seq.0,
                match (&submission.session, &submission.ticket) {
                    (Some(mine), _) if vote.session.as_ref() == Some(mine) =>
                        "from the same session",
                    (_, Some(mine)) if vote.ticket.as_ref() == Some(mine) => "with the same ticket",
                    _ => "in the same words",
                }
            ),
        )),
    }
}

/// The commit a judge names is the latest completed slice's, or HEAD.
fn require_latest_commit(work: &Work, verdicts: &Verdicts, head: &str) -> Result<(), Refusal> {
    let Some(named) = &verdicts.commit else {
        return Ok(());
    };
    let latest = work
        .next
        .state
        .latest_completed_slice
        .as_ref()
        .and_then(|id| work.next.ledger.slices.get(id))
        .and_then(|slice| slice.last_head.clone());
    let fits = |commit: &str| commit.starts_with(named.as_str());
    if named.len() >= 7 && (fits(head) || latest.as_deref().is_some_and(fits)) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::WrongCommit,
        format!(
            "the report names `{named}` as the latest completed slice's commit, it is {}",
            latest.as_deref().map_or("none", short)
        ),
    ))
}
