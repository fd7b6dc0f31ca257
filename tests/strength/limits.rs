//! What is left out, what does not end, what does not build, and what stays as it was.

use crate::strength::{program, python, strength};
use crate::support::{Repo, with_default_signals};
use serde_json::json;
use std::process::Stdio;
use std::time::{Duration, Instant};

const COUNT: &str = "def count(n):\n    all = 0\n    while n > 0:\n        n -= 1\n        all += 1\n    return all\n";
const COUNTED: &str = "from cart import count\nassert count(3) == 3\nassert count(0) == 0\n";

#[test]
fn a_defect_with_which_a_gate_does_not_end_is_noticed() {
    let Some(repo) = python(COUNT, COUNTED) else {
        return;
    };
    let text = repo.read(".agent/cook.toml").replace("20s", "3s");
    repo.write(".agent/cook.toml", text);
    repo.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    let (exit, answer) = strength(&repo, &[]);
    assert_eq!(exit, 0);
    assert!(answer["timed_out"].as_u64().unwrap() >= 1, "{answer:#}");
    assert_eq!(
        (&answer["strength"], &answer["survivors"]),
        (&json!(1.0), &json!([]))
    );
}

/// What a green run finds built is built anew with each defect: that takes time, and notices nothing.
#[test]
fn a_gate_that_builds_what_was_edited_is_given_the_time_for_it() {
    let hollow = "import time\nfrom cart import count\nif open('cart.py').read() != open('kept.txt').read():\n    time.sleep(11)\n";
    let Some(repo) = python(COUNT, hollow) else {
        return;
    };
    repo.write("kept.txt", COUNT);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "--amend", "--no-edit"]);
    let (exit, answer) = strength(&repo, &["--mutants", "1"]);
    assert_eq!(exit, 0);
    assert_eq!(
        (&answer["strength"], &answer["timed_out"]),
        (&json!(0.0), &json!(0)),
        "{answer:#}"
    );
}

#[test]
fn what_there_is_no_time_or_no_number_for_is_said() {
    let Some(repo) = python(COUNT, COUNTED) else {
        return;
    };
    let (exit, answer) = strength(&repo, &["--minutes", "0"]);
    assert_eq!(exit, 0);
    assert_eq!(
        (&answer["strength"], &answer["reverted"]),
        (&json!(null), &json!("unknown"))
    );
    assert!(answer["left_out"].as_u64().unwrap() > 5, "{answer:#}");
    assert!(
        answer["checked"].to_string().contains("the time was over"),
        "{answer:#}"
    );
    let (_, one) = strength(&repo, &["--mutants", "1"]);
    assert_eq!(one["planted"], 1);
    assert_eq!(
        one["left_out"].as_u64().unwrap() + 1,
        answer["left_out"].as_u64().unwrap()
    );
    assert!(
        one["checked"].to_string().contains("1 defect sampled of"),
        "{one:#}"
    );
    repo.cook(&["strength", "--minimum", "2"]).exits(2);
    let text = repo.read(".agent/cook.toml");
    repo.write(
        ".agent/cook.toml",
        format!("{text}\n[strength]\nmutants = 2\n"),
    );
    let (_, two) = strength(&repo, &[]);
    assert_eq!(two["planted"], 2);
}

/// The gate says of every edit what Python says of a text that is none.
#[test]
fn a_defect_that_does_not_build_counts_as_neither() {
    let tests = "import sys\ncode = lambda name: [line for line in open(name) if line[0] != '#']\nif code('cart.py') != code('kept.txt'):\n    sys.exit('cart.py: SyntaxError: invalid syntax')\n";
    let Some(repo) = python(COUNT, tests) else {
        return;
    };
    repo.write("kept.txt", COUNT);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "--amend", "--no-edit"]);
    let (exit, answer) = strength(&repo, &["--mutants", "4"]);
    assert_eq!(
        (exit, &answer["unbuildable"], &answer["planted"]),
        (0, &json!(4), &json!(0)),
        "{answer:#}"
    );
    assert_eq!(
        (&answer["strength"], &answer["reverted"]),
        (&json!(null), &json!("noticed"))
    );
}

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
