//! Rows 14 and 16: proof by tests, and criteria that were dropped with proof.

use crate::job::{Job, list_planned, proof};
use serde_json::json;

const GATE: &str = "sh check.sh";
const TESTS: &str =
    "fn adds() {\n    one plus one is two\n    two plus two is four\n}\n\nfn other() {\n    x\n}\n";

impl Job {
    /// `a` is done: its test `adds` passes in a gate that names every test of `tests.txt`, where
    /// `other` was before.
    fn with_tests() -> Self {
        Self::with_tests_beside("fn other() {\n    x\n}\n")
    }

    /// The same, where these tests were before.
    fn with_tests_beside(before: &str) -> Self {
        let gate = "sed -n 's/^fn \\([a-z_]*\\).*/test \\1 ... ok/p' *.txt\n";
        let files = [("tests.txt", before), ("check.sh", gate)];
        let job = Self::begin_with(&["it adds"], &files);
        job.plan_anew(GATE);
        job.repo.write_commit_for("a", "tests.txt", TESTS);
        job.judge();
        job.accept(&[proof("a", "it adds", "test:adds", "test")])
            .ok();
        job
    }

    /// Somebody commits this, and the gate ran there.
    fn commit_change(&self, changes: &[(&str, &str)]) {
        for (path, text) in changes {
            self.repo.write(path, text);
        }
        self.repo.commit("Somebody else's", None);
        self.repo
            .cook(&["gate", "--slice", "a", "--clean", "--fresh"])
            .ok();
    }
}

#[test]
fn a_test_under_another_name_is_known_by_its_body() {
    let job = Job::with_tests();
    job.commit_change(&[("tests.txt", &TESTS.replace("adds", "sums_up"))]);
    job.stands();
    assert_eq!(job.anchor("a"), "test:sums_up");

    // In another file, or formatted, it is the same.
    let job = Job::with_tests();
    job.commit_change(&[("tests.txt", &TESTS.replace("    ", "\t"))]);
    job.stands();
    let job = Job::with_tests();
    let (adds, other) = TESTS.split_at(TESTS.find("fn other").unwrap());
    job.commit_change(&[("more.txt", adds), ("tests.txt", other)]);
    job.stands();
    assert_eq!(job.anchor("a"), "test:adds");

    // Given anew where it is now, it is held to that.
    let before = TESTS.replace("    two plus two is four\n", "");
    let job = Job::with_tests_beside(&before.replace("adds", "summing"));
    job.commit_change(&[("more.txt", adds), ("tests.txt", other)]);
    let again = json!([proof("a", "it adds", "test:adds", "test")]);
    let asks = json!({"to": "await_user_input", "question": "is it there now?"});
    job.reground(json!({"evidence": again, "policy": asks}))
        .ok();
    job.repo.cook(&["answer", "yes", "--as-user"]).ok();
    job.commit_change(&[("more.txt", &adds.replace("is two", "is fine"))]);
    job.must_answer("evidence_changed");
}

#[test]
fn a_test_that_says_something_else_is_answered() {
    let gutted = TESTS.replace("two plus two is four", "anything is fine");
    let job = Job::with_tests();
    job.commit_change(&[("tests.txt", &gutted)]);
    job.must_answer("evidence_changed");
    for wrong in ["test:other", "cmd:sh check.sh#test other ... ok"] {
        let basis = if wrong.starts_with("test") {
            "test"
        } else {
            "output"
        };
        job.reground(json!({"select": "b", "evidence": [proof("a", "it adds", wrong, basis)]}))
            .exits(4)
            .says("evidence_unrelated");
    }
    job.reground(json!({"select": "b", "evidence": [proof("a", "it adds", "test:adds", "test")]}))
        .ok();
    assert_eq!(job.status("a"), "done");
}

#[test]
fn a_test_that_is_gone_reopens_its_slice_whatever_else_is_green() {
    let gone = "fn other() {\n    x\n}\n\nfn third() {\n    y\n}\n";
    let job = Job::with_tests();
    job.commit_change(&[("tests.txt", gone)]);
    job.reground(json!({"select": "b", "evidence": [proof("a", "it adds", "test:third", "test")]}))
        .exits(4)
        .says("evidence_unrelated");
    job.is_reopened();
}

#[test]
fn a_text_is_not_replaced_by_a_run() {
    let job = Job::begin(&["a works"]);
    job.plan_anew(GATE);
    job.repo.write("check.sh", "echo fine\n");
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    job.foreign(&[(5, "somebody wrote this in its place"), crate::job::OWN[1]]);
    job.commit_change(&[]);
    job.must_answer("evidence_changed");
    let run = proof("a", "a works", "cmd:sh check.sh#exit", "output");
    job.reground(json!({"select": "b", "evidence": [run]}))
        .exits(4)
        .says("evidence_unrelated");
}

/// Row 16.
#[test]
fn a_dropped_criterion_is_held_to_its_proof_to_the_end() {
    let drop_second = |job: &Job| {
        let mut slices = list_planned(&job.repo);
        slices[0]["acceptance_criteria"] = json!(["a works"]);
        json!({"plan_basis": "x", "candidate_slices": slices})
    };
    let told = |anchor: &str| json!([proof("a", "it reads well", anchor, "observed")]);
    let job = Job::begin(&["a works", "it reads well"]);
    let report = job
        .repo
        .implementer_report(Some("the second holds already"));
    job.repo.record("implementer", report).ok();
    let plan = drop_second(&job);
    // Without proof it stays, and so does the last one.
    job.reground(json!({"plan": plan, "select": "a"}))
        .exits(4)
        .says("criteria_weakened");
    job.reground(json!({"plan": plan, "select": "a", "evidence": told("lib.txt:90")}))
        .exits(4)
        .says("evidence_unverified");
    let mut none = plan.clone();
    none["candidate_slices"][0]["acceptance_criteria"] = json!([]);
    job.reground(json!({"plan": none, "select": "a", "evidence": told("lib.txt:3")}))
        .exits(4);
    job.reground(json!({"plan": plan, "select": "a", "evidence": told("lib.txt:3")}))
        .ok()
        .says("criterion_dropped");
    job.write_own("a");
    job.report().ok();
    let brief = job.repo.cook(&["next", "--prompt"]).ok().out;
    assert!(brief.contains("it reads well"), "{brief}");
    let repo = &job.repo;
    for (role, report) in [
        ("reviewer", repo.reviewer_report(None)),
        ("auditor", repo.auditor_report()),
    ] {
        repo.record_with(&[role, "--session", "judges"], report)
            .ok();
    }
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    // Its proof is gone: the slice is open again.
    let own = crate::job::OWN;
    job.foreign(&[own[0], own[1], (3, "")]);
    job.is_reopened();
}

#[test]
fn what_is_committed_keeps_its_criteria() {
    let job = Job::begin(&["a works", "it reads well"]);
    job.write_own("a");
    job.judge();
    let mut slices = list_planned(&job.repo);
    slices[0]["acceptance_criteria"] = json!(["a works"]);
    job.reground(json!({
        "reconcile": {"slice_id": "a", "decision": "accepted"},
        "plan": {"plan_basis": "x", "candidate_slices": slices},
        "evidence": [
            proof("a", "a works", "lib.txt:5", "observed"),
            proof("a", "it reads well", "lib.txt:3", "observed"),
        ],
    }))
    .exits(4);
    assert_eq!(job.status("a"), "in_progress");
}
