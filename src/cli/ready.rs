//! `cook status --ready`: slices that can be selected now.

use super::context::{Answer, Context, answer};
use crate::service;
use crate::view::{ReadyAnswer, WaitingSlice};
use cook_core::diagnostic::{Code, Finding};
use cook_core::machine::{SliceGraph, waits_for};

pub(super) fn ready(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let found = service::find(&workspace, &snapshot)?;
    let (plan, selection) = (&found.snapshot.plan, &found.selection);
    let waiting = plan
        .open_slices()
        .map(|slice| WaitingSlice {
            slice_id: slice.slice_id.clone(),
            waits_for: waits_for(plan, slice),
        })
        .filter(|slice| !slice.waits_for.is_empty())
        .collect();
    let ready = SliceGraph::new(plan).ready(plan);
    let rests_on = ready.iter().filter_map(|row| {
        let on = selection.rests_on(plan.slice(&row.slice_id)?);
        let unrun = on.iter().map(|(id, what)| format!("`{id}` ({what})"));
        let unrun: Vec<String> = unrun.collect();
        (!unrun.is_empty()).then(|| {
            let what = format!(
                "slice `{}` can be selected only if what it waits for still holds at HEAD, where it has not run: {}",
                row.slice_id,
                unrun.join(", ")
            );
            Finding::new(Code::ProofStale, what).at(row.slice_id.clone())
        })
    });
    let committed = snapshot.find_slice_in_work();
    let committed = committed
        .filter(|id| snapshot.is_committed(id))
        .map(|id| format!("slice `{id}` is committed, and waits to be accepted or reopened"));
    answer(ReadyAnswer {
        held: selection.held.clone().or(committed),
        findings: rests_on.collect(),
        ready,
        waiting,
    })
}
