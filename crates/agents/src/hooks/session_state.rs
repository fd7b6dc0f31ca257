//! The memory of one session in one worktree. It may be lost at any time and is never authoritative: lasting facts are
//! in the trail, the log and git.

use super::command_line::{issue_call, segments};
use super::hook_event::{Agent, Event, Source};
use super::recovery::Recovery;
use cook_protocol::digest::sha256;
use cook_protocol::model::hook_table::{Kind, Row};
use cook_protocol::model::{Checkpoint, GOAL_VIEW, Policy, Role, SchemaVersion};
use cook_repo::disk::{self, Durable, Links, NewFile};
use cook_repo::git::{MadeCommit, Repo};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of turns without a checkpoint after which the session is reminded, and between two reminders.
pub const NUDGE_AFTER: u64 = 8;
/// The percentage of a full context above which the session is warned.
pub const CONTEXT_LIMIT: f64 = 85.0;
/// The number of stops that are refused in a row without progress.
pub const BLOCKS: u64 = 3;
/// Two deliveries with the same content within this many milliseconds are one event.
const TWIN: i64 = 3_000;
/// The number of deliveries that are remembered.
const DELIVERIES: usize = 128;
/// The maximum number of files that are remembered per item, and of items.
const MAX_FILES: usize = 500;
const MAX_ITEMS: usize = 20;
/// The maximum number of entries in each list of [`Since`].
const MAX_SINCE: usize = 50;

/// The state of one session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The format that this build writes; a state in a later format is not touched.
    pub schema_version: SchemaVersion,
    /// The name of the agent.
    pub agent: String,
    /// The agent's id of the session.
    pub session: String,
    /// The slice or issue it works on.
    pub item: Option<String>,
    /// Whether the session claimed that issue in a tracker.
    pub claimed: bool,
    /// Whether the tracker had that issue in progress for this actor when the session began.
    pub found: bool,
    /// HEAD when it was last read; `None` before the first time.
    pub head: Option<HeadSeen>,
    /// The length of the trail when it was last read.
    pub trail: Option<u64>,
    /// The number of turns since the last checkpoint.
    pub turns: u64,
    /// The last counted turn, if the agent names turns.
    pub turn: Option<String>,
    /// The number of turns at the last reminder.
    pub nudged: u64,
    /// Issues that were closed and not claimed again since.
    pub closed: VecDeque<String>,
    /// The edited files of each item.
    pub files: BTreeMap<String, BTreeSet<String>>,
    /// Events since the last checkpoint.
    pub since: Since,
    /// How full the context is, in percent.
    pub context_percent: Option<f64>,
    /// The last reported number of tokens in the context.
    pub context_tokens: Option<f64>,
    /// The number of tokens when the agent last attempted a compaction; `None` if no attempt is pending.
    pub attempted: Option<f64>,
    /// Whether the beginning of the session was reported.
    pub started: bool,
    /// Whether it owned the workflow at its last event.
    pub owned: bool,
    /// The number of stops that were handled.
    pub stops: u64,
    /// SHA-256 of the last auto-checkpoint.
    pub kept: Option<String>,
    /// Whether the full context was reported in this context window.
    pub warned: bool,
    /// Messages that wait for an event that can carry them.
    pub pending: Pending,
    /// The stop gate of the workflow.
    pub stop: StopGate,
    /// The stop gate of `cook check`.
    pub check: StopGate,
    /// The commit at which the person was last told the results of a check that need a person.
    pub told_at: Option<String>,
    /// The deliveries that were handled: key and time.
    pub deliveries: VecDeque<(String, i64)>,
    /// The time of the last event, in milliseconds since 1970.
    pub seen_ms: i64,
    /// The time of the last call by the agent itself, in milliseconds since 1970.
    pub called_ms: i64,
}

/// HEAD when it was read; it may have been unborn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadSeen {
    /// The full commit id; `None` if HEAD was unborn.
    pub commit: Option<String>,
}

/// Events since the last checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Since {
    /// Short ids and subjects of commits.
    pub commits: Vec<String>,
    /// Paths of edited files.
    pub files: BTreeSet<String>,
    /// Gates that the session ran.
    pub gates: Vec<String>,
    /// The texts of checkpoints.
    pub checkpoints: Vec<String>,
}

/// Messages that wait for an event that can carry them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pending {
    /// Whether the recovery message is due.
    pub recovery: bool,
    /// Whether the brief is due after the recovery message.
    pub brief: bool,
    /// The number of turns for a due reminder.
    pub nudge: Option<u64>,
    /// Whether the context warning is due.
    pub warning: bool,
    /// The message after closed issues.
    pub go_on: Option<GoOn>,
    /// Messages to the user.
    pub notices: Vec<String>,
}

/// The message after one or more issues were closed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GoOn {
    /// One sentence for each closed issue.
    pub closed: Vec<String>,
    /// The command of the commit to make first, if the worktree is dirty.
    pub commit: Option<String>,
}

/// The state of a stop gate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StopGate {
    /// The number of stops refused in a row without progress.
    pub blocks: u64,
    /// The state of the work at the last of them.
    pub progress: String,
    /// The last stated reason: it may come back as a prompt.
    pub reason: Option<String>,
    /// Whether the user was told that cook does not interfere with the agent's own goal loop.
    pub stepped_back: bool,
}

/// The outcome of a stop with an open reason to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The stop is refused.
    Refused,
    /// The stop is allowed, and that is recorded.
    Released,
    /// The stop is allowed, as an earlier one was.
    LetGo,
}

impl StopGate {
    /// Counts a stop that has an open reason, with the present state of the work.
    pub fn count(&mut self, progress: &str) -> Stop {
        if self.progress != progress {
            progress.clone_into(&mut self.progress);
            self.blocks = 0;
        }
        self.blocks = (self.blocks + 1).min(BLOCKS + 2);
        match self.blocks {
            n if n <= BLOCKS => Stop::Refused,
            n if n == BLOCKS + 1 => Stop::Released,
            _ => Stop::LetGo,
        }
    }
}

impl SessionState {
    /// Records a delivery. Returns true if it was handled already. With an id, a repetition is recognised as long as it
    /// is remembered; without one only for a moment, because the same content may be sent again.
    pub fn is_twin(&mut self, key: &str, has_id: bool, now_ms: i64) -> bool {
        let known = self
            .deliveries
            .iter()
            .any(|(known, at)| known == key && (has_id || (now_ms - at).abs() < TWIN));
        if !known {
            self.deliveries.push_back((key.to_owned(), now_ms));
            while self.deliveries.len() > DELIVERIES {
                self.deliveries.pop_front();
            }
        }
        known
    }

    /// Resets the counters after a checkpoint.
    pub fn note_checkpoint(&mut self) {
        self.turns = 0;
        self.nudged = 0;
        self.pending.nudge = None;
    }

    /// Records that an issue was closed; false if it is known.
    pub fn close(&mut self, issue: &str) -> bool {
        if self.closed.iter().any(|closed| closed == issue) {
            return false;
        }
        self.closed.push_back(issue.to_owned());
        while self.closed.len() > MAX_ITEMS {
            self.closed.pop_front();
        }
        if self.item.as_deref() == Some(issue) {
            (self.claimed, self.found) = (false, false);
            self.work_on(None);
        }
        true
    }

    /// Makes a claimed issue the session's item, with an empty list of files. False if it was claimed already.
    pub fn claim(&mut self, issue: &str) -> bool {
        if self.claimed && self.item.as_deref() == Some(issue) {
            return false;
        }
        self.closed.retain(|closed| closed != issue);
        self.item = None;
        self.work_on(Some(issue));
        (self.claimed, self.found) = (true, false);
        true
    }

    /// Changes the session's item. Returns whether it is another one than before.
    pub fn work_on(&mut self, item: Option<&str>) -> bool {
        if self.item.as_deref() == item {
            return false;
        }
        self.item = item.map(str::to_owned);
        if let Some(item) = item {
            self.files.insert(item.to_owned(), BTreeSet::new());
        }
        while self.files.len() > MAX_ITEMS {
            let oldest = self.files.keys().find(|key| Some(key.as_str()) != item);
            let Some(oldest) = oldest.cloned() else { break };
            self.files.remove(&oldest);
        }
        self.since = Since::default();
        self.note_checkpoint();
        true
    }

    /// Records an edited file.
    pub fn note_edit(&mut self, path: &str) {
        if let Some(item) = &self.item {
            let files = self.files.entry(item.clone()).or_default();
            if files.len() < MAX_FILES {
                files.insert(path.to_owned());
            }
        }
        if self.since.files.len() < MAX_FILES {
            self.since.files.insert(path.to_owned());
        }
    }
}

/// Adds an event since the last checkpoint, up to the maximum.
pub(super) fn remember(list: &mut Vec<String>, what: String) {
    if list.len() < MAX_SINCE {
        list.push(what);
    }
}

/// How long a hook waits for the lock. Each hook holds it for a millisecond or two; on a busy machine a late answer is
/// better than a lost count.
const WAIT: Duration = Duration::from_millis(2_500);
/// A larger state file was not written by cook.
const MAX_STATE: u64 = 4 << 20;
/// The period without an event after which the owner loses the workflow.
pub const OWNER_SILENCE_MS: i64 = 30 * 60 * 1000;
/// A state that was not changed for this long is removed.
const FORGET: Duration = Duration::from_secs(7 * 24 * 3600);
/// The maximum number of entries that wait for a tracker, and the number that is kept after it has received all.
const MAX_QUEUE: usize = 500;
const KEPT_QUEUE: usize = 50;
const QUEUE: &str = "queue.jsonl";
/// The log of hooks is truncated above this size.
const MAX_LOG: u64 = 256 << 10;

/// The owner of the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The name of the agent.
    pub agent: String,
    /// The session id. If it is empty, the session is the one whose tool call is running; its next event supplies the
    /// id.
    pub session: String,
    /// The time of its last event, in milliseconds since 1970.
    pub seen_ms: i64,
}

impl Owner {
    /// Whether it is still the owner at this time.
    pub fn holds(&self, now_ms: i64) -> bool {
        (now_ms - self.seen_ms).abs() < OWNER_SILENCE_MS
    }
}

/// The directory of one worktree's session files.
#[derive(Debug, Clone)]
pub struct StateDir {
    dir: PathBuf,
}

impl StateDir {
    /// The directory, for reading only: it is not created.
    pub fn at(repo: &Repo, set_up: bool) -> Self {
        Self {
            dir: match set_up && !disk::is_directory(&repo.git_dir().join(GOAL_VIEW)) {
                true => repo.root().join(".agent").join("tmp"),
                false => repo.git_dir().join("cook-hooks"),
            },
        }
    }

    /// The directory, created if missing: `.agent/tmp` in a worktree with a workflow, otherwise in the git directory,
    /// so that no file appears in a worktree without a workflow.
    ///
    /// # Errors
    /// When it cannot be created, or is not a directory.
    pub fn of(repo: &Repo, set_up: bool) -> io::Result<Self> {
        let Self { dir } = Self::at(repo, set_up);
        match std::fs::create_dir(&dir) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let parent = dir.parent().unwrap_or(&dir);
        for path in [parent, &dir] {
            if !std::fs::symlink_metadata(path)?.is_dir() {
                return Err(io::Error::other(format!(
                    "`{}` is not a directory",
                    path.display()
                )));
            }
        }
        Ok(Self { dir })
    }

    /// Takes the lock, which is released on drop; an error if it stays taken.
    pub fn lock(&self) -> io::Result<File> {
        let file = disk::open_lock(&self.dir.join("hook.lock"))?;
        match disk::take_lock(&file, WAIT)? {
            true => Ok(file),
            false => Err(io::Error::other(
                "the other hooks of this worktree are still running",
            )),
        }
    }

    fn file(&self, agent: &str, session: &str) -> PathBuf {
        let name = sha256(format!("{agent}\0{session}"));
        self.dir.join(format!("hook-{}.json", &name[..24]))
    }

    /// The state of a session; a new one if it cannot be read. `None` if a later version of cook wrote it: it is not
    /// touched.
    pub fn load(&self, agent: Agent, session: &str) -> Option<SessionState> {
        let bytes = read(&self.file(agent.name(), session)).unwrap_or_default();
        let value: Value = serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default();
        if value["schema_version"].as_u64() > Some(1) {
            return None;
        }
        let kept = serde_json::from_value(value).ok();
        let kept = kept.filter(|state: &SessionState| state.session == session);
        Some(kept.unwrap_or_else(|| SessionState {
            agent: agent.name().to_owned(),
            session: session.to_owned(),
            ..SessionState::default()
        }))
    }

    /// Stores a session's state.
    pub fn save(&self, state: &SessionState) -> io::Result<()> {
        let bytes = serde_json::to_vec(state)?;
        replace(&self.file(&state.agent, &state.session), &bytes)
    }

    /// All readable states, newest first.
    pub fn sessions(&self) -> Vec<SessionState> {
        let mut states: Vec<SessionState> = self
            .state_files()
            .filter_map(|path| serde_json::from_slice(&read(&path).ok()??).ok())
            .collect();
        states.sort_by_key(|state| std::cmp::Reverse(state.seen_ms));
        states
    }

    fn state_files(&self) -> impl Iterator<Item = PathBuf> {
        std::fs::read_dir(&self.dir)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("hook-") && name.ends_with(".json") && name != "hook-owner.json"
            })
    }

    /// Removes states that were not changed for a week.
    pub fn forget_old(&self) {
        for path in self.state_files() {
            let age = std::fs::symlink_metadata(&path)
                .and_then(|found| found.modified())
                .map(|at| at.elapsed().unwrap_or_default());
            if age.is_ok_and(|age| age > FORGET) {
                // Another hook may have removed it first.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// Removes one session's state.
    pub fn forget(&self, agent: Agent, session: &str) {
        // It may not exist.
        let _ = std::fs::remove_file(self.file(agent.name(), session));
    }

    /// The recorded owner of the workflow.
    pub fn owner(&self) -> Option<Owner> {
        let bytes = read(&self.dir.join("hook-owner.json")).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Records the owner, or that there is none.
    pub fn set_owner(&self, owner: Option<&Owner>) -> io::Result<()> {
        let path = self.dir.join("hook-owner.json");
        match owner {
            Some(owner) => replace(&path, &serde_json::to_vec(owner)?),
            None => match std::fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }

    /// The queued checkpoints of a worktree without a workflow, oldest first, until the tracker has received them.
    /// Incomplete lines are skipped.
    pub fn queue(&self) -> io::Result<Vec<Checkpoint>> {
        let bytes = read(&self.dir.join(QUEUE))?.unwrap_or_default();
        Ok(bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }

    /// Adds entries that the queue does not contain yet. The caller holds the lock.
    pub fn enqueue(&self, entries: &[Checkpoint]) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut queue = self.queue()?;
        for entry in entries {
            if !queue.iter().any(|known| known.id == entry.id) {
                queue.push(entry.clone());
            }
        }
        let skipped = queue.len().saturating_sub(MAX_QUEUE);
        self.write_queue(&queue[skipped..])
    }

    /// Shortens a queue that the tracker has received: the newest entries are kept, because the last one marks how far
    /// the tracker has read. The caller holds the lock.
    pub fn shorten_queue(&self) -> io::Result<()> {
        let queue = self.queue()?;
        match queue.len().checked_sub(KEPT_QUEUE) {
            Some(skipped) if skipped > KEPT_QUEUE => self.write_queue(&queue[skipped..]),
            _ => Ok(()),
        }
    }

    fn write_queue(&self, entries: &[Checkpoint]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut bytes, entry)?;
            bytes.push(b'\n');
        }
        replace(&self.dir.join(QUEUE), &bytes)
    }

    /// Logs a line for the diagnosis of hooks.
    pub fn log(&self, line: &str) {
        let path = self.dir.join("hook.log");
        let append = || -> io::Result<()> {
            let mut file = disk::open_to_append(&path)?;
            if file.metadata()?.len() > MAX_LOG {
                file.set_len(0)?;
            }
            disk::append_line(&mut file, line)
        };
        // A failure to write the log must not fail the hook.
        let _ = append();
    }
}

/// The content of a regular file; `None` if it is missing, or larger than cook writes it.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match disk::read(path, MAX_STATE, Links::Refuse) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Ok(None),
        found => found,
    }
}

/// Replaces a file without a sync, because the state may be lost.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    NewFile::at(path, Durable::Nothing).write(bytes)
}

// The facts by which an event is judged, and which of them must be measured for it. Pure.

/// The workflow as recorded in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Whether work continues.
    pub policy: Policy,
    /// The role that is due, as last recorded.
    pub role: Option<Role>,
    /// The active slice.
    pub slice: Option<String>,
    /// The paths that the slice is expected to change.
    pub surfaces: Vec<String>,
    /// Changes when the work makes progress: a commit, an accepted report, another policy or role, or a verified
    /// criterion.
    pub progress: String,
}

/// The role that is due now, as measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Whether work continues.
    pub policy: Policy,
    /// The role; `None` if none is due.
    pub role: Option<Role>,
    /// Its task.
    pub action: String,
    /// Its exact command.
    pub command: String,
}

/// A tracker issue that was closed, as the tracker confirms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedIssue {
    /// Its id.
    pub id: String,
    /// Issues that can start now: id and title.
    pub unblocked: Vec<String>,
}

/// The facts by which an event is judged. Facts that [`wants`] did not request may be missing.
#[derive(Debug, Clone, Default)]
pub struct Situation {
    /// The current time in RFC 3339.
    pub now: String,
    /// The current time in milliseconds since 1970.
    pub now_ms: i64,
    /// The role of the session, if cook started it (the inner `None`: without a role); `None` if cook did not.
    pub child: Option<Option<Role>>,
    /// The workflow; `None` if the worktree has none.
    pub workflow: Option<Workflow>,
    /// Whether the session owns the workflow.
    pub owner: bool,
    /// Whether another session owns it.
    pub held: bool,
    /// Whether a call of cook within a session of this agent took ownership of the workflow, and its environment did
    /// not identify the session.
    pub taken: bool,
    /// Whether this stop was already handled while this delivery of it waited.
    pub again: bool,
    /// Whether `cook run` drives the workflow, so that no session owns it.
    pub driven: bool,
    /// The commit of HEAD; when a goal is checked, a commit of the worktree's content.
    pub head: Option<String>,
    /// Whether a goal is checked, which also happens while the agent's own goal loop runs.
    pub goal: bool,
    /// The message to the person if nothing prevents the stop.
    pub told: Option<String>,
    /// Commits made since the session's last event, oldest first.
    pub commits: Vec<MadeCommit>,
    /// Entries of the trail since the session's last event.
    pub news: Vec<Checkpoint>,
    /// The length of the trail.
    pub trail: u64,
    /// The tool's paths inside the worktree, relative to it.
    pub paths: Vec<String>,
    /// Those of them that HEAD tracks.
    pub tracked: Vec<String>,
    /// The issue that the tool call claimed, if the tracker confirms that this session's actor holds it.
    pub claimed: Option<String>,
    /// Issues that the tool call closed.
    pub closed: Vec<ClosedIssue>,
    /// Uncommitted paths without the tracker's own files, if requested.
    pub dirty: Option<Vec<String>>,
    /// The role that is due, if requested.
    pub due: Option<Due>,
    /// The recovery message, if requested.
    pub recovery: Option<Recovery>,
    /// The first line of the assistant's last message, if requested.
    pub last_line: Option<String>,
    /// The brief, if requested and available.
    pub brief: Option<String>,
    /// Whether prompts are stored as text; otherwise only their digests are.
    pub keep_prompts: bool,
}

/// Facts that take longer to measure, and whether an event needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// The facts of the recovery message.
    pub recovery: bool,
    /// The role that is due.
    pub due: bool,
    /// Whether the worktree is clean.
    pub dirty: bool,
    /// The end of the transcript.
    pub last_line: bool,
    /// The brief.
    pub brief: bool,
}

/// The slower facts that an event needs, given the session's state.
pub fn wants(state: &SessionState, row: &Row, event: &Event) -> Wants {
    let starts = begins(state, event) || event.is_compaction();
    let loses = event.is_compaction() || has_shrunk(state, event);
    Wants {
        recovery: row.context && !event.subagent && (starts || state.pending.recovery),
        due: (event.kind == Kind::Stop && !event.subagent) || loses,
        dirty: loses
            || event.tool.as_ref().is_some_and(|tool| {
                let line = tool.command.as_deref().unwrap_or_default();
                segments(line)
                    .iter()
                    .any(|segment| issue_call(segment, &["close"]).is_some())
            }),
        last_line: loses && event.last_message.is_none(),
        brief: row.context && !event.subagent && (state.pending.brief || goes_on(event)),
    }
}

/// Whether a session begins: by its event, or by its first prompt if the agent sends no such event.
pub fn begins(state: &SessionState, event: &Event) -> bool {
    let first = event.kind == Kind::Prompt && !state.started;
    !event.subagent && (event.kind == Kind::SessionStart || first)
}

/// Whether the context is clearly smaller than when the agent attempted a compaction. Requests add to it, and other
/// omissions of an agent are small.
pub(super) fn has_shrunk(state: &SessionState, event: &Event) -> bool {
    const LEFT: f64 = 0.75;
    let held = state.attempted.zip(event.context_tokens);
    !event.subagent && held.is_some_and(|(before, now)| now < before * LEFT)
}

/// Whether a session begins that has lost its context.
pub(super) fn goes_on(event: &Event) -> bool {
    event.kind == Kind::SessionStart && matches!(event.source, Source::Compact | Source::Resume)
}
