//! What leaves with a log, and to where: commits beside the branch, and remotes that nobody named.

use crate::remote::{LOG, Shared, say};
use crate::support::reports::slice;

const KEEP: &str = "refs/cook/keep/main";

fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(8))
}

/// A commit that the log cites and the branch lost, with a file that it alone holds.
fn lose_commit(shared: &Shared, text: &str) -> String {
    let first = &shared.first;
    first.plan_and_select(&[slice("one"), slice("two")]);
    first.write("private.env", text);
    let old = first.write_commit_for("one", "one.txt", "one works\n");
    first
        .record("implementer", first.implementer_report(None))
        .ok();
    first.git(&["rm", "-q", "private.env"]);
    first.git(&["commit", "-q", "--amend", "--no-edit"]);
    first.git(&["push", "-q", "origin", "main"]);
    assert_ne!(first.head(), old);
    old
}

#[test]
fn a_secret_that_was_amended_away_does_not_leave_beside_the_branch() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    let old = lose_commit(&shared, &format!("KEY={}\n", token()));
    let before = shared.at("refs/cook/");
    for words in [&["push"][..], &["push", "--dry-run"]] {
        first
            .cook(words)
            .expect_refused("secret_found")
            .says("private.env")
            .says(&old[..12])
            .says("cook push --no-keep")
            .says("--allow-secret");
    }
    assert_eq!(shared.at("refs/cook/"), before);
    let refused = first.cook(&["push"]).expect_refused("secret_found");
    assert!(!refused.err.contains(&token()), "{}", refused.err);

    // The log goes without them where the user says so.
    let log = shared.at(LOG);
    first.cook(&["push", "--no-keep", "--yes"]).ok();
    assert_ne!(shared.at(LOG), log);
    assert_eq!(shared.at(KEEP), "");
    first.cook(&["push"]).expect_refused("secret_found");

    let id = refused
        .err
        .split("--allow-secret ")
        .last()
        .unwrap()
        .chars()
        .take(12)
        .collect::<String>();
    let words = [
        "push",
        "--allow-secret",
        &id,
        "--yes",
        "--dry-run",
        "--json",
    ];
    let planned = first.cook(&words).ok().json();
    assert_eq!(planned["kept_commits"], 1);
    assert_eq!(planned["with_branch"], false);
    first.cook(&words[..4]).ok().says(KEEP);
    let kept = shared.git(&["merge-base", &old, KEEP]);
    assert_eq!(kept, old);
}

#[test]
fn a_secret_in_the_message_of_a_lost_commit_is_found() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    first.plan_and_select(&[slice("one"), slice("two")]);
    first.write("one.txt", "one works\n");
    first.commit(&format!("Use {}", token()), Some("one"));
    first
        .record("implementer", first.implementer_report(None))
        .ok();
    first.git(&["commit", "-q", "--amend", "-m", "Work\n\nCook-Slice: one"]);
    first.git(&["push", "-q", "origin", "main"]);
    first
        .cook(&["push"])
        .expect_refused("secret_found")
        .says("its message");
}

#[test]
fn with_push_a_secret_beside_the_branch_stays_here() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    lose_commit(&shared, &format!("KEY={}\n", token()));
    let text = first.read(".agent/cook.toml") + "\n[log]\nsync = \"push\"\n";
    first.write(".agent/cook.toml", text);
    first.commit("Let the log travel by itself", None);
    say(first, "one")
        .ok()
        .says("push_pending")
        .says("secret_found");
    assert_eq!(shared.at(KEEP), "");
    // Who decided once that they stay is not asked after each transition.
    first.cook(&["push", "--no-keep", "--yes"]).ok();
    say(first, "two").ok().never_says("push_pending");
    assert_eq!(shared.at(KEEP), "");
}

#[test]
fn with_each_a_transition_counts_and_a_secret_beside_the_branch_stays_here() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    lose_commit(&shared, &format!("KEY={}\n", token()));
    let text = first.read(".agent/cook.toml") + "\n[log]\nsync = \"each\"\n";
    first.write(".agent/cook.toml", text);
    first.commit("Let the log travel by itself", None);
    // What was recorded before is pushed first.
    say(first, "too early")
        .expect_refused("push_unconfirmed")
        .says("run `cook push`");
    first.cook(&["push", "--no-keep", "--yes"]).ok();
    let log = shared.at(LOG);
    say(first, "one")
        .ok()
        .says("push_pending")
        .says("private.env");
    assert_ne!(shared.at(LOG), log);
    assert_eq!(shared.at(KEEP), "");
}

#[test]
fn a_secret_that_an_address_or_a_name_tells_does_not_leave() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    // What only looks like one leaves.
    say(
        first,
        "see https://example.org:8080/a, TOKEN=$TOKEN and https://user:password@example.org",
    )
    .ok();
    first.cook(&["push"]).ok();
    let before = shared.at(LOG);
    say(first, "clone https://bob:hunter2hunter2@example.org/r.git").ok();
    let refused = first.cook(&["push"]).expect_refused("secret_found");
    assert!(!refused.err.contains("hunter2hunter2"), "{}", refused.err);
    say(first, "try PGPASSWORD=another2another psql").ok();
    first
        .cook(&["push"])
        .expect_refused("secret_found")
        .says("transition 3")
        .says("transition 4");
    assert_eq!(shared.at(LOG), before);
}
