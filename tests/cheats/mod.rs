//! Ways to come to `done` without the work. They all have one end: `done` is recorded only where a clone of
//! HEAD passes its gate. Judges, reviewers and auditors say yes to everything. `jobs` turns the tests themselves.
//!
//! `COOK_CHEATS_PROFILE` names another profile than `strict`. `COOK_CHEATS=whole` tries each way at both moments, with the sandbox and without it, and each job;
//! `COOK_CHEAT` those whose names hold its value.
#![cfg(unix)]

mod driven;
mod jobs;
mod ways;

use crate::support::story::{GATE, MISSION, evidence_a, plan};
use crate::support::{Repo, Run, clean, run_alone};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use ways::{HONEST, HONEST_BY_HAND, Held, Way};

/// When a way is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// In place of the slice's work.
    Slice,
    /// After the slice was accepted, before the judges.
    Wave,
}

/// What every way begins with: `work` commits what is there, `once_done` waits for the end.
const PRELUDE: &str = include_str!("prelude.sh");

/// The profile that the ways are tried under: `COOK_CHEATS_PROFILE`, else `strict`.
fn profile() -> String {
    std::env::var("COOK_CHEATS_PROFILE").unwrap_or_else(|_| "strict".to_owned())
}

/// A slice is selected; the gate passes where `a.txt` says two and nothing is `red`.
fn begin(sandbox: &str, place: TempDir) -> Repo {
    Repo::stage_in(place, &format!("cheats-{sandbox}"), || {
        let repo = Repo::unborn();
        repo.write(
            "test.sh",
            "cat results && grep -qx two a.txt && test ! -e red\n",
        );
        repo.write("results", "not ok 1 - one\nnot ok 2 - two\n");
        repo.write("README.md", "# tool\n\nA tool.\n");
        let settings = format!(
            "[sandbox]\nmode = \"{sandbox}\"\n[clean_room]\ncache = [\"target\"]\n[gates.test]\nrun = \"{GATE}\"\n"
        );
        let settings = driven::with_agent(&settings);
        repo.write(".agent/cook.toml", settings);
        repo.commit("begin", None);
        repo.cook(&[
            "init",
            "--assurance",
            &profile(),
            "--mission",
            MISSION,
            "--commit",
        ])
        .exits(0);
        repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
        repo.select_a();
        repo
    })
}

fn at(moment: Moment, sandbox: &str, place: TempDir) -> Repo {
    match moment {
        Moment::Slice => begin(sandbox, place),
        Moment::Wave => Repo::stage_in(place, &format!("cheats-wave-{sandbox}"), || {
            let repo = begin(sandbox, crate::support::room());
            act(&repo, "good; work").unwrap();
            assert_eq!(press_on(&repo, "8"), "8");
            repo
        }),
    }
}

/// Does what an agent might, with an agent's rights.
fn act(repo: &Repo, script: &str) -> Result<(), String> {
    repo.outside();
    set(
        repo,
        "GIT_CONFIG_GLOBAL",
        &repo.beside("home/.gitconfig").display().to_string(),
    );
    let mut command = repo.command("bash");
    command.args(["-c", &format!("{PRELUDE}{script}")]);
    let done = run_alone(&mut command);
    if done.code != 0 {
        return Err(format!("its script ends with {}: {}", done.code, done.err));
    }
    let before = std::fs::read_to_string(repo.beside("outside/before")).unwrap_or_default();
    repo.before.replace(before.trim().to_owned());
    let said = std::fs::read_to_string(repo.beside("outside/env")).unwrap_or_default();
    for line in said.lines() {
        let (name, value) = line.split_once('=').unwrap();
        set(repo, name, value);
    }
    Ok(())
}

/// A variable of everything that follows.
fn set(repo: &Repo, name: &str, value: &str) {
    let mut extra = repo.extra.borrow_mut();
    extra.push((name.to_owned(), value.to_owned()));
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
            "6" => record("auditor", repo.audit("none")),
            "7" => record(
                "regrounder",
                repo.reground("accepted", "a", "none", &accepts()),
            ),
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
            return format!("{rule}: {}{}", taken.out, taken.err);
        }
    }
    "no end".to_owned()
}

/// What accepts the slice and cancels the other one.
fn accepts() -> Value {
    let mut plan = plan();
    plan["candidate_slices"][1]["status"] = json!("cancelled");
    plan["candidate_slices"][1]["reason"] = json!("the mission does not need it");
    json!({
        "reconcile": {"slice_id": "a", "decision": "accepted"},
        "evidence": evidence_a(),
        "plan": plan,
    })
}

/// By the log: the documents in the worktree are anybody's to edit. What is said of an older commit is said
/// of that one.
fn is_done(repo: &Repo) -> bool {
    let next = repo.cook(&["next", "--json"]);
    let done = next.code == 0 && next.json()["policy"] == json!("done");
    done && !repo.cook(&["verify"]).out.contains("head_moved_since_done")
}

/// Whether a clone of HEAD passes the gate, where nothing of this place is left to look at.
fn clone_passes(repo: &Repo) -> bool {
    let place = crate::support::room();
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
    let to = clone.to_str().unwrap();
    if git(place.path(), &["clone", "-q", &from, to]).code != 0 {
        return false;
    }
    // Where a submodule cannot be had, the gate says what that means.
    let mut submodules = vec!["-c", "protocol.file.allow=always", "submodule"];
    submodules.extend(["update", "-q", "--init", "--recursive"]);
    git(&clone, &submodules);
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
    let repo = at(moment, sandbox, place(way));
    act(&repo, way.script).map_err(|why| format!("{}: {why}", way.name))?;
    let end = press_on(&repo, "none");
    let end = end.lines().next().unwrap_or_default();
    judge(&repo, way, end, &format!("{moment:?}, sandbox {sandbox}"))
}

/// Where the sandbox has something to hide it must not lie in a directory that is empty there anyway.
fn place(way: &Way) -> TempDir {
    match way.held {
        Held::Everywhere => crate::support::room(),
        _ => tempfile::tempdir_in(open_place()).unwrap(),
    }
}

/// A directory that the sandbox does not make empty.
fn open_place() -> PathBuf {
    let private = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
    let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let dir = match private.iter().any(|dir| own.starts_with(dir)) {
        true => std::env::home_dir().unwrap().join(".cache"),
        false => own,
    };
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn judge(repo: &Repo, way: &Way, end: &str, how: &str) -> Result<(), String> {
    // What waits for the end has its time.
    if way.script.contains("once_done") && is_done(repo) {
        std::thread::sleep(Duration::from_millis(300));
    }
    end_what_it_left(repo);
    println!("{} ({how}): {}", way.name, end.trim());
    match is_done(repo) && !clone_passes(repo) {
        true => Err(format!(
            "{} ({how}) is done, and a clone fails: {end}",
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
    let undo = std::fs::read_to_string(repo.beside("outside/undo")).unwrap_or_default();
    let _ = Command::new("sh").args(["-c", &undo]).status();
}

/// The ways that are asked for.
fn list_asked() -> Vec<&'static Way> {
    list_named(ways::all(), |way| way.name)
}

/// Those whose names hold what is asked for.
fn list_named<T>(all: impl IntoIterator<Item = T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    let asked = std::env::var("COOK_CHEAT").unwrap_or_default();
    let named = all.into_iter();
    named.filter(|it| name(it).contains(&asked)).collect()
}

/// Of so many ways the short form tries one.
const EVERY: usize = 8;

/// Whether the way or job with this number is tried.
fn is_due(number: usize) -> bool {
    is_whole() || number.is_multiple_of(EVERY)
}

fn is_whole() -> bool {
    std::env::var("COOK_CHEATS").is_ok_and(|how| how == "whole")
}

/// Whether the sandbox works here.
fn has_sandbox() -> bool {
    let works = crate::support::agents::has_sandbox();
    if !works {
        println!("no sandbox here: ways that need one are left out");
    }
    works
}

/// Does each on several threads; what was wrong.
fn each<T: Sync>(all: &[T], one: impl Fn(&T) -> Result<(), String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(item) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.lock().unwrap().extend(one(item).err());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn no_way_to_done_leaves_a_clone_that_fails() {
    let (whole, kept) = (is_whole(), has_sandbox());
    let mut attempts = Vec::new();
    for (number, way) in list_asked().into_iter().enumerate() {
        let forms = [
            (Moment::Slice, "auto"),
            (Moment::Slice, "off"),
            (Moment::Wave, "auto"),
            (Moment::Wave, "off"),
        ];
        let held = |sandbox| match way.held {
            Held::Everywhere => true,
            Held::BySandbox => kept && sandbox == "auto",
            Held::ByRun | Held::BySandboxedRun => false,
        };
        let mut forms: Vec<_> = forms
            .into_iter()
            .filter(|(_, sandbox)| held(*sandbox))
            .collect();
        if !whole {
            // In one form each.
            let taken = forms.get(number / EVERY % forms.len().max(1)).copied();
            forms = taken.filter(|_| is_due(number)).into_iter().collect();
        }
        attempts.extend(
            forms
                .into_iter()
                .map(|(moment, sandbox)| (way, moment, sandbox)),
        );
    }
    let wrong = each(&attempts, |(way, moment, sandbox)| {
        attempt(way, *moment, sandbox)
    });
    println!(
        "{} attempts in {} ways by hand",
        attempts.len(),
        ways::all().len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn honest_work_is_done() {
    let forms: Vec<_> = HONEST
        .iter()
        .chain(HONEST_BY_HAND)
        .flat_map(|way| ["auto", "off"].map(|sandbox| (way, sandbox)))
        .enumerate()
        .filter(|(number, _)| is_whole() || number % 2 == number / 2 % 2)
        .map(|(_, form)| form)
        .collect();
    let wrong = each(&forms, |(way, sandbox)| {
        let repo = at(Moment::Slice, sandbox, crate::support::room());
        act(&repo, way.script)?;
        let end = press_on(&repo, "none");
        match is_done(&repo) && clone_passes(&repo) {
            true => Ok(()),
            false => Err(format!("{}, sandbox {sandbox}: {end}", way.name)),
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `docs/clean-room.md` lists what the sandbox or a driven session alone keeps.
#[test]
fn the_page_names_what_cook_alone_does_not_keep() {
    let page = include_str!("../../docs/clean-room.md");
    for (held, who) in [
        (Held::BySandbox, "the sandbox of the gate"),
        (Held::ByRun, "`cook run`"),
        (Held::BySandboxedRun, "`cook run` with the sandbox"),
    ] {
        let ways = ways::all().into_iter().filter(|way| way.held == held);
        let names: Vec<&str> = ways.map(|way| way.name).collect();
        let row = format!("| {who} | {} |\n", names.join("; "));
        assert!(page.contains(&row), "missing in the page: {row}");
    }
}
