//! `cook next`, `cook why`.

use super::args::NextArgs;
use super::{Answer, Context, answer};
use crate::diagnostic::{Code, Failure};
use crate::hook;
use crate::machine::{self, Dispatch, Facts, Head};
use crate::model::Snapshot;
use crate::prompt::{self, PromptInput};
use crate::store::Tip;
use crate::view::{NextAnswer, PromptAnswer, WhyAnswer, scripted_line};
use crate::walk::{self, Workspace};

/// The ticket for the state that was looked at; changes of the brief leave it as it was.
pub(super) fn ticket(
    workspace: &Workspace,
    current: Option<(&Tip, &Snapshot)>,
    head: &Head,
) -> Result<Option<String>, Failure> {
    let Some((tip, snapshot)) = current else {
        return Ok(None);
    };
    let settled = workspace.settled(tip, snapshot)?;
    Ok(Some(machine::ticket(&settled.commit, head)))
}

pub(super) fn next(context: &Context, args: &NextArgs) -> Answer {
    let workspace = context.workspace()?;
    let (tip, snapshot) = workspace.current()?;
    let (dispatch, facts) = walk::dispatch_now(&workspace, snapshot.as_ref())?;
    if args.take {
        hook::take_around(&workspace)?;
    }
    if args.prompt {
        return answer(PromptAnswer(prompt_text(
            &workspace,
            snapshot.as_ref(),
            &dispatch,
            &facts,
        )?));
    }
    let head = head_of(&facts)?;
    answer(NextAnswer {
        ticket: ticket(&workspace, tip.as_ref().zip(snapshot.as_ref()), &head)?,
        dispatch,
        snapshot,
        head,
        exit_code: args.exit_code,
    })
}

pub(super) fn head_of(facts: &Facts) -> Result<Head, Failure> {
    facts
        .head
        .clone()
        .ok_or_else(|| Failure::state(Code::FactMissing, "HEAD was not measured"))
}

pub(super) fn why(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.current()?;
    let facts = walk::dispatch_facts(&workspace, snapshot.as_ref())?;
    let (dispatch, traces) = machine::explain(snapshot.as_ref(), &facts)?;
    answer(WhyAnswer { traces, dispatch })
}

/// The whole prompt of the role that is due.
fn prompt_text(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    dispatch: &Dispatch,
    facts: &Facts,
) -> Result<String, Failure> {
    let Some(role) = dispatch.role else {
        return Err(Failure::from(crate::diagnostic::Refusal::new(
            Code::DoorClosed,
            format!("no role is due: the work is stopped ({})", dispatch.policy),
        )));
    };
    let Some(snapshot) = snapshot else {
        return Err(Failure::state(
            Code::NotInitialised,
            "no prompt before `cook init`",
        ));
    };
    let brief = walk::put_together(workspace, snapshot, dispatch, facts)?;
    Ok(prompt::render(&PromptInput {
        role,
        snapshot,
        rule: dispatch.rule.id(),
        action: &dispatch.action,
        reason: &dispatch.reason,
        findings: &dispatch.findings,
        context: &context_text(workspace, snapshot, facts)?,
        brief: &brief.within(Some(walk::DEFAULT_BYTES)).text,
    }))
}

/// What a role that may have no shell has to see: the commits and files of the slice in work.
fn context_text(
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
) -> Result<String, Failure> {
    let mut lines = Vec::new();
    let head = head_of(facts)?;
    lines.push(match &head.commit {
        Some(commit) => format!("HEAD: {commit}"),
        None => "HEAD: the repository has no commit yet".to_owned(),
    });
    if let (Some(handoff), Some(id)) = (&snapshot.active.handoff, &snapshot.active.slice_id) {
        let basis = &handoff.basis_commit;
        lines.push(format!("basis of slice {id}: {basis}"));
        let slice_head = snapshot
            .ledger
            .slices
            .get(id)
            .and_then(|slice| slice.head.clone());
        if let Some(slice_head) = &slice_head {
            lines.push(format!("slice head: {slice_head}"));
        }
        let upto = slice_head.or(head.commit);
        if let Some(upto) =
            upto.filter(|_| facts.ranges.get(basis).is_some_and(|range| range.resolves))
        {
            let changes = workspace.repo.changes(Some(basis), &upto)?;
            lines.push(format!(
                "files that differ between the two: {}",
                changes.len()
            ));
            lines.extend(
                changes
                    .iter()
                    .take(100)
                    .map(|change| format!("  {:?} {}", change.kind, change.path)),
            );
        }
    }
    for run in &snapshot.evidence.runs {
        let how = if run.passed() { "passed" } else { "failed" };
        lines.push(format!("gate `{}` {how} (receipt:{})", run.command, run.id));
    }
    let opened = snapshot.ledger.script_doors.0;
    if opened > 0 {
        let doors = super::status::scripted(workspace, snapshot)?;
        lines.push(format!(
            "the user's word was given by a script: {}",
            scripted_line(opened, &doors)
        ));
    }
    Ok(lines.join("\n"))
}
