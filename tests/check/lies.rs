//! Twelve planted lies, each named and refused.

use crate::{Repo, SCRIPT, TESTS, expect_refused, node, python, replace};

const FILE: &str = "tests/test_calc.py";

fn with(change: impl Fn(&Repo), code: &str, what: &str) {
    if let Some(repo) = python() {
        change(&repo);
        expect_refused(&repo, code, what);
    }
}

#[test]
fn a_deleted_test() {
    with(
        |repo| {
            repo.write(FILE, TESTS.split("\n    def test_neg").next().unwrap());
            repo.commit("Tidy", None);
        },
        "test_deleted",
        "test_neg",
    );
}

#[test]
fn a_helper_that_git_ignores() {
    with(
        |repo| {
            repo.write("local_helper.py", "X = 1\n");
            replace(
                repo,
                FILE,
                "import unittest\n",
                "import unittest\nimport local_helper\n",
            );
            repo.commit("Use a helper", None);
        },
        "gate_needs_uncommitted",
        "local_helper.py",
    );
}

#[test]
fn a_skipped_suite() {
    with(
        |repo| {
            replace(repo, FILE, "class T(", "@unittest.skip('later')\nclass T(");
            repo.commit("Stabilise", None);
        },
        "test_skipped",
        "unittest.skip",
    );
}

/// Without a kept run at the base, the line that leaves them out tells it.
#[test]
fn tests_that_are_left_out_by_an_option() {
    with(
        |repo| {
            replace(repo, "check.sh", "unittest -v", "unittest -v -k add");
            repo.commit("Speed the tests up", None);
        },
        "test_settings_edited",
        "leaves tests out",
    );
}

#[test]
fn a_hollow_change() {
    with(
        |repo| {
            repo.write(
                "calc.py",
                format!("{}\n\ndef mul(a, b):\n    return a * b\n", crate::CALC),
            );
            let test = "\n    def test_mul(self):\n        self.assertEqual(2 * 3, 6)\n";
            repo.write(FILE, format!("{TESTS}{test}"));
            repo.commit("Multiply", None);
        },
        "change_unnoticed",
        "nor do the tests",
    );
}

#[test]
fn a_weakened_assertion() {
    with(
        |repo| {
            replace(
                repo,
                FILE,
                "self.assertEqual(add(1, 2), 3)",
                "self.assertTrue(add(1, 2))",
            );
            repo.commit("Tidy", None);
        },
        "test_weakened",
        "asserts less in `T > test_add`",
    );
}

#[test]
fn a_gate_that_ends_with_0() {
    with(
        |repo| {
            repo.write("check.sh", SCRIPT.replace("python3", "exit 0\npython3"));
            repo.commit("Fix CI", None);
        },
        "test_settings_edited",
        "exit 0",
    );
}

#[test]
fn a_failure_that_ci_does_not_see() {
    with(
        |repo| {
            replace(
                repo,
                ".github/workflows/ci.yml",
                "make test",
                "make test || true",
            );
            repo.commit("Fix CI", None);
        },
        "test_weakened",
        "|| true",
    );
}

#[test]
fn a_fix_that_is_not_committed() {
    with(
        |repo| {
            repo.write("calc.py", "def add(a, b):\n    return a - b\n");
            repo.commit("Fix addition", None);
            repo.write("calc.py", crate::CALC);
        },
        "gate_needs_uncommitted",
        "calc.py",
    );
}

#[test]
fn a_file_that_was_not_added() {
    with(
        |repo| {
            repo.write("calc.py", "from parts import add\n");
            repo.git(&["commit", "-qam", "Split"]);
            repo.write("parts.py", crate::CALC);
        },
        "gate_needs_uncommitted",
        "parts.py",
    );
}

#[test]
fn a_test_that_keeps_others_from_running() {
    if let Some(repo) = node() {
        replace(
            &repo,
            "test/calc.test.js",
            "test('adds'",
            "test.only('adds'",
        );
        repo.commit("Debug", None);
        expect_refused(&repo, "test_skipped", "test.only");
    }
}

#[test]
fn a_test_that_became_a_comment() {
    if let Some(repo) = node() {
        let text = repo.read("test/calc.test.js");
        let (kept, rest) = text.split_at(text.find("test('negative'").unwrap());
        let comments: String = rest.lines().map(|line| format!("// {line}\n")).collect();
        repo.write("test/calc.test.js", format!("{kept}{comments}"));
        repo.commit("Tidy", None);
        expect_refused(&repo, "test_deleted", "negative");
    }
}

#[test]
fn a_gate_that_is_gone() {
    with(
        |repo| {
            repo.write(".github/workflows/ci.yml", "on: push\njobs: {}\n");
            repo.write("Makefile", "all:\n\ttrue\n");
            repo.commit("Simplify", None);
        },
        "test_settings_edited",
        "does not say any more",
    );
}

#[test]
fn an_edit_that_git_was_told_not_to_see() {
    with(
        |repo| {
            repo.git(&["update-index", "--assume-unchanged", "calc.py"]);
            repo.write("calc.py", "def add(a, b):\n    return 0\n");
        },
        "unwatched_edits",
        "calc.py",
    );
}

/// A gate that is moved into the worktree says nothing of a commit any more.
#[test]
fn a_gate_moved_to_the_worktree() {
    let Some(repo) = python() else { return };
    let settings = "[gates.test]\nrun = \"make test\"\n";
    let commit = |text: &str| {
        repo.write(".agent/cook.toml", text);
        repo.git(&["add", "-f", ".agent/cook.toml"]);
        repo.git(&["commit", "-qm", "Settings"]);
    };
    commit(settings);
    commit(&format!("{settings}place = \"worktree\"\n"));
    expect_refused(&repo, "test_settings_edited", "place");
}
