//! Reading the log's objects: one commit, its files, the chain of first parents.

use super::error::{During, StoreError};
use super::log::{Commit, Log, TreeEntry};
use super::tree::{self, APPENDED, EVENT, EventFile, FORMAT, HISTORIES, Histories, History};
use cook_core::model::Snapshot;
use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// One commit of the log, by name and place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    /// Full id of the log commit.
    pub commit: String,
    /// Log sequence: transitions up to and with this one.
    pub seq: u64,
}

/// What a log commit's message says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Full id of the log commit.
    pub commit: String,
    /// Log sequence.
    pub seq: u64,
    /// Name of the event.
    pub event: String,
    /// The rule it was taken under.
    pub rule: String,
    /// Who caused it: `user`, `script`, `role`, `runner`.
    pub actor: String,
    /// The slice or mission it is about.
    pub subject: String,
    /// When: seconds since 1970, UTC.
    pub epoch_seconds: i64,
}

/// The name of a blob with that content.
pub(super) fn blob_id(log: &Log, bytes: &[u8]) -> Result<Oid, StoreError> {
    log.name(ObjectType::Blob, bytes)
}

/// A commit by name and place in the chain.
pub(super) fn tip(log: &Log, id: Oid) -> Result<Tip, StoreError> {
    let Meta { commit, seq, .. } = meta(log, id)?;
    Ok(Tip { commit, seq })
}

/// The message of one commit.
pub(super) fn meta(log: &Log, id: Oid) -> Result<Meta, StoreError> {
    read_meta(id, &log.commit(id)?)
        .ok_or_else(|| StoreError::unreadable(format!("log commit {id}"), "it has no trailers"))
}

/// The message of a commit that was read; none when it is not one of cook's.
pub(super) fn read_meta(id: Oid, commit: &Commit) -> Option<Meta> {
    parse_message(id.to_string(), commit.epoch_seconds, &commit.message)
}

fn parse_message(commit: String, epoch_seconds: i64, message: &str) -> Option<Meta> {
    let trailer = |key: &str| {
        message
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
    };
    let event = trailer("Cook-Event")?;
    let first = message.lines().next()?;
    Some(Meta {
        commit,
        epoch_seconds,
        subject: first
            .strip_prefix(event)
            .and_then(|rest| rest.strip_prefix(": "))
            .unwrap_or(first)
            .to_owned(),
        event: event.to_owned(),
        rule: trailer("Cook-Rule")?.to_owned(),
        actor: trailer("Cook-Actor")?.to_owned(),
        seq: trailer("Cook-Seq")?.parse().ok()?,
    })
}

/// The message that [`meta`] reads back.
pub(super) fn message(meta: &Meta) -> String {
    format!(
        "{event}: {subject}\n\nCook-Event: {event}\nCook-Rule: {rule}\nCook-Actor: {actor}\nCook-Seq: {seq}\n",
        event = meta.event,
        subject = meta.subject,
        rule = meta.rule,
        actor = meta.actor,
        seq = meta.seq,
    )
}

/// The first parent.
pub(super) fn parent(log: &Log, id: Oid) -> Result<Option<Oid>, StoreError> {
    Ok(log.commit(id)?.parents.first().copied())
}

/// A commit and those before it, newest first. Ends after an error.
pub(super) fn ancestry(
    log: &Log,
    tip: Option<Oid>,
) -> impl Iterator<Item = Result<Oid, StoreError>> {
    let mut next = tip;
    std::iter::from_fn(move || {
        let id = next.take()?;
        Some(parent(log, id).map(|parent| {
            next = parent;
            id
        }))
    })
}

/// The commit that many before another one.
pub(super) fn back(log: &Log, tip: Option<Oid>, steps: u64) -> Result<Option<Oid>, StoreError> {
    let mut found = None;
    let steps = usize::try_from(steps).unwrap_or(usize::MAX);
    for (number, commit) in ancestry(log, tip).enumerate().take(steps.saturating_add(1)) {
        found = Some(commit?).filter(|_| number == steps);
    }
    Ok(found)
}

/// Whether the chain of a transition leads over another one.
pub(super) fn comes_before(log: &Log, earlier: Oid, later: Oid) -> Result<bool, StoreError> {
    let steps = meta(log, later)?
        .seq
        .saturating_sub(meta(log, earlier)?.seq);
    Ok(steps > 0 && back(log, Some(later), steps)? == Some(earlier))
}

/// One commit's tree.
pub(super) struct Stand<'r> {
    log: &'r Log,
    pub(super) entries: Vec<TreeEntry>,
}

impl<'r> Stand<'r> {
    pub(super) fn at(log: &'r Log, commit: Oid) -> Result<Self, StoreError> {
        Self::of(log, &log.commit(commit)?)
    }

    /// The tree of a commit that was read already.
    pub(super) fn of(log: &'r Log, commit: &Commit) -> Result<Self, StoreError> {
        let entries = log.tree(commit.tree)?;
        Ok(Self { log, entries })
    }

    /// An error when this commit's format is not this build's.
    pub(super) fn check_format(&self) -> Result<(), StoreError> {
        let (found, ours) = (self.format()?, FORMAT);
        match found.cmp(&ours) {
            Ordering::Greater => Err(StoreError::TooNew { found, ours }),
            Ordering::Less => Err(StoreError::TooOld { found, ours }),
            Ordering::Equal => Ok(()),
        }
    }

    pub(super) fn format(&self) -> Result<u32, StoreError> {
        let bytes = self.file(tree::FORMAT_FILE)?;
        String::from_utf8_lossy(&bytes)
            .trim_end()
            .parse()
            .reading("the log's format")
    }

    /// The blob of a file at the top of the tree.
    pub(super) fn blob(&self, name: &str) -> Option<Oid> {
        find(&self.entries, name)
    }

    /// A file at the top of the tree.
    pub(super) fn file(&self, name: &str) -> Result<Vec<u8>, StoreError> {
        let id = self
            .blob(name)
            .ok_or_else(|| StoreError::unreadable(name, "the log commit lacks it"))?;
        self.log.blob(id)
    }

    /// A folder's entries; none when there is no such folder.
    pub(super) fn folder(&self, name: &str) -> Result<Vec<TreeEntry>, StoreError> {
        self.blob(name)
            .map_or(Ok(Vec::new()), |id| self.log.tree(id))
    }

    /// The blob that holds what this commit added to a history.
    pub(super) fn find_appended(&self, history: History) -> Result<Option<Oid>, StoreError> {
        Ok(find(&self.folder(APPENDED)?, history.file()))
    }

    pub(super) fn histories(&self) -> Result<Histories, StoreError> {
        tree::parse(HISTORIES, &self.file(HISTORIES)?)
    }

    /// What this commit added to a history or the trail.
    pub(super) fn lines_added(&self, file: &str) -> Result<Vec<u8>, StoreError> {
        find(&self.folder(APPENDED)?, file).map_or(Ok(Vec::new()), |blob| self.log.blob(blob))
    }

    /// The event, with its imported histories.
    pub(super) fn event(&self) -> Result<EventFile, StoreError> {
        let mut file: EventFile = tree::parse(EVENT, &self.file(EVENT)?)?;
        tree::with_imported_histories(&mut file.event, |history| self.lines_added(history.file()))?;
        Ok(file)
    }

    /// The documents. An older format is refused, a newer one that cannot be read says so.
    pub(super) fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let format = match self.check_format() {
            Err(older @ StoreError::TooOld { .. }) => return Err(older),
            format => format,
        };
        let read = tree::snapshot(|name| self.file(name), |name| self.blob(name).is_some());
        read.map_err(|error| match format {
            Err(newer @ StoreError::TooNew { .. }) => newer,
            _ => error,
        })
    }
}

pub(super) fn find(entries: &[TreeEntry], name: &str) -> Option<Oid> {
    entries
        .iter()
        .find(|entry| entry.name == name)
        .map(|entry| entry.id)
}

/// Blobs of a history from byte `from` on, oldest first: walks back from `tip`
/// until the history was that short. The number is the offset of `from` in the
/// first of them.
pub(super) fn segments(
    log: &Log,
    tip: Oid,
    history: History,
    from: u64,
) -> Result<(Vec<Oid>, u64), StoreError> {
    let mut blobs = Vec::new();
    let mut skip = 0;
    let mut known: Option<(Oid, u64)> = None;
    for commit in ancestry(log, Some(tip)) {
        let stand = Stand::at(log, commit?)?;
        let file = stand
            .blob(HISTORIES)
            .ok_or_else(|| StoreError::unreadable(HISTORIES, "the log commit lacks it"))?;
        let bytes = match known {
            Some((seen, bytes)) if seen == file => bytes,
            _ => stand.histories()?.of(history).bytes,
        };
        known = Some((file, bytes));
        if bytes <= from {
            skip = from - bytes;
            break;
        }
        if let Some(blob) = stand.find_appended(history)? {
            blobs.push(blob);
        }
    }
    blobs.reverse();
    Ok((blobs, skip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_back() {
        let meta = Meta {
            commit: String::new(),
            seq: 7,
            event: "reviewed".to_owned(),
            rule: "5".to_owned(),
            actor: "role".to_owned(),
            subject: "a-slice: with colons".to_owned(),
            epoch_seconds: 0,
        };
        let parsed = parse_message(String::new(), 0, &message(&meta));
        assert_eq!(parsed, Some(meta));
    }

    #[test]
    fn a_subject_cannot_forge_a_trailer() {
        // Subjects are one line, so a trailer in one is never a line of its own.
        let meta = parse_message(
            String::new(),
            0,
            "reviewed: Cook-Seq: 99\n\nCook-Event: reviewed\nCook-Rule: 5\nCook-Actor: role\nCook-Seq: 7\n",
        )
        .unwrap();
        assert_eq!(meta.seq, 7);
    }
}
