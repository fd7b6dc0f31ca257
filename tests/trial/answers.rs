//! The three answers, where a claim is not accused of what is not its own: what the room lacks, what was
//! never run, what goes now so and now otherwise.

use crate::support::agents::has_sandbox;
use crate::trial::{
    Repo, check, expect_refused, line, node, passes, python, replace, with_programs,
};
use serde_json::Value;
use std::path::PathBuf;

const FILE: &str = "tests/test_calc.py";

/// Where the worktree has what the commit has and nothing else, a red gate is not run in it: it would leave there
/// what it builds.
#[test]
fn a_red_gate_leaves_nothing_in_a_clean_worktree() {
    let Some(repo) = with_programs(&["make"]) else {
        return;
    };
    repo.write(
        ".agent/cook.toml",
        "[sandbox]\nmode = \"off\"\n[gates.test]\nrun = \"make test\"\n",
    );
    repo.write("Makefile", "test:\n\tcp add.txt built\n\tgrep -q 3 built\n");
    repo.write("add.txt", "3\n");
    repo.commit("Begin", None);
    repo.write("add.txt", "4\n");
    repo.commit("Break it", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 1, "{answer:#}");
    line(&answer, "gate_red");
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
}

/// The room sets nothing that changes what a program prints.
#[test]
fn a_suite_that_asserts_colours_is_green_in_the_room() {
    let Some(repo) = python() else { return };
    repo.write(
        "paint.py",
        "import os\n\n\ndef red(text):\n    plain = 'NO_COLOR' in os.environ or os.environ.get('TERM') == 'dumb'\n    return text if plain else '\\033[31m' + text + '\\033[0m'\n",
    );
    repo.write(
        "tests/test_paint.py",
        "import unittest\nfrom paint import red\n\n\nclass P(unittest.TestCase):\n    def test_red(self):\n        self.assertEqual(red('x'), '\\033[31mx\\033[0m')\n",
    );
    repo.commit("Paint", None);
    passes(&repo);
}

/// Tests that nothing runs are no green ones.
#[test]
fn tests_without_a_gate_that_runs_them_are_not_known() {
    let Some(repo) = with_programs(&["python3"]) else {
        return;
    };
    repo.write("calc.py", crate::trial::CALC);
    repo.write(FILE, crate::trial::TESTS);
    repo.commit("Begin", None);
    let told = |repo: &Repo| {
        let (exit, answer) = check(repo, &[]);
        assert_eq!((exit, &answer["answer"]), (3, &"not_known".into()));
        let line = line(&answer, "no_gates");
        assert_eq!(line["show"], "gates.test.run = \"COMMAND\"", "{answer:#}");
    };
    told(&repo);
    let run = repo.cook(&["check", "--trust-repo", "--format", "markdown"]);
    assert!(run.code == 3 && !run.out.contains('✅'), "{run:?}");
    // A gate that builds or lints runs no test.
    if let Some(repo) = node() {
        let scripts = "\"scripts\": {\n    \"build\": \"node --check calc.js\"\n  }";
        replace(
            &repo,
            "package.json",
            "\"scripts\": {\n    \"test\": \"node --test\"\n  }",
            scripts,
        );
        repo.commit("Build alone", None);
        repo.write("calc.js", "exports.add = (a, b) => a - b;\n");
        repo.commit("Break it", None);
        told(&repo);
    }
}

/// A build tool that is told to build no tests says that there were none.
#[test]
fn a_build_with_its_tests_off_is_not_known_unless_the_ci_turns_them_on() {
    let Some(repo) = with_programs(&["cmake", "ctest", "cc"]) else {
        return;
    };
    repo.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(calc C)\noption(CALC_TESTS \"Tests\" OFF)\nenable_testing()\nadd_library(calc calc.c)\nif(CALC_TESTS)\n  add_executable(t t.c)\n  target_link_libraries(t calc)\n  add_test(NAME adds COMMAND t)\nendif()\n");
    repo.write("calc.c", "int add(int a, int b) { return a + b; }\n");
    repo.write(
        "t.c",
        "int add(int, int);\nint main(void) { return add(1, 2) != 3; }\n",
    );
    repo.commit("Begin", None);
    repo.write("calc.c", "int add(int a, int b) { return a - b; }\n");
    repo.commit("Break it", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    assert_eq!(
        line(&answer, "nothing_ran")["show"],
        "cook gate --clean test --trust-repo"
    );
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.write(
        ".github/workflows/ci.yml",
        "jobs:\n  t:\n    steps:\n      - run: cmake -B build -DCALC_TESTS=ON -DCMAKE_C_COMPILER=evil\n",
    );
    repo.commit("Test it", None);
    repo.write("calc.c", "int add(int a, int b) { return a - b; }\n");
    repo.commit("Break it", None);
    expect_refused(&repo, "gate_red", "adds");
}

/// A module that only this user has is no lie of the commit.
#[test]
fn a_module_of_the_users_environment_alone_is_not_known() {
    let Some(repo) = python() else { return };
    let site = repo.beside("site");
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("helperlib.py"), "X = 3\n").unwrap();
    let variable = ("PYTHONPATH".to_owned(), site.display().to_string());
    repo.extra.borrow_mut().push(variable);
    replace(
        &repo,
        FILE,
        "import unittest\n",
        "import unittest\nfrom helperlib import X\n",
    );
    repo.commit("Use a library", None);
    for _ in 0..2 {
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 3, "{answer:#}");
        let line = line(&answer, "room_lacks");
        assert!(
            line["message"].as_str().unwrap().contains("`helperlib`"),
            "{line}"
        );
        assert_eq!(line["show"], "echo helperlib >> requirements-dev.txt");
        assert!(!answer.to_string().contains("gate_needs_uncommitted"));
    }
    // Where the settings name the gates, the line is one of theirs.
    let toml = "[gates.test]\nrun = \"make test\"\n";
    repo.write(".agent/cook.toml", toml);
    repo.commit("Name the gate", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    assert_eq!(
        line(&answer, "room_lacks")["show"],
        "setup = [\"python3 -m pip install --user helperlib\"]"
    );
}

/// What goes so and otherwise by chance is told the same however often somebody asks.
#[test]
fn a_flaky_test_gets_the_same_answer_three_times() {
    let Some(repo) = python() else { return };
    let test = |body: &str| {
        format!(
            "import os, unittest\n\n\nclass F(unittest.TestCase):\n    def test_luck(self):\n{body}"
        )
    };
    for number in 0..3 {
        let body = format!("        self.assertLess(os.urandom(1)[0], 128, {number})\n");
        repo.write("tests/test_luck.py", test(&body));
        repo.commit("Try again", None);
        let first = check(&repo, &[]);
        for _ in 0..2 {
            let again = check(&repo, &[]);
            assert_eq!(first.0, again.0, "{:#}\n{:#}", first.1, again.1);
            assert_eq!(first.1["lines"], again.1["lines"]);
        }
    }
    // It fails the first time alone: that it is flaky is said, and said again.
    let count = repo.beside("count");
    let body = format!(
        "        path = {:?}\n        seen = os.path.exists(path)\n        open(path, 'a').close()\n        self.assertTrue(seen)\n",
        count.display().to_string()
    );
    repo.git(&["rm", "-q", "tests/test_luck.py"]);
    repo.write(
        ".agent/cook.toml",
        "[gates.test]\nrun = \"make test\"\n[sandbox]\nmode = \"off\"\n",
    );
    repo.commit("Leave it", None);
    repo.write("tests/test_luck.py", test(&body));
    repo.commit("Count", None);
    for _ in 0..3 {
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 1, "{answer:#}");
        let line = line(&answer, "made_flaky");
        assert!(line["name"].as_str().unwrap().contains("test_luck"));
    }
}

/// What is asked for is run, and the rest is said.
#[test]
fn nothing_runs_without_gates_and_nothing_is_compared_when_fast() {
    let Some(repo) = python() else { return };
    replace(&repo, "calc.py", "a + b", "a - b");
    replace(&repo, FILE, "add(1, 2), 3", "add(1, 2), -1");
    replace(&repo, FILE, "add(1, -2), -1", "add(1, -2), 3");
    repo.commit("Refactor", None);
    let (exit, answer) = check(&repo, &["--no-gates"]);
    assert_eq!(exit, 3, "{answer:#}");
    line(&answer, "no_gates");
    assert!(!answer["checked"].to_string().contains("is green"));
    // The head is green; that its old tests are not was not asked.
    let (exit, answer) = check(&repo, &["--fast"]);
    assert_eq!(exit, 0, "{answer:#}");
    assert!(
        answer["checked"]
            .to_string()
            .contains("nothing was compared")
    );
    expect_refused(&repo, "pass_to_fail", "test_add");
    replace(&repo, FILE, "add(1, 2), -1", "add(1, 2), 7");
    repo.commit("Expect more", None);
    let (exit, answer) = check(&repo, &["--fast"]);
    assert_eq!(exit, 1, "{answer:#}");
    line(&answer, "gate_red");
    repo.write("calc.py", crate::trial::CALC);
    let (exit, answer) = check(&repo, &["--no-gates"]);
    assert_eq!(exit, 1, "{answer:#}");
    line(&answer, "dirty_worktree");
}

/// A person at a terminal is told after a second what takes so long, and of what is quick nothing.
#[test]
fn what_takes_long_says_what_it_does() {
    let Some(repo) = with_programs(&["python3", "make"]) else {
        return;
    };
    let said = |seconds: &str| {
        repo.write("Makefile", format!("test:\n\tsleep {seconds}; echo ok\n"));
        repo.commit("Wait", None);
        let mut command = repo.command("python3");
        let watch = "import pty, sys\npty.spawn(sys.argv[1:])\n";
        let words = [crate::support::COOK, "check", "--trust-repo", "--fast"];
        command.args(["-c", watch]).args(words).env("TERM", "xterm");
        let out = command.output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let slow = said("2");
    assert!(slow.contains("`make test` in a clean room"), "{slow}");
    let quick = said("0");
    assert!(!quick.contains("in a clean room"), "{quick}");
}

/// The command beside a line works where it is run: what makes the room ready comes first.
#[test]
fn a_command_that_shows_a_line_makes_its_place_ready() {
    if let Some(repo) = crate::trial::python() {
        repo.write(
            ".agent/cook.toml",
            "[clean_room]\nsetup = [\"mkdir -p made\", \"cp check.sh made/check.sh\"]\ncache = [\"made\"]\n[gates.test]\nrun = \"sh made/check.sh\"\n",
        );
        repo.write(".gitignore", "made/\n__pycache__/\n");
        repo.commit("Settings", None);
        repo.write("calc.py", "def add(a, b):\n    return a - b\n");
        crate::trial::replace(
            &repo,
            "tests/test_calc.py",
            "add(1, 2), 3)",
            "add(1, 2), -1)",
        );
        crate::trial::replace(
            &repo,
            "tests/test_calc.py",
            "add(1, -2), -1)",
            "add(1, -2), 3)",
        );
        repo.commit("Refactor", None);
        let (exit, answer) = crate::trial::check(&repo, &[]);
        assert_eq!(exit, 1, "{answer:#}");
        let show = answer["lines"][0]["show"].as_str().unwrap();
        let ran = repo.command("sh").args(["-c", show]).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("FAIL: test_add"), "{show}: {said}");
        let commit = show.split(' ').nth(5).unwrap();
        repo.cook(&["check", "--trust-repo"])
            .says(&format!("{commit} is the new code with old tests"));
        let trial = repo.root.join(format!("../trial-{commit}"));
        std::fs::remove_dir_all(trial).unwrap();
    }
}

#[test]
fn tests_that_come_with_a_merge_are_shown_where_the_default_branch_brought_them() {
    let Some(repo) = crate::trial::python() else {
        return;
    };
    let base = repo.head();
    repo.git(&["switch", "-q", "-c", "side"]);
    repo.write("calc.py", "def add(a, b):\n    return a - b\n");
    replace(
        &repo,
        "tests/test_calc.py",
        "add(1, 2), 3)",
        "add(1, 2), -1)",
    );
    replace(
        &repo,
        "tests/test_calc.py",
        "add(1, -2), -1)",
        "add(1, -2), 3)",
    );
    repo.commit("Refactor", None);
    repo.git(&["switch", "-q", "main"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "Merge", "side"]);
    let remote = |name: &str, commit: &str| {
        let name = format!("refs/remotes/origin/{name}");
        repo.git(&["update-ref", &name, commit]);
    };
    let ask = || crate::trial::check(&repo, &["--base", &base]);
    remote("side", "side");
    remote("main", &base);
    let head = ["refs/remotes/origin/HEAD", "refs/remotes/origin/main"];
    repo.git(&["symbolic-ref", head[0], head[1]]);
    let (exit, answer) = ask();
    assert_eq!(exit, 1, "{answer:#}");
    remote("main", "side");
    let (exit, answer) = ask();
    assert_eq!(exit, 0, "{answer:#}");
    assert!(
        answer.to_string().contains("came with a merge"),
        "{answer:#}"
    );
    remote("main", "HEAD");
    let (exit, answer) = ask();
    assert_eq!(exit, 1, "{answer:#}");
}

#[test]
fn what_the_worktree_had_once_is_no_longer_said_of_it() {
    let Some(repo) = python() else {
        return;
    };
    repo.write("local_helper.py", "ONE = 1\n");
    let code = repo.read("calc.py");
    repo.write("calc.py", format!("import local_helper\n{code}"));
    repo.commit("Use the helper", None);
    expect_refused(&repo, "gate_needs_uncommitted", "green here");
    std::fs::remove_file(repo.root.join("local_helper.py")).unwrap();
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 1, "{answer:#}");
    assert!(!answer.to_string().contains("green here"), "{answer:#}");
}

/// A repository whose gate gets the modules of a directory of the user's.
fn with_site() -> Option<(Repo, PathBuf)> {
    let repo = python()?;
    let site = repo.beside("site");
    std::fs::create_dir(&site).unwrap();
    let variable = ("PYTHONPATH".to_owned(), site.display().to_string());
    repo.extra.borrow_mut().push(variable);
    let toml =
        "[gates.test]\nrun = \"python3 -m unittest -v\"\n[clean_room]\nenv = [\"PYTHONPATH\"]\n";
    repo.write(".agent/cook.toml", toml);
    Some((repo, site))
}

/// What was red for want of a module is asked again where the head is green with it.
#[test]
fn a_base_that_was_red_before_the_head_was_green_runs_anew() {
    let Some((repo, site)) = with_site() else {
        return;
    };
    let tests = repo.read(FILE);
    repo.write(FILE, format!("import helperlib\n{tests}"));
    repo.commit("Use a library", None);
    assert_eq!(check(&repo, &[]).0, 1);
    std::fs::write(site.join("helperlib.py"), "X = 3\n").unwrap();
    let later = ("COOK_NOW".to_owned(), "2099-01-01T00:00:00Z".to_owned());
    repo.extra.borrow_mut().push(later);
    replace(&repo, "calc.py", "a + b", "a - b");
    replace(&repo, FILE, "add(1, 2), 3", "add(1, 2), -1");
    replace(&repo, FILE, "add(1, -2), -1", "add(1, -2), 3");
    repo.commit("Fix", None);
    expect_refused(&repo, "pass_to_fail", "test_add");
}

/// A gate that needs the network says so by its runs.
#[test]
fn a_gate_that_needs_the_network_is_told_how_to_get_it() {
    let (Some(repo), true) = (python(), has_sandbox()) else {
        return;
    };
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let call = format!("import socket\nsocket.create_connection((\"127.0.0.1\", {port}), 5)\n");
    let tests = repo.read(FILE);
    repo.write(FILE, format!("{call}{tests}"));
    repo.commit("Ask a server", None);
    for _ in 0..2 {
        let (exit, answer) = check(&repo, &[]);
        assert_eq!(exit, 3, "{answer:#}");
        let show = "gates.test = { network = true, run = \"make test\" }";
        assert_eq!(line(&answer, "room_lacks")["show"], show, "{answer:#}");
    }
    repo.write(".agent/cook.toml", "gates.test = { run = \"make test\" }\n");
    repo.commit("Name the gate", None);
    let (_, answer) = check(&repo, &[]);
    let found = line(&answer, "room_lacks");
    assert_eq!(found["show"], "network = true", "{answer:#}");
    assert!(
        found["message"]
            .as_str()
            .unwrap()
            .contains("`[gates.test]`")
    );
    let toml = "[gates.test]\nrun = \"make test\"\nnetwork = true\n";
    repo.write(".agent/cook.toml", toml);
    repo.commit("Give it the network", None);
    let (_, answer) = check(&repo, &[]);
    assert!(!answer.to_string().contains("room_lacks"), "{answer:#}");
}

/// Settings that no commit has say nothing of one, unless the user trusts their commands.
#[test]
fn ignored_settings_are_the_users_own_or_say_nothing() {
    let Some(repo) = python() else { return };
    repo.write(".git/info/exclude", ".agent\n");
    repo.write(".agent/cook.toml", "[gates.test]\nrun = \"true\"\n");
    replace(&repo, "calc.py", "a + b", "a - b");
    repo.commit("Break", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!(exit, 3, "{answer:#}");
    let found = line(&answer, "dirty_worktree");
    assert_eq!(found["show"], "cook trust --gates", "{answer:#}");
    repo.trust("true");
    let run = repo.cook(&["check", "--json"]);
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(answer["answer"], "true", "{answer:#}");
    let answer = passes(&repo);
    let message = &line(&answer, "dirty_worktree")["message"];
    assert_eq!(message, "1 file that HEAD does not have: .agent/cook.toml");
}

/// What could not be loaded at HEAD is tried again: what it lacked may be installed by now.
#[test]
fn a_head_that_lacked_a_module_runs_anew() {
    let Some((repo, site)) = with_site() else {
        return;
    };
    repo.commit("Name the gate", None);
    passes(&repo);
    let tests = repo.read(FILE);
    repo.write(FILE, format!("import helperlib\n{tests}"));
    repo.commit("Use a library", None);
    assert_eq!(check(&repo, &[]).0, 1);
    std::fs::write(site.join("helperlib.py"), "X = 3\n").unwrap();
    passes(&repo);
}

#[test]
fn a_manifest_that_is_broken_is_named() {
    let Some(repo) = node() else { return };
    replace(&repo, "package.json", "{\n", "{,\n");
    repo.commit("Tidy", None);
    let said = "`package.json` is not valid JSON, so nothing in it is read";
    let (_, answer) = check(&repo, &[]);
    assert!(answer.to_string().contains(said), "{answer:#}");
    repo.cook(&["init", "--mission", "Add"]).says(said);
}

#[test]
fn what_is_not_trusted_is_told_once() {
    let Some(repo) = node() else { return };
    let scripts = "\"scripts\": {\"test\": \"node --test\", \"build\": \"node -e 0\"}";
    let package = |scripts: &str| {
        format!(
            "{{\"name\": \"calc\", \"version\": \"1.0.0\", \"devDependencies\": {{\"tape\": \"*\"}}, {scripts}}}\n"
        )
    };
    repo.write("package.json", package(scripts));
    repo.commit("Build", None);
    repo.write(
        "package.json",
        package(&scripts.replace("node --test", "node --test test")),
    );
    repo.commit("Name the tests", None);
    let told = repo.cook(&["check"]).exits(3).out.clone();
    assert_eq!(told.matches("`npm install").count(), 1, "{told}");
}

#[test]
fn ten_lines_of_one_code_are_shown_and_the_others_counted() {
    let Some(repo) = python() else { return };
    let tests = |expected: u8| -> String {
        let test = |n| {
            format!("    def test_{n}(self):\n        self.assertEqual(add(1, 1), {expected})\n")
        };
        let head = "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n";
        head.to_owned() + &(0..12).map(test).collect::<String>()
    };
    repo.write(FILE, tests(2));
    repo.commit("Test more", None);
    repo.write("calc.py", "def add(a, b):\n    return a - b\n");
    repo.write(FILE, tests(0));
    repo.commit("Refactor", None);
    let told = repo.cook(&["check", "--trust-repo"]).exits(1).out.clone();
    assert_eq!(told.matches("false [pass_to_fail]").count(), 10, "{told}");
    assert!(told.contains("and 2 more [pass_to_fail]"), "{told}");
    let (_, answer) = check(&repo, &[]);
    assert_eq!(answer["lines"].as_array().unwrap().len(), 12, "{answer:#}");
}
