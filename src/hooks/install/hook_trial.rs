//! Whether installed hooks work: one event through the very command that the
//! agent runs, and when the agent itself last called.

use crate::service::Workspace;
use cook_agents::hooks::layout::{self, Purpose};
use cook_agents::hooks::{Agent, Kind, SessionState, StateDir};
use cook_protocol::diagnostic::{Code, Finding};
use cook_repo::process::{Short, capture};
use serde_json::json;
use std::ffi::OsString;
use std::time::Duration;

/// The session of the trial; it leaves nothing behind.
const SESSION: &str = "cook-hooks-check";
/// How long the command may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// Runs the installed command on an event that says nothing.
///
/// # Errors
/// One line that says what does not work.
pub fn try_command(workspace: &Workspace, agent: Agent, purpose: Purpose) -> Result<(), String> {
    let row = agent.rows().iter().find(|row| row.kind == Kind::AfterTool);
    let native = row.map_or("", |row| row.native.as_str());
    let event = json!({
        "hook_event_name": native,
        "session_id": SESSION,
        "session": SESSION,
        "cwd": workspace.repo.root().display().to_string(),
        "tool_name": "read",
    });
    let command = layout::command(agent, row, purpose);
    let tried = run(workspace, &command, event.to_string().into_bytes());
    StateDir::at(&workspace.repo, workspace.store.is_some()).forget(agent, SESSION);
    tried
}

/// A hook finds the program.
///
/// # Errors
/// One line that says that it does not.
pub fn try_program(workspace: &Workspace) -> Result<(), String> {
    run(workspace, "exit 0", Vec::new())
}

/// Runs a line of a hook, where it finds the program.
fn run(workspace: &Workspace, command: &str, stdin: Vec<u8>) -> Result<(), String> {
    let line = format!("command -v cook >/dev/null || exit 9; {command}");
    let outcome = capture(&Short {
        argv: ["sh", "-c", &line].map(OsString::from).to_vec(),
        dir: workspace.repo.root(),
        env: Vec::new(),
        stdin,
        deadline: DEADLINE,
        limit: 64 * 1024,
        group: true,
    })
    .map_err(|error| error.to_string())?;
    match outcome.code {
        Some(0) if outcome.stderr.is_empty() => Ok(()),
        Some(9) => Err("the `cook` program is not on PATH, so the hooks do nothing".to_owned()),
        _ => Err(format!(
            "the command ends with {:?}: {}",
            outcome.code,
            outcome.stderr.lines().next().unwrap_or_default()
        )),
    }
}

/// When the agent last called in this worktree, milliseconds since 1970.
pub fn last_called(workspace: &Workspace, agent: Agent) -> Option<i64> {
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let called = |state: &SessionState| {
        (state.agent == agent.name() && state.called_ms > 0).then_some(state.called_ms)
    };
    state_dir.sessions().iter().filter_map(called).max()
}

/// `hooks_unseen` for each agent whose hooks are installed and never called.
pub fn unseen(workspace: &Workspace) -> Vec<Finding> {
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let seen = state_dir.sessions();
    super::list_installed(workspace, Purpose::Workflow)
        .into_iter()
        .filter(|agent| {
            !seen
                .iter()
                .any(|s| s.agent == agent.name() && s.called_ms > 0)
        })
        .map(|agent| {
            let what = format!(
                "hooks of {} are installed and were never called here",
                agent.name()
            );
            Finding::new(Code::HooksUnseen, what)
        })
        .collect()
}
