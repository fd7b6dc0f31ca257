//! Packs of the log: `git gc` under the writer lock, when loose objects pile up, and packs of
//! what came from elsewhere.

use super::error::unwritable;
use super::log_place::Place;
use crate::clock::TEST_VARIABLE;
use crate::disk;
use crate::process::{LENT_VARIABLE, join_lent};
use cook_protocol::diagnostic::Failure;
use git2::Oid;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Above this many loose objects the log is packed.
const MAX_LOOSE: usize = 2_000;

/// Loose objects are counted at every transition whose number this divides.
const EVERY: u64 = 32;

/// A packing that takes longer is ended; the log stays as it was.
const DEADLINE: Duration = Duration::from_secs(300);

/// A lower threshold for tests, counted at every transition. Honoured only
/// while `COOK_TEST=1` is set too.
const ABOVE_VARIABLE: &str = "COOK_PACK_ABOVE";

/// Packs when it is due, under the writer lock that the caller holds; whether it was. What could not be packed is as it
/// was, and the next time is tried again.
pub(super) fn when_due(place: &Place, seq: u64, lock: &File) -> bool {
    let (every, above) = match read_threshold_for_tests() {
        Some(above) => (1, above),
        None => (EVERY, MAX_LOOSE),
    };
    let is_due = seq.is_multiple_of(every) && loose_objects(place) > above;
    is_due && run(place, lock, &[]).is_ok()
}

fn read_threshold_for_tests() -> Option<usize> {
    if std::env::var(TEST_VARIABLE).as_deref() != Ok("1") {
        return None;
    }
    std::env::var(ABOVE_VARIABLE).ok()?.parse().ok()
}

/// Packs, and what nothing leads to goes unless it was written lately: a reader may still look at it.
pub(super) fn sweep(place: &Place, lock: &File) {
    let _ = run(place, lock, &["--prune=1.hour.ago"]);
}

/// Loose objects of the log. Unreadable directories count as empty: packing is
/// an optimisation, and whoever reads those objects will say what is wrong.
fn loose_objects(place: &Place) -> usize {
    let objects = place.log_dir().join("objects");
    (0..=0xff_u8)
        .filter_map(|byte| std::fs::read_dir(objects.join(format!("{byte:02x}"))).ok())
        .map(Iterator::count)
        .sum()
}

fn run(place: &Place, lock: &File, how: &[&str]) -> Result<(), String> {
    // git shares the lock's open file: when cook dies, the lock is held until git
    // has ended too, and nobody writes beside it.
    let shared = lock
        .try_clone()
        .map_err(|error| format!("cannot share the lock: {error}"))?;
    let mut git = log_git(place);
    git.args(["gc", "--quiet"])
        .args(how)
        .stdin(shared)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = git.spawn();
    let child = child.map_err(|error| format!("cannot run git: {error}"))?;
    wait(child, "git gc")
}

/// Writes a pack with these objects, which lie in other directories; durable when it returns.
pub(super) fn write(place: &Place, from: &[PathBuf], objects: &[Oid]) -> Result<(), Failure> {
    let failed = |why: String| unwritable("a pack of the log", why);
    let packs = place.log_dir().join("objects").join("pack");
    let mut git = log_git(place);
    git.args(["-c", "core.fsync=all", "-c", "pack.threads=1"])
        .args(["pack-objects", "--quiet", "--delta-base-offset"])
        .arg(packs.join("pack"))
        .env(LENT_VARIABLE, join_lent(from))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = git.spawn();
    let mut child = child.map_err(|error| failed(format!("cannot run git: {error}")))?;
    if let Some(stdin) = child.stdin.take() {
        let mut stdin = std::io::BufWriter::new(stdin);
        // A git that ends early says so by its status.
        let _ = objects.iter().try_for_each(|id| writeln!(stdin, "{id}"));
        let _ = stdin.flush();
    }
    wait(child, "git pack-objects").map_err(failed)?;
    disk::sync_dir(&packs).map_err(|error| failed(error.to_string()))
}

/// git on the log, with no settings but the log's own.
fn log_git(place: &Place) -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env(
            "GIT_CONFIG_GLOBAL",
            if cfg!(windows) { "NUL" } else { "/dev/null" },
        )
        .env("LC_ALL", "C")
        .arg("--git-dir")
        .arg(place.log_dir())
        .args(["-c", "core.hooksPath=/dev/null"])
        .current_dir(place.cook_dir());
    git
}

fn wait(mut child: Child, what: &str) -> Result<(), String> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{what} ended with {status}")),
            Ok(None) if started.elapsed() < DEADLINE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{what} took longer than {} s", DEADLINE.as_secs()));
            }
            Err(error) => return Err(format!("cannot wait for git: {error}")),
        }
    }
}
