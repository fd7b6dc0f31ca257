//! Reading without a lock: tip, snapshot, entries, histories.
//!
//! A reader never writes. When packing moves objects under it, it opens the log
//! again and repeats the read.

use super::Store;
use super::error::StoreError;
use super::objects::{self, Meta, Stand, Tip};
use super::place::{self, Place};
use super::tree::{self, FORMAT, History, HistoryDigest, RECEIPTS};
use crate::machine::Facts;
use crate::model::{Actor, Event, Receipt, Records, Snapshot};
use git2::{Oid, Repository};
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
        work: impl Fn(&Repository) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut outcome = work(&self.repo);
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

    pub(super) fn tip_id(&self, repo: &Repository) -> Result<Option<Oid>, StoreError> {
        objects::find_ref(repo, &self.branch())
    }

    fn some_tip(&self, repo: &Repository) -> Result<Oid, StoreError> {
        self.tip_id(repo)?
            .ok_or_else(|| StoreError::OperationUnknown {
                name: "@".to_owned(),
            })
    }

    /// The newest transition; `None` before the first.
    pub fn tip(&self) -> Result<Option<Tip>, StoreError> {
        self.read(|repo| {
            self.tip_id(repo)?
                .map(|id| {
                    objects::meta(repo, id).map(|meta| Tip {
                        commit: meta.commit,
                        seq: meta.seq,
                    })
                })
                .transpose()
        })
    }

    /// The documents at the tip. An error when there is no transition yet.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.read(|repo| Stand::at(repo, self.some_tip(repo)?)?.snapshot())
    }

    /// Tip and documents from one look at the branch.
    pub fn current(&self) -> Result<Option<(Tip, Snapshot)>, StoreError> {
        self.read(|repo| {
            let Some(id) = self.tip_id(repo)? else {
                return Ok(None);
            };
            let snapshot = Stand::at(repo, id)?.snapshot()?;
            let tip = Tip {
                commit: id.to_string(),
                seq: snapshot.ledger.seq.0,
            };
            Ok(Some((tip, snapshot)))
        })
    }

    /// Format of the tip, and whether this build may write after it.
    pub fn format(&self) -> Result<u32, StoreError> {
        self.read(|repo| match self.tip_id(repo)? {
            Some(id) => Stand::at(repo, id)?.format(),
            None => Ok(FORMAT),
        })
    }

    /// How much of each history the log holds at the tip.
    pub fn history_digest(&self, history: History) -> Result<HistoryDigest, StoreError> {
        self.read(|repo| match self.tip_id(repo)? {
            Some(id) => Ok(Stand::at(repo, id)?.histories()?.of(history).clone()),
            None => Ok(HistoryDigest::default()),
        })
    }

    /// The commit that `name` means: `@` the newest, `@-` the one before (more
    /// dashes go further back, `@-12` goes twelve), a sequence number, or a full
    /// or abbreviated id of at least four digits.
    pub fn resolve(&self, name: &str) -> Result<Meta, StoreError> {
        self.read(|repo| {
            let unknown = || StoreError::OperationUnknown {
                name: name.chars().take(80).collect(),
            };
            let id = match Operation::parse(name).ok_or_else(unknown)? {
                Operation::Back(steps) => self.back(repo, steps)?,
                Operation::Seq(seq) => self.by_seq(repo, seq)?,
                Operation::Prefix(prefix) => by_prefix(repo, &prefix),
            };
            let id = match (id, Operation::prefix(name)) {
                (Some(id), _) => id,
                (None, Some(prefix)) => by_prefix(repo, &prefix).ok_or_else(unknown)?,
                (None, None) => return Err(unknown()),
            };
            objects::meta(repo, id).map_err(|_| unknown())
        })
    }

    fn back(&self, repo: &Repository, steps: u64) -> Result<Option<Oid>, StoreError> {
        let mut at = self.tip_id(repo)?;
        for _ in 0..steps {
            let Some(id) = at else { break };
            at = objects::parent(repo, id)?;
        }
        Ok(at)
    }

    fn by_seq(&self, repo: &Repository, seq: u64) -> Result<Option<Oid>, StoreError> {
        let Some(tip) = self.tip_id(repo)? else {
            return Ok(None);
        };
        match objects::meta(repo, tip)?.seq.checked_sub(seq) {
            Some(steps) if seq > 0 => self.back(repo, steps),
            _ => Ok(None),
        }
    }

    /// One transition with everything the log holds of it; names as in [`Store::resolve`].
    pub fn entry(&self, name: &str) -> Result<Entry, StoreError> {
        let meta = self.resolve(name)?;
        self.read(|repo| {
            let id =
                objects::oid(repo, &meta.commit).ok_or_else(|| StoreError::OperationUnknown {
                    name: meta.commit.clone(),
                })?;
            entry(repo, id)
        })
    }

    /// Transitions, newest first, one commit read per step. Stops after an error.
    pub fn entries(&self) -> Result<Entries<'_>, StoreError> {
        Ok(Entries {
            store: self,
            next: self.read(|repo| self.tip_id(repo))?,
        })
    }

    /// A history from its first line on: the concatenation along the chain.
    pub fn history_lines(&self, history: History) -> Result<HistoryLines<'_>, StoreError> {
        let blobs = self.read(|repo| match self.tip_id(repo)? {
            Some(tip) => Ok(objects::segments(repo, tip, history, 0)?.0),
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
        let Some(repo) = place::open_log(place)? else {
            return Ok(Vec::new());
        };
        let here = place::read_id(place)?;
        let failed = |error| StoreError::unreadable("the log's branches", error);
        let mut logs = Vec::new();
        for reference in repo.references_glob("refs/heads/*").map_err(failed)? {
            let reference = reference.map_err(failed)?;
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            let id = name.trim_start_matches("refs/heads/").to_owned();
            if let (true, Some(target)) = (place::is_id(&id), reference.target()) {
                logs.push(WorktreeLog {
                    tip: objects::meta(&repo, target)?,
                    here: here.as_deref() == Some(id.as_str()),
                    id,
                });
            }
        }
        logs.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(logs)
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

fn by_prefix(repo: &Repository, prefix: &str) -> Option<Oid> {
    repo.find_commit_by_prefix(prefix)
        .ok()
        .map(|commit| commit.id())
}

fn entry(repo: &Repository, id: Oid) -> Result<Entry, StoreError> {
    let stand = Stand::at(repo, id)?;
    let file = stand.event()?;
    let mut added = Vec::new();
    for history in History::ALL {
        added.push(match stand.appended(history)? {
            Some(blob) => objects::read_blob(repo, blob, history.file())?,
            None => Vec::new(),
        });
    }
    let mut receipts = Vec::new();
    if let Some(folder) = stand.folder(RECEIPTS)? {
        for kept in &folder {
            receipts.push(tree::parse(
                RECEIPTS,
                &objects::read_blob(repo, kept.id(), RECEIPTS)?,
            )?);
        }
    }
    Ok(Entry {
        commit: id.to_string(),
        seq: file.seq,
        parent: objects::parent(repo, id)?.map(|id| id.to_string()),
        time: file.facts.now.clone(),
        event: file.event,
        facts: file.facts,
        actor: file.actor,
        rule: file.rule,
        subject: file.subject,
        lease_epoch: file.lease_epoch,
        cook_version: file.version,
        snapshot: stand.snapshot()?,
        records: tree::records(&added[0], &added[1])?,
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
        let step = self.store.read(|repo| {
            let meta = objects::meta(repo, id)?;
            Ok((meta, objects::parent(repo, id)?))
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
                .read(|repo| objects::read_blob(repo, blob, "a history"))
                .and_then(|bytes| {
                    String::from_utf8(bytes)
                        .map_err(|error| StoreError::unreadable("a history", error))
                });
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
