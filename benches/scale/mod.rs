//! Repositories of a chosen size, built the way a user's come about: by git, by
//! the `cook` binary, and for long logs by the library's own walk.
//!
//! Shared by the benches and by the system call guards in `tests/cost/hot_path.rs`.
#![allow(dead_code, clippy::unwrap_used)]

use cook::service;
use cook::workspace::Workspace;
use cook_protocol::model::{Actor, Event, Resume};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Files in one directory of a generated worktree.
const FILES_IN_A_DIRECTORY: usize = 100;

/// A git repository in a temporary directory, with a home of its own.
pub struct Scale {
    dir: TempDir,
}

impl Scale {
    /// A repository with one commit of that many small files.
    pub fn with_files(files: usize) -> Self {
        let scale = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(scale.dir.path().join("home")).unwrap();
        std::fs::create_dir(scale.root()).unwrap();
        scale.git(&["init", "--quiet", "--initial-branch=main"]);
        scale.import_files(files);
        scale.git(&["reset", "--quiet", "--hard"]);
        scale
    }

    /// As [`Scale::with_files`], and `cook init` committed its contract.
    pub fn initialise(files: usize) -> Self {
        let scale = Self::with_files(files);
        scale.settle_index();
        scale.cook(&[
            "init",
            "--assurance",
            "strict",
            "--mission",
            MISSION,
            "--commit",
        ]);
        scale
    }

    /// An index younger than the files, by whole seconds: git reads a file's content again
    /// for as long as the index might have been written in the same second.
    fn settle_index(&self) {
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        self.git(&["read-tree", "HEAD"]);
        self.git(&["update-index", "-q", "--refresh"]);
    }

    /// A mission whose histories were taken over from an older layout. The records
    /// are divided evenly between the two histories.
    pub fn with_records(records: u64) -> Self {
        let scale = Self::with_old_layout(records);
        scale.cook(&[
            "init",
            "--assurance",
            "strict",
            "--mission",
            MISSION,
            "--commit",
        ]);
        scale
    }

    /// The same before `cook init`. The lines have another order of keys than cook's, as
    /// those of another writer do.
    pub fn with_old_layout(records: u64) -> Self {
        let scale = Self::with_files(10);
        let current = scale.root().join(".agent/current");
        std::fs::create_dir_all(&current).unwrap();
        let anchor = format!("{{\"schema_version\":1,\"mission_anchor\":\"{MISSION}\"}}\n");
        std::fs::write(current.join("state.json"), anchor).unwrap();
        let slices = records / 2;
        write_lines(&current.join("slice-history.jsonl"), slices, slice_line);
        let stops = records - slices;
        write_lines(&current.join("stop-check-history.jsonl"), stops, stop_line);
        scale
    }

    /// Takes the log away, as in a copy of the worktree.
    pub fn forget_log(&self) {
        std::fs::remove_dir_all(self.root().join(".git/cook")).unwrap();
    }

    /// The worktree.
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// A program in the worktree with an environment that holds nothing of the caller's.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path().join("home"))
            .env("TERM", "dumb")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Scale");
            command.env(format!("GIT_{who}_EMAIL"), "scale@example.org");
        }
        command
    }

    /// Runs git, which must succeed.
    pub fn git(&self, args: &[&str]) {
        succeed(self.command("git").args(args));
    }

    /// Runs `cook`, which must succeed.
    pub fn cook(&self, args: &[&str]) -> Output {
        succeed(self.command(cook_binary()).args(args))
    }

    /// A re-ground that plans one slice and selects it: rule 4 is next.
    pub fn select(&self) {
        self.reground(REGROUND);
    }

    /// A re-ground that plans one slice and selects none: rule 3 is next, and a dirty
    /// worktree would be in its way.
    pub fn plan_only(&self) {
        let report = REGROUND
            .replace("selected slice: first", "selected slice: none")
            .replace("completion-implementer", "completion-regrounder")
            .replace("  },\n  \"select\": \"first\"\n", "  }\n");
        assert!(!report.contains("select\""));
        self.reground(&report);
    }

    /// Two agents, `one` and `two`, who re-ground at once, each with another reason for the same
    /// plan: either's report is a change after the other's.
    pub fn with_planners(files: usize) -> Self {
        let scale = Self::initialise(files);
        scale.plan_only();
        let report = std::fs::read_to_string(scale.dir.path().join("report.txt")).unwrap();
        let mut settings = std::fs::read_to_string(scale.root().join(".agent/cook.toml")).unwrap();
        for name in ["one", "two"] {
            let path = scale.planners_report(name);
            let why = format!("the only one, as {name} says");
            std::fs::write(&path, report.replace("the only one", &why)).unwrap();
            write!(
                settings,
                "\n[agents.{name}]\nbin = \"/bin/cat\"\nstart = [\"{name}.txt\"]\nevents = \"text\"\n"
            )
            .unwrap();
        }
        std::fs::write(scale.root().join(".agent/cook.toml"), settings).unwrap();
        scale.git(&["add", "--all"]);
        scale.git(&["commit", "--quiet", "--message", "settings"]);
        scale.cook(&["init", "--as-user"]);
        for name in ["one", "two"] {
            let refused = scale
                .command(cook_binary())
                .args(["run", "--once", "--yes", "--agent", name])
                .output();
            let refused = String::from_utf8(refused.unwrap().stderr).unwrap();
            let words = refused.split("cook trust '").nth(1).unwrap();
            scale.cook(&["trust", words.split('\'').next().unwrap(), "--as-user"]);
        }
        scale.settle_index();
        scale
    }

    /// What a planner answers, in the repository: the sandbox shows agents nothing else of a temporary directory.
    pub fn planners_report(&self, name: &str) -> PathBuf {
        self.root().join(format!("{name}.txt"))
    }

    fn reground(&self, text: &str) {
        let report = self.dir.path().join("report.txt");
        std::fs::write(&report, text).unwrap();
        self.cook(&["record", "regrounder", report.to_str().unwrap()]);
    }

    /// Pauses and resumes by turns until the log holds that many transitions.
    pub fn grow_log_to(&self, transitions: u64) {
        let root = self.root();
        while self.transitions() < transitions {
            let workspace = Workspace::open(&root).unwrap();
            let (_, snapshot) = workspace.require().unwrap();
            let event = match snapshot.state.continuation_policy {
                cook_protocol::model::Policy::Paused => Event::Resumed(Resume::default()),
                _ => Event::Paused {
                    why: "scale".to_owned(),
                },
            };
            service::transition(&workspace, &event, Actor::Script).unwrap();
        }
    }

    /// Transitions in the log.
    pub fn transitions(&self) -> u64 {
        let workspace = Workspace::open(&self.root()).unwrap();
        workspace.require().unwrap().0.seq
    }

    /// Sizes of all files of the log, summed.
    pub fn log_bytes(&self) -> u64 {
        count_bytes_under(&self.root().join(".git/cook/log.git"))
    }

    /// Size of both histories in `.agent/`.
    pub fn history_bytes(&self) -> u64 {
        ["slice-history.jsonl", "stop-check-history.jsonl"]
            .into_iter()
            .map(|file| self.root().join(".agent").join(file))
            .map(|file| std::fs::metadata(file).unwrap().len())
            .sum()
    }

    fn import_files(&self, files: usize) {
        let mut stream = String::new();
        writeln!(
            stream,
            "commit refs/heads/main\ncommitter Scale <scale@example.org> 1767225600 +0000\ndata 5\nfiles"
        )
        .unwrap();
        for number in 0..files {
            let text = format!("file {number}\n");
            writeln!(
                stream,
                "M 100644 inline {}\ndata {}\n{text}",
                make_path(number),
                text.len()
            )
            .unwrap();
        }
        self.import(&stream);
    }

    /// Commits what a stream of `git fast-import` says.
    pub fn import(&self, stream: &str) {
        let mut child = self
            .command("git")
            .args(["fast-import", "--quiet"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(stream.as_bytes()).unwrap();
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

/// Where a file of that number is.
pub fn make_path(number: usize) -> String {
    let directory = number / FILES_IN_A_DIRECTORY;
    format!("src/d{directory:04}/f{number:06}.txt")
}

/// The mission of every generated repository.
pub const MISSION: &str = "scale";

/// The binary that Cargo built beside this target.
pub fn cook_binary() -> &'static str {
    env!("CARGO_BIN_EXE_cook")
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn count_bytes_under(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let found = entry.metadata().unwrap();
            if found.is_dir() {
                count_bytes_under(&entry.path())
            } else {
                found.len()
            }
        })
        .sum()
}

fn write_lines(path: &Path, count: u64, line: fn(u64) -> String) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for number in 0..count {
        writeln!(file, "{}", line(number)).unwrap();
    }
    file.flush().unwrap();
}

/// A hash-like name that differs from line to line.
fn sha(number: u64) -> String {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{mixed:016x}{:016x}{:08x}", mixed.rotate_left(29), number)
}

fn slice_line(number: u64) -> String {
    let (commit, head) = (sha(number), sha(number + 7));
    format!(
        "{{\"type\":\"reviewed\",\"recorded_at\":\"2026-01-02T03:04:05Z\",\"schema_version\":1,\
         \"slice_id\":\"slice-{number:06}\",\"commit_sha\":\"{commit}\",\"head_sha\":\"{head}\",\
         \"role\":\"completion-reviewer\",\"report_sha256\":\"{commit}{}\",\
         \"findings\":[\"the boundary case of input {number} is not covered by a test that would fail without it\"]}}",
        &head[..24]
    )
}

fn stop_line(number: u64) -> String {
    let head = sha(number);
    format!(
        "{{\"type\":\"judgment\",\"recorded_at\":\"2026-01-02T03:04:05Z\",\"schema_version\":1,\
         \"head_sha\":\"{head}\",\"can_stop\":false,\"blocker_count\":1,\"high_value_gap_count\":2,\
         \"stop_wave_id\":{number},\"role\":\"completion-stop-judge\",\
         \"report_sha256\":\"{head}{}\",\"session\":\"01jx{number:022}\"}}",
        &sha(number + 3)[..24]
    )
}

/// The report that [`Scale::select`] hands in.
pub const REGROUND: &str = r#"MISSION ANCHOR: scale
Remaining contract IDs: none
Canonical re-ground applied (yes/no): yes
Acceptance criteria revalidated (yes/no): yes
Tracked and unignored worktree is clean (yes/no): yes
Reopened slices:
- none
Reconciliation decision (accepted/reopened/none): none
Reconciled slice ID: none
Current selected slice: first
Next role to invoke: completion-implementer
Exact handoff payload: none
Canonical blockers or deviations:
- none

```json
{
  "plan": {
    "plan_basis": "the files",
    "candidate_slices": [
      {
        "slice_id": "first",
        "goal": "one thing",
        "acceptance_criteria": ["the first file holds another number"],
        "priority": 1,
        "status": "planned",
        "why_now": "it is the only one",
        "blocked_on": [],
        "implementation_surfaces": ["src"],
        "verification_commands": [],
        "locked_notes": []
      }
    ]
  },
  "select": "first"
}
```
"#;
