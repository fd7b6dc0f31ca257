//! What reaches whom: what a re-ground is due for, what is not committed, whose commits stand in a
//! slice's range, where gates ran, what attempts before said, what other slices are for.

use crate::cli::handing_on::{holds, lacks};
use crate::support::Repo;

fn prompt(repo: &Repo) -> String {
    repo.cook(&["next", "--prompt"]).exits(0).out
}

#[test]
fn who_decides_is_told_what_is_not_committed_and_what_that_asks_of_a_report() {
    let repo = Repo::with_selection();
    repo.write("notes.txt", "the user's\n");
    holds(
        &prompt(&repo),
        "not committed: notes.txt; commit the changes on the slice's surfaces with the slice",
    );
    std::fs::remove_file(repo.root.join("notes.txt")).unwrap();
    lacks(&prompt(&repo), "not committed:");

    let repo = Repo::with_commit();
    for number in 0..30 {
        repo.write(&format!("notes/{number}.txt"), "");
        repo.write(&format!("note-{number}.txt"), "");
    }
    let needs = "a report is accepted only with the ticket that `cook next` prints now";
    for role in ["reviewer", "auditor"] {
        let told = prompt(&repo);
        holds(&told, "not committed, so not what you judge: note-0.txt, ");
        holds(&told, " more; the worktree changed");
        holds(&told, needs);
        let next = repo.cook(&["next"]).exits(0).says(needs).says("--ticket ");
        repo.cook(&["status"]).exits(0).says(needs);
        let report = match role {
            "reviewer" => repo.review(true),
            _ => repo.audit("b"),
        };
        // What the refusal names as the way on is one.
        repo.record(role, &report)
            .exits(4)
            .says("[tree_changed]")
            .says(&format!("get a new ticket: `cook next` prints it for the present worktree, and `cook record {role} FILE --ticket TICKET`"));
        let ticket = next
            .out
            .split("--ticket ")
            .nth(1)
            .unwrap()
            .trim()
            .to_owned();
        repo.record_with(&[role, "--ticket", &ticket], &report)
            .exits(0);
        // The transition has seen it; what comes now is new again.
        lacks(&prompt(&repo), needs);
        repo.write(&format!("zz-{role}.txt"), "");
    }
}
