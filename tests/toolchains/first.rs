//! What `cook init` shows of the gates that it found.

use crate::support::Repo;
use crate::toolchains::{is_here, make_project};
use serde_json::Value;

fn project(test: &str) -> Option<Repo> {
    let repo = Repo::unborn();
    make_project(&repo, "a.txt");
    repo.write("Makefile", format!("test:\n\t{test}\n"));
    repo.commit("Begin", None);
    is_here(&[&["make", "--version"]]).then_some(repo)
}

const INIT: [&str; 4] = ["init", "--mission", "Keep it green", "--commit"];

#[test]
fn a_red_gate_is_shown_with_its_output_and_what_that_names() {
    let Some(repo) = project("@echo it broke without DATABASE_URL; exit 1") else {
        return;
    };
    let run = repo.cook_env(&INIT, "DATABASE_URL", "x").exits(0);
    let out = &run.out;
    assert!(out.contains("red        test  make test"), "{out}");
    assert!(out.contains("| it broke"), "{out}");
    let mut lines = out.lines().map(str::trim);
    let missing = lines.find(|line| line.starts_with("missing: "));
    assert!(missing.unwrap().contains("`DATABASE_URL`"), "{out}");
    let again = repo.cook_env(&["init", "--json"], "DATABASE_URL", "x");
    assert_eq!(again.exits(0).json()["gates"], Value::Null);
}

#[test]
fn a_gate_that_takes_long_is_slow_and_not_red() {
    let Some(repo) = project("@sleep 60") else {
        return;
    };
    let args = [&INIT[..], &["--gate-time", "1s", "--json"]].concat();
    let answer = repo.cook(&args).exits(0).json();
    assert_eq!(answer["gates"][0]["outcome"], "slow", "{answer:#}");
}

#[test]
fn what_is_not_committed_is_not_in_the_room() {
    let repo = Repo::unborn();
    make_project(&repo, "a.txt");
    if !is_here(&[&["make", "--version"]]) {
        return;
    }
    let run = repo.cook(&INIT).exits(0);
    assert!(run.out.contains("red        test"), "{}", run.out);
    assert!(run.err.contains("dirty_worktree"), "{}", run.err);
}
