//! What is remembered between calls: how far the replay has come, which claims and
//! closes are settled, and whether the tracker was out of reach.
//!
//! One file in the worktree's git dir, rewritten as a whole under a lock. It may be
//! lost: then comments are searched for their keys and issues are looked at again,
//! and nothing happens twice. A file of a newer cook is left alone.

use super::tracked_issue::{Attempt, Commented, Result, Tracker, TrackerError, carries, is_id};
use crate::prelude::*;
use std::fs::File;
use std::io;

/// The format that is written.
const FORMAT: u64 = 1;
/// Largest file that is read.
const MAX_FILE: u64 = 1 << 20;
/// Settled actions that are kept.
const MAX_SETTLED: usize = 4096;

/// Why nothing could be remembered.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Another process is at it; it does the work that is due.
    #[error("another cook is calling the tracker")]
    Busy,
    /// The file is a newer cook's.
    #[error("`{0}` was written by a newer cook")]
    TooNew(String),
    /// The system refused.
    #[error("`{0}`: {1}")]
    Io(String, #[source] io::Error),
}

/// When and why a tracker was out of reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Outage {
    /// Message of the tracker, or the lack of an answer.
    pub why: String,
    /// Time, in the form of RFC 3339.
    pub since: String,
}

/// The file's content.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    pub format: u64,
    /// Whose comments the cursor counts.
    pub tracker: String,
    /// The last entry that is settled; empty at the beginning.
    pub done: String,
    /// The entry that was being sent; its comment may be there.
    pub tried: String,
    /// Up to this entry comments may be there, because the cursor was lost.
    pub unsure: String,
    /// How often that entry failed for a reason that is not an outage.
    pub failures: u32,
    /// Claims and closes that need no more looking at.
    pub settled: BTreeSet<String>,
    /// Set while the tracker is out of reach.
    pub outage: Option<Outage>,
}

/// The memory of one worktree, held by this process alone.
#[derive(Debug)]
pub struct Memory {
    file: PathBuf,
    lock: File,
    pub(super) now: Remembered,
}

impl Memory {
    /// Takes hold of it, without waiting.
    ///
    /// # Errors
    /// Another process has it, it is a newer cook's, or the git dir cannot be written.
    pub fn hold(git_dir: &Path) -> Result<Self, MemoryError> {
        let path = git_dir.join("cook-tracker.lock");
        let unwritable = |cause| MemoryError::Io(path.display().to_string(), cause);
        let lock = disk::open_lock(&path).map_err(unwritable)?;
        if !disk::take_lock(&lock, Duration::ZERO).map_err(unwritable)? {
            return Err(MemoryError::Busy);
        }
        let file = find_file(git_dir);
        let now = read(&file)?;
        Ok(Self { file, lock, now })
    }

    /// Looks without taking hold: the outage that was last noted.
    ///
    /// # Errors
    /// It is a newer cook's, or cannot be read.
    pub fn outage(git_dir: &Path) -> Result<Option<Outage>, MemoryError> {
        Ok(read(&find_file(git_dir))?.outage)
    }

    /// Forgets which claims and closes are settled.
    ///
    /// # Errors
    /// As [`Memory::hold`]; the file cannot be written.
    pub fn forget_settled(git_dir: &Path) -> Result<(), MemoryError> {
        if read(&find_file(git_dir))?.settled.is_empty() {
            return Ok(());
        }
        let mut memory = Self::hold(git_dir)?;
        memory.now.settled.clear();
        memory.save()
    }

    /// Notes that the tracker is out of reach, or (with none) within it again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn note_outage(&mut self, outage: Option<Outage>) -> Result<(), MemoryError> {
        if self.now.outage == outage {
            return Ok(());
        }
        self.now.outage = outage;
        self.save()
    }

    /// Whether this entry was the last one that the replay settled, for that tracker.
    pub fn has_sent(&self, tracker: &str, entry: &str) -> bool {
        self.now.tracker == tracker && self.now.done == entry
    }

    /// Begins anew where the file speaks of another tracker.
    pub(super) fn of_tracker(&mut self, name: &str) {
        if self.now.tracker != name {
            self.now = Remembered {
                tracker: name.to_owned(),
                ..Remembered::default()
            };
        }
    }

    /// Writes the file anew: whole, or not at all.
    pub(super) fn save(&mut self) -> Result<(), MemoryError> {
        self.now.format = FORMAT;
        while self.now.settled.len() > MAX_SETTLED {
            self.now.settled.pop_first();
        }
        let unwritable = |cause| MemoryError::Io(self.file.display().to_string(), cause);
        let text = serde_json::to_vec_pretty(&self.now).map_err(|e| unwritable(e.into()))?;
        NewFile::at(&self.file, Durable::Nothing)
            .write(&text)
            .map_err(unwritable)
    }
}

impl Drop for Memory {
    /// Closing would do it too, but not while a child that is being started still
    /// has a copy of the handle.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

fn find_file(git_dir: &Path) -> PathBuf {
    git_dir.join("cook-tracker.json")
}

/// What is not there, torn or too large counts as lost.
fn read(path: &Path) -> Result<Remembered, MemoryError> {
    let bytes = match disk::read(path, MAX_FILE, Links::Follow) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Remembered::default()),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Ok(Remembered::default());
        }
        Err(cause) => return Err(MemoryError::Io(path.display().to_string(), cause)),
    };
    let found: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match found["format"].as_u64() > Some(FORMAT) {
        true => Err(MemoryError::TooNew(path.display().to_string())),
        false => Ok(serde_json::from_value(found).unwrap_or_default()),
    }
}

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
    let is_final = matches!(
        error,
        TrackerError::Unknown(_) | TrackerError::BadId(_) | TrackerError::BadText(_)
    );
    is_final || memory.now.failures >= MAX_FAILURES
}

/// Comments that were read in this replay, by issue.
#[derive(Default)]
struct Known(BTreeMap<String, Vec<String>>);

impl Known {
    fn send_again(&mut self, tracker: &dyn Tracker, entry: &Entry) -> Result<Commented> {
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

/// How a contract id names an issue.
const PREFIX: &str = "issue:";

/// What the plan owes the tracker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackerAction {
    /// The slice is accepted; else it is selected.
    closes: bool,
    issue: String,
    slice: String,
}

impl TrackerAction {
    fn key(&self) -> String {
        let what = if self.closes { "close" } else { "claim" };
        format!("{what} {} {}", self.issue, self.slice)
    }

    fn perform(&self, tracker: &dyn Tracker) -> Result<()> {
        match self.closes {
            false => tracker.claim(&self.issue).map(|_| ()),
            true => {
                let reason = format!("slice {} is accepted", self.slice);
                tracker.close(&self.issue, &reason).map(|_| ())
            }
        }
    }
}

/// The issues a slice carries.
pub fn list_issues(slice: &Slice) -> impl Iterator<Item = &str> {
    let ids = slice.contract_ids.iter();
    ids.filter_map(|id| id.strip_prefix(PREFIX).filter(|id| is_id(id)))
}

fn is_selected(slice: &Slice) -> bool {
    matches!(
        slice.status,
        SliceStatus::Selected | SliceStatus::InProgress
    )
}

/// Slices that carry an issue and are neither done nor cancelled.
fn open_carriers<'a>(plan: &'a Plan, issue: &'a str) -> impl Iterator<Item = &'a Slice> {
    plan.open_slices()
        .filter(move |slice| list_issues(slice).any(|carried| carried == issue))
}

/// The slice for whose selection a claim has to wait, if there is one.
pub fn may_claim<'a>(plan: &'a Plan, issue: &'a str) -> Result<(), &'a str> {
    let mut carriers = open_carriers(plan, issue).peekable();
    match carriers.peek().map(|slice| slice.slice_id.as_str()) {
        Some(first) if !carriers.any(is_selected) => Err(first),
        _ => Ok(()),
    }
}

/// The slice for whose acceptance a close has to wait, if there is one.
pub fn may_close<'a>(plan: &'a Plan, issue: &'a str) -> Result<(), &'a str> {
    match open_carriers(plan, issue).next() {
        Some(slice) => Err(&slice.slice_id),
        None => Ok(()),
    }
}

/// What the plan owes the tracker, whether it has had it already or not.
pub fn list_owed(plan: &Plan) -> BTreeSet<TrackerAction> {
    let mut actions = BTreeSet::new();
    for slice in &plan.candidate_slices {
        for issue in list_issues(slice) {
            let closes = slice.status == SliceStatus::Done && may_close(plan, issue).is_ok();
            if closes || is_selected(slice) {
                actions.insert(TrackerAction {
                    closes,
                    issue: issue.to_owned(),
                    slice: slice.slice_id.clone(),
                });
            }
        }
    }
    actions
}

/// Does what is owed and not settled yet, until the first outage; why something is owed still.
///
/// # Errors
/// When it cannot be remembered.
pub fn settle(
    tracker: &dyn Tracker,
    memory: &mut Memory,
    owed: &BTreeSet<TrackerAction>,
) -> Result<Vec<TrackerError>, MemoryError> {
    memory.of_tracker(tracker.name());
    let keys: BTreeSet<String> = owed.iter().map(TrackerAction::key).collect();
    memory.now.settled.retain(|key| keys.contains(key));
    let mut problems = Vec::new();
    for action in owed {
        if memory.now.settled.contains(&action.key()) {
            continue;
        }
        match action.perform(tracker) {
            Ok(()) => {
                memory.now.settled.insert(action.key());
            }
            Err(error) => {
                let is_outage = error.is_outage();
                problems.push(error);
                if is_outage {
                    break;
                }
            }
        }
    }
    memory.save()?;
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_holds_it_and_the_next_finds_what_it_left() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Memory::hold(dir.path()).unwrap();
        assert!(matches!(Memory::hold(dir.path()), Err(MemoryError::Busy)));
        first.of_tracker("br");
        first.now.done = "one".to_owned();
        let outage = Outage {
            why: "locked".to_owned(),
            since: "2026-01-02T03:04:05Z".to_owned(),
        };
        first.note_outage(Some(outage.clone())).unwrap();
        drop(first);
        assert_eq!(Memory::outage(dir.path()).unwrap(), Some(outage));
        let mut second = Memory::hold(dir.path()).unwrap();
        second.of_tracker("br");
        assert_eq!(second.now.done, "one");
        second.of_tracker("bd");
        assert_eq!(second.now.done, "");
    }

    #[test]
    fn a_torn_file_is_lost_and_a_newer_one_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = find_file(dir.path());
        for torn in ["", "{\"format\":1,\"done\":\"on", "[]", "\0\0\0"] {
            std::fs::write(&file, torn).unwrap();
            assert_eq!(Memory::hold(dir.path()).unwrap().now, Remembered::default());
        }
        std::fs::write(&file, "{\"format\":2,\"shape\":\"new\"}").unwrap();
        assert!(matches!(
            Memory::hold(dir.path()),
            Err(MemoryError::TooNew(_))
        ));
        assert!(Memory::outage(dir.path()).is_err());
    }
}

#[cfg(test)]
mod follow_tests {
    use super::*;
    use serde_json::json;

    fn plan(slices: &[(&str, &str, &[&str])]) -> Plan {
        let slices: Vec<_> = slices
            .iter()
            .map(|(id, status, contracts)| {
                json!({"slice_id": id, "goal": "g", "acceptance_criteria": ["c"],
                    "contract_ids": contracts, "priority": 1, "status": status,
                    "why_now": "", "blocked_on": [], "evidence": []})
            })
            .collect();
        serde_json::from_value(json!({"schema_version": 1, "mission_anchor": "m",
            "last_reground_at": null, "plan_basis": "", "candidate_slices": slices}))
        .unwrap()
    }

    #[test]
    fn the_claim_follows_the_selection_and_the_close_the_acceptance() {
        let all = &["C-1", "issue:x-1", "issue:", "issue:--help", "ISSUE:x-9"];
        for (status, expected) in [
            ("planned", ""),
            ("blocked", ""),
            ("cancelled", ""),
            ("selected", "claim x-1 a"),
            ("in_progress", "claim x-1 a"),
            ("done", "close x-1 a"),
        ] {
            let keys: Vec<String> = list_owed(&plan(&[("a", status, all)]))
                .iter()
                .map(TrackerAction::key)
                .collect();
            assert_eq!(keys.join(","), expected, "{status}");
        }
    }

    #[test]
    fn an_issue_of_two_slices_stays_open_until_both_are_accepted() {
        let one = plan(&[("a", "done", &["issue:x"]), ("b", "planned", &["issue:x"])]);
        assert!(list_owed(&one).is_empty());
        assert_eq!(may_close(&one, "x"), Err("b"));
        assert_eq!(may_claim(&one, "x"), Err("b"));
        let next = plan(&[("a", "done", &["issue:x"]), ("b", "selected", &["issue:x"])]);
        assert_eq!(may_claim(&next, "x"), Ok(()));
        assert_eq!(may_close(&next, "x"), Err("b"));
        let both = plan(&[
            ("a", "done", &["issue:x"]),
            ("b", "cancelled", &["issue:x"]),
        ]);
        assert_eq!(may_close(&both, "x"), Ok(()));
        assert_eq!(list_owed(&both).len(), 1);
        assert_eq!(may_claim(&both, "y"), Ok(()));
    }
}
