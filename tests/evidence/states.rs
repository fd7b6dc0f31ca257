//! Commits of roles that may not commit, and plans that nobody can finish.

use crate::job::{Job, list_planned, proof};
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
    let job = Job::with_done();
    let mut slices = list_planned(&job.repo);
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
        .write_commit_for("a", "check.sh", "echo 'test it::works ... ok'\n");
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

/// Slices that the answer of a command or a prompt says can be selected.
fn list_selectable(job: &Job) -> Vec<Vec<String>> {
    let answer = job.repo.cook(&["ready", "--json"]).ok().json();
    let rows = answer["ready"].as_array().unwrap().iter();
    let by_command = rows.map(|row| row["slice_id"].as_str().unwrap().to_owned());
    let prompt = job.repo.cook(&["next", "--prompt"]).ok().out;
    let label = "can be selected, first in order of work first: ";
    let by_prompt = prompt.lines().find_map(|line| line.strip_prefix(label));
    let by_prompt = by_prompt.into_iter().flat_map(|line| line.split(", "));
    vec![by_command.collect(), by_prompt.map(str::to_owned).collect()]
}

/// Whatever became of the history, what is listed is taken and what is not is refused.
#[test]
fn what_is_listed_for_selection_can_be_selected() {
    type Way = (&'static str, fn(&Job), &'static [&'static str]);
    let ways: [Way; 4] = [
        ("nothing", |_| {}, &["b"]),
        (
            "a revert",
            |job| drop(job.git(&["revert", "--no-edit", "HEAD"])),
            &["a"],
        ),
        (
            "a reset",
            |job| drop(job.git(&["reset", "-q", "--hard", "HEAD~1"])),
            &["a"],
        ),
        (
            "somebody else's commit",
            |job| {
                job.repo.write("more.txt", "somebody else's\n");
                job.repo.commit("More", None);
            },
            &["b"],
        ),
    ];
    for (what, happen, can) in ways {
        let job = Job::with_done();
        let change = json!([{"slice_id": "b", "blocked_on": ["a"]}]);
        let plan = json!({"plan_basis": "b builds on a", "change": change});
        job.reground(json!({"plan": plan})).ok();
        happen(&job);
        let head = job.repo.head();
        let [by_command, by_prompt] = &list_selectable(&job)[..] else {
            panic!("{what}");
        };
        assert_eq!(by_command, can, "{what}");
        assert_eq!(by_prompt, can, "{what}");
        let action = job.repo.due()["action"].as_str().unwrap().to_owned();
        for id in ["a", "b"] {
            let names_it = action.contains(&format!("`{id}` is first"));
            assert!(!names_it || can.contains(&id), "{what}: {action}");
        }
        let held = ["a", "b"].into_iter().filter(|id| !can.contains(id));
        for id in held {
            let refused = job.reground(json!({"select": id})).exits(4);
            if id == "b" {
                refused.says("select_blocked").says("select `a`");
            }
        }
        job.select(can[0]);
        assert_eq!(job.repo.head(), head);
    }
}

/// A prompt says each cause once, and calls nothing committed that HEAD does not hold.
#[test]
fn a_prompt_speaks_of_the_history_that_is_there() {
    let job = Job::begin(&["a works"]);
    let commit = job.write_own("a");
    job.report().ok();
    job.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let due = job.repo.due();
    assert_eq!(due["rule"], "2");
    let cause = due["reason"].as_str().unwrap().to_owned();
    assert!(cause.contains(&commit[..12]), "{cause}");
    let prompt = job.repo.cook(&["next", "--prompt"]).ok().out;
    assert_eq!(prompt.matches(&cause).count(), 1, "{prompt}");
    assert!(!prompt.contains("a (committed)"), "{prompt}");
    assert!(!prompt.contains("Its commit:"), "{prompt}");
    let gone = format!("counts as committed: {commit}");
    assert!(prompt.contains(&gone), "{prompt}");
    // Another slice can go first, and the prompt says so.
    assert!(prompt.contains("can be selected, first in order of work first: b\n"));
    job.select("b");
}

/// What is done by the log alone is told as lost, once, and no judge is asked about it.
#[test]
fn lost_work_is_told_once_and_goes_to_no_judge() {
    let job = Job::with_done();
    let cancel = json!([{"slice_id": "b", "reason": "nobody needs it"}]);
    job.reground(json!({"plan": {"plan_basis": "x", "cancel": cancel}}))
        .ok();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.repo.cook(&["verify", "stop"]);
    assert_eq!(job.repo.due()["role"], "completion-regrounder");
    let prompt = job.repo.cook(&["next", "--prompt"]).ok().out;
    assert!(!prompt.contains("\na (done"), "{prompt}");
    let lost = "slice `a` is done in the log";
    assert_eq!(prompt.matches(lost).count(), 1, "{prompt}");
    assert!(!prompt.contains("the log calls slice"), "{prompt}");
    assert!(
        prompt.contains("can be selected, first in order of work first: a\n"),
        "{prompt}"
    );
    assert!(prompt.contains("missing (lib.txt:5)"), "{prompt}");
}
