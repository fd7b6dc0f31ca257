//! The sweep: one run of a transition for each system call and each fault, then
//! recovery by the binary itself, then a look at what is there.

use crate::crash::kinds::{Kind, NOTES, Stand};
use crate::support::workflow::{MISSION, Sandbox, copy_tree, feed, feed_within, store};
use cook_protocol::model::Policy;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Calls that look at the file system or change it.
const CALLS: &[&str] = &[
    "openat",
    "close",
    "read",
    "pread64",
    "write",
    "pwrite64",
    "lseek",
    "newfstatat",
    "statx",
    "access",
    "faccessat2",
    "readlink",
    "getdents64",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "chmod",
    "fchmod",
    "fchmodat",
    "utimensat",
    "flock",
    "fcntl",
    "symlink",
    "getrandom",
    "copy_file_range",
    "mmap",
];

/// Calls that need room on the disk.
const ROOM: &[&str] = &[
    "openat",
    "write",
    "pwrite64",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "symlink",
    "copy_file_range",
];

/// Calls that change nothing, whatever they are given.
const LOOKS: &[&str] = &[
    "lseek",
    "newfstatat",
    "statx",
    "access",
    "faccessat2",
    "readlink",
    "getdents64",
    "getrandom",
    "mmap",
];

/// A transition after recovery that takes longer is stuck.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A disturbed run that takes longer hangs.
pub const HANG: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Kill,
    Eio,
    Enospc,
}

impl Fault {
    const ALL: [Fault; 3] = [Fault::Kill, Fault::Eio, Fault::Enospc];

    fn strace(self) -> &'static str {
        match self {
            Fault::Kill => "signal=KILL",
            Fault::Eio => "error=EIO",
            Fault::Enospc => "error=ENOSPC",
        }
    }

    /// Whether it can strike there.
    fn strikes(self, call: &Call) -> bool {
        if self != Fault::Kill && !on_disk(&call.line) {
            return false;
        }
        let call = call.name.as_str();
        match self {
            // The address space is not a file: its failure is the loader's business.
            Fault::Eio => call != "mmap" && call != "getrandom",
            Fault::Kill => true,
            Fault::Enospc => ROOM.contains(&call),
        }
    }
}

/// One call of the undisturbed run.
#[derive(Debug, Clone)]
pub struct Call {
    pub name: String,
    /// Which of its name, from 1.
    pub nth: usize,
    /// As strace wrote it.
    pub line: String,
}

impl Call {
    /// Leaves the disk as it was, and no other process waits for it.
    fn looks(&self) -> bool {
        match self.name.as_str() {
            "openat" => !self.line.contains("O_CREAT") && !self.line.contains("O_TRUNC"),
            "read" | "pread64" | "close" => {
                let shared = ["<pipe:", "<socket:", "<UNIX", "<anon_inode:"];
                !shared.iter().any(|name| self.line.contains(name))
            }
            name => LOOKS.contains(&name),
        }
    }
}

/// What went wrong, by sort; each with the injection it happened at.
#[derive(Debug, Default)]
pub struct Tally {
    pub injections: usize,
    /// Calls that did not come, or not on a disk, in four runs.
    pub missed: usize,
    /// Runs that an error did not stop.
    pub survived: usize,
    /// Neither the state before nor the state after, or the view is not the log's.
    pub mixed: Vec<String>,
    /// A byte of the user's is gone.
    pub lost: Vec<String>,
    /// The next command does not work.
    pub stuck: Vec<String>,
    /// The exit code says something else than what happened.
    pub untrue: Vec<String>,
    /// The slowest recovery.
    pub slowest: Duration,
}

impl Tally {
    pub fn faults(&self) -> usize {
        self.mixed.len() + self.lost.len() + self.stuck.len() + self.untrue.len()
    }

    pub fn merge(&mut self, other: Tally) {
        self.injections += other.injections;
        self.missed += other.missed;
        self.survived += other.survived;
        self.mixed.extend(other.mixed);
        self.lost.extend(other.lost);
        self.stuck.extend(other.stuck);
        self.untrue.extend(other.untrue);
        self.slowest = self.slowest.max(other.slowest);
    }

    pub fn lists(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let lists = [
            ("mixed", &self.mixed),
            ("lost", &self.lost),
            ("stuck", &self.stuck),
            ("untrue", &self.untrue),
        ];
        lists
            .into_iter()
            .flat_map(|(sort, list)| list.iter().map(move |what| (sort, what)))
    }

    pub fn line(&self) -> String {
        format!(
            "{} injections ({} survived, {} missed), {} mixed, {} lost, {} stuck, {} untrue, slowest recovery {} ms",
            self.injections,
            self.survived,
            self.missed,
            self.mixed.len(),
            self.lost.len(),
            self.stuck.len(),
            self.untrue.len(),
            self.slowest.as_millis()
        )
    }
}

/// True when strace can inject faults here; says so when it cannot.
pub fn strace_works() -> bool {
    let works = Command::new("strace")
        .args([
            "-o",
            "/dev/null",
            "-e",
            "inject=close:error=EIO:when=9999",
            "true",
        ])
        .output()
        .is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: strace is not installed, or may not trace here");
    }
    works
}

/// The lines of the undisturbed run, paths relative to the repository.
pub fn list_calls(sandbox: &Sandbox, kind: &Kind) -> Vec<String> {
    calls(sandbox, kind)
        .into_iter()
        .map(|call| call.line)
        .collect()
}

/// The calls of the undisturbed run, from the first that names the repository.
fn calls(sandbox: &Sandbox, kind: &Kind) -> Vec<Call> {
    let dir = tempfile::tempdir_in(sandbox.path()).unwrap();
    let worktree = dir.path().join("w");
    copy_tree(&kind.prepared, &worktree);
    let log = dir.path().join("strace");
    let options = ["-y", "-s", "8", "-o", log.to_str().unwrap()];
    let mut traced = under_strace(sandbox, kind, &worktree, &options);
    assert!(
        feed(&mut traced, &kind.input).status.success(),
        "{}",
        kind.name
    );
    let text = std::fs::read(&log).unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let inside = worktree.to_str().unwrap();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut begun = false;
    let mut calls = Vec::new();
    for line in text.lines().skip(1) {
        begun |= line.contains(inside);
        let Some((name, _)) = line.split_once('(') else {
            continue;
        };
        let nth = seen.entry(name).or_default();
        *nth += 1;
        if begun && CALLS.contains(&name) {
            calls.push(Call {
                name: name.to_owned(),
                nth: *nth,
                line: line.replace(inside, ""),
            });
        }
    }
    calls
}

fn under_strace(sandbox: &Sandbox, kind: &Kind, dir: &Path, options: &[&str]) -> Command {
    let mut command = sandbox.command("strace", dir);
    command
        .args(options)
        .arg("--")
        .arg(env!("CARGO_BIN_EXE_cook"))
        .args(&kind.args)
        .envs(kind.env.iter().copied());
    command
}

/// Every call with every fault that can strike it. Calls that only look and follow one another find and
/// leave one state: cook is killed at the first of them alone.
pub fn points(sandbox: &Sandbox, kind: &Kind) -> Vec<(Call, Fault)> {
    let mut points = Vec::new();
    let mut looked = false;
    for call in calls(sandbox, kind) {
        let is_same = looked && call.looks();
        looked = call.looks();
        let faults = Fault::ALL.into_iter();
        let faults = faults.filter(|fault| fault.strikes(&call));
        points.extend(
            faults
                .filter(|fault| *fault != Fault::Kill || !is_same)
                .map(|fault| (call.clone(), fault)),
        );
    }
    points
}

/// Injects at these points, on so many threads.
pub fn sweep(sandbox: &Sandbox, kind: &Kind, points: &[&(Call, Fault)], threads: usize) -> Tally {
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((call, fault)) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = inject(sandbox, kind, call, *fault);
                    total.lock().unwrap().merge(tally);
                }
            });
        }
    });
    total.into_inner().unwrap()
}

/// One injection, with all that follows. How often a call is made varies a
/// little (a signal may or may not write to a pipe), so what was struck is read
/// back, and a fault that no disk has is not counted but tried again.
fn inject(sandbox: &Sandbox, kind: &Kind, call: &Call, fault: Fault) -> Tally {
    for _ in 0..4 {
        let dir = tempfile::tempdir_in(sandbox.path()).unwrap();
        let worktree = dir.path().join("w");
        copy_tree(&kind.prepared, &worktree);
        let log = dir.path().join("strace");
        let trace = format!("trace={}", call.name);
        let inject = format!("inject={}:{}:when={}", call.name, fault.strace(), call.nth);
        let options = [
            "-qq",
            "-y",
            "-s",
            "8",
            "-o",
            log.to_str().unwrap(),
            "-e",
            &trace,
            "-e",
            &inject,
        ];
        let mut command = under_strace(sandbox, kind, &worktree, &options);
        let output = feed_within(&mut command, &kind.input, HANG);
        let Some(struck) = find_struck(&log, fault) else {
            continue;
        };
        let case = Case {
            sandbox,
            kind,
            what: format!("{} {fault:?} at #{} {struck}", kind.name, call.nth)
                .replace(worktree.to_str().unwrap(), ""),
            dir: worktree,
            tally: Mutex::new(Tally {
                injections: 1,
                ..Tally::default()
            }),
        };
        match output {
            Some(output) => case.judge(&output, fault),
            None => case.note(|tally| &mut tally.stuck, "it hangs"),
        }
        return case.tally.into_inner().unwrap();
    }
    Tally {
        missed: 1,
        ..Tally::default()
    }
}

/// The call that was struck, when one was and such a fault can strike it.
fn find_struck(log: &Path, fault: Fault) -> Option<String> {
    let text = std::fs::read(log).unwrap();
    let text = String::from_utf8_lossy(&text);
    let mark = if fault == Fault::Kill {
        "= ?"
    } else {
        "(INJECTED)"
    };
    let line = text.lines().rev().find(|line| line.contains(mark))?;
    (fault == Fault::Kill || (on_disk(line) && !closes_directory(line))).then(|| line.to_owned())
}

/// Closing a directory reads and writes nothing, so no disk can fail it; the
/// standard library panics at such an answer.
fn closes_directory(line: &str) -> bool {
    line.split_once("close(")
        .and_then(|(_, rest)| rest.split_once('<'))
        .and_then(|(_, rest)| rest.split_once('>'))
        .is_some_and(|(path, _)| Path::new(path).is_dir())
}

/// A disk fails; pipes, sockets and `/proc` do not.
fn on_disk(line: &str) -> bool {
    let memory = ["<pipe:", "<socket:", "<UNIX", "<anon_inode:", "</proc/"];
    !memory.iter().any(|name| line.contains(name))
}

pub struct Case<'s> {
    pub sandbox: &'s Sandbox,
    pub kind: &'s Kind,
    pub dir: PathBuf,
    pub what: String,
    pub tally: Mutex<Tally>,
}

impl Case<'_> {
    pub fn note(&self, list: impl FnOnce(&mut Tally) -> &mut Vec<String>, what: &str) {
        let mut tally = self.tally.lock().unwrap();
        list(&mut tally).push(format!("{}: {what}", self.what));
    }

    /// As after a fault of its own: what is there is what it says.
    pub fn judge_killed_child(&self, output: &Output) {
        self.judge(output, Fault::Eio);
    }

    fn judge(&self, output: &Output, fault: Fault) {
        if self.kind.travels {
            return self.judge_travel(output);
        }
        let stand = self.stand();
        let Some(after) = stand else {
            return;
        };
        self.exit_code(output, fault, after);
        if after {
            self.tally.lock().unwrap().survived += usize::from(fault != Fault::Kill);
        }
        self.recover(after);
        self.nothing_lost(after);
    }

    /// True when the transition is in the log, false when it is not; anything else is mixed.
    fn stand(&self) -> Option<bool> {
        let found = std::panic::catch_unwind(|| Stand::of(&self.dir));
        match found {
            Ok(found) if found == self.kind.before => Some(false),
            Ok(Some(found)) if found == self.kind.after => Some(true),
            Ok(found) => {
                self.note(
                    |tally| &mut tally.mixed,
                    &format!("the log is neither before nor after: {found:?}"),
                );
                None
            }
            Err(_) => {
                self.note(|tally| &mut tally.mixed, "the log cannot be read");
                None
            }
        }
    }

    /// Success means that it happened, failure that it did not. (The answer goes
    /// to a pipe, where no disk's error strikes.)
    fn exit_code(&self, output: &Output, fault: Fault, after: bool) {
        if fault == Fault::Kill {
            return;
        }
        if output.status.success() != after {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            self.note(
                |tally| &mut tally.untrue,
                &format!(
                    "{:?} while the transition is {}: {said}",
                    output.status.code(),
                    if after { "there" } else { "not there" }
                ),
            );
        }
    }

    /// Readers answer, the next transition works, and then the view is the log's.
    fn recover(&self, after: bool) {
        let started = Instant::now();
        let begun = after || self.kind.before.is_some();
        let seq = if after {
            self.kind.after.seq
        } else {
            self.kind.before.as_ref().map_or(0, |stand| stand.seq)
        };
        for args in [["next", "--json"], ["status", "--json"]] {
            let output = self.cook(&args);
            // Without a log there is nothing to show: exit 3.
            if !(output.status.success() || !begun && output.status.code() == Some(3)) {
                self.note(
                    |tally| &mut tally.stuck,
                    &format!("{args:?}: {}", read_both_streams(&output)),
                );
            }
        }
        let next = self.next_transition(begun);
        let output = self.cook(next);
        let took = started.elapsed();
        if !output.status.success() {
            self.note(
                |tally| &mut tally.stuck,
                &format!("{next:?}: {}", read_both_streams(&output)),
            );
            return;
        }
        if took > PATIENCE {
            self.note(
                |tally| &mut tally.stuck,
                &format!("recovery took {} ms", took.as_millis()),
            );
        }
        let mut tally = self.tally.lock().unwrap();
        tally.slowest = tally.slowest.max(took);
        drop(tally);
        self.view_is_the_log(seq + 1, after);
    }

    fn view_is_the_log(&self, seq: u64, after: bool) {
        let Some(store) = store(&self.dir) else {
            self.note(|tally| &mut tally.mixed, "there is no log after recovery");
            return;
        };
        let tip = store.tip().unwrap().unwrap();
        if tip.seq != seq {
            self.note(
                |tally| &mut tally.mixed,
                &format!("after recovery the log is at {}, not {seq}", tip.seq),
            );
        }
        let report = store.fsck().unwrap();
        let edit_stands = self.kind.edit.is_some() && (!after || self.kind.name == "pause-edited");
        let others: Vec<_> = report
            .findings
            .iter()
            .filter(|finding| !(edit_stands && finding.message.contains("plan.json")))
            .collect();
        if !others.is_empty() {
            self.note(|tally| &mut tally.mixed, &format!("fsck: {others:?}"));
        }
        for file in ["state.json", "active-slice.json"] {
            let text = std::fs::read(self.dir.join(".agent").join(file)).unwrap_or_default();
            let shown: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
            if shown["revision"] != seq {
                self.note(
                    |tally| &mut tally.mixed,
                    &format!("{file} shows revision {}", shown["revision"]),
                );
            }
        }
    }

    /// The user's notes are as they were; an edited plan is in place, in the log
    /// or among the kept copies.
    fn nothing_lost(&self, after: bool) {
        let notes = std::fs::read_to_string(self.dir.join(".agent/backlog.md")).unwrap_or_default();
        if notes != NOTES {
            self.note(|tally| &mut tally.lost, "the user's notes");
        }
        let Some(edit) = &self.kind.edit else { return };
        let plan = std::fs::read(self.dir.join(".agent/plan.json")).unwrap_or_default();
        let adopted = after && self.kind.name == "adopt" && same_json(edit, &plan);
        let Some(store) = store(&self.dir) else {
            return;
        };
        let kept = store.rescue_list().unwrap().iter().any(|copy| {
            store
                .rescue_show(&copy.id, ".agent/plan.json")
                .is_ok_and(|bytes| &bytes == edit)
        });
        if !(adopted || kept || &plan == edit) {
            self.note(|tally| &mut tally.lost, "the edited plan");
        }
    }

    /// A transition that is open in the state the log is in.
    fn next_transition(&self, begun: bool) -> &'static [&'static str] {
        if !begun {
            return &["init", "--assurance", "strict", "--mission", MISSION];
        }
        match store(&self.dir).map(|store| store.snapshot().unwrap().state.continuation_policy) {
            Some(Policy::Continue) => &["pause", "after recovery"],
            Some(Policy::Done) => &["plan", "refocus", "--mission", "Something new", "--as-user"],
            _ => &["resume", "--as-user"],
        }
    }

    pub fn cook(&self, args: &[&str]) -> Output {
        let mut command = self.sandbox.cook(&self.dir);
        command.args(args);
        feed(&mut command, "")
    }
}

fn read_both_streams(output: &Output) -> String {
    format!(
        "{:?} {}",
        output.status.code(),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The edit with what cook sets itself (revision and the like) left out of account.
fn same_json(edit: &[u8], plan: &[u8]) -> bool {
    let read = |bytes| serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_default();
    read(edit)["plan_basis"] == read(plan)["plan_basis"]
}
