//! Strong and hollow tests of the same program, and the change as a whole.

use crate::strength::{Repo, go, program, python, rust, strength};
use serde_json::json;

const CART: &str = include_str!("cart.py");
const RANGE: &str = include_str!("range.js");
const ROTATE: &str = include_str!("rotate.sh");
/// So many defects tell strong tests from hollow ones.
const ENOUGH: &str = "12";

#[track_caller]
fn is_strong(repo: Option<Repo>) {
    let Some(repo) = repo else { return };
    let (exit, answer) = strength(&repo, &["--mutants", ENOUGH, "--minimum", "0.8"]);
    assert_eq!(exit, 0, "{answer:#}");
    assert!(answer["strength"].as_f64().unwrap() >= 0.8, "{answer:#}");
    assert_eq!(answer["reverted"], "noticed");
    adds_up(&answer);
}

#[track_caller]
fn is_hollow(repo: Option<Repo>) {
    let Some(repo) = repo else { return };
    let (exit, answer) = strength(&repo, &["--mutants", ENOUGH, "--minimum", "0.7"]);
    assert_eq!(exit, 1, "{answer:#}");
    assert!(answer["strength"].as_f64().unwrap() <= 0.3, "{answer:#}");
    adds_up(&answer);
}

#[test]
fn the_text_names_the_place_that_the_json_names() {
    let tests = ("test.sh", include_str!("hollow.sh"));
    let repo = program(("rotate.sh", ROTATE), tests, "sh test.sh").unwrap();
    let (_, answer) = strength(&repo, &["--mutants", "3"]);
    let run = repo.cook(&["strength", "--trust-repo", "--mutants", "3"]);
    let run = run.exits(0);
    assert!(run.out.starts_with("strength 0."), "{run:?}");
    let first = &answer["survivors"][0];
    let place = format!(
        "not noticed {}:{}",
        first["path"].as_str().unwrap(),
        first["line"]
    );
    assert!(run.out.contains(&place), "{place}: {run:?}");
}

#[track_caller]
fn adds_up(answer: &serde_json::Value) {
    let number = |key: &str| answer[key].as_u64().unwrap();
    let survivors = answer["survivors"].as_array().unwrap();
    assert_eq!(number("planted"), number("killed") + survivors.len() as u64);
    assert!(number("planted") >= 10, "{answer:#}");
    assert_eq!(answer["seed"], answer["head"]);
    for survivor in survivors {
        let diff = survivor["diff"].as_str().unwrap();
        assert!(
            diff.starts_with("--- a/") && diff.contains("\n@@ -"),
            "{diff}"
        );
    }
}

#[test]
fn python_with_tests_that_look() {
    is_strong(python(CART, include_str!("strong.py")));
}

#[test]
fn python_with_tests_that_do_not() {
    is_hollow(python(CART, include_str!("hollow.py")));
}

#[test]
fn javascript_with_tests_that_look() {
    let tests = ("range.test.js", include_str!("strong.js"));
    is_strong(program(("range.js", RANGE), tests, "node range.test.js"));
}

#[test]
fn javascript_with_tests_that_do_not() {
    let tests = ("range.test.js", include_str!("hollow.js"));
    is_hollow(program(("range.js", RANGE), tests, "node range.test.js"));
}

#[test]
fn shell_with_tests_that_look() {
    let tests = ("test.sh", include_str!("strong.sh"));
    is_strong(program(("rotate.sh", ROTATE), tests, "sh test.sh"));
}

#[test]
fn shell_with_tests_that_do_not() {
    let tests = ("test.sh", include_str!("hollow.sh"));
    is_hollow(program(("rotate.sh", ROTATE), tests, "sh test.sh"));
}

#[test]
fn rust_with_tests_that_look() {
    is_strong(rust(include_str!("strong_spans.rs.txt")));
}

#[test]
fn rust_with_tests_that_do_not() {
    is_hollow(rust(include_str!("hollow_spans.rs.txt")));
}

#[test]
fn go_with_tests_that_look() {
    is_strong(go(include_str!("strong.go")));
}

#[test]
fn go_with_tests_that_do_not() {
    is_hollow(go(include_str!("hollow.go")));
}

#[test]
fn gates_that_pass_without_the_change_prove_nothing() {
    let Some(repo) = python(CART, "import cart\n") else {
        return;
    };
    let (exit, answer) = strength(&repo, &["--mutants", "3"]);
    assert_eq!(
        (exit, &answer["reverted"]),
        (0, &json!("unnoticed")),
        "{answer:#}"
    );
    assert_eq!(answer["findings"][0]["code"], "proves_nothing");
    let run = repo
        .cook(&["strength", "--trust-repo", "--mutants", "0"])
        .exits(0);
    assert!(
        run.out.contains("[proves_nothing] the gates stay green"),
        "{run:?}"
    );
    let args = [
        "strength",
        "--trust-repo",
        "--mutants",
        "0",
        "--minimum",
        "0.7",
    ];
    repo.cook(&args).exits(1);
}

#[test]
fn a_change_without_code_is_not_applicable() {
    let Some(repo) = python(CART, "import cart\n") else {
        return;
    };
    let mut why = Vec::new();
    let mut told = |message: &str| {
        repo.commit(message, None);
        // Nothing runs, so nothing is trusted either.
        let run = repo
            .cook(&["strength", "--json", "--minimum", "0.7"])
            .exits(0);
        let answer: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(answer["strength"], json!(null));
        why.push(answer["not_applicable"].as_str().unwrap().to_owned());
    };
    repo.write("README.md", "# Cart\n");
    told("Say what it is");
    repo.write("test_cart.py", "import cart\nassert cart.Cart()\n");
    told("Test it");
    repo.write("cart.py", format!("# Prices in cents.\n{CART}"));
    told("Say it in a comment");
    repo.git(&["mv", "cart.py", "basket.py"]);
    told("Name it");
    repo.git(&["rm", "-q", "basket.py"]);
    told("Take it out");
    let (text, comments, moves, gone) = (
        "the change touches no text of source",
        "the change edits comments and blanks alone",
        "the change moves code and brings none",
        "the change takes code away and brings none",
    );
    assert_eq!(why, [text, text, comments, moves, gone]);
}

#[test]
fn a_language_that_is_not_known_is_taken_back_alone() {
    let tests = ("test.sh", "grep -q two a.zig || [ ! -s a.zig ]\n");
    let Some(repo) = program(("a.zig", "one\n"), tests, "sh test.sh") else {
        return;
    };
    repo.write("a.zig", "one\ntwo\n");
    repo.write("test.sh", "grep -q two a.zig\n");
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "--amend", "--no-edit"]);
    let (exit, answer) = strength(&repo, &[]);
    assert_eq!(exit, 0);
    assert_eq!(
        (&answer["strength"], &answer["reverted"]),
        (&json!(null), &json!("noticed"))
    );
    assert!(
        answer["checked"]
            .to_string()
            .contains("the language is not known"),
        "{answer:#}"
    );
}
