//! The page of a large job; `tests/page/large.sh` opens it in a browser.

use crate::support::Repo;
use crate::support::reports::slice;
use serde_json::json;

const SLICES: usize = 50;
/// Sent back before the yes, each time.
const NOES: usize = 2;
const PAUSES: usize = 4;

/// The work is reported, sent back by its review, and taken up again.
fn send_back(repo: &Repo, id: &str, round: usize) {
    repo.write_commit_for(id, &format!("{id}.txt"), &format!("{id} tries {round}\n"));
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let why = format!("round {round} of {id} loses the exit code");
    repo.record("reviewer", repo.reviewer_report(Some(&why)))
        .ok();
    repo.record("auditor", repo.auditor_report()).ok();
    repo.hand_in_reground(&json!({"reconcile": {"slice_id": id, "decision": "reopened"}}));
}

#[test]
#[ignore = "takes minutes; tests/page/large.sh runs it"]
fn the_page_of_fifty_slices_and_a_thousand_transitions_is_at_most_a_megabyte() {
    let repo = Repo::with_mission("Build all fifty parts");
    let ids: Vec<String> = (1..=SLICES).map(|number| format!("part{number}")).collect();
    let slices: Vec<_> = ids.iter().map(|id| slice(id)).collect();
    repo.plan_and_select(&slices);
    repo.cook(&["pause", "allow more steps", "--as-user"]).ok();
    repo.cook(&["resume", "--add", "steps=2000", "--as-user"])
        .ok();
    for (at, id) in ids.iter().enumerate() {
        for round in 0..NOES {
            send_back(&repo, id, round);
        }
        for _ in 0..PAUSES {
            repo.cook(&["pause", "wait for the build machine", "--as-user"])
                .ok();
            repo.cook(&["resume", "--as-user"]).ok();
        }
        repo.build_slice(id);
        repo.accept_slice(id);
        if let Some(next) = ids.get(at + 1) {
            repo.hand_in_reground(&json!({"select": next}));
        }
    }
    repo.conclude();
    let revision = repo.document("state.json")["revision"].as_u64().unwrap();
    assert!(revision >= 1_000, "{revision}");
    let page = repo.cook(&["report", "--html", "-"]).ok().out;
    println!("{revision} transitions, {} bytes", page.len());
    assert!(
        ids.iter()
            .all(|id| page.contains(&format!("make {id} work")))
    );
    assert!(page.len() <= 1_000_000, "{} bytes", page.len());
    if let Some(path) = std::env::var_os("COOK_PAGE") {
        std::fs::write(path, page).unwrap();
    }
}
