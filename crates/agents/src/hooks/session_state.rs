//! What cook remembers of one session in one worktree. May be lost at any time
//! and is never truth: what lasts is in the trail, the log and git.

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

/// Turns without a checkpoint after which the session is reminded, and how long
/// it is then left in peace.
pub const NUDGE_AFTER: u64 = 8;
/// How full the context may be before a word is said, in percent.
pub const CONTEXT_LIMIT: f64 = 85.0;
/// Stops that are refused in a row without progress.
pub const BLOCKS: u64 = 3;
/// Two deliveries within this many milliseconds that say the same are one event.
const TWIN: i64 = 3_000;
/// Deliveries that are remembered.
const DELIVERIES: usize = 128;
/// Files remembered per item, and items.
const MAX_FILES: usize = 500;
const MAX_ITEMS: usize = 20;
/// Subjects remembered since the last checkpoint.
const MAX_SINCE: usize = 50;

/// One session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The layout that this build writes; a state of a later one is left alone.
    pub schema_version: SchemaVersion,
    /// The agent.
    pub agent: String,
    /// The session's id, as the agent gives it.
    pub session: String,
    /// The slice or issue it works on.
    pub item: Option<String>,
    /// It claimed that issue in a tracker.
    pub claimed: bool,
    /// The tracker had that issue in work for this actor when the session began.
    pub found: bool,
    /// HEAD when it was last looked at; none before the first look.
    pub head: Option<HeadSeen>,
    /// Length of the trail when it was last looked at.
    pub trail: Option<u64>,
    /// Turns since the last checkpoint.
    pub turns: u64,
    /// The turn that was counted last, where the agent names turns.
    pub turn: Option<String>,
    /// Turns at the last reminder.
    pub nudged: u64,
    /// Issues whose close was seen, until they are claimed again.
    pub closed: VecDeque<String>,
    /// Files edited, by item.
    pub files: BTreeMap<String, BTreeSet<String>>,
    /// What happened since the last checkpoint.
    pub since: Since,
    /// How full the context is, in percent.
    pub context_percent: Option<f64>,
    /// How many tokens it held when that was last said.
    pub context_tokens: Option<f64>,
    /// The same when the agent last tried to compact it; none = no attempt is open.
    pub attempted: Option<f64>,
    /// Its beginning was heard of.
    pub started: bool,
    /// It owned the workflow when it was last heard of.
    pub owned: bool,
    /// Stops that were handled.
    pub stops: u64,
    /// What the last auto-checkpoint said, as SHA-256.
    pub kept: Option<String>,
    /// The user was told, in this context window.
    pub warned: bool,
    /// What waits for an event that can carry it.
    pub pending: Pending,
    /// The stop gate.
    pub stop: StopGate,
    /// The same for what a check finds.
    pub check: StopGate,
    /// The commit at which the person was last told what a check leaves to them.
    pub told_at: Option<String>,
    /// Events that were handled: key and time.
    pub deliveries: VecDeque<(String, i64)>,
    /// When the last event came, milliseconds since 1970.
    pub seen_ms: i64,
    /// When the agent itself last called, as the same.
    pub called_ms: i64,
}

/// HEAD at some moment; an unborn one was seen too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadSeen {
    /// Full id; none = unborn.
    pub commit: Option<String>,
}

/// What happened since the last checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Since {
    /// Short ids and subjects.
    pub commits: Vec<String>,
    /// Paths.
    pub files: BTreeSet<String>,
    /// Gates that the session ran.
    pub gates: Vec<String>,
    /// Texts of checkpoints.
    pub checkpoints: Vec<String>,
}

/// What waits for an event that can carry it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pending {
    /// The recovery message.
    pub recovery: bool,
    /// The brief behind it.
    pub brief: bool,
    /// The reminder, with the number of turns.
    pub nudge: Option<u64>,
    /// The context warning.
    pub warning: bool,
    /// Issues that were closed, and what comes after.
    pub go_on: Option<GoOn>,
    /// For the user.
    pub notices: Vec<String>,
}

/// What is said after issues were closed, once for all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GoOn {
    /// What became of each, one sentence.
    pub closed: Vec<String>,
    /// The commit to make first, when the tree is dirty.
    pub commit: Option<String>,
}

/// What the stop gate did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StopGate {
    /// Stops refused in a row without progress.
    pub blocks: u64,
    /// Where things stood at the last of them.
    pub progress: String,
    /// The reason that was given: it may come back as a prompt.
    pub reason: Option<String>,
    /// It was said that the agent's own goal loop is left alone.
    pub stepped_back: bool,
}

/// What becomes of a stop that something stands against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It is refused.
    Refused,
    /// It is let go, and that is written down.
    Released,
    /// It was let go before.
    LetGo,
}

impl StopGate {
    /// Counts a stop that something stands against, where things stand so.
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
    /// Notes a delivery; true when it was handled already. With `id` it is known
    /// for as long as it is remembered, without for a moment only: the same words
    /// may be said twice.
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

    /// A checkpoint: the counter starts again.
    pub fn note_checkpoint(&mut self) {
        self.turns = 0;
        self.nudged = 0;
        self.pending.nudge = None;
    }

    /// Notes the close of an issue; false when it was noted already.
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

    /// Makes a claimed issue the session's current one, with an empty list of files.
    /// False when it was claimed before.
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

    /// Makes something the session's current item. True when it was another one.
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

    /// Remembers an edited file.
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

/// Remembers one thing more that happened since the last checkpoint.
pub(super) fn remember(list: &mut Vec<String>, what: String) {
    if list.len() < MAX_SINCE {
        list.push(what);
    }
}

/// How long a hook waits for the others. Each holds the lock for a millisecond or two;
/// on a machine with nothing to spare a late answer is better than a lost count.
const WAIT: Duration = Duration::from_millis(2_500);
/// A state file larger than this is none of cook's.
const MAX_STATE: u64 = 4 << 20;
/// The owner's silence after which nobody owns the workflow.
pub const OWNER_SILENCE_MS: i64 = 30 * 60 * 1000;
/// A state that nobody touched for this long is removed.
const FORGET: Duration = Duration::from_secs(7 * 24 * 3600);
/// Entries that wait for a tracker, and how many of them stay when none waits.
const MAX_QUEUE: usize = 500;
const KEPT_QUEUE: usize = 50;
const QUEUE: &str = "queue.jsonl";
/// The log of hooks begins anew above this size.
const MAX_LOG: u64 = 256 << 10;

/// Who owns the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The agent.
    pub agent: String,
    /// The session; empty = the one whose tool call is running, which will say so itself.
    pub session: String,
    /// When it was last heard of, milliseconds since 1970.
    pub seen_ms: i64,
}

impl Owner {
    /// Whether it still is, at that moment.
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
    /// The directory, for looking only: nothing is made.
    pub fn at(repo: &Repo, set_up: bool) -> Self {
        Self {
            dir: match set_up && !disk::is_directory(&repo.git_dir().join(GOAL_VIEW)) {
                true => repo.root().join(".agent").join("tmp"),
                false => repo.git_dir().join("cook-hooks"),
            },
        }
    }

    /// `.agent/tmp` of a set-up worktree, else a directory in its git dir, so that
    /// nothing appears in a worktree that has no workflow. Made when it is missing.
    ///
    /// # Errors
    /// When it cannot be made, or is not a directory.
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

    /// Takes the lock, or gives up in time; released when dropped.
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

    /// A session's state, which starts anew where none can be read; none = a later cook's, which
    /// is left alone.
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

    /// Keeps a session's state.
    pub fn save(&self, state: &SessionState) -> io::Result<()> {
        let bytes = serde_json::to_vec(state)?;
        replace(&self.file(&state.agent, &state.session), &bytes)
    }

    /// Every state that can be read, newest first.
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

    /// Removes states that nobody touched for a week.
    pub fn forget_old(&self) {
        for path in self.state_files() {
            let age = std::fs::symlink_metadata(&path)
                .and_then(|found| found.modified())
                .map(|at| at.elapsed().unwrap_or_default());
            if age.is_ok_and(|age| age > FORGET) {
                // Another hook may have been faster.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// Removes one session's state.
    pub fn forget(&self, agent: Agent, session: &str) {
        // It may never have been there.
        let _ = std::fs::remove_file(self.file(agent.name(), session));
    }

    /// Who was last noted as the workflow's owner.
    pub fn owner(&self) -> Option<Owner> {
        let bytes = read(&self.dir.join("hook-owner.json")).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Notes the owner, or that there is none.
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

    /// Entries of a worktree without a workflow, oldest first: kept here until the
    /// tracker has them. Torn lines are passed over.
    pub fn queue(&self) -> io::Result<Vec<Checkpoint>> {
        let bytes = read(&self.dir.join(QUEUE))?.unwrap_or_default();
        Ok(bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }

    /// Appends what the queue does not hold yet. Under the lock.
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

    /// Keeps the newest entries of a queue that has reached the tracker: the last one
    /// says how far it has. Under the lock.
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

    /// A line for whoever looks why a hook was silent.
    pub fn log(&self, line: &str) {
        let path = self.dir.join("hook.log");
        let append = || -> io::Result<()> {
            let mut file = disk::open_to_append(&path)?;
            if file.metadata()?.len() > MAX_LOG {
                file.set_len(0)?;
            }
            disk::append_line(&mut file, line)
        };
        // The log is for reading only; a hook does not fail for it.
        let _ = append();
    }
}

/// A regular file's bytes; none when it is absent, or larger than cook writes it.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match disk::read(path, MAX_STATE, Links::Refuse) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Ok(None),
        found => found,
    }
}

/// State may be lost: it is not waited for until it is on the disk.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    NewFile::at(path, Durable::Nothing).write(bytes)
}

// What an event is judged by, and which of it has to be measured for that event. Pure.

/// The workflow, as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Whether work goes on.
    pub policy: Policy,
    /// Who is due, as last written down.
    pub role: Option<Role>,
    /// The slice in work.
    pub slice: Option<String>,
    /// What that slice is expected to change.
    pub surfaces: Vec<String>,
    /// Changes when the work gets on: a commit, an accepted report, another
    /// policy or role, a criterion that was verified.
    pub progress: String,
}

/// Who is due now, measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Whether work goes on.
    pub policy: Policy,
    /// The role; none when nobody is.
    pub role: Option<Role>,
    /// What it is to do.
    pub action: String,
    /// The exact command.
    pub command: String,
}

/// A tracker issue that was closed, and verified to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedIssue {
    /// Its id.
    pub id: String,
    /// What can start now: id and title.
    pub unblocked: Vec<String>,
}

/// Facts an event is judged by. What [`wants`] did not ask for may be left out.
#[derive(Debug, Clone, Default)]
pub struct Situation {
    /// Now, RFC 3339.
    pub now: String,
    /// Now, milliseconds since 1970.
    pub now_ms: i64,
    /// cook's own child: the role it was started for.
    pub child: Option<Option<Role>>,
    /// The workflow; none where none is set up.
    pub workflow: Option<Workflow>,
    /// The session owns the workflow.
    pub owner: bool,
    /// Another one does.
    pub held: bool,
    /// This agent's session around a call of cook took the workflow, and its environment did not say
    /// which one that is.
    pub taken: bool,
    /// This stop was handled already, while this delivery of it waited.
    pub again: bool,
    /// `cook run` drives: nobody owns the workflow.
    pub driven: bool,
    /// HEAD; of a goal what stands in the worktree.
    pub head: Option<String>,
    /// A goal is asked, also where the agent's own goal loop runs.
    pub goal: bool,
    /// What the person is to be told, where nothing holds the stop.
    pub told: Option<String>,
    /// Commits made since the session's last look, oldest first.
    pub commits: Vec<MadeCommit>,
    /// Entries of the trail since the session's last look.
    pub news: Vec<Checkpoint>,
    /// Length of the trail.
    pub trail: u64,
    /// The tool's paths inside the worktree, relative to it.
    pub paths: Vec<String>,
    /// Those of them that HEAD tracks.
    pub tracked: Vec<String>,
    /// An issue of this session's actor, as the tracker has it.
    pub claimed: Option<String>,
    /// Issues that the tool call closed.
    pub closed: Vec<ClosedIssue>,
    /// Uncommitted paths, when asked for; a tracker's own files are left out.
    pub dirty: Option<Vec<String>>,
    /// Who is due, when asked for.
    pub due: Option<Due>,
    /// The recovery message, when asked for.
    pub recovery: Option<Recovery>,
    /// First line of the assistant's last message, when asked for.
    pub last_line: Option<String>,
    /// The brief, when asked for and there is one.
    pub brief: Option<String>,
    /// Prompts are kept as they are; otherwise their digest is.
    pub keep_prompts: bool,
}

/// Facts that take longer, and whether this event needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// The recovery message's.
    pub recovery: bool,
    /// Who is due.
    pub due: bool,
    /// Whether the worktree is clean.
    pub dirty: bool,
    /// The transcript's end.
    pub last_line: bool,
    /// The brief, to be said.
    pub brief: bool,
}

/// Which of the slower facts an event needs, by what is remembered of the session.
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

/// A session begins: by its event, or by its first prompt where the agent sends no such event.
pub fn begins(state: &SessionState, event: &Event) -> bool {
    let first = event.kind == Kind::Prompt && !state.started;
    !event.subagent && (event.kind == Kind::SessionStart || first)
}

/// Since the agent tried to compact the context it holds clearly less. A request adds to it, and what
/// an agent leaves out of one beside that is little.
pub(super) fn has_shrunk(state: &SessionState, event: &Event) -> bool {
    const LEFT: f64 = 0.75;
    let held = state.attempted.zip(event.context_tokens);
    !event.subagent && held.is_some_and(|(before, now)| now < before * LEFT)
}

/// A session begins that has lost what it knew.
pub(super) fn goes_on(event: &Event) -> bool {
    event.kind == Kind::SessionStart && matches!(event.source, Source::Compact | Source::Resume)
}
