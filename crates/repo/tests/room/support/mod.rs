//! A repository, its rooms, and what git makes of the same commits.

use cook_protocol::diagnostic::Failure;
use cook_protocol::model::Caches;
use cook_repo::room::{Filled, Room, Source};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A repository, and a place for its rooms.
pub struct Project {
    pub dir: TempDir,
}

impl Project {
    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn with(init: &[&str]) -> Self {
        crate::scratch::hermetic();
        let project = Self {
            dir: TempDir::new().unwrap(),
        };
        fs::create_dir(project.repo()).unwrap();
        project.git(&[&["init", "-q", "-b", "main"], init].concat());
        project
    }

    pub fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let place = self.repo().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, bytes).unwrap();
        self
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.repo(), arguments)
    }

    pub fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn room(&self, caches: Caches) -> Room {
        let rooms = self.dir.path().join("rooms");
        Room::open(&rooms, &self.repo(), "repo", caches, false).unwrap()
    }

    pub fn fill(&self, commit: &str) -> (Filled, Tree) {
        let room = self.room(Caches::Kept);
        let filled = self.try_fill(&room, commit).unwrap();
        (filled, tree(room.path()))
    }

    pub fn try_fill(&self, room: &Room, commit: &str) -> Result<Filled, Failure> {
        let common = self.repo().join(".git");
        let source = Source {
            common: &common,
            git_dir: &common,
            worktree: common.parent().unwrap(),
            commit,
            refs: &[],
            objects_at: None,
            history: true,
            alone: false,
            path: &std::env::var_os("PATH").unwrap(),
        };
        room.fill(&source, &["target".to_owned()])
    }

    /// A new room as the project's end rests on it, of the repository with that git directory; `history` = its
    /// `.git` is shown.
    pub fn fill_alone(&self, history: bool) -> Result<Room, String> {
        let commit = self.git(&["rev-parse", "HEAD"]);
        let common = self.repo().join(".git");
        let listed = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let refs = listed.lines().filter_map(|line| line.split_once(' '));
        let refs: Vec<_> = refs
            .map(|(name, id)| (name.to_owned(), id.to_owned()))
            .collect();
        let source = Source {
            common: &common,
            git_dir: &common,
            worktree: &self.repo(),
            commit: &commit,
            refs: &refs,
            objects_at: None,
            history,
            alone: true,
            path: &std::env::var_os("PATH").unwrap(),
        };
        let room = self.room(Caches::Empty);
        let filled = room.fill(&source, &[]).map_err(|error| error.to_string())?;
        assert_eq!(filled.lacking, []);
        Ok(room)
    }

    /// What git itself makes of a commit.
    pub fn make_clone(&self, commit: &str) -> Tree {
        let dir = TempDir::new().unwrap();
        let place = dir.path().join("clone");
        let url = format!("file://{}", self.repo().display());
        let to = place.display().to_string();
        git(dir.path(), &["clone", "-q", "--no-checkout", &url, &to]);
        git(&place, &["checkout", "-q", "--detach", commit]);
        tree(&place)
    }
}

pub fn try_git(dir: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["AUTHOR", "COMMITTER"].into_iter().flat_map(|who| {
            let of = move |what| format!("GIT_{who}_{what}");
            [(of("NAME"), "a"), (of("EMAIL"), "a@example.org")]
        }))
        .output()
        .unwrap()
}

pub fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = try_git(dir, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Mode and content by path, directories too.
pub type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub fn tree(top: &Path) -> Tree {
    let mut found = Tree::new();
    let mut due = vec![top.to_owned()];
    while let Some(dir) = due.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let at = path.strip_prefix(top).unwrap().to_owned();
            if at.ends_with(".git") {
                continue;
            }
            let content = if metadata.is_dir() {
                due.push(path);
                Vec::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            // A clone's modes follow the umask.
            let mode = metadata.permissions().mode() & 0o170_100;
            found.insert(at, (mode, content));
        }
    }
    found
}
