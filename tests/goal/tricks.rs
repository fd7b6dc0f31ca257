//! What an agent may try instead of the work.

use crate::goal::{CHEAT, CHECK, SOUND, mend, repo, set, state, with_goal};
use crate::support::Repo;

#[test]
fn a_check_s_own_file_is_laid_over_whatever_became_of_it() {
    let repo = with_goal();
    for text in ["exit 0\n", "# nothing\n"] {
        repo.write("tests/slug.sh", text);
        repo.commit("Make the test easier", None);
        let told = state(&repo, 1);
        assert_eq!(told["checks"][0]["verdict"], "red", "{told}");
        let why = told["checks"][0]["why"].as_str().unwrap();
        assert!(
            why.ends_with("with `tests/slug.sh` as it was frozen"),
            "{why}"
        );
    }
    repo.git(&["rm", "-q", "tests/slug.sh"]);
    repo.commit("Drop the test", None);
    assert_eq!(state(&repo, 1)["checks"][0]["verdict"], "red");
    // With the work done a test that is gone is still no test.
    mend(&repo);
    let told = state(&repo, 1);
    assert_eq!(told["checks"][0]["verdict"], "red", "{told}");
    repo.git(&["checkout", "-q", "HEAD~4", "--", "tests/slug.sh"]);
    repo.commit("Put it back", None);
    state(&repo, 0);
}

#[test]
fn a_file_that_the_user_freezes_is_laid_over_too() {
    let repo = repo();
    repo.write("bin/check.awk", "/A/ { bad = 1 } END { exit bad }\n");
    repo.write("made.txt", "A\n");
    repo.commit("A program that checks", None);
    let words = [
        "goal",
        "x",
        "--check",
        "awk -f bin/check.awk made.txt",
        "--as-user",
    ];
    repo.cook(&[&words[..], &["--freeze", "nothing.txt"]].concat())
        .exits(2)
        .says("--freeze nothing.txt");
    repo.cook(&[&words[..], &["--freeze", "bin/check.awk"]].concat())
        .ok()
        .says("frozen: bin/check.awk")
        .says("not frozen, because it is code: made.txt");
    repo.write("bin/check.awk", "END { exit 0 }\n");
    repo.commit("Make the check easier", None);
    state(&repo, 1);
    repo.write("made.txt", "a\n");
    repo.commit("Work", None);
    state(&repo, 0);
}

#[test]
fn a_script_with_a_blank_in_its_path_and_a_test_module_are_frozen() {
    let repo = repo();
    repo.write("te sts/one.sh", "test -f done\n");
    repo.write("test_two.py", "import done\n");
    repo.commit("Tests", None);
    for check in [
        "sh 'te sts/one.sh'",
        "sh -c \"sh 'te sts/one.sh'\"",
        "python3 -m test_two",
    ] {
        let file = if check.contains("two") {
            "test_two.py"
        } else {
            "te sts/one.sh"
        };
        repo.cook(&["goal", "x", "--check", check, "--as-user"])
            .ok()
            .says(&format!("frozen: {file}"));
        repo.cook(&["goal", "drop", "--as-user"]).ok();
    }
    // No program is told there to run a module.
    repo.cook(&[
        "goal",
        "x",
        "--check",
        "sh -c 'exit 1' test_two",
        "--as-user",
    ])
    .ok()
    .says("are not frozen");
}

#[test]
fn a_check_whose_file_the_agent_writes_must_notice_defects() {
    let repo = repo();
    let later = ["goal", "x", "--check", "sh tests/later.sh", "--as-user"];
    repo.cook(&later).ok();
    repo.write("slug.sh", SOUND);
    repo.write("tests/later.sh", "exit 0\n");
    repo.commit("Work, and a test that asks nothing", None);
    let told = state(&repo, 3);
    assert_eq!(told["state"], "not_known");
    let why = told["checks"][0]["why"].as_str().unwrap();
    assert!(
        why.contains("[check_written_by_agent] `tests/later.sh`"),
        "{why}"
    );
}

#[test]
fn settings_that_change_after_the_goal_was_set_change_nothing() {
    let repo = with_goal();
    repo.write(
        ".agent/cook.toml",
        format!("[clean_room]\nsetup = \"cp x y\"\n[gates]\nc = {{ run = \"{CHECK}\", network = true }}\n"),
    );
    repo.commit("Settings of an agent's", None);
    assert_eq!(state(&repo, 1)["checks"][0]["verdict"], "red");
    mend(&repo);
    state(&repo, 0);
    repo.write(".agent/cook.toml", "nonsense [\n");
    repo.commit("Broken settings", None);
    state(&repo, 0);
}

#[test]
fn an_answer_that_knows_the_one_case_is_what_hidden_files_are_for() {
    let repo = with_goal();
    repo.write("slug.sh", CHEAT);
    repo.commit("Answer the test", None);
    state(&repo, 0);
    let other = repo.beside("more.sh");
    std::fs::write(
        &other,
        "set -e\n. ./slug.sh\n[ \"$(slug 'C D')\" = 'c-d' ]\n",
    )
    .unwrap();
    let repo = crate::goal::repo();
    let other = repo.beside("more.sh");
    std::fs::write(
        &other,
        "set -e\n. ./slug.sh\n[ \"$(slug 'C D')\" = 'c-d' ]\n",
    )
    .unwrap();
    set(&repo, &["--hidden", other.to_str().unwrap()]).ok();
    repo.write("slug.sh", CHEAT);
    repo.commit("Answer the test", None);
    state(&repo, 1);
    mend(&repo);
    state(&repo, 0);
}

/// A check that ends with 0 has to have asked what it asked at the base.
#[test]
fn tests_that_the_code_skips_or_ends_show_nothing() {
    let repo = Repo::unborn();
    repo.write("slug.py", "def slug(s):\n    return s\n");
    repo.write("tests/__init__.py", "");
    repo.write(
        "tests/test_slug.py",
        "import unittest\nfrom slug import slug\n\n\nclass S(unittest.TestCase):\n    def test_case(self):\n        self.assertEqual(slug('A'), 'a')\n",
    );
    repo.commit("Begin", None);
    let check = "python3 -m unittest tests.test_slug";
    repo.cook(&["goal", "x", "--check", check, "--as-user"])
        .ok()
        .says("frozen: tests/test_slug.py");
    for (body, why) in [
        (
            "import unittest\n    raise unittest.SkipTest('later')",
            "is skipped",
        ),
        ("import os\n    os._exit(0)", "ran no test"),
    ] {
        repo.write("slug.py", format!("def slug(s):\n    {body}\n"));
        repo.commit("Work", None);
        let told = state(&repo, 1);
        assert_eq!(told["checks"][0]["verdict"], "red", "{told}");
        assert!(
            told["checks"][0]["why"].as_str().unwrap().contains(why),
            "{told}"
        );
    }
    // A new test may come with a helper of its own.
    repo.write("slug.py", "def slug(s):\n    return s.lower()\n");
    repo.write("tests/words.py", "WORD = 'B'\n");
    repo.write(
        "tests/test_more.py",
        "import unittest\nfrom slug import slug\nfrom tests.words import WORD\n\n\nclass M(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(slug(WORD), 'b')\n",
    );
    repo.commit("Lower the case", None);
    state(&repo, 0);
}

/// A check that names the whole repository freezes its tests; one that names none lets them change where a commit says
/// so, and that is shown.
#[test]
fn tests_below_the_root_are_frozen_and_a_declared_change_is_shown() {
    let Some(repo) = with_python() else {
        return;
    };
    let unit = |name: &str, expected: &str| {
        format!(
            "import unittest\nfrom slug import slug\n\n\nclass S(unittest.TestCase):\n    def test_{name}(self):\n        self.assertEqual(slug('A'), '{expected}')\n"
        )
    };
    repo.write("slug.py", "def slug(s):\n    return s\n");
    repo.write("tests/__init__.py", "");
    repo.write("tests/test_slug.py", unit("slug", "a"));
    repo.write("tests/test_old.py", unit("old", "A"));
    repo.write("Makefile", "test:\n\tpython3 -m unittest -v\n");
    repo.commit("Begin", None);
    let goal = |check: &str| repo.cook(&["goal", "x", "--check", check, "--as-user"]);
    goal("python3 -m unittest discover -s .")
        .ok()
        .says("tests/test_slug.py");
    repo.cook(&["goal", "drop", "--as-user"]).ok();
    goal("make test").ok();
    repo.write("slug.py", "def slug(s):\n    return s.lower()\n");
    repo.write("tests/test_old.py", unit("old", "a"));
    let name = "tests.test_old.S.test_old";
    let message = format!("Lower the case\n\nTest-Changed: {name}: it is lower case now");
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", &message]);
    repo.cook(&["goal"])
        .exits(0)
        .says("declared: it is lower case now");
}

#[test]
fn what_only_a_shell_does_is_refused_and_what_is_not_frozen_is_said() {
    let repo = repo();
    let goal = |check: &str| repo.cook(&["goal", "x", "--check", check, "--as-user"]);
    goal("sh tests/slug.sh && true")
        .exits(2)
        .says("without one");
    goal("sh -c 'make check'").ok().says("--freeze PATH");
    repo.cook(&["goal"]).exits(1);
    repo.cook(&["gate", "--clean", "sh -c 'make check'"])
        .exits(1);
}

/// Tests in Python, of which a check runs those of a name.
fn with_python() -> Option<Repo> {
    let repo = Repo::unborn();
    let here = repo.command("python3").arg("--version").output();
    if !here.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: `python3` is not here");
        return None;
    }
    repo.write("slug.py", "def slug(text):\n    return text\n");
    repo.write("tests/__init__.py", "");
    repo.write("tests/test_slug.py", "import unittest\nfrom slug import slug\n\n\nclass T(unittest.TestCase):\n    def test_same(self):\n        self.assertEqual(slug('a'), 'a')\n");
    repo.write("check.sh", "set -e\npython3 -m unittest -v -k lower 2>&1 | tee out.txt\ngrep -q '^Ran [1-9]' out.txt\ngrep -q '^OK' out.txt\n");
    repo.write(".gitignore", "out.txt\n__pycache__/\n");
    repo.commit("Begin", None);
    Some(repo)
}

#[test]
fn a_test_that_comes_with_the_work_must_notice_defects() {
    for (body, code) in [("pass", 3), ("self.assertEqual(slug('A'), 'a')", 0)] {
        let Some(repo) = with_python() else { return };
        let goal = ["goal", "x", "--check", "sh check.sh", "--as-user"];
        repo.cook(&goal).ok().says("is red now");
        repo.write("slug.py", "def slug(text):\n    return text.lower()\n");
        let tests = repo.read("tests/test_slug.py");
        repo.write(
            "tests/test_slug.py",
            format!("{tests}\n    def test_lower(self):\n        {body}\n"),
        );
        repo.commit("Lower the case", None);
        let told = state(&repo, code);
        let why = told["checks"][0]["why"].as_str().unwrap();
        assert_eq!(why.contains("test_lower"), code == 3, "{told:#}");
        assert_eq!(
            why.contains("[check_written_by_agent]"),
            code == 3,
            "{told:#}"
        );
    }
}

#[test]
fn a_check_of_which_no_test_runs_is_set_with_a_remark() {
    let Some(repo) = with_python() else { return };
    repo.write("tests/test_slug.py", "import nowhere\n");
    repo.commit("A test that does not load", None);
    let check = "python3 -m unittest tests.test_slug";
    repo.cook(&["goal", "x", "--check", check, "--as-user"])
        .ok()
        .says("no test of it ran and failed")
        .says("No module named 'nowhere'");
}
