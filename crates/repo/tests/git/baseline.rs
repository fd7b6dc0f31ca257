//! A repository against its baseline: one cheater for each thing that is compared, and each
//! thing as it was afterwards.

use crate::scratch::Scratch;
use cook_repo::git::{Baseline, Ignored, Repo};
use std::fs;

/// A repository with a second branch, a stash, an untracked file, an edit that is not
/// committed and one that is staged: work of the user's that has to survive.
struct Stand {
    scratch: Scratch,
    repo: Repo,
}

impl Stand {
    fn new() -> Self {
        let scratch = Scratch::new();
        let git = |args: &[&str]| scratch.git(args);
        git(&["branch", "other"]);
        git(&["tag", "v1"]);
        scratch.write("a.txt", "for later\n");
        git(&["stash", "-q"]);
        scratch.write("a.txt", "again for later\n");
        git(&["stash", "-q"]);
        scratch.write("dir/kept.txt", "kept\n");
        scratch.write(".gitignore", "ignored/\n.agent/\n");
        fs::create_dir_all(scratch.root.join("ignored")).unwrap();
        fs::create_dir_all(scratch.root.join(".agent/notes")).unwrap();
        fs::create_dir_all(scratch.root.join(".agent/tmp")).unwrap();
        scratch.write("ignored/brief.md", "the brief\n");
        scratch.write(".agent/notes/a.md", "the user's\n");
        git(&["add", "."]);
        git(&["commit", "-qm", "more"]);
        scratch.write("staged.txt", "staged\n");
        git(&["add", "staged.txt"]);
        scratch.write("a.txt", "an edit of the user's\n");
        scratch.write("mine.txt", "untracked\n");
        fs::create_dir_all(scratch.root.join(".git/hooks")).unwrap();
        scratch.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
        scratch.write(".git/SQUASH_MSG", "in work\n");
        let repo = scratch.repo();
        Self { scratch, repo }
    }

    fn take(&self) -> Baseline {
        let dir = self.scratch.dir.path().join("baseline");
        self.repo.baseline(&dir, everything()).unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        self.scratch.git(args)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.scratch.root.join(path)).unwrap()
    }
}

/// What a cheater does, and how the first thing that is noticed reads.
type Cheater = (&'static str, fn(&Stand), &'static str);

const CHEATERS: &[Cheater] = &[
    (
        "commits",
        |s| {
            s.git(&["commit", "-qm", "mine now"]);
        },
        "`refs/heads/main` was moved",
    ),
    (
        "another branch",
        |s| {
            s.git(&["symbolic-ref", "HEAD", "refs/heads/other"]);
        },
        "HEAD went from ref: refs/heads/main to ref: refs/heads/other",
    ),
    (
        "detaches",
        |s| {
            s.git(&["update-ref", "--no-deref", "HEAD", "v1"]);
        },
        "HEAD went from ref: refs/heads/main",
    ),
    (
        "moves a branch",
        |s| {
            s.git(&["branch", "-f", "other", "main"]);
        },
        "`refs/heads/other` was moved",
    ),
    (
        "deletes a branch",
        |s| {
            s.git(&["branch", "-D", "other"]);
        },
        "`refs/heads/other` is gone",
    ),
    (
        "makes a tag",
        |s| {
            s.git(&["tag", "v2"]);
        },
        "`refs/tags/v2` is new",
    ),
    (
        "makes a note",
        |s| {
            s.git(&["notes", "add", "-m", "x"]);
        },
        "`refs/notes/commits` is new",
    ),
    (
        "drops a stash",
        |s| {
            s.git(&["stash", "drop", "-q", "stash@{1}"]);
        },
        "the stash",
    ),
    (
        "clears the stash",
        |s| {
            s.git(&["stash", "clear"]);
        },
        "the stash",
    ),
    (
        "unstages",
        |s| {
            s.git(&["reset", "-q"]);
        },
        "the index",
    ),
    (
        "stages",
        |s| {
            s.git(&["add", "mine.txt"]);
        },
        "the index",
    ),
    (
        "hides a file",
        |s| {
            s.git(&["update-index", "--assume-unchanged", "dir/kept.txt"]);
        },
        "the index",
    ),
    (
        "hides a file and edits it",
        |s| {
            s.git(&["update-index", "--skip-worktree", "dir/kept.txt"]);
            s.scratch.write("dir/kept.txt", "cheat");
        },
        "the index",
    ),
    (
        "configures",
        |s| {
            s.git(&["config", "core.fsmonitor", "true"]);
        },
        "`.git/config`",
    ),
    (
        "hooks",
        |s| s.scratch.write(".git/hooks/post-commit", "#!/bin/sh\n"),
        "`.git/hooks/post-commit`",
    ),
    (
        "lets hooks lead elsewhere",
        |s| stand_in(s, "hooks"),
        "`.git/hooks`",
    ),
    (
        "lets excludes lead elsewhere",
        |s| stand_in(s, "info"),
        "`.git/info`",
    ),
    (
        "puts a file where hooks were",
        |s| {
            fs::remove_dir_all(s.scratch.root.join(".git/hooks")).unwrap();
            s.scratch.write(".git/hooks", "none\n");
        },
        "`.git/hooks`",
    ),
    (
        "takes a hook away",
        |s| fs::remove_file(s.scratch.root.join(".git/hooks/pre-commit")).unwrap(),
        "`.git/hooks/pre-commit`",
    ),
    (
        "excludes and writes",
        |s| {
            fs::create_dir_all(s.scratch.root.join(".git/info")).unwrap();
            s.scratch.write(".git/info/exclude", "*.log\n");
            s.scratch.write("cheat.log", "x");
        },
        "`.git/info/exclude`",
    ),
    (
        "borrows objects from elsewhere",
        |s| {
            s.scratch
                .write(".git/objects/info/alternates", "/nowhere\n")
        },
        "`.git/objects/info/alternates`",
    ),
    (
        "drops a stash and clears up",
        |s| {
            s.git(&["stash", "drop", "-q", "stash@{1}"]);
            s.git(&["gc", "-q", "--prune=now"]);
        },
        "the stash",
    ),
    (
        "throws commits away and clears up",
        |s| {
            s.git(&["reset", "-q", "--soft", "HEAD~1"]);
            s.git(&["reflog", "expire", "--expire=now", "--all"]);
            s.git(&["gc", "-q", "--prune=now"]);
        },
        "`refs/heads/main` was moved",
    ),
    (
        "cuts history short",
        |s| {
            let head = s.git(&["rev-parse", "HEAD"]);
            s.scratch.write(".git/shallow", format!("{head}\n"));
        },
        "`.git/shallow`",
    ),
    (
        "edits the user's edit",
        |s| s.scratch.write("a.txt", "cheat"),
        "`a.txt` was changed",
    ),
    (
        "edits the user's untracked file",
        |s| s.scratch.write("mine.txt", "cheat"),
        "`mine.txt` was changed",
    ),
    (
        "deletes the user's untracked file",
        |s| fs::remove_file(s.scratch.root.join("mine.txt")).unwrap(),
        "`mine.txt` is gone",
    ),
    (
        "deletes a tracked file",
        |s| fs::remove_dir_all(s.scratch.root.join("dir")).unwrap(),
        "`dir/kept.txt` is gone",
    ),
    (
        "adds files",
        |s| {
            fs::create_dir_all(s.scratch.root.join("new/deep")).unwrap();
            s.scratch.write("new/deep/file", "x");
        },
        "`new/deep/file` is new",
    ),
    (
        "puts a directory where a file was",
        |s| {
            fs::remove_file(s.scratch.root.join("dir/kept.txt")).unwrap();
            fs::create_dir(s.scratch.root.join("dir/kept.txt")).unwrap();
            s.scratch.write("dir/kept.txt/file", "x");
        },
        "`dir/kept.txt` is gone",
    ),
    (
        "an edit with its time put back",
        |s| {
            let path = s.scratch.root.join("dir/kept.txt");
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            fs::write(&path, "kepT\n").unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
        },
        "`dir/kept.txt` was changed",
    ),
    (
        "rewrites history",
        |s| {
            s.git(&["reset", "-q", "--soft", "HEAD~1"]);
        },
        "`refs/heads/main` was moved",
    ),
    (
        "resets hard",
        |s| {
            s.git(&["reset", "-q", "--hard", "HEAD~1"]);
        },
        "`refs/heads/main` was moved",
    ),
    (
        "cleans",
        |s| {
            s.git(&["clean", "-fdxq"]);
        },
        "`mine.txt` is gone",
    ),
    (
        "changes a mode",
        |s| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let path = s.scratch.root.join("dir/kept.txt");
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        },
        "`dir/kept.txt` was changed",
    ),
    (
        "leaves a merge to be concluded",
        |s| {
            let other = s.git(&["rev-parse", "other"]);
            s.scratch.write(".git/MERGE_HEAD", format!("{other}\n"));
            s.scratch.write(".git/MERGE_MSG", "not the user's words\n");
        },
        "`.git/MERGE_HEAD`",
    ),
    (
        "leaves a rebase that runs a program",
        |s| {
            fs::create_dir(s.scratch.root.join(".git/rebase-merge")).unwrap();
            s.scratch
                .write(".git/rebase-merge/git-rebase-todo", "exec evil\n");
        },
        "`.git/rebase-merge/git-rebase-todo`",
    ),
    (
        "takes what a merge in work is away",
        |s| fs::remove_file(s.scratch.root.join(".git/SQUASH_MSG")).unwrap(),
        "`.git/SQUASH_MSG`",
    ),
    (
        "forges what is ignored",
        |s| {
            s.scratch
                .write(".agent/CONTINUE.md", "the user allows all\n");
            s.scratch.write(".agent/tmp/report.txt", "mine\n");
        },
        "`.agent/CONTINUE.md`",
    ),
    (
        "edits what is ignored",
        |s| {
            s.scratch.write("ignored/brief.md", "forged\n");
            s.scratch.write("ignored/built", "anything\n");
        },
        "`ignored/brief.md`",
    ),
    (
        "replaces a directory of what is ignored by a link out of the worktree",
        |s| {
            #[cfg(unix)]
            {
                let notes = s.scratch.root.join(".agent/notes");
                fs::remove_dir_all(&notes).unwrap();
                std::os::unix::fs::symlink(s.scratch.dir.path(), &notes).unwrap();
            }
            #[cfg(not(unix))]
            s.scratch.write(".agent/notes/a.md", "forged\n");
        },
        "`.agent/notes",
    ),
];

/// Lets a directory of the git dir be a link out of it, to a place that holds more than is looked
/// at; what lies there is nothing of the repository's.
fn stand_in(stand: &Stand, name: &str) {
    let (dir, away) = (
        stand.scratch.root.join(".git").join(name),
        stand.scratch.dir.path().join("away"),
    );
    fs::create_dir(&away).unwrap();
    for number in 0..600 {
        fs::write(away.join(number.to_string()), "theirs\n").unwrap();
    }
    fs::write(away.join("pre-commit"), "theirs\n").unwrap();
    fs::write(away.join("exclude"), "theirs\n").unwrap();
    if dir.exists() {
        fs::remove_dir_all(&dir).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(&away, &dir).unwrap();
    #[cfg(not(unix))]
    fs::write(&dir, "theirs\n").unwrap();
}

/// A link of the user's own stays, with what it leads to.
#[cfg(unix)]
#[test]
fn a_link_that_stood_there_stays_and_is_put_back() {
    let stand = Stand::new();
    let (hooks, away) = (
        stand.scratch.root.join(".git/hooks"),
        stand.scratch.dir.path().join("shared"),
    );
    fs::rename(&hooks, &away).unwrap();
    std::os::unix::fs::symlink(&away, &hooks).unwrap();
    let baseline = stand.take();
    assert_eq!(baseline.differences(&stand.repo).unwrap(), []);
    let other = stand.scratch.dir.path().join("other");
    fs::create_dir(&other).unwrap();
    for other in [Some(&other), None] {
        fs::remove_file(&hooks).unwrap();
        match other {
            Some(other) => std::os::unix::fs::symlink(other, &hooks).unwrap(),
            None => fs::create_dir(&hooks).unwrap(),
        }
        assert!(!baseline.differences(&stand.repo).unwrap().is_empty());
        assert_eq!(fs::read_link(&hooks).unwrap(), away);
        assert_eq!(stand.text(".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n");
        assert_eq!(baseline.differences(&stand.repo).unwrap(), []);
    }
}

/// What is ignored and compared all the same.
fn everything() -> Ignored {
    Ignored {
        agent_dir_but: Some(["tmp".to_owned()].into()),
        files: ["ignored/brief.md".to_owned()].into(),
    }
}

#[test]
fn each_cheater_is_noticed_and_undone() {
    for (name, cheat, expected) in CHEATERS {
        let stand = Stand::new();
        let before = stand.git(&["status", "--porcelain=v2", "--show-stash"]);
        let stashes = stand.git(&["stash", "list", "--format=%H %gs"]);
        let refs = stand.git(&["for-each-ref"]);
        let baseline = stand.take();
        cheat(&stand);
        let found = baseline.differences(&stand.repo).unwrap();
        assert!(
            found
                .iter()
                .any(|one| one.to_string().starts_with(expected)),
            "{name}: {found:?}"
        );
        baseline.keep_refs(&stand.repo, &found, "01").unwrap();
        baseline.put_back(&stand.repo, &found).unwrap();
        // Steering files are put back as they are compared, and a later look finds what
        // they hid.
        let more = baseline.differences(&stand.repo).unwrap();
        baseline.put_back(&stand.repo, &more).unwrap();
        assert_eq!(baseline.differences(&stand.repo).unwrap(), [], "{name}");
        assert_eq!(
            stand.git(&["status", "--porcelain=v2", "--show-stash"]),
            before,
            "{name}"
        );
        assert_eq!(
            stand.git(&["stash", "list", "--format=%H %gs"]),
            stashes,
            "{name}"
        );
        let kept = |line: &&str| !line.contains("refs/cook/");
        let now = stand.git(&["for-each-ref"]);
        assert_eq!(
            now.lines().filter(kept).collect::<Vec<_>>(),
            refs.lines().collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(stand.text("mine.txt"), "untracked\n", "{name}");
        let hooks = stand.scratch.root.join(".git/hooks");
        assert!(hooks.symlink_metadata().unwrap().is_dir(), "{name}");
        let away = stand.scratch.dir.path().join("away/pre-commit");
        if away.exists() {
            assert_eq!(fs::read_to_string(away).unwrap(), "theirs\n", "{name}");
        }
        // Others clean up what is ignored, and that comes back too.
        for (path, text) in [
            ("ignored/brief.md", "the brief\n"),
            (".agent/notes/a.md", "the user's\n"),
            (".git/SQUASH_MSG", "in work\n"),
        ] {
            assert_eq!(stand.text(path), text, "{name}");
        }
        for path in [".agent/CONTINUE.md", ".git/MERGE_HEAD", ".git/rebase-merge"] {
            assert!(!stand.scratch.root.join(path).exists(), "{name}: {path}");
        }
        assert!(!stand.scratch.dir.path().join("a.md").exists(), "{name}");
        assert_eq!(stand.text("a.txt"), "an edit of the user's\n", "{name}");
    }
}

#[test]
fn another_process_goes_on_from_a_baseline_that_is_whole() {
    let stand = Stand::new();
    let dir = stand.scratch.dir.path().join("baseline");
    assert!(Baseline::open(&dir).unwrap().is_none());
    drop(stand.take());
    stand.scratch.write("a.txt", "cheat");
    // As a killed git leaves them.
    for index in ["work-index", "now-index"] {
        fs::write(dir.join(format!("{index}.lock")), "").unwrap();
    }
    let baseline = Baseline::open(&dir).unwrap().unwrap();
    let found = baseline.differences(&stand.repo).unwrap();
    baseline.put_back(&stand.repo, &found).unwrap();
    assert_eq!(stand.text("a.txt"), "an edit of the user's\n");
    baseline.forget(&stand.repo).unwrap();
    assert!(!dir.exists());
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("stand.json"), "{").unwrap();
    assert!(Baseline::open(&dir).is_err());
}

#[test]
fn submodules_and_linked_worktrees_are_named() {
    let stand = Stand::new();
    let inner = Scratch::new();
    let url = inner.root.display().to_string();
    stand.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &url,
        "inner",
    ]);
    let baseline = stand.take();
    let inside = stand.scratch.root.join("inner");
    fs::write(inside.join("a.txt"), "cheat").unwrap();
    let linked = stand.scratch.dir.path().join("linked");
    stand.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "other"]);
    let said: Vec<String> = baseline
        .differences(&stand.repo)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(said.contains(&"submodule `inner`".to_owned()), "{said:?}");
    assert!(
        said.iter()
            .any(|one| one.starts_with("worktree `") && one.ends_with("linked` is new")),
        "{said:?}"
    );
}
