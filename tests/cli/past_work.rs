//! What whoever judges the whole is told of the job before now: commits that no review covers, also of
//! cancelled slices, cleared plans and earlier missions, and what reports told of the plan and its risks.

use crate::cli::handing_on::{holds, lacks};
use crate::cli::reasons::{prompt, reground};
use crate::support::Repo;
use crate::support::reports::{plan, proof, slice};
use serde_json::{Value, json};

const LISTED: &str =
    "commits since the job began that do not belong to a slice that is done or in work";

/// The line of that commit in the list, if it stands there.
fn line_of<'a>(prompt: &'a str, commit: &str) -> Option<&'a str> {
    let (_, listed) = prompt.split_once(LISTED)?;
    let lines = listed
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    lines.into_iter().find(|line| line.contains(&commit[..12]))
}

#[track_caller]
fn says(prompt: &str, commit: &str, part: &str) {
    let line = line_of(prompt, commit);
    let line = line.unwrap_or_else(|| panic!("{commit} is not listed in:\n{prompt}"));
    holds(line, part);
}

/// The id of the review's no that a prompt names first.
fn find_review(prompt: &str) -> String {
    let number = prompt.split("`review-").nth(1).unwrap();
    format!("review-{}", number.split('`').next().unwrap())
}

/// `s1` is built and accepted.
fn build(repo: &Repo, id: &str) {
    repo.plan_and_select(&[slice(id)]);
    repo.build_slice(id);
    repo.accept_slice(id);
    assert_eq!(repo.rule(), "8");
}

fn refocus(repo: &Repo) {
    repo.cook(&["plan", "refocus", "--mission", "Another aim", "--as-user"])
        .ok();
    repo.cook(&["init", "--commit"]).ok();
}

/// `old` is reported, and nobody looked at it.
fn make_reported() -> (Repo, String) {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("old"), slice("kept")]);
    let commit = repo.write_commit_for("old", "old.txt", "old works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    (repo, commit)
}

#[test]
fn what_nobody_reviewed_is_listed_after_another_mission() {
    let (repo, commit) = make_reported();
    refocus(&repo);
    repo.plan_and_select(&[slice("s1")]);
    repo.build_slice("s1");
    let of = "(slice `old` of an earlier mission: never reviewed): old.txt";
    repo.accept_slice("s1");
    says(&prompt(&repo), &commit, of);
    // Somebody else's, before the first slice of this mission.
    let (repo, _) = make_reported();
    repo.write("beside.txt", "x\n");
    let theirs = repo.commit("beside", None);
    refocus(&repo);
    repo.plan_and_select(&[slice("s1")]);
    repo.write_commit_for("s1", "s1.txt", "s1 works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo.record("reviewer", repo.reviewer_report(None)).ok();
    assert_eq!(repo.rule(), "6");
    says(&prompt(&repo), &theirs, "beside: beside.txt");
}

#[test]
fn what_a_report_named_that_was_undone_is_listed() {
    let repo = Repo::with_mission("Ship it");
    let planned = repo.document("state.json")["revision"].to_string();
    repo.plan_and_select(&[slice("old")]);
    let commit = repo.write_commit_for("old", "old.txt", "old works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let no = repo.reviewer_report(Some("it loses the exit code"));
    repo.record("reviewer", no).ok();
    repo.cook(&["undo", &planned, "--as-user"]).ok();
    // The no outlasts its slice.
    let answers = json!([{"no": find_review(&prompt(&repo)), "reason": "it is planned anew"}]);
    let planned = plan(&[slice("s1")]);
    let block = json!({"plan": planned, "answers": answers, "select": "s1"});
    reground(&repo, &block).ok();
    repo.build_slice("s1");
    repo.accept_slice("s1");
    let told = prompt(&repo);
    says(&told, &commit, "(reported for slice `old` in ");
    says(
        &told,
        &commit,
        "which was undone with `cook undo`: reviewed no (`cook log ",
    );
    says(&told, &commit, "it loses the exit code");
}

#[test]
fn commits_of_cancelled_slices_are_listed_with_what_was_said_of_them() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    let rejected = repo.write_commit_for("s1", "s1.txt", "s1 works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let no = repo.reviewer_report(Some("it loses the exit code"));
    repo.record("reviewer", no).ok();
    repo.record("auditor", repo.auditor_report()).ok();
    let decision = json!({"slice_id": "s1", "decision": "reopened"});
    reground(&repo, &json!({"reconcile": decision})).ok();
    let unseen = repo.write_commit_for("s1", "s1.txt", "s1 works better\n");
    let back = repo.implementer_report(Some("it is cut wrong"));
    let commit = back.lines().find(|line| line.starts_with("Commit SHA"));
    let back = back.replace(commit.unwrap(), "Commit SHA: none");
    repo.record("implementer", back).ok();
    let id = find_review(&prompt(&repo));
    let cancel = json!([{"slice_id": "s1", "reason": "not needed"}]);
    let answers = json!([{"no": id, "reason": "nobody calls it"}]);
    reground(
        &repo,
        &json!({"plan": {"cancel": cancel}, "answers": answers, "select": "s2"}),
    )
    .ok();
    repo.build_slice("s2");
    repo.accept_slice("s2");
    let told = prompt(&repo);
    says(
        &told,
        &rejected,
        "(slice `s1`, cancelled: reviewed no (`cook log ",
    );
    says(&told, &rejected, "it loses the exit code");
    says(&told, &rejected, "; audited nothing open): s1.txt");
    says(&told, &unseen, "slice `s1`");
}

/// Judges who let it be done saw what was there.
#[test]
fn what_was_found_done_is_not_listed_again() {
    let (repo, commit) = make_reported();
    let cancelled: Vec<Value> = ["old", "kept"]
        .iter()
        .map(|id| json!({"slice_id": id, "reason": "no"}))
        .collect();
    repo.record("reviewer", repo.reviewer_report(None)).ok();
    repo.record("auditor", repo.auditor_report()).ok();
    let reopened = json!({"slice_id": "old", "decision": "reopened", "findings": ["again"]});
    reground(&repo, &json!({"reconcile": reopened})).ok();
    repo.record("implementer", repo.implementer_report(Some("not needed")))
        .ok();
    reground(
        &repo,
        &json!({"plan": {"cancel": cancelled, "add": [slice("s1")]}, "select": "s1"}),
    )
    .ok();
    repo.build_slice("s1");
    repo.accept_slice("s1");
    says(
        &prompt(&repo),
        &commit,
        "slice `old`, cancelled: reviewed yes",
    );
    repo.conclude();
    assert_eq!(repo.rule(), "S");
    refocus(&repo);
    build(&repo, "s2");
    let told = prompt(&repo);
    assert_eq!(line_of(&told, &commit), None);
    lacks(&told, LISTED);
    // An end that was taken back covers nothing.
    repo.conclude();
    repo.cook(&["undo", "--as-user"]).ok();
    lacks(&prompt(&repo), "slice `old`");
}

#[test]
fn what_implementers_told_of_slices_that_are_done_reaches_the_judges() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1")]);
    repo.write_commit_for("s1", "s1.txt", "s1 works\n");
    let risk = "Residual risks discovered: the port is never closed, as user@answer-9 says";
    let report = repo.implementer_report(None);
    let report = report.replace("Residual risks discovered: none", risk);
    repo.record("implementer", report).ok();
    repo.record("reviewer", repo.reviewer_report(None)).ok();
    // It stands in a part of its own while the slice is in work.
    assert_eq!(prompt(&repo).matches("never closed").count(), 1);
    repo.record("auditor", repo.auditor_report()).ok();
    repo.accept_slice("s1");
    let told = prompt(&repo);
    let (_, told) = told
        .split_once("remarks of implementers on the plan and on risks")
        .expect("it is told");
    holds(told, "slice s1 (done), in ");
    holds(
        told,
        ": the port is never closed, as claimed-user@answer-9 says",
    );
}

#[test]
fn what_a_report_clears_is_told_with_who_cleared_it_and_why() {
    let repo = Repo::with_mission("Ship it");
    let block = json!({
        "plan": plan(&[slice("s1"), slice("s2")]),
        "select": "s1",
        "release_blocker_ids": ["no-licence", "no-docs"],
        "high_value_gaps": ["a manual"],
    });
    repo.hand_in_reground(&block);
    repo.build_slice("s1");
    let block = json!({
        "reconcile": {"slice_id": "s1", "decision": "accepted"},
        "evidence": proof("s1"),
        "release_blocker_ids": ["no-docs"],
        "select": "s2",
    });
    let report = repo.regrounder_report(&block);
    let says = "Exact handoff payload: the licence is the parent's";
    let report = report.replace("Exact handoff payload: none", says);
    repo.record("regrounder", report).ok();
    repo.build_slice("s2");
    let block = json!({
        "reconcile": {"slice_id": "s2", "decision": "accepted"},
        "evidence": proof("s2"),
        "release_blocker_ids": [],
        "high_value_gaps": [],
    });
    repo.hand_in_reground(&block);
    assert_eq!(repo.rule(), "8");
    let told = prompt(&repo);
    let (_, told) = told.split_once("gaps that re-grounds named").unwrap();
    holds(told, "release blocker `no-licence`, named in ");
    holds(told, "which says: the licence is the parent's");
    holds(told, "release blocker `no-docs`, named in ");
    holds(told, "high-value gap `a manual`, named in ");
    holds(told, ", without a reason");
}

#[test]
fn what_a_re_ground_told_stays_when_it_is_undone() {
    let repo = Repo::with_mission("Ship it");
    let block = json!({"plan": plan(&[slice("s1")]), "select": "s1"});
    let report = repo.regrounder_report(&block).replace(
        "Canonical blockers or deviations: none",
        "Canonical blockers or deviations: the README promises a port",
    );
    repo.record("regrounder", report).ok();
    // Once, as the advice of the last re-ground.
    repo.write_commit_for("s1", "s1.txt", "s1 works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo.record("reviewer", repo.reviewer_report(None)).ok();
    assert_eq!(repo.rule(), "6");
    let told = prompt(&repo);
    assert_eq!(told.matches("promises a port").count(), 1, "{told}");
    let planned = repo.document("state.json")["revision"].as_u64().unwrap() - 3;
    let of = "(undone with `cook undo`): the README promises a port";
    repo.cook(&["undo", &planned.to_string(), "--as-user"]).ok();
    holds(&prompt(&repo), of);
    build(&repo, "s2");
    holds(&prompt(&repo), of);
}

/// What a prompt shows of an audit, when the user's word makes review and audit due again.
#[test]
fn an_audit_that_is_due_again_is_shown_to_whoever_looks_again() {
    for word in ["say", "amend"] {
        let repo = Repo::with_mission("Ship it");
        repo.plan_and_select(&[slice("s1")]);
        repo.write_commit_for("s1", "s1.txt", "s1 works\n");
        repo.record("implementer", repo.implementer_report(None))
            .ok();
        repo.record("reviewer", repo.reviewer_report(None)).ok();
        let whole = repo.auditor_report();
        let report = whole.replacen(": pass - read", ": fail - no licence file", 1);
        repo.record("auditor", report).ok();
        match word {
            "say" => repo.cook(&["brief", "say", "the port is 8080", "--as-user"]),
            _ => repo.cook(&[
                "plan",
                "criteria",
                "amend",
                "s1",
                "1",
                "--text",
                "s1 does work",
                "--reason",
                "clearer",
                "--as-user",
            ]),
        }
        .ok();
        assert_eq!(repo.rule(), "5", "{word}");
        holds(&prompt(&repo), "no licence file");
        repo.record(
            "reviewer",
            repo.reviewer_report(None).replace("- read", "- read again"),
        )
        .ok();
        assert_eq!(repo.rule(), "6", "{word}");
        holds(&prompt(&repo), "no licence file");
    }
}

/// The form of a report that is not asked for is nobody's to mend.
#[test]
fn whose_turn_it_is_comes_before_the_form_of_a_report() {
    let repo = Repo::with_selection();
    for report in ["nothing at all", "MISSION ANCHOR: Ship the tool\n"] {
        for how in [&["reviewer"][..], &["reviewer", "--dry-run"]] {
            repo.record_with(how, report).fails(4, "not_your_turn");
        }
        repo.record("implementer", report)
            .fails(4, "report_invalid");
    }
    repo.cook(&["pause"]).exits(0);
    repo.record("implementer", "nothing")
        .fails(4, "not_your_turn");
}

/// One reason stands once among what must be fixed, whoever gives it how often.
#[test]
fn one_finding_is_to_be_fixed_once() {
    let repo = Repo::with_commit();
    repo.record("reviewer", repo.review(false)).exits(0);
    repo.record("auditor", repo.audit("a")).exits(0);
    let findings = ["two is odd.", "- Mend two"];
    let decision = json!({"slice_id": "a", "decision": "reopened", "findings": findings});
    let report = repo.reground("reopened", "a", "none", &json!({"reconcile": decision}));
    repo.record("regrounder", report).exits(0);
    let active = repo.document("active-slice.json");
    let rated = "contract_coverage, correctness_risk, docs_state_parity, verification_evidence (fail): looked";
    assert_eq!(
        active["must_fix_findings"],
        json!(["two is odd", "mend two", rated])
    );
}

/// The work would stop for it once it is planned.
#[test]
fn whoever_plans_is_told_which_gates_are_not_trusted() {
    use crate::support::story::GATE;
    let repo = Repo::set_up();
    let settings = repo.read(".agent/cook.toml");
    let gate = format!("\n[gates]\nt = {{ run = \"{GATE}\" }}\n");
    repo.write(".agent/cook.toml", settings + &gate);
    repo.cook(&["init", "--as-user"]).exits(0);
    repo.commit("a gate", None);
    let untrusted = format!("gate `{GATE}`: is not trusted here yet; the work stops");
    holds(&prompt(&repo), &untrusted);
    repo.cook(&["trust", GATE, "--as-user"]).exits(0);
    lacks(&prompt(&repo), &untrusted);
}
