//! `cook strength`: defects that are planted in a change are noticed by tests that look, and not by
//! tests that do not.
//!
//! Small repositories with real programs; what is not on this machine is skipped, and said.
#![cfg(unix)]

mod figures;
mod limits;
mod refusals;
mod reports;
mod rules;

use crate::support::Repo;
use serde_json::Value;

/// A repository whose last commit brings `source`, with tests that were there before; none where the
/// program is missing, which is said.
fn program(source: (&str, &str), tests: (&str, &str), gate: &str) -> Option<Repo> {
    program_with(source, tests, gate, ("README.md", "-\n"), "")
}

/// The same with one more file, and more settings.
fn program_with(
    source: (&str, &str),
    tests: (&str, &str),
    gate: &str,
    beside: (&str, &str),
    more: &str,
) -> Option<Repo> {
    let repo = Repo::unborn();
    repo.write(beside.0, beside.1);
    let tool = gate.split(' ').next().unwrap();
    let ran = repo
        .command("sh")
        .args(["-c", &format!("command -v {tool}")])
        .output();
    if !ran.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: `{tool}` is not here");
        return None;
    }
    let settings = format!("[gates.test]\nrun = \"{gate}\"\ntimeout = \"60s\"\n");
    repo.write(".agent/cook.toml", settings + more);
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

/// The same in Rust: what was compiled is kept from one defect to the next.
fn rust(tests: &str) -> Option<Repo> {
    let manifest = "[package]\nname = \"spans\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    program_with(
        ("src/lib.rs", include_str!("spans.rs.txt")),
        ("tests/spans.rs", tests),
        "cargo test --offline --quiet --test spans",
        ("Cargo.toml", manifest),
        "[clean_room]\ncache = [\"target\"]\n",
    )
}

/// The same in Go.
fn go(tests: &str) -> Option<Repo> {
    program_with(
        ("ledger.go", include_str!("ledger.go")),
        ("ledger_test.go", tests),
        "go test ./...",
        ("go.mod", "module ledger\n\ngo 1.19\n"),
        "",
    )
}

/// What `cook strength` answers, and how it ends.
fn strength(repo: &Repo, more: &[&str]) -> (i32, Value) {
    let args = [&["strength", "--trust-repo", "--json"], more].concat();
    let run = repo.cook(&args);
    let answer = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
    (run.code, answer)
}
