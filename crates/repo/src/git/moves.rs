//! How HEAD came to be where it is: the moves since a commit that was seen
//! before, from git's own record of them, or from ancestry where none is kept.

use super::libgit::Libgit;
use super::{Repo, RepoError, last_trailer};
use crate::disk::{self, Links};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{Head, MAX_PATHS};
use std::collections::BTreeSet;

/// How much of the record's end is read.
const TAIL: u64 = 256 << 10;

/// Commits that one look may find.
pub const MAX_MADE: usize = 100;

/// A commit that was made while nobody looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeCommit {
    /// Full id.
    pub id: String,
    /// First line of its message, as it stands.
    pub subject: String,
    /// Value of its last `Cook-Slice` trailer.
    pub slice: Option<String>,
    /// Paths it changes against its first parent, at most [`MAX_PATHS`].
    pub paths: Vec<String>,
}

/// One line of the record.
struct Move {
    to: String,
    what: String,
}

/// What git writes for moves that lead to commits which were there before.
const LEADS_ELSEWHERE: [&str; 9] = [
    "checkout:",
    "switch:",
    "reset:",
    "clone:",
    "branch:",
    "fetch:",
    "update:",
    "Branch:",
    "worktree:",
];

impl Move {
    /// Whether it made a commit. A fast-forward, and the begin and end of a rebase, did not.
    fn is_new_commit(&self) -> bool {
        let action = self.what.split(':').next().unwrap_or_default();
        let elsewhere = LEADS_ELSEWHERE
            .iter()
            .any(|beginning| self.what.starts_with(beginning));
        let pulled = ["merge ", "pull"].iter().any(|how| action.starts_with(how));
        let forward = pulled && self.what.ends_with("Fast-forward");
        let edge = ["(start)", "(finish)", "(abort)", "finished"]
            .iter()
            .any(|end| action.ends_with(end));
        !(self.what.is_empty() || elsewhere || forward || edge)
    }
}

impl Repo {
    /// Commits made since HEAD was `seen`, oldest first, as far as HEAD still
    /// contains them; at most [`MAX_MADE`], the newest kept. A branch switch, a
    /// reset and a fast-forward make none, an amend makes one, a merge one, a
    /// rebase one for each commit that it wrote anew.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_made_since(
        &self,
        seen: Option<&str>,
        head: &Head,
    ) -> Result<Vec<MadeCommit>, Failure> {
        let Some(now) = &head.commit else {
            return Ok(Vec::new());
        };
        if seen == Some(now.as_str()) {
            return Ok(Vec::new());
        }
        let ids = match self.list_moves_since(seen)? {
            Some(moves) => moves
                .into_iter()
                .filter(Move::is_new_commit)
                .map(|made| made.to)
                .collect(),
            None => by_ancestry(&self.objects, seen, now)?,
        };
        let mut made = Vec::new();
        let mut known = BTreeSet::new();
        // Newest first, so that the cap keeps what is new and repeated ids stand where they ended.
        for id in ids.into_iter().rev() {
            if made.len() < MAX_MADE && known.insert(id.clone()) && self.is_ancestor(&id, now)? {
                made.push(self.read_made(id)?);
            }
        }
        made.reverse();
        Ok(made)
    }

    fn read_made(&self, id: String) -> Result<MadeCommit, RepoError> {
        let listed = self.objects.list(None, &id, 1)?;
        let parent = self.objects.parent(&id)?;
        let changes = self.objects.changes(parent.as_deref(), &id)?;
        let message = listed.first().map_or("", |commit| commit.message.as_str());
        Ok(MadeCommit {
            subject: message.lines().next().unwrap_or_default().to_owned(),
            slice: last_trailer(message, super::SLICE_TRAILER),
            paths: changes
                .into_iter()
                .map(|change| change.path)
                .take(MAX_PATHS)
                .collect(),
            id,
        })
    }

    /// The moves after the last one that led to `seen`; none when there is no
    /// record, or it does not reach back so far.
    fn list_moves_since(&self, seen: Option<&str>) -> Result<Option<Vec<Move>>, RepoError> {
        let path = self.git_dir.join("logs").join("HEAD");
        let failed = |error| RepoError::io("read", &path, error);
        let Some(mut file) = disk::open_regular(&path, Links::Follow).map_err(failed)? else {
            return Ok(None);
        };
        let is_whole = file.metadata().map_err(failed)?.len() <= TAIL;
        let bytes = disk::read_tail(&mut file, TAIL).map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        let moves: Vec<Move> = text.lines().filter_map(parse).collect();
        let from = match seen {
            None if is_whole => Some(0),
            None => None,
            Some(seen) => moves.iter().rposition(|m| m.to == seen).map(|at| at + 1),
        };
        Ok(from.map(|from| moves.into_iter().skip(from).collect()))
    }
}

/// `<old> <new> <who> <when> <zone>\t<what>`.
fn parse(line: &str) -> Option<Move> {
    let (facts, what) = line.split_once('\t').unwrap_or((line, ""));
    let mut ids = facts.split(' ');
    let is_id = |id: &&str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    ids.next().filter(is_id)?;
    Some(Move {
        to: ids.next().filter(is_id)?.to_owned(),
        what: what.to_owned(),
    })
}

/// Without a record: what HEAD has gained on its first parents, when it still
/// contains what was seen. Anything else cannot be told from a switch.
fn by_ancestry(history: &Libgit, seen: Option<&str>, now: &str) -> Result<Vec<String>, RepoError> {
    if let Some(seen) = seen
        && !history.is_ancestor(seen, now)?
    {
        return Ok(Vec::new());
    }
    let mut ids = Vec::new();
    let mut at = Some(now.to_owned());
    while let Some(id) = at {
        if Some(id.as_str()) == seen || ids.len() == MAX_MADE {
            break;
        }
        at = history.parent(&id)?;
        ids.push(id);
    }
    ids.reverse();
    Ok(ids)
}
