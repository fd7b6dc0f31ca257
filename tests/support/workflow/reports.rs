//! Reports of each role that fit the workflow of [`super`]: one slice, `kind`,
//! with one criterion and one contract.

use super::MISSION;

const RUBRIC: &str = "Rubric:
- Contract coverage: pass - it is covered
- Correctness risk: pass - there is none
- Verification evidence: pass - it was looked at
- Docs/state parity: pass - they agree
";

/// Plans the slice and selects it.
pub fn plan() -> String {
    reground(
        "none",
        ("none", "none"),
        "kind",
        r#"{
  "plan": {"plan_basis": "greeting.txt", "candidate_slices": [{
    "slice_id": "kind", "goal": "say please", "priority": 5,
    "acceptance_criteria": ["the greeting says please"], "contract_ids": ["C-kind"],
    "why_now": "it is the only one", "implementation_surfaces": ["greeting.txt"]
  }]},
  "select": "kind"
}"#,
    )
}

/// Accepts the slice.
pub fn accept() -> String {
    reground(
        "C-kind",
        ("accepted", "kind"),
        "none",
        r#"{
  "reconcile": {"slice_id": "kind", "decision": "accepted"},
  "evidence": [{"criterion": "the greeting says please", "anchor": "greeting.txt:1", "basis": "observed"}]
}"#,
    )
}

/// Ends the work.
pub fn conclude() -> String {
    reground(
        "none",
        ("none", "none"),
        "none",
        r#"{"conclude": {"decision": "stop"}}"#,
    )
}

/// Says that the log's plan stands: the answer to an edit outside cook.
pub fn confirm(remaining: &str, selected: &str) -> String {
    reground(remaining, ("none", "none"), selected, "{}")
}

fn reground(
    remaining: &str,
    (decision, slice): (&str, &str),
    selected: &str,
    block: &str,
) -> String {
    format!(
        "MISSION ANCHOR: {MISSION}
Remaining contract IDs: {remaining}
Canonical re-ground applied (yes/no): yes
Acceptance criteria revalidated (yes/no): yes
Tracked and unignored worktree is clean (yes/no): yes
Reopened slices: none
Reconciliation decision (accepted/reopened/none): {decision}
Reconciled slice ID: {slice}
Current selected slice: {selected}
Next role to invoke: as dispatched
Exact handoff payload: none
Canonical blockers or deviations: none

```json
{block}
```
"
    )
}

/// The implementer's.
pub fn report_implemented(commit: &str) -> String {
    format!(
        "MISSION ANCHOR: {MISSION}
Remaining contract IDs before slice: C-kind
Slice ID: kind
Slice goal: say please
Contract IDs closed or advanced: C-kind
Files changed: greeting.txt
Tests added or strengthened: none
Verification commands run: none
Verification results: read by eye
Commit SHA: {commit}
What release gap this closed: the greeting was curt
Plan adjustment required (yes/no): no
Residual risks discovered: none
Remaining contract IDs after slice: none
"
    )
}

/// The reviewer's yes.
pub fn report_reviewed() -> String {
    format!(
        "MISSION ANCHOR: {MISSION}
Remaining contract IDs: C-kind
{RUBRIC}Findings: none
Acceptable as-is (yes/no): yes
Smallest follow-up slice: none
"
    )
}

/// The auditor's.
pub fn report_audited() -> String {
    format!(
        "MISSION ANCHOR: {MISSION}
Remaining contract IDs: C-kind
{RUBRIC}Why the project is still not done: the slice is not reconciled yet
Open top-level contract IDs: none
Blocker count: 0
High-value gap count: 0
Tracked and unignored worktree is clean (yes/no): yes
Worktree blockers: none
Next mandatory slice: none
Stale or conflicting canonical state (yes/no): no
Plan truthfully captures remaining slice backlog (yes/no): yes
"
    )
}

/// A judge's yes. `judge` makes the text a different one for each.
pub fn report_judged(commit: &str, judge: u32) -> String {
    format!(
        "MISSION ANCHOR: {MISSION}
Remaining contract IDs: none
{RUBRIC}Can the project stop now (yes/no): yes
Exact remaining open top-level contract IDs: none
Blocker count: 0
High-value gap count: 0
Latest completed slice commit: {commit}
Docs/config/runbooks match shipped behavior (yes/no): yes
Tracked and unignored worktree is clean (yes/no): yes
Brief justification: judge {judge} read the greeting
"
    )
}
