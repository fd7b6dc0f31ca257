//! One story that most tests of commands begin in: two slices, `b` waits for `a`, one gate; and the
//! report of each role in it.

use super::{Repo, Run};
use serde_json::{Value, json};

/// First line of every mission here.
pub const MISSION: &str = "Ship the tool";
/// The gate of both slices.
pub const GATE: &str = "bash test.sh";

impl Repo {
    /// One commit with the gate's script.
    pub fn with_script() -> Self {
        Self::stage("born", || {
            let repo = Self::unborn();
            repo.write("test.sh", "cat results 2>/dev/null; test ! -e red\n");
            repo.write("README.md", "# tool\n\nA tool.\n");
            repo.commit("begin", None);
            repo
        })
    }

    /// After `cook init --commit`.
    pub fn set_up() -> Self {
        Self::stage("set_up", || {
            let repo = Self::with_script();
            repo.init_strictly(MISSION).exits(0);
            repo
        })
    }

    /// Two slices planned, the gate trusted, `a` selected.
    pub fn with_selection() -> Self {
        Self::stage("selected", || {
            let repo = Self::set_up();
            repo.select_a();
            repo
        })
    }

    /// Plans both slices, trusts their gate and selects `a`.
    pub fn select_a(&self) {
        self.cook(&["trust", GATE, "--as-user"]).exits(0);
        let block = json!({"plan": plan(), "select": "a"});
        self.record("regrounder", self.reground("none", "none", "a", &block))
            .exits(0);
    }

    /// `a` is implemented and its gate green.
    pub fn with_commit() -> Self {
        Self::stage("committed", || {
            let repo = Self::with_selection();
            repo.implement_a();
            repo
        })
    }

    /// Review (yes) and audit of `a` are in.
    pub fn with_review() -> Self {
        Self::stage("reviewed", || {
            let repo = Self::with_commit();
            repo.look_at_a();
            repo
        })
    }

    /// `a` is done, `b` cancelled, and judges are due.
    pub fn wave() -> Self {
        Self::stage("wave", || {
            let repo = Self::with_review();
            repo.leave_judges();
            repo
        })
    }

    /// A review (yes) and an audit of `a`.
    pub fn look_at_a(&self) {
        self.record("reviewer", self.review(true)).exits(0);
        self.record("auditor", self.audit("b")).exits(0);
    }

    /// Accepts `a` and cancels `b`: judges are due.
    pub fn leave_judges(&self) {
        let mut plan = plan();
        plan["candidate_slices"][1]["status"] = json!("cancelled");
        plan["candidate_slices"][1]["reason"] = json!("the mission does not need it");
        let block = json!({
            "reconcile": {"slice_id": "a", "decision": "accepted"},
            "evidence": evidence_a(),
            "plan": plan,
            "answers": [{"no": self.audit_id(), "reason": "the mission does not need b"}],
        });
        self.record("regrounder", self.reground("accepted", "a", "none", &block))
            .exits(0);
        assert_eq!(self.rule(), "8");
    }

    /// Every judge says yes.
    pub fn judges_say_yes(&self) {
        for judge in 0..3 {
            let session = format!("judge-{judge}");
            self.record_with(&["stop-judge", "--session", &session], self.judge(true))
                .exits(0);
        }
        assert_eq!(self.rule(), "9");
    }

    /// The regrounder concludes that the project is done.
    pub fn conclude_done(&self) -> Run {
        let block = json!({"conclude": {"decision": "stop"}});
        self.record("regrounder", self.reground("none", "none", "none", &block))
    }

    /// The id under which the audit that was just taken is answered.
    pub fn audit_id(&self) -> String {
        format!("audit-{}", self.document("state.json")["revision"])
    }

    /// The project is done.
    pub fn with_done() -> Self {
        Self::stage("done", || {
            let repo = Self::wave();
            repo.judges_say_yes();
            repo.conclude_done().exits(0);
            repo
        })
    }

    /// The implementer's work on `a` and its report.
    pub fn implement_a(&self) {
        self.write("results", "ok 1 - one\nok 2 - two\n");
        self.write("a.txt", "one\ntwo\n");
        let sha = self.commit("do a", Some("a"));
        self.record("implementer", self.implementation("a", &sha))
            .exits(0);
    }

    fn ids(&self) -> String {
        let text = std::fs::read_to_string(self.root.join(".agent/state.json")).unwrap_or_default();
        let state: Value = serde_json::from_str(&text).unwrap_or_default();
        let ids: Vec<&str> = state["unsatisfied_contract_ids"]
            .as_array()
            .map(|ids| ids.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        if ids.is_empty() {
            "none".to_owned()
        } else {
            ids.join(", ")
        }
    }

    /// A regrounder's report around a block.
    pub fn reground(&self, decision: &str, slice: &str, selected: &str, block: &Value) -> String {
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\nCanonical re-ground applied: yes\n\
             Acceptance criteria revalidated: yes\nTracked and unignored worktree is clean: {}\n\
             Reopened slices: none\nReconciliation decision: {decision}\nReconciled slice ID: {slice}\n\
             Current selected slice: {selected}\nNext role to invoke: whoever is due\n\
             Exact handoff payload: none\nCanonical blockers or deviations: none\n\n```json\n{block}\n```\n",
            self.ids(),
            self.worktree_is_clean(),
        )
    }

    /// An implementer's report of a commit.
    pub fn implementation(&self, slice: &str, sha: &str) -> String {
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs before slice: {}\nSlice ID: {slice}\n\
             Slice goal: do {slice}\nContract IDs closed or advanced: C-{slice}\nFiles changed: results\n\
             Tests added or strengthened: none\nVerification commands run: {GATE}\n\
             Verification results: green\nCommit SHA: {sha}\nWhat release gap this closed: none\n\
             Plan adjustment required: no\nResidual risks discovered: none\n\
             Remaining contract IDs after slice: none\n",
            self.ids(),
        )
    }

    /// A reviewer's report.
    pub fn review(&self, acceptable: bool) -> String {
        let (yes, follow, verdict) = match acceptable {
            true => ("yes", "none", "pass"),
            false => ("no", "mend two", "fail"),
        };
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\n{}Findings: two is odd\n\
             Acceptable as-is: {yes}\nSmallest follow-up slice: {follow}\n",
            self.ids(),
            rubric(verdict),
        )
    }

    /// An auditor's report that names what comes next, `none` when nothing does.
    pub fn audit(&self, next: &str) -> String {
        let open = if next == "none" { "none" } else { "C-b" };
        let clean = self.worktree_is_clean();
        let blockers = if clean == "yes" {
            "none"
        } else {
            "a dirty file"
        };
        let why = match next {
            "none" => "none",
            _ => "see the ids",
        };
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\n{}\
             Why the project is still not done: {why}\nOpen top-level contract IDs: {open}\n\
             Blocker count: 0\nHigh-value gap count: 0\n\
             Tracked and unignored worktree is clean: {clean}\nWorktree blockers: {blockers}\n\
             Next mandatory slice: {next}\nStale or conflicting canonical state: no\n\
             Plan truthfully captures remaining slice backlog: yes\n",
            self.ids(),
            rubric("pass"),
        )
    }

    /// A judge's report.
    pub fn judge(&self, can_stop: bool) -> String {
        let (yes, ids, count, verdict) = match can_stop {
            true => ("yes", "none", 0, "pass"),
            false => ("no", "C-x", 1, "fail"),
        };
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\n{}Can the project stop now: {yes}\n\
             Exact remaining open top-level contract IDs: {ids}\nBlocker count: {count}\n\
             High-value gap count: 0\nLatest completed slice commit: none\n\
             Docs/config/runbooks match shipped behavior: yes\n\
             Tracked and unignored worktree is clean: {}\nBrief justification: as measured\n",
            self.ids(),
            rubric(verdict),
            self.worktree_is_clean(),
        )
    }
}

/// The four lines with one verdict.
pub fn rubric(verdict: &str) -> String {
    let dimensions = [
        "Contract coverage",
        "Correctness risk",
        "Verification evidence",
        "Docs/state parity",
    ];
    let lines: String = dimensions
        .iter()
        .map(|dimension| format!("- {dimension}: {verdict} - looked\n"))
        .collect();
    format!("Rubric:\n{lines}")
}

/// Two slices; `b` waits for `a`.
pub fn plan() -> Value {
    json!({"plan_basis": "the README", "candidate_slices": [
        {"slice_id": "a", "goal": "do a", "priority": 5, "contract_ids": ["C-a"],
         "acceptance_criteria": ["prints one", "prints two"], "why_now": "b needs it",
         "implementation_surfaces": ["a.txt", "results"], "verification_commands": [GATE]},
        {"slice_id": "b", "goal": "do b", "priority": 5, "contract_ids": ["C-b"],
         "acceptance_criteria": ["prints three"], "why_now": "the rest", "blocked_on": ["a"],
         "implementation_surfaces": ["b.txt", "results"], "verification_commands": [GATE]},
    ]})
}

/// Proof of both criteria of `a`.
pub fn evidence_a() -> Value {
    json!([
        {"criterion": "prints one", "anchor": "test:one", "basis": "test"},
        {"criterion": "prints two", "anchor": "test:two", "basis": "test"},
    ])
}
