//! Honest heads, none refused.

use crate::support::Repo;
use crate::trial::{CALC, TESTS, cargo, check, node, passes, python, replace};

const FILE: &str = "tests/test_calc.py";

#[test]
fn a_feature_with_its_test() {
    let Some(repo) = python() else { return };
    repo.write(
        "calc.py",
        format!("{CALC}\n\ndef mul(a, b):\n    return a * b\n"),
    );
    let text = TESTS.replace("import add", "import add, mul");
    repo.write(
        FILE,
        format!("{text}\n    def test_mul(self):\n        self.assertEqual(mul(2, 3), 6)\n"),
    );
    repo.commit("Multiply", None);
    let answer = passes(&repo);
    assert_eq!(answer["lines"].as_array().unwrap().len(), 0, "{answer:#}");
    let sides = answer["changed"].to_string();
    assert!(
        sides.contains(r#""path":"calc.py","side":"code""#),
        "{sides}"
    );
    assert!(
        sides.contains(r#""path":"tests/test_calc.py","side":"test""#),
        "{sides}"
    );
}

#[test]
fn a_refactoring_is_worth_a_look_and_no_more() {
    let Some(repo) = python() else { return };
    repo.write(
        "calc.py",
        "def add(a, b):\n    total = a\n    total += b\n    return total\n",
    );
    repo.commit("Name the sum", None);
    let answer = passes(&repo);
    assert_eq!(answer["lines"][0]["code"], "change_unnoticed");
    assert_eq!(answer["lines"][0]["weight"], "shown");
}

#[test]
fn what_touches_no_source() {
    let Some(repo) = python() else { return };
    repo.write("README.md", "# Calc\n\nRun `make test || true`.\n");
    repo.commit("Say what it is", None);
    passes(&repo);
    repo.write(
        FILE,
        format!("{TESTS}\n    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n"),
    );
    repo.commit("Test zero", None);
    passes(&repo);
    replace(&repo, FILE, "test_neg", "test_negative_numbers");
    repo.commit("Name it", None);
    let answer = passes(&repo);
    assert!(answer["lines"].to_string().contains("lost"), "{answer:#}");
}

/// A deleted test of code that still does what it asked is shown, or refused where the settings say so.
#[test]
fn a_test_that_is_gone_and_would_pass() {
    let Some(repo) = python() else { return };
    let settings = "[gates.test]\nrun = \"make test\"\n\n[check]\nlost = \"refuse\"\n";
    repo.write(".agent/cook.toml", settings);
    repo.commit("Refuse", None);
    repo.write(FILE, TESTS.split("\n    def test_neg").next().unwrap());
    repo.commit("Tidy", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 1, "{answer:#}");
    assert_eq!(answer["lines"][0]["code"], "lost");
    let declare = answer["lines"][0]["declare"].as_str().unwrap();
    let message = declare.replace("WHY", "another test asks the same");
    repo.git(&["commit", "-q", "--allow-empty", "-m", &message]);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 0, "{answer:#}");
}

#[test]
fn a_file_that_moves_with_its_test() {
    let Some(repo) = node() else { return };
    repo.git(&["mv", "calc.js", "sum.js"]);
    repo.git(&["mv", "test/calc.test.js", "test/sum.test.js"]);
    replace(&repo, "test/sum.test.js", "../calc.js", "../sum.js");
    replace(&repo, "package.json", "1.0.0", "1.1.0");
    repo.commit("Rename", None);
    // What the old test loads is not there any more, so nobody can run it.
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    assert_eq!(answer["lines"][0]["code"], "not_comparable", "{answer:#}");
    // The commit that the line names is the user's own, where cook made none.
    let head = repo.head();
    let run = repo.cook(&["check", "--trust-repo"]);
    assert!(
        !run.out
            .contains(&format!("{} is the new code", &head[..12])),
        "{run:?}"
    );
    let declare = "Test-Changed: test/: calc.js is sum.js now";
    repo.git(&["commit", "-q", "--allow-empty", "-m", declare]);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 0, "{answer:#}");
}

#[test]
fn a_directory_that_moves_whole() {
    let Some(repo) = python() else { return };
    repo.write("shop/__init__.py", "");
    repo.write(
        "shop/price.py",
        "def total(a):\n    return sum(a)\n\n\ndef first(a):\n    return a[0]\n",
    );
    repo.write("shop/test_price.py", "import unittest\nfrom .price import total\n\n\nclass P(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n");
    repo.commit("Sell", None);
    repo.git(&["mv", "shop", "store"]);
    repo.commit("Rename", None);
    let answer = passes(&repo);
    assert!(!answer["lines"].to_string().contains("lost"), "{answer:#}");
}

#[test]
fn a_feature_whose_tests_stand_in_its_file() {
    let Some(repo) = cargo() else { return };
    let own = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n";
    let tests = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n";
    repo.write("src/lib.rs", format!("{own}{tests}}}\n"));
    repo.commit("Begin", None);
    let more = "\npub fn mul(a: i32, b: i32) -> i32 {\n    a * b\n}\n";
    let test = "\n    #[test]\n    fn multiplies() {\n        assert_eq!(mul(2, 3), 6);\n    }\n";
    repo.write("src/lib.rs", format!("{own}{more}{tests}{test}}}\n"));
    repo.commit("Multiply", None);
    let run = repo.cook(&["check", "--trust-repo", "--json", "--gate", "test"]);
    assert_eq!(run.code, 0, "{run:?}");
    replace(
        &repo,
        "src/lib.rs",
        "    #[test]\n    fn adds",
        "    #[test]\n    #[ignore]\n    fn adds",
    );
    repo.commit("Stabilise", None);
    let run = repo.cook(&["check", "--trust-repo", "--json", "--gate", "test"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("set_aside"), "{run:?}");
    // The inline test follows a bug.
    replace(&repo, "src/lib.rs", "    #[ignore]\n", "");
    replace(&repo, "src/lib.rs", "a + b", "a - b");
    replace(&repo, "src/lib.rs", "add(1, 2), 3", "add(1, 2), -1");
    repo.commit("Fix", None);
    let run = repo.cook(&[
        "check",
        "--trust-repo",
        "--json",
        "--gate",
        "test",
        "--base",
        "HEAD~2",
    ]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("pass_to_fail"), "{run:?}");
}

/// Prose may speak of skips, and a submodule is no text.
#[test]
fn prose_about_skips_and_a_new_submodule() {
    let Some(repo) = python() else { return };
    repo.write(
        "README.md",
        "Write `it.skip()` or `#[ignore]` to set a test aside.\n",
    );
    repo.commit("Say how tests are set aside", None);
    passes(&repo);
    let other = Repo::unborn();
    other.write("lib.txt", "theirs\n");
    other.commit("Begin", None);
    let theirs = other.root.display().to_string();
    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &theirs,
        "lib",
    ]);
    repo.commit("Use theirs", None);
    passes(&repo);
}

/// Code that holds tests of its own, and changes together with other code: nothing is put back whole.
#[test]
fn code_with_tests_of_its_own_that_changes_with_other_code() {
    if let Some(repo) = crate::trial::python() {
        let own = "import unittest\nfrom base import one\n\n\ndef add(a, b):\n    return a + b * one()\n\n\nclass Own(unittest.TestCase):\n    def test_own(self):\n        self.assertEqual(add(0, 0), 0)\n";
        repo.write("base.py", "def one():\n    return 1\n");
        repo.write("calc.py", own);
        replace(
            &repo,
            "check.sh",
            "unittest -v",
            "unittest -v calc tests.test_calc",
        );
        repo.commit("Tests in the code", None);
        repo.write("base.py", "def unit():\n    return 1\n");
        repo.write("calc.py", own.replace("one", "unit"));
        replace(
            &repo,
            "tests/test_calc.py",
            "add(1, 2), 3)",
            "add(2, 1), 3)",
        );
        repo.commit("Rename", None);
        passes(&repo);
    }
}

/// A gate that cook guesses for the base and that is red there is nobody's claim.
#[test]
fn the_first_settings_replace_a_guess_that_was_never_green() {
    if let Some(repo) = crate::trial::python() {
        replace(&repo, "Makefile", "sh check.sh", "sh nothing.sh");
        repo.commit("A rule that does not work", None);
        repo.write(
            ".agent/cook.toml",
            "[gates.test]\nrun = \"python3 -m unittest -v\"\n",
        );
        repo.commit("Say how the tests run", None);
        let answer = passes(&repo);
        assert!(
            answer["checked"].to_string().contains("is not asked"),
            "{answer:#}"
        );
    }
}

/// A bug that a test expected is mended.
#[test]
fn an_expected_failure_that_is_mended() {
    let Some(repo) = python() else { return };
    let test = "    @unittest.expectedFailure\n    def test_none(self):\n        self.assertEqual(add(1, None), 1)\n\n    def test_neg";
    replace(&repo, "tests/test_calc.py", "    def test_neg", test);
    repo.commit("Note a bug", None);
    passes(&repo);
    replace(&repo, "calc.py", "a + b", "a + (b or 0)");
    replace(
        &repo,
        "tests/test_calc.py",
        "    @unittest.expectedFailure\n",
        "",
    );
    repo.commit("Mend the bug", None);
    passes(&repo);
}
