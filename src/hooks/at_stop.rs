//! `cook hook AGENT --check`: a stop is held against `cook check`, in any repository.
//!
//! Invariants: what is true is passed without a word; a check that cannot be made refuses nothing and
//! says why on stderr; the session's lock is not held while gates run.

use super::respond::{Call, Called, HookError, Response, child, read_call};
use crate::check::{Ask, Line, check};
use crate::service::{self, Workspace};
use cook_agents::hooks::{
    Effects, False, Owed, Row, SessionState, Situation, StateDir, answer, check_stop, is_checked,
};
use cook_protocol::diagnostic::{Code, Lines, clean};
use cook_protocol::machine::short;
use cook_protocol::model::{CheckVerdict, Snapshot};
use cook_protocol::trials::Weight;

/// Handles one call; of any event but a stop nothing is heard.
pub fn respond_to_stop(call: &Call) -> Response {
    let mut called = match read_call(call, Row::is_stop_gate) {
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
    let state_dir = StateDir::of(&called.workspace.repo, called.workspace.store.is_some())?;
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

/// What keeps a goal from being reached; and what the person is told of one that is.
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
        owed: match once {
            true => Owed::Word,
            false => Owed::Mending,
        },
    });
    let lines = found.lines.iter().cloned().map(Line::from);
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
