//! The replay queue: entries reach the tracker as comments, each exactly once,
//! however often the tracker or cook was ended in between.
//!
//! The caller gives the whole trail; a cursor says how far it has gone. Before an
//! entry is sent its id is written down, so that the next replay knows that its
//! comment may be there and searches for it. Where the cursor is lost, every entry
//! that stood in the trail by then is searched for.

use super::error::TrackerError;
use super::interface::{Attempt, Commented, Tracker};
use super::mark::carries;
use super::memory::{Memory, MemoryError};
use std::collections::BTreeMap;

/// Tries that an entry gets which fails for another reason than an outage.
const MAX_FAILURES: u32 = 5;

/// One entry of the trail that belongs to an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Unique in the trail; one word.
    pub id: String,
    /// The issue.
    pub issue: String,
    /// What is said.
    pub text: String,
}

/// What a replay did.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Comments that were added.
    pub added: usize,
    /// Comments that were found there.
    pub found: usize,
    /// Entries that can never reach the tracker, with the reason.
    pub given_up: Vec<(String, TrackerError)>,
    /// Entries that wait for the next replay.
    pub waiting: usize,
    /// Why they wait.
    pub stopped_by: Option<TrackerError>,
}

/// Sends what the tracker does not have yet, in order, until it fails.
///
/// # Errors
/// When the cursor cannot be written: then nothing more is sent, because it could
/// not be told later.
pub fn replay(
    tracker: &dyn Tracker,
    memory: &mut Memory,
    entries: &[Entry],
) -> Result<Replayed, MemoryError> {
    memory.of_tracker(tracker.name());
    let mut report = Replayed::default();
    let Some(last) = entries.last() else {
        return Ok(report);
    };
    let place = |id: &str| entries.iter().rposition(|entry| entry.id == id);
    let done = place(&memory.now.done);
    if (done.is_none() && memory.now.unsure.is_empty()) || is_gone(&memory.now.unsure, place) {
        memory.now.unsure.clone_from(&last.id);
    }
    let unsure = place(&memory.now.unsure);
    let mut known = Known::default();
    for (at, entry) in entries.iter().enumerate().skip(done.map_or(0, |at| at + 1)) {
        let tried = memory.now.tried == entry.id;
        if !tried {
            memory.now.failures = 0;
            memory.now.tried.clone_from(&entry.id);
            memory.save()?;
        }
        let outcome = if tried || unsure.is_some_and(|unsure| at <= unsure) {
            known.send_again(tracker, entry)
        } else {
            tracker.comment(&entry.issue, &entry.id, &entry.text, Attempt::First)
        };
        match outcome {
            Ok(Commented::Added) => report.added += 1,
            Ok(Commented::WasThere) => report.found += 1,
            Err(error) if gives_up(memory, &error) => {
                report.given_up.push((entry.id.clone(), error));
            }
            Err(error) => {
                memory.save()?;
                report.waiting = entries.len() - at;
                report.stopped_by = Some(error);
                return Ok(report);
            }
        }
        memory.now.done.clone_from(&entry.id);
        memory.now.tried.clear();
        if unsure == Some(at) {
            memory.now.unsure.clear();
        }
        memory.now.failures = 0;
        memory.save()?;
    }
    Ok(report)
}

fn is_gone(id: &str, place: impl Fn(&str) -> Option<usize>) -> bool {
    !id.is_empty() && place(id).is_none()
}

/// An entry that can never be sent must not hold up those behind it.
fn gives_up(memory: &mut Memory, error: &TrackerError) -> bool {
    if !error.is_outage() {
        memory.now.failures += 1;
    }
    error.is_final() || memory.now.failures >= MAX_FAILURES
}

/// Comments that were read in this replay, by issue.
#[derive(Default)]
struct Known(BTreeMap<String, Vec<String>>);

impl Known {
    fn send_again(
        &mut self,
        tracker: &dyn Tracker,
        entry: &Entry,
    ) -> Result<Commented, TrackerError> {
        if !self.0.contains_key(&entry.issue) {
            let comments = tracker.comments(&entry.issue)?;
            let texts = comments.into_iter().map(|comment| comment.text).collect();
            self.0.insert(entry.issue.clone(), texts);
        }
        let texts = self.0.entry(entry.issue.clone()).or_default();
        if texts.iter().any(|text| carries(text, &entry.id)) {
            return Ok(Commented::WasThere);
        }
        tracker.comment(&entry.issue, &entry.id, &entry.text, Attempt::First)
    }
}
