//! The record: every event of the store, as commits below one ref of the log.
//!
//! A commit's message holds one event, its tree the blobs of the exchanges that the event
//! brought, so that they are packed, moved and let go of with it. The first commit of a chain
//! that was begun anew has all earlier events in `segments/`, and their blobs in `exchanges/`.

use super::error::SessionError;
use super::event::{Event, Held};
use super::stored::Object;
use crate::store::log::{Commit, FOLDER, Log, TreeEntry};
use git2::Oid;

/// The ref of the newest event.
pub(super) const REF: &str = "refs/sessions/record";
/// The folder of events that a chain begins with.
pub(super) const SEGMENTS: &str = "segments";
/// The folder of blobs that a chain begins with.
pub(super) const EXCHANGES: &str = "exchanges";

/// A value from where it is; what it is named by is for the caller to compare.
pub(super) fn read_value(log: &Log, held: &Held) -> Result<Object, SessionError> {
    let id = match held {
        Held::Value(object) => return Ok(object.clone()),
        Held::Blob(id) => id,
    };
    let what = format!("object {id} of the log");
    let oid = log
        .oid(id)
        .ok_or_else(|| SessionError::corrupt(&what, "not a valid name"))?;
    serde_json::from_slice(&log.blob(oid)?).map_err(|error| SessionError::corrupt(what, error))
}

/// The event of a commit.
pub(super) fn read_event(log: &Log, id: Oid) -> Result<(Event, Commit), SessionError> {
    let commit = log.commit(id)?;
    let (_, body) = commit.message.split_once("\n\n").unwrap_or_default();
    let event = serde_json::from_str(body)
        .map_err(|error| SessionError::corrupt(format!("commit {id} of the log"), error))?;
    Ok((event, commit))
}

/// The events up to `tip`, oldest first, those after `known` where that is before it: whether
/// it is.
pub(super) fn events(
    log: &Log,
    tip: Oid,
    known: Option<Oid>,
) -> Result<(Vec<Event>, bool), SessionError> {
    let (mut earlier, mut newest_first) = (Vec::new(), Vec::new());
    let mut at = Some(tip);
    while let Some(id) = at.filter(|id| Some(*id) != known) {
        let (event, commit) = read_event(log, id)?;
        newest_first.push(event);
        at = commit.parents.first().copied();
        if at.is_none() {
            for segment in segments(log, &log.tree(commit.tree)?)? {
                earlier.extend(read_events(log, segment)?);
            }
        }
    }
    earlier.extend(newest_first.into_iter().rev());
    Ok((earlier, at.is_some()))
}

/// The blobs of earlier events that the tree of a chain's first commit holds, oldest first.
pub(super) fn segments(log: &Log, tree: &[TreeEntry]) -> Result<Vec<Oid>, SessionError> {
    let is_folder = |entry: &&TreeEntry| entry.mode == FOLDER && entry.name == SEGMENTS;
    let Some(folder) = tree.iter().find(is_folder) else {
        return Ok(Vec::new());
    };
    Ok(log.tree(folder.id)?.iter().map(|entry| entry.id).collect())
}

pub(super) fn read_events(log: &Log, blob: Oid) -> Result<Vec<Event>, SessionError> {
    let events = serde_json::Deserializer::from_slice(&log.blob(blob)?)
        .into_iter()
        .collect::<Result<_, _>>();
    events.map_err(|error| SessionError::corrupt(format!("object {blob} of the log"), error))
}
