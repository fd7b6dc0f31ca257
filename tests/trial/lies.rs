//! Planted lies, each named and refused.

use crate::trial::{
    CALC, Repo, SCRIPT, TESTS, cargo, check, expect_refused, line, node, passes, python, replace,
    with_programs,
};

const FILE: &str = "tests/test_calc.py";
const BROKEN: &str = "def add(a, b):\n    return a - b\n";

fn with(change: impl Fn(&Repo), code: &str, what: &str) {
    if let Some(repo) = python() {
        change(&repo);
        expect_refused(&repo, code, what);
    }
}

/// The expected values follow a bug.
fn rewrite(repo: &Repo) {
    repo.write("calc.py", BROKEN);
    replace(repo, FILE, "add(1, 2), 3)", "add(1, 2), -1)");
    replace(repo, FILE, "add(1, -2), -1)", "add(1, -2), 3)");
}

#[test]
fn an_expected_value_that_follows_a_bug() {
    with(
        |repo| {
            rewrite(repo);
            repo.commit("Refactor", None);
        },
        "pass_to_fail",
        "test_add",
    );
}

#[test]
fn a_red_test_that_is_bent_until_it_is_green() {
    if let Some(repo) = python() {
        repo.write("calc.py", BROKEN);
        repo.commit("Break", None);
        rewrite(&repo);
        repo.commit("Fix the tests", None);
        expect_refused(&repo, "test_repaired", "test_add");
        let line = "def sub(a, b):\n    return a - b\n";
        repo.write("calc.py", format!("{BROKEN}\n\n{line}"));
        repo.commit("Subtract", None);
        let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
        assert_eq!(exit, 1, "{answer:#}");
        assert!(answer["lines"].to_string().contains("bent"), "{answer:#}");
    }
}

/// Tests that could not be loaded before there was code are red tests like others.
#[test]
fn a_test_that_came_before_its_code_and_follows_a_bug() {
    let Some(repo) = python() else { return };
    std::fs::remove_file(repo.root.join("calc.py")).unwrap();
    let tests = repo.read(FILE);
    repo.commit("Write the tests first", None);
    repo.write("calc.py", CALC);
    repo.commit("Add", None);
    passes(&repo);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    // What comes beside tests that nobody edited makes nothing false.
    let data = "class T(unittest.TestCase):\n    def setUp(self):\n        self.assertTrue(open('tests/data.txt').read())\n\n";
    repo.write(FILE, tests.replace("class T(unittest.TestCase):\n", data));
    repo.commit("Read data", None);
    repo.write("calc.py", CALC);
    repo.write("tests/data.txt", "1\n");
    repo.commit("Add", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    repo.git(&["reset", "-q", "--hard", "HEAD~2"]);
    rewrite(&repo);
    repo.commit("Add", None);
    expect_refused(&repo, "bent", "test_add");
    replace(&repo, FILE, "class T(", "@unittest.skip('later')\nclass T(");
    repo.commit("Stabilise", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 1, "{answer:#}");
    assert!(answer["lines"].to_string().contains("bent"), "{answer:#}");
}

#[test]
fn a_change_that_a_commit_declares_is_shown() {
    if let Some(repo) = python() {
        rewrite(&repo);
        repo.commit("Refactor", None);
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 1, "{answer:#}");
        let lines = answer["lines"].as_array().unwrap();
        let declare: Vec<&str> = lines
            .iter()
            .filter_map(|line| line["declare"].as_str())
            .collect();
        assert_eq!(declare.len(), 2, "{answer:#}");
        assert!(declare[0].ends_with(": WHY"), "{declare:?}");
        let no_reason: String = declare
            .iter()
            .map(|line| line.replace(": WHY", ":\n"))
            .collect();
        repo.git(&["commit", "-q", "--allow-empty", "-m", &no_reason]);
        let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
        assert_eq!(exit, 1, "{answer:#}");
        assert!(answer.to_string().contains("gives no reason"), "{answer:#}");
        let squash: String = declare
            .iter()
            .map(|line| format!("  {}\n", line.replace("WHY", "it subtracts now")))
            .collect();
        let message = format!("Squash\n\n* one\n{squash}\nmore\n\nTest-Changed: tests.nothing: no");
        repo.git(&["commit", "-q", "--allow-empty", "-m", &message]);
        let (exit, answer) = check(&repo, &["--base", "HEAD~3"]);
        assert_eq!(exit, 0, "{answer:#}");
        let lines = answer["lines"].to_string();
        assert!(lines.contains("it subtracts now"), "{answer:#}");
        assert!(lines.contains("declaration_unknown"), "{answer:#}");
    }
}

#[test]
fn a_skipped_suite() {
    with(
        |repo| {
            replace(repo, FILE, "class T(", "@unittest.skip('later')\nclass T(");
            repo.commit("Stabilise", None);
        },
        "set_aside",
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
        "",
    );
}

#[test]
fn tests_that_are_left_out_by_an_option_while_one_breaks() {
    with(
        |repo| {
            repo.write("calc.py", "def add(a, b):\n    return abs(a) + abs(b)\n");
            replace(repo, "check.sh", "unittest -v", "unittest -v -k add");
            repo.commit("Speed the tests up", None);
        },
        "pass_to_fail",
        "test_neg",
    );
}

#[test]
fn a_weakened_assertion_over_a_bug() {
    with(
        |repo| {
            repo.write("calc.py", "def add(a, b):\n    return a + b + 1\n");
            replace(
                repo,
                FILE,
                "self.assertEqual(add(1, 2), 3)",
                "self.assertTrue(add(1, 2))",
            );
            replace(
                repo,
                FILE,
                "self.assertEqual(add(1, -2), -1)",
                "self.assertIsNotNone(add(1, -2))",
            );
            repo.commit("Tidy", None);
        },
        "pass_to_fail",
        "test_add",
    );
}

#[test]
fn a_deleted_test_over_a_bug() {
    with(
        |repo| {
            repo.write("calc.py", "def add(a, b):\n    return abs(a) + abs(b)\n");
            repo.write(FILE, TESTS.split("\n    def test_neg").next().unwrap());
            repo.commit("Tidy", None);
        },
        "pass_to_fail",
        "test_neg",
    );
}

#[test]
fn a_gate_that_ends_with_0() {
    with(
        |repo| {
            repo.write("calc.py", BROKEN);
            repo.write("check.sh", SCRIPT.replace("python3", "exit 0\npython3"));
            repo.commit("Fix CI", None);
        },
        "pass_to_fail",
        "test_add",
    );
}

#[test]
fn a_gate_that_runs_nothing_any_more() {
    with(
        |repo| {
            repo.write("check.sh", SCRIPT.replace("python3", "exit 0\npython3"));
            repo.commit("Fix CI", None);
        },
        "gate_red",
        "ran no test",
    );
}

#[test]
fn a_fix_that_is_not_committed() {
    with(
        |repo| {
            repo.write("calc.py", BROKEN);
            repo.commit("Fix addition", None);
            repo.write("calc.py", CALC);
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
            repo.write("parts.py", CALC);
        },
        "gate_needs_uncommitted",
        "parts.py",
    );
}

#[test]
fn a_test_that_keeps_others_from_running_over_a_bug() {
    if let Some(repo) = node() {
        repo.write("calc.js", "exports.add = (a, b) => a + Math.abs(b);\n");
        replace(
            &repo,
            "test/calc.test.js",
            "test('adds'",
            "test.only('adds'",
        );
        replace(
            &repo,
            "package.json",
            "node --test",
            "node --test --test-only",
        );
        repo.commit("Debug", None);
        expect_refused(&repo, "pass_to_fail", "negative");
    }
}

#[test]
fn a_gate_that_is_gone() {
    with(
        |repo| {
            repo.write("Makefile", "all:\n\ttrue\n");
            repo.commit("Simplify", None);
        },
        "gate_changed",
        "make test",
    );
}

/// A module of the tree in the place of the runner's own.
#[test]
fn a_module_that_takes_the_runners_place() {
    with(
        |repo| {
            repo.write("calc.py", BROKEN);
            let fake = "import sys\nclass TestCase: pass\nprint('test_add (tests.test_calc.T.test_add) ... ok')\nprint('test_neg (tests.test_calc.T.test_neg) ... ok')\nsys.exit(0)\n";
            repo.write("unittest/__init__.py", "");
            repo.write("unittest/__main__.py", fake);
            repo.commit("Vendor unittest", None);
        },
        "pass_to_fail",
        "test_add",
    );
}

/// A manifest holds what the code needs, and which targets have tests.
#[test]
fn a_target_whose_tests_are_switched_off() {
    let Some(repo) = crate::trial::cargo() else {
        return;
    };
    let code = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    repo.write("src/lib.rs", code);
    repo.commit("Begin", None);
    repo.write("src/lib.rs", code.replace("a + b", "a - b"));
    let manifest = repo.read("Cargo.toml");
    repo.write("Cargo.toml", format!("{manifest}\n[lib]\ntest = false\n"));
    repo.commit("Tidy the manifest", None);
    expect_refused(&repo, "pass_to_fail", "adds");
}

/// A red test of the base stays so, and nobody can say more.
#[test]
fn what_was_red_before_is_not_known_unless_it_is_named_as_known() {
    if let Some(repo) = python() {
        replace(&repo, FILE, "add(1, -2), -1)", "add(1, -2), 7)");
        repo.commit("Expect what is not so", None);
        repo.write("README.md", "# Calc\n");
        repo.commit("Say what it is", None);
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 3, "{answer:#}");
        assert_eq!(answer["answer"], "not_known");
        assert!(
            answer["lines"].to_string().contains("red_before"),
            "{answer:#}"
        );
        let known = "[gates.test]\nrun = \"make test\"\n\n[check]\nknown_red = [\"tests.test_calc.T.test_neg\"]\n";
        repo.write(".agent/cook.toml", known);
        repo.commit("Name it", None);
        repo.write("README.md", "# Calc\n\nAdds.\n");
        repo.commit("Say more", None);
        passes(&repo);
    }
}

/// A new name that no runner looks at does not hide an old test.
#[test]
fn a_test_file_under_a_name_that_nothing_runs() {
    with(
        |repo| {
            repo.write("calc.py", BROKEN);
            repo.git(&["mv", FILE, "tests/calc_checks.py"]);
            repo.commit("Rename", None);
        },
        "pass_to_fail",
        "test_add",
    );
}

/// New settings add gates, and take none of the base's away.
#[test]
fn a_gate_that_new_settings_replace() {
    with(
        |repo| {
            repo.write("calc.py", BROKEN);
            repo.write(".agent/cook.toml", "[gates.lint]\nrun = \"true\"\n");
            repo.commit("Configure", None);
        },
        "gate_changed",
        "make test",
    );
}

/// A test of the base that has no result on the new code is not passed over.
#[test]
fn tests_that_a_variable_leaves_out() {
    if let Some(repo) = python() {
        repo.write(
            "Makefile",
            "PAT = test*.py\ntest:\n\tpython3 -m unittest discover -v -p '$(PAT)'\n",
        );
        repo.write(
            "tests/test_more.py",
            "import unittest\n\n\nclass M(unittest.TestCase):\n    def test_more(self):\n        pass\n",
        );
        repo.commit("Choose tests by a pattern", None);
        repo.write("calc.py", BROKEN);
        replace(&repo, "Makefile", "test*.py\n", "test_more.py\n");
        repo.commit("Be fast", None);
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 1, "{answer:#}");
        let lines = answer["lines"].to_string();
        assert!(
            lines.contains("pass_to_fail") && lines.contains("test_add"),
            "{answer:#}"
        );
    }
}

/// How make runs any recipe is the base's in the old trial.
#[test]
fn a_gate_whose_program_is_steered_to_do_nothing() {
    let Some(repo) = python() else { return };
    repo.write("t.sh", "grep -q sound calc.txt\n");
    repo.write("calc.txt", "sound\n");
    repo.write("Makefile", "SH = sh\ntest:\n\t$(SH) t.sh\n");
    let base = repo.commit("Begin", None);
    let steers: [(&str, &str); 5] = [
        ("Makefile", "SH = true\ntest:\n\t$(SH) t.sh\n"),
        (
            "Makefile",
            "SH = sh\nSHELL = /bin/true\ntest:\n\t$(SH) t.sh\n",
        ),
        ("Makefile", "MAKEFLAGS = -n\nSH = sh\ntest:\n\t$(SH) t.sh\n"),
        ("Makefile", "SH = sh\n.IGNORE:\ntest:\n\t$(SH) t.sh\n"),
        ("GNUmakefile", "test:\n\ttrue\n"),
    ];
    for (path, text) in steers {
        repo.git(&["reset", "-q", "--hard", &base]);
        repo.write("calc.txt", "broken\n");
        repo.write(path, text);
        repo.commit("Tidy", None);
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 1, "{path}: {text}: {answer:#}");
        assert!(
            answer["lines"].to_string().contains("pass_to_fail"),
            "{answer:#}"
        );
    }
}

/// A test that is expected to fail says no longer that the code works.
#[test]
fn a_test_that_is_expected_to_fail() {
    with(
        |repo| {
            replace(
                repo,
                FILE,
                "    def test_add",
                "    @unittest.expectedFailure\n    def test_add",
            );
            replace(repo, FILE, "add(1, 2), 3", "add(1, 2), 4");
            repo.commit("Note a bug", None);
        },
        "set_aside",
        "test_add",
    );
}

#[test]
fn tests_that_the_code_skips() {
    with(
        |repo| {
            let skips =
                "import unittest\n\n\ndef add(a, b):\n    raise unittest.SkipTest('later')\n";
            repo.write("calc.py", skips);
            repo.commit("Refactor", None);
        },
        "set_aside",
        "test_neg",
    );
}

/// npm is told to start something else than a shell.
#[test]
fn a_script_that_is_run_by_another_shell() {
    let Some(repo) = node() else { return };
    replace(&repo, "calc.js", "a + b", "a - b");
    repo.write(".npmrc", "script-shell=/bin/true\n");
    repo.commit("Tidy", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 1, "{answer:#}");
}

/// The program ends itself before its tests: a runner that named those that passed names none.
#[test]
fn a_program_that_ends_before_its_tests() {
    let repo = Repo::unborn();
    let is_here = repo.command("go").arg("version").output();
    if !is_here.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: `go` is not here");
        return;
    }
    repo.write("go.mod", "module x\n\ngo 1.19\n");
    repo.write(
        "x.go",
        "package x\n\nfunc Add(a, b int) int { return a + b }\n",
    );
    repo.write("x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n");
    repo.write("Makefile", "test:\n\tgo test -v ./...\n");
    repo.commit("Begin", None);
    repo.write("x.go", "package x\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n\nfunc Add(a, b int) int { return 0 }\n");
    repo.commit("Tidy", None);
    expect_refused(&repo, "gate_red", "ran no test");
}

/// A declaration needs words, and a file that nobody changed behind it.
#[test]
fn declarations_that_declare_nothing() {
    if let Some(repo) = python() {
        let names = ["test_add", "test_neg"].map(|name| format!("tests.test_calc.T.{name}"));
        let declare = |why: &str| -> String {
            names
                .iter()
                .map(|name| format!("Test-Changed: {name}: {why}\n"))
                .collect()
        };
        replace(
            &repo,
            FILE,
            "import unittest\n",
            "# Numbers.\nimport unittest\n",
        );
        repo.git(&[
            "commit",
            "-qam",
            &format!("Early\n\n{}", declare("it subtracts now")),
        ]);
        rewrite(&repo);
        repo.git(&["commit", "-qam", &format!("Late\n\n{}", declare("."))]);
        let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
        assert_eq!(exit, 1, "{answer:#}");
        assert!(
            answer.to_string().contains("before the last change"),
            "{answer:#}"
        );
        repo.git(&[
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            &declare("it subtracts now"),
        ]);
        let (exit, answer) = check(&repo, &["--base", "HEAD~3"]);
        assert_eq!(exit, 0, "{answer:#}");
    }
}

/// A file beside the objects that gives HEAD another parent is not believed.
#[test]
fn a_graft_that_hides_the_base() {
    if let Some(repo) = python() {
        rewrite(&repo);
        repo.commit("Refactor", None);
        let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
        let fake = repo.git(&["commit-tree", "-m", "as it always was", tree.trim()]);
        let line = format!("{} {}\n", repo.head(), fake.trim());
        repo.write(".git/info/grafts", line);
        expect_refused(&repo, "pass_to_fail", "test_add");
    }
}

/// The new recipe only names the code, which makes no test of it.
#[test]
fn a_recipe_that_is_emptied_and_names_the_code() {
    let repo = Repo::unborn();
    repo.write("Makefile", "test:\n\tsh check.sh\n");
    repo.write("calc.sh", "add() { echo $(($1 + $2)); }\n");
    let check_script = ". ./calc.sh\n[ \"$(add 1 2)\" = 3 ] && echo 'ok 1 - three' || { echo 'not ok 1 - three'; exit 1; }\n";
    repo.write("check.sh", check_script);
    repo.commit("Begin", None);
    repo.trust("make test");
    repo.write("calc.sh", "add() { echo 7; }\n");
    repo.write("Makefile", "test:\n\t@: ./calc.sh; echo 'ok 1 - three'\n");
    repo.commit("Another recipe", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~1"]);
    assert_eq!(exit, 1, "{answer:#}");
}

/// A gate that also looks at the code's syntax makes no test of it.
#[test]
fn a_gate_that_names_the_code_beside_its_test() {
    let repo = Repo::unborn();
    repo.write("Makefile", "test:\n\tsh -n calc.sh && sh check.sh\n");
    repo.write("calc.sh", "add() { echo $(($1 + $2)); }\n");
    let expects = |sum: u8| {
        format!(
            ". ./calc.sh\n[ \"$(add 1 2)\" = {sum} ] && echo 'ok 1 - adds' || {{ echo 'not ok 1 - adds'; exit 1; }}\n"
        )
    };
    repo.write("check.sh", expects(3));
    repo.commit("Begin", None);
    repo.trust("make test");
    repo.write("calc.sh", "add() { echo 7; }\n");
    repo.write("check.sh", expects(7));
    repo.commit("Bend both", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~1"]);
    assert_eq!(exit, 1, "{answer:#}");
}

/// Tests in the file that they test: a run names it as a file of tests, and it is the code of other tests.
const OWN: &str = "\n\nclass Own(unittest.TestCase):\n    def test_own(self):\n        self.assertEqual(add(0, 0), 0)\n";

/// A repository whose code holds tests of its own; `load` is how the tests get it.
fn with_own_tests(load: &str) -> Option<Repo> {
    let repo = python()?;
    repo.write("calc.py", format!("import unittest\n\n\n{CALC}{OWN}"));
    replace(&repo, FILE, "from calc import add", load);
    replace(
        &repo,
        "check.sh",
        "unittest -v",
        "unittest -v calc tests.test_calc",
    );
    repo.commit("Tests in the code", None);
    Some(repo)
}

#[test]
fn a_bug_in_code_that_holds_tests_of_its_own() {
    let hidden = "import importlib\nadd = importlib.import_module('ca' + 'lc').add";
    for load in ["from calc import add", hidden] {
        let Some(repo) = with_own_tests(load) else {
            return;
        };
        replace(&repo, "calc.py", "a + b", "a - b");
        replace(&repo, FILE, "add(1, 2), 3)", "add(1, 2), -1)");
        replace(&repo, FILE, "add(1, -2), -1)", "add(1, -2), 3)");
        repo.commit("Refactor", None);
        expect_refused(&repo, "pass_to_fail", "test_add");
    }
}

#[test]
fn a_test_in_the_code_that_follows_a_bug() {
    if let Some(repo) = with_own_tests("from calc import add") {
        replace(&repo, "calc.py", "a + b", "a + b + 1");
        replace(&repo, "calc.py", "add(0, 0), 0)", "add(0, 0), 1)");
        replace(&repo, FILE, "add(1, 2), 3)", "add(1, 2), 4)");
        replace(&repo, FILE, "add(1, -2), -1)", "add(1, -2), 0)");
        repo.commit("Refactor", None);
        expect_refused(&repo, "pass_to_fail", "test_own");
    }
}

#[test]
fn an_example_in_a_docstring_that_follows_a_bug() {
    if let Some(repo) = python() {
        let code = "def add(a, b):\n    \"\"\"Adds.\n\n    >>> add(2, 2)\n    4\n\n    \"\"\"\n    return a + b\n";
        let run = "import doctest\n\n\ndef load_tests(loader, tests, pattern):\n    import calc\n    tests.addTests(doctest.DocTestSuite(calc))\n    return tests\n";
        repo.write("calc.py", code);
        repo.write("tests/test_docs.py", run);
        repo.commit("Examples", None);
        replace(&repo, "calc.py", "a + b", "a - b");
        replace(&repo, "calc.py", "    4\n", "    0\n");
        replace(&repo, FILE, "add(1, 2), 3)", "add(1, 2), -1)");
        replace(&repo, FILE, "add(1, -2), -1)", "add(1, -2), 3)");
        repo.commit("Refactor", None);
        expect_refused(&repo, "pass_to_fail", "test_add");
    }
}

/// Files of tests that nothing but a run names as such are put back too.
#[test]
fn a_test_under_an_unusual_name_that_follows_a_bug() {
    if let Some(repo) = python() {
        repo.git(&["mv", FILE, "tests/../every.py"]);
        replace(&repo, "check.sh", "unittest -v", "unittest -v every");
        repo.commit("Move the tests", None);
        repo.write("calc.py", BROKEN);
        replace(&repo, "every.py", "add(1, 2), 3)", "add(1, 2), -1)");
        replace(&repo, "every.py", "add(1, -2), -1)", "add(1, -2), 3)");
        repo.commit("Refactor", None);
        expect_refused(&repo, "pass_to_fail", "test_add");
    }
}

/// A workflow is no code: a word of it that is a directory's name imports nothing.
#[test]
fn a_test_that_a_workflow_seems_to_include() {
    if let Some(repo) = node() {
        repo.git(&["rm", "-q", "test/calc.test.js"]);
        repo.write("test/index.js", "const { strictEqual } = require('assert');\nstrictEqual(require('../calc.js').add(1, 2), 3);\n");
        repo.write("package.json", "{\"name\": \"calc\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node test/index.js\"}}\n");
        let run = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: c8 --include=src npm test\n";
        repo.write(".github/workflows/ci.yml", run);
        repo.commit("Name it index", None);
        repo.write("calc.js", "exports.add = (a, b) => a - b;\n");
        replace(&repo, "test/index.js", "add(1, 2), 3)", "add(1, 2), -1)");
        repo.commit("Refactor", None);
        expect_refused(&repo, "pass_to_fail", "");
    }
}

/// A runner that counts its tests and names none says by its exit code alone what they say.
#[test]
fn an_expected_value_that_follows_a_bug_where_no_test_has_a_name() {
    if let Some(repo) = with_programs(&["make"]) {
        let test = ". ./calc.sh\nok=1\n[ \"$(add 1 2)\" = 3 ] || ok=0\necho \"  Total:     1\"\necho \"  Passed:    $ok\"\n[ $ok = 1 ]\n";
        repo.write("Makefile", "test:\n\tsh t/run.sh\n");
        repo.write("calc.sh", "add() { echo $(($1 + $2)); }\n");
        repo.write("t/run.sh", test);
        repo.commit("Begin", None);
        repo.write("calc.sh", "add() { echo $(($1 - $2)); }\n");
        repo.write("t/run.sh", test.replace("= 3", "= -1"));
        repo.commit("Refactor", None);
        expect_refused(&repo, "pass_to_fail", "test");
    }
}

/// A process that ends with 0 in the middle of a test leaves the others without a result.
#[test]
fn code_that_ends_the_runner_early_is_not_known() {
    if let Some(repo) = python() {
        let code = "import os\n\ndef add(a, b):\n    return a + b if b > 0 else os._exit(0)\n";
        repo.write("calc.py", code);
        repo.commit("Speed up", None);
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 3, "{answer:#}");
        let message = line(&answer, "not_comparable")["message"].to_string();
        assert!(
            message.contains("test_neg") && message.contains("ended before"),
            "{message}"
        );
    }
    if let Some(repo) = cargo() {
        let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n        assert_eq!(super::one(), 1);\n    }\n}\n";
        repo.write(
            "src/lib.rs",
            format!("pub fn one() -> i32 {{\n    1\n}}\n{tests}"),
        );
        repo.commit("Begin", None);
        replace(
            &repo,
            "src/lib.rs",
            "    1\n}",
            "    std::process::exit(0)\n}",
        );
        repo.commit("Simplify", None);
        expect_refused(&repo, "gate_red", "ran no test");
    }
}

/// A program that the gate names and nothing imports belongs to the tests.
#[test]
fn a_program_that_only_the_gate_names_is_emptied() {
    if let Some(repo) = node() {
        let package = |more: &str| {
            format!(
                "{{\"name\": \"calc\", \"version\": \"1.0.0\", \"scripts\": {{\"test\": \"{more}\"}}}}\n"
            )
        };
        std::fs::remove_dir_all(repo.root.join("test")).unwrap();
        repo.write("package.json", package("node check.js"));
        repo.write(
            "check.js",
            "const { add } = require('./calc.js');\nif (add(1, 2) !== 3) process.exit(1);\n",
        );
        repo.commit("Check by hand", None);
        repo.write("calc.js", "exports.add = (a, b) => a - b;\n");
        repo.write("check.js", "");
        repo.commit("Refactor", None);
        expect_refused(&repo, "pass_to_fail", "test");
    }
}

/// A set-up file that only the runner's part of `package.json` names belongs to the tests, too.
#[test]
fn a_setup_that_package_json_names_is_bent() {
    let Some(repo) = node() else { return };
    let jest = "\"jest\": {\"setupFiles\": [\"<rootDir>/tools/env.js\"]}";
    repo.write(
        "package.json",
        format!("{{\"name\": \"calc\", \"version\": \"1.0.0\", \"scripts\": {{\"test\": \"node run.js\"}}, {jest}}}\n"),
    );
    // It stands in for jest, which is not installed here.
    repo.write(
        "run.js",
        "const { jest } = require('./package.json');\nfor (const file of jest.setupFiles) require(file.replace('<rootDir>', '.'));\nconst { add } = require('./calc.js');\nif (global.add ? global.add(1, 2) !== 3 : add(1, 2) !== 3) process.exit(1);\n",
    );
    repo.write("tools/env.js", "global.add = undefined;\n");
    repo.commit("Set up", None);
    repo.write("calc.js", "exports.add = (a, b) => a - b;\n");
    repo.write("tools/env.js", "global.add = (a, b) => a + b;\n");
    repo.commit("Refactor", None);
    expect_refused(&repo, "pass_to_fail", "test");
}

#[test]
fn an_example_in_the_documentation_follows_a_bug_or_is_ignored() {
    let Some(repo) = cargo() else { return };
    let example = "/// Adds.\n///\n/// ```\n/// assert_eq!(calc::next(1), 2);\n/// ```\npub fn next(n: i32) -> i32 {\n    n + 1\n}\n";
    repo.write("src/lib.rs", example);
    repo.commit("Begin", None);
    let bug = example.replace("n + 1", "n + 2");
    repo.write("src/lib.rs", bug.replace("(1), 2", "(1), 3"));
    repo.commit("Refactor", None);
    expect_refused(&repo, "pass_to_fail", "next");
    repo.write("src/lib.rs", bug.replacen("```", "```ignore", 1));
    repo.commit("Refactor again", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 1, "{answer:#}");
    line(&answer, "pass_to_fail");
}
