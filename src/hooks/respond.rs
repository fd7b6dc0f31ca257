//! One call of `cook hook`: reads the event, measures, decides, saves the state, and answers.
//!
//! Invariants: a hook never ends with an error: a failure is one line on stderr and in the hook log, without an answer.
//! The session's state is read and written under the worktree's lock; slow facts are measured before it is taken.

use super::hook_issues::{Issues, find_tracker, list_owed};
use super::install::is_called_twice;
use crate::check::{Ask, Line, check};
use crate::prelude::*;
use crate::service::{self, Taker};
use crate::workspace::Workspace;
use cook_agents::hooks::layout::Purpose;
use cook_agents::hooks::{
    Agent, Effects, Event, False, Kind, Outcome, Owed, Owner, Row, SessionState, Situation,
    StateDir, answer, check_stop, find_directory, is_checked, read, step, wants,
};
use cook_protocol::model::BriefSync;
use cook_protocol::trials::Weight;
use cook_repo::process::{INVOCATION_VARIABLE, ROLE_VARIABLE};

/// How many entries of the trail are searched.
pub(super) const LOOK_BACK: usize = 2_000;

/// If this variable is `off`, hooks do nothing.
pub const SWITCH: &str = "COOK_HOOKS";

/// One call of a hook.
pub struct Call<'a> {
    /// The agent that calls.
    pub agent: Agent,
    /// The event's name, for agents that do not send it.
    pub named: Option<&'a str>,
    /// The input from the agent.
    pub input: &'a [u8],
    /// The directory of the call.
    pub dir: &'a Path,
}

/// The response to a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// The answer for stdout, if any.
    pub answer: Option<Value>,
    /// A line for stderr and the hook log.
    pub complaint: Option<String>,
}

/// An event that cook handles, and its worktree.
pub(super) struct Called {
    pub(super) agent: Agent,
    pub(super) event: Event,
    pub(super) row: &'static Row,
    pub(super) dir: PathBuf,
    pub(super) workspace: Workspace,
}

/// Reads a call with an event that `heeds` accepts. Returns an error with the response if hooks are turned off, the
/// event is invalid or not accepted, or there is no repository.
pub(super) fn read_call(
    call: &Call,
    heeds: fn(&Row) -> bool,
    purpose: Purpose,
) -> Result<Called, Response> {
    let silent = Response::default;
    if std::env::var_os(SWITCH).is_some_and(|value| value == "off") {
        return Err(silent());
    }
    let event = read(call.agent, call.named, call.input).map_err(|error| {
        let mut told = complaint(&error.into());
        if let Some(line) = &mut told.complaint {
            line.push_str(&format!("; next: cook hooks check {}", call.agent.name()));
        }
        told
    })?;
    let row = call.agent.row(event.native).filter(|row| heeds(row));
    let row = row.ok_or_else(silent)?;
    let dir = find_directory(event.cwd.as_deref(), call.dir);
    // Hooks do nothing outside a repository, in a bare one, and in one of another user.
    let workspace = Workspace::open(&dir).map_err(|_| silent())?;
    let is_off = workspace.config().is_ok_and(|config| !config.hooks.enabled);
    if is_off || is_called_twice(&workspace, call.agent, purpose) {
        return Err(silent());
    }
    Ok(Called {
        agent: call.agent,
        event,
        row,
        dir,
        workspace,
    })
}

/// Handles one call.
pub fn respond(call: &Call) -> Response {
    let called = match read_call(call, |_| true, Purpose::Workflow) {
        Ok(called) => called,
        Err(response) => return response,
    };
    let tracker = find_tracker(&called.workspace, called.row.kind);
    let tracker = tracker.as_ref();
    if called.workspace.store.is_none() && tracker.is_none() {
        return Response::default();
    }
    match called.play(tracker) {
        Ok(None) => Response::default(),
        // The answer is given even if the tracker could not be updated.
        Ok(Some(handled)) => {
            let told = called.tell_tracker(tracker, handled.wrote);
            let followed = handled.followed.map_err(HookError::from);
            Response {
                complaint: told
                    .and(followed)
                    .err()
                    .and_then(|error| called.complain(&error)),
                answer: answer(call.agent, called.row, &handled.effects),
            }
        }
        Err(error) => Response {
            answer: None,
            complaint: called.complain(&error),
        },
    }
}

fn complaint(error: &HookError) -> Response {
    let text = clean(&error.to_string(), Lines::Fold);
    Response {
        answer: None,
        complaint: Some(format!("cook hook: {text}")),
    }
}

/// The result of an event.
struct Handled {
    effects: Effects,
    /// Whether entries were written.
    wrote: bool,
    /// Whether the brief's file could be updated.
    followed: Result<()>,
}

impl Called {
    /// Returns the line for stderr, and writes it to the hook log.
    pub(super) fn complain(&self, error: &HookError) -> Option<String> {
        let line = complaint(error).complaint?;
        if let Ok(state_dir) = self.state_dir() {
            state_dir.log(&format!("{} {line}", self.workspace.clock.now()));
        }
        Some(line)
    }

    fn play(&self, tracker: Option<&Issues>) -> Result<Option<Handled>, HookError> {
        let state_dir = self.state_dir()?;
        self.take_inbox(&state_dir);
        let load = || state_dir.load(self.agent, &self.event.session);
        let Some(peeked) = load() else {
            return Ok(None);
        };
        let (_, snapshot) = self.workspace.current()?;
        let wanted = wants(&peeked, self.row, &self.event);
        let mut facts =
            self.slow_facts(tracker, (&state_dir, &peeked), snapshot.as_ref(), wanted)?;
        let held = state_dir.lock()?;
        let Some(before) = load() else {
            return Ok(None);
        };
        self.fast_facts(&state_dir, &before, snapshot.as_ref(), &mut facts)?;
        // Another delivery of this stop was answered in the meantime, so it is not the agent's next stop.
        facts.again = before.stops != peeked.stops;
        let outcome = step(self.agent, before.clone(), &self.event, &facts);
        self.note_owner(&state_dir, &facts, &outcome)?;
        let mut state = outcome.state.clone();
        let wrote = self.append(&state_dir, &outcome.entries, &mut state)?;
        if differs(&before, &state, self.event.kind) {
            state_dir.save(&state)?;
        }
        drop(held);
        if self.event.kind == Kind::SessionStart {
            state_dir.forget_old();
        }
        Ok(Some(Handled {
            effects: outcome.effects,
            wrote,
            followed: self.follow_brief(&facts),
        }))
    }

    pub(super) fn state_dir(&self) -> std::io::Result<StateDir> {
        StateDir::of(&self.workspace.repo, self.workspace.store.is_some())
    }

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

    /// Takes in the inbox of sandboxed sessions, except in cook's own child and before a tool call. The hook log gets
    /// the findings.
    pub(super) fn take_inbox(&self, state_dir: &StateDir) {
        if child().is_some() || matches!(self.event.kind, Kind::BeforeTool | Kind::Usage) {
            return;
        }
        let now = || self.workspace.clock.now();
        match service::take_inbox(&self.workspace, Taker::Hook) {
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

    /// Updates the brief's file, depending on the settings: with the brief that was just given, or before a compaction.
    pub(super) fn follow_brief(&self, facts: &Situation) -> Result<()> {
        if facts.child.is_some() || facts.workflow.is_none() {
            return Ok(());
        }
        let always = self.workspace.config()?.brief.sync == BriefSync::Always;
        match &facts.brief {
            Some(text) if always => service::write_brief(&self.workspace, "", text).map(|_| ()),
            None if self.event.is_compaction() => {
                service::follow_brief(&self.workspace).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Writes the entries and notes the new length of the trail, so that the session does not take them for news.
    /// Returns whether there were any.
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

    /// Adds missing entries to the tracker's issues.
    pub(super) fn tell_tracker(
        &self,
        tracker: Option<&Issues>,
        wrote: bool,
    ) -> Result<(), HookError> {
        let rests = !self.event.attempt
            && !matches!(
                self.event.kind,
                Kind::BeforeTool | Kind::AfterTool | Kind::Prompt | Kind::Usage
            );
        let Some(tracker) = tracker.filter(|_| (wrote || rests) && child().is_none()) else {
            return Ok(());
        };
        give(&self.workspace, &self.state_dir()?, tracker)
    }
}

/// Whether the state must be saved. Before a tool call, deliveries and recent times do not matter, because the guard
/// does not depend on earlier events.
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

/// `Some` in a child process of cook, with the role that it plays.
pub(super) fn child() -> Option<Option<Role>> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    set(INVOCATION_VARIABLE)?;
    Some(set(ROLE_VARIABLE).and_then(|role| Role::parse(&role)))
}

/// An error in a hook; it never reaches the agent.
pub(super) type HookError = Box<dyn std::error::Error>;

/// Adds the trail's missing entries to the tracker's issues.
pub(super) fn give(
    workspace: &Workspace,
    state_dir: &StateDir,
    tracker: &Issues,
) -> Result<(), HookError> {
    let (_, snapshot) = workspace.current()?;
    let plan = snapshot.as_ref().map(|snapshot| &snapshot.plan);
    let mut length = None;
    loop {
        let trail = trail(workspace, state_dir)?;
        // A process that found the queue locked by this one had already written, so this loops until the trail stops
        // growing.
        if length == Some(trail.len()) {
            return Ok(());
        }
        length = Some(trail.len());
        let all = tracker
            .catch_up(&list_owed(&trail, plan))
            .map_err(|why| format!("{why}; what is kept waits for it"))?;
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
        Some(store) => store.checkpoints(LOOK_BACK)?.entries,
        None => state_dir.queue()?,
    })
}

// `cook hook AGENT --check`: checks a stop with `cook check`, in any repository.
//
// Invariants: a true result passes without a message; a check that cannot run refuses nothing and gives the reason on
// stderr; the session's lock is not held while gates run.

/// Handles one call, and ignores all events but a stop.
pub fn respond_to_stop(call: &Call) -> Response {
    let mut called = match read_call(call, Row::is_stop_gate, Purpose::Check) {
        Ok(called) => called,
        Err(response) => return response,
    };
    match play(&mut called) {
        Ok(effects) => Response {
            answer: answer(call.agent, called.row, &effects),
            complaint: effects.notice.filter(|_| !called.row.notice),
        },
        Err(error) => Response {
            answer: None,
            complaint: called.complain(&error),
        },
    }
}

fn play(called: &mut Called) -> Result<Effects, HookError> {
    let state_dir = called.state_dir()?;
    let (agent, session) = (called.agent, called.event.session.clone());
    let load = || state_dir.load(agent, &session);
    let mut facts = Situation {
        now: called.workspace.clock.now(),
        now_ms: called.workspace.clock.epoch_millis(),
        child: child(),
        head: called.workspace.repo.head()?.commit,
        ..Situation::default()
    };
    let goal = service::find_goal(&called.workspace)?;
    if let (Some(_), Some(head)) = (&goal, &facts.head) {
        facts.goal = true;
        facts.head = Some(called.workspace.repo.make_snapshot(head)?);
    }
    let Some(peeked) = load() else {
        return Ok(Effects::default());
    };
    if facts.head.is_none() || !is_checked(&peeked, &called.event, &facts) {
        return Ok(Effects::default());
    }
    let found = match goal {
        Some(snapshot) => what_is_open(&called.workspace, snapshot, &mut facts.told)?,
        None => what_is_false(&mut called.workspace)?,
    };
    let held = state_dir.lock()?;
    let Some(before) = load() else {
        return Ok(Effects::default());
    };
    let outcome = check_stop(agent, before.clone(), &called.event, &facts, &found);
    let mut state: SessionState = outcome.state;
    called.append(&state_dir, &outcome.entries, &mut state)?;
    if before != state {
        state_dir.save(&state)?;
    }
    drop(held);
    state_dir.forget_old();
    Ok(outcome.effects)
}

/// Lists the open checks of a goal, and sets the message for the user if the goal is green.
fn what_is_open(
    workspace: &Workspace,
    snapshot: Snapshot,
    told: &mut Option<String>,
) -> Result<Vec<False>, HookError> {
    let standing = service::look_at_goal(workspace, snapshot)?;
    let found = &standing.found;
    let words = clean(&standing.snapshot.state.mission_anchor, Lines::Fold);
    if found.verdict() == CheckVerdict::Green {
        *told = match (standing.is_reached(), standing.is_news) {
            (true, false) => None,
            (true, true) => {
                let at = short(&found.commit);
                Some(format!("cook goal: reached at {at}: {words}"))
            }
            (false, _) => Some(format!(
                "cook goal: every check is green in the worktree; commit it, and it is reached: {words}"
            )),
        };
    }
    let goal = standing.snapshot.goal().into_iter();
    let open = goal.flat_map(|goal| found.list_open(goal));
    let open = open.map(|(what, next, once)| False {
        what,
        next,
        owed: if once { Owed::Word } else { Owed::Mending },
    });
    let lines = found.list_objections().cloned().map(Line::from);
    Ok(open.chain(lines.map(say)).collect())
}

fn say(line: Line) -> False {
    False {
        what: format!("[{}] {}", line.code, line.message),
        next: match line.declare {
            Some(declare) => format!(
                "mend it ({}); or, where the change is meant, commit with this line in the message: {declare}",
                line.show
            ),
            None => line.show,
        },
        owed: match (line.weight, line.code) {
            (Weight::Refuses, _) => Owed::Mending,
            (_, Code::GateUntrusted | Code::ProgramAbsent) => Owed::Person,
            _ => Owed::Word,
        },
    }
}

fn what_is_false(workspace: &mut Workspace) -> Result<Vec<False>, HookError> {
    let checked = check(workspace, &Ask::default(), &|_| {})?;
    let lines = checked.lines.into_iter();
    let is_said = |line: &Line| line.weight != Weight::Shown && line.code != Code::NoGates;
    Ok(lines.filter(is_said).map(say).collect())
}
