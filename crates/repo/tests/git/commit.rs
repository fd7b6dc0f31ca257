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
fn only_those_paths_are_committed_and_the_users_staging_stays() {
    let scratch = Scratch::new();
    scratch.write("staged.txt", "staged");
    scratch.git(&["add", "staged.txt"]);
    scratch.write("a.txt", "worktree only\n");
    scratch.git(&["rm", "-q", "--cached", "dir/with space.txt"]);
    let before = scratch.git(&["rev-parse", "HEAD"]);
    let repo = with_contract(&scratch);
    let commit = repo.commit_paths(&PATHS, "cook init\n").unwrap().unwrap();
    assert_eq!(commit, scratch.git(&["rev-parse", "HEAD"]));
    assert_eq!(scratch.git(&["rev-parse", "HEAD^"]), before);
    assert_eq!(
        scratch.git(&["diff", "--name-only", "HEAD^", "HEAD"]),
        PATHS.join("\n")
    );
    assert_eq!(
        scratch.git(&["log", "-1", "--format=%an <%ae> %s"]),
        "Test Person <test@example.org> cook init"
    );
    assert!(
        scratch
            .git(&["ls-tree", "HEAD", PATHS[1]])
            .starts_with("100755")
    );
    assert_eq!(
        scratch.git(&["status", "--porcelain"]),
        " M a.txt\nD  \"dir/with space.txt\"\nA  staged.txt\n?? dir/"
    );
    assert_eq!(repo.commit_paths(&PATHS, "again\n").unwrap(), None);
    // Nothing of the temporary index is left.
    let left = fs::read_dir(repo.git_dir()).unwrap().flatten();
    assert!(
        left.map(|entry| entry.file_name())
            .all(|name| !name.to_string_lossy().starts_with("cook-temporary"))
    );
}

#[test]
fn on_an_unborn_branch_with_something_staged() {
    for options in [
        &[][..],
        &["--object-format=sha256"],
        &["--ref-format=reftable"],
    ] {
        let scratch = Scratch::unborn(options);
        scratch.write("staged.txt", "staged");
        scratch.git(&["add", "staged.txt"]);
        let repo = with_contract(&scratch);
        repo.commit_paths(&PATHS, "first\n").unwrap().unwrap();
        assert_eq!(
            scratch.git(&["ls-tree", "-r", "--name-only", "HEAD"]),
            PATHS.join("\n")
        );
        assert_eq!(scratch.git(&["status", "--porcelain"]), "A  staged.txt");
        assert_eq!(scratch.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    }
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

fn worktrees(repo: &Repo) -> usize {
    let dir = repo.common_dir().join("cook/worktrees");
    fs::read_dir(dir).map_or(0, Iterator::count)
}

#[test]
fn a_throwaway_worktree_holds_the_commit_and_goes() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "not committed");
    let first = scratch.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let repo = scratch.repo();
    let throwaway = repo.throwaway(&first).unwrap();
    assert_eq!(
        fs::read_to_string(throwaway.path().join("a.txt")).unwrap(),
        "one\n"
    );
    let inside = Repo::discover(throwaway.path()).unwrap();
    assert_eq!(inside.head().unwrap().commit, Some(first));
    assert!(inside.status().unwrap().worktree.is_clean());
    assert_eq!(inside.common_dir(), repo.common_dir());
    // The user's own view does not notice.
    assert_eq!(scratch.git(&["status", "--porcelain"]), " M a.txt");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let sealed = throwaway.path().join("sealed/deep");
        fs::create_dir_all(&sealed).unwrap();
        fs::write(sealed.join("file"), "x").unwrap();
        fs::set_permissions(sealed, fs::Permissions::from_mode(0o500)).unwrap();
    }
    drop((inside, throwaway));
    assert_eq!(worktrees(&repo), 0);
    assert_eq!(scratch.git(&["worktree", "list"]).lines().count(), 1);
}

/// The note says for which worktree; a forged one leads nowhere.
#[test]
fn a_throwaway_worktree_stands_for_one_of_its_own_repository() {
    let scratch = Scratch::new();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    let repo = scratch.repo();
    let throwaway = repo.throwaway(&head).unwrap();
    let inside = Repo::discover(throwaway.path()).unwrap();
    assert_eq!(inside.stands_for(), None);
    throwaway.stand_for(&repo).unwrap();
    assert_eq!(inside.stands_for().as_deref(), Some(repo.root()));

    let note = inside.git_dir().join("cook-stands-for");
    let other = Scratch::new();
    for forged in [other.root.to_str().unwrap(), "..", "", "/"] {
        fs::write(&note, forged).unwrap();
        assert_eq!(inside.stands_for(), None, "{forged}");
    }
    // In a worktree of the user's it is nothing.
    scratch.git(&["worktree", "add", "-q", "../mine", "-b", "mine"]);
    let mine = Repo::discover(&scratch.root.with_file_name("mine")).unwrap();
    let root = repo.root().to_str().unwrap();
    fs::write(mine.git_dir().join("cook-stands-for"), root).unwrap();
    assert_eq!(mine.stands_for(), None);
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

#[test]
fn a_commit_that_cannot_be_checked_out_leaves_nothing() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    assert_eq!(
        repo.throwaway(&"0".repeat(40)).unwrap_err().code,
        Code::GitFailed
    );
    assert_eq!(worktrees(&repo), 0);
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
