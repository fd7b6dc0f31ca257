//! `cook strength`: defects that are planted in a change are noticed by tests that look, and not by
//! tests that do not.
//!
//! Small repositories with real programs; what is not on this machine is skipped, and said.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod figures;
mod limits;
mod refusals;
mod reports;
mod rules;

use serde_json::Value;
use support::Repo;

/// A repository whose last commit brings `source`, with tests that were there before; none where the
/// program is missing, which is said.
fn program(source: (&str, &str), tests: (&str, &str), gate: &str) -> Option<Repo> {
    let repo = Repo::unborn();
    let tool = gate.split(' ').next().unwrap();
    let ran = repo
        .command("sh")
        .args(["-c", &format!("command -v {tool}")])
        .output();
    if !ran.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: `{tool}` is not here");
        return None;
    }
    let settings = format!("[gates.test]\nrun = \"{gate}\"\ntimeout = \"20s\"\n");
    repo.write(".agent/cook.toml", settings);
    repo.write(tests.0, tests.1);
    repo.write(source.0, "");
    repo.commit("Begin", None);
    repo.write(source.0, source.1);
    repo.commit("Write it", None);
    Some(repo)
}

/// The same in Python.
fn python(source: &str, tests: &str) -> Option<Repo> {
    program(
        ("cart.py", source),
        ("test_cart.py", tests),
        "python3 -B test_cart.py",
    )
}

/// What `cook strength` answers, and how it ends.
fn strength(repo: &Repo, more: &[&str]) -> (i32, Value) {
    let args = [&["strength", "--trust-repo", "--json"], more].concat();
    let run = repo.cook(&args);
    let answer = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
    (run.code, answer)
}
