//! The trials of a slice: what nobody declares refuses the implementer's report, what is declared is answered
//! for by the review.

use crate::support::{Repo, Run};
use serde_json::json;

const CODE: &str = "add() {\n  echo $(($1 + $2))\n}\n";
const TESTS: &str = "#!/bin/sh\n. ./calc.sh\necho 1..2\n[ \"$(add 1 2)\" = 3 ] && echo 'ok 1 - adds' || echo 'not ok 1 - adds'\n[ \"$(add 2 2)\" = 4 ] && echo 'ok 2 - adds two' || echo 'not ok 2 - adds two'\n";

/// A repository with tests, and a slice that is to multiply.
fn make_planned() -> Repo {
    let repo = Repo::new();
    repo.write("calc.sh", CODE);
    repo.write("tests/run.sh", TESTS);
    repo.commit("Begin", None);
    repo.write(
        ".agent/cook.toml",
        "[gates.test]\nrun = \"sh tests/run.sh\"\ntimeout = \"20s\"\n",
    );
    repo.init_strictly("Calculate").ok();
    repo.trust("--gates");
    repo.plan_and_select(&[json!({
        "slice_id": "sub",
        "goal": "subtract",
        "acceptance_criteria": ["it subtracts"],
        "contract_ids": ["C-sub"],
        "priority": 5,
        "why_now": "it is the mission",
        "implementation_surfaces": ["calc.sh", "tests/run.sh"],
    })]);
    repo
}

/// The code subtracts where it added, and a test follows.
fn bend(repo: &Repo) {
    repo.write("calc.sh", CODE.replace("$1 + $2", "$1 - $2"));
    let bent = TESTS.replace("= 3 ]", "= -1 ]").replace("= 4 ]", "= 0 ]");
    repo.write("tests/run.sh", bent);
    repo.commit("Subtract", Some("sub"));
}

/// The slice is reported with its declarations; the ids of what its review has to answer for.
fn report_declared(repo: &Repo) -> Vec<String> {
    bend(repo);
    let message = "Say why\n\nTest-Changed: adds: it subtracts now\nTest-Changed: adds two: it subtracts now\n\nCook-Slice: sub";
    repo.git(&["commit", "-q", "--allow-empty", "-m", message]);
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let shown = repo.cook(&["next", "--prompt"]).ok().out;
    assert!(
        shown.contains("its commit says: it subtracts now"),
        "{shown}"
    );
    let words = shown.split('`');
    let ids = words.filter(|word| word.starts_with("t-") && word.len() == 10);
    let ids: Vec<String> = ids.map(str::to_owned).collect();
    assert_eq!(ids.len(), 2, "{shown}");
    ids
}

/// A review says yes and answers for these, an audit says yes, and the slice is to be accepted.
fn accept(repo: &Repo, answered: &[String]) -> (Run, Run) {
    let waivers = answered
        .iter()
        .map(|id| format!("WAIVE {id}: the mission asks for it\n"));
    let findings = format!("Findings:\n{}", waivers.collect::<String>());
    let review = repo
        .reviewer_report(None)
        .replace("Findings: none\n", &findings);
    let reviewed = repo.record("reviewer", review).ok();
    repo.record("auditor", repo.auditor_report()).ok();
    let report = repo.regrounder_report(&json!({
        "reconcile": {"slice_id": "sub", "decision": "accepted"},
        "evidence": [{
            "slice_id": "sub",
            "criterion": "it subtracts",
            "anchor": "calc.sh:2",
            "basis": "observed",
        }],
    }));
    (reviewed, repo.record("regrounder", report))
}

#[test]
fn a_review_answers_for_each_declared_change() {
    let repo = make_planned();
    let ids = report_declared(&repo);
    let (reviewed, accepted) = accept(&repo, &ids[..1]);
    assert!(
        reviewed.err.contains("test_change_unanswered"),
        "{reviewed:?}"
    );
    accepted.expect_refused("review_negative");

    let repo = make_planned();
    let base = repo.head();
    let ids = report_declared(&repo);
    let (_, accepted) = accept(&repo, &ids);
    accepted.ok();
    let verified = repo.cook(&["verify", "--base", &base, "--rerun", "--trust-repo"]);
    let declared = "declared: it subtracts now";
    assert_eq!(verified.out.matches(declared).count(), 2, "{verified:?}");
}
