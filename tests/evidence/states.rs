//! Commits of roles that may not commit, and plans that nobody can finish.

use crate::job::{Job, planned, proof};
use serde_json::json;

#[test]
fn a_commit_of_a_reader_is_named_before_its_report_is_taken() {
    let job = Job::begin(&["a works"]);
    job.write_own("a");
    job.report().ok();
    let repo = &job.repo;
    repo.write("lib.txt", "a reviewer mended this\n");
    let commit = repo.commit("Mend", None);
    repo.record("reviewer", repo.reviewer_report(None))
        .exits(4)
        .says("head_moved")
        .says(&commit[..12]);
    // The user's own commit: whoever looks at it takes a ticket for this HEAD.
    let due = repo.due();
    if due["role"] == "completion-reviewer" {
        let ticket = due["ticket"].as_str().unwrap().to_owned();
        repo.record_with(
            &["reviewer", "--ticket", &ticket],
            repo.reviewer_report(None),
        )
        .ok();
    }
}

#[test]
fn nothing_waits_for_a_cancelled_slice() {
    let job = Job::done();
    let mut slices = planned(&job.repo);
    slices[1]["status"] = json!("cancelled");
    slices[1]["reason"] = json!("nobody needs it");
    let mut c = slices[1].clone();
    c["slice_id"] = json!("c");
    c["status"] = json!("planned");
    c["blocked_on"] = json!(["b"]);
    slices.push(c);
    let plan = json!({"plan_basis": "x", "candidate_slices": slices});
    job.reground(json!({"plan": plan}))
        .exits(4)
        .says("blocked_on_cancelled");
}

#[test]
fn one_line_of_output_is_no_proof_of_two_criteria() {
    let job = Job::begin(&["one", "two"]);
    let gate = "sh check.sh";
    job.plan_anew(gate);
    job.repo
        .commit_for("a", "check.sh", "echo 'test it::works ... ok'\n");
    job.judge();
    job.accept(&[
        proof("a", "one", "test:it::works", "test"),
        proof(
            "a",
            "two",
            "cmd:sh check.sh#test it::works ... ok",
            "output",
        ),
    ])
    .exits(4)
    .says("evidence_shared");
}

#[test]
fn a_user_s_commit_of_the_contract_before_the_work_is_not_the_slice_s() {
    let job = Job::begin(&["a works"]);
    job.repo.write(".agent/README.md", "# Ours\n");
    job.repo.commit("Say what this is", None);
    // A transition: what came before it is nobody's session.
    job.repo.cook(&["pause"]).ok();
    job.repo.cook(&["resume", "--as-user"]).ok();
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}
