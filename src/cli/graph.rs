//! `cook status --graph`: the plan as a graph.

use super::context::{Answer, Context, answer};
use crate::view::{Edge, GraphAnswer, GraphForm, Node};
use cook_core::model::Plan;

pub(super) fn graph(context: &Context, form: GraphForm) -> Answer {
    let (_, snapshot) = context.workspace()?.require()?;
    answer(make_graph(&snapshot.plan, form))
}

/// The slices, and which waits for which.
pub(super) fn make_graph(plan: &Plan, form: GraphForm) -> GraphAnswer {
    let nodes = plan
        .candidate_slices
        .iter()
        .map(|slice| Node {
            slice_id: slice.slice_id.clone(),
            goal: slice.goal.clone(),
            status: slice.status,
        })
        .collect();
    let mut edges = Vec::new();
    for slice in &plan.candidate_slices {
        for dependency in slice
            .blocked_on
            .iter()
            .filter(|entry| plan.slice(entry).is_some())
        {
            edges.push(Edge {
                from: dependency.clone(),
                to: slice.slice_id.clone(),
            });
        }
    }
    GraphAnswer { nodes, edges, form }
}
