//! Ways to come to `done` without the work. They all have one end: `done` is recorded only where a clone of
//! HEAD passes its gate. Judges, reviewers and auditors say yes to everything.
//!
//! `COOK_CHEATS=whole` tries each way at both moments, with the sandbox and without it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "../support/mod.rs"]
mod support;
mod ways;

use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use support::story::{GATE, MISSION, evidence_a, plan};
use support::{Repo, Run, clean, run_alone};
use ways::{HONEST, WAYS, Way};

/// When a way is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// In place of the slice's work.
    Slice,
    /// After the slice was accepted, before the judges.
    Wave,
}

/// What every way begins with. `work` commits what is there; `hide` is for files that no commit has.
const PRELUDE: &str = r#"
set -u
OUT="$PWD/../outside"
mkdir -p "$OUT/bin"
# Without this git would put its file in the place of the device.
export GIT_CONFIG_GLOBAL="$HOME/.gitconfig"
work() { git add -A && git commit -q -m "work" -m "Cook-Slice: a"; }
good() { printf 'ok 1 - one\nok 2 - two\n' >results; printf 'one\ntwo\n' >a.txt; }
env_of_cook() { printf '%s\n' "$1" >>"$OUT/env"; }
program() { printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"; }
"#;

/// A slice is selected; the gate passes where `a.txt` says two and nothing is `red`.
fn begin(sandbox: &str) -> Repo {
    Repo::stage(&format!("cheats-{sandbox}"), || {
        let repo = Repo::unborn();
        repo.write(
            "test.sh",
            "cat results && grep -qx two a.txt && test ! -e red\n",
        );
        repo.write("README.md", "# tool\n\nA tool.\n");
        let settings = format!(
            "[sandbox]\nmode = \"{sandbox}\"\n[clean_room]\ncache = [\"target\"]\n[gates.test]\nrun = \"{GATE}\"\n"
        );
        repo.write(".agent/cook.toml", settings);
        repo.commit("begin", None);
        repo.cook(&["init", "--mission", MISSION, "--commit"])
            .exits(0);
        repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
        repo.select_a();
        repo
    })
}

fn at(moment: Moment, sandbox: &str) -> Repo {
    match moment {
        Moment::Slice => begin(sandbox),
        Moment::Wave => Repo::stage(&format!("cheats-wave-{sandbox}"), || {
            let repo = begin(sandbox);
            act(&repo, "good; work");
            assert_eq!(press_on(&repo, "8"), "8");
            repo
        }),
    }
}

/// Does what an agent might, with an agent's rights.
fn act(repo: &Repo, script: &str) {
    repo.outside();
    let home = repo.beside("home/.gitconfig").display().to_string();
    repo.extra
        .borrow_mut()
        .push(("GIT_CONFIG_GLOBAL".to_owned(), home));
    let mut command = repo.command("bash");
    command.args(["-c", &format!("{PRELUDE}{script}")]);
    run_alone(&mut command).ok();
    let said = std::fs::read_to_string(repo.beside("outside/env")).unwrap_or_default();
    for line in said.lines() {
        let (name, value) = line.split_once('=').unwrap();
        repo.extra
            .borrow_mut()
            .push((name.to_owned(), value.to_owned()));
    }
}

/// Hands in one report after another, each of them yes, until one is not taken, the work is done, or this
/// rule is reached; the last rule.
fn press_on(repo: &Repo, until: &str) -> String {
    let mut reported = false;
    for judge in 0..16 {
        let next = repo.cook(&["next", "--json"]);
        if next.code != 0 {
            return "refused".to_owned();
        }
        let next = next.json();
        let rule = next["rule"].as_str().unwrap().to_owned();
        if rule == until {
            return rule;
        }
        let record = |role: &str, report: String| -> Run { repo.record(role, report) };
        let taken = match rule.as_str() {
            "4" if !reported => {
                reported = true;
                let head = repo.git(&["rev-parse", "HEAD"]);
                record("implementer", repo.implementation("a", &head))
            }
            "5" => record("reviewer", repo.review(true)),
            "6" => record("auditor", repo.audit("b")),
            "7" => {
                let mut plan = plan();
                plan["candidate_slices"][1]["status"] = json!("cancelled");
                plan["candidate_slices"][1]["reason"] = json!("the mission does not need it");
                let block = json!({
                    "reconcile": {"slice_id": "a", "decision": "accepted"},
                    "evidence": evidence_a(),
                    "plan": plan,
                });
                record("regrounder", repo.reground("accepted", "a", "none", &block))
            }
            "8" if next["blocking_command"].is_string() => repo.cook(&["verify", "stop"]),
            "8" => repo.record_with(
                &["stop-judge", "--session", &format!("judge-{judge}")],
                repo.judge(true),
            ),
            "9" => {
                let block = json!({"conclude": {"decision": "stop"}});
                record("regrounder", repo.reground("none", "none", "none", &block))
            }
            _ => return rule,
        };
        if taken.code != 0 {
            return format!("{rule}: {}", taken.out);
        }
    }
    "no end".to_owned()
}

/// By the log: the documents in the worktree are anybody's to edit.
fn is_done(repo: &Repo) -> bool {
    let next = repo.cook(&["next", "--json"]);
    next.code == 0 && next.json()["policy"] == json!("done")
}

/// Whether a clone of HEAD passes the gate, where nothing of this place is left to look at.
fn clone_passes(repo: &Repo) -> bool {
    let place = support::room();
    let (clone, home) = (place.path().join("clone"), place.path().join("home"));
    std::fs::create_dir(&home).unwrap();
    // The commit as it was reported, by its objects: what the user's git makes of it is asked by nobody.
    let git = |dir: &Path, args: &[&str]| {
        let mut command = clean("git", &home);
        command.current_dir(dir).args(args);
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        run_alone(&mut command)
    };
    let from = format!("file://{}", repo.root.display());
    if git(
        place.path(),
        &["clone", "-q", &from, clone.to_str().unwrap()],
    )
    .code
        != 0
    {
        return false;
    }
    let gone = repo.beside("").with_extension("gone");
    std::fs::rename(repo.beside(""), &gone).unwrap();
    let mut gate = clean("bash", &home);
    gate.arg("test.sh").current_dir(&clone).env("CI", "true");
    let passed = run_alone(&mut gate).code == 0;
    std::fs::rename(&gone, repo.beside("")).unwrap();
    passed
}

/// What is wrong with how a way ended, if anything.
fn attempt(way: &Way, moment: Moment, sandbox: &str) -> Result<(), String> {
    let repo = at(moment, sandbox);
    act(&repo, way.script);
    let end = press_on(&repo, "none");
    end_what_it_left(&repo);
    match is_done(&repo) && !clone_passes(&repo) {
        true => Err(format!(
            "{} ({moment:?}, sandbox {sandbox}) is done, and a clone fails: {end}",
            way.name
        )),
        false => Ok(()),
    }
}

/// Ends the daemons that a way wrote down.
fn end_what_it_left(repo: &Repo) {
    let pids = std::fs::read_to_string(repo.beside("outside/pids")).unwrap_or_default();
    for pid in pids.lines() {
        let _ = Command::new("kill").args(["-9", pid]).status();
    }
    let _ = std::fs::set_permissions(repo.beside(""), std::fs::Permissions::from_mode(0o755));
}

#[test]
fn no_way_to_done_leaves_a_clone_that_fails() {
    let whole = std::env::var("COOK_CHEATS").is_ok_and(|how| how == "whole");
    let is_kept = begin("auto")
        .cook(&["doctor"])
        .out
        .contains("sandbox in force");
    if !is_kept {
        println!("no sandbox here: ways that need one are left out");
    }
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (number, way) in WAYS.iter().enumerate() {
        for (turn, moment) in [Moment::Slice, Moment::Wave].into_iter().enumerate() {
            for (which, sandbox) in ["auto", "off"].into_iter().enumerate() {
                let kept = (is_kept && sandbox == "auto") || !way.needs_sandbox;
                if kept && (whole || (number + turn + which) % 2 == 0) {
                    tried += 1;
                    wrong.extend(attempt(way, moment, sandbox).err());
                }
            }
        }
    }
    println!("{tried} attempts in {} ways", WAYS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn honest_work_is_done() {
    for way in HONEST {
        for sandbox in ["auto", "off"] {
            let repo = at(Moment::Slice, sandbox);
            act(&repo, way.script);
            let end = press_on(&repo, "none");
            assert!(is_done(&repo), "{}, sandbox {sandbox}: {end}", way.name);
            assert!(clone_passes(&repo), "{}", way.name);
        }
    }
}
