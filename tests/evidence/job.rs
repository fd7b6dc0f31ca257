//! A small job: a library of functions in shell, with one test file for each, and slices that add to it.

use crate::support::{Repo, Run};
use serde_json::{Value, json};

/// Runs each file of tests, and prints TAP.
const RUN: &str = "#!/bin/sh\nn=0\nfor file in tests/*.sh tests/*/*.sh; do\n  [ -e \"$file\" ] || continue\n  n=$((n + 1))\n  name=$(basename \"$file\" .sh)\n  if sh \"$file\"; then echo \"ok $n - $name\"; else echo \"not ok $n - $name\"; bad=1; fi\ndone\necho \"1..$n\"\nexit \"${bad:-0}\"\n";
/// What is there before any slice.
pub const LIBRARY: &str = "add() {\n  echo $(($1 + $2))\n}\n";
/// What slice `a` adds.
pub const OWN: &str = "double() {\n  echo $(($1 * 2))\n}\n";
/// A test that asks for it.
pub const TEST: &str = ". ./lib.sh\n[ \"$(double 4)\" = 8 ]\n";

pub const CRITERION: &str = "it doubles";

pub struct Job {
    pub repo: Repo,
}

fn plan_slice(id: &str, criteria: &[&str]) -> Value {
    json!({
        "slice_id": id,
        "goal": format!("make {id} work"),
        "acceptance_criteria": criteria,
        "contract_ids": [format!("C-{id}")],
        "priority": 5,
        "why_now": "it is first in order",
        "implementation_surfaces": [],
    })
}

/// A claim for slice `a`.
pub fn claim(criterion: &str, anchor: &str) -> Value {
    json!({"slice_id": "a", "criterion": criterion, "anchor": anchor})
}

impl Job {
    /// Slices `a`, which is selected, and `b`, under a gate that runs the tests.
    pub fn begin(criteria: &[&str]) -> Self {
        let repo = Repo::new();
        repo.write("lib.sh", LIBRARY);
        repo.write(
            "notes.md",
            "# Notes\n\n## Use\n\nSource it.\n\n## End\n\nThat is all.\n",
        );
        repo.write("tests/add.sh", ". ./lib.sh\n[ \"$(add 1 2)\" = 3 ]\n");
        repo.write("run.sh", RUN);
        repo.write(".gitignore", "*.log\n");
        repo.commit("The library", None);
        repo.write(
            ".agent/cook.toml",
            "[gates.test]\nrun = \"sh run.sh\"\ntimeout = \"20s\"\n",
        );
        repo.init_strictly("Extend the library").ok();
        repo.trust("--gates");
        let slices = [plan_slice("a", criteria), plan_slice("b", &["b works"])];
        let block = json!({"plan": crate::support::reports::plan(&slices), "select": "a"});
        repo.hand_in_reground(&block);
        Self { repo }
    }

    /// Writes `double` and its test for slice `a`, in one commit.
    pub fn build(&self) -> String {
        self.repo.write("lib.sh", format!("{LIBRARY}{OWN}"));
        self.repo.write("tests/double.sh", TEST);
        self.repo.commit("Double", Some("a"))
    }

    /// `a` is accepted with this proof; nothing is selected.
    #[track_caller]
    pub fn finish_by(anchor: &str) -> Self {
        let job = Self::begin(&[CRITERION]);
        job.build();
        job.judge();
        job.accept(&[claim(CRITERION, anchor)]).ok();
        assert_eq!(job.status("a"), "done");
        job
    }

    /// The commit at HEAD is reported, reviewed and audited.
    #[track_caller]
    pub fn judge(&self) {
        let repo = &self.repo;
        self.repo
            .record("implementer", repo.implementer_report(None))
            .ok();
        self.look();
    }

    /// The reported commit is reviewed and audited.
    #[track_caller]
    pub fn look(&self) {
        let repo = &self.repo;
        let session = format!("at-{}", repo.document("state.json")["revision"]);
        repo.record_with(
            &["reviewer", "--session", &session],
            repo.reviewer_report(None),
        )
        .ok();
        repo.record_with(&["auditor", "--session", &session], repo.auditor_report())
            .ok();
    }

    pub fn accept(&self, evidence: &[Value]) -> Run {
        let id = self.repo.document("active-slice.json")["slice_id"].clone();
        self.reground(json!({
            "reconcile": {"slice_id": id, "decision": "accepted"},
            "evidence": evidence,
        }))
    }

    pub fn reground(&self, block: Value) -> Run {
        let report = self.repo.regrounder_report(&block);
        self.repo.record("regrounder", report)
    }

    pub fn select_b(&self) -> Run {
        self.reground(json!({"select": "b"}))
    }

    /// `b` is selected and built with this file; it waits to be accepted.
    #[track_caller]
    pub fn build_b(&self, path: &str, text: &str) {
        self.select_b().ok();
        self.repo.write_commit_for("b", path, text);
        self.judge();
    }

    /// `b` is accepted, with these claims for `a` beside its own.
    pub fn accept_b(&self, anchor: &str, more: &[Value]) -> Run {
        let own = json!({"slice_id": "b", "criterion": "b works", "anchor": anchor});
        let evidence: Vec<Value> = more.iter().cloned().chain([own]).collect();
        self.accept(&evidence)
    }

    fn slice(&self, id: &str) -> Value {
        let plan = self.repo.document("plan.json");
        let slices = plan["candidate_slices"].as_array().unwrap().clone();
        let mut named = slices.into_iter().filter(|entry| entry["slice_id"] == id);
        named.next().unwrap()
    }

    pub fn status(&self, id: &str) -> String {
        self.slice(id)["status"].as_str().unwrap().to_owned()
    }

    /// The record of a slice's first criterion.
    pub fn record(&self, id: &str) -> Value {
        self.slice(id)["evidence"][0].clone()
    }

    /// Commits a file for nobody.
    pub fn foreign(&self, path: &str, text: &str) -> String {
        self.repo.write(path, text);
        self.repo.commit("Somebody else's", None)
    }

    pub fn git(&self, words: &[&str]) -> String {
        self.repo.git(words)
    }

    /// The proof holds: the next slice is selected, and `a` stays done.
    #[track_caller]
    pub fn holds(&self) {
        self.select_b().ok();
        assert_eq!(self.status("a"), "done");
        assert_eq!(self.status("b"), "selected");
    }

    /// The proof is broken: any report opens `a` again, here one that asks the user.
    #[track_caller]
    pub fn is_reopened(&self) -> Run {
        let block = json!({"policy": {"to": "await_user_input", "question": "is this wanted?"}});
        let run = self.reground(block).ok();
        assert_eq!(self.status("a"), "planned", "{run:?}");
        run
    }
}
