//! `cook check`: planted lies are named and refused, honest heads are not.
//!
//! Small repositories with real programs; what is not on this machine is skipped, and said.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod honest;
mod lies;
mod places;

use serde_json::Value;
use support::Repo;

const CALC: &str = "def add(a, b):\n    return a + b\n";
const TESTS: &str = "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_neg(self):\n        self.assertEqual(add(1, -2), -1)\n";
const MAKEFILE: &str = "test:\n\tsh check.sh\n";
const SCRIPT: &str = "#!/bin/sh\nset -e\npython3 -m unittest -v\n";
const WORKFLOW: &str = "on: push\njobs:\n  test:\n    steps:\n      - run: make test\n";

/// An empty repository; none where a program is missing, which is said.
fn with_programs(programs: &[&str]) -> Option<Repo> {
    let repo = Repo::unborn();
    for program in programs {
        let ran = repo.command(program).arg("--version").output();
        if !ran.is_ok_and(|ran| ran.status.success()) {
            eprintln!("skipped: `{program}` is not here");
            return None;
        }
    }
    Some(repo)
}

/// A repository in Python whose gate is `make test`; none where a program is missing.
fn python() -> Option<Repo> {
    let repo = with_programs(&["python3", "make"])?;
    repo.write("calc.py", CALC);
    repo.write("tests/__init__.py", "");
    repo.write("tests/test_calc.py", TESTS);
    repo.write("Makefile", MAKEFILE);
    repo.write("check.sh", SCRIPT);
    repo.write(".github/workflows/ci.yml", WORKFLOW);
    repo.write(".gitignore", "__pycache__/\nlocal_*.py\n");
    repo.commit("Begin", None);
    Some(repo)
}

/// The same for node's own runner.
fn node() -> Option<Repo> {
    let repo = with_programs(&["node", "npm"])?;
    repo.write("package.json", "{\n  \"name\": \"calc\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {\n    \"test\": \"node --test\"\n  }\n}\n");
    repo.write("calc.js", "exports.add = (a, b) => a + b;\n");
    repo.write("test/calc.test.js", "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../calc.js');\ntest('adds', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\ntest('negative', () => {\n  assert.strictEqual(add(1, -2), -1);\n});\n");
    repo.commit("Begin", None);
    Some(repo)
}

/// What `cook check` answers, and how it ends.
fn check(repo: &Repo, more: &[&str]) -> (i32, Value) {
    let args = [&["check", "--trust-repo", "--json"], more].concat();
    let run = repo.cook(&args);
    let answer = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
    (run.code, answer)
}

/// It is refused, with that code and a message that names `what`, and a command beside it.
#[track_caller]
fn expect_refused(repo: &Repo, code: &str, what: &str) {
    let (exit, answer) = check(repo, &[]);
    assert_eq!(exit, 1, "{answer:#}");
    let lines = answer["lines"].as_array().unwrap();
    let found = lines.iter().any(|line| {
        line["code"] == code
            && line["fails"] == true
            && line["message"].as_str().unwrap().contains(what)
            && !line["show"].as_str().unwrap().is_empty()
    });
    assert!(found, "{code} with `{what}`: {answer:#}");
}

/// It passes.
#[track_caller]
fn passes(repo: &Repo) -> Value {
    let (exit, answer) = check(repo, &[]);
    assert_eq!(exit, 0, "{answer:#}");
    assert_eq!(answer["passed"], true);
    answer
}

/// Replaces a part of a file, which must be there.
#[track_caller]
fn replace(repo: &Repo, path: &str, old: &str, new: &str) {
    let text = repo.read(path);
    assert!(text.contains(old), "{path}: {text}");
    repo.write(path, text.replacen(old, new, 1));
}
