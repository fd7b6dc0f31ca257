//! One call of `cook hook`: read the event, measure, decide, remember, answer.
//!
//! Invariants: nothing here ends a hook with an error: what goes wrong is one
//! line for stderr and the hook log, and no answer. The session's state is read
//! and written under the worktree's lock; what takes long is measured before it.

use super::context::HookContext;
use super::error::HookError;
use super::tracker::Tracker;
use crate::service::Workspace;
use cook_core::diagnostic::{Failure, Lines, clean};
use cook_hooks::{
    Agent, Effects, Event, Kind, Row, SessionState, answer, place, read, step, wants,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Silences every hook when it is `off`.
pub const SWITCH: &str = "COOK_HOOKS";

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

/// An event that cook has a say in, and where it happened.
pub(super) struct Called {
    pub(super) event: Event,
    pub(super) row: &'static Row,
    pub(super) dir: PathBuf,
    pub(super) workspace: Workspace,
}

/// Reads a call of an event that `heeds` takes; none, with what there is to say of that, where hooks
/// are silenced or there is no repository.
pub(super) fn read_call(call: &Call, heeds: fn(&Row) -> bool) -> Result<Called, Response> {
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
    let dir = place::directory(event.cwd.as_deref(), call.dir);
    // Outside a repository, in a bare one, in another user's: cook has no say.
    let workspace = Workspace::open(&dir).map_err(|_| silent())?;
    if workspace.config().is_ok_and(|config| !config.hooks.enabled) {
        return Err(silent());
    }
    Ok(Called {
        event,
        row,
        dir,
        workspace,
    })
}

/// Handles one call.
pub fn respond(call: &Call) -> Response {
    let called = match read_call(call, |_| true) {
        Ok(called) => called,
        Err(response) => return response,
    };
    let Called {
        event,
        row,
        dir,
        workspace,
    } = called;
    let tracker = (call.tracker)(&workspace, row.kind);
    if workspace.store.is_none() && tracker.is_none() {
        return Response::default();
    }
    let context = HookContext {
        agent: call.agent,
        row,
        event: &event,
        dir,
        tracker: tracker.as_deref(),
        workspace: &workspace,
    };
    match context.play() {
        Ok(None) => Response::default(),
        // What has to be said is said, whether or not the tracker could be told.
        Ok(Some(handled)) => {
            let told = context.tell_tracker(handled.wrote);
            let followed = handled.followed.map_err(HookError::from);
            Response {
                complaint: told
                    .and(followed)
                    .err()
                    .and_then(|error| context.complain(&error)),
                answer: answer(call.agent, row, &handled.effects),
            }
        }
        Err(error) => Response {
            answer: None,
            complaint: context.complain(&error),
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

/// What came of an event.
struct Handled {
    effects: Effects,
    /// Entries were kept.
    wrote: bool,
    /// Whether the brief's file could follow.
    followed: Result<(), Failure>,
}

impl HookContext<'_> {
    /// The line for stderr, which the hook log gets too.
    pub(super) fn complain(&self, error: &HookError) -> Option<String> {
        let line = complaint(error).complaint?;
        if let Ok(state_dir) = self.state_dir() {
            state_dir.log(&format!("{} {line}", self.workspace.clock.now()));
        }
        Some(line)
    }

    fn play(&self) -> Result<Option<Handled>, HookError> {
        let state_dir = self.state_dir()?;
        self.take_inbox(&state_dir);
        let load = || state_dir.load(self.agent, &self.event.session);
        let Some(peeked) = load() else {
            return Ok(None);
        };
        let (_, snapshot) = self.workspace.current()?;
        let wanted = wants(&peeked, self.row, self.event);
        let mut facts = self.slow_facts(&state_dir, &peeked, snapshot.as_ref(), wanted)?;
        let held = state_dir.lock()?;
        let Some(before) = load() else {
            return Ok(None);
        };
        self.fast_facts(&state_dir, &before, snapshot.as_ref(), &mut facts)?;
        // An answer was not there yet when this delivery came: it is not the agent's next stop.
        facts.again = before.stops != peeked.stops;
        let outcome = step(self.agent, before.clone(), self.event, &facts);
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
