//! Entries that end: each with a cause that stands, or because their place holds something else.

use super::next::{Next, Outcomes};
use crate::brief::identity::entry_id;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{
    Anchor, BriefEntry, BriefLine, BriefStanding, BriefVerdict, Cause, MAX_FIELD_CHARS, Slot,
    Verdict,
};

impl Next<'_> {
    /// A whole brief names every entry that goes on.
    pub(super) fn refuse_drops(&self, outcomes: &Outcomes) -> Result<(), Refusal> {
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
        let message = format!("entries would be lost without a cause: {}", ids.join(", "));
        Err(Refusal::new(Code::SilentDrop, message).with(lost))
    }

    /// A brief that was shown after an anchor changed holds the question in the claim's place.
    pub(super) fn is_question_by_now(&self, entry: &BriefEntry) -> bool {
        let standing = self.incoming.standings.get(&entry.id);
        standing.is_some_and(|standing| is_lost(&entry.line, standing))
            && self
                .matched
                .contains(&entry_id(&question(&entry.line), None))
    }

    /// Ends the entries that are given an end, each with a cause that stands.
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

    /// A live entry, or a message of the user's. A supersession needs an entry.
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
        Err(Refusal::new(
            Code::SilentDrop,
            format!("`{id}` is {}, and `{by}` is not {what}", verdict.id()),
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

    /// An established entry becomes a question, unless the cause is one already.
    pub(super) fn demote(
        &mut self,
        entry: &BriefEntry,
        by: Option<String>,
        why: &str,
    ) -> Result<(), Refusal> {
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
        self.findings.push(
            Finding::new(Code::BriefDemoted, format!("{}: {why}", entry.line.head))
                .at(entry.id.clone()),
        );
        self.record(Cause::Demoted, entry, Some(cause), Some(why.to_owned()));
        Ok(())
    }

    /// Anchors that moved are followed; claims whose place holds something else, or
    /// nothing, become questions.
    pub(super) fn follow_and_demote(&mut self, outcomes: &Outcomes) -> Result<(), Refusal> {
        for (id, standing) in &self.incoming.standings {
            let Some(at) = self.live.iter().position(|entry| entry.id == *id) else {
                continue;
            };
            // What this change has just written anew is not judged by the old place.
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
                self.live[at].line.tail.clone_from(now);
                self.live[at].stamp = Some(stamp.clone());
            }
        }
        Ok(())
    }
}

/// An entry that would be lost.
fn silent_drop(entry: &BriefEntry) -> Finding {
    let what = format!("{} {}: {}", entry.line.slot.id(), entry.id, entry.line.head);
    Finding::new(Code::SilentDrop, what).at(entry.id.clone())
}

/// The place of a claim holds something else now, or is gone. A receipt or a test
/// comes back with the next run of its gate; a place in a file does not.
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

/// The question that an established claim turns into.
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
