//! Proof that others stand beside: of what is cancelled as there already, and of two slices at one place.

use crate::job::{Job, OWN, library, proof, with};
use serde_json::{Value, json};

/// `b` is cancelled as there already, by the third line.
fn cancel_b(job: &Job) {
    let cancel = json!([{"slice_id": "b", "reason": "it is there already"}]);
    job.reground(json!({
        "plan": {"plan_basis": "x", "cancel": cancel},
        "evidence": [make_shown("lib.txt:3")],
    }))
    .ok();
}

fn make_shown(anchor: &str) -> Value {
    proof("b", "b works", anchor, "observed")
}

fn asks() -> Value {
    json!({"to": "await_user_input", "question": "is this wanted?"})
}

/// Row 16.
#[test]
fn what_is_cancelled_as_there_already_is_held_to_its_proof_to_the_end() {
    for third in ["", "somebody wrote this in its place"] {
        let job = Job::with_done();
        cancel_b(&job);
        job.foreign(&[OWN[0], OWN[1], (3, third)]);
        // No judge is asked before it is told.
        assert_eq!(job.repo.due()["role"], "completion-regrounder");
        let waits = json!({"to": "blocked", "why": "x", "exit": "cook resume"});
        job.reground(json!({"policy": waits})).ok();
        assert_eq!(job.status("b"), "planned");
        // It may be shown again, or be built.
        job.repo.cook(&["resume", "--as-user"]).ok();
        let cancel = json!([{"slice_id": "b", "reason": "it is there in another line"}]);
        let plan = json!({"plan_basis": "x", "cancel": cancel});
        job.reground(json!({"plan": plan, "evidence": [make_shown("lib.txt:7")]}))
            .ok();
        assert_eq!(job.status("b"), "cancelled");
    }
}

/// Row 16.
#[test]
fn what_is_cancelled_as_there_already_is_shown_by_another_text_in_one_report() {
    let job = Job::with_done();
    cancel_b(&job);
    job.foreign(&[OWN[0], OWN[1], (3, "")]);
    let head = format!("commit:{}", job.repo.head());
    job.reground(json!({"evidence": [make_shown(&head)], "policy": asks()}))
        .exits(4)
        .says("evidence_unrelated");
    job.reground(json!({"evidence": [make_shown("lib.txt:7")], "policy": asks()}))
        .ok();
    assert_eq!(job.status("b"), "cancelled");
    assert_eq!(job.anchor("b"), "lib.txt:7");
}

/// Row 6: what one slice wrote in the place of another's line proves one of them.
#[test]
fn the_line_that_proves_a_slice_proves_no_other_in_the_same_report() {
    let job = Job::with_done();
    job.select("b");
    let changed = [(5, "b wrote this in its place"), OWN[1], (9, "and b this")];
    let text = with(&library(), &changed);
    job.repo.write_commit_for("b", "lib.txt", &text);
    job.judge();
    let again = proof("a", "a works", "lib.txt:5", "observed");
    job.accept(&[make_shown("lib.txt:5"), again.clone()])
        .exits(4)
        .says("evidence_shared");
    job.accept(&[make_shown("lib.txt:9"), again]).ok();
    assert_eq!(job.status("a"), "done");
    assert_eq!(job.status("b"), "done");
}

/// Row 9: the same commit, made again for another slice.
#[test]
fn what_stands_as_one_slice_left_it_proves_no_other() {
    let job = Job::with_done();
    let work = job.repo.head();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.is_reopened();
    job.repo.cook(&["answer", "yes", "--as-user"]).ok();
    job.select("b");
    job.git(&["cherry-pick", "-n", &work]);
    job.repo.commit("Pick", Some("b"));
    job.judge();
    job.accept(&[make_shown("lib.txt:5")]).ok();
    let back = json!([{"slice_id": "a", "why": "it is back", "at": job.repo.head()}]);
    job.reground(json!({"reopen": back, "select": "a"})).ok();
    // The commit is the other slice's, and the refusal says what to do.
    job.report().exits(4).says("Cook-Slice: a");
    job.git(&[
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Back\n\nCook-Slice: a",
    ]);
    job.judge();
    let works = |anchor: &str| proof("a", "a works", anchor, "observed");
    job.accept(&[works("lib.txt:5")])
        .exits(4)
        .says("evidence_shared");
    job.accept(&[works("lib.txt:15")]).ok();
}
