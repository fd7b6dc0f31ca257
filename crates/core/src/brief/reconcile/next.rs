//! The next brief while it is made: who makes it, from what, and what becomes of it.

use crate::brief::author::is_users;
use crate::brief::render::line_text;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{
    BriefChange, BriefDocument, BriefEntry, BriefLine, BriefOutcome, BriefRecord, BriefStanding,
    Cause, Count, GuideUpdate, MAX_ENTRIES, SchemaVersion, Slot, Stamp, Timestamp,
};
use std::collections::{BTreeMap, BTreeSet};

/// Who changes the brief, and when.
#[derive(Debug, Clone)]
pub struct Author {
    /// As they call themselves.
    pub by: String,
    /// The session, when known.
    pub session: Option<String>,
    /// Log sequence of the transition.
    pub seq: Count,
    /// When.
    pub at: Timestamp,
    /// A person, or a script that said so: only they end a forbid.
    pub is_user: bool,
}

/// What was measured about the anchors.
#[derive(Debug, Clone, Default)]
pub struct Incoming {
    /// For each entry of the change, in order: where its anchor points now.
    pub stamps: Vec<Option<Stamp>>,
    /// Earlier entries whose anchor does not stand as it was stamped, by id.
    pub standings: BTreeMap<String, BriefStanding>,
    /// Where anchors that moved point now, by entry id.
    pub followed: BTreeMap<String, Stamp>,
    /// Messages of the user's that the change points to and that are there.
    pub messages: BTreeSet<String>,
}

/// The next brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    /// What is kept from now on.
    pub document: BriefDocument,
    /// What became of entries; empty when nothing changed but the guide.
    pub records: Vec<BriefRecord>,
    /// Warnings: demotions.
    pub findings: Vec<Finding>,
}

/// Bytes of what agents forbid, together: it is never left out of a brief.
const MAX_FORBIDS: usize = 2_048;

fn agents_forbids(entries: &[BriefEntry]) -> usize {
    let entries = entries.iter();
    let theirs = entries.filter(|entry| entry.line.slot == Slot::Forbid && !is_users(&entry.by));
    theirs.map(|entry| line_text(&entry.line).len()).sum()
}

pub(super) type Outcomes<'a> = BTreeMap<&'a str, &'a BriefOutcome>;

pub(super) struct Next<'a> {
    pub prior: &'a BriefDocument,
    pub incoming: &'a Incoming,
    pub author: &'a Author,
    pub live: Vec<BriefEntry>,
    /// Ids of earlier entries that the change names as entries.
    pub matched: BTreeSet<String>,
    pub records: Vec<BriefRecord>,
    pub findings: Vec<Finding>,
}

impl Next<'_> {
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
                return Err(Refusal::new(
                    Code::BriefFull,
                    format!(
                        "`{}` would hold {number} entries of {MAX_ENTRIES}",
                        slot.id()
                    ),
                ));
            }
        }
        let (before, now) = (
            agents_forbids(&self.prior.entries),
            agents_forbids(&self.live),
        );
        if now > MAX_FORBIDS && now > before {
            return Err(Refusal::new(
                Code::BriefFull,
                format!("what agents forbid would take {now} of {MAX_FORBIDS} bytes"),
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
}
