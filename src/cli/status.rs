//! `cook status`, `cook ready`, `cook graph`.

use super::args::GraphArgs;
use super::{Answer, Context, answer};
use crate::hook;
use crate::machine::{SliceGraph, waits_for};
use crate::view::{GraphAnswer, ReadyAnswer, StatusAnswer};
use crate::walk;

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
        head: walk::head_of(&facts)?,
        scripted: walk::scripted_doors(&workspace, &snapshot)?,
        snapshot,
        dispatch,
        limits,
        displaced,
        findings,
    })
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
