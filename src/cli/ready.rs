//! `cook ready`: slices that can be selected now.

use super::context::{Answer, Context, answer};
use crate::service;
use crate::view::{ReadyAnswer, WaitingSlice};
use cook_core::machine::{SliceGraph, waits_for};

pub(super) fn ready(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let plan = &service::found_plan(&workspace, &snapshot)?;
    let waiting = plan
        .open_slices()
        .map(|slice| WaitingSlice {
            slice_id: slice.slice_id.clone(),
            waits_for: waits_for(plan, slice),
        })
        .filter(|slice| !slice.waits_for.is_empty())
        .collect();
    answer(ReadyAnswer {
        ready: SliceGraph::new(plan).ready(plan),
        waiting,
    })
}
