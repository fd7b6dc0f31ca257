//! Places and commands that are no good, each with the way on.

use crate::goal::{mend, repo, set, state, with_goal};
use crate::support::Repo;

#[test]
fn a_goal_needs_a_commit_on_a_branch() {
    let unborn = Repo::unborn();
    set(&unborn, &[])
        .exits(4)
        .says("unborn_head")
        .says("git commit");
    let repo = repo();
    repo.git(&["checkout", "-q", "--detach"]);
    set(&repo, &[])
        .exits(4)
        .says("goal_detached")
        .says("git switch -c NAME");
    Repo::directory().cook(&["goal"]).exits(3);
}

#[test]
fn a_check_that_does_not_end_or_start_is_not_known() {
    let repo = repo();
    let slow = [
        "goal",
        "x",
        "--check",
        "sleep 30",
        "--time",
        "1s",
        "--as-user",
    ];
    repo.cook(&slow)
        .exits(3)
        .says("goal_check_unknown")
        .says("it did not end in 1 s");
    let absent = [
        "goal",
        "x",
        "--check",
        "no-such-program-here x",
        "--as-user",
    ];
    repo.cook(&absent)
        .exits(3)
        .says("goal_check_unknown")
        .says("no-such-program-here");
    repo.cook(&["goal"]).exits(4).says("goal_none");
    // Whoever asks for a terminal finds none.
    let asks = [
        "goal",
        "x",
        "--check",
        "sh -c 'read -r line </dev/tty'",
        "--as-user",
    ];
    repo.cook(&asks).ok();
    state(&repo, 1);
}

#[test]
fn the_goal_waits_on_its_branch() {
    let repo = with_goal();
    repo.git(&["switch", "-qc", "other"]);
    repo.cook(&["goal"]).exits(4).says("git switch main");
    repo.git(&["switch", "-q", "main"]);
    mend(&repo);
    state(&repo, 0);
}

#[test]
fn what_an_agent_does_to_cook_s_view_changes_nothing() {
    let repo = with_goal();
    let view = repo.root.join(".git/cook-goal");
    std::fs::write(view.join("plan.json"), "{}").unwrap();
    state(&repo, 1);
    std::fs::remove_dir_all(&view).unwrap();
    repo.write(".agent/plan.json", "{}");
    state(&repo, 1);
    std::fs::remove_dir_all(repo.root.join(".agent")).unwrap();
    mend(&repo);
    state(&repo, 0);
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn an_agent_is_held_by_its_name_and_of_one_without_hooks_it_is_said_what_holds() {
    let held = repo();
    set(&held, &["--agent", "claude"])
        .ok()
        .says("settings.local.json");
    assert_eq!(held.git(&["status", "--porcelain"]), "");
    let other = repo();
    // One has hooks, and asks none of them when it stops.
    let unasked = repo();
    set(&unasked, &["--agent", "cline"])
        .ok()
        .says("cannot be held by a hook");
    set(&other, &["--agent", "aider"])
        .ok()
        .says("cannot be held by a hook")
        .says("cook hooks install git --check")
        .says("cook verify --from REMOTE --rerun");
}

#[test]
fn a_change_of_a_test_that_nobody_declares_keeps_the_goal_open() {
    let repo = repo();
    if !repo
        .command("python3")
        .arg("--version")
        .output()
        .is_ok_and(|ran| ran.status.success())
    {
        return;
    }
    repo.write(
        "slug.py",
        "def slug(text):\n    return text\n\n\ndef plain(text):\n    return text\n",
    );
    repo.write("test_slug.py", "import unittest\nfrom slug import slug, plain\n\n\nclass T(unittest.TestCase):\n    def test_slug(self):\n        self.assertEqual(slug('A'), 'a')\n\n    def test_plain(self):\n        self.assertEqual(plain('A'), 'A')\n");
    repo.write(".gitignore", "__pycache__/\n");
    repo.commit("In Python", None);
    let words = [
        "goal",
        "x",
        "--check",
        "python3 -m unittest -v",
        "--as-user",
    ];
    repo.cook(&words).ok();
    // The command names no file: what it runs is held by the trials.
    repo.write(
        "slug.py",
        "def slug(text):\n    return text.lower()\n\n\ndef plain(text):\n    return text.lower()\n",
    );
    let test = repo
        .read("test_slug.py")
        .replace("'A'), 'A')", "'A'), 'a')");
    repo.write("test_slug.py", test);
    repo.commit("Lower everything", None);
    let told = state(&repo, 1);
    let line = &told["lines"][0];
    assert!(
        line["name"].as_str().unwrap().contains("test_plain"),
        "{told}"
    );
    let declare = line["declare"]
        .as_str()
        .unwrap()
        .replace("WHY", "plain text is lower now too");
    repo.git(&["commit", "-q", "--allow-empty", "-m", &declare]);
    state(&repo, 0);
}
