//! Reading without a lock: tip, snapshot, entries, histories, cited exchanges, and the contents of a part of the log.
//!
//! A reader never writes. If packing moves objects during a read, the reader opens the log again and repeats the read.

use super::Store;
use super::error::{During, unknown_name};
use super::log_format::{self, APPENDED, EXCHANGES, FORMAT, History, Meta, Stand, TRAIL, Tip};
use super::log_place::{self, Place};
use super::odb::{self, Commit, Log, TreeEntry};
use super::transitions::{Signed, chain, take_signature};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::Facts;
use cook_protocol::model::{
    Actor, Checkpoint, CheckpointKind, Citation, CitedExchange, Event, Receipt, Records, Said,
    Snapshot,
};
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A transition as the log holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Full id of the log commit.
    pub commit: String,
    /// Its sequence number.
    pub seq: u64,
    /// The log commit before it; `None` for the first.
    pub parent: Option<String>,
    /// The event.
    pub event: Event,
    /// The facts by which the event was judged.
    pub facts: Facts,
    /// Who caused it.
    pub actor: Actor,
    /// The rule under which it was accepted.
    pub rule: String,
    /// The time in the facts (RFC 3339, UTC).
    pub time: String,
    /// The slice or mission that it concerns.
    pub subject: String,
    /// Epoch of the writer's lease.
    pub lease_epoch: u64,
    /// The documents after the transition.
    pub snapshot: Snapshot,
    /// The records that it appended to the histories.
    pub records: Records,
    /// The receipts that it added.
    pub receipts: Vec<Receipt>,
}

/// The workflow of one worktree of this repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeLog {
    /// The worktree's id: the branch of the log.
    pub id: String,
    /// Its newest transition.
    pub tip: Meta,
    /// Whether it belongs to the worktree of the caller's [`Place`].
    pub here: bool,
}

/// Most repetitions of a read, each on a freshly opened log.
const RETRIES: usize = 4;

impl Store {
    /// Runs a read; if it fails, repeats it on the log opened anew.
    pub(super) fn read<T>(&self, work: impl Fn(&Log) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut outcome = work(&self.log);
        for _ in 0..RETRIES {
            if !matches!(&outcome, Err(error) if error.code == Code::LogUnreadable) {
                break;
            }
            let Some(fresh) = log_place::open_log(&self.place)? else {
                break;
            };
            outcome = work(&fresh);
        }
        outcome
    }

    pub(super) fn tip_id(&self, log: &Log) -> Result<Option<Oid>, Failure> {
        log.find_ref(&self.branch())
    }

    fn some_tip(&self, log: &Log) -> Result<Oid, Failure> {
        self.tip_id(log)?.ok_or_else(|| unknown_name("@"))
    }

    /// The newest transition; `None` before the first.
    pub fn tip(&self) -> Result<Option<Tip>, Failure> {
        self.read(|log| {
            let id = self.tip_id(log)?;
            id.map(|id| log_format::tip(log, id)).transpose()
        })
    }

    /// The signature of a transition's commit, with the signed text; `None` if it has no signature.
    ///
    /// # Errors
    /// If the log cannot be read, or does not hold the transition.
    pub fn read_signed(&self, commit: &str) -> Result<Option<Signed>, Failure> {
        let bytes = self.read(|log| {
            let id = log.oid(commit).ok_or_else(|| unknown_name(commit))?;
            log.read_as(id, ObjectType::Commit)
        })?;
        Ok(take_signature(&bytes))
    }

    /// The documents at the tip. Fails if there is no transition yet.
    pub fn snapshot(&self) -> Result<Snapshot, Failure> {
        self.read(|log| Stand::at(log, self.some_tip(log)?)?.snapshot())
    }

    /// Tip and documents, from a single read of the branch.
    pub fn current(&self) -> Result<Option<(Tip, Snapshot)>, Failure> {
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

    /// The format of the tip; this build's format if there is no transition yet.
    pub fn format(&self) -> Result<u32, Failure> {
        self.read(|log| match self.tip_id(log)? {
            Some(id) => Stand::at(log, id)?.format(),
            None => Ok(FORMAT),
        })
    }

    /// Resolves the name of a transition: `@` is the newest, `@-` the one before it (more dashes go further back,
    /// `@-12` goes back twelve); other names are a sequence number, or a full or abbreviated id of at least four
    /// digits.
    pub fn resolve(&self, name: &str) -> Result<Meta, Failure> {
        self.read(|log| {
            let unknown = || unknown_name(name);
            let id = match Operation::parse(name).ok_or_else(unknown)? {
                Operation::Back(steps) => log_format::back(log, self.tip_id(log)?, steps)?,
                Operation::Seq(seq) => self.by_seq(log, seq)?,
                Operation::Prefix(prefix) => log.find_commit_by_prefix(&prefix),
            };
            let id = match (id, Operation::prefix(name)) {
                (Some(id), _) => id,
                (None, Some(prefix)) => log.find_commit_by_prefix(&prefix).ok_or_else(unknown)?,
                (None, None) => return Err(unknown()),
            };
            log_format::meta(log, id).map_err(|_| unknown())
        })
    }

    fn by_seq(&self, log: &Log, seq: u64) -> Result<Option<Oid>, Failure> {
        let Some(tip) = self.tip_id(log)? else {
            return Ok(None);
        };
        match log_format::meta(log, tip)?.seq.checked_sub(seq) {
            Some(steps) if seq > 0 => log_format::back(log, Some(tip), steps),
            _ => Ok(None),
        }
    }

    /// One transition with all its data; for names see [`Store::resolve`].
    pub fn entry(&self, name: &str) -> Result<Entry, Failure> {
        let meta = self.resolve(name)?;
        self.read(|log| {
            let id = log
                .oid(&meta.commit)
                .ok_or_else(|| unknown_name(&meta.commit))?;
            entry(log, id)
        })
    }

    /// The event of the transition with this full id.
    pub fn event(&self, commit: &str) -> Result<Event, Failure> {
        Ok(self.event_and_facts(commit)?.0)
    }

    /// Turns the cache of small objects on, for callers that read the same transitions several times.
    pub fn remember(&self) {
        self.log.remember();
    }

    /// The event of a transition and the facts by which it was judged.
    pub fn event_and_facts(&self, commit: &str) -> Result<(Event, Facts), Failure> {
        self.read(|log| {
            let id = log.oid(commit).ok_or_else(|| unknown_name(commit))?;
            let file = Stand::at(log, id)?.event()?;
            Ok((file.event, file.facts))
        })
    }

    /// Transitions, newest first; each step reads one commit. Ends after an error.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<Meta, Failure>>, Failure> {
        let mut next = self.read(|log| self.tip_id(log))?;
        Ok(std::iter::from_fn(move || {
            let id = next.take()?;
            let step = self.read(|log| {
                let commit = log.commit(id)?;
                let meta = log_format::require_meta(id, &commit)?;
                Ok((meta, commit.parents.first().copied()))
            });
            Some(step.map(|(meta, parent)| {
                next = parent;
                meta
            }))
        }))
    }

    /// All lines of a history: the concatenation along the chain.
    pub fn history_lines(
        &self,
        history: History,
    ) -> Result<impl Iterator<Item = Result<String, Failure>>, Failure> {
        let blobs = self.read(|log| match self.tip_id(log)? {
            Some(tip) => Ok(log_format::segments(log, tip, history, 0)?.0),
            None => Ok(Vec::new()),
        })?;
        Ok(blobs.into_iter().flat_map(move |blob| {
            let bytes = self.read(|log| log.blob(blob));
            match bytes.and_then(|bytes| String::from_utf8(bytes).reading("a history")) {
                Ok(text) => text.lines().map(|line| Ok(line.to_owned())).collect(),
                Err(error) => vec![Err(error)],
            }
        }))
    }

    /// The lines that the transition with this full id added to a history.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn lines_added(&self, commit: &str, history: History) -> Result<String, Failure> {
        self.read(|log| {
            let id = log.oid(commit).ok_or_else(|| unknown_name(commit))?;
            let added = Stand::at(log, id)?.lines_added(history.file())?;
            String::from_utf8(added).reading("a history")
        })
    }

    /// Every workflow of the repository's log by id, including those of removed worktrees. Empty if there is no log.
    pub fn all_worktrees(place: &Place) -> Result<Vec<WorktreeLog>, Failure> {
        let Some(log) = log_place::open_log(place)? else {
            return Ok(Vec::new());
        };
        let here = log_place::read_id(place)?;
        log.list_refs_under("refs/heads/")?
            .into_iter()
            .filter(|(id, _)| log_place::is_id(id))
            .map(|(id, tip)| {
                Ok(WorktreeLog {
                    tip: log_format::meta(&log, tip)?,
                    here: here.as_deref() == Some(id.as_str()),
                    id,
                })
            })
            .collect()
    }

    /// Calls `look` for every file that the transitions after `known` add, up to `newest`, newest transition first,
    /// with the transition, the file's name and its content.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn look_into_contents_after(
        &self,
        known: Option<&str>,
        newest: &str,
        mut look: impl FnMut(&Meta, &str, &[u8]),
    ) -> Result<Contents, Failure> {
        let mut contents = Contents::default();
        let mut seen = HashSet::new();
        if let Some(known) = known {
            self.read(|log| {
                let known = log.oid(known).ok_or_else(|| unknown_name(known))?;
                files(log, &log.commit(known)?)
            })?
            .into_iter()
            .for_each(|(_, id)| {
                seen.insert(id);
            });
        }
        let mut next = self.read(|log| log.oid(newest).ok_or_else(|| unknown_name(newest)))?;
        loop {
            if known.is_some_and(|known| next.to_string() == known) {
                break;
            }
            let (meta, files, parent) = self.read(|log| {
                let commit = log.commit(next)?;
                let meta = log_format::require_meta(next, &commit)?;
                Ok((meta, files(log, &commit)?, commit.parents.first().copied()))
            })?;
            contents.transitions += 1;
            contents.messages += u64::from(meta.event == "said");
            for (name, id) in files {
                if !seen.insert(id) {
                    continue;
                }
                let bytes = self.read(|log| log.blob(id))?;
                contents.bytes += bytes.len() as u64;
                if name.starts_with(EXCHANGES) && !name.contains("/ex_") {
                    contents.exchanges += 1;
                }
                if name == format!("{APPENDED}/{TRAIL}") {
                    contents.messages += prompts(&bytes);
                }
                look(&meta, &name, &bytes);
            }
            match parent {
                Some(parent) => next = parent,
                None => break,
            }
        }
        Ok(contents)
    }

    /// Calls `each` for every exchange that the transitions after `known` keep, oldest first, with a function for the
    /// documents before the transition, its sequence number, its event, and the exchange or why it cannot be read.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn each_cited_exchange(
        &self,
        known: Option<&str>,
        mut each: impl FnMut(
            Before<'_>,
            u64,
            &Event,
            Result<&CitedExchange, &str>,
        ) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let chain = self.read(|log| chain(log, self.tip_id(log)?))?;
        let is_known = |commit: &Oid| known.is_some_and(|known| commit.to_string() == known);
        let first = chain.iter().position(is_known).map_or(0, |at| at + 1);
        for (at, commit) in chain.iter().copied().enumerate().skip(first) {
            let found = self.read(|log| {
                let stand = Stand::at(log, commit)?;
                let folder = stand.folder(EXCHANGES)?;
                if folder.is_empty() {
                    return Ok(None);
                }
                Ok(Some((stand.event()?, read_cited(log, &folder)?)))
            })?;
            if let Some((file, cited)) = found {
                let before = || match at.checked_sub(1).map(|before| chain[before]) {
                    Some(before) => self
                        .read(|log| Stand::at(log, before)?.snapshot())
                        .map(Some),
                    None => Ok(None),
                };
                for one in &cited {
                    let one = one.as_ref().map_err(String::as_str);
                    each(&before, file.seq, &file.event, one)?;
                }
            }
        }
        Ok(())
    }
}

/// The parsed name of a transition.
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

fn entry(log: &Log, id: Oid) -> Result<Entry, Failure> {
    let stand = Stand::at(log, id)?;
    let file = stand.event()?;
    Ok(Entry {
        commit: id.to_string(),
        seq: file.seq,
        parent: log_format::parent(log, id)?.map(|id| id.to_string()),
        time: file.facts.now.clone(),
        event: file.event,
        facts: file.facts,
        actor: file.actor,
        rule: file.rule,
        subject: file.subject,
        lease_epoch: file.lease_epoch,
        snapshot: stand.snapshot()?,
        records: log_format::records(History::each(|history| stand.lines_added(history.file()))?)?,
        receipts: stand.receipts()?,
    })
}

/// The totals of a part of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of transitions.
    pub transitions: u64,
    /// Bytes of their files, each file counted once.
    pub bytes: u64,
    /// Number of exchanges with agents.
    pub exchanges: u64,
    /// Number of messages of the user.
    pub messages: u64,
}

fn prompts(lines: &[u8]) -> u64 {
    let is_prompt = |line: &&[u8]| {
        log_format::parse::<Checkpoint>(TRAIL, line)
            .is_ok_and(|entry| entry.kind == CheckpointKind::Prompt)
    };
    lines.split(|byte| *byte == b'\n').filter(is_prompt).count() as u64
}

/// The files of a transition, including those in its folders.
fn files(log: &Log, commit: &Commit) -> Result<Vec<(String, Oid)>, Failure> {
    let mut found = Vec::new();
    for entry in Stand::of(log, commit)?.entries {
        if entry.mode != odb::FOLDER {
            found.push((entry.name, entry.id));
            continue;
        }
        let inside = log.tree(entry.id)?.into_iter();
        found.extend(inside.map(|file| (format!("{}/{}", entry.name, file.name), file.id)));
    }
    Ok(found)
}

/// Reads the documents before a transition; `None` before the first.
pub type Before<'a> = &'a dyn Fn() -> Result<Option<Snapshot>, Failure>;

/// The cited exchanges of a folder, or why one is invalid. A file that nothing cites is invalid too.
fn read_cited(
    log: &Log,
    folder: &[TreeEntry],
) -> Result<Vec<Result<CitedExchange, String>>, Failure> {
    let files = folder
        .iter()
        .map(|entry| Ok((entry.name.as_str(), log.blob(entry.id)?)));
    let files: BTreeMap<&str, Vec<u8>> = files.collect::<Result<_, Failure>>()?;
    let mut named = BTreeSet::new();
    let mut all = Vec::new();
    for name in files.keys().filter(|name| name.starts_with("ex_")) {
        named.insert((*name).to_owned());
        all.push(one_cited(&files, name, &mut named));
    }
    let left = files.keys().filter(|name| !named.contains(**name));
    all.extend(left.map(|name| Err(format!("nothing cites `{EXCHANGES}/{name}`"))));
    Ok(all)
}

fn one_cited(
    files: &BTreeMap<&str, Vec<u8>>,
    name: &str,
    named: &mut BTreeSet<String>,
) -> Result<CitedExchange, String> {
    let missing = |name: &str| format!("`{EXCHANGES}/{name}` is missing");
    let wrong = |name: &str| format!("`{EXCHANGES}/{name}` is not what its name says");
    let bytes = files.get(name).ok_or_else(|| missing(name))?;
    let citation: Citation = log_format::parse(EXCHANGES, bytes).map_err(|_| wrong(name))?;
    if format!("{}.json", citation.exchange) != name {
        return Err(wrong(name));
    }
    let mut said = Vec::new();
    for hash in citation.said {
        let name = format!("{}.json", hash.trim_start_matches("sha256:"));
        let bytes = files.get(name.as_str()).ok_or_else(|| missing(&name))?;
        let one: Said = log_format::parse(EXCHANGES, bytes).map_err(|_| wrong(&name))?;
        if one.hash != hash {
            return Err(wrong(&name));
        }
        named.insert(name);
        said.push(one);
    }
    Ok(CitedExchange {
        exchange: citation.exchange,
        said,
    })
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
