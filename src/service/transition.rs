//! The service layer: an event becomes a transition, or a refusal and nothing else.
//!
//! measure what `needs` names → `apply` → lock → check that nothing moved →
//! commit. Gates run before the lock; when tip, HEAD or worktree moved meanwhile
//! the walk is repeated once (receipts of the same tree are found again).

use super::applied::Applied;
use super::dispatch::{find_head, follow};
use super::sync::{CommitPoint, push_after, until_taken};
use super::workspace::Workspace;
use super::{cited, notify};
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use cook_protocol::machine::{self, FactSet, Facts, Step};
use cook_protocol::model::{Actor, Event, Snapshot};
use cook_protocol::prompt;
use cook_repo::store::{Lease, Recovery, Sign, Store, Tip, Transition};
use std::time::Duration;

/// How long a writer waits for another one.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Measures, decides and records one event.
///
/// # Errors
/// A refusal (exit 4), a held lock or lease (exit 7), or unreadable state (exit 3).
/// In each case nothing was written.
pub fn transition(workspace: &Workspace, event: &Event, actor: Actor) -> Result<Applied, Failure> {
    let _lease = match &workspace.store {
        Some(store) if needs_lease(event) => Some(store.lease(event.name())?),
        _ => None,
    };
    attempt_twice(workspace, event, actor, true, None)
}

/// The same where nobody can wait for gates: what only they can tell stays unknown.
///
/// # Errors
/// As [`transition`].
pub fn apply_without_gates(
    workspace: &Workspace,
    event: &Event,
    actor: Actor,
) -> Result<Applied, Failure> {
    let _lease = match &workspace.store {
        Some(store) if needs_lease(event) => Some(store.lease(event.name())?),
        _ => None,
    };
    attempt_twice(workspace, event, actor, false, None)
}

/// Records that the user signs what the log records, in a commit that bears the signature.
///
/// # Errors
/// As [`transition`], and whatever keeps the signature from being made.
pub fn sign(workspace: &Workspace, actor: Actor, sign: &Sign<'_>) -> Result<Applied, Failure> {
    attempt_twice(workspace, &Event::Signed, actor, true, Some(sign))
}

/// The same for a driver, which holds the lease for as long as it drives.
///
/// # Errors
/// As [`transition`], but for the lease.
pub fn transition_holding(
    workspace: &Workspace,
    _lease: &Lease,
    event: &Event,
    actor: Actor,
) -> Result<Applied, Failure> {
    attempt_twice(workspace, event, actor, true, None)
}

fn attempt_twice(
    workspace: &Workspace,
    event: &Event,
    actor: Actor,
    runs_gates: bool,
    sign: Option<&Sign<'_>>,
) -> Result<Applied, Failure> {
    if let Some(point) = CommitPoint::of(workspace)? {
        return until_taken(&point, || {
            attempt(workspace, event, actor, runs_gates, sign, Some(&point))
        });
    }
    let mut outcome = attempt(workspace, event, actor, runs_gates, sign, None);
    if matches!(&outcome, Err(failure) if failure.code == Code::StaleFacts) {
        outcome = attempt(workspace, event, actor, runs_gates, sign, None);
    }
    if let Ok(applied) = &mut outcome {
        push_after(workspace, applied);
    }
    outcome
}

/// Reports, undo and adopt are the lease holder's alone.
fn needs_lease(event: &Event) -> bool {
    event.submission().is_some()
        || matches!(
            event,
            Event::RegroundedByCook { .. }
                | Event::Undone { .. }
                | Event::Adopted { .. }
                | Event::BranchAdopted
                | Event::Restored
        )
}

/// Everything but writing.
///
/// # Errors
/// As [`transition`].
pub fn dry_run(workspace: &Workspace, event: &Event, actor: Actor) -> Result<Applied, Failure> {
    let (_, snapshot) = workspace.current()?;
    let event = &in_own_words(event, snapshot.as_ref());
    let decided = decide(workspace, snapshot.as_ref(), event, actor, false)?;
    Ok(Applied {
        tip: None,
        event: event.name(),
        findings: decided.step.findings.clone(),
        step: decided.step,
        head: decided.head,
    })
}

/// What a role says as the prompt showed it, as the documents say it.
pub(super) fn in_own_words(event: &Event, snapshot: Option<&Snapshot>) -> Event {
    match snapshot {
        Some(snapshot) if event.submission().is_some() => prompt::in_own_words(event, snapshot),
        _ => event.clone(),
    }
}

/// A step with the facts it was judged by.
struct Decided {
    step: Step,
    facts: Facts,
    head: machine::Head,
}

fn decide(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    event: &Event,
    actor: Actor,
    runs_gates: bool,
) -> Result<Decided, Failure> {
    workspace.check_independent(event)?;
    let followed = snapshot
        .map(|snapshot| follow(workspace, snapshot))
        .transpose()?;
    let mut needs = machine::needs(followed.as_deref(), event);
    if let Some(snapshot) = snapshot {
        machine::ask_to_follow(&mut needs, snapshot);
    }
    let mut facts = workspace.measure(&needs, followed.as_deref())?;
    let mut step = machine::apply(snapshot, &facts, event, actor)?;
    if step.wants_room && runs_gates {
        let room = FactSet {
            room: true,
            ..FactSet::default()
        };
        facts.room = workspace.measure(&room, snapshot)?.room;
        step = machine::apply(snapshot, &facts, event, actor)?;
    }
    let head = find_head(&facts)?;
    Ok(Decided { step, facts, head })
}

fn attempt(
    workspace: &Workspace,
    event: &Event,
    actor: Actor,
    runs_gates: bool,
    sign: Option<&Sign<'_>>,
    point: Option<&CommitPoint<'_>>,
) -> Result<Applied, Failure> {
    let (tip, snapshot) = workspace.current()?;
    let event = &in_own_words(event, snapshot.as_ref());
    let decided = decide(workspace, snapshot.as_ref(), event, actor, runs_gates)?;
    let exchanges = cited::cite(workspace, event)?;
    let created;
    let store = match &workspace.store {
        Some(store) => store,
        None => {
            created = Store::create(workspace.place())?;
            &created
        }
    };
    let recovered = store.lock(LOCK_WAIT)?.recover()?;
    if recovered.tip()? != tip {
        return Err(stale("another transition was recorded meanwhile"));
    }
    let mut findings = decided.step.findings.clone();
    let transition = Transition {
        parent: tip.clone(),
        event: event.clone(),
        facts: decided.facts.clone(),
        actor,
        rule: decided.step.rule.id().to_owned(),
        subject: subject(event, &decided.step.snapshot),
        snapshot: decided.step.snapshot.clone(),
        records: decided.step.records.clone(),
        receipts: decided.facts.receipts().into_iter().cloned().collect(),
        exchanges,
        tests: workspace.list_new_tests(snapshot.as_ref(), &decided.step.snapshot),
        lease_epoch: decided.step.snapshot.ledger.lease_epoch.0,
        displace: decided.step.displace,
    };
    let staged = recovered.stage(transition)?;
    still_the_same(workspace, &decided)?;
    let committed = match point {
        None => staged.commit(sign, |_| Ok(()))?,
        Some(point) => point.commit(staged, sign, tip.as_ref(), &decided.step.snapshot)?,
    };
    findings.extend(committed.findings);
    let mut applied = Applied {
        tip: Some(committed.tip),
        event: event.name(),
        step: decided.step,
        head: decided.head,
        findings,
    };
    // The lock went with the commit.
    notify::notify(workspace, snapshot.as_ref(), &mut applied);
    Ok(applied)
}

/// Lets `.agent/` show the log's tip. Whoever wrote the tip may have been ended before it did;
/// what was edited outside cook stays, unless the log has gone on since.
///
/// # Errors
/// A held lock, or a log or worktree that cannot be read or written.
pub fn show_tip(workspace: &Workspace) -> Result<Recovery, Failure> {
    let recovered = workspace.store()?.lock(LOCK_WAIT)?.recover()?;
    Ok(recovered.recovery().clone())
}

/// Leaves the worktree without a workflow, so that another one begins in its place; the ref that keeps
/// its transitions.
///
/// # Errors
/// A held lock or lease, a log that moved, or one that cannot be written.
pub fn leave_workflow(workspace: &Workspace, seen: &Tip) -> Result<String, Failure> {
    let store = workspace.store()?;
    let _lease = store.lease("bootstrapped")?;
    store.lock(LOCK_WAIT)?.recover()?.leave_workflow(seen)
}

fn stale(message: &str) -> Failure {
    Failure::from(Refusal::new(Code::StaleFacts, message))
}

/// HEAD, and the worktree where it mattered, are as they were when they were measured.
fn still_the_same(workspace: &Workspace, decided: &Decided) -> Result<(), Failure> {
    if workspace.repo.head()? != decided.head {
        return Err(stale("HEAD moved meanwhile"));
    }
    if let Some(worktree) = &decided.facts.worktree
        && workspace.repo.status()?.worktree.digest != worktree.digest
    {
        return Err(stale("the worktree changed meanwhile"));
    }
    Ok(())
}

/// The slice or the mission a log message names.
fn subject(event: &Event, next: &Snapshot) -> String {
    match event {
        Event::Implemented { slice_id, .. }
        | Event::Returned { slice_id, .. }
        | Event::CriterionAmended { slice_id, .. }
        | Event::ProofRetired { slice_id, .. } => slice_id.clone(),
        Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. } => {
            match (&block.select, &block.reconcile) {
                (Some(slice), _) => slice.clone(),
                (None, Some(reconcile)) => reconcile.slice_id.clone(),
                (None, None) => next.state.mission_anchor.clone(),
            }
        }
        Event::Briefed { by, .. } => by.clone(),
        Event::Said { .. } => machine::message_id(next.ledger.seq.0),
        Event::Reviewed { .. } | Event::Audited { .. } => next
            .active
            .slice_id
            .clone()
            .unwrap_or_else(|| next.state.mission_anchor.clone()),
        _ => next.state.mission_anchor.clone(),
    }
}
