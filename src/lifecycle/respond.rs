//! One call of `cook hook`: read the event, measure, decide, remember, answer.
//!
//! Invariants: nothing here ends a hook with an error: what goes wrong is one
//! line for stderr and the hook log, and no answer. The session's state is read
//! and written under the worktree's lock; what takes long is measured before it.

use super::issues::owed;
use super::measure;
use super::tracker::Tracker;
use crate::tracker::is_id;
use crate::walk::{self, Taker, Workspace};
use cook_core::diagnostic::Failure;
use cook_core::machine::Head;
use cook_core::model::{BriefSync, Checkpoint, Role, Snapshot};
use cook_git::Entry;
use cook_hooks::{
    Agent, Desk, Effects, Event, Found, InputError, Kind, Outcome, Owner, Row, SessionState,
    Situation, Wants, answer, issue_call, place, read, segments, step, wants,
};
use cook_os::process::{INVOCATION_VARIABLE, ROLE_VARIABLE};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Entries of the trail that are looked through for new ones.
const NEWS: usize = 200;
/// Silences every hook when it is `off`.
pub const SWITCH: &str = "COOK_HOOKS";

/// Issues that one command line is asked about.
const ISSUES: usize = 5;

/// Opens the tracker of a worktree, if it has one, for one event of that kind.
pub type OpenTracker<'a> = &'a dyn for<'w> Fn(&'w Workspace, Kind) -> Option<Box<dyn Tracker + 'w>>;

/// One call.
pub struct Call<'a> {
    /// The agent.
    pub agent: Agent,
    /// The event's name, for agents that do not send it.
    pub named: Option<&'a str>,
    /// What the agent sent.
    pub input: &'a [u8],
    /// Where cook was called.
    pub dir: &'a Path,
    /// The tracker of a worktree.
    pub tracker: OpenTracker<'a>,
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// For stdout; none = nothing.
    pub answer: Option<Value>,
    /// For stderr and the hook log.
    pub complaint: Option<String>,
}

/// What goes wrong in a hook; it never reaches the agent.
#[derive(Debug, thiserror::Error)]
pub(super) enum HookError {
    /// The event cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The repository or the log cannot be read.
    #[error("{0}")]
    Failure(Failure),
    /// The tracker did not answer.
    #[error("{0}; what is kept waits for it")]
    Tracker(String),
    /// A file of the session cannot be read or written.
    #[error("a session file: {0}")]
    Io(#[from] std::io::Error),
}

impl From<Failure> for HookError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<cook_store::store::StoreError> for HookError {
    fn from(error: cook_store::store::StoreError) -> Self {
        Self::Failure(error.into())
    }
}

/// Handles one call.
pub fn respond(call: &Call) -> Response {
    if std::env::var_os(SWITCH).is_some_and(|value| value == "off") {
        return Response::default();
    }
    let event = match read(call.agent, call.named, call.input) {
        Ok(event) => event,
        Err(error) => return complaint(&error.into()),
    };
    let Some(row) = call.agent.row(event.native) else {
        return Response::default();
    };
    let dir = place::directory(event.cwd.as_deref(), call.dir);
    // Outside a repository, in a bare one, in another user's: cook has no say.
    let Ok(workspace) = Workspace::open(&dir) else {
        return Response::default();
    };
    let silenced = workspace.config().is_ok_and(|config| !config.hooks.enabled);
    let tracker = match silenced {
        true => None,
        false => (call.tracker)(&workspace, row.kind),
    };
    if silenced || (workspace.store.is_none() && tracker.is_none()) {
        return Response::default();
    }
    let scene = Scene {
        agent: call.agent,
        row,
        event: &event,
        dir,
        tracker: tracker.as_deref(),
        workspace: &workspace,
    };
    match scene.play() {
        Ok(None) => Response::default(),
        // What has to be said is said, whether or not the tracker could be told.
        Ok(Some(played)) => {
            let told = scene.tell_tracker(played.wrote);
            let followed = played.followed.map_err(HookError::from);
            Response {
                complaint: told
                    .and(followed)
                    .err()
                    .and_then(|error| scene.complain(&error)),
                answer: answer(call.agent, row, &played.effects),
            }
        }
        Err(error) => Response {
            answer: None,
            complaint: scene.complain(&error),
        },
    }
}

fn complaint(error: &HookError) -> Response {
    let text = cook_core::diagnostic::clean(&error.to_string(), cook_core::diagnostic::Lines::Fold);
    Response {
        answer: None,
        complaint: Some(format!("cook hook: {text}")),
    }
}

/// What came of an event.
struct Played {
    effects: Effects,
    /// Entries were kept.
    wrote: bool,
    /// Whether the brief's file could follow.
    followed: Result<(), Failure>,
}

/// An event in its worktree.
struct Scene<'a> {
    agent: Agent,
    row: &'static Row,
    event: &'a Event,
    dir: PathBuf,
    tracker: Option<&'a dyn Tracker>,
    workspace: &'a Workspace,
}

impl Scene<'_> {
    fn desk(&self) -> std::io::Result<Desk> {
        Desk::of(&self.workspace.repo, self.workspace.store.is_some())
    }

    /// The line for stderr, which the hook log gets too.
    fn complain(&self, error: &HookError) -> Option<String> {
        let line = complaint(error).complaint?;
        if let Ok(desk) = self.desk() {
            desk.log(&format!("{} {line}", self.workspace.clock.now()));
        }
        Some(line)
    }

    fn play(&self) -> Result<Option<Played>, HookError> {
        let desk = self.desk()?;
        self.take_inbox(&desk);
        let peeked = match desk.load(self.agent, &self.event.session) {
            Found::Newer => return Ok(None),
            Found::Fresh => SessionState::default(),
            Found::Kept(state) => *state,
        };
        let (_, snapshot) = self.workspace.current()?;
        let wanted = wants(&peeked, self.row, self.event);
        let mut facts = self.slow_facts(&desk, &peeked, snapshot.as_ref(), wanted)?;
        let held = desk.lock()?;
        let before = match desk.load(self.agent, &self.event.session) {
            Found::Newer => return Ok(None),
            Found::Fresh => SessionState::default(),
            Found::Kept(state) => *state,
        };
        self.fast_facts(&desk, &before, snapshot.as_ref(), &mut facts)?;
        let outcome = step(self.agent, before.clone(), self.event, &facts);
        self.note_owner(&desk, &facts, &outcome)?;
        let mut state = outcome.state.clone();
        let wrote = self.append(&desk, &outcome.entries, &mut state)?;
        if differs(&before, &state, self.event.kind) {
            desk.save(&state)?;
        }
        drop(held);
        if self.event.kind == Kind::SessionStart {
            desk.forget_old();
        }
        Ok(Some(Played {
            effects: outcome.effects,
            wrote,
            followed: self.follow_brief(&facts),
        }))
    }

    /// Measured without the lock.
    fn slow_facts(
        &self,
        desk: &Desk,
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
        if let (Kind::SessionStart, Some(tracker), None) =
            (self.event.kind, self.tracker, facts.child)
        {
            away = tracker.wake().err();
        }
        if wanted.recovery && facts.child.is_none() {
            let kept = match self.workspace.store {
                Some(_) => Vec::new(),
                None => desk.queue()?,
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
            for issue in named(rest) {
                match word {
                    "update" | "claim" if claims && tracker.holds(issue) == Ok(true) => {
                        facts.claimed = Some(issue.to_owned());
                    }
                    // A close that was skipped can end with 0: it is verified, not believed.
                    "close" if !facts.closed.iter().any(|closed| closed.id == issue) => {
                        facts.closed.extend(tracker.closed(issue).ok().flatten());
                    }
                    _ => {}
                }
            }
        }
    }

    fn fast_facts(
        &self,
        desk: &Desk,
        state: &SessionState,
        snapshot: Option<&Snapshot>,
        facts: &mut Situation,
    ) -> Result<(), HookError> {
        let head = self.workspace.repo.head()?;
        if let Some(seen) = &state.head {
            facts.commits = self
                .workspace
                .repo
                .made_since(seen.commit.as_deref(), &head)?;
        }
        facts.head.clone_from(&head.commit);
        facts.workflow = snapshot.map(|snapshot| measure::workflow(snapshot, &head));
        if let Some(store) = &self.workspace.store {
            facts.trail = store.checkpoints_length()?;
            if let Some(seen) = state.trail.filter(|seen| *seen != facts.trail) {
                facts.news = store.checkpoints_after(seen, NEWS)?;
            }
            facts.owner = desk.owner().is_some_and(|owner| {
                owner.session == self.event.session
                    && owner.agent == self.agent.name()
                    && owner.holds(facts.now_ms)
            });
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

    fn note_owner(
        &self,
        desk: &Desk,
        facts: &Situation,
        outcome: &Outcome,
    ) -> Result<(), HookError> {
        if facts.workflow.is_none() || facts.child.is_some() {
            return Ok(());
        }
        let mine = facts.owner || outcome.takes;
        if outcome.leaves && mine {
            return Ok(desk.set_owner(None)?);
        }
        let stale = || {
            desk.owner()
                .is_none_or(|owner| facts.now_ms - owner.seen_ms > 60_000)
        };
        if outcome.takes && !facts.owner || mine && stale() {
            desk.set_owner(Some(&Owner {
                agent: self.agent.name().to_owned(),
                session: self.event.session.clone(),
                seen_ms: facts.now_ms,
            }))?;
        }
        Ok(())
    }

    /// Takes in what sandboxed sessions left, except in cook's own child and before a
    /// tool; what came of it is in the hook log.
    fn take_inbox(&self, desk: &Desk) {
        if child().is_some() || matches!(self.event.kind, Kind::BeforeTool | Kind::Usage) {
            return;
        }
        let now = || self.workspace.clock.now();
        match walk::take_inbox(self.workspace, Taker::Hook) {
            Ok(findings) => {
                for finding in findings {
                    let place = finding.place.unwrap_or_default();
                    desk.log(&format!("{} {place}: {}", now(), finding.message));
                }
            }
            // This session may be in a sandbox itself.
            Err(failure) => desk.log(&format!("{} {failure}", now())),
        }
    }

    /// The brief as `cook brief` prints it.
    fn brief(&self) -> Result<String, Failure> {
        let whole = walk::assemble(self.workspace)?;
        Ok(whole.within(Some(walk::DEFAULT_BYTES)).text)
    }

    /// Keeps the brief's file in step, where the settings want that: with what was said
    /// just now, and with each checkpoint before a compaction.
    fn follow_brief(&self, facts: &Situation) -> Result<(), Failure> {
        if facts.child.is_some() || facts.workflow.is_none() {
            return Ok(());
        }
        let always = self.workspace.config()?.brief.sync == BriefSync::Always;
        match &facts.brief {
            Some(text) if always => walk::write_brief(self.workspace, "", text).map(|_| ()),
            None if self.event.kind == Kind::BeforeCompact => {
                walk::follow_brief(self.workspace).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Keeps the entries; their own growth of the trail is no news. True when there
    /// were any.
    fn append(
        &self,
        desk: &Desk,
        entries: &[Checkpoint],
        state: &mut SessionState,
    ) -> Result<bool, HookError> {
        let Some(store) = &self.workspace.store else {
            desk.enqueue(entries)?;
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
    fn tell_tracker(&self, wrote: bool) -> Result<(), HookError> {
        let rests = !matches!(
            self.event.kind,
            Kind::BeforeTool | Kind::AfterTool | Kind::Prompt | Kind::Usage
        );
        let Some(tracker) = self
            .tracker
            .filter(|_| (wrote || rests) && child().is_none())
        else {
            return Ok(());
        };
        give(self.workspace, &self.desk()?, tracker)
    }
}

/// Gives the tracker the entries of the trail that it does not have yet.
pub(super) fn give(
    workspace: &Workspace,
    desk: &Desk,
    tracker: &dyn Tracker,
) -> Result<(), HookError> {
    let (_, snapshot) = workspace.current()?;
    let plan = snapshot.as_ref().map(|snapshot| &snapshot.plan);
    let mut length = None;
    loop {
        let trail = trail(workspace, desk)?;
        // Whoever found the queue held by this process had written before.
        if length == Some(trail.len()) {
            return Ok(());
        }
        length = Some(trail.len());
        let all = tracker
            .catch_up(&owed(&trail, plan))
            .map_err(HookError::Tracker)?;
        if !all {
            return Ok(());
        }
        if workspace.store.is_none() {
            let _held = desk.lock()?;
            desk.shorten_queue()?;
            length = Some(desk.queue()?.len());
        }
    }
}

/// The newest entries of a worktree's trail.
fn trail(workspace: &Workspace, desk: &Desk) -> Result<Vec<Checkpoint>, HookError> {
    Ok(match &workspace.store {
        Some(store) => store.checkpoints(measure::LOOK_BACK)?.entries,
        None => desk.queue()?,
    })
}

/// The first words that may name issues.
fn named(words: &[String]) -> impl Iterator<Item = &str> {
    const TAKE_A_WORD: [&str; 6] = ["--reason", "-r", "--status", "-s", "--actor", "--session"];
    let values = words.iter().skip(1).zip(words);
    let first = words.first().into_iter().map(String::as_str);
    let rest = values
        .filter(|(_, before)| !TAKE_A_WORD.contains(&before.as_str()))
        .map(|(word, _)| word.as_str());
    first.chain(rest).filter(|word| is_id(word)).take(ISSUES)
}

/// A tool that is only asked about need not be remembered: the guard knows no past.
fn differs(before: &SessionState, after: &SessionState, kind: Kind) -> bool {
    if kind != Kind::BeforeTool {
        return before != after;
    }
    let mut after = after.clone();
    after.deliveries.clone_from(&before.deliveries);
    if after.seen_ms - before.seen_ms < 60_000 {
        after.seen_ms = before.seen_ms;
        after.called_ms = before.called_ms;
    }
    *before != after
}

/// cook's own child, and the role it plays.
fn child() -> Option<Option<Role>> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    set(INVOCATION_VARIABLE)?;
    Some(set(ROLE_VARIABLE).and_then(|role| Role::parse(&role)))
}
