//! What it is asked in, with what it compares, what it leaves alone.

use crate::support::Repo;
use crate::trial::{check, line, python, replace};

#[test]
fn nothing_runs_that_is_not_trusted() {
    let Some(repo) = python() else { return };
    let run = repo.cook(&["check"]).exits(3);
    assert!(
        run.out.starts_with("not known")
            && run.out.contains("[gate_untrusted]")
            && run.out.contains("cook trust 'make test'"),
        "{run:?}"
    );
    assert!(!repo.root.join("__pycache__").exists());
    repo.trust("make test");
    repo.cook(&["check"]).exits(0);
}

#[test]
fn the_base_is_named_or_looked_for() {
    let Some(repo) = python() else { return };
    let first = repo.head();
    repo.git(&["switch", "-qc", "work"]);
    repo.write("README.md", "# Calc\n");
    repo.commit("Say what it is", None);
    repo.write("README.md", "# A calculator\n");
    repo.commit("Say more", None);
    let (_, answer) = check(&repo, &[]);
    assert_eq!(answer["base_is"], "the commit before");
    repo.git(&["branch", "-q", "--set-upstream-to=main"]);
    let (_, answer) = check(&repo, &[]);
    assert_eq!(
        (&answer["base"], &answer["base_is"]),
        (&first.clone().into(), &"the merge base with main".into())
    );
    let (_, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(
        (&answer["base"], &answer["base_is"]),
        (&first.into(), &"HEAD~2".into())
    );
    let run = repo.cook(&["check", "--base", "nowhere"]).exits(2);
    assert!(run.err.contains("commit_unknown"), "{run:?}");
    let run = repo.cook(&["check", "--base", "--help"]);
    assert_ne!(run.code, 0, "{run:?}");
    repo.cook(&["check", "--gate", "nothing"]).exits(2);
}

#[test]
fn where_there_is_nothing_to_run_that_is_said() {
    let repo = Repo::new();
    let (exit, answer) = check(&repo, &[]);
    assert_eq!((exit, &answer["answer"]), (3, &"not_known".into()));
    assert_eq!(answer["lines"][0]["code"], "no_gates");
    let unborn = Repo::unborn();
    let run = unborn.cook(&["check"]).exits(4);
    assert!(run.err.contains("unborn_head"), "{run:?}");
}

#[test]
fn the_repository_is_as_before() {
    let Some(repo) = python() else { return };
    replace(&repo, "calc.py", "a + b", "b + a");
    repo.commit("Turn it round", None);
    let before = repo.git(&["status", "--porcelain", "--ignored"]);
    for _ in 0..2 {
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 0, "{answer:#}");
        assert_eq!(answer["lines"][0]["code"], "change_unnoticed", "{answer:#}");
    }
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), before);
    // A receipt of the altered room would answer for this commit.
    replace(&repo, "calc.py", "b + a", "b - a");
    repo.commit("Break it", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(
        (exit, &answer["lines"][0]["code"]),
        (1, &"gate_red".into()),
        "{answer:#}"
    );
}

/// A gate that needs the worktree proves nothing of a commit, and is not left out without a word.
#[test]
fn a_gate_of_the_worktree_is_named_as_not_run() {
    let Some(repo) = python() else { return };
    repo.write(
        ".agent/cook.toml",
        "[gates.unit]\nrun = \"make test\"\n[gates.env]\nrun = \"test -e .env\"\nplace = \"worktree\"\n",
    );
    repo.git(&["add", "-f", ".agent/cook.toml"]);
    repo.git(&["commit", "-qm", "Name the gates"]);
    let (_, answer) = check(&repo, &[]);
    let checked = answer["checked"].to_string();
    assert!(checked.contains("`test -e .env` was not run"), "{answer:#}");
    assert!(checked.contains("`make test` is green"), "{answer:#}");
}

/// A partial clone lacks texts, or directories: what is missing is fetched from its remote.
#[test]
fn a_partial_clone_answers() {
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let Some(repo) = python() else { return };
        replace(&repo, "calc.py", "a + b", "a - b");
        replace(&repo, "tests/test_calc.py", "add(1, 2), 3", "add(1, 2), -1");
        replace(
            &repo,
            "tests/test_calc.py",
            "add(1, -2), -1",
            "add(1, -2), 3",
        );
        repo.commit("Refactor", None);
        repo.git(&["config", "uploadpack.allowFilter", "true"]);
        repo.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        let there = crate::support::room();
        let to = there.path().join("clone");
        let from = format!("file://{}", repo.root.display());
        repo.git(&["clone", "-q", filter, "--", &from, to.to_str().unwrap()]);
        let ask = |arguments: &[&str]| {
            let mut command = repo.cook_command(arguments);
            let out = command.current_dir(&to).output().unwrap();
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            (out.status.code(), text)
        };
        let (code, text) = ask(&["check", "--trust-repo", "--base", "HEAD~1"]);
        assert_eq!(code, Some(1), "{filter}: {text}");
        assert!(text.contains("[pass_to_fail]"), "{filter}: {text}");
        let (code, text) = ask(&["strength", "--trust-repo", "--base", "HEAD~1"]);
        assert!(matches!(code, Some(0 | 1)), "{filter}: {text}");
    }
}

/// What cannot be tried has a line, and nothing hangs.
#[test]
fn what_cannot_be_tried_is_told() {
    let Some(repo) = python() else { return };
    let settings = "[gates.test]\nrun = \"make test\"\ntimeout = \"20s\"\n";
    repo.write(".agent/cook.toml", settings);
    repo.write("tests/cases", "1 2 3\n");
    repo.commit("Bound it", None);
    // A file of tests becomes a directory, and its tests move.
    let text = repo.read("tests/test_calc.py");
    repo.git(&["rm", "-q", "tests/test_calc.py", "tests/cases"]);
    repo.write("tests/cases/sums", "1 2 3\n");
    repo.write("tests/test_sums.py", &text);
    repo.commit("Move it", None);
    let (exit, answer) = check(&repo, &[]);
    assert!(matches!(exit, 0 | 3), "{answer:#}");
    // The gate of the base does not even parse.
    repo.write("Makefile", "test:\n    sh check.sh\n");
    repo.commit("Break the gate", None);
    repo.write("Makefile", crate::trial::MAKEFILE);
    repo.commit("Mend the gate", None);
    let (exit, answer) = check(&repo, &[]);
    assert!(matches!(exit, 0 | 3), "{answer:#}");
    // A test of the base that waits on the new code.
    repo.write(
        "calc.py",
        "import time\n\n\ndef add(a, b):\n    time.sleep(600 if b < 0 else 0)\n    return a + b\n",
    );
    replace(
        &repo,
        "tests/test_sums.py",
        "add(1, -2), -1",
        "add(1, 0), 1",
    );
    repo.commit("Wait", None);
    let (exit, answer) = check(&repo, &[]);
    assert!(exit == 1 || exit == 3, "{answer:#}");
    assert!(
        !answer["lines"].as_array().unwrap().is_empty(),
        "{answer:#}"
    );
}

/// What a CI job checks out without further settings: one commit, which says nothing of the one before.
#[test]
fn a_shallow_clone_has_nothing_to_compare_with() {
    let Some(repo) = python() else { return };
    repo.write("calc.py", "def add(a, b):\n    return b + a\n");
    repo.commit("Turn around", None);
    let head = repo.git(&["rev-parse", "HEAD"]);
    std::fs::write(repo.root.join(".git/shallow"), format!("{head}\n")).unwrap();
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    assert_eq!(
        line(&answer, "history_shallow")["show"],
        "git fetch --unshallow"
    );
    let (exit, answer) = check(&repo, &["--fast"]);
    assert_eq!(exit, 0, "{answer:#}");
}
