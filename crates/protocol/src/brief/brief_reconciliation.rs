//! The only way into the brief: a change is compared with the present entries, and every earlier entry is kept,
//! followed, superseded, demoted or retired, each with a cause. Anything else is a `silent_drop`.

use super::artifact::{read_line_from_value, require_room};
use super::entry::{FieldError, entry_id, is_users, line_text, settle};
use crate::model::{
    BriefChange, BriefDocument, BriefEntry, BriefFacts, BriefOutcome, BriefRecord, BriefStanding,
    BriefVerdict, Cause, GuideUpdate, MAX_ENTRIES, Stamp, Timestamp, Verdict,
};
use crate::prelude::*;
use serde_json::json;

/// Applies a change to the brief.
///
/// # Errors
/// `silent_drop` with every entry that would be lost, `user_only` for a forbid,
/// `brief_entry_unknown`, `brief_contradictory`,
/// `brief_full`, `brief_invalid`.
pub fn reconcile(
    prior: &BriefDocument,
    change: &BriefChange,
    incoming: &BriefFacts,
    author: &Author,
) -> Result<Reconciled, Refusal> {
    let lines = normalise_lines(&change.entries)?;
    let mut next = Next::new(prior, incoming, author);
    let outcomes = by_entry(prior, &change.reconciliation)?;
    next.begin(&outcomes)?;
    for (number, line) in lines.into_iter().enumerate() {
        let stamp = incoming.stamps.get(number).cloned().flatten();
        next.take(line, stamp, change.whole, &outcomes)?;
    }
    if change.whole {
        next.refuse_drops(&outcomes)?;
    }
    // This comes first, so that a claim which has just become a question is not accepted as a cause.
    next.follow_and_demote(&outcomes)?;
    next.end(&outcomes)?;
    next.finish(change)
}

/// Returns the entries as an artifact would hold them, each field checked.
fn normalise_lines(lines: &[BriefLine]) -> Result<Vec<BriefLine>, Refusal> {
    let invalid = |breach: FieldError| Refusal::new(Code::BriefInvalid, breach.to_string());
    for slot in Slot::ALL {
        let entries = lines.iter().filter(|line| line.slot == slot).count();
        require_room(entries, &format!("brief.{}", slot.id())).map_err(invalid)?;
    }
    let mut numbers = [0_usize; 5];
    // The reader of artifacts is used, so that both accept the same.
    let read = lines.iter().map(|line| {
        let mut line = line.clone();
        for (_, text) in line.texts_mut() {
            *text = settle(text);
        }
        let number = &mut numbers[line.slot as usize];
        let path = format!("brief.{}[{number}]", line.slot.id());
        *number += 1;
        let fields: BTreeMap<&str, &str> = line.fields().into_iter().collect();
        read_line_from_value(line.slot, &json!(fields), &path, &mut Vec::new())
    });
    let read: Result<_, FieldError> = read.collect();
    read.map_err(invalid)
}

/// The outcomes by the entry that each is about.
fn by_entry<'a>(
    prior: &BriefDocument,
    reconciliation: &'a [BriefOutcome],
) -> Result<Outcomes<'a>, Refusal> {
    let mut outcomes = Outcomes::new();
    for outcome in reconciliation {
        if !prior.entries.iter().any(|entry| entry.id == outcome.id) {
            return Err(refusal!(
                Code::BriefEntryUnknown,
                "no live entry has the id `{}`",
                outcome.id
            ));
        }
        if outcomes.insert(&outcome.id, outcome).is_some() {
            return Err(refusal!(
                Code::BriefContradictory,
                "`{}` is named twice",
                outcome.id
            ));
        }
        if outcome.why.trim().is_empty() || outcome.why.chars().count() > MAX_FIELD_CHARS {
            return Err(refusal!(
                Code::BriefInvalid,
                "`{}` needs a reason of at most {MAX_FIELD_CHARS} characters",
                outcome.id
            ));
        }
    }
    Ok(outcomes)
}

/// The author of a change, and its time.
#[derive(Debug, Clone)]
pub struct Author {
    /// The name that the author goes by.
    pub by: String,
    /// The session, if known.
    pub session: Option<String>,
    /// Log sequence number of the transition.
    pub seq: Count,
    /// The time of the change.
    pub at: Timestamp,
    /// Whether it is a person, or a script that said so: only these may end a forbid.
    pub is_user: bool,
}

/// The brief after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    /// The new document.
    pub document: BriefDocument,
    /// Records of what became of entries; empty if nothing changed except the guide.
    pub records: Vec<BriefRecord>,
    /// Warnings about demotions.
    pub findings: Vec<Finding>,
}

/// Maximum size of all that agents forbid, in bytes, because it is never left out of a brief.
const MAX_FORBIDS: usize = 2_048;

fn agents_forbids(entries: &[BriefEntry]) -> usize {
    let entries = entries.iter();
    let theirs = entries.filter(|entry| entry.line.slot == Slot::Forbid && !is_users(&entry.by));
    theirs.map(|entry| line_text(&entry.line).len()).sum()
}

pub(super) type Outcomes<'a> = BTreeMap<&'a str, &'a BriefOutcome>;

pub(super) struct Next<'a> {
    pub prior: &'a BriefDocument,
    pub incoming: &'a BriefFacts,
    pub author: &'a Author,
    pub live: Vec<BriefEntry>,
    /// Ids of earlier entries that the change repeats.
    pub matched: BTreeSet<String>,
    pub records: Vec<BriefRecord>,
    pub findings: Vec<Finding>,
}

impl<'a> Next<'a> {
    fn new(prior: &'a BriefDocument, incoming: &'a BriefFacts, author: &'a Author) -> Self {
        Self {
            prior,
            incoming,
            author,
            live: Vec::new(),
            matched: BTreeSet::new(),
            records: Vec::new(),
            findings: Vec::new(),
        }
    }

    pub(super) fn entry(
        &self,
        id: String,
        line: BriefLine,
        stamp: Option<Stamp>,
        whole: bool,
    ) -> BriefEntry {
        BriefEntry {
            id,
            line,
            by: self.author.by.clone(),
            recorded_at: self.author.at.clone(),
            seq: self.author.seq,
            session: self.author.session.clone(),
            cycle: Count(self.prior.cycle.0 + u64::from(whole)),
            demoted_from: None,
            stamp,
        }
    }

    pub(super) fn record(
        &mut self,
        kind: Cause,
        entry: &BriefEntry,
        cause: Option<String>,
        why: Option<String>,
    ) {
        self.records.push(BriefRecord {
            schema_version: SchemaVersion,
            kind,
            recorded_at: self.author.at.clone(),
            seq: self.author.seq,
            id: entry.id.clone(),
            text: format!("{}: {}", entry.line.slot.id(), line_text(&entry.line)),
            by: self.author.by.clone(),
            cause,
            why,
            session: self.author.session.clone(),
        });
    }

    pub(super) fn finish(self, change: &BriefChange) -> Result<Reconciled, Refusal> {
        for slot in Slot::ALL {
            let number = self
                .live
                .iter()
                .filter(|entry| entry.line.slot == slot)
                .count();
            if number > MAX_ENTRIES {
                return Err(refusal!(
                    Code::BriefFull,
                    "`{}` would hold {number} entries of {MAX_ENTRIES}",
                    slot.id()
                ));
            }
        }
        let (before, now) = (
            agents_forbids(&self.prior.entries),
            agents_forbids(&self.live),
        );
        if now > MAX_FORBIDS && now > before {
            return Err(refusal!(
                Code::BriefFull,
                "what agents forbid would take {now} of {MAX_FORBIDS} bytes"
            ));
        }
        let guide = match &change.guide {
            Some(proposal) => Some(GuideUpdate {
                content: proposal.content.clone(),
                reason: proposal.reason.clone(),
                by: self.author.by.clone(),
                seq: self.author.seq,
            }),
            None => self.prior.guide.clone(),
        };
        // The same guide again is not a change.
        let guide = match (&self.prior.guide, guide) {
            (Some(old), Some(new)) if old.content == new.content && old.reason == new.reason => {
                Some(old.clone())
            }
            (_, guide) => guide,
        };
        let changed = !self.records.is_empty() || guide != self.prior.guide;
        Ok(Reconciled {
            document: BriefDocument {
                schema_version: SchemaVersion,
                cycle: Count(self.prior.cycle.0 + u64::from(change.whole && changed)),
                entries: self.live,
                guide,
            },
            records: self.records,
            findings: self.findings,
        })
    }

    /// Keeps every entry without an outcome. Only the user may give a forbid one.
    pub(super) fn begin(&mut self, outcomes: &Outcomes) -> Result<(), Refusal> {
        for entry in &self.prior.entries {
            let Some(outcome) = outcomes.get(entry.id.as_str()) else {
                self.live.push(entry.clone());
                continue;
            };
            if entry.line.slot == Slot::Forbid {
                self.user_only(entry)?;
            }
            if outcome.verdict == BriefVerdict::Demoted && entry.line.slot != Slot::Established {
                return Err(refusal!(
                    Code::BriefContradictory,
                    "`{}` is not established, so it cannot be demoted",
                    entry.id
                ));
            }
        }
        Ok(())
    }

    pub(super) fn user_only(&self, entry: &BriefEntry) -> Result<(), Refusal> {
        if self.author.is_user {
            return Ok(());
        }
        Err(refusal!(
            Code::UserOnly,
            "only the user ends or changes the forbid `{}`: {}",
            entry.id,
            entry.line.head
        ))
    }

    /// Takes one entry of the change: it exists already, it exists with another source, or it is new.
    pub(super) fn take(
        &mut self,
        line: BriefLine,
        stamp: Option<Stamp>,
        whole: bool,
        outcomes: &Outcomes,
    ) -> Result<(), Refusal> {
        let id = self.find_known_id(&line, stamp.as_ref());
        if outcomes.contains_key(id.as_str()) {
            return Err(refusal!(
                Code::BriefContradictory,
                "`{id}` is kept among the entries and given an end"
            ));
        }
        let Some(at) = self.live.iter().position(|entry| entry.id == id) else {
            let entry = self.entry(id, line, stamp, whole);
            self.record(Cause::Added, &entry, None, None);
            self.matched.insert(entry.id.clone());
            self.live.push(entry);
            return Ok(());
        };
        self.matched.insert(id.clone());
        let old = self.live[at].clone();
        if old.line == line || self.same_but_moved(&old, &line) {
            return Ok(());
        }
        if old.line.slot == Slot::Forbid {
            self.user_only(&old)?;
        }
        let entry = self.entry(id.clone(), line, stamp, whole);
        self.record(
            Cause::Superseded,
            &old,
            Some(id),
            Some("reworded".to_owned()),
        );
        self.live[at] = entry;
        Ok(())
    }

    /// The id of the earlier entry that a line repeats, or else the line's own.
    fn find_known_id(&self, line: &BriefLine, stamp: Option<&Stamp>) -> String {
        let id = entry_id(line, stamp);
        let earlier = &self.prior.entries;
        if earlier.iter().any(|entry| entry.id == id) {
            return id;
        }
        let same = earlier
            .iter()
            .find(|entry| entry.line == *line || self.same_but_moved(entry, line));
        same.map_or(id, |entry| entry.id.clone())
    }

    /// Whether the line is this entry, with its anchor as it should be written now.
    fn same_but_moved(&self, entry: &BriefEntry, line: &BriefLine) -> bool {
        let standing = self.incoming.standings.get(&entry.id);
        let Some(now) = standing.and_then(|standing| standing.now.as_ref()) else {
            return false;
        };
        let mut followed = entry.line.clone();
        if followed.slot == Slot::Established {
            followed.tail.clone_from(now);
        }
        followed == *line
    }

    /// Refuses a whole brief that leaves out an entry without giving it an outcome.
    fn refuse_drops(&self, outcomes: &Outcomes) -> Result<(), Refusal> {
        let lost: Vec<Finding> = self
            .prior
            .entries
            .iter()
            .filter(|entry| !outcomes.contains_key(entry.id.as_str()))
            .filter(|entry| !self.matched.contains(&entry.id))
            .filter(|entry| !self.is_question_by_now(entry))
            .map(silent_drop)
            .collect();
        if lost.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = lost
            .iter()
            .filter_map(|finding| finding.place.as_deref())
            .collect();
        Err(refusal!(
            Code::SilentDrop,
            "entries would be lost without a cause: {}",
            ids.join(", ")
        )
        .with(lost))
    }

    /// Whether the brief holds the question in place of the claim, because it was shown after the anchor had
    /// changed.
    fn is_question_by_now(&self, entry: &BriefEntry) -> bool {
        let standing = self.incoming.standings.get(&entry.id);
        standing.is_some_and(|standing| is_lost(&entry.line, standing))
            && self
                .matched
                .contains(&entry_id(&question(&entry.line), None))
    }

    /// Ends the entries that have an outcome, each with a valid cause.
    pub(super) fn end(&mut self, outcomes: &Outcomes) -> Result<(), Refusal> {
        for entry in &self.prior.entries {
            let Some(outcome) = outcomes.get(entry.id.as_str()) else {
                continue;
            };
            let cause = match (&outcome.by, outcome.verdict) {
                (None, BriefVerdict::Demoted) => None,
                (by, verdict) => Some(self.cause(&entry.id, by.as_deref(), verdict)?),
            };
            let kind = match outcome.verdict {
                BriefVerdict::Superseded => Cause::Superseded,
                BriefVerdict::Retired => Cause::Retired,
                BriefVerdict::Demoted => {
                    self.demote(entry, cause, &outcome.why)?;
                    continue;
                }
            };
            self.record(kind, entry, cause, Some(outcome.why.clone()));
        }
        Ok(())
    }

    /// The cause of an end: a live entry, or a message of the user. A supersession needs an entry.
    pub(super) fn cause(
        &self,
        id: &str,
        by: Option<&str>,
        verdict: BriefVerdict,
    ) -> Result<String, Refusal> {
        let by = by.unwrap_or_default();
        let is_live = self.live.iter().any(|entry| entry.id == by);
        let is_message = verdict != BriefVerdict::Superseded
            && matches!(Anchor::parse(by), Ok(Anchor::User { id, .. }) if self.incoming.messages.contains(&id));
        if is_live || is_message {
            return Ok(by.to_owned());
        }
        let what = match verdict {
            BriefVerdict::Superseded => "a live entry",
            _ => "a live entry or a message of the user's",
        };
        Err(refusal!(
            Code::SilentDrop,
            "`{id}` is {}, and `{by}` is not {what}",
            verdict.id()
        )
        .with(
            self.prior
                .entries
                .iter()
                .find(|entry| entry.id == id)
                .map(silent_drop)
                .into_iter()
                .collect(),
        ))
    }

    /// Turns an established entry into a question, unless the cause is one already.
    fn demote(&mut self, entry: &BriefEntry, by: Option<String>, why: &str) -> Result<(), Refusal> {
        let is_question = |live: &BriefEntry| live.line.slot == Slot::Open;
        let cause = match by {
            Some(by)
                if self
                    .live
                    .iter()
                    .any(|live| live.id == by && is_question(live)) =>
            {
                by
            }
            _ => {
                let question = self.entry(String::new(), question(&entry.line), None, false);
                let question = BriefEntry {
                    id: entry_id(&question.line, None),
                    demoted_from: Some(entry.id.clone()),
                    ..question
                };
                let id = question.id.clone();
                if !self.live.iter().any(|live| live.id == id) {
                    self.live.push(question);
                }
                id
            }
        };
        self.findings
            .push(finding!(Code::BriefDemoted, "{}: {why}", entry.line.head).at(entry.id.clone()));
        self.record(Cause::Demoted, entry, Some(cause), Some(why.to_owned()));
        Ok(())
    }

    /// Follows anchors that moved, and turns claims into questions if their place holds something else or nothing.
    fn follow_and_demote(&mut self, outcomes: &Outcomes) -> Result<(), Refusal> {
        for (id, standing) in &self.incoming.standings {
            let Some(at) = self.live.iter().position(|entry| entry.id == *id) else {
                continue;
            };
            // An entry that this change has just written is not judged by its old place.
            if outcomes.contains_key(id.as_str()) || self.live[at].seq == self.author.seq {
                continue;
            }
            if is_lost(&self.live[at].line, standing) {
                let entry = self.live.remove(at);
                self.demote(&entry, None, &standing.why)?;
            } else if let (Some(now), Some(stamp)) = (&standing.now, self.incoming.followed.get(id))
            {
                let old = self.live[at].clone();
                self.record(
                    Cause::Followed,
                    &old,
                    Some(id.clone()),
                    Some(standing.why.clone()),
                );
                if self.live[at].line.slot == Slot::Established {
                    self.live[at].line.tail.clone_from(now);
                }
                self.live[at].stamp = Some(stamp.clone());
            }
        }
        Ok(())
    }
}

/// The finding for an entry that would be lost.
fn silent_drop(entry: &BriefEntry) -> Finding {
    finding!(
        Code::SilentDrop,
        "{} {}: {}",
        entry.line.slot.id(),
        entry.id,
        entry.line.head
    )
    .at(entry.id.clone())
}

/// Whether the place of a claim holds something else now, or is gone. A receipt or a test may return with the next
/// run of its gate; a place in a file does not.
fn is_lost(line: &BriefLine, standing: &BriefStanding) -> bool {
    if line.slot != Slot::Established {
        return false;
    }
    let in_git = matches!(
        Anchor::parse(&line.tail),
        Ok(Anchor::Lines { .. }
            | Anchor::Symbol { .. }
            | Anchor::Commit(_)
            | Anchor::Doc { .. }
            | Anchor::Gone { .. }
            | Anchor::Entry(_))
    );
    match standing.verdict {
        Verdict::Changed => true,
        Verdict::Missing => in_git,
        _ => false,
    }
}

/// The question that an established claim becomes.
fn question(line: &BriefLine) -> BriefLine {
    let cut = |text: String| text.chars().take(MAX_FIELD_CHARS).collect::<String>();
    BriefLine::new(
        Slot::Open,
        cut(format!("Does this still hold: {}", line.head)),
        cut(format!(
            "Look again at {} and anchor the claim to what stands there.",
            line.tail
        )),
    )
}

/// The brief after `cook undo`: as it was before, with a record for every entry that disappears or returns.
pub fn undo(
    current: Option<&BriefDocument>,
    then: Option<&BriefDocument>,
    author: &Author,
) -> (Option<BriefDocument>, Vec<BriefRecord>) {
    let Some(current) = current else {
        return (then.cloned(), Vec::new());
    };
    let then = then.cloned().unwrap_or_default();
    let incoming = BriefFacts::default();
    let mut next = Next::new(current, &incoming, author);
    let why = |entry: &BriefEntry| Some(format!("#{} was taken back", entry.seq.0));
    for entry in current
        .entries
        .iter()
        .filter(|entry| !then.entries.contains(entry))
    {
        next.record(Cause::Retired, entry, Some("undo".to_owned()), why(entry));
    }
    for entry in then
        .entries
        .iter()
        .filter(|entry| !current.entries.contains(entry))
    {
        next.record(Cause::Restored, entry, Some("undo".to_owned()), None);
    }
    (Some(then), next.records)
}
