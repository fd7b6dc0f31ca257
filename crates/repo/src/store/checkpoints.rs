//! The checkpoint trail: lines appended to `.agent/checkpoints.jsonl` outside transitions; the next transition takes
//! them into the log (`protocol/store.md#3-histories`).
//!
//! Invariants: a line is written by a single `write` to a descriptor opened for appending, under its own lock; two
//! lines with the same id are one entry; a malformed line stays in the file, is never taken into the log, and is the
//! finding `trail_torn`. Appending is not synced: a line is durable once a transition has taken it in.

use super::Store;
use super::error::{During, unreadable, unsafe_path, unwritable};
use super::log_format::{self, HistoryDigest, Lines, Stand, TRAIL};
use super::log_place::{Place, take_lock};
use super::odb::Log;
use super::view::{agent_dir, scratch};
use crate::disk::{self, Links};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::model::{Checkpoint, MAX_CHECKPOINT_TEXT};
use git2::Oid;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Bytes at the end of the file that are read before the whole file is.
const TAIL: u64 = 256 << 10;
/// Most bytes of a trail that are read; earlier lines are in the log.
const MAX_TRAIL: u64 = 32 << 20;
/// Longest line; cook writes none that is longer.
const MAX_LINE: usize = 8 * MAX_CHECKPOINT_TEXT;
/// Longest id of an entry.
const MAX_ID: usize = 100;
/// How long an append waits for another one to finish.
const WAIT: Duration = Duration::from_millis(500);

/// The current trail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trail {
    /// Entries, oldest first, one for each id.
    pub entries: Vec<Checkpoint>,
    /// The finding `trail_torn`, if some lines of the file cannot be read.
    pub torn: Option<Finding>,
}

/// The trail lines that a transition takes in.
#[derive(Debug, Default)]
pub(super) struct Intake {
    pub(super) lines: Lines,
    /// Id of the last trail line in the log after that.
    pub(super) last: Option<String>,
    pub(super) torn: Option<Finding>,
}

/// The parsed lines of the file.
#[derive(Default)]
struct Local {
    /// Id and text of each valid line.
    good: Vec<(String, Vec<u8>)>,
    /// Number of invalid lines.
    bad: usize,
}

impl Store {
    /// Length of the trail's file; 0 if there is none. Equal lengths mean that nothing was appended in between.
    pub fn checkpoints_length(&self) -> Result<u64, Failure> {
        let found = disk::look(&self.place.agent_dir().join(TRAIL)).reading(TRAIL)?;
        Ok(found.map_or(0, |found| found.len()))
    }

    /// Appends an entry. Returns `false` if the file already has its id.
    pub fn append_checkpoint(&self, entry: &Checkpoint) -> Result<bool, Failure> {
        let dir = agent_dir(&self.place)?.ok_or_else(|| unreadable(".agent", "it is not there"))?;
        let _lock = take_lock(&scratch(&dir)?.join("trail.lock"), WAIT)?;
        let path = dir.join(TRAIL);
        refuse_other_kind(&path)?;
        let failed = |error: io::Error| unwritable(format!(".agent/{TRAIL}"), error);
        disk::unshare(&path).map_err(failed)?;
        let mut file = disk::open_to_append(&path).map_err(failed)?;
        let before = disk::read_tail(&mut file, MAX_TRAIL).map_err(failed)?;
        if holds(&before, &entry.id) {
            return Ok(false);
        }
        let mut line = serde_json::to_string(entry).writing(TRAIL)?;
        if before.last().is_some_and(|byte| *byte != b'\n') {
            // A writer died in the middle of a line; that line must not swallow this one.
            line.insert(0, '\n');
        }
        disk::append_line(&mut file, &line).map_err(failed)?;
        Ok(true)
    }

    /// The trail: lines of the log that the file has lost, then the file. Has at least the newest `newest` entries, if
    /// there are as many.
    pub fn checkpoints(&self, newest: usize) -> Result<Trail, Failure> {
        let local = read_local(&self.place, MAX_TRAIL)?;
        let mut seen = BTreeSet::new();
        let lost = self.find_lost_lines(&local, newest)?.into_iter();
        let lines = lost
            .chain(local.good)
            .filter(|(digest, _)| seen.insert(digest.clone()));
        Ok(Trail {
            entries: lines
                .filter_map(|(_, line)| serde_json::from_slice(&line).ok())
                .collect(),
            torn: report_torn(local.bad),
        })
    }

    /// The newest `newest` entries that were appended since the file was `length` bytes long. If the file has become
    /// shorter, all of it counts.
    pub fn read_checkpoints_after(
        &self,
        length: u64,
        newest: usize,
    ) -> Result<Vec<Checkpoint>, Failure> {
        let grown = self.checkpoints_length()?;
        let cap = grown.checked_sub(length).unwrap_or(grown).min(MAX_TRAIL);
        // One byte more, so that the tail starts at the preceding line feed.
        let local = read_local(&self.place, cap.saturating_add(1))?;
        let skipped = local.good.len().saturating_sub(newest);
        Ok(local.good[skipped..]
            .iter()
            .filter_map(|(_, line)| serde_json::from_slice(line).ok())
            .collect())
    }

    /// Lines that the log has and the file lacks (after `git clean`), newest last.
    fn find_lost_lines(
        &self,
        local: &Local,
        newest: usize,
    ) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        self.read(|log| {
            let Some(tip) = self.tip_id(log)? else {
                return Ok(Vec::new());
            };
            let digest = Stand::at(log, tip)?.histories()?.checkpoints;
            match &digest.last {
                Some(last) if !local.good.iter().any(|(id, _)| id == last) => {
                    read_lines_in_log(log, tip, newest)
                }
                _ => Ok(Vec::new()),
            }
        })
    }

    /// The finding about the trail's file, if any.
    pub fn trail_finding(&self) -> Result<Option<Finding>, Failure> {
        Ok(report_torn(read_local(&self.place, MAX_TRAIL)?.bad))
    }
}

/// Lines of the file that the log does not have yet.
pub(super) fn intake(
    place: &Place,
    log: &Log,
    tip: Option<Oid>,
    digest: &HistoryDigest,
) -> Result<Intake, Failure> {
    let mut local = read_local(place, TAIL)?;
    let position = |local: &Local| {
        let last = digest.last.as_ref()?;
        local.good.iter().rposition(|(id, _)| id == last)
    };
    let mut known = BTreeSet::new();
    let mut from = 0;
    if let Some(at) = position(&local) {
        from = at + 1;
    } else {
        local = read_local(place, MAX_TRAIL)?;
        match (position(&local), tip) {
            (Some(at), _) => from = at + 1,
            (None, Some(tip)) if digest.last.is_some() && !local.good.is_empty() => {
                known.extend(
                    read_lines_in_log(log, tip, usize::MAX)?
                        .into_iter()
                        .map(|(id, _)| id),
                );
            }
            (None, _) => {}
        }
    }
    let mut intake = Intake {
        torn: report_torn(local.bad),
        last: digest.last.clone(),
        ..Intake::default()
    };
    for (id, line) in local.good.drain(from.min(local.good.len())..) {
        if known.insert(id.clone()) {
            let bytes = Arc::make_mut(&mut intake.lines.bytes);
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
            intake.lines.count += 1;
            intake.last = Some(id);
        }
    }
    Ok(intake)
}

/// Trail lines in the log, newest last; stops once there are `newest` of them.
fn read_lines_in_log(
    log: &Log,
    tip: Oid,
    newest: usize,
) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut parts = Vec::new();
    let mut count = 0;
    for commit in log_format::ancestry(log, Some(tip)) {
        let stand = Stand::at(log, commit?)?;
        if count >= newest || stand.histories()?.checkpoints.records == 0 {
            break;
        }
        let lines = read_lines(&stand.lines_added(TRAIL)?).good;
        count += lines.len();
        parts.push(lines);
    }
    parts.reverse();
    Ok(parts.concat())
}

fn report_torn(bad: usize) -> Option<Finding> {
    (bad > 0).then(|| {
        let what = cook_protocol::diagnostic::count_noun(bad as u64, "line");
        Finding::new(
            Code::TrailTorn,
            format!("{what} of the checkpoint trail cannot be read and is left out"),
        )
        .at(format!(".agent/{TRAIL}"))
    })
}

/// Refuses a path that exists and is not a regular file.
fn refuse_other_kind(path: &Path) -> Result<(), Failure> {
    match disk::look(path).reading(TRAIL)? {
        Some(found) if !found.is_file() => {
            Err(unsafe_path(Code::AgentDirUnsafe, path, "is not a file"))
        }
        _ => Ok(()),
    }
}

fn read_local(place: &Place, cap: u64) -> Result<Local, Failure> {
    let Some(dir) = agent_dir(place)? else {
        return Ok(Local::default());
    };
    let path = dir.join(TRAIL);
    refuse_other_kind(&path)?;
    let opened = disk::open_regular(&path, Links::Refuse).reading(format!(".agent/{TRAIL}"))?;
    let Some(mut file) = opened else {
        return Ok(Local::default());
    };
    let bytes = disk::read_tail(&mut file, cap).reading(format!(".agent/{TRAIL}"))?;
    // The first line of a tail may be incomplete.
    let whole = (bytes.len() as u64) < cap;
    let start = match whole {
        true => 0,
        false => bytes
            .iter()
            .position(|b| *b == b'\n')
            .map_or(0, |at| at + 1),
    };
    Ok(read_lines(&bytes[start..]))
}

fn read_lines(bytes: &[u8]) -> Local {
    let mut local = Local::default();
    for line in bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        match line_id(line) {
            Some(id) => local.good.push((id, line.to_vec())),
            None => local.bad += 1,
        }
    }
    local
}

/// The id of a line, if it is a valid entry.
pub(super) fn line_id(line: &[u8]) -> Option<String> {
    if line.len() > MAX_LINE {
        return None;
    }
    let entry: Checkpoint = serde_json::from_slice(line).ok()?;
    let fits = !entry.id.is_empty() && entry.id.len() <= MAX_ID;
    fits.then_some(entry.id)
}

/// The id of the last line that a transition took in.
pub(super) fn last_id(bytes: &[u8]) -> Option<String> {
    read_lines(bytes).good.pop().map(|(id, _)| id)
}

/// Whether there is a line with that id, as [`Store::append_checkpoint`] writes it.
fn holds(bytes: &[u8], id: &str) -> bool {
    let Ok(quoted) = serde_json::to_string(id) else {
        return false;
    };
    let begin = format!("{{\"id\":{quoted},");
    bytes
        .split(|byte| *byte == b'\n')
        .any(|line| line.starts_with(begin.as_bytes()) && line_id(line).is_some())
}
