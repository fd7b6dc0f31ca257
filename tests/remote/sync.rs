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
fn with_push_the_remote_follows_as_far_as_it_can() {
    let shared = Shared::make_pushed();
    set(&shared, "push");
    let first = &shared.first;
    let before = shared.at(LOG);
    say(first, "one").ok();
    assert_ne!(shared.at(LOG), before);
    std::fs::rename(&shared.bare, first.beside("away.git")).unwrap();
    say(first, "two")
        .ok()
        .says("push_pending")
        .says("remote_unreachable");
    std::fs::rename(first.beside("away.git"), &shared.bare).unwrap();
    say(first, "three").ok().never_says("push_pending");
    let second = shared.another(2);
    second.cook(&["pull"]).ok();
    assert_eq!(number(&second), number(first));
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

/// Whoever pushed it was killed before it could note that the remote took it.
#[cfg(unix)]
#[test]
fn with_each_a_transition_that_the_remote_alone_took_is_taken_in() {
    use std::os::unix::fs::PermissionsExt;
    let shared = Shared::make_pushed();
    set(&shared, "each");
    let first = &shared.first;
    let before = number(first);
    let at = shared.at(LOG);
    let (started, go) = (first.beside("started"), first.beside("go"));
    let hook = shared.bare.join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let text = format!(
        "#!/bin/sh\ntouch '{}'\nfor i in $(seq 300); do [ -e '{}' ] && exit 0; sleep 0.1; done\n",
        started.display(),
        go.display()
    );
    std::fs::write(&hook, text).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        for _ in 0..600 {
            if is_so() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{what}");
    };
    let mut killed = first.cook_command(&["brief", "say", "one", "--as-user"]);
    killed.stdin(std::process::Stdio::null());
    killed.stdout(std::process::Stdio::null());
    killed.stderr(std::process::Stdio::null());
    let mut killed = killed.spawn().unwrap();
    wait_for("the push does not begin", &|| started.exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    std::fs::write(&go, "").unwrap();
    wait_for("the remote does not take it", &|| shared.at(LOG) != at);
    std::fs::remove_file(&hook).unwrap();
    assert_eq!(number(first), before);

    say(first, "two").ok();
    assert_eq!(number(first), before + 2);
    let history = first.read(".agent/brief-history.jsonl");
    let place = |text: &str| history.find(&format!("\"{text}\""));
    assert!(
        place("one").is_some() && place("one") < place("two"),
        "{history}"
    );
    first.cook(&["doctor", "fsck"]).ok();
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

#[test]
fn a_server_that_hides_refs_gets_no_branch_before_its_log() {
    let shared = Shared::make_pushed();
    set(&shared, "each");
    let second = shared.another(2);
    second.cook(&["pull"]).ok();
    shared.set("receive.hideRefs", "refs/cook");
    second.write_commit_for("y", "y.txt", "y\n");
    let before = (shared.at("refs/heads/main"), standing(&second));
    say(&second, "one").exits(3);
    assert_eq!((shared.at("refs/heads/main"), standing(&second)), before);
}

/// Nothing of a session could be recorded, so none is held.
#[test]
fn with_each_no_agent_starts_before_the_first_push() {
    let shared = Shared::make_unpushed();
    set(&shared, "each");
    for command in [&["run", "--once"][..], &["run"]] {
        let options = ["--agent", "claude", "--yes"];
        let run = shared.first.cook(&[command, &options].concat());
        run.expect_refused("push_unconfirmed")
            .says("nobody has pushed");
    }
}
