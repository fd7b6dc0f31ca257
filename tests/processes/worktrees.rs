//! A workflow beside everything git does to a worktree: linked worktrees made,
//! removed and used again, `clean`, `stash`, branch switches, unusual repositories.
#![cfg(unix)]

use crate::support::workflow::{MISSION, Sandbox, feed, reports};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A repository with a workflow.
fn make_begun(sandbox: &Sandbox, name: &str) -> PathBuf {
    let work = sandbox.join(name);
    sandbox.repository(&work);
    sandbox.init(&work);
    work
}

fn rule(sandbox: &Sandbox, dir: &Path) -> String {
    sandbox.json(dir, &["next"])["rule"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn id(sandbox: &Sandbox, dir: &Path) -> String {
    let git_dir = sandbox.git(dir, &["rev-parse", "--absolute-git-dir"]);
    let text = std::fs::read_to_string(Path::new(&git_dir).join("cook-id")).unwrap();
    text.trim().to_owned()
}

fn seq(sandbox: &Sandbox, dir: &Path) -> u64 {
    sandbox.json(dir, &["status"])["seq"].as_u64().unwrap()
}

/// The whole job from the selected slice to the accepted one, then `verify`.
fn one_slice(sandbox: &Sandbox, dir: &Path) {
    let record = |role, text: String| sandbox.run(dir, &["record", role], &text, 0);
    record("regrounder", reports::plan());
    let commit = sandbox.commit(
        dir,
        "greeting.txt",
        "hello please\n",
        "Say please\n\nCook-Slice: kind",
    );
    assert_eq!(rule(sandbox, dir), "4");
    record("implementer", reports::report_implemented(&commit));
    record("reviewer", reports::report_reviewed());
    record("auditor", reports::report_audited());
    record("regrounder", reports::accept());
    assert_eq!(rule(sandbox, dir), "8");
    sandbox.run(dir, &["verify", "control-plane"], "", 0);
    sandbox.run(dir, &["doctor", "fsck"], "", 0);
}

#[test]
fn each_linked_worktree_has_a_workflow_of_its_own() {
    let sandbox = Sandbox::new();
    let main = make_begun(&sandbox, "main");
    let linked = sandbox.join("linked");
    sandbox.git(
        &main,
        &[
            "worktree",
            "add",
            "--quiet",
            "-b",
            "side",
            linked.to_str().unwrap(),
        ],
    );
    sandbox.run(&linked, &["init"], "", 0);
    assert_ne!(id(&sandbox, &main), id(&sandbox, &linked));
    one_slice(&sandbox, &linked);
    assert_eq!(
        (seq(&sandbox, &main), rule(&sandbox, &main)),
        (1, "3".to_owned())
    );
    assert_eq!(seq(&sandbox, &linked), 6);
    sandbox.run(&main, &["pause", "here only"], "", 0);
    assert_eq!(rule(&sandbox, &linked), "8");
    sandbox.run(&main, &["doctor", "fsck"], "", 0);
}

#[test]
fn a_removed_worktree_stays_reachable_and_a_new_one_of_its_name_starts_anew() {
    let sandbox = Sandbox::new();
    let main = make_begun(&sandbox, "main");
    let linked = sandbox.join("linked");
    let path = linked.to_str().unwrap();
    let mut ids = BTreeSet::from([id(&sandbox, &main)]);
    for round in 1..=3_usize {
        sandbox.git(&main, &["worktree", "add", "--quiet", "--detach", path]);
        let before = feed(sandbox.cook(&linked).args(["status"]), "");
        assert_eq!(
            before.status.code(),
            Some(3),
            "no workflow of an earlier worktree shows"
        );
        sandbox.run(&linked, &["init"], "", 0);
        for _ in 0..round {
            sandbox.run(&linked, &["pause"], "", 0);
            sandbox.run(&linked, &["resume", "--as-user"], "", 0);
        }
        assert!(ids.insert(id(&sandbox, &linked)), "an id came twice");
        assert_eq!(seq(&sandbox, &linked), 1 + 2 * round as u64);
        sandbox.git(&main, &["worktree", "remove", "--force", path]);
    }
    let log = sandbox.json(&main, &["log", "--all-worktrees", "-n", "100"]);
    let mut found: Vec<(String, usize)> = log["worktrees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let transitions = one["transitions"].as_array().unwrap().len();
            (one["id"].as_str().unwrap().to_owned(), transitions)
        })
        .collect();
    found.sort_by_key(|(_, transitions)| *transitions);
    assert_eq!(
        found.iter().map(|(_, n)| *n).collect::<Vec<_>>(),
        [1, 3, 5, 7]
    );
    assert_eq!(
        found.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>(),
        ids
    );
    sandbox.run(&main, &["doctor", "fsck"], "", 0);
}

#[test]
fn a_moved_worktree_keeps_its_workflow() {
    let sandbox = Sandbox::new();
    let main = make_begun(&sandbox, "main");
    let (old, new) = (sandbox.join("old"), sandbox.join("new place"));
    sandbox.git(
        &main,
        &[
            "worktree",
            "add",
            "--quiet",
            "--detach",
            old.to_str().unwrap(),
        ],
    );
    sandbox.run(&old, &["init"], "", 0);
    let before = id(&sandbox, &old);
    sandbox.git(
        &main,
        &[
            "worktree",
            "move",
            old.to_str().unwrap(),
            new.to_str().unwrap(),
        ],
    );
    assert_eq!(id(&sandbox, &new), before);
    sandbox.run(&new, &["pause"], "", 0);
    assert_eq!(seq(&sandbox, &new), 2);
}

/// Everything under `.agent/` that git does not track is the log's to show again.
fn check_shown_again(sandbox: &Sandbox, dir: &Path, before: &Value) {
    let status = sandbox.json(dir, &["status"]);
    for key in ["seq", "mission_anchor", "wave", "slices"] {
        assert_eq!(status[key], before[key], "{key}");
    }
    sandbox.run(dir, &["plan", "adopt", "--discard", "--as-user"], "", 0);
    for file in [
        "state.json",
        "plan.json",
        "active-slice.json",
        "slice-history.jsonl",
    ] {
        assert!(dir.join(".agent").join(file).is_file(), "{file}");
    }
    sandbox.run(dir, &["doctor", "fsck"], "", 0);
    sandbox.run(dir, &["verify", "control-plane"], "", 0);
}

#[test]
fn git_clean_takes_the_view_and_nothing_else() {
    let sandbox = Sandbox::new();
    for selected in [false, true] {
        let work = make_begun(&sandbox, if selected { "selected" } else { "fresh" });
        if selected {
            sandbox.run(&work, &["record", "regrounder"], &reports::plan(), 0);
        }
        let before = sandbox.json(&work, &["status"]);
        sandbox.git(&work, &["clean", "-fdx", "--quiet"]);
        assert!(!work.join(".agent/state.json").exists());
        assert_eq!(
            rule(&sandbox, &work),
            "2",
            "what is gone is answered by a re-ground"
        );
        check_shown_again(&sandbox, &work, &before);
    }
}

#[test]
fn a_stash_of_everything_takes_the_view_and_nothing_else() {
    let sandbox = Sandbox::new();
    let work = make_begun(&sandbox, "work");
    sandbox.run(&work, &["record", "regrounder"], &reports::plan(), 0);
    let before = sandbox.json(&work, &["status"]);
    std::fs::write(work.join("draft.txt"), "draft\n").unwrap();
    sandbox.git(&work, &["stash", "push", "--quiet", "--include-untracked"]);
    assert_eq!(sandbox.json(&work, &["status"])["seq"], before["seq"]);
    assert_eq!(rule(&sandbox, &work), "4", "a stash leaves what is ignored");
    sandbox.git(&work, &["stash", "pop", "--quiet"]);
    std::fs::remove_file(work.join("draft.txt")).unwrap();
    // With --all the ignored view goes too, and comes back as it was.
    sandbox.git(&work, &["stash", "push", "--quiet", "--all"]);
    assert!(!work.join(".agent/state.json").exists());
    assert_eq!(rule(&sandbox, &work), "2");
    sandbox.git(&work, &["stash", "pop", "--quiet"]);
    assert_eq!(rule(&sandbox, &work), "4");
    sandbox.git(&work, &["stash", "push", "--quiet", "--all"]);
    check_shown_again(&sandbox, &work, &before);
}

/// A stash of an earlier view that comes back over a later one is an edit, and
/// is kept when the log's version is put back.
#[test]
fn an_old_view_out_of_a_stash_does_not_move_the_workflow_back() {
    let sandbox = Sandbox::new();
    let work = make_begun(&sandbox, "work");
    let old = std::fs::read(work.join(".agent/state.json")).unwrap();
    sandbox.run(&work, &["record", "regrounder"], &reports::plan(), 0);
    std::fs::write(work.join(".agent/state.json"), &old).unwrap();
    assert_eq!(rule(&sandbox, &work), "2");
    assert_eq!(seq(&sandbox, &work), 2);
    sandbox.run(&work, &["plan", "adopt", "--discard", "--as-user"], "", 0);
    assert_eq!(rule(&sandbox, &work), "4");
}

#[test]
fn a_branch_switch_waits_for_the_user_in_every_state() {
    let sandbox = Sandbox::new();
    let work = make_begun(&sandbox, "work");
    sandbox.git(&work, &["branch", "side"]);
    let there_and_back = |expected: &str| {
        assert_eq!(rule(&sandbox, &work), expected);
        sandbox.git(&work, &["switch", "--quiet", "side"]);
        let next = sandbox.json(&work, &["next"]);
        assert_eq!(next["rule"], "S", "{expected}: {next}");
        assert_eq!(next["policy"], "await_user_input", "{expected}");
        sandbox.git(&work, &["switch", "--quiet", "main"]);
        assert_eq!(rule(&sandbox, &work), expected);
    };
    let record = |role, text: String| sandbox.run(&work, &["record", role], &text, 0);
    there_and_back("3");
    record("regrounder", reports::plan());
    there_and_back("4");
    let commit = sandbox.commit(
        &work,
        "greeting.txt",
        "hello please\n",
        "Say please\n\nCook-Slice: kind",
    );
    there_and_back("4");
    record("implementer", reports::report_implemented(&commit));
    there_and_back("5");
    record("reviewer", reports::report_reviewed());
    there_and_back("6");
    record("auditor", reports::report_audited());
    there_and_back("7");
    record("regrounder", reports::accept());
    there_and_back("8");
    sandbox.run(&work, &["verify", "control-plane"], "", 0);
}

#[test]
fn the_whole_slice_in_unusual_repositories() {
    let sandbox = Sandbox::new();
    let plain = |name: &str, options: &[&str]| {
        let work = sandbox.join(name);
        sandbox.init_repository_with(&work, options);
        sandbox.init(&work);
        one_slice(&sandbox, &work);
    };
    plain("with spaces and 'quotes'", &[]);
    plain("sha256", &["--object-format=sha256"]);
    let odd = sandbox.path().join(OsStr::from_bytes(b"caf\xe9 \xff"));
    sandbox.repository(&odd);
    sandbox.init(&odd);
    one_slice(&sandbox, &odd);
}

#[test]
fn the_whole_slice_on_a_detached_head() {
    let sandbox = Sandbox::new();
    let work = sandbox.join("work");
    sandbox.repository(&work);
    sandbox.git(&work, &["switch", "--quiet", "--detach"]);
    sandbox.init(&work);
    one_slice(&sandbox, &work);
}

#[test]
fn the_whole_slice_in_a_submodule_beside_its_superproject() {
    let sandbox = Sandbox::new();
    let inner = sandbox.join("inner");
    sandbox.repository(&inner);
    let outer = make_begun(&sandbox, "outer");
    sandbox.git(
        &outer,
        &[
            "submodule",
            "--quiet",
            "add",
            inner.to_str().unwrap(),
            "part",
        ],
    );
    sandbox.git(
        &outer,
        &["commit", "--quiet", "--message", "Take the part in"],
    );
    let part = outer.join("part");
    sandbox.run(
        &part,
        &[
            "init",
            "--assurance",
            "strict",
            "--mission",
            MISSION,
            "--commit",
        ],
        "",
        0,
    );
    one_slice(&sandbox, &part);
    assert_ne!(id(&sandbox, &part), id(&sandbox, &outer));
    assert_eq!(seq(&sandbox, &outer), 1);
    // The submodule's new commit is a change of the superproject, as git says.
    assert_eq!(sandbox.git(&outer, &["status", "--porcelain"]), " M part");
}

/// As root only: a repository of somebody else is refused as git refuses it, and
/// taken as git takes it.
#[test]
fn a_foreign_repository_is_refused_as_git_does() {
    let sandbox = Sandbox::new();
    let work = make_begun(&sandbox, "work");
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: only root can give a repository away");
        return;
    }
    give_away(&work);
    let cook = |args: &[&str]| feed(sandbox.cook(&work).args(args), "");
    let git = sandbox
        .command("git", &work)
        .args(["status"])
        .output()
        .unwrap();
    assert!(!git.status.success(), "git refuses it");
    assert_eq!(cook(&["next"]).status.code(), Some(3));
    assert_eq!(cook(&["pause"]).status.code(), Some(3));
    let config = sandbox.join("home/safe");
    std::fs::write(
        &config,
        format!("[safe]\n\tdirectory = {}\n", work.display()),
    )
    .unwrap();
    let trusted = |program: &str, args: &[&str]| {
        let mut command = sandbox.command(program, &work);
        command.args(args).env("GIT_CONFIG_GLOBAL", &config);
        feed(&mut command, "").status.code()
    };
    assert_eq!(trusted("git", &["status"]), Some(0), "git takes it now");
    assert_eq!(trusted(env!("CARGO_BIN_EXE_cook"), &["next"]), Some(0));
}

fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(12_345), Some(12_345)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in std::fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}
