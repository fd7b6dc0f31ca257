//! What whoever judges the whole is told of the job before now: commits that no review covers, also of
//! cancelled slices, cleared plans and earlier missions, and what reports told of the plan and its risks.

use crate::cli::handing_on::holds;
use crate::cli::reasons::prompt;
use crate::support::Repo;
use crate::support::reports::{plan, slice};
use serde_json::json;

/// `s1` is built and accepted.
fn build(repo: &Repo, id: &str) {
    repo.plan_and_select(&[slice(id)]);
    repo.build_slice(id);
    repo.accept_slice(id);
    assert_eq!(repo.rule(), "8");
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
