//! FIFOs where libgit2 and git read objects and refs.

use crate::support::Repo;
use crate::{call, commands, each, is_whole};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs;
use std::path::{Path, PathBuf};

fn below(dir: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => below(&path, all),
            false => all.push(path),
        }
    }
}

/// libgit2 waits for what it opens; a signal ends cook then.
#[ignore = "libgit2 waits for a FIFO in the place of an object or a ref"]
/// Every object, pack and ref of the repository and of the log, one after another.
#[test]
fn a_fifo_in_the_place_of_an_object_or_a_ref_is_an_error() {
    let whole = is_whole();
    let mut tries = Vec::new();
    for packed in [false, true] {
        let repo = begin(packed);
        let mut files = Vec::new();
        for dir in [".git/objects", ".git/refs", ".git/cook/log.git"] {
            below(&repo.root.join(dir), &mut files);
        }
        files.sort();
        let files = files.into_iter().enumerate();
        tries.extend(
            files
                .filter(|(number, _)| whole || number % 9 == 0)
                .map(|(_, file)| (packed, file.strip_prefix(&repo.root).unwrap().to_owned())),
        );
    }
    let wrong = each(&tries, |(packed, file)| {
        let repo = begin(*packed);
        let place = repo.root.join(file);
        fs::remove_file(&place).unwrap();
        mkfifo(&place, Mode::S_IRWXU).unwrap();
        let late = commands::FIRST
            .iter()
            .filter(|words| call(&repo, words).is_none());
        late.map(|words| format!("{}: {words:?} takes too long", file.display()))
            .collect()
    });
    println!("{} tries", tries.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn begin(packed: bool) -> Repo {
    let repo = Repo::committed();
    if packed {
        repo.git(&["gc", "-q"]);
        repo.git(&["-C", ".git/cook/log.git", "gc", "-q"]);
    }
    repo
}
