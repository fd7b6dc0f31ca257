//! Role reports from small inputs. What a report must echo (the mission anchor, the open
//! contract ids, the slice in work, HEAD) is read from the repository, as an agent would.

use super::Repo;
use serde_json::{Value, json};

/// A planned slice with one criterion and no gate of its own.
pub fn slice(id: &str) -> Value {
    json!({
        "slice_id": id,
        "goal": format!("make {id} work"),
        "acceptance_criteria": [format!("{id} works")],
        "contract_ids": [format!("C-{id}")],
        "priority": 5,
        "why_now": "it is first in order",
        "implementation_surfaces": [format!("{id}.txt")],
    })
}

/// The same, waiting for another slice or for something outside.
pub fn waiting_slice(id: &str, blocked_on: &str) -> Value {
    let mut slice = slice(id);
    slice["blocked_on"] = json!([blocked_on]);
    slice
}

/// The plan part of a regrounder's block.
pub fn plan(slices: &[Value]) -> Value {
    json!({"plan_basis": "the repository", "candidate_slices": slices})
}

/// Evidence of a slice's one criterion: the first line of its file.
pub fn proof(id: &str) -> Value {
    json!([{
        "slice_id": id,
        "criterion": format!("{id} works"),
        "anchor": format!("{id}.txt:1"),
        "basis": "observed",
    }])
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("none")
}

fn rubric(verdict: &str, why: &str) -> String {
    format!(
        "Rubric:\n- Contract coverage: pass - read\n- Correctness risk: {verdict} - {why}\n\
         - Verification evidence: pass - read\n- Docs/state parity: pass - read\n"
    )
}

impl Repo {
    /// A line of the prompt, after its label: what an agent reads when `.agent/` is gone.
    fn read_prompted(&self, label: &str) -> String {
        let prompt = self.cook(&["next", "--prompt"]).ok().out;
        let line = prompt.lines().find_map(|line| line.strip_prefix(label));
        line.unwrap().trim().to_owned()
    }

    fn state(&self) -> Option<Value> {
        let there = self.root.join(".agent/state.json").exists();
        there.then(|| self.document("state.json"))
    }

    fn anchor(&self) -> String {
        match self.state() {
            Some(state) => text(&state, "mission_anchor").to_owned(),
            None => self.read_prompted("MISSION ANCHOR: "),
        }
    }

    fn remaining(&self) -> String {
        let Some(state) = self.state() else {
            let line = self.read_prompted("Remaining contract IDs");
            return line.split_once(": ").unwrap().1.to_owned();
        };
        let ids: Vec<&str> = state["unsatisfied_contract_ids"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if ids.is_empty() {
            "none".to_owned()
        } else {
            ids.join(", ")
        }
    }

    fn header(&self) -> String {
        format!(
            "MISSION ANCHOR: {}\nRemaining contract IDs: {}\n",
            self.anchor(),
            self.remaining()
        )
    }

    pub(super) fn worktree_is_clean(&self) -> &'static str {
        if self
            .git(&["--no-optional-locks", "status", "--porcelain"])
            .is_empty()
        {
            "yes"
        } else {
            "no"
        }
    }

    /// A regrounder's report around its block; the fields that must agree with it do.
    pub fn regrounder_report(&self, block: &Value) -> String {
        let decision = text(&block["reconcile"], "decision");
        let reconciled = text(&block["reconcile"], "slice_id");
        format!(
            "{}Canonical re-ground applied: yes\nAcceptance criteria revalidated: yes\n\
             Tracked and unignored worktree is clean: {}\nReopened slices: none\n\
             Reconciliation decision: {decision}\nReconciled slice ID: {reconciled}\n\
             Current selected slice: {}\nNext role to invoke: as cook says\n\
             Exact handoff payload: none\nCanonical blockers or deviations: none\n\n```json\n{block}\n```\n",
            self.header(),
            self.worktree_is_clean(),
            text(block, "select"),
        )
    }

    /// An implementer's report of HEAD, or of no commit and the reason for it.
    pub fn implementer_report(&self, returned: Option<&str>) -> String {
        let active = self.document("active-slice.json");
        let (commit, adjust, risk) = match returned {
            None => (self.head(), "no", "none"),
            Some(why) => ("none".to_owned(), "yes", why),
        };
        format!(
            "MISSION ANCHOR: {}\nRemaining contract IDs before slice: {}\nSlice ID: {}\nSlice goal: {}\n\
             Contract IDs closed or advanced: none\nFiles changed: as committed\n\
             Tests added or strengthened: none\nVerification commands run: none\n\
             Verification results: as committed\nCommit SHA: {commit}\n\
             What release gap this closed: none\nPlan adjustment required: {adjust}\n\
             Residual risks discovered: {risk}\nRemaining contract IDs after slice: none\n",
            self.anchor(),
            self.remaining(),
            text(&active, "slice_id"),
            text(&active, "goal"),
        )
    }

    /// A reviewer's yes, or a no with what must be fixed.
    pub fn reviewer_report(&self, no: Option<&str>) -> String {
        let (verdict, yes, finding, follow_up) = match no {
            None => ("pass", "yes", "none", "none"),
            Some(why) => ("fail", "no", why, why),
        };
        format!(
            "{}{}Findings: {finding}\nAcceptable as-is: {yes}\nSmallest follow-up slice: {follow_up}\n",
            self.header(),
            rubric(verdict, finding),
        )
    }

    /// An auditor's report that finds nothing open.
    pub fn auditor_report(&self) -> String {
        let clean = self.worktree_is_clean();
        let blockers = if clean == "yes" {
            "none"
        } else {
            "uncommitted changes"
        };
        format!(
            "{}{}Why the project is still not done: none\nOpen top-level contract IDs: none\n\
             Blocker count: 0\nHigh-value gap count: 0\n\
             Tracked and unignored worktree is clean: {clean}\nWorktree blockers: {blockers}\n\
             Next mandatory slice: none\nStale or conflicting canonical state: no\n\
             Plan truthfully captures remaining slice backlog: yes\n",
            self.header(),
            rubric("pass", "read"),
        )
    }

    /// A judge's yes, or a no with its blocker.
    pub fn judge_report(&self, no: Option<&str>) -> String {
        let (can_stop, verdict, blockers, why) = match no {
            None => ("yes", "pass", 0, "nothing is left"),
            Some(why) => ("no", "fail", 1, why),
        };
        let latest = if self.document("state.json")["latest_completed_slice"].is_null() {
            "none".to_owned()
        } else {
            self.head()
        };
        format!(
            "{}{}Can the project stop now: {can_stop}\n\
             Exact remaining open top-level contract IDs: none\nBlocker count: {blockers}\n\
             High-value gap count: 0\nLatest completed slice commit: {latest}\n\
             Docs/config/runbooks match shipped behavior: yes\n\
             Tracked and unignored worktree is clean: {}\nBrief justification: {why}\n",
            self.header(),
            rubric(verdict, why),
            self.worktree_is_clean(),
        )
    }

    /// A re-ground that must be accepted.
    #[track_caller]
    pub fn hand_in_reground(&self, block: &Value) {
        self.record("regrounder", self.regrounder_report(block))
            .ok();
    }

    /// Plans these slices and selects the first.
    #[track_caller]
    pub fn plan_and_select(&self, slices: &[Value]) {
        self.hand_in_reground(&json!({"plan": plan(slices), "select": slices[0]["slice_id"]}));
    }

    /// Commits for the selected slice and has it implemented, reviewed and audited.
    #[track_caller]
    pub fn build_slice(&self, id: &str) {
        self.write_commit_for(id, &format!("{id}.txt"), &format!("{id} works\n"));
        self.record("implementer", self.implementer_report(None))
            .ok();
        self.record("reviewer", self.reviewer_report(None)).ok();
        self.record("auditor", self.auditor_report()).ok();
    }

    /// Accepts the slice that [`Repo::build_slice`] left.
    #[track_caller]
    pub fn accept_slice(&self, id: &str) {
        self.hand_in_reground(&json!({
            "reconcile": {"slice_id": id, "decision": "accepted"},
            "evidence": proof(id),
        }));
    }

    /// Hears three judges who say yes.
    #[track_caller]
    pub fn vote_yes(&self) {
        for judge in ["a", "b", "c"] {
            self.cook_reads(
                &["record", "stop-judge", "--session", judge],
                self.judge_report(None),
            )
            .ok();
        }
    }

    /// Concludes a unanimous wave.
    #[track_caller]
    pub fn conclude(&self) {
        self.vote_yes();
        self.hand_in_reground(&json!({"conclude": {"decision": "stop"}}));
    }
}
