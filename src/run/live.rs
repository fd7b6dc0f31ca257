//! What a driver's sessions are at, for whoever looks from another terminal: one small file
//! beside the log, rewritten as the sessions move.
//!
//! It is a view and decides nothing. Whether its driver lives is told by the lease alone.

use super::session_guard::unwritable;
use crate::service::Workspace;
use cook_agents::Progress;
use cook_protocol::diagnostic::{Failure, without_tokens};
use cook_protocol::model::Role;
use cook_repo::clock::Clock;
use cook_repo::disk::{self, Durable, Links, NewFile};
use cook_repo::git::Repo;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// How often it is rewritten at most, but for beginnings and ends.
const PACE: Duration = Duration::from_millis(400);
/// Bytes that are read.
const LIMIT: u64 = 1 << 20;
/// Characters of a tool's name, and of a line.
const NAME: usize = 200;
/// Lines of what a session said.
const LINES: usize = 12;

/// The sessions of a driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// The driver's process.
    pub pid: u32,
    /// Until when the end of a supplier's limit is waited for, RFC 3339.
    pub waits_until: Option<String>,
    /// Those that are held now.
    pub sessions: Vec<LiveSession>,
    /// The driver has not come to its end.
    #[serde(default)]
    pub at_work: bool,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveSession {
    /// Whose turn it is.
    pub role: Role,
    /// Who plays it.
    pub agent: String,
    /// The agent's process, once it runs.
    pub pid: Option<u32>,
    /// When it began, RFC 3339.
    pub began_at: String,
    /// When it last printed something, RFC 3339.
    pub output_at: String,
    /// The tool it used last.
    pub tool: Option<String>,
    /// What it said last, newest last.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// Where the driver writes.
#[derive(Debug)]
pub(super) struct Board {
    path: PathBuf,
    clock: Clock,
    live: Live,
    written: Instant,
    /// A session was held.
    has_begun: bool,
}

fn path(workspace: &Workspace) -> Result<PathBuf, Failure> {
    find_path(&workspace.repo, workspace.store()?.id())
}

fn find_path(repo: &Repo, id: &str) -> Result<PathBuf, Failure> {
    let dir = repo.cook_dir()?.join("live");
    Ok(dir.join(format!("{id}.json")))
}

/// What the driver of this worktree is at; none when nobody drives it.
///
/// # Errors
/// When the lease cannot be looked at.
pub fn live(workspace: &Workspace) -> Result<Option<Live>, Failure> {
    let written = disk::read(&path(workspace)?, LIMIT, Links::Follow);
    let bytes = written.unwrap_or_default().unwrap_or_default();
    let holder = workspace.store()?.lease_holder()?;
    let live: Option<Live> = serde_json::from_slice(&bytes).ok();
    Ok(live.filter(|live| holder.is_some_and(|holder| holder.pid == live.pid)))
}

/// When a driver of this worktree was last seen alive; none when that is not known.
pub(super) fn last_sign(workspace: &Workspace) -> Result<Option<SystemTime>, Failure> {
    let found = std::fs::metadata(path(workspace)?);
    Ok(found.and_then(|found| found.modified()).ok())
}

/// Notes that something of that workflow's was at work until now, whoever began it.
pub(super) fn was_alive(repo: &Repo, id: &str) -> Result<(), Failure> {
    let path = find_path(repo, id)?;
    let dir = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    dir.and_then(|()| File::options().create(true).append(true).open(&path))
        .and_then(|file| file.set_modified(SystemTime::now()))
        .map_err(|error| unwritable(&path, &error))
}

impl LiveSession {
    /// Keeps the last lines of what it said; what can only be a secret is in none.
    fn hear(&mut self, text: &str) {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines = lines.map(|line| line.chars().take(NAME).collect::<String>());
        self.lines.extend(lines.map(|line| without_tokens(&line)));
        let old = self.lines.len().saturating_sub(LINES);
        self.lines.drain(..old);
    }
}

impl Board {
    pub fn new(workspace: &Workspace) -> Result<Self, Failure> {
        let path = path(workspace)?;
        if let Some(dir) = path.parent() {
            // What cannot be written is not shown, and stops no work.
            let _ = std::fs::create_dir_all(dir);
        }
        Ok(Self {
            path,
            clock: workspace.clock,
            live: Live {
                pid: std::process::id(),
                waits_until: None,
                sessions: Vec::new(),
                at_work: true,
            },
            written: Instant::now(),
            has_begun: false,
        })
    }

    /// A session begins; its slot.
    pub fn begins(&mut self, role: Role, agent: &str) -> usize {
        let now = self.clock.now();
        self.has_begun = true;
        self.live.waits_until = None;
        self.live.sessions.push(LiveSession {
            role,
            agent: agent.to_owned(),
            pid: None,
            began_at: now.clone(),
            output_at: now,
            tool: None,
            lines: Vec::new(),
        });
        self.write();
        self.live.sessions.len() - 1
    }

    /// The session of that slot shows something.
    pub fn shows(&mut self, slot: usize, progress: &Progress) {
        let now = self.clock.now();
        let Some(session) = self.live.sessions.get_mut(slot) else {
            return;
        };
        match progress {
            Progress::Started(pid) => session.pid = Some(*pid),
            Progress::Tool(name) => {
                session.tool = Some(name.chars().take(NAME).collect());
                session.output_at = now;
            }
            Progress::Said(text) => {
                session.output_at = now;
                session.hear(text);
            }
            Progress::Notice(_) => session.output_at = now,
            Progress::Pulse { quiet, .. } => {
                let quiet = i64::try_from(quiet.as_secs()).unwrap_or(i64::MAX);
                let seconds = self.clock.epoch_millis() / 1000 - quiet;
                session.output_at = Clock::of_epoch(seconds);
            }
        }
        if matches!(progress, Progress::Started(_)) || self.written.elapsed() >= PACE {
            self.write();
        }
    }

    /// The end of a limit, or the network, is waited for.
    pub fn waits(&mut self, until: &str) {
        self.live.waits_until = Some(until.to_owned());
        self.write();
    }

    /// No session is held any more.
    pub fn ends(&mut self) {
        self.live.sessions.clear();
        self.live.waits_until = None;
        self.write();
    }

    fn write(&mut self) {
        self.written = Instant::now();
        let written = serde_json::to_vec(&self.live)
            .map_err(std::io::Error::other)
            .and_then(|bytes| NewFile::at(&self.path, Durable::Nothing).write(&bytes));
        // A view for onlookers: without it the work goes on unseen.
        drop(written);
    }
}

/// The file stays: its time says when this driver was last there.
impl Drop for Board {
    fn drop(&mut self) {
        if self.has_begun {
            self.live.at_work = false;
            self.ends();
        }
    }
}
