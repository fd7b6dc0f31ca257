//! Whose a branch of the log is. A worktree that lost its id, or a log that lost its branch, must
//! not begin a new log beside the old one: what is left of the old one is named.

use super::error::{During, StoreError};
use super::log::Log;
use super::objects::{self, Meta, Stand};
use super::place::{self, Place};
use super::stamp;
use super::tree::Document;
use cook_core::machine::quote_word;
use cook_os::disk::{self, Durable, Links, Mode, NewFile};
use git2::Oid;
use std::collections::BTreeSet;
use std::path::Path;

/// Bytes of a worktree's document that are compared.
const MAX_DOCUMENT: u64 = 64 << 20;

/// A workflow of the log that no worktree has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclaimed {
    /// The worktree's id: the branch of the log.
    pub id: String,
    /// Its newest transition, where that can be read.
    pub tip: Option<Meta>,
    /// `.agent/` shows it.
    pub is_shown: bool,
}

impl std::fmt::Display for Unclaimed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.tip {
            Some(tip) => {
                let what = &tip.subject;
                write!(f, "`{}` (#{} {}: {what})", self.id, tip.seq, tip.event)
            }
            None => write!(f, "`{}` (its newest transition cannot be read)", self.id),
        }
    }
}

/// Gives this worktree, which has no workflow, one that belongs to none.
pub(super) fn claim(place: &Place, id: &str) -> Result<(), StoreError> {
    let log = place::open_known_log(place)?;
    let known = list_unclaimed(place, &log)?;
    if !known.iter().any(|one| one.id == id) {
        return Err(StoreError::unknown(id));
    }
    write_id(place, &log, id)
}

/// Gives this worktree, which has no workflow, the id of a new one. What it showed is vouched
/// for by nothing then.
pub(super) fn renounce(place: &Place) -> Result<(), StoreError> {
    let log = place::open_known_log(place)?;
    write_id(place, &log, &place::fresh_id())?;
    remove(&place.stamp_file())
}

/// What is wrong where this worktree has no workflow and had one.
pub(super) fn report_lost(place: &Place, log: &Log, id: Option<&str>) -> Result<(), StoreError> {
    let failed = |what: String, next: Vec<String>| Err(StoreError::Unclaimed { what, next });
    let shown = find_shown_commit(place, log)?;
    if let (Some(id), Some(shown)) = (id, shown) {
        let Ok(tip) = objects::tip(log, shown) else {
            return Ok(());
        };
        let what = format!(
            "the branch `{id}` of this worktree is gone from the log; its transition #{} is there",
            tip.seq
        );
        let back = format!(
            "git --git-dir={} update-ref refs/heads/{id} {shown}",
            quote_word(&place.log_dir().display().to_string())
        );
        return failed(
            what,
            vec![format!("bring it back: `{back}`"), NEW.to_owned()],
        );
    }
    if id.is_some() {
        return Ok(());
    }
    let left = list_unclaimed(place, log)?;
    if shown.is_none() && !left.iter().any(|one| one.is_shown) {
        return Ok(());
    }
    let named: Vec<String> = left.iter().map(ToString::to_string).collect();
    let what = format!(
        "this worktree's id `{}` is lost; the log holds {}",
        place.id_file().display(),
        match named.is_empty() {
            true => "no workflow without a worktree".to_owned(),
            false => named.join(", "),
        }
    );
    let mut next: Vec<String> = left
        .iter()
        .map(|one| format!("go on with it: `cook init --log {}`", one.id))
        .collect();
    next.push(NEW.to_owned());
    failed(what, next)
}

const NEW: &str = "or begin another log beside it: `cook init --log new`";

/// Workflows that belong to no worktree, those that `.agent/` shows first.
pub(super) fn list_unclaimed(place: &Place, log: &Log) -> Result<Vec<Unclaimed>, StoreError> {
    let claimed = list_claimed(place)?;
    let shown = find_shown_commit(place, log)?;
    let state = disk::read(
        &place.agent_dir().join(Document::State.file()),
        MAX_DOCUMENT,
        Links::Refuse,
    );
    let state = state.ok().flatten();
    let state = state
        .map(|bytes| objects::blob_id(log, &bytes))
        .transpose()?;
    let is_shown = |tip: Oid| {
        let before =
            |shown| shown == tip || objects::comes_before(log, shown, tip).unwrap_or(false);
        let is_state = |state| {
            Stand::at(log, tip).is_ok_and(|stand| stand.blob(Document::State.file()) == Some(state))
        };
        shown.is_some_and(before) || state.is_some_and(is_state)
    };
    let mut left: Vec<Unclaimed> = log
        .list_refs_under("refs/heads/")?
        .into_iter()
        .filter(|(id, _)| place::is_id(id) && !claimed.contains(id))
        .map(|(id, tip)| Unclaimed {
            id,
            tip: objects::meta(log, tip).ok(),
            is_shown: is_shown(tip),
        })
        .collect();
    left.sort_by_key(|one| !one.is_shown);
    Ok(left)
}

/// Ids that worktrees have.
fn list_claimed(place: &Place) -> Result<BTreeSet<String>, StoreError> {
    let mut dirs = vec![place.common_dir.clone(), place.git_dir.clone()];
    if let Ok(linked) = std::fs::read_dir(place.common_dir.join("worktrees")) {
        dirs.extend(linked.flatten().map(|entry| entry.path()));
    }
    let mut ids = BTreeSet::new();
    for git_dir in dirs {
        let of = Place {
            git_dir,
            ..place.clone()
        };
        // One that holds something else claims nothing; its own worktree says so.
        ids.extend(place::read_id(&of).ok().flatten());
    }
    Ok(ids)
}

/// The transition that `.agent/` shows, where the log holds it.
fn find_shown_commit(place: &Place, log: &Log) -> Result<Option<Oid>, StoreError> {
    let stamp = stamp::read_stamp(place)?;
    let named = stamp.and_then(|found| log.oid(&found.stamp.commit));
    Ok(named.filter(|id| log.commit(*id).is_ok()))
}

/// An id whose branch the log does not have goes.
fn write_id(place: &Place, log: &Log, id: &str) -> Result<(), StoreError> {
    if let Some(old) = place::read_id(place)? {
        if log.find_ref(&format!("refs/heads/{old}"))?.is_some() {
            return Err(StoreError::unknown(id));
        }
        remove(&place.id_file())?;
    }
    let path = place.id_file();
    let new = NewFile::at(&path, Durable::ContentAndName).mode(Mode::Masked(0o644));
    new.over_nothing()
        .write(format!("{id}\n").as_bytes())
        .writing("the worktree's id")
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).writing(path.display().to_string())
        }
        _ => Ok(()),
    }
}
