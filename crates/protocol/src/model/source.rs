//! State and plans that `cook init` takes in, and where they stood before.

use super::plan::Plan;
use super::slice::ActiveSlice;
use super::state::Policy;
use super::{SliceRecord, StopRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A task of the plan that `cook init --from` took in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSource {
    /// What finds it in its file: its id there, or its words.
    pub item: String,
    /// `FILE:LINE`, or the file alone.
    pub at: String,
    /// The file calls it done: a claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ticked: bool,
}

/// The file that `cook init --from` took the plan from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSource {
    /// The tool: `spec-kit`, `openspec`, `kiro`, `task-master`, `prd`, `check-list`, `github-issues`, `beads`.
    pub kind: String,
    /// Relative to the worktree.
    pub path: String,
}

/// State that `cook init` found and takes in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// The layout it came from: `agent-0.1.26`, `agent-current`, or the tool whose plan it is.
    pub layout: String,
    /// The file of a tool's plan, relative to the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where each slice stands in that file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<String, TaskSource>,
    /// The old plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The old slice cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<ActiveSlice>,
    /// The old policy, when it was a stopped one that still binds (`paused`, `blocked`, `await_user_input`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Why that policy stood.
    #[serde(default)]
    pub reason: String,
    /// Old slice history.
    #[serde(default)]
    pub slice_history: Vec<SliceRecord>,
    /// Old stop history.
    #[serde(default)]
    pub stop_history: Vec<StopRecord>,
}

impl Import {
    /// The newest record of a slice.
    pub fn find_newest(&self, slice_id: &str) -> Option<&SliceRecord> {
        let mut records = self.slice_history.iter().rev();
        records.find(|record| record.slice_id == slice_id)
    }
}
