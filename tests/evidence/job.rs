//! A small job: a library of twenty lines, and slices that change some of them.

use crate::support::reports::plan;
use crate::support::{Repo, Run};
use serde_json::{Value, json};

/// The text before any slice.
pub fn library() -> Vec<String> {
    (1..=20)
        .map(|number| format!("line {number} of the library"))
        .collect()
}

/// With some lines replaced, from 1; one text may be several lines, or none at all.
pub fn with(lines: &[String], changes: &[(usize, &str)]) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        match changes.iter().find(|(number, _)| *number == at + 1) {
            Some((_, "")) => {}
            Some((_, change)) => text.push_str(&format!("{change}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

/// What slice `a` makes of the library.
pub const OWN: [(usize, &str); 2] = [
    (5, "the first line of slice a"),
    (15, "the second line of slice a"),
];

fn slice(id: &str, criteria: &[&str]) -> Value {
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

/// Proof of a criterion.
pub fn proof(slice: &str, criterion: &str, anchor: &str, basis: &str) -> Value {
    json!({"slice_id": slice, "criterion": criterion, "anchor": anchor, "basis": basis})
}

/// The slices of the plan as a re-ground states them.
pub fn list_planned(repo: &Repo) -> Vec<Value> {
    let keys = [
        "slice_id",
        "goal",
        "acceptance_criteria",
        "contract_ids",
        "priority",
        "why_now",
    ];
    let plan = repo.document("plan.json");
    let slices = plan["candidate_slices"].as_array().unwrap();
    let restated = slices.iter().map(|slice| {
        let kept = keys
            .iter()
            .map(|key| ((*key).to_owned(), slice[*key].clone()));
        Value::Object(kept.collect())
    });
    restated.collect()
}

pub struct Job {
    pub repo: Repo,
}

impl Job {
    /// Slices `a` (with these criteria) and `b`; `a` is selected.
    pub fn begin(criteria: &[&str]) -> Self {
        Self::begin_with(criteria, &[])
    }

    /// The same with more files beside the library.
    pub fn begin_with(criteria: &[&str], files: &[(&str, &str)]) -> Self {
        let repo = Repo::new();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.write("lib.txt", with(&library(), &[]));
        repo.write("drop.txt", "this file is to go\nand this line as well\n");
        repo.write(
            "README.md",
            "# A project\n\n## Use\n\nRead it.\n\n## End\n\nThat is all.\n",
        );
        repo.commit("The library", None);
        repo.cook(&["init", "--mission", "Extend the library", "--commit"])
            .ok();
        let slices = [slice("a", criteria), slice("b", &["b works"])];
        let block = json!({"plan": plan(&slices), "select": "a"});
        repo.hand_in_reground(&block);
        Self { repo }
    }

    /// `a` is accepted with its first line as proof; nothing is selected.
    pub fn with_done() -> Self {
        let job = Self::begin(&["a works"]);
        job.write_own("a");
        job.judge();
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
            .ok();
        job
    }

    pub fn write_own(&self, slice: &str) -> String {
        self.repo
            .write_commit_for(slice, "lib.txt", &with(&library(), &OWN))
    }

    /// The commit at HEAD is reported, reviewed and audited.
    #[track_caller]
    pub fn judge(&self) {
        self.report().ok();
        let repo = &self.repo;
        let session = format!("at-{}", repo.document("state.json")["revision"]);
        let record = |role: &str, report: String| {
            repo.record_with(&[role, "--session", &session], report)
                .ok();
        };
        record("reviewer", repo.reviewer_report(None));
        record("auditor", repo.auditor_report());
    }

    /// A report that was taken is reviewed and audited at HEAD.
    #[track_caller]
    pub fn judge_rest(&self) {
        for report in [self.repo.reviewer_report(None), self.repo.auditor_report()] {
            let due = self.repo.due();
            let ticket = due["ticket"].as_str().unwrap().to_owned();
            let role = due["role"].as_str().unwrap().to_owned();
            let role = role.trim_start_matches("completion-");
            let words = [role, "--session", "looks", "--ticket", &ticket];
            self.repo.record_with(&words, report).ok();
        }
    }

    /// The committed slice goes back.
    #[track_caller]
    pub fn accept_nothing(&self) {
        let id = self.repo.document("active-slice.json")["slice_id"].clone();
        let back = json!({"slice_id": id, "decision": "reopened", "findings": ["look again"]});
        self.reground(json!({"reconcile": back})).ok();
    }

    pub fn report(&self) -> Run {
        let report = self.repo.implementer_report(None);
        self.repo.record("implementer", report)
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

    /// `a` goes back, and is planned and selected anew with this gate.
    pub fn plan_anew(&self, gate: &str) {
        self.repo.trust(gate);
        let report = self.repo.implementer_report(Some("a command is missing"));
        self.repo.record("implementer", report).ok();
        let mut slices = list_planned(&self.repo);
        slices[0]["verification_commands"] = json!([gate]);
        let plan = json!({"plan_basis": "x", "candidate_slices": slices});
        self.reground(json!({"plan": plan, "select": "a"})).ok();
    }

    pub fn select_b(&self) -> Run {
        self.reground(json!({"select": "b"}))
    }

    pub fn select(&self, slice: &str) {
        self.reground(json!({"select": slice})).ok();
    }

    pub fn status(&self, slice: &str) -> String {
        let plan = self.repo.document("plan.json");
        let slices = plan["candidate_slices"].as_array().unwrap().clone();
        let mut named = slices.iter().filter(|entry| entry["slice_id"] == slice);
        named.next().unwrap()["status"].as_str().unwrap().to_owned()
    }

    /// The anchor of the slice's first criterion as the plan has it now.
    pub fn anchor(&self, slice: &str) -> String {
        let plan = self.repo.document("plan.json");
        let slices = plan["candidate_slices"].as_array().unwrap().clone();
        let mut named = slices.iter().filter(|entry| entry["slice_id"] == slice);
        let evidence = named.next().unwrap()["evidence"][0].clone();
        evidence["anchor"].as_str().unwrap().to_owned()
    }

    /// Writes the library and commits it for nobody.
    pub fn foreign(&self, changes: &[(usize, &str)]) -> String {
        self.repo.write("lib.txt", with(&library(), changes));
        self.repo.commit("Somebody else's", None)
    }

    pub fn git(&self, words: &[&str]) -> String {
        self.repo.git(words)
    }

    /// The work stands: the next slice is selected, and `a` stays done.
    #[track_caller]
    pub fn stands(&self) -> Run {
        let run = self.select_b().ok();
        assert_eq!(self.status("a"), "done");
        run
    }

    /// The work is gone: any report opens `a` again, here one that asks the user.
    #[track_caller]
    pub fn is_reopened(&self) {
        let before = self.repo.fingerprint();
        // A slice that waits for nothing may be selected all the same, and `a` is open beside it.
        let block = json!({"policy": {"to": "await_user_input", "question": "is this wanted?"}});
        self.reground(block).ok();
        assert_ne!(self.repo.fingerprint(), before);
        assert_eq!(self.status("a"), "planned");
    }

    /// Rewritten: neither a selection nor silence goes on, and a question is taken.
    #[track_caller]
    pub fn must_answer(&self, code: &str) -> Run {
        let run = self.select_b().exits(4).says(code);
        assert_eq!(self.status("a"), "done");
        run
    }
}
