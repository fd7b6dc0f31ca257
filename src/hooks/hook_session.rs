//! What changes a session's state and is not a hook: taking the workflow, a
//! checkpoint by hand, the status line.

use super::hook_facts::{collect_recovery, find_slice_in_work};
use super::hook_issues::{Issues, Wanted, find_tracker};
use super::respond::{HookError, SWITCH, give};
use crate::service::Workspace;
use cook_agents::hooks::{Agent, Kind, Owner, Recovery, SessionState, StateDir, place};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Finding};
use cook_protocol::digest::sha256;
use cook_protocol::model::{
    Checkpoint, CheckpointKind, MAX_CHECKPOINT_TEXT, SchemaVersion, Timestamp,
};
use cook_repo::process::{INVOCATION_VARIABLE, agent_around, session_around};
use std::path::Path;

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::state(Code::NotWritable, "`.agent/tmp` cannot be written").with_cause(error)
}

/// Makes the agent session around this process the workflow's owner; one that its agent does not name
/// says which it is when the tool call that this process belongs to is over. `false` when none is
/// around, or it is cook's own child.
///
/// # Errors
/// When the note cannot be written.
pub fn take_around(workspace: &Workspace) -> Result<bool, Failure> {
    let child = std::env::var_os(INVOCATION_VARIABLE).is_some_and(|value| !value.is_empty());
    if child || workspace.store.is_none() {
        return Ok(false);
    }
    let unnamed = || {
        let agent = agent_around().filter(|agent| Agent::parse(agent).is_some())?;
        Some((agent, String::new()))
    };
    match session_around().or_else(unnamed) {
        Some((agent, session)) => attach(workspace, agent, &session).map(|_| true),
        None => Ok(false),
    }
}

/// Makes a session the workflow's owner.
///
/// # Errors
/// When the note cannot be written.
pub fn attach(workspace: &Workspace, agent: &str, session: &str) -> Result<Owner, Failure> {
    workspace.store()?;
    let owner = Owner {
        agent: agent.to_owned(),
        session: session.to_owned(),
        seen_ms: workspace.clock.epoch_millis(),
    };
    let write = || {
        let state_dir = StateDir::of(&workspace.repo, true)?;
        let _held = state_dir.lock()?;
        state_dir.set_owner(Some(&owner))
    };
    write().map_err(|error| unwritable(&error))?;
    Ok(owner)
}

/// The session to attach: the one that is named, the one around this process, or
/// the one that called last.
///
/// # Errors
/// When no session can be told.
pub fn find_session_to_attach(
    workspace: &Workspace,
    named: Option<&str>,
) -> Result<(String, String), Failure> {
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let known = state_dir.sessions();
    let by_id = |id: &str| known.iter().find(|state| state.session == id);
    let found = match named {
        Some(id) => by_id(id).map(|state| (state.agent.clone(), id.to_owned())),
        None => session_around()
            .map(|(agent, id)| (agent.to_owned(), id))
            .or_else(|| known.first().map(|s| (s.agent.clone(), s.session.clone()))),
    };
    found.ok_or_else(|| {
        let mut failure = Failure::new(
            FailureKind::Usage,
            Code::SessionUnknown,
            "no such agent session has called in this worktree",
        );
        failure.hints = vec!["run `cook hooks check AGENT`".to_owned()];
        failure
    })
}

/// Keeps what somebody says, with what is in work here: in the trail, and with the
/// tracker's issue. The finding says why the tracker does not have it yet.
///
/// # Errors
/// An empty or too long text, neither a workflow nor a tracker, a trail that cannot
/// be written.
pub fn checkpoint(
    workspace: &Workspace,
    text: &str,
) -> Result<(Checkpoint, Vec<Finding>), Failure> {
    let tracker = find_tracker(workspace, Kind::BeforeCompact);
    if workspace.store.is_none() && tracker.is_none() {
        workspace.store()?;
    }
    let (item, mut findings) = current_item(workspace, tracker.as_ref())?;
    let entry = Checkpoint {
        commit: workspace.repo.head()?.commit,
        ..make_checkpoint(&workspace.clock.now(), item, text)?
    };
    match &workspace.store {
        Some(store) => {
            store.append_checkpoint(&entry)?;
        }
        None => {
            let write = || {
                let state_dir = StateDir::of(&workspace.repo, false)?;
                let _held = state_dir.lock()?;
                state_dir.enqueue(std::slice::from_ref(&entry))
            };
            write().map_err(|error| unwritable(&error))?;
        }
    }
    if let Some(tracker) = &tracker {
        let told = StateDir::of(&workspace.repo, workspace.store.is_some())
            .map_err(HookError::from)
            .and_then(|state_dir| give(workspace, &state_dir, tracker));
        let why = told.err().map(|error| error.to_string());
        findings.extend(why.map(|why| Finding::new(Code::TrackerBehind, why)));
    }
    Ok((entry, findings))
}

fn make_checkpoint(now: &str, item: Option<String>, text: &str) -> Result<Checkpoint, Failure> {
    let text = cook_protocol::diagnostic::clean(text, cook_protocol::diagnostic::Lines::Keep);
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::usage("the checkpoint says nothing"));
    }
    if text.len() > MAX_CHECKPOINT_TEXT {
        let what = format!("the checkpoint is longer than {MAX_CHECKPOINT_TEXT} bytes");
        return Err(Failure::new(FailureKind::Usage, Code::InputTooLarge, what));
    }
    let around = session_around();
    let session = around.as_ref().map(|(_, id)| id.clone());
    let told = format!("{now}\0{item:?}\0{session:?}\0{text}");
    Ok(Checkpoint {
        id: format!("manual:{}", &sha256(told)[..32]),
        schema_version: SchemaVersion,
        at: Timestamp::from(now),
        kind: CheckpointKind::Manual,
        text: text.to_owned(),
        item,
        agent: around.map(|(agent, _)| agent.to_owned()),
        session,
        commit: None,
    })
}

/// What a person or an agent works on here: the issue that the session around this
/// process claimed, else the slice in work, else what the tracker has in work for this
/// actor. The findings say what did not answer.
///
/// # Errors
/// A log that cannot be read.
fn current_item(
    workspace: &Workspace,
    tracker: Option<&Issues>,
) -> Result<(Option<String>, Vec<Finding>), Failure> {
    let state = session_state(workspace);
    let claimed = state.filter(|state| state.claimed).and_then(|s| s.item);
    let (_, snapshot) = workspace.current()?;
    let slice = snapshot
        .as_ref()
        .and_then(find_slice_in_work)
        .map(str::to_owned);
    if let (None, Some(tracker)) = (claimed.as_ref().or(slice.as_ref()), tracker) {
        let picture = tracker.picture(Wanted::Any);
        let behind = |why| Finding::new(Code::TrackerBehind, why);
        let findings = picture.notes.into_iter().map(behind).collect();
        return Ok((picture.item.map(|item| item.id), findings));
    }
    Ok((claimed.or(slice), Vec::new()))
}

/// The recovery message of whoever works here.
///
/// # Errors
/// Neither a workflow nor a tracker, a repository or a log that cannot be read.
pub fn recover(workspace: &Workspace) -> Result<Recovery, Failure> {
    let tracker = find_tracker(workspace, Kind::BeforeCompact);
    let snapshot = match &tracker {
        Some(tracker) => {
            // What does not answer is named by the message.
            let _ = tracker.wake();
            workspace.current()?.1
        }
        None => Some(workspace.require()?.1),
    };
    let state = session_state(workspace).filter(|state| state.claimed);
    let claimed = state.and_then(|state| state.item);
    let kept = match workspace.store {
        Some(_) => Vec::new(),
        None => StateDir::at(&workspace.repo, false)
            .queue()
            .map_err(|error| unwritable(&error))?,
    };
    collect_recovery(
        workspace,
        snapshot.as_ref(),
        tracker.as_ref(),
        claimed.as_deref(),
        kept,
    )
}

/// The state of the session around this process.
fn session_state(workspace: &Workspace) -> Option<SessionState> {
    let (agent, session) = session_around()?;
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    state_dir.load(Agent::parse(agent)?, &session)
}

/// Takes the status line's input: remembers how full the context is, and says
/// where the work stands in one line. Empty where there is no workflow.
pub fn statusline(agent: Agent, input: &[u8], called: &Path) -> String {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(input) else {
        return String::new();
    };
    let percent = value["context_window"]["used_percentage"].as_f64();
    let named = value["workspace"]["current_dir"]
        .as_str()
        .or(value["cwd"].as_str());
    let dir = place::directory(named, called);
    let Ok(workspace) = Workspace::open(&dir) else {
        return String::new();
    };
    let off = workspace.config().is_ok_and(|config| !config.hooks.enabled);
    if off || std::env::var_os(SWITCH).is_some_and(|value| value == "off") {
        return String::new();
    }
    let Ok((_, snapshot)) = workspace.current() else {
        return String::new();
    };
    let session = value["session_id"].as_str();
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let state = session.and_then(|session| state_dir.load(agent, session));
    let item = state.and_then(|state| state.item.filter(|_| state.claimed || state.found));
    if snapshot.is_none() && item.is_none() {
        return String::new();
    }
    if let (Some(percent), Some(session)) = (percent, session) {
        // The line is shown whether or not the figure could be kept.
        let _ = remember(&workspace, agent, session, percent);
    }
    let state = snapshot.as_ref().map(|snapshot| &snapshot.state);
    let who = state.map(|state| match state.next_mandatory_role.0 {
        Some(role) => role.short().to_owned(),
        None => state.continuation_policy.to_string(),
    });
    let slice = snapshot
        .as_ref()
        .and_then(find_slice_in_work)
        .map(str::to_owned);
    let full = percent.map(|percent| format!("context {percent:.0} %"));
    let parts: Vec<String> = [who, item.or(slice), full].into_iter().flatten().collect();
    format!("cook: {}", parts.join(" · "))
}

fn remember(
    workspace: &Workspace,
    agent: Agent,
    session: &str,
    percent: f64,
) -> std::io::Result<()> {
    let state_dir = StateDir::of(&workspace.repo, workspace.store.is_some())?;
    let _held = state_dir.lock()?;
    let Some(mut state) = state_dir.load(agent, session) else {
        return Ok(());
    };
    state.context_percent = Some(percent.clamp(0.0, 100.0));
    state_dir.save(&state)
}
