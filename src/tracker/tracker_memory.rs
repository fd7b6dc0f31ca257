//! Stored between calls: the position of the replay, the settled claims and closes, and whether the tracker was
//! unavailable.
//!
//! It is one file in the worktree's git directory, always rewritten whole under a lock. If it is lost, the replay
//! searches comments for their keys and checks the issues again, so nothing is done twice. A file of a newer cook is
//! not changed.

use super::tracked_issue::{Attempt, Commented, Result, Tracker, TrackerError, carries, is_id};
use crate::prelude::*;
use std::fs::File;
use std::io;

/// The file format that this version writes.
const FORMAT: u64 = 1;
/// The maximum size of the file in bytes.
const MAX_FILE: u64 = 1 << 20;
/// How many settled actions are kept.
const MAX_SETTLED: usize = 4096;

/// Why the memory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Another process holds the memory and does the pending work.
    #[error("another cook is calling the tracker")]
    Busy,
    /// A newer version of cook wrote the file.
    #[error("`{0}` was written by a newer cook")]
    TooNew(String),
    /// An I/O error.
    #[error("`{0}`: {1}")]
    Io(String, #[source] io::Error),
}

/// Time and cause of an outage of the tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Outage {
    /// Message of the tracker, or the lack of an answer.
    pub why: String,
    /// Time at which the outage began (RFC 3339, UTC).
    pub since: String,
}

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    pub format: u64,
    /// The tracker to which the replay's position applies.
    pub tracker: String,
    /// The id of the last settled entry; empty at the beginning.
    pub done: String,
    /// The id of the entry that was being sent, whose comment may exist.
    pub tried: String,
    /// After the position was lost: comments of entries up to this id may exist.
    pub unsure: String,
    /// How often the current entry failed for a reason other than an outage.
    pub failures: u32,
    /// The keys of claims and closes that are done.
    pub settled: BTreeSet<String>,
    /// Set while the tracker is unavailable.
    pub outage: Option<Outage>,
}

/// The memory of one worktree, locked by this process.
#[derive(Debug)]
pub struct Memory {
    file: PathBuf,
    lock: File,
    pub(super) now: Remembered,
}

impl Memory {
    /// Locks the memory without waiting.
    ///
    /// # Errors
    /// Another process holds it, a newer cook wrote it, or the git directory cannot be written.
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

    /// Returns the last noted outage, without locking the memory.
    ///
    /// # Errors
    /// A newer cook wrote the memory, or it cannot be read.
    pub fn outage(git_dir: &Path) -> Result<Option<Outage>, MemoryError> {
        Ok(read(&find_file(git_dir))?.outage)
    }

    /// Forgets which claims and closes are settled.
    ///
    /// # Errors
    /// As [`Memory::hold`], or the file cannot be written.
    pub fn forget_settled(git_dir: &Path) -> Result<(), MemoryError> {
        if read(&find_file(git_dir))?.settled.is_empty() {
            return Ok(());
        }
        let mut memory = Self::hold(git_dir)?;
        memory.now.settled.clear();
        memory.save()
    }

    /// Notes that the tracker is unavailable, or with `None` that it is available again.
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

    /// Whether this entry was the last one that the replay settled with this tracker.
    pub fn has_sent(&self, tracker: &str, entry: &str) -> bool {
        self.now.tracker == tracker && self.now.done == entry
    }

    /// Resets the memory if it belongs to another tracker.
    pub(super) fn of_tracker(&mut self, name: &str) {
        if self.now.tracker != name {
            self.now = Remembered {
                tracker: name.to_owned(),
                ..Remembered::default()
            };
        }
    }

    /// Replaces the file, completely or not at all.
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
    /// Unlocks explicitly: closing the file would not unlock it while a child process that is being started still holds
    /// a copy of the descriptor.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

fn find_file(git_dir: &Path) -> PathBuf {
    git_dir.join("cook-tracker.json")
}

/// A missing, damaged or too large file counts as lost.
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

/// How often an entry is tried that fails for a reason other than an outage.
const MAX_FAILURES: u32 = 5;

/// An entry of the trail that belongs to an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The id, unique in the trail; a single word.
    pub id: String,
    /// The id of the issue.
    pub issue: String,
    /// The text of the comment.
    pub text: String,
}

/// The result of a replay.
#[derive(Debug, Default)]
pub struct Replayed {
    /// How many comments were added.
    pub added: usize,
    /// How many comments already existed.
    pub found: usize,
    /// Entries that were given up, each with the reason.
    pub given_up: Vec<(String, TrackerError)>,
    /// How many entries wait for the next replay.
    pub waiting: usize,
    /// The reason why they wait.
    pub stopped_by: Option<TrackerError>,
}

/// Sends the missing entries to the tracker, in order, until one fails.
///
/// # Errors
/// The position cannot be written. Nothing more is sent then, because a later replay would not know of it.
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

/// Counts the failure, and returns whether to give the entry up, so that it does not hold up the others.
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

/// The comments that this replay has read, by issue.
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

/// The prefix with which a contract id names an issue.
const PREFIX: &str = "issue:";

/// An action for the tracker that follows from the plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackerAction {
    /// Whether the accepted slice closes the issue; otherwise, the selected slice claims it.
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

/// The issues that a slice's contract ids name.
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

/// The open slices that carry an issue.
fn open_carriers<'a>(plan: &'a Plan, issue: &'a str) -> impl Iterator<Item = &'a Slice> {
    plan.open_slices()
        .filter(move |slice| list_issues(slice).any(|carried| carried == issue))
}

/// Whether an issue may be claimed; the error is the slice that must be selected first.
pub fn may_claim<'a>(plan: &'a Plan, issue: &'a str) -> Result<(), &'a str> {
    let mut carriers = open_carriers(plan, issue).peekable();
    match carriers.peek().map(|slice| slice.slice_id.as_str()) {
        Some(first) if !carriers.any(is_selected) => Err(first),
        _ => Ok(()),
    }
}

/// Whether an issue may be closed; the error is the slice that must be accepted first.
pub fn may_close<'a>(plan: &'a Plan, issue: &'a str) -> Result<(), &'a str> {
    match open_carriers(plan, issue).next() {
        Some(slice) => Err(&slice.slice_id),
        None => Ok(()),
    }
}

/// Lists the actions that follow from the plan, including those already done.
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

/// Performs the actions that are not settled yet, until the first outage. Returns why actions remain.
///
/// # Errors
/// The memory cannot be written.
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
