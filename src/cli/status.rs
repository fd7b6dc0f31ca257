//! `cook status`, `cook ready`, `cook graph`.

use super::args::GraphArgs;
use super::next::head_of;
use super::{Answer, Context, answer};
use crate::diagnostic::Failure;
use crate::hook;
use crate::machine::{SliceGraph, waits_for};
use crate::model::Snapshot;
use crate::view::{GraphAnswer, ReadyAnswer, StatusAnswer};
use crate::walk::{self, Workspace};

pub(super) fn status(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let (dispatch, facts) = walk::dispatch_now(&workspace, Some(&snapshot))?;
    let displaced = workspace.store()?.rescue_list()?.len();
    let mut findings = dispatch.findings.clone();
    findings.extend(workspace.config_problem().cloned());
    findings.extend(hook::install::unseen(&workspace));
    let limits = workspace
        .config()
        .map(|config| config.limits())
        .unwrap_or_default();
    answer(StatusAnswer {
        head: head_of(&facts)?,
        scripted: scripted(&workspace, &snapshot)?,
        snapshot,
        dispatch,
        limits,
        displaced,
        findings,
    })
}

/// How many transitions are looked through for those that a script made.
const LOOK_BACK: usize = 1_000;

/// Sequence and event of user doors that were opened with `--as-user`, newest
/// first. The log is read only when there is one.
pub(super) fn scripted(
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

pub(super) fn ready(context: &Context) -> Answer {
    let (_, snapshot) = context.workspace()?.require()?;
    let plan = &snapshot.plan;
    let waiting = plan
        .open_slices()
        .map(|slice| (slice.slice_id.clone(), waits_for(plan, slice)))
        .filter(|(_, waits)| !waits.is_empty())
        .collect();
    answer(ReadyAnswer {
        rows: SliceGraph::new(plan).ready(plan),
        waiting,
    })
}

pub(super) fn graph(context: &Context, args: &GraphArgs) -> Answer {
    let (_, snapshot) = context.workspace()?.require()?;
    let plan = &snapshot.plan;
    let nodes = plan
        .candidate_slices
        .iter()
        .map(|slice| (slice.slice_id.clone(), slice.goal.clone(), slice.status))
        .collect();
    let mut edges = Vec::new();
    for slice in &plan.candidate_slices {
        for dependency in slice
            .blocked_on
            .iter()
            .filter(|entry| plan.slice(entry).is_some())
        {
            edges.push((dependency.clone(), slice.slice_id.clone()));
        }
    }
    answer(GraphAnswer {
        nodes,
        edges,
        dot: args.dot,
    })
}
