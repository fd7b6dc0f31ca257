//! Repositories of several projects: the gates of the folders that a change touches run, and no others.

use crate::trial::{Repo, check, expect_refused, passes};

/// What a gate says something about decides whether it runs, and whether a receipt answers.
#[test]
fn a_gate_with_paths_runs_where_they_changed_and_is_not_asked_twice() {
    let repo = Repo::unborn();
    let count = repo.beside("count");
    let settings = "[gates.a]\nrun = \"sh t.sh a\"\ndir = \"a\"\npaths = [\"a\"]\n[gates.b]\nrun = \"sh t.sh b\"\ndir = \"b\"\npaths = [\"b\", \"shared/*\"]\n[sandbox]\nmode = \"off\"\n";
    repo.write(".agent/cook.toml", settings);
    for name in ["a", "b"] {
        let script = format!(
            "set -e\necho $1 >> {}\n. ./lib.sh\ntest \"$(one)\" = 1\n",
            count.display()
        );
        repo.write(&format!("{name}/t.sh"), script);
        repo.write(&format!("{name}/lib.sh"), "one() { echo 1; }\n");
    }
    repo.write("shared/x", "1\n");
    repo.commit("Begin", None);
    let ran = || {
        let text = std::fs::read_to_string(&count).unwrap_or_default();
        let _ = std::fs::remove_file(&count);
        let of = |name: &str| text.lines().filter(|line| *line == name).count();
        (of("a"), of("b"))
    };
    repo.write("b/lib.sh", "one() { echo 1; } # b\n");
    repo.commit("Work on b", None);
    let answer = passes(&repo);
    assert!(answer["checked"].to_string().contains("(a) was not run"));
    assert!(matches!(ran(), (0, 1..)));
    passes(&repo);
    assert_eq!(ran(), (0, 0), "it is not asked twice");
    // Seen from further back both are concerned, and of b nothing changed since.
    repo.write("a/lib.sh", "one() { echo 1; } # a\n");
    repo.commit("Work on a", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 0, "{answer:#}");
    let (a, b) = ran();
    assert!(a > 0 && b == 0, "{a} {b}");
    repo.write("shared/x", "2\n");
    repo.commit("Share more", None);
    passes(&repo);
    assert!(matches!(ran(), (0, 1..)));
    repo.write("a/lib.sh", "one() { echo 2; }\n");
    repo.commit("Break a", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!((exit, &answer["lines"][0]["code"]), (1, &"gate_red".into()));
    // A narrower list takes no gate away from the change that brings it.
    repo.write(
        ".agent/cook.toml",
        settings.replace("paths = [\"a\"]", "paths = [\"nothing\"]"),
    );
    repo.commit("Narrow it", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 1, "{answer:#}");
    assert!(answer.to_string().contains("gate_changed"), "{answer:#}");
    // Nothing that anybody asks about changed.
    repo.write("README.md", "# More\n");
    repo.commit("Say more", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!((exit, &answer["lines"][0]["code"]), (3, &"no_gates".into()));
}

#[test]
fn a_changed_test_that_no_gate_runs_is_not_known() {
    let (repo, _) = begin_npm();
    repo.write("py/price.py", "def price():\n    return 1\n");
    repo.write(
        "py/test_price.py",
        "import price\n\ndef test_price():\n    assert price.price() == 2\n",
    );
    repo.commit("Add a price", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    let line = &answer["lines"][0];
    assert_eq!(line["code"], "nothing_ran", "{answer:#}");
    let message = line["message"].as_str().unwrap();
    assert!(message.contains("py/test_price.py"), "{message}");
    // Whoever asks for one gate has said what counts.
    let (exit, answer) = check(&repo, &["--gate", "test"]);
    assert_eq!(exit, 0, "{answer:#}");
}

/// pytest names an inherited test by the file that inherits it.
#[test]
fn a_test_that_another_file_inherits_has_run() {
    let repo = Repo::unborn();
    repo.write(".agent/cook.toml", "[gates]\ntest.run = \"sh run.sh\"\n");
    let report = r#"<testsuite name="all" tests="1"><testcase classname="tests.test_v.TestV" name="test_x" file="tests/test_v.py"/></testsuite>"#;
    repo.write(
        "run.sh",
        format!("mkdir -p build/test-results\necho '{report}' >build/test-results/TEST-all.xml\n"),
    );
    let base = |n: u8| format!("class Base:\n    def test_x(self):\n        assert self.n < {n}\n");
    repo.write("tests/base.py", base(1));
    repo.write("tests/test_v.py", "from tests.base import Base\n");
    repo.commit("Share a test", None);
    repo.write("tests/base.py", base(2));
    repo.commit("Edit the shared test", None);
    passes(&repo);
    repo.write(
        "tests/base.py",
        "class Base:\n    def test_y(self):\n        pass\n",
    );
    repo.commit("Put another test in its place", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    assert_eq!(answer["lines"][0]["code"], "nothing_ran", "{answer:#}");
}

#[test]
fn a_test_of_a_committed_dependency_is_not_told_to_the_runner() {
    let (repo, test) = begin_npm();
    let dependency = "node_modules/dep/test/dep.test.js";
    repo.write(dependency, test("dep", "true"));
    repo.write(
        ".agent/cook.toml",
        "[gates.test]\nrun = \"npm run test\"\n[clean_room]\ncache = [\"node_modules\"]\n",
    );
    repo.commit("Commit what the project needs", None);
    repo.write(dependency, test("dep", "false"));
    repo.write("lib.js", "exports.one = 2 - 1;\n");
    repo.commit("Update what the project needs", None);
    let answer = passes(&repo);
    assert!(!answer.to_string().contains("dep.test.js >"), "{answer:#}");
}

#[test]
fn a_test_that_moved_out_of_the_runner_s_sight_is_still_run_on_the_new_code() {
    let (repo, test) = begin_npm();
    repo.write("two.test.js", test("two", "true"));
    repo.commit("Add a test", None);
    repo.write("lib.js", "exports.one = 5;\n");
    repo.git(&["mv", "lib.test.js", "lib-checks.js"]);
    repo.commit("Break it, and hide its test", None);
    expect_refused(&repo, "pass_to_fail", "lib.test.js > one");
}

/// A project with one test, and the text of a test with a name and what it expects.
fn begin_npm() -> (Repo, fn(&str, &str) -> String) {
    let test = |name: &str, holds: &str| {
        format!(
            "const test = require('node:test');\ntest('{name}', () => {{ require('node:assert').ok({holds}); }});\n"
        )
    };
    let repo = Repo::unborn();
    repo.write(
        "package.json",
        r#"{"name": "a", "scripts": {"test": "node --test"}}"#,
    );
    repo.write("lib.js", "exports.one = 1;\n");
    repo.write("lib.test.js", test("one", "require('./lib.js').one === 1"));
    repo.commit("Begin", None);
    (repo, test)
}
