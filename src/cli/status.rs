//! `cook status`: where the work stands.

use super::context::{Answer, Context, answer, note};
use super::cost::cost;
use super::graph::graph;
use super::ready::ready;
use crate::drive::{self, Live};
use crate::judges;
use crate::lifecycle;
use crate::service::{self, Workspace};
use crate::view::{GraphForm, LastChanged, RunView, SessionView, StatusAnswer, write_line};
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Lines, clean};
use cook_core::model::Policy;
use cook_os::clock::Clock;
use cook_os::process::{Patience, is_alive};
use cook_store::store::{Meta, Tip};
use std::io::{IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

/// How often a watched status is looked at.
const PACE: Duration = Duration::from_millis(500);
/// How long a signal waits at most.
const NAP: Duration = Duration::from_millis(100);
/// Clears a terminal.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    pub part: StatusPart,
}

/// What is shown in place of the whole.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct StatusPart {
    /// Show it again whenever it changes; into a pipe, print a line for each transition
    #[arg(long)]
    pub watch: bool,
    /// Show the slices that can be selected now, in order of work
    #[arg(long)]
    pub ready: bool,
    /// Show the plan as a graph
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "drawn")]
    pub graph: Option<GraphForm>,
    /// Show what agents have cost, by role and agent
    #[arg(long)]
    pub cost: bool,
}

pub(super) fn status(context: &Context, args: &StatusArgs) -> Answer {
    match &args.part {
        StatusPart { watch: true, .. } => watch(context),
        StatusPart { ready: true, .. } => ready(context),
        StatusPart { cost: true, .. } => cost(context),
        StatusPart {
            graph: Some(form), ..
        } => graph(context, *form),
        _ => look(context),
    }
}

fn look(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let (dispatch, facts) = service::dispatch_now(&workspace, Some(&snapshot))?;
    let found = service::find_where_moved(&workspace, &snapshot, &dispatch, &facts)?;
    let displaced = workspace.store()?.rescue_list()?.len();
    let mut findings = dispatch.findings.clone();
    if dispatch.role.is_some_and(service::leaves_the_tree_alone)
        && let Some(worktree) = service::find_uncommitted(&workspace, &facts)?
    {
        findings.extend(service::tell_uncommitted(&snapshot, &dispatch, &worktree));
    }
    findings.extend(workspace.config_problem().cloned());
    findings.extend(lifecycle::install::unseen(&workspace));
    let limits = workspace
        .config()
        .map(|config| config.limits())
        .unwrap_or_default();
    let run = match drive::live(&workspace)? {
        Some(live) => Some(view_run(&workspace, live)?),
        None => None,
    };
    let head = service::find_head(&facts)?;
    answer(StatusAnswer {
        run,
        unfinished: drive::list_unfinished(&workspace)?,
        judges: judges::find_verdicts(&workspace, &snapshot, &head)?,
        head,
        scripted: service::list_scripted_commands(&workspace, &snapshot)?,
        snapshot,
        found,
        dispatch,
        limits,
        displaced,
        findings,
    })
}

/// Shows the status until the user ends it; into a pipe, the transitions until the work is done.
fn watch(context: &Context) -> Answer {
    if context.screen.json {
        return Err(Failure::usage("`cook status --watch` has no JSON").hint(
            "`cook log --json` has the transitions, `cook status --json` where the work stands",
        ));
    }
    let patience = Patience::begin(None).map_err(|error| {
        Failure::state(Code::OutputUnwritable, "signals cannot be heeded").with_cause(&error)
    })?;
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    match stdout().is_terminal() && !is_dumb {
        true => redraw(context, &patience)?,
        false => follow(&context.workspace()?, &patience)?,
    }
    note("watched", Vec::new())
}

/// False where the user wants to go.
fn wait(patience: &Patience) -> bool {
    let began = Instant::now();
    while began.elapsed() < PACE && !patience.is_over() {
        std::thread::sleep(NAP);
    }
    !patience.is_over()
}

fn redraw(context: &Context, patience: &Patience) -> Result<(), Failure> {
    let mut shown = String::new();
    // A terminal that ended is none any more, and nothing else tells it where nothing changes.
    while !patience.is_over() && stdout().is_terminal() {
        let text = context.screen.text(&*look(context)?);
        if text != shown {
            let mut out = stdout().lock();
            let drawn = out.write_all(format!("{CLEAR}{text}").as_bytes());
            // The terminal is gone.
            if drawn.and_then(|()| out.flush()).is_err() {
                return Ok(());
            }
            shown = text;
        }
        if !wait(patience) {
            break;
        }
    }
    Ok(())
}

fn follow(workspace: &Workspace, patience: &Patience) -> Result<(), Failure> {
    workspace.require()?;
    let store = workspace.store()?;
    let mut told: Option<Tip> = None;
    while !patience.is_over() {
        let tip = store.tip()?;
        if tip != told
            && let Some(now) = &tip
        {
            let newest = now.seq.saturating_sub(1);
            let seen = told.as_ref().map_or(newest, |told| told.seq);
            let mut new = Vec::new();
            for meta in store.entries()? {
                let meta = meta?;
                if meta.seq <= seen {
                    break;
                }
                new.push(meta);
            }
            for meta in new.iter().rev() {
                // The reader is gone.
                if write_line(&make_line(meta)).is_err() {
                    return Ok(());
                }
            }
            told = tip;
            if store.snapshot()?.state.continuation_policy == Policy::Done {
                return Ok(());
            }
        }
        if !wait(patience) {
            break;
        }
    }
    Ok(())
}

/// `#12 2026-01-01T00:00:00Z reviewed by role about a`
fn make_line(meta: &Meta) -> String {
    let about = match meta.subject.is_empty() {
        true => String::new(),
        false => format!(" about {}", meta.subject),
    };
    let (time, event) = (
        Clock::of_epoch(meta.epoch_seconds),
        meta.event.replace('_', " "),
    );
    let line = format!("#{} {time} {event} by {}{about}", meta.seq, meta.actor);
    clean(&line, Lines::Fold)
}

/// What is to be seen of a run from outside.
fn view_run(workspace: &Workspace, live: Live) -> Result<RunView, Failure> {
    let now = workspace.clock.epoch_millis() / 1000;
    let sessions = live
        .sessions
        .iter()
        .map(|session| SessionView {
            role: session.role,
            agent: session.agent.clone(),
            pid: session.pid,
            alive: session.pid.is_some_and(is_alive),
            began_at: session.began_at.clone(),
            quiet_seconds: Clock::parse_seconds(&session.output_at).map(|at| (now - at).max(0)),
            tool: session.tool.clone(),
        })
        .collect();
    let worktree = workspace.repo.status()?.worktree;
    let last_changed = worktree
        .dirty
        .iter()
        .filter_map(|path| {
            let found = std::fs::symlink_metadata(workspace.repo.root().join(path)).ok()?;
            Some((found.modified().ok()?, path))
        })
        .max()
        .map(|(at, path)| {
            let seconds = at.elapsed().map_or(0, |elapsed| elapsed.as_secs());
            LastChanged {
                path: path.clone(),
                seconds,
            }
        });
    Ok(RunView {
        pid: live.pid,
        waits_until: live.waits_until,
        sessions,
        last_changed,
    })
}
