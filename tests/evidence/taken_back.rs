//! What reaches whom when a commit is taken back that was reported, or accepted, and when a gate that
//! slices share is red.

use crate::job::{Job, OWN, library, proof, with};
use crate::support::Run;
use serde_json::json;

const GATE: &str = "sh check.sh";

impl Job {
    fn prompt(&self) -> String {
        self.repo.cook(&["next", "--prompt"]).ok().out
    }

    /// The implementer reports this commit.
    fn report_commit(&self, commit: &str) -> Run {
        let report = self.repo.implementer_report(None);
        let report = report.replace(&self.repo.head(), commit);
        self.repo.record("implementer", report)
    }
}

#[test]
fn a_revert_before_the_reconciliation_is_told_and_sends_the_slice_back() {
    let job = Job::begin(&["a works"]);
    let own = job.write_own("a");
    job.judge();
    assert_eq!(job.repo.rule(), "7");
    job.git(&["revert", "--no-edit", "HEAD"]);
    let reverted = job.repo.head();
    let author = job.git(&["log", "-1", "--format=%an"]);

    job.repo
        .cook(&["next"])
        .ok()
        .says("(rule 2)")
        .says("nothing of its work is there any more: not lib.txt:5, lib.txt:15")
        .says("any re-ground puts it back in progress, and rule 4 answers then");
    let prompt = job.prompt();
    let named = format!("{} by {}: Revert", &reverted[..12], author.trim());
    assert!(prompt.contains(&named), "{named}: {prompt}");
    assert!(prompt.contains("\na (in_progress): "), "{prompt}");
    assert!(!prompt.contains("(committed): "), "{prompt}");
    assert!(!prompt.contains("what can prove the criteria"), "{prompt}");
    assert!(prompt.contains("\"reconcile\""), "{prompt}");

    // An honest report that says more than cook does is taken.
    job.reground(json!({"reconcile": {
        "slice_id": "a",
        "decision": "reopened",
        "findings": ["ask who took it back, and why"],
    }}))
    .ok();
    assert_eq!(job.repo.rule(), "4");
    let prompt = job.prompt();
    assert!(prompt.contains("1. commit "), "{prompt}");
    assert!(prompt.contains("2. ask who took it back"), "{prompt}");

    // The commit is still there, and its work is not.
    job.report_commit(&own).expect_refused("commit_taken_back");
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    assert_eq!(job.status("a"), "done");
}

#[test]
fn a_committed_slice_that_is_amended_is_told_of_in_one_way() {
    let job = Job::begin(&["a works"]);
    let old = job.write_own("a");
    job.report().ok();
    job.repo.write("README.md", "# Another one\n");
    job.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    assert_eq!(job.repo.rule(), "4");
    let prompt = job.prompt();
    assert!(prompt.contains("\na (in_progress): "), "{prompt}");
    assert!(!prompt.contains("(committed): "), "{prompt}");
    let gone = format!("so nothing of it counts as committed: {old}");
    assert!(prompt.contains(&gone), "{prompt}");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

#[test]
fn no_judge_is_asked_once_accepted_work_is_taken_back() {
    for how in ["revert", "reset"] {
        let job = Job::with_done();
        job.reground(json!({"plan": {"plan_basis": "x", "cancel": [
            {"slice_id": "b", "reason": "the mission does not need it"},
        ]}}))
        .ok();
        assert_eq!(job.repo.rule(), "8");
        let vote = job.repo.judge_report(None);
        job.repo
            .record_with(&["stop-judge", "--session", "one"], vote)
            .ok();
        match how {
            "revert" => job.git(&["revert", "--no-edit", "HEAD"]),
            _ => job.git(&["reset", "--quiet", "--hard", "HEAD~1"]),
        };
        job.repo
            .cook(&["next"])
            .ok()
            .says("(rule 2)")
            .says("slice `a` is done in the log, and its work is not at HEAD any more");
        job.repo.cook(&["verify", "stop"]);
        assert_eq!(job.repo.rule(), "2", "{how}");
        job.repo
            .cook(&["status"])
            .ok()
            .says("(0 of 1 criteria proven): HEAD does not hold its work or proof any more");
        let report = job.reground(json!({"select": "a"})).ok();
        assert!(report.out.contains("slice `a` selected"), "{}", report.out);
        assert_eq!(job.repo.rule(), "4", "{how}");
        let more = [OWN[0], OWN[1], (10, "and another")];
        job.repo
            .write_commit_for("a", "lib.txt", &with(&library(), &more));
        job.judge();
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
            .ok();
        assert_eq!(job.repo.rule(), "8", "{how}");
    }
}

#[test]
fn judges_stay_due_where_somebody_else_takes_nothing_away() {
    let job = Job::with_done();
    job.reground(json!({"plan": {"plan_basis": "x", "cancel": [
        {"slice_id": "b", "reason": "the mission does not need it"},
    ]}}))
    .ok();
    job.repo.write("NEWS", "something else\n");
    job.repo.commit("Somebody else's", None);
    assert_eq!(job.repo.rule(), "8");
}

/// `a` is done by a run of the gate that all share, and `b` waits for it.
fn make_shared_gate() -> (Job, String) {
    let gate = "test ! -e broken || exit 1\ngrep -q 'first line of slice a' lib.txt && echo 'a is there'\n";
    let job = Job::begin_with(&["a works"], &[("check.sh", gate)]);
    job.plan_anew(GATE);
    let own = job.write_own("a");
    job.judge();
    job.accept(&[proof(
        "a",
        "a works",
        "cmd:sh check.sh#a is there",
        "output",
    )])
    .ok();
    job.reground(json!({"plan": {"plan_basis": "x", "change": [
        {"slice_id": "b", "blocked_on": ["a"]},
    ]}}))
    .ok();
    (job, own)
}

#[test]
fn a_slice_that_a_shared_red_gate_opens_holds_nobody_up_and_is_taken_up_as_it_stands() {
    let (job, own) = make_shared_gate();
    job.repo.write("broken", "by somebody\n");
    job.repo.commit("Break the gate", None);

    // What is not known is not listed as if it were.
    let prompt = job.prompt();
    assert!(
        prompt.contains("where it has not run (your report runs it, `cook gate --clean` before): b, which rests on `a`"),
        "{prompt}"
    );
    assert!(prompt.contains("gate `sh check.sh` passed at "), "{prompt}");
    assert!(prompt.contains(", NOT at HEAD (receipt:"), "{prompt}");
    job.repo.cook(&["gate", "--slice", "a", "--clean"]);
    let prompt = job.prompt();
    assert!(
        prompt.contains("can be selected, first in order of work first: a, b"),
        "{prompt}"
    );
    assert!(
        prompt.contains("gate `sh check.sh` failed at HEAD (receipt:"),
        "{prompt}"
    );

    // Who mends the gate is not held up by it.
    job.select_b().ok().says("reopened `a`, slice `b` selected");
    let prompt = job.prompt();
    assert!(!prompt.contains("stands_at"), "{prompt}");
    job.git(&["rm", "--quiet", "broken"]);
    job.repo.commit("Mend the gate", Some("b"));
    job.judge();
    job.accept(&[proof("b", "b works", "gone:broken", "observed")])
        .ok();
    assert_eq!(job.status("a"), "planned");
    let prompt = job.prompt();
    assert!(prompt.contains(&format!("by commit: {own}")), "{prompt}");
    job.reground(json!({
        "reopen": [{"slice_id": "a", "why": "its gate passes again", "at": own}],
        "select": "a",
    }))
    .ok();
    job.repo.cook(&["next"]).ok().says("report slice `a`");
    job.report_commit(&own).ok();
    for (role, report) in [
        ("reviewer", job.repo.reviewer_report(None)),
        ("auditor", job.repo.auditor_report()),
    ] {
        job.repo
            .record_with(&[role, "--session", role], report)
            .ok();
    }
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    assert_eq!(job.repo.rule(), "8");
}

#[test]
fn a_dirty_worktree_is_said_to_hold_selections_up_and_by_whom_it_ends() {
    let job = Job::with_done();
    job.repo.write("stray", "x\n");
    let held = "nothing can be selected now";
    job.repo.cook(&["ready"]).ok().says(held).says("stray");
    let prompt = job.prompt();
    assert!(prompt.contains(held), "{prompt}");
    assert!(!prompt.contains("can be selected, first"), "{prompt}");
    job.select_b()
        .expect_refused("select_dirty")
        .says("the user commits, stashes or ignores");
    job.reground(
        json!({"policy": {"to": "blocked", "why": "uncommitted: stray", "exit": "git status"}}),
    )
    .ok();
}

#[test]
fn a_record_names_as_changed_only_what_its_plan_changes() {
    let job = Job::begin(&["a works"]);
    let question = json!({"policy": {"to": "await_user_input", "question": "which end?"}});
    let report = job
        .repo
        .implementer_report(Some("a prerequisite is missing"));
    job.repo.record("implementer", report).ok();
    job.reground(question).ok();
    job.repo.cook(&["answer", "both", "--as-user"]).ok();
    let answers = job.repo.document("state.json")["revision"].clone();
    let run = job.reground(json!({
        "plan": {"plan_basis": "x", "change": [{"slice_id": "b", "add_criteria": ["at both ends"]}]},
        "answers_to": [{"answer": format!("answer-{answers}"), "slices": ["b"]}],
    }));
    let out = run.ok().out;
    assert!(out.contains("changed `b`"), "{out}");
}
