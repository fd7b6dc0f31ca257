//! Committing exactly some paths, and throwaway worktrees: what they do, and that
//! they leave everything else as it was.

use crate::scratch::{Scratch, hermetic, try_git};
use cook_protocol::diagnostic::Code;
use cook_protocol::model::TreeEntry;
use cook_repo::git::{Put, Repo};
use std::collections::BTreeMap;
use std::fs;

const PATHS: [&str; 2] = [".agent/README.md", ".agent/run.sh"];

fn with_contract(scratch: &Scratch) -> Repo {
    scratch.write(PATHS[0], "readme\n");
    scratch.write(PATHS[1], "#!/bin/sh\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(scratch.path(PATHS[1]), executable).unwrap();
    }
    scratch.repo()
}

#[test]
fn a_refusal_moves_nothing() {
    hermetic();
    let scratch = Scratch::new();
    let repo = with_contract(&scratch);
    let before = scratch.git(&["rev-parse", "HEAD"]);
    for path in ["../x", "/etc/passwd", "", "a/../../x", "a\0b"] {
        assert_eq!(
            repo.commit_paths(&[path], "m").unwrap_err().code,
            Code::Usage,
            "{path:?}"
        );
    }
    assert_eq!(
        repo.commit_paths(&["missing"], "m").unwrap_err().code,
        Code::NotWritable
    );
    scratch.write(".git/index.lock", "");
    assert_eq!(
        repo.commit_paths(&PATHS, "m").unwrap_err().code,
        Code::GitFailed
    );
    fs::remove_file(scratch.path(".git/index.lock")).unwrap();
    scratch.git(&["config", "user.useConfigOnly", "true"]);
    scratch.git(&["config", "--unset", "user.email"]);
    let failure = repo.commit_paths(&PATHS, "m").unwrap_err();
    assert!(
        failure.hints.iter().any(|hint| hint.contains("user.email")),
        "{failure:?}"
    );
    assert_eq!(scratch.git(&["rev-parse", "HEAD"]), before);
}

#[cfg(unix)]
#[test]
fn no_hook_of_the_user_runs() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "post-checkout",
    ] {
        let path = scratch.path(&format!(".git/hooks/{hook}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            &path,
            "#!/bin/sh\ntouch \"$(git rev-parse --git-common-dir)/hook-ran\"\nexit 1\n",
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let repo = with_contract(&scratch);
    let commit = repo.commit_paths(&PATHS, "m\n").unwrap().unwrap();
    drop(repo.throwaway(&commit).unwrap());
    repo.status().unwrap();
    assert!(!scratch.path(".git/hook-ran").exists());
}

#[test]
fn what_a_killed_cook_left_is_swept_and_what_is_in_use_is_not() {
    let scratch = Scratch::new();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    let repo = scratch.repo();
    let in_use = repo.throwaway(&head).unwrap();
    // A killed cook: its lock is gone with it, its files are not.
    let left = repo.throwaway(&head).unwrap();
    let path = left.path().to_owned();
    let lock = path.with_file_name("in-use");
    std::mem::forget(left);
    assert_eq!(repo.sweep_throwaways().unwrap(), 0);
    fs::rename(&lock, lock.with_extension("held")).unwrap();
    fs::write(&lock, "").unwrap();
    assert_eq!(repo.sweep_throwaways().unwrap(), 1);
    assert!(!path.exists() && in_use.path().join("a.txt").exists());
    assert_eq!(scratch.git(&["worktree", "list"]).lines().count(), 2);
    // Other worktrees of the user's, also missing ones, are none of cook's business.
    scratch.git(&["worktree", "add", "-q", "../mine", "-b", "mine"]);
    fs::remove_dir_all(scratch.root.with_file_name("mine")).unwrap();
    repo.sweep_throwaways().unwrap();
    assert_eq!(scratch.git(&["worktree", "list"]).lines().count(), 3);
}

/// A made commit has the tree that git's index makes of the same changes: files in the place of directories, and the
/// other way around, and directories in which nothing is left.
#[test]
fn a_made_commit_has_the_tree_that_gits_index_makes() {
    for options in [&[][..], &["--object-format=sha256"]] {
        let scratch = Scratch::with(options);
        for path in ["a", "b/c", "b/d/e", "b.txt", "f/g", "h/i/j"] {
            scratch.write(path, path);
        }
        let code = scratch.commit("Some files");
        let repo = scratch.repo();
        let blob = scratch.git(&["rev-parse", "HEAD:a"]);
        let entry = |mode: &str| {
            Put::Entry(TreeEntry {
                mode: mode.to_owned(),
                id: blob.clone(),
            })
        };
        let text = Put::Text {
            mode: "100755".to_owned(),
            text: "new\n".to_owned(),
        };
        let cases: [&[(&str, Put)]; 7] = [
            &[("a", Put::Nothing), ("not/there", Put::Nothing)],
            &[("b", entry("100644"))],
            &[("a/below/it", text.clone()), ("a.b", entry("120000"))],
            &[("h/i/j", Put::Nothing), ("b/d", Put::Nothing)],
            &[("f/g", Put::Nothing), ("f", text.clone())],
            &[("a", Put::Nothing), ("a/x", entry("100644"))],
            &[
                ("b/d/e", text.clone()),
                ("b/d/e.f", text),
                ("b/d0", entry("100644")),
            ],
        ];
        for puts in cases {
            let puts: BTreeMap<String, Put> = puts
                .iter()
                .map(|(path, put)| ((*path).to_owned(), put.clone()))
                .collect();
            let made = repo.make_mixed(&code, &puts).unwrap();
            scratch.git(&["read-tree", &code]);
            let gone = puts.iter().filter(|(_, put)| **put == Put::Nothing);
            for (path, _) in gone {
                let _ = try_git(repo.root(), &["update-index", "--force-remove", path]);
            }
            for (path, put) in &puts {
                let (mode, id) = match put {
                    Put::Nothing => continue,
                    Put::Entry(entry) => (entry.mode.clone(), entry.id.clone()),
                    Put::Text { mode, text } => {
                        scratch.write("../text", text);
                        (mode.clone(), scratch.git(&["hash-object", "-w", "../text"]))
                    }
                };
                let line = format!("{mode},{id},{path}");
                scratch.git(&["update-index", "--add", "--replace", "--cacheinfo", &line]);
            }
            let theirs = scratch.git(&["write-tree"]);
            let ours = scratch.git(&["rev-parse", &format!("{made}^{{tree}}")]);
            assert_eq!(ours, theirs, "{puts:?}");
            assert_eq!(made == code, ours == repo.find_tree(&code).unwrap());
            scratch.git(&["fsck", "--strict", &made]);
        }
        let absent = Put::Entry(TreeEntry {
            mode: "100644".to_owned(),
            id: "1".repeat(blob.len()),
        });
        let puts = BTreeMap::from([("a".to_owned(), absent)]);
        assert!(repo.make_mixed(&code, &puts).is_err());
    }
}
