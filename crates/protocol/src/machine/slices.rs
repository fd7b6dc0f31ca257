//! The slice graph: which slices wait for which, which come first, and where they wait in a cycle.

use super::user_answers::conditions;
use crate::digest::sha256_of_parts;
use crate::model::STOP_VERIFIER;
use crate::prelude::*;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeRef};
use schemars::JsonSchema;
use serde::Serialize;

/// The plan as a graph: an edge runs from a slice to each slice that waits for it.
pub struct SliceGraph<'a> {
    graph: DiGraph<&'a Slice, ()>,
    nodes: BTreeMap<&'a str, NodeIndex>,
}

/// A slice that can be selected.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReadyRow {
    /// ID of the slice.
    pub slice_id: String,
    /// Purpose of the slice.
    pub goal: String,
    /// Rank in the order of work; the smallest number comes first.
    pub priority: crate::model::Priority,
    /// IDs of the open slices that wait only for this slice.
    pub unblocks: Vec<String>,
    /// Number of open slices that wait for this slice, directly or indirectly.
    pub unblocks_all: usize,
    /// Number of slices on the longest chain that starts with this slice, including it.
    pub chain: usize,
}

impl<'a> SliceGraph<'a> {
    /// Builds the graph; entries of `blocked_on` that name no slice are not edges.
    pub fn new(plan: &'a Plan) -> Self {
        let mut graph = DiGraph::new();
        let slices = plan.candidate_slices.iter();
        let nodes: BTreeMap<&str, NodeIndex> = slices
            .map(|slice| (slice.slice_id.as_str(), graph.add_node(&**slice)))
            .collect();
        for slice in &plan.candidate_slices {
            for dependency in &slice.blocked_on {
                if let (Some(&from), Some(&to)) = (
                    nodes.get(dependency.as_str()),
                    nodes.get(slice.slice_id.as_str()),
                ) {
                    graph.update_edge(from, to, ());
                }
            }
        }
        Self { graph, nodes }
    }

    /// A cycle of slices that wait for each other, if there is one.
    pub fn cycle(&self) -> Option<Vec<String>> {
        let component = tarjan_scc(&self.graph).into_iter().find(|component| {
            component.len() > 1
                || component
                    .iter()
                    .any(|node| self.graph.find_edge(*node, *node).is_some())
        })?;
        Some(self.walk_cycle(&component))
    }

    /// Follows edges within a strongly connected component until a slice repeats.
    fn walk_cycle(&self, component: &[NodeIndex]) -> Vec<String> {
        let mut path = vec![component[0]];
        while let Some(next) = self
            .graph
            .edges(path[path.len() - 1])
            .map(|edge| edge.target())
            .find(|target| component.contains(target))
        {
            if let Some(start) = path.iter().position(|node| *node == next) {
                path.drain(..start);
                path.push(next);
                break;
            }
            path.push(next);
        }
        path.into_iter()
            .map(|node| self.graph[node].slice_id.clone())
            .collect()
    }

    /// Counts the open slices that wait for this one, directly or not.
    fn dependents(&self, id: &str) -> usize {
        let Some(&start) = self.nodes.get(id) else {
            return 0;
        };
        let mut walk = Dfs::new(&self.graph, start);
        let mut count = 0;
        while let Some(node) = walk.next(&self.graph) {
            if node != start && self.graph[node].status.is_open() {
                count += 1;
            }
        }
        count
    }

    /// Open slices whose only open dependency is this one.
    fn unblocks(&self, id: &str, plan: &Plan) -> Vec<String> {
        let Some(&start) = self.nodes.get(id) else {
            return Vec::new();
        };
        let mut names: Vec<String> = self
            .graph
            .neighbors(start)
            .map(|node| self.graph[node])
            .filter(|slice| slice.status.is_open() && slice.slice_id != id)
            .filter(|slice| waits_for(plan, slice).iter().all(|entry| entry == id))
            .map(|slice| slice.slice_id.clone())
            .collect();
        names.sort();
        names
    }

    /// Length of the longest chain of open slices from this one. Each length is computed once; a cycle ends a
    /// chain.
    fn chain(&self, node: NodeIndex, known: &mut BTreeMap<NodeIndex, usize>) -> usize {
        if let Some(length) = known.get(&node) {
            return *length;
        }
        known.insert(node, 1);
        let mut longest = 0;
        for next in self.graph.neighbors(node).collect::<Vec<_>>() {
            if self.graph[next].status.is_open() {
                longest = longest.max(self.chain(next, known));
            }
        }
        known.insert(node, longest + 1);
        longest + 1
    }

    /// The slices that could be selected now, in order of work (`protocol/completion.md#order-of-work`).
    pub fn ready(&self, plan: &Plan) -> Vec<ReadyRow> {
        let mut chains = BTreeMap::new();
        let mut rows: Vec<ReadyRow> = plan
            .candidate_slices
            .iter()
            .filter(|slice| require_selectable(plan, slice).is_ok())
            .map(|slice| ReadyRow {
                slice_id: slice.slice_id.clone(),
                goal: slice.goal.clone(),
                priority: slice.priority.clone(),
                unblocks: self.unblocks(&slice.slice_id, plan),
                unblocks_all: self.dependents(&slice.slice_id),
                chain: self.chain(self.nodes[slice.slice_id.as_str()], &mut chains),
            })
            .collect();
        rows.sort_by(|a, b| {
            a.priority
                .rank()
                .total_cmp(&b.priority.rank())
                .then(b.unblocks_all.cmp(&a.unblocks_all))
        });
        rows
    }
}

/// Refuses a selection that the plan does not allow. The ready list and a report's selection use this check alone.
pub(super) fn require_selectable(plan: &Plan, slice: &Slice) -> Result<(), Refusal> {
    let id = &slice.slice_id;
    if !slice.status.is_open() {
        return Err(refusal!(
            Code::SelectClosed,
            "slice `{id}` is {}",
            slice.status.id()
        ));
    }
    let waits = waits_for(plan, slice);
    if slice.status == SliceStatus::Blocked || !waits.is_empty() {
        let what = match waits.is_empty() {
            true => "it is marked blocked".to_owned(),
            false => waits.join(", "),
        };
        return Err(refusal!(
            Code::SelectBlocked,
            "slice `{id}` waits for {what}"
        ));
    }
    if slice.acceptance_criteria.is_empty() {
        return Err(refusal!(
            Code::CriteriaEmpty,
            "slice `{id}` has no acceptance criteria"
        ));
    }
    Ok(())
}

/// What a slice still waits for: slices that are neither done nor shown to be satisfied, and outside
/// blockers.
pub fn waits_for(plan: &Plan, slice: &Slice) -> Vec<String> {
    slice
        .blocked_on
        .iter()
        .filter(|entry| {
            plan.slice(entry).is_none_or(|dependency| {
                dependency.status != SliceStatus::Done && !dependency.is_satisfied()
            })
        })
        .cloned()
        .collect()
}

/// Whether an entry looks like a slice id rather than a text about an outside blocker.
pub fn looks_like_id(entry: &str) -> bool {
    id_is_valid(entry)
}

/// Whether an id is valid: at most 100 ASCII letters, digits, `.`, `_` and `-`, beginning with a letter or digit.
/// It is used in commit trailers, file names and prompts.
pub fn id_is_valid(id: &str) -> bool {
    id.len() <= 100
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// Ids of the slices that could be selected now, in order of work.
pub fn ready(plan: &Plan) -> Vec<String> {
    SliceGraph::new(plan)
        .ready(plan)
        .into_iter()
        .map(|row| row.slice_id)
        .collect()
}

/// Digest of a slice's criteria: part of the key of a review or audit.
pub fn criteria_sha256(criteria: &[String]) -> String {
    sha256_of_parts(criteria)
}

/// Slice head, criteria digest and ledger of the active slice; `None` if it has no head.
fn active_key(snapshot: &Snapshot) -> Option<(&str, String, &crate::model::SliceLedger)> {
    let id = snapshot.active.slice_id.as_deref()?;
    let ledger = snapshot.find_ledger(id)?;
    let head = ledger.head.as_deref()?;
    let slice = snapshot.plan.slice(id)?;
    Some((head, key_sha256(slice, ledger), ledger))
}

/// Digest of what a review and an audit apply to: the criteria, the user's answers, and the proof that the
/// implementer names for each criterion.
pub(super) fn key_sha256(slice: &Slice, ledger: &SliceLedger) -> String {
    let mut given = conditions(slice);
    for Offer { criterion, anchor } in &ledger.offered {
        given.extend([criterion.clone(), anchor.clone()]);
    }
    criteria_sha256(&given)
}

/// The review of the active slice's current key.
pub fn current_review(snapshot: &Snapshot) -> Option<&ReviewNote> {
    let (head, criteria, ledger) = active_key(snapshot)?;
    ledger
        .review
        .as_deref()
        .filter(|review| review.commit == head && review.criteria_sha256 == criteria)
}

/// The review that said no to the committed slice, if its key has changed since: it is owed an answer.
pub(super) fn void_rejection(snapshot: &Snapshot) -> Option<&ReviewNote> {
    let review = rejection(snapshot)?;
    current_review(snapshot).is_none().then_some(review)
}

/// The review that said no to the committed slice, whatever its key.
pub(super) fn rejection(snapshot: &Snapshot) -> Option<&ReviewNote> {
    let is_committed = snapshot.active.status == ActiveStatus::Committed;
    let (_, _, ledger) = active_key(snapshot).filter(|_| is_committed)?;
    ledger.review.as_deref().filter(|review| review.rejects())
}

/// The audit of the active slice's current key.
pub fn current_audit(snapshot: &Snapshot) -> Option<&AuditNote> {
    let (head, criteria, ledger) = active_key(snapshot)?;
    ledger
        .audit
        .as_deref()
        .filter(|audit| audit.commit == head && audit.criteria_sha256 == criteria)
}

// Commands that this machine must trust before a step is taken.

/// Commands of every slice that may be open after this block (a done one may be reopened), and the stop verifier.
pub(super) fn list_named_commands(snapshot: &Snapshot, block: &Reground) -> BTreeSet<String> {
    let planned = block.plan.iter().flat_map(|plan| &plan.candidate_slices);
    let planned = planned.flat_map(|slice| slice.verification_commands.iter().flatten());
    let kept = snapshot.plan.candidate_slices.iter();
    let kept = kept.flat_map(|slice| slice.verification_commands.iter().flatten());
    planned
        .chain(kept)
        .cloned()
        .chain([STOP_VERIFIER.to_owned()])
        .collect()
}

/// Commands of the open slices, and the stop verifier.
pub(super) fn open_commands(snapshot: &Snapshot) -> BTreeSet<String> {
    snapshot
        .plan
        .open_slices()
        .flat_map(|slice| slice.verification_commands.iter().flatten().cloned())
        .chain([STOP_VERIFIER.to_owned()])
        .collect()
}

/// Commands that the handoff names.
pub(super) fn handoff_commands(snapshot: &Snapshot) -> BTreeSet<String> {
    let handoff = snapshot.active.handoff.iter();
    handoff
        .flat_map(|handoff| handoff.verification_commands.iter().flatten())
        .cloned()
        .collect()
}
