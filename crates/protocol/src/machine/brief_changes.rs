//! Changes of the brief, which leave the work unchanged and its tickets valid, and messages of the user.

use super::facts::{BriefFacts, Facts};
use super::rule::Dispatch;
use super::work::{Step, Work, require_reground};
use super::{user_answers, wave};
use crate::brief;
use crate::brief::Author;
use crate::model::{Actor, BriefChange, BriefRecord, Cause, Records, Timestamp, Verdict};
use crate::prelude::*;
use crate::question::BriefQuestion;

/// An empty change, for a re-ground that does not change the brief.
static NOTHING: BriefChange = BriefChange {
    entries: Vec::new(),
    reconciliation: Vec::new(),
    whole: false,
    guide: None,
};

/// The id of the message that the transition with this sequence number records.
pub fn message_id(seq: u64) -> String {
    format!("msg-{seq}")
}

/// The facts that a change of the brief needs.
fn question(snapshot: &Snapshot, change: &BriefChange) -> BriefQuestion {
    let causes = change
        .reconciliation
        .iter()
        .filter_map(|outcome| outcome.by.as_deref());
    let messages: BTreeSet<(String, Option<String>)> = causes
        .filter_map(|cause| match Anchor::parse(cause) {
            Ok(Anchor::User { id, quote }) => Some((id, quote)),
            _ => None,
        })
        .collect();
    BriefQuestion {
        entries: snapshot
            .brief
            .iter()
            .flat_map(|brief| brief.entries.clone())
            .collect(),
        lines: change.entries.clone(),
        messages,
    }
}

fn author(
    before: &Snapshot,
    facts: &Facts,
    by: &str,
    session: Option<&String>,
    actor: Actor,
) -> Author {
    Author {
        by: by.to_owned(),
        session: session.cloned(),
        seq: Count(before.ledger.seq.0 + 1),
        at: Timestamp::Text(facts.now.clone()),
        is_user: matches!(actor, Actor::User | Actor::Script),
    }
}

/// Applies an event that leaves the work unchanged: a change of the brief, or a signature.
pub(super) fn apply(
    before: &Snapshot,
    facts: &Facts,
    due: Dispatch,
    event: &Event,
    actor: Actor,
) -> Result<Step, Refusal> {
    let mut next = before.clone();
    let (records, findings) = match event {
        Event::Briefed {
            change,
            by,
            session,
        } => {
            let author = author(before, facts, by, session.as_ref(), actor);
            change_brief(&mut next, facts, change, &author)?
        }
        _ => (Vec::new(), Vec::new()),
    };
    let ledger = &mut next.ledger;
    ledger.seq.0 += 1;
    ledger.aside.0 += 1;
    ledger.last_at = Some(facts.now.clone());
    next.state.revision = Some(next.ledger.seq);
    next.active.revision = Some(next.ledger.seq);
    Ok(Step {
        snapshot: next,
        records: Records {
            brief: records,
            ..Records::default()
        },
        rule: due.rule,
        next: due,
        findings,
        displace: false,
    })
}

fn change_brief(
    next: &mut Snapshot,
    facts: &Facts,
    change: &BriefChange,
    author: &Author,
) -> Result<(Vec<BriefRecord>, Vec<Finding>), Refusal> {
    let measured = facts.brief(question(next, change))?;
    let prior = next.brief.clone().unwrap_or_default();
    let done = brief::reconcile(&prior, change, measured, author)?;
    if done.document == prior && done.records.is_empty() {
        return Err(Refusal::new(
            Code::BriefUnchanged,
            "the brief already contains this",
        ));
    }
    let mut findings = done.findings;
    findings.extend(refuse_unproved(change, measured, &done.records, author)?);
    next.brief = Some(done.document);
    Ok((done.records, findings))
}

/// Refuses an entry whose evidence does not hold, and an agent's `forbid` entry whose source does not. In a whole
/// brief from elsewhere they are findings, and the next change makes questions of them.
fn refuse_unproved(
    change: &BriefChange,
    facts: &BriefFacts,
    records: &[BriefRecord],
    author: &Author,
) -> Result<Vec<Finding>, Refusal> {
    let mut findings = Vec::new();
    for (number, standing) in &facts.unproved {
        let Some(line) = change.entries.get(*number) else {
            continue;
        };
        let forbids = line.slot == Slot::Forbid;
        if line.slot != Slot::Established && author.is_user {
            continue;
        }
        let text = format!("{}: {}", line.slot.id(), brief::line_text(line));
        let is_new = records
            .iter()
            .any(|record| record.kind == Cause::Added && record.text == text);
        if !is_new && !change.whole {
            continue;
        }
        let what = format!(
            "{} is {}: {}",
            line.tail,
            standing.verdict.id(),
            standing.why
        );
        let fails = forbids
            || matches!(
                standing.verdict,
                Verdict::Missing | Verdict::Changed | Verdict::Malformed
            );
        if fails && !change.whole {
            return Err(Refusal::new(Code::BriefUnproved, what));
        }
        findings.push(Finding::new(Code::BriefUnverified, what).at(line.head.clone()));
    }
    Ok(findings)
}

/// Keeps a message that the user sent unasked. It binds like an answer: judges who voted without it vote again,
/// and a project that was done is open again.
pub(super) fn say(
    work: &mut Work,
    text: &str,
    session: Option<&String>,
    actor: Actor,
) -> Result<(), Refusal> {
    let by = match actor {
        Actor::User => "user",
        _ => "script",
    };
    let author = author(work.before, work.facts, by, session, actor);
    work.records.brief.push(message(text, &author)?);
    bind(work, text);
    // The work was found done before these words could be considered.
    if work.before.state.continuation_policy == Policy::Done {
        work.next.state.continuation_policy = Policy::Continue;
        let cause = "the project was done, and then the user said something";
        require_reground(&mut work.next, cause.to_owned());
    }
    Ok(())
}

/// Keeps the user's words that came with another command. They bind like an answer, but the same words only once:
/// a user may pause every day for the same reason.
pub(super) fn hear(work: &mut Work, text: &str) {
    let mut answers = work.next.ledger.answers.iter();
    let is_known = answers
        .any(|known| known.question.is_empty() && known.slices.is_empty() && known.answer == text);
    if !is_known {
        bind(work, text);
    }
}

/// Makes the next re-ground weigh the user's words, and voids votes that were given without them.
fn bind(work: &mut Work, text: &str) {
    user_answers::keep_said(work, text);
    work.next.ledger.answered = Some(text.to_owned());
    if !work.next.ledger.wave.votes.is_empty() {
        wave::void(&mut work.next);
        wave::grant(&mut work.next);
    }
}

fn message(text: &str, author: &Author) -> Result<BriefRecord, Refusal> {
    let invalid = |what: String| Refusal::new(Code::BriefInvalid, what);
    if text.trim().is_empty() {
        return Err(invalid("the message is empty".to_owned()));
    }
    if text.chars().count() > MAX_FIELD_CHARS {
        return Err(invalid(format!(
            "the message is longer than {MAX_FIELD_CHARS} characters: send several messages, or write a file and name it in a message"
        )));
    }
    Ok(BriefRecord {
        schema_version: SchemaVersion,
        kind: Cause::Said,
        recorded_at: author.at.clone(),
        seq: author.seq,
        id: message_id(author.seq.0),
        text: text.to_owned(),
        by: author.by.clone(),
        cause: None,
        why: None,
        session: author.session.clone(),
    })
}

/// Computes the brief after a re-ground: its own changes, anchors that moved, and claims that lost their place.
pub(super) fn reground(
    work: &mut Work,
    change: Option<&BriefChange>,
    submission: Option<&Submission>,
) -> Result<(), Refusal> {
    if work.before.brief.is_none() && change.is_none() {
        return Ok(());
    }
    let change = change.unwrap_or(&NOTHING);
    let measured = work.facts.brief(question(work.before, change))?;
    let author = author(
        work.before,
        work.facts,
        submission.map_or(ByCook::BY, |submission| submission.report.role.short()),
        submission.and_then(|submission| submission.session.as_ref()),
        submission.map_or(Actor::Cook, |_| Actor::Role),
    );
    let prior = work.before.brief.clone().unwrap_or_default();
    let done = brief::reconcile(&prior, change, measured, &author)?;
    work.findings.extend(done.findings);
    work.findings
        .extend(refuse_unproved(change, measured, &done.records, &author)?);
    work.records.brief.extend(done.records);
    work.next.brief = Some(done.document);
    Ok(())
}

/// Restores the brief on an undo, and records every entry that disappears or returns.
pub(super) fn undo(work: &mut Work, to: &Snapshot, next: &mut Snapshot) {
    let author = author(work.before, work.facts, "undo", None, Actor::User);
    let (document, records) = brief::undo(work.before.brief.as_ref(), to.brief.as_ref(), &author);
    if !records.is_empty() {
        work.findings.push(finding!(
            Code::BriefUndone,
            "{} entries of the brief went or came back",
            records.len()
        ));
    }
    work.records.brief.extend(records);
    next.brief = document;
}
