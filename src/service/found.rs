//! The state as a report finds it in this repository: what a role is shown, and what can be selected.

use super::dispatch::dispatch_now;
use super::workspace::Workspace;
use cook_core::diagnostic::Failure;
use cook_core::machine::{self, Dispatch, Facts, Found};
use cook_core::model::{Plan, Snapshot};

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
    let measured = workspace.measure(&machine::found_needs(snapshot), Some(snapshot))?;
    let facts = Facts {
        anchors: measured.anchors,
        survivals: measured.survivals,
        ..facts.clone()
    };
    Ok(machine::find_state(snapshot, &facts, due)?)
}

/// The plan that a report finds, by which slices can be selected.
///
/// # Errors
/// Unreadable state, or git that does not answer.
pub fn found_plan(workspace: &Workspace, snapshot: &Snapshot) -> Result<Plan, Failure> {
    let (due, facts) = dispatch_now(workspace, Some(snapshot))?;
    let snapshot = &*machine::follow(snapshot, facts.rebound.as_ref());
    Ok(find_state(workspace, snapshot, &due, &facts)?.snapshot.plan)
}
