//! `[log] sync`: transitions that reach the remote by themselves.

use crate::remote::{LOG, Shared, say, standing};
use crate::support::Repo;

fn set(shared: &Shared, sync: &str) {
    let first = &shared.first;
    let text = first.read(".agent/cook.toml") + &format!("\n[log]\nsync = \"{sync}\"\n");
    first.write(".agent/cook.toml", text);
    first.commit("Let the log travel by itself", None);
    first.git(&["push", "-q", "origin", "HEAD:main"]);
}

fn number(repo: &Repo) -> u64 {
    repo.cook(&["log", "@", "--json"]).ok().json()["seq"]
        .as_u64()
        .unwrap()
}

#[test]
fn with_each_a_transition_counts_when_the_remote_took_it() {
    let shared = Shared::make_unpushed();
    set(&shared, "each");
    let first = &shared.first;
    say(first, "before the first push").expect_refused("push_unconfirmed");
    first.cook(&["push", "--yes"]).ok();
    say(first, "one").ok();
    let second = shared.another(2);
    second.cook(&["pull"]).ok();
    // Each decides on what the other recorded, without being told to.
    say(&second, "two").ok();
    say(first, "three").ok();
    say(&second, "four").ok();
    assert_eq!(number(&second), 5);
    let history = second.read(".agent/brief-history.jsonl");
    let at = |text: &str| {
        history
            .find(&format!("\"{text}\""))
            .unwrap_or_else(|| panic!("{text}: {history}"))
    };
    assert!(at("one") < at("two") && at("two") < at("three") && at("three") < at("four"));
    second.cook(&["verify", "control-plane"]).ok();

    // A decision that no longer holds is refused with what the first recorded.
    first.cook(&["pause", "a rest"]).ok();
    second.cook(&["pause", "another"]).exits(4);
    assert_eq!(number(&second), number(first));

    // Nothing is recorded while the remote is away.
    std::fs::rename(&shared.bare, first.beside("away.git")).unwrap();
    let before = standing(first);
    say(first, "five").fails(3, "remote_unreachable");
    assert_eq!(standing(first), before);
    std::fs::rename(first.beside("away.git"), &shared.bare).unwrap();
    say(first, "six").ok();

    // Nor what holds a secret.
    let before = (standing(first), shared.at(LOG));
    say(first, &format!("ghp_{}", "a1B2".repeat(8))).expect_refused("secret_found");
    assert_eq!((standing(first), shared.at(LOG)), before);
}

#[test]
fn with_each_the_branch_goes_with_the_log() {
    let shared = Shared::make_pushed();
    set(&shared, "each");
    let first = &shared.first;
    say(first, "one").ok();
    first.write_commit_for("x", "x.txt", "x\n");
    say(first, "two").ok();
    assert_eq!(shared.at("refs/heads/main"), first.head());
    // A branch that is in the way is not taken for a log that is.
    let second = shared.another(2);
    second.cook(&["pull"]).ok();
    second.write_commit_for("y", "y.txt", "y\n");
    say(&second, "three").ok();
    first.write_commit_for("z", "z.txt", "z\n");
    let before = standing(first);
    say(first, "four")
        .expect_refused("remote_ahead")
        .says("git pull");
    let (_, after) = standing(first);
    assert_ne!(after, "");
    assert_ne!(
        before.0,
        standing(first).0,
        "the other's transition was taken in"
    );
}
