//! Files that whoever works on it does not see.

use crate::goal::{CHEAT, SOUND, mend, repo, set, state};
use crate::support::Repo;
use std::path::PathBuf;
use std::time::Duration;

const SECRET: &str = "set -e\n. ./slug.sh\necho a-secret-line\n[ \"$(slug 'C D')\" = 'c-d' ]\n";

fn with_hidden() -> (Repo, PathBuf) {
    let repo = repo();
    let file = repo.beside("more.sh");
    std::fs::write(&file, SECRET).unwrap();
    set(&repo, &["--hidden", file.to_str().unwrap()]).ok();
    (repo, file)
}

/// Bytes that any file below a directory holds.
fn holds(dir: &std::path::Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // What runs there makes and removes files meanwhile.
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holds(&path, text));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_hidden_file_decides_and_is_told_by_a_count_alone() {
    let (repo, file) = with_hidden();
    repo.write("slug.sh", CHEAT);
    repo.commit("Answer the shown test", None);
    let told = state(&repo, 1);
    assert_eq!(told["checks"][0]["verdict"], "green");
    assert_eq!(told["checks"][1]["verdict"], "red");
    assert_eq!(
        (
            told["checks"][1]["hidden"].as_bool(),
            told["hidden_files"].as_u64()
        ),
        (Some(true), Some(1))
    );
    let shown = repo.cook(&["goal"]).exits(1);
    shown.never_says("a-secret-line");
    // Neither a room nor a receipt nor an object of git's keeps it: cook's own copy is all there is.
    let kept = holds(&repo.root.join(".git"), "a-secret-line");
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(
        kept[0].starts_with(repo.root.join(".git/cook/hidden")),
        "{kept:?}"
    );
    repo.cook_env(&["goal", "--show-hidden", "--as-user"], "CLAUDECODE", "1")
        .exits(4);
    repo.cook(&["goal", "--show-hidden", "--as-user"])
        .ok()
        .says("a-secret-line");
    mend(&repo);
    state(&repo, 0);
    // The user's own file is theirs, cook's copy goes with the goal.
    repo.cook(&["goal", "drop", "--as-user"]).ok();
    assert_eq!(
        holds(&repo.root.join(".git"), "a-secret-line"),
        Vec::<PathBuf>::new()
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), SECRET);
}

#[test]
fn a_check_may_name_where_a_hidden_file_lies() {
    let repo = repo();
    let file = repo.beside("asked.sh");
    std::fs::write(&file, SECRET).unwrap();
    let words = ["goal", "x", "--check", "sh tests/asked.sh", "--as-user"];
    repo.cook(&[&words[..], &["--hidden", file.to_str().unwrap()]].concat())
        .ok();
    let told = state(&repo, 1);
    assert_eq!(
        (
            told["checks"].as_array().unwrap().len(),
            &told["checks"][0]["hidden"]
        ),
        (1, &true.into())
    );
    mend(&repo);
    state(&repo, 0);
    std::fs::remove_dir_all(repo.root.join(".git/cook/hidden")).unwrap();
    repo.write("notes.md", "x\n");
    repo.commit("Another commit", None);
    let told = state(&repo, 3);
    assert_eq!(told["checks"][0]["why"], "a hidden file is not here");
}

#[test]
fn what_is_not_hidden_or_cannot_be_kept_is_refused() {
    let repo = repo();
    let refused = |path: &std::path::Path, why: &str| {
        set(&repo, &["--hidden", path.to_str().unwrap()])
            .exits(4)
            .says("hidden_unfit")
            .says(why);
        repo.cook(&["goal"]).exits(4).says("goal_none");
    };
    refused(&repo.root.join("tests/slug.sh"), "lies in the repository");
    let copy = repo.beside("copy.sh");
    std::fs::write(&copy, crate::goal::TEST).unwrap();
    refused(&copy, "is in the repository's history already");
    refused(&repo.beside("gone.sh"), "cannot be read");
    refused(&repo.outside(), "not a regular file");
    let large = repo.beside("large.sh");
    std::fs::File::create(&large)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    refused(&large, "larger than 1048576 bytes");
    let other = repo.beside("other.zig");
    std::fs::write(&other, "x").unwrap();
    refused(
        &other,
        "no check names a file next to which `other.zig` can go",
    );
}

/// A run over it that was killed leaves it in its room, until the goal goes.
#[test]
fn a_goal_that_is_dropped_takes_the_room_of_a_killed_run_along() {
    let (repo, _) = with_hidden();
    repo.write(
        "slug.sh",
        format!("[ ! -e tests/more.sh ] || sleep 2\n{SOUND}"),
    );
    repo.commit("Lower the case", None);
    let rooms = repo.beside("home/.cache/clean-rooms");
    let mut asking = repo.cook_command(&["goal"]).spawn().unwrap();
    let is_there = || rooms.exists() && !holds(&rooms, "a-secret-line").is_empty();
    let tries = (0..200).find(|_| {
        std::thread::sleep(Duration::from_millis(50));
        is_there()
    });
    asking.kill().unwrap();
    asking.wait().unwrap();
    assert!(tries.is_some(), "it was never laid down");
    // Where nothing ends with cook, what it started has its time.
    std::thread::sleep(Duration::from_millis(2500));
    repo.cook(&["goal", "drop", "--as-user"]).ok();
    assert!(!is_there());
}
