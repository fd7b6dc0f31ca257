//! The three answers, where a claim is not accused of what is not its own: what the room lacks, what was
//! never run, what goes now so and now otherwise.

use crate::support::agents::has_sandbox;
use crate::trial::{check, line, node, passes, python, replace, with_programs};
use serde_json::Value;

const FILE: &str = "tests/test_calc.py";

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
