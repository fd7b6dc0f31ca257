//! What follows from the step: who owns the workflow, what is kept, what others are told.

use super::context::{HookContext, child};
use super::error::HookError;
use super::issues::list_owed;
use super::measure;
use super::tracker::Tracker;
use crate::service::{self, Taker, Workspace};
use cook_core::diagnostic::Failure;
use cook_core::model::{BriefSync, Checkpoint};
use cook_hooks::{Kind, Outcome, Owner, SessionState, Situation, StateDir};

impl HookContext<'_> {
    pub(super) fn note_owner(
        &self,
        state_dir: &StateDir,
        facts: &Situation,
        outcome: &Outcome,
    ) -> Result<(), HookError> {
        if facts.workflow.is_none() || facts.child.is_some() {
            return Ok(());
        }
        let mine = facts.owner || outcome.takes;
        if outcome.leaves && mine {
            return Ok(state_dir.set_owner(None)?);
        }
        let stale = || {
            state_dir
                .owner()
                .is_none_or(|owner| facts.now_ms - owner.seen_ms > 60_000)
        };
        if outcome.takes && !facts.owner || mine && stale() {
            state_dir.set_owner(Some(&Owner {
                agent: self.agent.name().to_owned(),
                session: self.event.session.clone(),
                seen_ms: facts.now_ms,
            }))?;
        }
        Ok(())
    }

    /// Takes in what sandboxed sessions left, except in cook's own child and before a
    /// tool; what came of it is in the hook log.
    pub(super) fn take_inbox(&self, state_dir: &StateDir) {
        if child().is_some() || matches!(self.event.kind, Kind::BeforeTool | Kind::Usage) {
            return;
        }
        let now = || self.workspace.clock.now();
        match service::take_inbox(self.workspace, Taker::Hook) {
            Ok(findings) => {
                for finding in findings {
                    let place = finding.place.unwrap_or_default();
                    state_dir.log(&format!("{} {place}: {}", now(), finding.message));
                }
            }
            // This session may be in a sandbox itself.
            Err(failure) => state_dir.log(&format!("{} {failure}", now())),
        }
    }

    /// Keeps the brief's file in step, where the settings want that: with what was said
    /// just now, and with each checkpoint before a compaction.
    pub(super) fn follow_brief(&self, facts: &Situation) -> Result<(), Failure> {
        if facts.child.is_some() || facts.workflow.is_none() {
            return Ok(());
        }
        let always = self.workspace.config()?.brief.sync == BriefSync::Always;
        match &facts.brief {
            Some(text) if always => service::write_brief(self.workspace, "", text).map(|_| ()),
            None if self.event.is_compaction() => service::follow_brief(self.workspace).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Keeps the entries; their own growth of the trail is no news. True when there
    /// were any.
    pub(super) fn append(
        &self,
        state_dir: &StateDir,
        entries: &[Checkpoint],
        state: &mut SessionState,
    ) -> Result<bool, HookError> {
        let Some(store) = &self.workspace.store else {
            state_dir.enqueue(entries)?;
            return Ok(!entries.is_empty());
        };
        for entry in entries {
            store.append_checkpoint(entry)?;
        }
        if !entries.is_empty() {
            state.trail = Some(store.checkpoints_length()?);
        }
        Ok(!entries.is_empty())
    }

    /// Gives the tracker what it does not have yet; why not, when it cannot be told.
    pub(super) fn tell_tracker(&self, wrote: bool) -> Result<(), HookError> {
        let rests = !self.event.attempt
            && !matches!(
                self.event.kind,
                Kind::BeforeTool | Kind::AfterTool | Kind::Prompt | Kind::Usage
            );
        let Some(tracker) = self
            .tracker
            .filter(|_| (wrote || rests) && child().is_none())
        else {
            return Ok(());
        };
        give(self.workspace, &self.state_dir()?, tracker)
    }
}

/// Gives the tracker the entries of the trail that it does not have yet.
pub(super) fn give(
    workspace: &Workspace,
    state_dir: &StateDir,
    tracker: &dyn Tracker,
) -> Result<(), HookError> {
    let (_, snapshot) = workspace.current()?;
    let plan = snapshot.as_ref().map(|snapshot| &snapshot.plan);
    let mut length = None;
    loop {
        let trail = trail(workspace, state_dir)?;
        // Whoever found the queue held by this process had written before.
        if length == Some(trail.len()) {
            return Ok(());
        }
        length = Some(trail.len());
        let all = tracker
            .catch_up(&list_owed(&trail, plan))
            .map_err(HookError::Tracker)?;
        if !all {
            return Ok(());
        }
        if workspace.store.is_none() {
            let _held = state_dir.lock()?;
            state_dir.shorten_queue()?;
            length = Some(state_dir.queue()?.len());
        }
    }
}

/// The newest entries of a worktree's trail.
fn trail(workspace: &Workspace, state_dir: &StateDir) -> Result<Vec<Checkpoint>, HookError> {
    Ok(match &workspace.store {
        Some(store) => store.checkpoints(measure::LOOK_BACK)?.entries,
        None => state_dir.queue()?,
    })
}
