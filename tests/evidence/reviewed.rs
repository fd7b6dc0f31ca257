//! What is accepted is what was reviewed; what a slice found there is held like what it wrote; and a test
//! whose body nobody runs any more is not another one of its name.

use crate::again::GATE;
use crate::job::{Job, OWN, library, list_planned, proof, with};
use serde_json::json;

/// Names each test of `t/*.txt` by its file: `t.a.adds`.
const CHECK: &str = "for f in t/*.txt; do n=${f#t/}; sed -n \"s/^fn \\([a-z_]*\\).*/test t.${n%.txt}.\\1 ... ok/p\" \"$f\"; done\n";

const TEST: &str = "fn adds() {\n    one plus one must be two\n}\n";
const GUTTED: &str = "fn adds() {\n    one plus one is something\n}\n";

/// Slice `a` with a test of its own, reviewed and audited.
fn review_slice() -> Job {
    let other = "fn adds() {\n    it can be called\n}\n";
    let job = Job::begin_with(&["it adds"], &[("check.sh", CHECK), ("t/old.txt", other)]);
    job.plan_anew(GATE);
    job.repo.write("lib.txt", with(&library(), &OWN));
    job.repo.write("t/a.txt", TEST);
    job.repo.commit("Work", Some("a"));
    job.judge();
    job
}

fn by_test() -> serde_json::Value {
    proof("a", "it adds", "test:t.a.adds", "test")
}

/// Row 6.
#[test]
fn a_test_that_is_gutted_after_its_review_is_not_accepted() {
    let job = review_slice();
    job.repo.write("t/a.txt", GUTTED);
    job.repo.commit("Somebody else's", None);
    job.accept(&[by_test()])
        .exits(4)
        .says("evidence_unverified")
        .says("than at the commit that was reviewed");
    // Reopened, it is work again.
    let findings = ["the test says nothing any more"];
    let reconcile = json!({"slice_id": "a", "decision": "reopened", "findings": findings});
    job.reground(json!({"reconcile": reconcile})).ok();
    job.repo
        .write("t/a.txt", format!("{TEST}\nfn more() {{\n    x\n}}\n"));
    job.repo.commit("Work again", Some("a"));
    job.judge();
    job.accept(&[by_test()]).ok();
}

/// Row 6: what stands beside is nobody's concern.
#[test]
fn a_test_that_stands_as_it_was_reviewed_is_accepted_beside_what_others_write() {
    let job = review_slice();
    job.repo
        .write("t/a.txt", format!("fn first() {{\n    x\n}}\n\n{TEST}"));
    job.repo.commit("Somebody else's", None);
    job.accept(&[by_test()]).ok();
}

/// Row 6, of lines.
#[test]
fn lines_that_others_rewrote_after_the_review_are_not_accepted() {
    let job = review_slice();
    let mut text = library();
    text = with(&text, &OWN).lines().map(str::to_owned).collect();
    text[5] = "somebody else's line among the work".to_owned();
    job.repo.write("lib.txt", text.join("\n") + "\n");
    job.repo.commit("Somebody else's", None);
    job.accept(&[proof("a", "it adds", "lib.txt:5-6", "observed")])
        .exits(4)
        .says("than at the commit that was reviewed");
    job.accept(&[proof("a", "it adds", "lib.txt:5", "observed")])
        .ok();
}

/// Row 6: also where the file was renamed meanwhile.
#[test]
fn lines_of_a_renamed_file_are_held_to_their_review() {
    let rename = |text: &str| {
        let job = review_slice();
        job.git(&["mv", "lib.txt", "store.txt"]);
        job.repo.write("store.txt", text);
        job.repo.commit("Somebody else's", None);
        job.accept(&[proof("a", "it adds", "store.txt:5-6", "observed")])
    };
    let text = with(&library(), &OWN);
    rename(&text).ok();
    let sixth = text.lines().nth(5).unwrap();
    rename(&text.replace(sixth, "somebody else's line among the work"))
        .exits(4)
        .says("than at the commit that was reviewed");
}

/// Row 14.
#[test]
fn a_test_that_no_gate_runs_any_more_is_not_another_one_of_its_name() {
    let job = review_slice();
    job.accept(&[by_test()]).ok();
    job.git(&["mv", "t/a.txt", "t/a.off"]);
    job.repo.commit("Set it aside", None);
    job.is_reopened();
    // Renamed where the gate still runs it, it is the same one.
    let job = review_slice();
    job.accept(&[by_test()]).ok();
    job.git(&["mv", "t/a.txt", "t/b.txt"]);
    job.repo.commit("Rename it", None);
    job.stands();
    assert_eq!(job.anchor("a"), "test:t.b.adds");
}

/// Row 16: what a slice found there, and what a dropped criterion rests on.
#[test]
fn a_test_that_shows_what_is_there_already_is_held_as_well() {
    let job = Job::begin_with(&["it adds"], &[("check.sh", CHECK), ("t/a.txt", TEST)]);
    job.plan_anew(GATE);
    job.repo.cook(&["gate", "--slice", "a"]).ok();
    let report = job.repo.implementer_report(Some("it is there already"));
    job.repo.record("implementer", report).ok();
    let mut slices = list_planned(&job.repo);
    slices[0]["status"] = json!("cancelled");
    slices[0]["reason"] = json!("it is there already");
    let plan = json!({"plan_basis": "x", "candidate_slices": slices});
    job.reground(json!({"plan": plan, "evidence": [by_test()], "select": "b"}))
        .ok();
    job.repo.write_commit_for("b", "b.txt", "b works\n");
    job.judge();
    job.repo.write("t/a.txt", GUTTED);
    job.repo.commit("Somebody else's", None);
    job.accept(&[proof("b", "b works", "b.txt:1", "observed")])
        .ok()
        .says("criterion_lost_proof");
    assert_eq!(job.status("a"), "planned");
}
