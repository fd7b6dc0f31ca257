//! What cook remembers of one session in one worktree. May be lost at any time
//! and is never truth: what lasts is in the trail, the log and git.

use cook_core::model::SchemaVersion;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

    /// Remembers a commit since the last checkpoint.
    pub fn note_commit(&mut self, what: String) {
        keep(&mut self.since.commits, what);
    }

    /// Remembers a gate that was run.
    pub fn ran_gate(&mut self, what: String) {
        keep(&mut self.since.gates, what);
    }

    /// Remembers what a checkpoint said.
    pub fn note_said(&mut self, what: String) {
        keep(&mut self.since.checkpoints, what);
    }

    /// Something worth keeping happened since the last checkpoint.
    pub fn has_news(&self) -> bool {
        self.turns > 0 || self.since != Since::default()
    }
}

fn keep(list: &mut Vec<String>, what: String) {
    if list.len() < MAX_SINCE {
        list.push(what);
    }
}
