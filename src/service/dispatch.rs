//! Who is due, by what the repository is now.

use super::derived::require_true_end;
use super::elsewhere::elsewhere;
use super::workspace::Workspace;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::{self, Dispatch, FactSet, Facts, Head, Rule};
use cook_protocol::model::{Role, RoomCheck, Snapshot};
use std::borrow::Cow;

/// Names the mandatory role from what the repository is now.
///
/// # Errors
/// Unreadable state, or git that does not answer.
pub fn dispatch_now(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
) -> Result<(Dispatch, Facts), Failure> {
    if let Some(snapshot) = snapshot {
        require_true_end(workspace, snapshot)?;
    }
    dispatch_told(workspace, snapshot)
}

/// The same, where the log is held against its events anyway.
///
/// # Errors
/// As [`dispatch_now`].
pub fn dispatch_told(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
) -> Result<(Dispatch, Facts), Failure> {
    let facts = dispatch_facts(workspace, snapshot)?;
    let mut dispatch = machine::dispatch(snapshot, &facts)?;
    dispatch
        .findings
        .extend(workspace.config_problem().cloned());
    if snapshot.is_none() {
        name_remotes(workspace, &mut dispatch)?;
    }
    Ok((dispatch, facts))
}

/// The role is due; before there is a log no one's turn is missed.
///
/// # Errors
/// `not_your_turn`, with who is due instead; as [`dispatch_now`].
pub fn require_turn(workspace: &Workspace, role: Role) -> Result<(), Failure> {
    let (_, snapshot) = workspace.current()?;
    let Some(snapshot) = snapshot.filter(|_| role != Role::Bootstrapper) else {
        return Ok(());
    };
    let (due, _) = dispatch_now(workspace, Some(&snapshot))?;
    match due.role == Some(role) {
        true => Ok(()),
        false => Err(machine::not_your_turn(role, &due).into()),
    }
}

/// A log that is elsewhere is taken in; one that is begun here would stand in its way.
fn name_remotes(workspace: &Workspace, dispatch: &mut Dispatch) -> Result<(), Failure> {
    let elsewhere = elsewhere(&workspace.repo, &workspace.place())?;
    if let Some(remote) = elsewhere.seen.first() {
        dispatch.action = "take the log in".to_owned();
        dispatch.reason = format!("this clone has seen the log of this branch on `{remote}`");
        dispatch.blocking_command = Some("cook pull".to_owned());
    } else if !elsewhere.configured.is_empty() && dispatch.rule == Rule::Recover {
        // The contract came with the clone: most likely the log stands where that came from.
        dispatch.action = "take the log in, or start it where no remote holds one".to_owned();
        dispatch.reason += "; where no remote holds the log of this branch, `cook init` starts it";
        dispatch.blocking_command = Some("cook pull".to_owned());
    }
    Ok(())
}

/// What `dispatch` reads. Settings that cannot be read do not keep anybody from
/// being told who is due; they stop whoever decides by them.
///
/// # Errors
/// As [`dispatch_now`].
pub fn dispatch_facts(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
) -> Result<Facts, Failure> {
    let followed = snapshot
        .map(|snapshot| follow(workspace, snapshot))
        .transpose()?;
    let mut needs = machine::dispatch_needs(followed.as_deref());
    if let Some(snapshot) = snapshot {
        machine::ask_to_follow(&mut needs, snapshot);
    }
    if workspace.config_problem().is_some() {
        needs.config = false;
        needs.standing = None;
    }
    workspace.measure(&needs, followed.as_deref())
}

/// The state as it speaks of HEAD, where a committed slice's commit left it: everything else is asked of the
/// state that this makes.
///
/// # Errors
/// As [`dispatch_now`].
pub fn follow<'a>(
    workspace: &Workspace,
    snapshot: &'a Snapshot,
) -> Result<Cow<'a, Snapshot>, Failure> {
    let mut set = FactSet::default();
    machine::ask_to_follow(&mut set, snapshot);
    match set.head {
        true => Ok(machine::follow(snapshot, &workspace.measure(&set, None)?)),
        false => Ok(Cow::Borrowed(snapshot)),
    }
}

/// Facts for the stop verifier alone, for `cook verify stop`.
///
/// # Errors
/// As [`transition`].
pub fn run_stop_verifier(workspace: &Workspace) -> Result<machine::StopVerifierRun, Failure> {
    let set = FactSet {
        head: true,
        stop_verifier: Some(workspace.caches),
        ..FactSet::default()
    };
    let facts = workspace.measure(&set, None)?;
    facts
        .stop_verifier
        .ok_or_else(|| Failure::state(Code::FactMissing, "the stop verifier was not run"))
}

/// What the required gates say of HEAD in a clean room; none on an unborn branch. What done slices rest on is
/// run as well, so that it is known before judges are asked.
///
/// # Errors
/// As [`transition`].
pub fn check_room(workspace: &Workspace) -> Result<Option<RoomCheck>, Failure> {
    let (_, snapshot) = workspace.current()?;
    let set = FactSet {
        room: true,
        standing: machine::dispatch_needs(snapshot.as_ref()).standing,
        ..FactSet::default()
    };
    Ok(workspace.measure(&set, snapshot.as_ref())?.room)
}

/// HEAD as it was measured.
///
/// # Errors
/// When nobody measured it.
pub fn find_head(facts: &Facts) -> Result<Head, Failure> {
    facts
        .head
        .clone()
        .ok_or_else(|| Failure::state(Code::FactMissing, "HEAD was not measured"))
}
