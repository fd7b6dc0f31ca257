//! One event of the user's, recorded, and the answer of every command that moves state.

use super::context::{Answer, answer};
use super::{follow, queued};
use crate::service::{self, Applied, Workspace};
use crate::view::{Dispatched, TransitionAnswer};
use cook_core::diagnostic::{Code, Failure, Finding, Refusal};
use cook_core::machine::{self, Step};
use cook_core::model::{Actor, Event, WaitingKind};

/// Records one event of the user's and answers with who is due.
pub(super) fn record(workspace: &Workspace, event: &Event, actor: Actor, summary: &str) -> Answer {
    workspace.require()?;
    let mut findings = match event {
        // It was made from the tip as it stands.
        Event::Undone { .. } => Vec::new(),
        _ => queued::take_in(workspace),
    };
    let applied = service::transition(workspace, event, actor)?;
    findings.extend(applied.findings.clone());
    findings.extend(follow::follow(workspace, &applied.step.snapshot));
    answer(transition_answer(applied, summary.to_owned(), findings))
}

/// A stopped workflow is resumed by the command that its state names, so that more
/// budget does not bring a cancelled one back.
pub(super) fn fits(workspace: &Workspace, brought: WaitingKind, what: &str) -> Result<(), Failure> {
    let (_, snapshot) = workspace.require()?;
    match &snapshot.ledger.waiting {
        Some(waiting) if waiting.kind != brought => Err(Failure::from(
            Refusal::new(
                Code::DoesNotApply,
                format!("the work does not wait for {what}: {}", waiting.what),
            )
            .hint(format!("run `{}`", waiting.exit)),
        )),
        _ => Ok(()),
    }
}

/// The answer of every command that moves state.
pub(super) fn transition_answer(
    applied: Applied,
    summary: String,
    findings: Vec<Finding>,
) -> TransitionAnswer {
    let Step { snapshot, next, .. } = applied.step;
    // Most transitions measure the worktree.
    let is_measured = applied.event != Event::Verified.name()
        && next.role.is_some_and(service::leaves_the_tree_alone);
    let status = snapshot.ledger.status_seen.as_deref();
    let status = status.filter(|_| is_measured);
    let ticket = applied.tip.as_ref();
    let ticket = ticket.map(|tip| machine::ticket(&tip.commit, &applied.head, status));
    TransitionAnswer {
        operation: applied.tip.map(|tip| tip.commit).into(),
        seq: snapshot.ledger.seq.0,
        event: applied.event,
        summary,
        lines: Vec::new(),
        findings,
        gates: Vec::new(),
        start: None,
        next: Dispatched::of(next, Some(&snapshot), &applied.head, ticket),
    }
}
