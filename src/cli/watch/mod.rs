//! `cook watch`: what a run is at, live.
//!
//! It changes nothing by itself: a key that does calls what `cook pause` and `cook answer` call.

mod keys;
mod look;

use super::context::{Answer, Context, note};
use crate::service::Workspace;
use crate::view::{WatchTerminal, make_line, write_line};
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::Policy;
use cook_os::clock::Clock;
use cook_os::process::Patience;
use cook_store::store::Tip;
use keys::Keys;
use look::Look;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often the log's tip and the driver are looked at.
const PACE: Duration = Duration::from_millis(500);
/// How long a signal, or a key, waits at most.
const NAP: Duration = Duration::from_millis(100);

pub(super) fn watch(context: &Context) -> Answer {
    if context.screen.json {
        return Err(Failure::usage("`cook watch` has no JSON").hint(
            "`cook log --json` has the transitions, `cook status --json` where the work stands",
        ));
    }
    let workspace = context.workspace()?;
    workspace.require()?;
    let patience = Patience::begin(None).map_err(|error| {
        Failure::state(Code::OutputUnwritable, "signals cannot be heeded").with_cause(&error)
    })?;
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let draws = std::io::stdout().is_terminal() && std::io::stdin().is_terminal() && !is_dumb;
    match draws {
        true => draw(context, &workspace, &patience)?,
        false => tell(&workspace, &patience)?,
    }
    note("watched", Vec::new())
}

/// Draws until somebody wants to go.
fn draw(context: &Context, workspace: &Workspace, patience: &Patience) -> Result<(), Failure> {
    let mut look = Look::default();
    let mut keys = Keys::default();
    let mut terminal = WatchTerminal::take()?;
    let mut looked: Option<Instant> = None;
    while !patience.is_over() {
        if looked.is_none_or(|at| at.elapsed() >= PACE) {
            look.again(workspace)?;
            looked = Some(Instant::now());
        }
        let mut watched = look.seen.clone();
        keys.show(&mut watched);
        terminal.show(&watched)?;
        let Some(key) = terminal.key(NAP)? else {
            continue;
        };
        if keys.press(key, context, workspace, &watched)?.is_break() {
            break;
        }
        if keys.moved {
            looked = None;
            keys.moved = false;
        }
    }
    Ok(())
}

/// A line for each transition, until the work is done or somebody wants to go.
fn tell(workspace: &Workspace, patience: &Patience) -> Result<(), Failure> {
    let store = workspace.store()?;
    let mut told: Option<Tip> = None;
    while !patience.is_over() {
        let tip = store.tip()?;
        if tip != told
            && let Some(now) = &tip
        {
            let seen = told
                .as_ref()
                .map_or(now.seq.saturating_sub(1), |told| told.seq);
            let mut new = Vec::new();
            for meta in store.entries()? {
                let meta = meta?;
                if meta.seq <= seen {
                    break;
                }
                new.push(meta);
            }
            for meta in new.iter().rev() {
                let time = Clock::of_epoch(meta.epoch_seconds);
                let line = make_line(meta.seq, &time, &meta.event, &meta.actor, &meta.subject);
                // Whoever read it is gone.
                if write_line(&line).is_err() {
                    return Ok(());
                }
            }
            told = tip;
            if store.snapshot()?.state.continuation_policy == Policy::Done {
                return Ok(());
            }
        }
        let waits = Instant::now();
        while waits.elapsed() < PACE && !patience.is_over() {
            std::thread::sleep(NAP);
        }
    }
    Ok(())
}
