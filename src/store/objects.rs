//! Reading the log's objects: one commit, its files, the chain of first parents.

use super::error::StoreError;
use super::tree::{self, APPENDED, EVENT, EventFile, FORMAT, HISTORIES, Histories, History};
use crate::model::Snapshot;
use git2::{ErrorCode, ObjectType, Oid, Repository, Tree};
use serde::{Deserialize, Serialize};

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

/// Git's 20- or 32-byte name of a blob with that content.
pub(super) fn blob_id(repo: &Repository, bytes: &[u8]) -> Result<Oid, StoreError> {
    Oid::hash_object_ext(ObjectType::Blob, bytes, repo.object_format())
        .map_err(|error| StoreError::unreadable("a digest", error))
}

/// The commit a full id names.
pub(super) fn oid(repo: &Repository, id: &str) -> Option<Oid> {
    Oid::from_str_ext(id, repo.object_format()).ok()
}

/// Where a ref points; `None` only when it does not exist.
pub(super) fn find_ref(repo: &Repository, name: &str) -> Result<Option<Oid>, StoreError> {
    match repo.refname_to_id(name) {
        Ok(id) => Ok(Some(id)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(StoreError::unreadable("a ref of the log", error)),
    }
}

/// The message of one commit.
pub(super) fn meta(repo: &Repository, id: Oid) -> Result<Meta, StoreError> {
    let commit = repo
        .find_commit(id)
        .map_err(|error| StoreError::unreadable(format!("log commit {id}"), error))?;
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    parse_message(&message)
        .map(|parts| Meta {
            commit: id.to_string(),
            seq: parts.seq,
            event: parts.event,
            rule: parts.rule,
            actor: parts.actor,
            subject: parts.subject,
            epoch_seconds: commit.time().seconds(),
        })
        .ok_or_else(|| StoreError::unreadable(format!("log commit {id}"), "it has no trailers"))
}

struct MessageParts {
    subject: String,
    event: String,
    rule: String,
    actor: String,
    seq: u64,
}

fn parse_message(message: &str) -> Option<MessageParts> {
    let trailer = |key: &str| {
        message
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
    };
    let event = trailer("Cook-Event")?;
    let first = message.lines().next()?;
    Some(MessageParts {
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
pub(super) fn parent(repo: &Repository, id: Oid) -> Result<Option<Oid>, StoreError> {
    let commit = repo
        .find_commit(id)
        .map_err(|error| StoreError::unreadable(format!("log commit {id}"), error))?;
    if commit.parent_count() == 0 {
        return Ok(None);
    }
    commit
        .parent_id(0)
        .map(Some)
        .map_err(|error| StoreError::unreadable(format!("log commit {id}"), error))
}

/// One commit's tree.
pub(super) struct Stand<'r> {
    repo: &'r Repository,
    pub(super) tree: Tree<'r>,
}

impl<'r> Stand<'r> {
    pub(super) fn at(repo: &'r Repository, commit: Oid) -> Result<Self, StoreError> {
        let tree = repo
            .find_commit(commit)
            .and_then(|commit| commit.tree())
            .map_err(|error| StoreError::unreadable(format!("log commit {commit}"), error))?;
        Ok(Self { repo, tree })
    }

    /// The format of this commit, and an error when it is newer than this build's.
    pub(super) fn check_format(&self) -> Result<(), StoreError> {
        let found = self.format()?;
        if found > FORMAT {
            return Err(StoreError::TooNew {
                found,
                ours: FORMAT,
            });
        }
        Ok(())
    }

    pub(super) fn format(&self) -> Result<u32, StoreError> {
        let bytes = self.file(tree::FORMAT_FILE)?;
        String::from_utf8_lossy(&bytes)
            .trim_end()
            .parse()
            .map_err(|error| StoreError::unreadable("the log's format", error))
    }

    /// The blob of a file at the top of the tree.
    pub(super) fn blob(&self, name: &str) -> Option<Oid> {
        self.tree.get_name(name).map(|entry| entry.id())
    }

    /// A file at the top of the tree.
    pub(super) fn file(&self, name: &str) -> Result<Vec<u8>, StoreError> {
        let id = self
            .blob(name)
            .ok_or_else(|| StoreError::unreadable(name, "the log commit lacks it"))?;
        read_blob(self.repo, id, name)
    }

    /// A subtree, when there is one.
    pub(super) fn folder(&self, name: &str) -> Result<Option<Tree<'r>>, StoreError> {
        let Some(entry) = self.tree.get_name(name) else {
            return Ok(None);
        };
        self.repo
            .find_tree(entry.id())
            .map(Some)
            .map_err(|error| StoreError::unreadable(name, error))
    }

    /// The blob that holds what this commit added to a history.
    pub(super) fn appended(&self, history: History) -> Result<Option<Oid>, StoreError> {
        Ok(self
            .folder(APPENDED)?
            .and_then(|folder| folder.get_name(history.file()).map(|entry| entry.id())))
    }

    pub(super) fn histories(&self) -> Result<Histories, StoreError> {
        tree::parse(HISTORIES, &self.file(HISTORIES)?)
    }

    pub(super) fn event(&self) -> Result<EventFile, StoreError> {
        tree::parse(EVENT, &self.file(EVENT)?)
    }

    /// The documents. A newer format that cannot be read says so.
    pub(super) fn snapshot(&self) -> Result<Snapshot, StoreError> {
        tree::snapshot(|name| self.file(name)).map_err(|error| match self.check_format() {
            Err(newer @ StoreError::TooNew { .. }) => newer,
            _ => error,
        })
    }
}

pub(super) fn read_blob(repo: &Repository, id: Oid, what: &str) -> Result<Vec<u8>, StoreError> {
    repo.find_blob(id)
        .map(|blob| blob.content().to_vec())
        .map_err(|error| StoreError::unreadable(what, error))
}

/// Blobs of a history from byte `from` on, oldest first: walks back from `tip`
/// until the history was that short. The number is the offset of `from` in the
/// first of them.
pub(super) fn segments(
    repo: &Repository,
    tip: Oid,
    history: History,
    from: u64,
) -> Result<(Vec<Oid>, u64), StoreError> {
    let mut blobs = Vec::new();
    let mut next = Some(tip);
    let mut skip = 0;
    let mut known: Option<(Oid, u64)> = None;
    while let Some(commit) = next {
        let stand = Stand::at(repo, commit)?;
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
        if let Some(blob) = stand.appended(history)? {
            blobs.push(blob);
        }
        next = parent(repo, commit)?;
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
        let parts = parse_message(&message(&meta)).unwrap();
        assert_eq!(parts.seq, 7);
        assert_eq!(parts.event, "reviewed");
        assert_eq!(parts.rule, "5");
        assert_eq!(parts.actor, "role");
        assert_eq!(parts.subject, meta.subject);
    }

    #[test]
    fn a_subject_cannot_forge_a_trailer() {
        // Subjects are one line, so a trailer in one is never a line of its own.
        let parts = parse_message(
            "reviewed: Cook-Seq: 99\n\nCook-Event: reviewed\nCook-Rule: 5\nCook-Actor: role\nCook-Seq: 7\n",
        )
        .unwrap();
        assert_eq!(parts.seq, 7);
    }
}
