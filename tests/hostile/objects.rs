//! FIFOs where libgit2 and git read objects and refs, and objects that a few bytes are made into.

use crate::hostile::{PATIENCE, call, commands, each, is_whole};
use crate::support::{COOK, Repo, run};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    let repo = Repo::with_commit();
    if packed {
        repo.git(&["gc", "-q"]);
        repo.git(&["-C", ".git/cook/log.git", "gc", "-q"]);
    }
    repo
}

/// Bytes of a large object, and of memory that a command may take.
const LARGE: usize = 700 << 20;
const MEMORY: usize = 512 << 20;

/// An object of so many bytes, a few on disk; it begins with these.
fn large(repo: &Repo, kind: &str, begins: &[u8]) -> String {
    let words = [
        "-c",
        "core.compression=1",
        "hash-object",
        "--literally",
        "-w",
        "--stdin",
        "-t",
    ];
    let mut git = Command::new("git");
    git.args(words).arg(kind).current_dir(&repo.root);
    git.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut git = git.spawn().unwrap();
    let mut into = git.stdin.take().unwrap();
    into.write_all(begins).unwrap();
    let some = vec![b'#'; 1 << 20];
    for _ in 0..LARGE / some.len() {
        into.write_all(&some).unwrap();
    }
    drop(into);
    let ended = git.wait_with_output().unwrap();
    assert!(ended.status.success());
    String::from_utf8(ended.stdout).unwrap().trim().to_owned()
}

/// Sets HEAD to a commit with one more entry, which nobody checked out.
fn commit_entry(repo: &Repo, mode: &str, id: &str, name: &str) {
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("{mode},{id},{name}"),
    ]);
    repo.git(&["commit", "-qm", "one more"]);
}

#[test]
fn an_object_that_inflates_without_end_is_read_no_further() {
    let kinds = ["commit", "tree", ".gitattributes", ".gitmodules"];
    let wrong = each(&kinds, |kind| {
        let repo = Repo::with_commit();
        match *kind {
            "commit" => {
                let head = repo.git(&["cat-file", "commit", "HEAD"]);
                let head = large(&repo, "commit", format!("{head}\n").as_bytes());
                repo.git(&["update-ref", "HEAD", &head]);
            }
            "tree" => {
                let tree = large(&repo, "tree", b"");
                let commit = repo.git(&["cat-file", "commit", "HEAD"]);
                let old = repo.git(&["rev-parse", "HEAD^{tree}"]);
                let file = repo.root.join(".git/commit");
                fs::write(&file, commit.replace(old.trim(), &tree) + "\n").unwrap();
                let words = [
                    "hash-object",
                    "--literally",
                    "-w",
                    "-t",
                    "commit",
                    ".git/commit",
                ];
                let head = repo.git(&words);
                repo.git(&["update-ref", "HEAD", head.trim()]);
            }
            name => {
                let blob = large(&repo, "blob", b"");
                commit_entry(&repo, "100644", &blob, name);
                let head = repo.git(&["rev-parse", "HEAD"]);
                commit_entry(&repo, "160000", head.trim(), "module");
            }
        }
        let mut found = Vec::new();
        let calls: [&[&str]; 4] = [
            &["next"],
            &["verify"],
            &["doctor", "fsck"],
            &["verify", "--rerun", "--trust-repo"],
        ];
        for words in calls {
            let mut limited = repo.command("prlimit");
            limited.arg(format!("--as={MEMORY}")).arg("timeout");
            limited.args(["--kill-after=1", PATIENCE, COOK]).args(words);
            let ended = run(limited, b"");
            if !matches!(ended.code, 0..=100) || ended.err.contains("panicked") {
                found.push(format!("{kind} {words:?}: {} {}", ended.code, ended.err));
            }
        }
        found
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
