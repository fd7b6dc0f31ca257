//! Re-grounds that cook makes itself, where the profile lets it (`docs/assurance.md`).

use super::applied::Applied;
use super::dispatch::{dispatch_now, find_head};
use super::transition::{transition, transition_holding};
use super::workspace::Workspace;
use cook_protocol::diagnostic::{Failure, FailureKind};
use cook_protocol::machine::{self, Dispatch, Facts, MOST_BY_COOK};
use cook_protocol::model::{Actor, Event, Role, Snapshot};
use cook_repo::store::Lease;

/// What became of it.
#[derive(Debug)]
pub enum ByCookOutcome {
    /// It is recorded.
    Applied(Box<Applied>),
    /// A model is asked, and why.
    Model(String),
    /// The regrounder is not due, or the profile in force is `strict`.
    NotDue,
}

/// Re-grounds where the regrounder is due and nothing is left to weigh.
///
/// # Errors
/// Unreadable state, or a lock or lease that somebody else holds.
pub fn reground_by_cook(
    workspace: &Workspace,
    lease: Option<&Lease>,
) -> Result<ByCookOutcome, Failure> {
    let (_, snapshot) = workspace.require()?;
    let (due, facts) = dispatch_now(workspace, Some(&snapshot))?;
    if due.role != Some(Role::Regrounder) || snapshot.assurance().is_strict() {
        return Ok(ByCookOutcome::NotDue);
    }
    let head = find_head(&facts)?;
    let followed = machine::follow(&snapshot, &facts);
    let (kind, block) = match machine::derive(&followed, &due, &head) {
        Ok(derived) => derived,
        Err(why) => return Ok(ByCookOutcome::Model(why)),
    };
    let event = Event::RegroundedByCook { kind, block };
    let applied = match lease {
        Some(lease) => transition_holding(workspace, lease, &event, Actor::Cook),
        None => transition(workspace, &event, Actor::Cook),
    };
    match applied {
        Ok(applied) => Ok(ByCookOutcome::Applied(Box::new(applied))),
        Err(failure) if failure.kind == FailureKind::Refused => {
            Ok(ByCookOutcome::Model(failure.message))
        }
        Err(failure) => Err(failure),
    }
}

/// Whether `cook run` would re-ground itself here, as far as the log tells.
pub fn is_by_cook(snapshot: &Snapshot, due: &Dispatch, facts: &Facts) -> bool {
    let followed = machine::follow(snapshot, facts);
    let head = facts.head.as_ref();
    due.role == Some(Role::Regrounder)
        && head.is_some_and(|head| machine::derive(&followed, due, head).is_ok())
}

/// Everything that cook may re-ground itself now, and what ended it where that is no refusal.
pub fn reground_all_by_cook(workspace: &Workspace) -> (Vec<Applied>, Option<Failure>) {
    let mut done = Vec::new();
    for _ in 0..MOST_BY_COOK {
        match reground_by_cook(workspace, None) {
            Ok(ByCookOutcome::Applied(applied)) => done.push(*applied),
            Ok(ByCookOutcome::Model(_) | ByCookOutcome::NotDue) => break,
            Err(failure) => return (done, Some(failure)),
        }
    }
    (done, None)
}
