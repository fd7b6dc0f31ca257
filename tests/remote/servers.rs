//! What servers refuse, forget and leave unsaid.

use crate::remote::server::{Daemon, Http, Manner};
use crate::remote::{LOG, Shared, log, say, standing};
use crate::support::run;
use std::sync::atomic::Ordering;

fn root(shared: &Shared) -> std::path::PathBuf {
    shared.bare.parent().unwrap().to_owned()
}

/// The first clone remembers that the log stood there: at this server, which it knows by its address.
fn has_seen(shared: &Shared, tip: &str) -> bool {
    let name = ["for-each-ref", "--format=%(objectname)", "refs/remotes"];
    let seen = log(&shared.first, &name).ok().out;
    seen.lines().any(|seen| seen == tip)
}

#[test]
fn credentials_of_the_repository_are_used_and_their_failure_is_shown() {
    let shared = Shared::make_pushed();
    shared.set("http.receivepack", "true");
    // u:secret
    let manner = Manner {
        credentials: "dTpzZWNyZXQ=",
        ..Manner::default()
    };
    let http = Http::serve(&root(&shared), manner);
    let first = &shared.first;
    first.git(&["remote", "set-url", "origin", "alias:r.git"]);
    let base = http.url.strip_suffix("r.git").unwrap();
    first.git(&["config", &format!("url.{base}.insteadOf"), "alias:"]);
    say(first, "more").ok();
    let before = standing(first);
    let failed = first.cook(&["push"]).fails(3, "remote_unreachable");
    failed.says("git says:").says("could not read Username");
    assert_eq!(standing(first), before);
    let helper = "!f() { echo username=u; echo password=secret; }; f";
    first.git(&["config", &format!("credential.{base}.helper"), helper]);
    first.cook(&["push"]).ok();
    assert!(has_seen(&shared, &shared.at(LOG)));
    let second = shared.another(2);
    second.git(&["remote", "set-url", "origin", &http.url]);
    second.git(&["config", &format!("credential.{base}.helper"), helper]);
    second.cook(&["pull"]).ok();
    second.cook(&["doctor", "fsck"]).ok();
}

/// A push of one transition is small, whatever the log holds already: all that is asked and sent for it,
/// the words of HTTP included.
#[test]
fn a_push_of_one_transition_is_small() {
    let shared = Shared::make_pushed();
    let http = Http::serve(&root(&shared), Manner::default());
    shared.set("http.receivepack", "true");
    let first = &shared.first;
    first.git(&["remote", "set-url", "origin", &http.url]);
    let bytes = || http.manner.received.swap(0, Ordering::SeqCst);
    for number in 0..60 {
        say(first, &format!("words {number}")).ok();
    }
    first.cook(&["push"]).ok();
    println!("60 transitions: {} bytes", bytes());
    for round in 0..3 {
        first.cook(&["pause", "a rest"]).ok();
        first.cook(&["push"]).ok();
        let one = bytes();
        println!("one transition, {round}: {one} bytes");
        assert!((500..=8 << 10).contains(&one), "{one}");
        first.cook(&["resume", "--as-user"]).ok();
        first.cook(&["push"]).ok();
        bytes();
    }
}

#[test]
fn a_daemon_serves_both_ways() {
    let shared = Shared::make_pushed();
    let daemon = Daemon::serve(&root(&shared));
    say(&shared.first, "more").ok();
    shared.first.cook(&["push", "--yes", &daemon.url]).ok();
    let second = shared.another(2);
    second.cook(&["pull", &daemon.url]).ok().says("pulled #2");
}

#[test]
fn a_push_whose_answer_was_lost_is_asked_after() {
    let shared = Shared::make_pushed();
    shared.set("http.receivepack", "true");
    let http = Http::serve(&root(&shared), Manner::default());
    let first = &shared.first;
    first.git(&["remote", "set-url", "origin", &http.url]);
    say(first, "more").ok();
    http.manner.dies_after_push.store(true, Ordering::SeqCst);
    first.cook(&["push"]).ok().says("pushed");
    assert!(has_seen(&shared, &shared.at(LOG)));
    first.cook(&["push"]).ok().says("has everything already");
}

#[test]
fn a_slow_server_is_waited_for_and_no_longer_than_said() {
    let shared = Shared::make_pushed();
    shared.set("http.receivepack", "true");
    let http = Http::serve(&root(&shared), Manner::default());
    let first = &shared.first;
    first.git(&["remote", "set-url", "origin", &http.url]);
    say(first, "more").ok();
    http.manner.delay.store(300, Ordering::SeqCst);
    let before = standing(first);
    first
        .cook_env(&["push"], "COOK_REMOTE_MS", "200")
        .fails(3, "remote_unreachable");
    first
        .cook_env(&["pull"], "COOK_REMOTE_MS", "200")
        .fails(3, "remote_unreachable");
    assert_eq!(standing(first), before);
    first.cook(&["push"]).ok();
}

#[test]
fn a_server_that_hides_the_refs_takes_a_part_and_that_is_named() {
    let shared = Shared::make_unpushed();
    shared.set("receive.hideRefs", "refs/cook");
    let first = &shared.first;
    let run = first.cook(&["push", "--yes"]);
    // A server may refuse all of it, or take the branch.
    let head = first.head();
    match shared.at("refs/heads/main") == head {
        true => run.fails(3, "remote_split").says("remote_ref = "),
        false => run.fails(3, "remote_refused").says("remote_ref = "),
    };
    assert_eq!(shared.at(LOG), "");
    // The log goes alone from now on, and says what keeps it.
    first.cook(&["push", "--yes"]).exits(3).says("hidden ref");
    let text =
        first.read(".agent/cook.toml") + "\n[log]\nremote_ref = \"refs/heads/cook/{branch}\"\n";
    first.write(".agent/cook.toml", text);
    first.commit("Let the log show among the branches", None);
    first
        .cook(&["push", "--yes"])
        .ok()
        .says("refs/heads/cook/main");
    // git names nothing here that it has no objects for, whatever the user fetches.
    first.git(&["fsck", "--no-dangling"]);
    assert_eq!(
        first.git(&["for-each-ref", "refs/remotes/origin/cook/"]),
        ""
    );
    let second = shared.another(2);
    second.cook(&["pull"]).ok();
    say(&second, "from the other clone").ok();
    second.cook(&["push", "--yes"]).ok();
    first.cook(&["pull"]).ok();
    first.git(&["fetch", "-q"]);
    first.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_server_without_atomic_push_is_named() {
    let shared = Shared::make_unpushed();
    shared.set("receive.advertiseAtomic", "false");
    shared
        .first
        .cook(&["push", "--yes"])
        .fails(3, "remote_not_atomic");
    assert_eq!(shared.at("refs/"), "");
}

#[test]
fn what_a_server_takes_no_more_of_stays_here() {
    let shared = Shared::make_pushed();
    shared.set("receive.maxInputSize", "100");
    let first = &shared.first;
    say(first, "more").ok();
    let before = standing(first);
    first.cook(&["push"]).exits(3).says("git says:");
    assert_eq!(standing(first), before);
    shared.git(&["config", "--unset", "receive.maxInputSize"]);
    shared.set("receive.denyNonFastForwards", "true");
    shared.set("receive.denyDeletes", "true");
    first.cook(&["push"]).ok();
}

#[test]
fn a_commit_that_the_branch_lost_is_kept_there() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    first.plan_and_select(&[
        crate::support::reports::slice("one"),
        crate::support::reports::slice("two"),
    ]);
    first.build_slice("one");
    first.accept_slice("one");
    let lost = first.head();
    first.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        "Another message\n\nCook-Slice: one",
    ]);
    first.cook(&["push"]).ok().says("refs/cook/keep/main");
    let kept = shared.git(&["merge-base", &lost, "refs/cook/keep/main"]);
    assert_eq!(kept, lost);
    // What is kept stays the first parent of what is kept later.
    let tip = shared.at("refs/cook/keep/main");
    first.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        "A third\n\nCook-Slice: one",
    ]);
    run(first.cook_command(&["brief", "say", "x", "--as-user"]), b"").ok();
    first.git(&["push", "-q", "--force", "origin", "HEAD:main"]);
    first.cook(&["push"]).ok();
    let now = shared.at("refs/cook/keep/main");
    assert_eq!(shared.git(&["merge-base", &tip, &now]), tip);
}
