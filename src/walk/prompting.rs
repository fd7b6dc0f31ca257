//! The prompt of the role that is due, put together from the log and the repository, and the
//! ticket that ties a report to the state the prompt was made from.

use super::{DEFAULT_BYTES, Workspace, put_together};
use crate::diagnostic::{Code, Failure, Refusal, counted};
use crate::machine::{self, Dispatch, Facts, Head};
use crate::model::Snapshot;
use crate::prompt::{self, PromptInput};
use crate::store::Tip;

/// How many transitions are looked through for those that a script made.
const LOOK_BACK: usize = 1_000;

/// The ticket for the state that was looked at; changes of the brief leave it as it was.
///
/// # Errors
/// An unreadable log.
pub fn ticket(
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

/// HEAD as it was measured.
///
/// # Errors
/// When nobody measured it.
pub fn head_of(facts: &Facts) -> Result<Head, Failure> {
    facts
        .head
        .clone()
        .ok_or_else(|| Failure::state(Code::FactMissing, "HEAD was not measured"))
}

/// The whole prompt of the role that is due.
///
/// # Errors
/// `door_closed` when none is, or unreadable state.
pub fn role_prompt(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    dispatch: &Dispatch,
    facts: &Facts,
) -> Result<String, Failure> {
    let Some(role) = dispatch.role else {
        return Err(Failure::from(Refusal::new(
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
    let brief = put_together(workspace, snapshot, dispatch, facts)?;
    Ok(prompt::render(&PromptInput {
        role,
        snapshot,
        rule: dispatch.rule.id(),
        action: &dispatch.action,
        reason: &dispatch.reason,
        findings: &dispatch.findings,
        context: &context_text(workspace, snapshot, facts)?,
        brief: &brief.within(Some(DEFAULT_BYTES)).text,
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
        let doors = scripted_doors(workspace, snapshot)?;
        lines.push(format!(
            "the user's word was given by a script: {}",
            scripted_line(opened, &doors)
        ));
    }
    Ok(lines.join("\n"))
}

/// Sequence and event of user doors that were opened with `--as-user`, newest
/// first. The log is read only when there is one.
///
/// # Errors
/// An unreadable log.
pub fn scripted_doors(
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<Vec<(u64, String)>, Failure> {
    let opened = snapshot.ledger.script_doors.0;
    let mut found = Vec::new();
    if opened == 0 {
        return Ok(found);
    }
    for meta in workspace.store()?.entries()?.take(LOOK_BACK) {
        let meta = meta?;
        if meta.actor == "script" {
            found.push((meta.seq, meta.event));
        }
        if found.len() as u64 == opened {
            break;
        }
    }
    Ok(found)
}

/// Who reads this decides how much a user's word is worth that a script spoke.
pub fn scripted_line(opened: u64, doors: &[(u64, String)]) -> String {
    const SHOWN: usize = 10;
    let mut named: Vec<String> = doors
        .iter()
        .take(SHOWN)
        .map(|(seq, event)| format!("#{seq} {event}"))
        .collect();
    if opened > named.len() as u64 {
        named.push("…".to_owned());
    }
    format!(
        "{} opened with --as-user: {}",
        counted(opened, "user door"),
        named.join(", ")
    )
}
