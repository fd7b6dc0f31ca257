//! Reading without a lock: tip, snapshot, entries, histories.
//!
//! A reader never writes. When packing moves objects under it, it opens the log
//! again and repeats the read.

use super::Store;
use super::error::{During, StoreError};
use super::log::Log;
use super::objects::{self, Meta, Stand, Tip};
use super::place::{self, Place};
use super::seal::{Signed, take_signature};
use super::tree::{self, FORMAT, History, HistoryDigest, RECEIPTS};
use cook_core::machine::Facts;
use cook_core::model::{Actor, Event, Receipt, Records, Snapshot};
use git2::{ObjectType, Oid};
use std::collections::VecDeque;

/// One transition as the log holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Full id of the log commit.
    pub commit: String,
    /// Log sequence.
    pub seq: u64,
    /// The log commit before it; none for the first.
    pub parent: Option<String>,
    /// What happened.
    pub event: Event,
    /// What it was judged by.
    pub facts: Facts,
    /// Who caused it.
    pub actor: Actor,
    /// The rule it was taken under.
    pub rule: String,
    /// When, as the facts say it (RFC 3339 UTC).
    pub time: String,
    /// The slice or mission it is about.
    pub subject: String,
    /// Epoch of the writer's lease.
    pub lease_epoch: u64,
    /// Version of the cook that wrote it.
    pub cook_version: String,
    /// Name of the process that wrote it: 32 hexadecimal digits.
    pub writer: String,
    /// The documents after it.
    pub snapshot: Snapshot,
    /// What it appended to the histories.
    pub records: Records,
    /// The receipts it brought.
    pub receipts: Vec<Receipt>,
}

/// A workflow of this repository, by worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeLog {
    /// The worktree's id: the branch of the log.
    pub id: String,
    /// Its newest transition.
    pub tip: Meta,
    /// It belongs to the worktree of the caller's [`Place`].
    pub here: bool,
}

/// How often a read is repeated on a freshly opened log.
const RETRIES: usize = 4;

impl Store {
    /// Runs a read; when it fails, runs it again on the log as it is now.
    pub(super) fn read<T>(
        &self,
        work: impl Fn(&Log) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut outcome = work(&self.log);
        for _ in 0..RETRIES {
            if !matches!(outcome, Err(StoreError::Unreadable { .. })) {
                break;
            }
            let Some(fresh) = place::open_log(&self.place)? else {
                break;
            };
            outcome = work(&fresh);
        }
        outcome
    }

    pub(super) fn tip_id(&self, log: &Log) -> Result<Option<Oid>, StoreError> {
        log.find_ref(&self.branch())
    }

    fn some_tip(&self, log: &Log) -> Result<Oid, StoreError> {
        self.tip_id(log)?.ok_or_else(|| StoreError::unknown("@"))
    }

    /// The newest transition; `None` before the first.
    pub fn tip(&self) -> Result<Option<Tip>, StoreError> {
        self.read(|log| {
            let id = self.tip_id(log)?;
            id.map(|id| objects::tip(log, id)).transpose()
        })
    }

    /// A transition's commit as it was signed; `None` where it bears no signature.
    ///
    /// # Errors
    /// A log that cannot be read, or does not hold it.
    pub fn read_signed(&self, commit: &str) -> Result<Option<Signed>, StoreError> {
        let bytes = self.read(|log| {
            let id = log.oid(commit).ok_or_else(|| StoreError::unknown(commit))?;
            log.read_as(id, ObjectType::Commit)
        })?;
        Ok(take_signature(&bytes))
    }

    /// The documents at the tip. An error when there is no transition yet.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.read(|log| Stand::at(log, self.some_tip(log)?)?.snapshot())
    }

    /// Tip and documents from one look at the branch.
    pub fn current(&self) -> Result<Option<(Tip, Snapshot)>, StoreError> {
        self.read(|log| {
            let Some(id) = self.tip_id(log)? else {
                return Ok(None);
            };
            let snapshot = Stand::at(log, id)?.snapshot()?;
            let tip = Tip {
                commit: id.to_string(),
                seq: snapshot.ledger.seq.0,
            };
            Ok(Some((tip, snapshot)))
        })
    }

    /// Format of the tip, and whether this build may write after it.
    pub fn format(&self) -> Result<u32, StoreError> {
        self.read(|log| match self.tip_id(log)? {
            Some(id) => Stand::at(log, id)?.format(),
            None => Ok(FORMAT),
        })
    }

    /// How much of each history the log holds at the tip.
    pub fn history_digest(&self, history: History) -> Result<HistoryDigest, StoreError> {
        self.read(|log| match self.tip_id(log)? {
            Some(id) => Ok(Stand::at(log, id)?.histories()?.of(history).clone()),
            None => Ok(HistoryDigest::default()),
        })
    }

    /// The commit that `name` means: `@` the newest, `@-` the one before (more
    /// dashes go further back, `@-12` goes twelve), a sequence number, or a full
    /// or abbreviated id of at least four digits.
    pub fn resolve(&self, name: &str) -> Result<Meta, StoreError> {
        self.read(|log| {
            let unknown = || StoreError::unknown(name);
            let id = match Operation::parse(name).ok_or_else(unknown)? {
                Operation::Back(steps) => objects::back(log, self.tip_id(log)?, steps)?,
                Operation::Seq(seq) => self.by_seq(log, seq)?,
                Operation::Prefix(prefix) => log.find_commit_by_prefix(&prefix),
            };
            let id = match (id, Operation::prefix(name)) {
                (Some(id), _) => id,
                (None, Some(prefix)) => log.find_commit_by_prefix(&prefix).ok_or_else(unknown)?,
                (None, None) => return Err(unknown()),
            };
            objects::meta(log, id).map_err(|_| unknown())
        })
    }

    fn by_seq(&self, log: &Log, seq: u64) -> Result<Option<Oid>, StoreError> {
        let Some(tip) = self.tip_id(log)? else {
            return Ok(None);
        };
        match objects::meta(log, tip)?.seq.checked_sub(seq) {
            Some(steps) if seq > 0 => objects::back(log, Some(tip), steps),
            _ => Ok(None),
        }
    }

    /// One transition with everything the log holds of it; names as in [`Store::resolve`].
    pub fn entry(&self, name: &str) -> Result<Entry, StoreError> {
        let meta = self.resolve(name)?;
        self.read(|log| {
            let id = log
                .oid(&meta.commit)
                .ok_or_else(|| StoreError::unknown(&meta.commit))?;
            entry(log, id)
        })
    }

    /// What happened in the transition of that full id, without the documents after it.
    pub fn event(&self, commit: &str) -> Result<Event, StoreError> {
        self.read(|log| {
            let id = log.oid(commit).ok_or_else(|| StoreError::unknown(commit))?;
            Ok(Stand::at(log, id)?.event()?.event)
        })
    }

    /// Transitions, newest first, one commit read per step. Stops after an error.
    pub fn entries(&self) -> Result<Entries<'_>, StoreError> {
        Ok(Entries {
            store: self,
            next: self.read(|log| self.tip_id(log))?,
        })
    }

    /// The same from one of them back, which no branch need lead to.
    pub fn list_entries_from(&self, commit: &str) -> Result<Entries<'_>, StoreError> {
        let next = self.read(|log| {
            let id = log.oid(commit);
            id.ok_or_else(|| StoreError::unknown(commit))
        })?;
        Ok(Entries {
            store: self,
            next: Some(next),
        })
    }

    /// A history from its first line on: the concatenation along the chain.
    pub fn history_lines(&self, history: History) -> Result<HistoryLines<'_>, StoreError> {
        let blobs = self.read(|log| match self.tip_id(log)? {
            Some(tip) => Ok(objects::segments(log, tip, history, 0)?.0),
            None => Ok(Vec::new()),
        })?;
        Ok(HistoryLines {
            store: self,
            blobs: blobs.into(),
            lines: VecDeque::new(),
        })
    }

    /// Every workflow of the repository's log, those of removed worktrees
    /// included, by id. Empty when there is no log.
    pub fn all_worktrees(place: &Place) -> Result<Vec<WorktreeLog>, StoreError> {
        let Some(log) = place::open_log(place)? else {
            return Ok(Vec::new());
        };
        let here = place::read_id(place)?;
        log.list_refs_under("refs/heads/")?
            .into_iter()
            .filter(|(id, _)| place::is_id(id))
            .map(|(id, tip)| {
                Ok(WorktreeLog {
                    tip: objects::meta(&log, tip)?,
                    here: here.as_deref() == Some(id.as_str()),
                    id,
                })
            })
            .collect()
    }
}

/// What a name of a transition asks for.
enum Operation {
    Back(u64),
    Seq(u64),
    Prefix(String),
}

impl Operation {
    fn parse(name: &str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix('@') {
            if rest.bytes().all(|byte| byte == b'-') {
                return Some(Self::Back(rest.len() as u64));
            }
            return rest.strip_prefix('-')?.parse().ok().map(Self::Back);
        }
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return name
                .parse()
                .map(Self::Seq)
                .ok()
                .or_else(|| Self::prefix(name).map(Self::Prefix));
        }
        Self::prefix(name).map(Self::Prefix)
    }

    /// An abbreviated object id.
    fn prefix(name: &str) -> Option<String> {
        (4..=64)
            .contains(&name.len())
            .then(|| name.to_ascii_lowercase())
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }
}

fn entry(log: &Log, id: Oid) -> Result<Entry, StoreError> {
    let stand = Stand::at(log, id)?;
    let file = stand.event()?;
    let mut receipts = Vec::new();
    for kept in stand.folder(RECEIPTS)? {
        receipts.push(tree::parse(RECEIPTS, &log.blob(kept.id)?)?);
    }
    Ok(Entry {
        commit: id.to_string(),
        seq: file.seq,
        parent: objects::parent(log, id)?.map(|id| id.to_string()),
        time: file.facts.now.clone(),
        event: file.event,
        facts: file.facts,
        actor: file.actor,
        rule: file.rule,
        subject: file.subject,
        lease_epoch: file.lease_epoch,
        cook_version: file.version,
        writer: file.writer,
        snapshot: stand.snapshot()?,
        records: tree::records(History::each(|history| stand.lines_added(history.file()))?)?,
        receipts,
    })
}

/// See [`Store::entries`].
#[derive(Debug)]
pub struct Entries<'s> {
    store: &'s Store,
    next: Option<Oid>,
}

impl Iterator for Entries<'_> {
    type Item = Result<Meta, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.next.take()?;
        let step = self.store.read(|log| {
            let meta = objects::meta(log, id)?;
            Ok((meta, objects::parent(log, id)?))
        });
        Some(step.map(|(meta, parent)| {
            self.next = parent;
            meta
        }))
    }
}

/// See [`Store::history_lines`].
#[derive(Debug)]
pub struct HistoryLines<'s> {
    store: &'s Store,
    blobs: VecDeque<Oid>,
    lines: VecDeque<String>,
}

impl Iterator for HistoryLines<'_> {
    type Item = Result<String, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.lines.is_empty() {
            let blob = self.blobs.pop_front()?;
            let text = self
                .store
                .read(|log| log.blob(blob))
                .and_then(|bytes| String::from_utf8(bytes).reading("a history"));
            match text {
                Ok(text) => self.lines.extend(text.lines().map(str::to_owned)),
                Err(error) => {
                    self.blobs.clear();
                    return Some(Err(error));
                }
            }
        }
        self.lines.pop_front().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_operations() {
        assert!(matches!(Operation::parse("@"), Some(Operation::Back(0))));
        assert!(matches!(Operation::parse("@--"), Some(Operation::Back(2))));
        assert!(matches!(
            Operation::parse("@-12"),
            Some(Operation::Back(12))
        ));
        assert!(matches!(Operation::parse("12"), Some(Operation::Seq(12))));
        assert!(matches!(Operation::parse("ABCD"), Some(Operation::Prefix(p)) if p == "abcd"));
        for bad in ["", "@x", "@-x", "abc", "zzzz", "../x", "HEAD"] {
            assert!(Operation::parse(bad).is_none(), "{bad}");
        }
    }
}
