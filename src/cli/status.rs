//! `cook status`: where the work stands.

use super::context::{Answer, Context, answer};
use crate::drive::{self, Live};
use crate::judges;
use crate::lifecycle;
use crate::service::{self, Workspace};
use crate::view::{LastChanged, RunView, SessionView, StatusAnswer};
use cook_core::diagnostic::Failure;
use cook_os::clock::Clock;
use cook_os::process::is_alive;

pub(super) fn status(context: &Context) -> Answer {
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
