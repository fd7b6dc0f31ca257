//! A repository with a workflow in it, driven through the built binary from a
//! clean environment: the fixed clock, one identity, no configuration of the machine.

pub mod reports;

use super::{COOK, clean, room};
use cook_repo::store::{Place, Store};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The mission of every workflow here.
pub const MISSION: &str = "Keep the greeting kind";

/// A directory of its own with a HOME, for one test.
pub struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        Self::at(room())
    }

    pub fn at(dir: TempDir) -> Self {
        std::fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command with nothing of the caller's environment but what is set here.
    pub fn command(&self, program: impl AsRef<OsStr>, dir: &Path) -> Command {
        let mut command = clean(program, &self.join("home"));
        command.current_dir(dir);
        command
    }

    /// `cook` in that directory.
    pub fn cook(&self, dir: &Path) -> Command {
        self.command(COOK, dir)
    }

    /// Runs `cook`, gives it that input, and checks its exit code.
    pub fn run(&self, dir: &Path, args: &[&str], input: &str, code: i32) -> String {
        let mut command = self.cook(dir);
        command.args(args);
        let output = feed(&mut command, input);
        assert_eq!(
            output.status.code(),
            Some(code),
            "cook {args:?}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// `cook … --json` as a value.
    pub fn json(&self, dir: &Path, args: &[&str]) -> serde_json::Value {
        let mut args = args.to_vec();
        args.push("--json");
        serde_json::from_str(&self.run(dir, &args, "", 0)).unwrap()
    }

    /// Runs git, which must succeed.
    pub fn git(&self, dir: &Path, args: &[&str]) -> String {
        let output = self
            .command("git", dir)
            .args([
                "-c",
                "init.defaultBranch=main",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(args)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {args:?} in {}: {}",
            dir.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// A repository with one commit.
    pub fn repository(&self, dir: &Path) {
        self.init_repository_with(dir, &[]);
    }

    /// The same with options for `git init`.
    pub fn init_repository_with(&self, dir: &Path, options: &[&str]) {
        std::fs::create_dir_all(dir).unwrap();
        let mut args = vec!["init", "--quiet"];
        args.extend_from_slice(options);
        self.git(dir, &args);
        self.commit(dir, "greeting.txt", "hello\n", "Greet");
    }

    /// Commits one file. Returns the commit.
    pub fn commit(&self, dir: &Path, file: &str, text: &str, message: &str) -> String {
        std::fs::write(dir.join(file), text).unwrap();
        self.git(dir, &["add", "--", file]);
        self.git(dir, &["commit", "--quiet", "--message", message]);
        self.git(dir, &["rev-parse", "HEAD"])
    }

    /// `cook init --commit`.
    pub fn init(&self, dir: &Path) {
        self.run(
            dir,
            &[
                "init",
                "--assurance",
                "strict",
                "--mission",
                MISSION,
                "--commit",
            ],
            "",
            0,
        );
    }
}

/// Runs a command with that input; it must end within a minute.
pub fn feed(command: &mut Command, input: &str) -> Output {
    feed_within(command, input, Duration::from_secs(60))
        .unwrap_or_else(|| panic!("{command:?} did not end within a minute"))
}

/// The same with another limit; `None` when it was killed at the limit.
pub fn feed_within(command: &mut Command, input: &str, limit: Duration) -> Option<Output> {
    // What a tracer traces does not end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A child that ends without reading closes the pipe; that is its right.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > limit {
            #[cfg(unix)]
            let _ = nix::sys::signal::killpg(
                nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()),
                nix::sys::signal::Signal::SIGKILL,
            );
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Some(child.wait_with_output().unwrap())
}

/// The paths of a main worktree.
pub fn place(worktree: &Path) -> Place {
    Place {
        common_dir: worktree.join(".git"),
        git_dir: worktree.join(".git"),
        worktree: worktree.to_owned(),
    }
}

/// The log of a main worktree, when it has one.
pub fn store(worktree: &Path) -> Option<Store> {
    Store::open(place(worktree)).unwrap()
}

/// Copies a directory tree; what it holds is files, directories and symlinks.
pub fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy_tree(&source, &target);
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(std::fs::read_link(&source).unwrap(), &target).unwrap();
        } else {
            std::fs::copy(&source, &target).unwrap();
        }
    }
}
