//! Clones of one bare remote: work begun in one is finished in another, and nobody's is lost.

use crate::remote::{LOG, Shared, log, say, standing};
use crate::support::reports::slice;
use crate::support::{Repo, run};
use cook_repo::remote::{Remote, Side};

fn tip(repo: &Repo) -> String {
    let entry = repo.cook(&["log", "@", "--json"]).ok().json();
    entry["commit"]
        .as_str()
        .or(entry["operation"].as_str())
        .unwrap()
        .to_owned()
}

#[test]
fn work_that_was_begun_here_is_finished_there_and_comes_back() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    first.plan_and_select(&[slice("one"), slice("two")]);
    first.build_slice("one");
    first.accept_slice("one");
    first.cook(&["push"]).ok().says("refs/heads/main").says(LOG);

    let second = shared.another(2);
    second
        .cook(&["status"])
        .fails(3, "not_initialised")
        .says("`cook pull`");
    second
        .cook(&["pull"])
        .ok()
        .says("this clone has the log now");
    assert_eq!(second.git(&["status", "--short"]), "");
    assert!(!second.git(&["for-each-ref"]).contains("cook"));
    second.cook(&["verify", "control-plane"]).ok();
    // What one machine trusts, another does not.
    second.trust("bash .agent/verify_completion_stop.sh");
    second.work_until_done();
    let done = second.head();
    second
        .cook(&["push"])
        .ok()
        .says(&format!("refs/cook/done/{done}"));
    assert_eq!(shared.at(LOG), tip(&second));
    assert_eq!(shared.at(&format!("refs/cook/done/{done}")), tip(&second));

    first.cook(&["pull"]).ok().says("branch_elsewhere");
    first.git(&["pull", "-q", "origin", "main"]);
    first.cook(&["next"]).ok().says("the project is done");
    first.cook(&["doctor", "fsck"]).ok();
    // The done commit stays reachable when the branch goes.
    shared.git(&["update-ref", "-d", "refs/heads/main"]);
    let kept = shared.git(&["merge-base", &done, "refs/cook/keep/main"]);
    assert_eq!(kept, done);
}

#[test]
fn what_looks_like_a_secret_does_not_leave_unless_it_is_allowed() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    let token = format!("ghp_{}", "a1B2".repeat(8));
    say(first, &format!("use {token} there")).ok();
    let before = shared.at(LOG);
    first
        .cook(&["push", "--dry-run"])
        .expect_refused("secret_found");
    let refused = first.cook(&["push"]).expect_refused("secret_found");
    assert!(!refused.err.contains(&token), "{}", refused.err);
    assert_eq!(shared.at(LOG), before);
    let id = refused
        .err
        .split("--allow-secret ")
        .last()
        .unwrap()
        .trim()
        .trim_matches('`')
        .to_owned();
    first
        .cook(&["push", "--allow-secret", "000000000000", "--yes"])
        .expect_refused("secret_found");
    first.cook(&["push", "--allow-secret", &id, "--yes"]).ok();
    assert_ne!(shared.at(LOG), before);
}

/// Documents hold a line end as two signs, and a letter is the second one.
#[test]
fn a_secret_at_the_start_of_a_line_does_not_leave() {
    let token = format!("ghp_{}", "a1B2".repeat(8));
    for before in ["use this:\n", "tab\t", "a diff:\n+", "\u{1b}[1m"] {
        let shared = Shared::make_pushed();
        let said = shared
            .first
            .cook_command(&["brief", "say", "-", "--as-user"]);
        run(said, format!("{before}{token}\n").as_bytes()).ok();
        let at = shared.at(LOG);
        let refused = shared
            .first
            .cook(&["push", "--yes"])
            .expect_refused("secret_found");
        assert!(!refused.err.contains(&token), "{}", refused.err);
        assert_eq!(shared.at(LOG), at, "{before:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_hook_that_says_no_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let shared = Shared::make_pushed();
    let first = &shared.first;
    first.write_commit_for("x", "x.txt", "x\n");
    let hook = first.root.join(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho not on a Friday >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    first
        .cook(&["push"])
        .fails(3, "remote_refused")
        .says("`pre-push`")
        .says("not on a Friday");
}

#[test]
fn a_branch_with_no_name_of_one_is_refused() {
    let shared = Shared::make_pushed();
    let second = shared.another(2);
    second.git(&["checkout", "-q", "--detach"]);
    for name in [
        "../../x", "a b", "-x", "a..b", "a.lock", "", "/a", "a//b", "x@{1}",
    ] {
        second.cook(&["pull", &format!("--branch={name}")]).exits(2);
    }
    second.cook(&["pull", "--branch=main"]).ok();
}

/// The child has a group of its own, so nobody but cook ends it.
#[cfg(target_os = "linux")]
#[test]
fn a_push_that_is_asked_to_end_ends_with_its_git() {
    let shared = Shared::make_unpushed();
    let first = &shared.first;
    let mark = first.beside("started");
    let script = first.beside("receive.sh");
    let text = format!(
        "#!/bin/sh\necho $$ >{0}.new\nmv {0}.new {0}\nsleep 100\n",
        mark.display()
    );
    std::fs::write(&script, text).unwrap();
    let program = format!("sh {}", script.display());
    first.git(&["config", "remote.origin.receivepack", &program]);
    let mut push = first.cook_command(&["push", "--yes"]);
    push.stdin(std::process::Stdio::null());
    push.stdout(std::process::Stdio::null());
    push.stderr(std::process::Stdio::piped());
    let cook = push.spawn().unwrap();
    while !mark.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let server = std::fs::read_to_string(&mark).unwrap();
    let id = cook.id().to_string();
    let kill = format!("kill -TERM {id}");
    first.command("bash").args(["-c", &kill]).status().unwrap();
    let ended = cook.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.contains("is not known"), "{said}");
    // Whoever adopted it may not have asked after it yet.
    let stat = format!("/proc/{}/stat", server.trim());
    let is_alive = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    for _ in 0..100 {
        if !is_alive() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the server's process goes on: {said}");
}

/// What was pushed to one address was never seen at another: nobody is told that it is gone there.
#[test]
fn a_remote_that_is_pushed_elsewhere_is_two_remotes() {
    let shared = Shared::make_unpushed();
    let first = &shared.first;
    let other = first.beside("other.git");
    let other = other.to_str().unwrap();
    first.git(&["init", "-q", "--bare", "-b", "main", other]);
    first.git(&["config", "remote.origin.pushurl", other]);
    first.cook(&["push", "--yes"]).ok();
    assert_eq!(shared.at(LOG), "");
    first.cook(&["push"]).ok().says("has everything already");
    first.cook(&["pull"]).fails(3, "remote_log_absent");
    first
        .cook(&["verify", "--from", "origin"])
        .exits(1)
        .says("log_missing");
    // The same address, written down twice, is one.
    let bare = shared.bare.to_str().unwrap();
    first.git(&["config", "remote.origin.pushurl", bare]);
    first.cook(&["push", "--yes"]).ok();
    shared.git(&["update-ref", "-d", LOG]);
    first.cook(&["pull"]).fails(3, "log_gone");
    first.cook(&["push"]).fails(3, "log_gone");
}

#[test]
fn a_server_that_hides_the_log_is_told_from_nothing_by_what_to_do() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    shared.git(&["config", "transfer.hideRefs", "refs/cook"]);
    for command in [&["pull"][..], &["push"], &["verify", "--from", "origin"]] {
        first
            .cook(command)
            .fails(3, "log_gone")
            .says("the server hides it")
            .says("remote_ref = ");
    }
    let text =
        first.read(".agent/cook.toml") + "\n[log]\nremote_ref = \"refs/heads/cook/{branch}\"\n";
    first.write(".agent/cook.toml", text);
    first.commit("Let the log show among the branches", None);
    first.cook(&["push", "--restore", "--yes"]).ok();
    first.cook(&["pull"]).ok();
}

/// A document is JSON: there a value stands otherwise than in the variable.
#[test]
fn a_secret_that_json_writes_otherwise_is_found() {
    for secret in ["hunter2\"pass-word-99", "hunter2\\pass-word-99"] {
        let shared = Shared::make_pushed();
        say(&shared.first, &format!("log in with {secret} there")).ok();
        let before = shared.at(LOG);
        let mut push = shared.first.cook_command(&["push"]);
        push.env("MY_TOKEN", secret);
        let refused = run(push, b"").expect_refused("secret_found");
        assert!(!refused.err.contains(secret), "{}", refused.err);
        assert_eq!(shared.at(LOG), before);
    }
}

#[test]
fn who_comes_second_is_told_what_the_first_recorded() {
    let shared = Shared::make_pushed();
    let second = shared.another(2);
    second.cook(&["pull"]).ok();
    second.cook(&["pause", "a rest"]).ok();
    second.cook(&["push"]).ok();
    let first = &shared.first;
    // The same second and the same decision: two commits, and one of them is first.
    first.cook(&["pause", "a rest"]).ok();
    assert_ne!(tip(first), tip(&second));
    first
        .cook(&["push"])
        .expect_refused("remote_ahead")
        .says("#2")
        .says("paused");
    assert_eq!(shared.at(LOG), tip(&second));
    let before = standing(first);
    first
        .cook(&["pull", "--keep-mine"])
        .expect_refused("log_diverged");
    assert_eq!(standing(first), before);
    let mine = tip(first);
    first.cook(&["pull"]).ok().says("transitions_set_aside");
    assert_eq!(tip(first), tip(&second));
    let refs = log(
        first,
        &["for-each-ref", "--format=%(objectname)", "refs/cook/rescue"],
    )
    .ok()
    .out;
    assert_eq!(refs.trim(), mine);
    let kept = first
        .cook(&["doctor", "rescue", "list"])
        .ok()
        .says("refs/cook/rescue/");
    kept.says("log.git").says(&mine[..12]);
    let kept = first
        .cook(&["doctor", "rescue", "list", "--json"])
        .ok()
        .json();
    let name = kept["refs"][0]["name"].as_str().unwrap();
    first
        .cook(&["doctor", "rescue", "show", name])
        .ok()
        .says(&mine[..12]);
    first.cook(&["doctor", "fsck"]).ok();
    first.cook(&["verify", "control-plane"]).ok();
    first.cook(&["push"]).ok().says("has everything already");
}

#[test]
fn a_log_that_was_set_back_and_went_on_is_taken_in_on_demand() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    let old = shared.at(LOG);
    let second = shared.another(2);
    second.cook(&["pull"]).ok();
    say(first, "seen by the first").ok();
    first.cook(&["push"]).ok();
    let mine = tip(first);
    shared.git(&["update-ref", LOG, &old]);
    say(&second, "one").ok();
    say(&second, "two").ok();
    second.cook(&["push"]).ok();
    let before = standing(first);
    first
        .cook(&["pull"])
        .fails(3, "remote_log_rewound")
        .says("cook push --restore")
        .says("cook pull --accept");
    first
        .cook(&["push", "--restore", "--yes"])
        .expect_refused("remote_ahead");
    first
        .cook(&["pull", "--accept"])
        .expect_refused("user_only")
        .says("--as-user");
    first
        .cook_env(&["pull", "--accept", "--as-user"], "CLAUDECODE", "1")
        .expect_refused("user_only");
    assert_eq!(standing(first), before);

    let pulled = first.cook(&["pull", "--accept", "--as-user"]).ok();
    pulled
        .says("transitions_set_aside")
        .says("1 transition of this clone")
        .says("2 transitions");
    assert_eq!(tip(first), tip(&second));
    let kept = log(
        first,
        &["for-each-ref", "--format=%(objectname)", "refs/cook/rescue"],
    )
    .ok()
    .out;
    assert_eq!(kept.trim(), mine);
    first.cook(&["pull"]).ok();
    first.cook(&["push"]).ok().says("has everything already");
    first.cook(&["doctor", "fsck"]).ok();

    // The same where the log there is simply before what was seen.
    shared.git(&["update-ref", LOG, &old]);
    first
        .cook(&["pull"])
        .fails(3, "remote_log_rewound")
        .says("cook pull --accept");
    first
        .cook(&["pull", "--accept", "--as-user"])
        .ok()
        .says("transitions_set_aside")
        .says("2 transitions of this clone");
    assert_eq!(tip(first), old);
    // Where nothing was set back, it is a pull, and what is only here stays.
    say(first, "more").ok();
    let here = tip(first);
    first.cook(&["pull", "--accept", "--as-user"]).ok();
    assert_eq!(tip(first), here);
}

#[test]
fn a_log_of_another_mission_stays_until_it_has_ended() {
    let shared = Shared::make_pushed();
    let second = shared.another(2);
    second.cook(&["init"]).ok();
    second
        .cook(&["push", "--yes"])
        .fails(3, "log_other")
        .says("Build it");
    second.cook(&["pull"]).fails(3, "log_other");
    let first = &shared.first;
    first.cook(&["cancel", "no more", "--as-user"]).ok();
    first.cook(&["push"]).ok();
    let ended = shared.at(LOG);
    second.cook(&["push"]).expect_refused("push_unconfirmed");
    second.cook(&["push", "--yes"]).ok();
    assert_eq!(shared.at(LOG), tip(&second));
    assert_eq!(shared.at("refs/cook/old/"), ended);
    // Whoever has the ended one gets the other, and loses nothing.
    first.cook(&["pull"]).ok().says("transitions_set_aside");
    assert_eq!(tip(first), tip(&second));
}

#[test]
fn partial_shallow_and_mirror_clones_take_the_whole_log() {
    let shared = Shared::make_pushed();
    say(&shared.first, "more").ok();
    shared.first.write_commit_for("x", "x.txt", "x\n");
    shared.first.cook(&["push"]).ok();
    shared.set("uploadpack.allowFilter", "true");
    let url = format!("file://{}", shared.bare.display());
    for how in [&["--filter=blob:none"][..], &["--depth=1"]] {
        let clone = Repo::directory();
        let words = [&["clone", "-q"], how, &[&url, "."]].concat();
        clone.git(&words);
        clone.cook(&["pull"]).ok();
        clone.cook(&["doctor", "fsck"]).ok();
        clone.cook(&["verify", "control-plane"]).ok();
        assert!(!clone.git(&["for-each-ref"]).contains("cook/"), "{how:?}");
    }
    // One that has the log's objects among its own.
    let mirror = shared.another(4);
    mirror.git(&["fetch", "-q", "origin", "+refs/cook/*:refs/cook/*"]);
    mirror.cook(&["pull"]).ok();
    mirror.git(&["update-ref", "-d", LOG]);
    mirror.git(&["gc", "-q", "--prune=now"]);
    mirror.cook(&["doctor", "fsck"]).ok();
    mirror.git(&["config", "remote.origin.mirror", "true"]);
    say(&mirror, "more").ok();
    mirror.cook(&["push"]).fails(3, "remote_mirror");
}

#[test]
fn a_log_is_read_where_it_is_and_nothing_is_written_here() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    say(first, "more").ok();
    first.cook(&["push"]).ok();
    let fresh = shared.another(2);
    for knows_some in [false, true] {
        if knows_some {
            fresh.cook(&["pull"]).ok();
        }
        let objects = || fresh.git(&["count-objects", "-v"]);
        let before = (standing(&fresh), objects(), fresh.git(&["for-each-ref"]));
        let repo = cook_repo::git::Repo::discover(&fresh.root).unwrap();
        let place = cook_repo::store::Place {
            common_dir: repo.common_dir().to_owned(),
            git_dir: repo.git_dir().to_owned(),
            worktree: repo.root().to_owned(),
        };
        let names = cook_protocol::model::LogRefs::default();
        let remote =
            Remote::open(&repo, place, names, None, Some("main"), Side::Fetch, false).unwrap();
        let listing = remote.look("main", Side::Fetch).unwrap();
        let there = listing.log.unwrap();
        assert_eq!(there.commit, shared.at(LOG));
        let stores = remote.read(std::slice::from_ref(&there)).unwrap();
        let store = &stores[0];
        assert_eq!(store.tip().unwrap().unwrap().commit, there.commit);
        assert_eq!(store.entries().unwrap().count(), 2);
        let reach = store.reach().unwrap();
        assert!(
            reach.is_whole && reach.findings.is_empty(),
            "{:?}",
            reach.findings
        );
        assert!(store.lock(std::time::Duration::ZERO).is_err());
        assert_eq!(
            (standing(&fresh), objects(), fresh.git(&["for-each-ref"])),
            before
        );
    }
}

#[test]
fn another_worktree_of_the_branch_begins_no_second_log() {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    first.git(&["switch", "-q", "-c", "elsewhere"]);
    let beside = first.beside("beside");
    first.git(&["worktree", "add", "-q", beside.to_str().unwrap(), "main"]);
    let at = |words: &[&str]| {
        let all = [&["-C", beside.to_str().unwrap()], words].concat();
        first.cook(&all)
    };
    at(&["next"]).ok().says("cook pull").never_says("cook init");
    at(&["status"])
        .fails(3, "not_initialised")
        .says("`cook pull`")
        .never_says("cook init");
    at(&["init"])
        .expect_refused("remote_ahead")
        .says("cook init --log new");
    at(&["pull"]).ok();
    at(&["status"]).ok();
}
