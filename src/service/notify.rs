//! `[notify] run`: a command of the user's that is told each change of the policy, once.
//!
//! It decides nothing: what is wrong with it is a finding beside a transition that stands.

use super::applied::Applied;
use super::workspace::Workspace;
use cook_protocol::diagnostic::{Code, Finding};
use cook_protocol::model::Snapshot;
use cook_repo::process::{ProcessError, Short, capture};
use cook_repo::receipt::words;
use serde_json::json;
use std::time::Duration;

/// How long it may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// Bytes of its output that are read; nobody looks at them.
const LIMIT: usize = 64 * 1024;

/// Tells the change of the policy that a transition made, if it made one.
pub(super) fn notify(workspace: &Workspace, before: Option<&Snapshot>, applied: &mut Applied) {
    let Ok(config) = workspace.config() else {
        // The settings are a finding of their own.
        return;
    };
    let Some(run) = config
        .notify
        .run
        .as_ref()
        .filter(|_| !workspace.tells_nobody)
    else {
        return;
    };
    let state = &applied.step.snapshot.state;
    let from = before.map(|before| before.state.continuation_policy);
    if from == Some(state.continuation_policy) || before.is_none() {
        return;
    }
    let message = json!({
        "schema_version": 1,
        "from": from,
        "to": state.continuation_policy,
        "reason": state.continuation_reason,
        "mission_anchor": state.mission_anchor,
        "event": applied.event,
        "at": applied.step.snapshot.ledger.last_at,
        "worktree": workspace.repo.root(),
    });
    if let Err(why) = tell(workspace, run, &message.to_string()) {
        applied.findings.push(Finding::new(
            Code::NotifyFailed,
            format!(
                "`{run}` was not notified that the work is {}: {why}",
                state.continuation_policy
            ),
        ));
    }
}

fn tell(workspace: &Workspace, run: &str, message: &str) -> Result<(), String> {
    let trust = workspace.trust().map_err(|failure| failure.to_string())?;
    if !trust.is_trusted(run) {
        let how = shell_words::quote(run);
        return Err(format!(
            "it is not trusted on this machine: run `cook trust {how}`"
        ));
    }
    let argv = words(run).map_err(|error| error.message)?;
    let captured = capture(&Short {
        argv: argv.into_iter().map(Into::into).collect(),
        dir: workspace.repo.root(),
        env: Vec::new(),
        stdin: format!("{message}\n").into_bytes(),
        deadline: DEADLINE,
        limit: LIMIT,
        group: true,
    })
    .map_err(describe_error)?;
    match captured.code {
        Some(0) => Ok(()),
        Some(code) => Err(format!("it ended with exit code {code}")),
        None => Err("a signal ended it".to_owned()),
    }
}

fn describe_error(error: ProcessError) -> String {
    match error {
        ProcessError::Deadline { after, .. } => format!(
            "it did not end within {}, and was ended",
            humantime::format_duration(after)
        ),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_said_not_to_have_ended_in_time() {
        let error = capture(&Short {
            argv: vec!["sleep".into(), "60".into()],
            dir: &std::env::temp_dir(),
            env: Vec::new(),
            stdin: Vec::new(),
            deadline: Duration::from_millis(50),
            limit: LIMIT,
            group: true,
        });
        let why = error.map_err(describe_error);
        let expected = "it did not end within 50ms, and was ended".to_owned();
        assert_eq!(why.map(|_| ()), Err(expected));
    }
}
