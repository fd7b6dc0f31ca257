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

#[cfg(unix)]
#[test]
fn commits_beside_the_branch_are_named_and_the_hook_is_asked() {
    use std::os::unix::fs::PermissionsExt;
    let shared = Shared::make_pushed();
    let first = &shared.first;
    let old = lose_commit(&shared, "nothing secret\n");
    let hook = first.root.join(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let set = |text: &str| {
        std::fs::write(&hook, text).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    set("#!/bin/sh\necho not that commit >&2\nexit 1\n");
    let log = shared.at(LOG);
    first
        .cook(&["push"])
        .fails(3, "remote_refused")
        .says("`pre-push`")
        .says("not that commit");
    assert_eq!((shared.at(LOG), shared.at(KEEP)), (log, String::new()));
    set("#!/bin/sh\ncat >../saw\n");
    let named = "1 commit that the log cites and the branch does not hold";
    first.cook(&["push", "--dry-run"]).ok().says(named);
    first
        .cook(&["push"])
        .ok()
        .says(named)
        .says(KEEP)
        .never_says("hook did not run");
    let saw = std::fs::read_to_string(first.beside("saw")).unwrap();
    assert!(saw.contains(KEEP), "{saw}");
    assert_eq!(shared.git(&["merge-base", &old, KEEP]), old);
    // What is there already leaves no second time.
    say(first, "more").ok();
    first.cook(&["push"]).ok().never_says("does not hold");
}

#[test]
fn what_is_no_commit_where_commits_are_kept_is_named() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    lose_commit(&shared, "nothing secret\n");
    let blob = shared.git(&["rev-parse", "main:README.md"]);
    shared.git(&["update-ref", KEEP, &blob]);
    let remove = format!("git push origin :{KEEP}");
    first
        .cook(&["push"])
        .fails(3, "remote_log_refused")
        .says("is a blob")
        .says(&remove);
    shared.git(&[
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "tag",
        "-a",
        "-m",
        "x",
        "x",
        "main",
    ]);
    let tag = shared.git(&["rev-parse", "refs/tags/x"]);
    shared.git(&["update-ref", KEEP, &tag]);
    first
        .cook(&["push"])
        .fails(3, "remote_log_refused")
        .says("is a tag");
    let text = first.read(".agent/cook.toml") + "\n[log]\nsync = \"each\"\n";
    first.write(".agent/cook.toml", text);
    first.commit("Let the log travel by itself", None);
    first.git(&["push", "-q", "origin", &format!(":{KEEP}")]);
    first.cook(&["push"]).ok().says(KEEP);
    // A transition does not wait for what is kept beside it.
    shared.git(&["update-ref", KEEP, &tag]);
    say(first, "one").ok().says("push_pending").says("is a tag");
}

/// The settings come with the branch, from whoever may push it.
#[test]
fn a_remote_that_only_the_settings_name_gets_nothing_unasked() {
    for sync in ["push", "each"] {
        let shared = Shared::make_pushed();
        let first = &shared.first;
        let other = first.beside("other.git");
        let other = other.to_str().unwrap();
        let bare = shared.bare.to_str().unwrap();
        first.git(&["clone", "-q", "--mirror", bare, other]);
        let refs = || first.git(&["--git-dir", other, "for-each-ref"]);
        let before = refs();
        let text = format!(
            "{}\n[log]\nremote = \"{other}\"\nsync = \"{sync}\"\n",
            first.read(".agent/cook.toml")
        );
        first.write(".agent/cook.toml", text);
        first.commit("Settings", None);
        let say_no_further = || match sync {
            "push" => say(first, "for the origin")
                .ok()
                .says("push_pending")
                .says("push_unconfirmed"),
            _ => say(first, "for the origin").expect_refused("push_unconfirmed"),
        };
        say_no_further();
        first.cook(&["push", "--dry-run"]).ok();
        first
            .cook(&["push"])
            .expect_refused("push_unconfirmed")
            .says("other.git")
            .says("only the settings name this remote");
        // Looking there is not pushing there.
        first.cook(&["pull"]).ok();
        say_no_further();
        first.cook(&["push"]).expect_refused("push_unconfirmed");
        assert_eq!(refs(), before, "{sync}");

        first.cook(&["push", "--yes"]).ok();
        say(first, "as the user wants")
            .ok()
            .never_says("push_pending");
        assert_ne!(refs(), before, "{sync}");
    }
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
