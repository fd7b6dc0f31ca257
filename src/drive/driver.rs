//! The driver of one worktree's workflow: what it holds, and how it writes down what happens.

use super::assignment::{Limits, RoleAssignment};
use super::authority::Watch;
use super::event::{Observer, RunEvent};
use super::live::Board;
use super::mirror::Mirror;
use super::operator::Opening;
use super::sandbox::Keeping;
use crate::service::{self, Applied, Workspace};
use cook_agents::Spent;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::model::{Actor, Event, Role};
use cook_git::Repo;
use cook_os::process::Patience;
use cook_store::session::GitStore;
use cook_store::store::Lease;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Drives one worktree's workflow.
pub struct Driver<'a> {
    pub(super) dir: PathBuf,
    opening: Opening,
    pub(super) cast: RoleAssignment,
    pub(super) limits: Limits,
    /// What holds its sessions to what they may write.
    pub(super) keeping: Keeping,
    pub(super) sessions: GitStore,
    pub(super) lease: Lease,
    pub(super) patience: Patience,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) board: Board,
    pub(super) mirror: Mirror,
    pub(super) tally: Tally,
    /// The worktree held what is not committed when the run began.
    pub(super) beside_edits: bool,
    /// What earlier runs of this workflow took.
    pub(super) before: Spent,
    /// Suppliers that said until when their limit holds, RFC 3339.
    pub(super) limited: BTreeMap<String, String>,
}

/// What a run has used and met so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sessions: u64,
    pub(super) spent: Spent,
    /// Sessions in a row that failed.
    pub(super) failures: u32,
    /// Steps in a row after which everything stood as before.
    pub(super) idle: u32,
    /// Nobody could play the last time, and what keeps one from it ends by itself; after how
    /// long, where that was said.
    pub(super) passing: Option<Option<Duration>>,
    /// An agent answered in this run: a network that is away by now was there.
    pub(super) has_heard: bool,
    /// Waits in a row for that.
    pub(super) waits: u32,
    /// Whose session was ended because somebody asked for it.
    pub(super) cut: Option<Role>,
    /// Judges are held one after another, whatever the settings say.
    pub(super) one_by_one: bool,
}

impl<'a> Driver<'a> {
    /// Takes the workflow's lease.
    ///
    /// # Errors
    /// No log, or another driver.
    pub fn new(
        dir: &Path,
        cast: RoleAssignment,
        limits: Limits,
        keeping: Keeping,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, Failure> {
        let workspace = Workspace::open(dir)?;
        let lease = workspace.store()?.lease("cook run")?;
        let sessions = GitStore::open(workspace.place())?;
        let patience = Patience::begin(observer.alarm()).map_err(|error| {
            Failure::state(Code::Interrupted, "signals cannot be handled").with_cause(&error)
        })?;
        Ok(Self {
            dir: workspace.repo.root().to_owned(),
            opening: Opening::default(),
            cast,
            limits,
            keeping,
            sessions,
            lease,
            patience,
            observer,
            board: Board::new(&workspace)?,
            mirror: Mirror::new(&workspace)?,
            tally: Tally::default(),
            beside_edits: false,
            before: Spent::default(),
            limited: BTreeMap::new(),
        })
    }

    /// Lets it see the worktree so.
    #[must_use]
    pub fn opening(mut self, opening: Opening) -> Self {
        self.opening = opening;
        self
    }

    pub(super) fn open(&self) -> Result<Workspace, Failure> {
        self.opening.open(&self.dir)
    }

    /// Somebody has asked for an end since it was made.
    pub fn is_asked_to_end(&self) -> bool {
        self.patience.is_over()
    }

    /// Ends a watch whose session is settled.
    pub(super) fn end(&self, watch: Watch) -> Result<(), Failure> {
        self.mirror.forget(watch.dir())?;
        watch.end(&Repo::discover(&self.dir)?)
    }

    /// Stops the work with a reason; the reason.
    pub(super) fn block(&mut self, why: String) -> Result<String, Failure> {
        let workspace = self.open()?;
        let event = Event::Blocked {
            why: why.clone(),
            exit: "cook resume".to_owned(),
        };
        match self.record(&workspace, &event) {
            // A budget or a question stopped it already.
            Err(failure) if failure.code == Code::DoesNotApply => {}
            other => {
                other?;
            }
        }
        Ok(why)
    }

    pub(super) fn record(
        &mut self,
        workspace: &Workspace,
        event: &Event,
    ) -> Result<Applied, Failure> {
        let applied = service::transition_holding(workspace, &self.lease, event, Actor::Role)?;
        let not_notified = |finding: &&Finding| finding.code == Code::NotifyFailed;
        for finding in applied.findings.iter().filter(not_notified) {
            self.observer.observe(&RunEvent::NotNotified(finding));
        }
        Ok(applied)
    }
}
