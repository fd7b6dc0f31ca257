//! A repository of a test's own, and git with nothing of the machine in it.

use crate::machine::room;
use cook_repo::git::Repo;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Once;

/// Cleans this process's environment, which the library's children inherit. Every
/// test calls it before anything else, so nothing reads while it writes.
pub fn hermetic() {
    static CLEAN: Once = Once::new();
    CLEAN.call_once(|| {
        let kept = [
            "PATH",
            "LANG",
            "RUST_BACKTRACE",
            "LLVM_PROFILE_FILE",
            "LD_LIBRARY_PATH",
        ];
        let names: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
        for name in names
            .iter()
            .filter(|name| !kept.iter().any(|kept| name == kept))
        {
            // SAFETY: see above; every test waits here before it uses the environment.
            unsafe { std::env::remove_var(name) };
        }
        for (name, value) in LIBRARY {
            // SAFETY: as above.
            unsafe { std::env::set_var(name, value) };
        }
    });
}

/// When everything is committed.
const NOW: &str = "2026-01-02T03:04:05Z";

/// Who commits is the repository's to say.
const LIBRARY: [(&str, &str); 5] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("HOME", "/nonexistent"),
    ("GIT_AUTHOR_DATE", NOW),
    ("GIT_COMMITTER_DATE", NOW),
];

/// A directory with a repository in `repo/`, and room beside it.
pub struct Scratch {
    pub dir: tempfile::TempDir,
    pub root: PathBuf,
}

impl Scratch {
    pub fn empty() -> Self {
        hermetic();
        let dir = room();
        let root = dir.path().canonicalize().unwrap().join("repo");
        std::fs::create_dir(&root).unwrap();
        Self { dir, root }
    }

    /// A repository without a commit.
    pub fn unborn(options: &[&str]) -> Self {
        let scratch = Self::empty();
        let mut arguments = vec!["init", "-q", "-b", "main"];
        arguments.extend(options);
        scratch.git(&arguments);
        scratch.identify();
        scratch
    }

    /// A repository with three commits; the second one carries a trailer.
    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn with(options: &[&str]) -> Self {
        let scratch = Self::unborn(options);
        scratch.fill();
        scratch
    }

    pub fn identify(&self) {
        self.git(&["config", "user.name", "Test Person"]);
        self.git(&["config", "user.email", "test@example.org"]);
    }

    pub fn fill(&self) {
        self.write("a.txt", "one\n");
        self.write("dir/b.txt", "two\n");
        self.commit("first");
        self.write("dir/with space.txt", "three\n");
        self.commit("second\n\nbody\n\nCook-Slice: other\nCook-Slice: s-1");
        self.write("a.txt", "one\nmore\n");
        self.git(&["rm", "-q", "dir/b.txt"]);
        self.commit("third");
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits everything; the full id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        run_git_in(&self.root, arguments)
    }

    pub fn repo(&self) -> Repo {
        Repo::discover(&self.root).unwrap()
    }
}

pub fn try_git(dir: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(dir)
        .output()
        .unwrap()
}

/// What git says, without the last line end.
pub fn run_git_in(dir: &Path, arguments: &[&str]) -> String {
    let output = try_git(dir, arguments);
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}
