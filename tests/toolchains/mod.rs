//! Real toolchains and kinds of repositories in the clean room: from what `cook init` proposes to a
//! green receipt, and after a commit of one line to a second one that builds only what changed.
//!
//! Nothing comes from a registry: what is installed is a file of the repository. What is not on this
//! machine is skipped, and said on the terminal.
#![cfg(unix)]

mod builds;
mod first;
mod kinds;
mod limits;

use crate::support::{Repo, Run};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The directory of the cargo that runs these tests; its compiler is beside it.
fn toolchain() -> PathBuf {
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let place = cargo.and_then(|cargo| Some(cargo.parent()?.to_owned()));
    place.unwrap_or_else(|| PathBuf::from("/usr/bin"))
}

/// The programs of this machine as the tests find them, those of a later git among them.
fn path(first: &Path) -> (String, String) {
    let later = std::env::var_os("PATH").and_then(|path| {
        let mut dirs = std::env::split_paths(&path);
        dirs.find(|dir| dir.join("git").is_file())
    });
    let dirs = [
        first.to_owned(),
        later.unwrap_or_default(),
        "/usr/bin".into(),
        "/bin".into(),
        "/usr/sbin".into(),
        "/sbin".into(),
    ];
    let joined = std::env::join_paths(dirs.iter().filter(|dir| dir.is_absolute())).unwrap();
    ("PATH".to_owned(), joined.into_string().unwrap())
}

/// Whether these commands work here; said beside the captured output otherwise.
fn is_here(commands: &[&[&str]]) -> bool {
    commands.iter().all(|command| {
        let repo = Repo::directory();
        let mut words = repo.command(command[0]);
        words.args(&command[1..]);
        let works = words.output().is_ok_and(|output| output.status.success());
        if !works {
            skip(&format!("`{}` does not work here", command.join(" ")));
        }
        works
    })
}

/// Says what is not tried, beside the captured output.
fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Sets the project up as a user does: one command, which commits and tries the gates.
#[track_caller]
fn init(repo: &Repo) -> Run {
    let args = [
        "init",
        "--assurance",
        "strict",
        "--mission",
        "Keep it green",
        "--commit",
    ];
    // A machine that does other things as well takes its time.
    let args = [&args[..], &["--gate-time", "10m"]].concat();
    repo.cook(&args).exits(0)
}

/// As [`init`], and everything that it tried is green.
#[track_caller]
fn init_green(repo: &Repo) {
    let run = init(repo);
    let tried = run.out.lines().filter(|line| line.starts_with("green"));
    assert!(tried.count() > 0, "{}\n{}", run.out, run.err);
    for word in ["red ", "absent ", "slow ", "untrusted "] {
        let has = run.out.lines().any(|line| line.starts_with(word));
        assert!(!has, "{}\n{}", run.out, run.err);
    }
}

/// The gates at HEAD in a clean room: all green, each with a receipt of HEAD; what they printed last.
#[track_caller]
fn green(repo: &Repo) -> String {
    let run = repo.cook(&["gate", "--clean", "--json"]);
    let answer: Value = serde_json::from_str(&run.out).unwrap_or_default();
    let gates = answer["gates"].as_array().cloned().unwrap_or_default();
    assert!(run.code == 0 && !gates.is_empty(), "{run:#?}");
    let head = repo.head();
    let mut printed = String::new();
    for gate in &gates {
        let receipt = &gate["receipt"];
        assert_eq!(gate["passed"], true, "{gate:#}");
        assert_eq!(receipt["place"], "clean_room", "{gate:#}");
        assert_eq!(receipt["head_sha"], head.as_str(), "{gate:#}");
        printed.push_str(receipt["tail"].as_str().unwrap());
    }
    printed
}

/// The whole way: set up and green, `change`, one commit, green again; what was printed the second time.
#[track_caller]
fn twice(repo: &Repo, change: impl FnOnce(&Repo)) -> String {
    init_green(repo);
    change(repo);
    repo.commit("Change one line", None);
    green(repo)
}

/// The room in which the gates ran.
fn room(repo: &Repo) -> PathBuf {
    let rooms = repo.beside("home/.cache/clean-rooms");
    let mut found = std::fs::read_dir(rooms)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src/work"))
        .filter(|place| place.is_dir());
    let room = found.next().unwrap();
    assert_eq!(found.next(), None);
    room
}

/// When a file of the room was written.
#[track_caller]
fn read_written_time(repo: &Repo, path: &str) -> std::time::SystemTime {
    let place = room(repo).join(path);
    let meta = std::fs::symlink_metadata(&place);
    meta.unwrap_or_else(|error| panic!("{}: {error}", place.display()))
        .modified()
        .unwrap()
}

/// A project of make that puts what it makes into `build`, which git ignores, and tests that and
/// another file.
fn make_project(repo: &Repo, also: &str) {
    repo.write(".gitignore", "build/\n");
    let makefile = format!(
        "test: build/a build/b\n\tgrep -q text build/a\n\tgrep -q text build/b\n\tgrep -q text {also}\n\nbuild/%: %.txt\n\tmkdir -p build\n\t@echo making $*\n\tcp $*.txt build/$*\n",
    );
    repo.write("Makefile", makefile);
    repo.write("a.txt", "text of a\n");
    repo.write("b.txt", "text of b\n");
}

/// The second run of [`make_project`] after a change of `a.txt`.
#[track_caller]
fn only_a(printed: &str) {
    assert!(printed.contains("making a"), "{printed}");
    assert!(!printed.contains("making b"), "{printed}");
}

fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}
