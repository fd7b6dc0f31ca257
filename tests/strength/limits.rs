//! What is left out, what does not end, what does not build, and what stays as it was.

use crate::strength::{program, python, strength};
use crate::support::{Repo, with_default_signals};
use serde_json::json;
use std::process::Stdio;
use std::time::{Duration, Instant};

const COUNT: &str = "def count(n):\n    all = 0\n    while n > 0:\n        n -= 1\n        all += 1\n    return all\n";
const COUNTED: &str = "from cart import count\nassert count(3) == 3\nassert count(0) == 0\n";

#[test]
fn the_worktree_stays_as_it_is_and_is_not_looked_at() {
    let Some(repo) = python(COUNT, COUNTED) else {
        return;
    };
    repo.write("cart.py", "edited, and no Python\n");
    let before = repo.fingerprint();
    let (exit, answer) = strength(&repo, &["--mutants", "3"]);
    assert_eq!((exit, &answer["strength"]), (0, &json!(1.0)), "{answer:#}");
    assert!(
        answer["checked"].to_string().contains("uncommitted"),
        "{answer:#}"
    );
    assert_eq!(before, repo.fingerprint());
}

#[test]
fn an_interruption_leaves_no_process_and_no_edit() {
    let repo = slow();
    let Some(repo) = repo else { return };
    let before = repo.fingerprint();
    let mut command = repo.cook_command(&["strength", "--trust-repo"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = with_default_signals(&mut command).spawn().unwrap();
    let sleeps = || {
        let ps = repo.command("ps").args(["-eo", "args"]).output().unwrap();
        String::from_utf8_lossy(&ps.stdout)
            .lines()
            .any(|line| line == "sleep 738.25")
    };
    let started = Instant::now();
    while !sleeps() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    repo.command("kill").args(["-INT", &id]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!sleeps());
    assert_eq!(before, repo.fingerprint());
    repo.cook(&["strength", "--trust-repo", "--minutes", "0"])
        .exits(0);
}

/// A change without which its test waits.
fn slow() -> Option<Repo> {
    let tests = ("test.sh", "grep -q 'echo two' a.sh || sleep 738.25\n");
    let repo = program(("a.sh", "echo one\necho two\n"), tests, "sh test.sh")?;
    let text = repo.read(".agent/cook.toml").replace("20s", "20m");
    repo.write(".agent/cook.toml", text);
    repo.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    Some(repo)
}
