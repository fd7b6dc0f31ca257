//! What servers refuse, forget and leave unsaid.

use crate::remote::server::{Daemon, Http, Manner};
use crate::remote::{LOG, Shared, say};
use std::sync::atomic::Ordering;

fn root(shared: &Shared) -> std::path::PathBuf {
    shared.bare.parent().unwrap().to_owned()
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
