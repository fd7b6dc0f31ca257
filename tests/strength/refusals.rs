//! What has to hold before anything is planted, and which change it is.

use crate::strength::{python, strength};
use crate::support::Repo;
use serde_json::json;

const SOURCE: &str = "def one():\n    return 1\n";
const TESTS: &str = "import cart\nassert not hasattr(cart, 'one') or cart.one() == 1\n";

#[test]
fn nothing_runs_that_is_not_trusted() {
    let Some(repo) = python(SOURCE, &format!("{TESTS}open('ran', 'w')\n")) else {
        return;
    };
    let run = repo.cook(&["strength"]).exits(4);
    assert!(run.err.contains("trust_missing"), "{run:?}");
    assert!(
        run.err.contains("cook trust 'python3 -B test_cart.py'"),
        "{run:?}"
    );
    repo.trust("python3 -B test_cart.py");
    repo.cook(&["strength"]).exits(0);
    assert!(!repo.root.join("ran").exists());
}

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

/// Its own basis and head, whatever came after, and the commands that the plan names for it.
#[test]
fn a_slice_is_measured_from_its_basis() {
    let repo = Repo::with_selection();
    let run = repo.cook(&["strength", "nothing"]).exits(2);
    assert!(run.err.contains("slice_unknown"), "{run:?}");
    let run = repo.cook(&["strength", "b"]).exits(4);
    assert!(run.err.contains("has no commit yet"), "{run:?}");
    let basis = repo.head();
    repo.write_commit_for("a", "bin/one.sh", "#!/bin/sh\necho one\n");
    let head = repo.write_commit_for(
        "a",
        "bin/two.sh",
        "#!/bin/sh\nif [ -n \"$1\" ]; then\n  exit 1\nfi\n",
    );
    let (exit, answer) = strength(&repo, &["a"]);
    assert_eq!(exit, 0, "{answer:#}");
    assert_eq!(
        (&answer["base"], &answer["head"]),
        (&json!(basis), &json!(head))
    );
    assert_eq!(answer["base_is"], "the basis of slice a");
    // Its gate looks at other files.
    assert_eq!(
        (&answer["reverted"], &answer["strength"]),
        (&json!("unnoticed"), &json!(0.0))
    );
    // Commits after its end are not its own.
    let done = Repo::with_done();
    done.write_commit_for("b", "later.sh", "exit 1\n");
    let (exit, answer) = strength(&done, &["a"]);
    assert_eq!(
        (exit, answer["base_is"].as_str()),
        (0, Some("the basis of slice a"))
    );
    assert_ne!(answer["head"], done.head());
    assert!(!answer.to_string().contains("later.sh"), "{answer:#}");
}
