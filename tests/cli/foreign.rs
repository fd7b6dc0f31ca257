//! Whatever somebody puts in the place of a file that cook reads, no command waits for it.

use crate::support::{COOK, Repo, run_alone};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const COMMANDS: [&[&str]; 9] = [
    &["status"],
    &["next"],
    &["next", "--prompt"],
    &["verify"],
    &["doctor"],
    &["brief", "show"],
    &["fsck"],
    &["init"],
    &["hooks", "status"],
];

/// Files of `.agent/`, and what cook keeps beside git.
fn places(repo: &Repo) -> Vec<std::path::PathBuf> {
    let mut places = vec![repo.root.join(".agent/cook.toml")];
    for dir in [".agent", ".git/cook", ".git/cook/receipts", ".git"] {
        let Ok(entries) = fs::read_dir(repo.root.join(dir)) else {
            continue;
        };
        places.extend(entries.map(|entry| entry.unwrap().path()));
    }
    // git itself waits for these.
    let of_git = ["config", "HEAD", "index", "packed-refs", "commondir"];
    places.retain(|place| {
        let name = place.file_name().unwrap().to_str().unwrap();
        !place.is_dir() && !of_git.contains(&name)
    });
    places.sort();
    places.dedup();
    places
}

fn put(place: &Path, what: &str) {
    let _ = fs::remove_file(place);
    match what {
        "fifo" => mkfifo(place, Mode::S_IRWXU).unwrap(),
        "device" => symlink("/dev/zero", place).unwrap(),
        _ => symlink(place, place).unwrap(),
    }
}

#[test]
fn no_command_waits_for_what_is_not_a_file() {
    let mut waited = Vec::new();
    for what in ["fifo", "device", "loop"] {
        let repo = Repo::with_mission("Do it");
        let places = places(&repo);
        // Who refuses one kind of them refuses all: the others are tried at two places.
        let few = match what {
            "fifo" => places.len(),
            _ => 2,
        };
        for place in places.into_iter().take(few) {
            let before = fs::read(&place).ok();
            put(&place, what);
            for command in COMMANDS {
                let mut timed = repo.command("timeout");
                timed.args(["--kill-after=1", "20", COOK]).args(command);
                let code = run_alone(&mut timed).code;
                if matches!(code, 124 | 137) {
                    waited.push(format!("{what} at {}: {command:?}", place.display()));
                }
            }
            fs::remove_file(&place).unwrap();
            if let Some(bytes) = before {
                fs::write(&place, bytes).unwrap();
            }
        }
    }
    assert!(waited.is_empty(), "{waited:#?}");
}
