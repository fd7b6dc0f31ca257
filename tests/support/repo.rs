//! A repository in a temporary directory, and the built `cook` in it.

use super::{COOK, Run, clean, hints, room, run, run_alone};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A worktree and a home of its own.
pub struct Repo {
    temp: TempDir,
    /// Root of the worktree.
    pub root: PathBuf,
    home: PathBuf,
    /// Variables that every command gets on top.
    pub extra: std::cell::RefCell<Vec<(String, String)>>,
    /// What a shell does before it becomes cook; nothing = no shell.
    pub before: std::cell::RefCell<String>,
}

impl Repo {
    /// An empty directory that is not a repository.
    pub fn directory() -> Self {
        Self::in_place(room())
    }

    /// The same in that directory.
    pub fn in_place(temp: TempDir) -> Self {
        let place = temp.path().canonicalize().unwrap();
        let (root, home) = (place.join("work"), place.join("home"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&home).unwrap();
        Self {
            temp,
            root,
            home,
            extra: std::cell::RefCell::default(),
            before: std::cell::RefCell::default(),
        }
    }

    /// A directory beside the worktree.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap().join(name)
    }

    /// That directory, made at the first call.
    pub fn outside(&self) -> PathBuf {
        let path = self.beside("outside");
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// `git init` and no commit.
    pub fn unborn() -> Self {
        let repo = Self::directory();
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// `cook init --commit` with the profile whose every step is a session of its role.
    pub fn init_strictly(&self, mission: &str) -> Run {
        let init = ["init", "--assurance", "strict", "--mission", mission];
        self.cook(&[&init[..], &["--commit"]].concat())
    }

    /// With one commit that holds a `README.md`.
    pub fn new() -> Self {
        Self::stage("new", || {
            let repo = Self::unborn();
            repo.write("README.md", "# A project\n");
            repo.commit("Begin", None);
            repo
        })
    }

    /// Set up, its contract committed, its mission given.
    pub fn with_mission(mission: &str) -> Self {
        Self::stage(&format!("with the mission {mission}"), || {
            let repo = Self::new();
            repo.init_strictly(mission).ok();
            repo
        })
    }

    /// Writes a file of the worktree, directories included.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file of the worktree.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// A document of `.agent/`.
    pub fn document(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(&format!(".agent/{name}"))).unwrap()
    }

    /// Edits a document of `.agent/` outside cook.
    pub fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.document(name);
        change(&mut value);
        self.write(
            &format!(".agent/{name}"),
            serde_json::to_string_pretty(&value).unwrap() + "\n",
        );
    }

    /// Commits everything; the id.
    pub fn commit(&self, message: &str, slice: Option<&str>) -> String {
        self.git(&["add", "-A"]);
        let message = match slice {
            Some(slice) => format!("{message}\n\nCook-Slice: {slice}\n"),
            None => message.to_owned(),
        };
        self.git(&["commit", "-q", "--allow-empty", "-m", &message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Writes one file and commits it for a slice.
    pub fn write_commit_for(&self, slice: &str, path: &str, text: &str) -> String {
        self.write(path, text);
        self.commit(&format!("Work on {slice}"), Some(slice))
    }

    /// HEAD.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// A program in the worktree, in the clean environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = clean(program, &self.home);
        command.current_dir(&self.root);
        for (name, value) in self.extra.borrow().iter() {
            command.env(name, value);
        }
        command
    }

    /// git, which must succeed; its trimmed output.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let run = run_alone(self.command("git").args(args)).ok();
        run.out.trim().to_owned()
    }

    /// cook, ready to be changed and run by [`run`].
    pub fn cook_command(&self, args: &[&str]) -> Command {
        let before = self.before.borrow();
        let mut command = match before.is_empty() {
            true => self.command(COOK),
            false => self.command("bash"),
        };
        if !before.is_empty() {
            command.args(["-c", &format!("{before}\nexec \"$0\" \"$@\""), COOK]);
        }
        command.args(args);
        command
    }

    /// cook without input.
    pub fn cook(&self, args: &[&str]) -> Run {
        self.cook_reads(args, b"")
    }

    /// cook with one more variable.
    pub fn cook_env(&self, args: &[&str], key: &str, value: &str) -> Run {
        let mut command = self.cook_command(args);
        command.env(key, value);
        run(command, b"")
    }

    /// The user trusts a gate or a program.
    #[track_caller]
    pub fn trust(&self, words: &str) {
        self.cook(&["trust", words, "--as-user"]).exits(0);
    }

    /// cook with that input.
    pub fn cook_reads(&self, args: &[&str], input: impl AsRef<[u8]>) -> Run {
        let run = run(self.cook_command(args), input);
        hints::type_each(self, &run);
        run
    }

    /// `cook record ROLE -`.
    pub fn record(&self, role: &str, report: impl AsRef<[u8]>) -> Run {
        self.record_with(&[role], report)
    }

    /// `cook record` with options.
    pub fn record_with(&self, args: &[&str], report: impl AsRef<[u8]>) -> Run {
        self.cook_reads(&[&["record"], args].concat(), report)
    }

    /// The rule `cook next` names.
    #[track_caller]
    pub fn rule(&self) -> String {
        let next = self.cook(&["next", "--json"]).exits(0).json();
        next["rule"].as_str().unwrap().to_owned()
    }

    /// Refs of the log, files of `.agent/`, HEAD, `git status`: what a refused command must not change.
    pub fn fingerprint(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        gather(&self.root.join(".agent"), &self.root, &mut files);
        let log = self.root.join(".git/cook/log.git");
        if log.is_dir() {
            let refs = self.git(&["--git-dir", log.to_str().unwrap(), "for-each-ref"]);
            files.insert("log".to_owned(), refs.into_bytes());
        }
        let status = self.git(&[
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "--branch",
        ]);
        files.insert("status".to_owned(), status.into_bytes());
        files
    }

    /// The text with the temporary directory, commit ids and moments replaced.
    pub fn redact(&self, text: &str) -> String {
        let place = self.temp.path().canonicalize().unwrap();
        let text = text.replace(&*place.to_string_lossy(), "[DIR]");
        redact_words(&text)
    }
}

fn gather(path: &Path, root: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    let name = path.strip_prefix(root).unwrap().display().to_string();
    let Ok(meta) = std::fs::symlink_metadata(path) else {
        return;
    };
    if meta.is_symlink() {
        let target = std::fs::read_link(path).unwrap();
        files.insert(name, target.display().to_string().into_bytes());
    } else if meta.is_dir() {
        files.insert(name, Vec::new());
        for entry in std::fs::read_dir(path).unwrap() {
            gather(&entry.unwrap().path(), root, files);
        }
    } else {
        // Sparse giants count by their length.
        let bytes = match meta.len() {
            0..=8_388_608 => std::fs::read(path).unwrap(),
            length => length.to_string().into_bytes(),
        };
        files.insert(name, bytes);
    }
}

/// Replaces hexadecimal words of 12 and more digits and RFC 3339 moments.
fn redact_words(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() || ":-".contains(c) {
            word.push(c);
            continue;
        }
        // `receipt:` and an id is an id as well; a line that is cut ends with an ellipsis.
        let (label, id) = word.split_at(word.rfind(':').map_or(0, |colon| colon + 1));
        let least = if c == '…' { 8 } else { 12 };
        let hex = id.len() >= least && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let moment = word.len() == 20 && word.ends_with('Z') && word.contains('T');
        match (hex, moment) {
            (true, _) => out.extend([label, "[ID]"]),
            (_, true) => out.push_str("[TIME]"),
            _ => out.push_str(&word),
        }
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}
