//! Clones of anybody's: whatever stands in one, no command starts a program of it, waits for it, reads or
//! writes outside of it, or lets it speak to a terminal.
#![cfg(unix)]

mod commands;
mod names;
mod objects;
mod places;
mod programs;

use crate::support::{COOK, Repo, Run, run};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longest time for one command.
const PATIENCE: &str = "10";
/// What stands outside and nobody may show.
const SECRET: &str = "CANARY-5f2c1d";

/// `COOK_HOSTILE=whole` tries each thing at each place with every command.
fn is_whole() -> bool {
    std::env::var("COOK_HOSTILE").is_ok_and(|how| how == "whole")
}

/// A command, ended when it takes too long; none then.
fn call(repo: &Repo, words: &[&str]) -> Option<Run> {
    let mut timed = repo.command("timeout");
    timed.args(["--kill-after=1", PATIENCE, COOK]).args(words);
    let ended = run(timed, b"{}");
    (!matches!(ended.code, 124 | 137)).then_some(ended)
}

/// Does each on several threads; what was wrong.
fn each<T: Sync>(all: &[T], one: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(item) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = one(item);
            wrong.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    wrong.into_inner().unwrap()
}
