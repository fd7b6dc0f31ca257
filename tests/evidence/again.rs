//! Proof that is given anew: it takes the place of what was rewritten, and of nothing that is lost.

use crate::job::{Job, OWN, list_planned, proof};
use serde_json::{Value, json};

pub const GATE: &str = "sh check.sh";

impl Job {
    /// `a` is done, proved by this line of a gate that prints `feature works`.
    fn with_printed(anchor: &str) -> Self {
        let job = Self::begin_with(&["a works"], &[("check.sh", "true\n")]);
        job.plan_anew(GATE);
        job.repo.write(
            "check.sh",
            "echo feature works\necho 'test it_runs ... ok'\n",
        );
        job.write_own("a");
        job.judge();
        let basis = if anchor.starts_with("test") {
            "test"
        } else {
            "output"
        };
        job.accept(&[proof("a", "a works", anchor, basis)]).ok();
        job
    }

    fn gate_says(&self, text: &str) {
        self.repo.write("check.sh", text);
        self.repo.commit("Somebody changes the gate", None);
    }

    /// `b` is selected and this claimed.
    fn claim(&self, anchor: &str, basis: &str) -> crate::support::Run {
        let evidence: Value = json!([proof("a", "a works", anchor, basis)]);
        self.reground(json!({"select": "b", "evidence": evidence}))
    }
}

/// Rows 8 and 11: what is lost reopens the slice with any report, one that claims other proof too.
#[test]
fn proof_that_is_lost_is_not_replaced_by_other_work_of_the_slice() {
    let job = Job::begin(&["a works", "the file is gone"]);
    job.git(&["rm", "-q", "drop.txt"]);
    job.write_own("a");
    job.judge();
    let lost = |anchor: &str| proof("a", "the file is gone", anchor, "observed");
    job.accept(&[
        proof("a", "a works", "lib.txt:5", "observed"),
        lost("gone:drop.txt"),
    ])
    .ok();
    job.git(&["checkout", "-q", "HEAD~1", "--", "drop.txt"]);
    job.repo.commit("Somebody puts the file back", None);
    job.reground(json!({"select": "b", "evidence": [lost("lib.txt:15")]}))
        .ok()
        .says("criterion_lost_proof");
    assert_eq!(job.status("a"), "planned");

    let job = Job::with_done();
    job.foreign(&[OWN[1]]);
    job.claim("lib.txt:15", "observed").ok();
    assert_eq!(job.status("a"), "planned");
}

/// Row 15: a run that says it no longer is red, whatever else its gate prints.
#[test]
fn a_line_that_is_no_longer_printed_reopens_whatever_else_is_green() {
    let job = Job::with_printed("cmd:sh check.sh#feature works");
    job.gate_says("echo anything else\n");
    for again in ["cmd:sh check.sh#exit", "cmd:sh check.sh#anything else"] {
        job.claim(again, "output")
            .exits(4)
            .says("evidence_unrelated");
    }
    job.is_reopened();
}

/// Row 14: a run that proves a done slice is not replaced by one that says less.
#[test]
fn a_run_is_replaced_by_a_test_of_the_slice_alone() {
    for (stored, again) in [
        ("test:it_runs", "cmd:sh check.sh#exit"),
        ("cmd:sh check.sh#feature works", "cmd:sh check.sh#exit"),
        (
            "cmd:sh check.sh#test it_runs ... ok",
            "cmd:sh check.sh#exit",
        ),
        ("cmd:sh check.sh#feature works", "lib.txt:5"),
    ] {
        let job = Job::with_printed(stored);
        let basis = if again.starts_with("cmd") {
            "output"
        } else {
            "observed"
        };
        job.claim(again, basis).exits(4).says("evidence_unrelated");
        assert_eq!(job.status("a"), "done");
        // The same once more does no harm.
        let basis = if stored.starts_with("test") {
            "test"
        } else {
            "output"
        };
        job.claim(stored, basis).ok();
        assert_eq!(job.status("a"), "done", "{stored}");
    }
}

/// Row 14, of a test that was there before and that the slice's work made pass.
#[test]
fn a_test_that_the_slice_did_not_write_is_held_to_its_body_too() {
    let tests = "fn adds() {\n    one plus one is two\n}\n";
    let gate = "grep -q first lib.txt && sed -n 's/^fn \\([a-z_]*\\).*/test \\1 ... ok/p' tests.txt; true\n";
    let job = Job::begin_with(&["a works"], &[("tests.txt", tests), ("check.sh", gate)]);
    job.plan_anew(GATE);
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "test:adds", "test")])
        .ok();
    job.repo
        .write("tests.txt", tests.replace("is two", "is fine"));
    job.repo.commit("Somebody guts the test", None);
    job.must_answer("evidence_changed");
    // In its own place it is the same test, as somebody wrote it anew.
    let asks = json!({"to": "await_user_input", "question": "is it there?"});
    let again = json!([proof("a", "a works", "test:adds", "test")]);
    job.reground(json!({"evidence": again, "policy": asks}))
        .ok();
    job.repo.cook(&["answer", "yes", "--as-user"]).ok();
    job.repo
        .write("tests.txt", "fn other() {\n    one plus one is two\n}\n");
    job.repo.commit("Somebody writes another", None);
    job.is_reopened();
}

/// Row 16.
#[test]
fn a_criterion_is_dropped_with_a_text_or_a_receipt_at_head() {
    let job = Job::begin(&["a works", "it reads well"]);
    let report = job
        .repo
        .implementer_report(Some("the second holds already"));
    job.repo.record("implementer", report).ok();
    let mut slices = list_planned(&job.repo);
    slices[0]["acceptance_criteria"] = json!(["a works"]);
    let plan = json!({"plan_basis": "x", "candidate_slices": slices});
    job.repo.write(
        "made.txt",
        "// Code generated by x. DO NOT EDIT.\nlet it = read();\n",
    );
    job.repo.commit("Make it", None);
    let head = format!("commit:{}", job.repo.head());
    for (anchor, basis) in [
        (&*head, "observed"),
        ("doc:README.md", "doc"),
        ("gone:never.txt", "observed"),
        ("made.txt:2", "observed"),
    ] {
        let told = json!([proof("a", "it reads well", anchor, basis)]);
        job.reground(json!({"plan": plan, "select": "a", "evidence": told}))
            .exits(4)
            .says("evidence_unrelated");
    }
    let told = json!([proof("a", "it reads well", "doc:README.md#Use", "doc")]);
    job.reground(json!({"plan": plan, "select": "a", "evidence": told}))
        .ok()
        .says("criterion_dropped");
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    // Its proof is lost: other proof of it, and less of it, does not help.
    let readme = job.repo.read("README.md");
    job.repo
        .write("README.md", readme.replace("## Use\n\nRead it.\n", ""));
    job.repo.commit("Somebody takes it away", None);
    let told = json!([proof("a", "it reads well", "lib.txt:3", "observed")]);
    job.reground(json!({"select": "b", "evidence": told})).ok();
    assert_eq!(job.status("a"), "planned");
}

/// Row 16: what is reviewed keeps its criteria, whatever else a report wants.
#[test]
fn a_committed_slice_keeps_its_criteria_while_something_is_asked() {
    let job = Job::begin(&["a works", "it reads well"]);
    job.write_own("a");
    job.judge();
    let mut slices = list_planned(&job.repo);
    slices[0]["acceptance_criteria"] = json!(["a works"]);
    job.reground(json!({
        "plan": {"plan_basis": "x", "candidate_slices": slices},
        "evidence": [proof("a", "it reads well", "lib.txt:3", "observed")],
        "policy": {"to": "await_user_input", "question": "is that wanted?"},
    }))
    .exits(4)
    .says("unreconciled_commit");
}

/// What nobody can tell any more ends no project, though every judge said yes.
#[test]
fn what_cannot_be_told_holds_up_the_end() {
    for moved in [true, false] {
        what_cannot_be_told(moved);
    }
}

fn what_cannot_be_told(moved: bool) {
    let job = Job::with_printed("cmd:sh check.sh#feature works");
    let mut slices = list_planned(&job.repo);
    slices[1]["status"] = json!("cancelled");
    slices[1]["reason"] = json!("nobody needs it");
    let plan = json!({"plan_basis": "x", "candidate_slices": slices});
    job.reground(json!({"plan": plan})).ok();
    // This machine does not trust the gate any more, so nobody can run it.
    std::fs::remove_file(job.repo.root.join(".git/cook/trust.json")).unwrap();
    job.repo.cook(&["trust", "--gates", "--as-user"]).ok();
    if moved {
        job.repo.write("other.txt", "somebody else's text\n");
        job.repo.commit("Somebody else's", None);
    }
    job.repo.cook(&["verify", "stop"]);
    let judged = ["a", "b", "c"].map(|session| {
        let due = job.repo.due();
        let ticket = due["ticket"].as_str().unwrap().to_owned();
        let words = ["stop-judge", "--session", session, "--ticket", &ticket];
        let run = job.repo.record_with(&words, job.repo.judge_report(None));
        (run.code, run.err)
    });
    assert!(judged.iter().all(|(code, _)| *code == 0), "{judged:?}");
    job.reground(json!({"conclude": {"decision": "stop"}}))
        .exits(4)
        .says("evidence_changed");
    assert_ne!(job.repo.document("state.json")["project_done"], true);
    let reopen = json!([{"slice_id": "a", "why": "its gate cannot run", "at": job.repo.head()}]);
    job.reground(json!({"conclude": {"decision": "go_on"}, "reopen": reopen}))
        .ok();
    assert_eq!(job.status("a"), "planned");
}
