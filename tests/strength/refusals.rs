//! What has to hold before anything is planted, and which change it is.

use crate::strength::python;
use crate::support::Repo;

const SOURCE: &str = "def one():\n    return 1\n";

#[test]
fn a_gate_that_is_not_green_notices_nothing() {
    let Some(repo) = python(SOURCE, "assert False\n") else {
        return;
    };
    let run = repo.cook(&["strength", "--trust-repo"]).exits(4);
    assert!(
        run.err.contains("gates_not_green") && run.err.contains("is red at HEAD"),
        "{run:?}"
    );
    assert!(run.err.contains("cook gate --clean test"), "{run:?}");
    repo.write(
        ".agent/cook.toml",
        "[gates.test]\nrun = \"no-such-program-here\"\n",
    );
    let run = repo.cook(&["strength", "--trust-repo"]).exits(4);
    assert!(run.err.contains("gates_not_green"), "{run:?}");
}

#[test]
fn where_there_is_nothing_to_run_or_to_compare_that_is_said() {
    let unborn = Repo::unborn();
    let run = unborn.cook(&["strength"]).exits(4);
    assert!(run.err.contains("unborn_head"), "{run:?}");
    unborn.write("a.sh", "echo one\n");
    unborn.commit("Begin", None);
    unborn.write("a.sh", "echo two\n");
    unborn.commit("Go on", None);
    let run = unborn.cook(&["strength"]).exits(4);
    assert!(
        run.err.contains("gates_not_green") && run.err.contains("cook init"),
        "{run:?}"
    );
    let run = unborn.cook(&["strength", "--base", "nowhere"]).exits(2);
    assert!(run.err.contains("commit_unknown"), "{run:?}");
    let run = unborn.cook(&["strength", "a"]).exits(3);
    assert!(run.err.contains("not_initialised"), "{run:?}");
    unborn.cook(&["strength", "a", "--base", "HEAD~1"]).exits(2);
}
