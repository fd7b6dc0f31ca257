//! What it is asked in, with what it compares, what it leaves alone.

use crate::support::Repo;
use crate::{check, python, replace};

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
