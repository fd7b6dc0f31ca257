//! What the step is judged by: measured with the session's lock held where it is quick, before it
//! where it takes long.

use super::context::{HookContext, child};
use super::error::HookError;
use super::measure;
use crate::service;
use crate::tracker::is_id;
use cook_core::diagnostic::Failure;
use cook_core::machine::Head;
use cook_core::model::Snapshot;
use cook_git::Entry;
use cook_hooks::{
    Kind, SessionState, Situation, StateDir, Wants, begins, issue_call, place, segments,
};
use std::path::Path;

/// Entries of the trail that are looked through for new ones.
const NEWS: usize = 200;

/// Issues that one command line is asked about.
const ISSUES: usize = 5;

impl HookContext<'_> {
    /// Measured without the lock.
    pub(super) fn slow_facts(
        &self,
        state_dir: &StateDir,
        state: &SessionState,
        snapshot: Option<&Snapshot>,
        wanted: Wants,
    ) -> Result<Situation, HookError> {
        let config = self.workspace.config();
        let mut facts = Situation {
            now: self.workspace.clock.now(),
            now_ms: self.workspace.clock.epoch_millis(),
            child: child(),
            keep_prompts: config
                .as_ref()
                .is_ok_and(|config| config.hooks.keep_prompts),
            show_brief: config
                .as_ref()
                .is_ok_and(|config| config.brief.show_after_compact),
            ..Situation::default()
        };
        let claimed = state.item.as_deref().filter(|_| state.claimed);
        let mut away = None;
        let starts = begins(state, self.event);
        if let (true, Some(tracker), None) = (starts, self.tracker, facts.child) {
            away = tracker.wake().err();
        }
        if wanted.recovery && facts.child.is_none() {
            let kept = match self.workspace.store {
                Some(_) => Vec::new(),
                None => state_dir.queue()?,
            };
            if wanted.brief && snapshot.is_some() {
                match self.brief() {
                    Ok(text) => facts.brief = Some(text),
                    Err(failure) => away = Some(format!("the brief: {failure}")),
                }
            }
            let mut recovery =
                measure::recovery(self.workspace, snapshot, self.tracker, claimed, kept)?;
            recovery.notes.extend(away);
            recovery.notes.dedup();
            facts.recovery = Some(recovery);
        }
        if let (true, Some(snapshot), None) = (wanted.due, snapshot, facts.child) {
            facts.due = Some(measure::due(self.workspace, snapshot)?.0);
        }
        if wanted.last_line {
            let path = self.event.transcript.as_deref();
            facts.last_line = path.and_then(|path| measure::last_line(Path::new(path)));
        }
        if wanted.dirty {
            let dirty = self.workspace.repo.status()?.worktree.dirty;
            let trackers = |path: &str| self.tracker.is_some_and(|t| t.owns_path(path));
            facts.dirty = Some(dirty.into_iter().filter(|path| !trackers(path)).collect());
        }
        self.ask_tracker(&mut facts);
        Ok(facts)
    }

    /// Claims and closes that a tool call shows, as the tracker has them now.
    fn ask_tracker(&self, facts: &mut Situation) {
        let tool = self
            .event
            .tool
            .as_ref()
            .filter(|_| self.event.kind == Kind::AfterTool);
        let (Some(tracker), Some(tool)) = (self.tracker, tool) else {
            return;
        };
        for segment in segments(tool.command.as_deref().unwrap_or_default()) {
            let Some((word, rest)) = issue_call(&segment) else {
                continue;
            };
            let claims = word == "claim"
                || rest.iter().any(|word| {
                    word == "--claim" || word == "in_progress" || word == "--status=in_progress"
                });
            for issue in list_named(rest) {
                match word {
                    "update" | "claim" if claims && tracker.holds(issue) == Ok(true) => {
                        facts.claimed = Some(issue.to_owned());
                    }
                    // A close that was skipped can end with 0: it is verified, not believed.
                    "close" if !facts.closed.iter().any(|closed| closed.id == issue) => {
                        facts
                            .closed
                            .extend(tracker.verify_close(issue).ok().flatten());
                    }
                    _ => {}
                }
            }
        }
    }

    pub(super) fn fast_facts(
        &self,
        state_dir: &StateDir,
        state: &SessionState,
        snapshot: Option<&Snapshot>,
        facts: &mut Situation,
    ) -> Result<(), HookError> {
        let head = self.workspace.repo.head()?;
        if let Some(seen) = &state.head {
            facts.commits = self
                .workspace
                .repo
                .list_made_since(seen.commit.as_deref(), &head)?;
        }
        facts.head.clone_from(&head.commit);
        facts.workflow = snapshot.map(|snapshot| measure::workflow(snapshot, &head));
        if let Some(store) = &self.workspace.store {
            facts.trail = store.checkpoints_length()?;
            if let Some(seen) = state.trail.filter(|seen| *seen != facts.trail) {
                facts.news = store.read_checkpoints_after(seen, NEWS)?;
            }
            if let Some(owner) = state_dir.owner().filter(|owner| owner.holds(facts.now_ms)) {
                let agents = owner.agent == self.agent.name();
                facts.owner = agents && owner.session == self.event.session;
                facts.taken = agents && owner.is_unnamed();
                facts.held = !facts.owner && !facts.taken;
            }
            facts.driven = facts.owner && store.lease_holder()?.is_some();
        }
        self.tool_paths(&head, facts)?;
        Ok(())
    }

    fn tool_paths(&self, head: &Head, facts: &mut Situation) -> Result<(), HookError> {
        let root = self.workspace.repo.root();
        let Some(tool) = &self.event.tool else {
            return Ok(());
        };
        facts.paths = tool
            .paths
            .iter()
            .filter_map(|path| place::inside(root, &self.dir, path))
            .collect();
        if self.event.kind == Kind::BeforeTool
            && let Some(commit) = &head.commit
        {
            for path in &facts.paths {
                if self.workspace.repo.entry(commit, path)? != Entry::Nothing {
                    facts.tracked.push(path.clone());
                }
            }
        }
        Ok(())
    }

    /// The brief as `cook brief` prints it.
    fn brief(&self) -> Result<String, Failure> {
        let whole = service::assemble(self.workspace)?;
        Ok(whole.within(Some(service::DEFAULT_BYTES)).text)
    }
}

/// The first words that may name issues.
fn list_named(words: &[String]) -> impl Iterator<Item = &str> {
    const TAKE_A_WORD: [&str; 6] = ["--reason", "-r", "--status", "-s", "--actor", "--session"];
    let values = words.iter().skip(1).zip(words);
    let first = words.first().into_iter().map(String::as_str);
    let rest = values
        .filter(|(_, before)| !TAKE_A_WORD.contains(&before.as_str()))
        .map(|(word, _)| word.as_str());
    first.chain(rest).filter(|word| is_id(word)).take(ISSUES)
}
