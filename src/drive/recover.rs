//! Ends and puts back what a run that is gone left.

use super::authority::Watch;
use super::driver::Driver;
use super::event::RunEvent;
use super::left::{all_watches, list_directory, unreadable, watches};
use super::live;
use crate::service::Workspace;
use cook_agents::{end_left, settle_left};
use cook_core::diagnostic::Failure;
use std::time::Duration;

/// How long after its cook an agent may still have been at work that nobody found alive.
const GRACE: Duration = Duration::from_secs(60);

impl Driver<'_> {
    /// Ends what an earlier run left: its agents' processes, and what their sessions changed.
    /// What came when none of them can have been at work any more is the user's. Comes before a
    /// look at the worktree.
    ///
    /// # Errors
    /// Unreadable state.
    pub fn recover(&mut self) -> Result<(), Failure> {
        let workspace = Workspace::open(&self.dir)?;
        let end = match end_left(workspace.store_id(), &workspace.place().cook_dir()) {
            true => None,
            false => live::last_sign(&workspace)?.map(|seen| seen + GRACE),
        };
        settle_left(&self.sessions, &workspace.clock)?;
        workspace.repo.sweep_throwaways()?;
        for path in list_directory(&watches(&workspace)?)? {
            if let Some(watch) = Watch::open_left_behind(&path, end)? {
                let unlocked = watch.unlock(&workspace)?;
                if !unlocked.is_empty() {
                    self.observer.observe(&RunEvent::Unlocked(&unlocked));
                }
                let leads = watch.put_leads_back()?;
                let breach = watch.settle(&workspace, leads)?;
                let role = watch.role();
                self.observer.observe(&RunEvent::Recovered {
                    role,
                    breach: &breach,
                });
                self.end(watch)?;
            } else {
                // It was ended before the session began.
                std::fs::remove_dir_all(&path).map_err(|error| unreadable(&path, &error))?;
            }
        }
        workspace.repo.unpin_all_but(&all_watches(&workspace)?)?;
        self.mirror.note_settled();
        Ok(())
    }
}
