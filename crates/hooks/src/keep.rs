//! Where a session's state lies, and who owns the workflow: small files that may
//! be lost, changed under one lock per worktree so that no hook undoes another.

use super::agent::Agent;
use super::state::SessionState;
use cook_core::digest::sha256;
use cook_core::model::{Checkpoint, GOAL_VIEW};
use cook_git::Repo;
use cook_os::disk::{self, Durable, Links, NewFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    /// It is not known which session of the agent that is.
    pub fn is_unnamed(&self) -> bool {
        self.session.is_empty()
    }

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
