//! The state as a report finds it in this repository: what a role is shown, and what can be selected.

use super::dispatch::dispatch_now;
use super::workspace::Workspace;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{self, Dispatch, Facts, Found};
use cook_protocol::model::{Plan, Snapshot};

/// Holds what the log calls done against the repository. No gate is run for it.
///
/// # Errors
/// Unreadable state, or git that does not answer.
pub(super) fn find_state(
    workspace: &Workspace,
    snapshot: &Snapshot,
    due: &Dispatch,
    facts: &Facts,
) -> Result<Found, Failure> {
    let measured = workspace.measure(&machine::list_needs(snapshot), Some(snapshot))?;
    let facts = Facts {
        anchors: measured.anchors,
        ..facts.clone()
    };
    Ok(machine::find_state(snapshot, &facts, due)?)
}

/// The plan that a report finds, by which slices can be selected.
///
/// # Errors
/// Unreadable state, or git that does not answer.
pub fn find_plan(workspace: &Workspace, snapshot: &Snapshot) -> Result<Plan, Failure> {
    Ok(find(workspace, snapshot)?.snapshot.plan)
}

/// The same with what stands against a selection beside the plan.
///
/// # Errors
/// As [`find_plan`].
pub fn find(workspace: &Workspace, snapshot: &Snapshot) -> Result<Found, Failure> {
    let (due, facts) = dispatch_now(workspace, Some(snapshot))?;
    let snapshot = &*machine::follow(snapshot, &facts);
    find_state(workspace, snapshot, &due, &facts)
}

/// The plan that a report finds, where HEAD moved since somebody looked at it.
///
/// # Errors
/// As [`find_plan`].
pub fn find_where_moved(
    workspace: &Workspace,
    snapshot: &Snapshot,
    due: &Dispatch,
    facts: &Facts,
) -> Result<Option<Plan>, Failure> {
    let head = facts.head.as_ref().and_then(|head| head.commit.as_ref());
    // Where the settings cannot be read, nothing is held against them.
    if head == snapshot.ledger.mark.as_ref() || workspace.config_problem().is_some() {
        return Ok(None);
    }
    let snapshot = &*machine::follow(snapshot, facts);
    Ok(Some(
        find_state(workspace, snapshot, due, facts)?.snapshot.plan,
    ))
}
