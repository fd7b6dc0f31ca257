//! Guards of the hot path that count system calls, because times on a shared
//! machine say little: what `cook next` and a transition may touch, and that
//! neither grows with the repository or with the past.
//!
//! Without `strace` (or where tracing is forbidden) there is nothing to count with:
//! each test then says that it was skipped.

use crate::cost::scale::{Scale, cook_binary};
use cook::workspace::Workspace;
use cook_protocol::model::{Actor, Event};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// System calls of `cook next` when a slice waits for its implementer, the dynamic
/// loader's and the runtime's included (about 90), with room for another libc. Some 60 of them
/// look whether something that would hang git stands in the place of what it reads.
const NEXT_AT_MOST: usize = 470;

/// System calls of a hook on a tool event that links no commit.
const HOOK_AT_MOST: usize = 480;

/// System calls of one transition, all durability calls included.
const TRANSITION_AT_MOST: usize = 1_550;

/// Flushes of one transition that changes three documents and no history.
const FLUSHES_AT_MOST: usize = 24;

/// Processes of git in one session that only reads, with those that git starts itself: three looks at the worktree and
/// one under the lock, two at the index, two that hold and release refs, two that make the session's worktree.
const SESSION_ASKS_GIT_AT_MOST: usize = 10;

/// By how many calls two runs that do the same work may differ: allocation, waiting.
/// One reading of all twelve documents, 74 calls, comes and goes with the machine; growth
/// with 10,000 records or 100 transitions would be far above this.
const SLACK: usize = 90;

/// What one run asked of the kernel. A call that was interrupted and resumed counts once.
struct Trace {
    /// Calls of the program itself by name, without those of its threads and children,
    /// whose number depends on how they are scheduled.
    calls: BTreeMap<String, usize>,
    /// All calls.
    lines: Vec<String>,
}

impl Trace {
    /// Runs `cook` under strace; none when it cannot trace here.
    fn of(scale: &Scale, args: &[&str]) -> Option<Self> {
        Self::run_fed(scale, args, Stdio::null())
    }

    /// The same with something to read.
    fn run_fed(scale: &Scale, args: &[&str], input: Stdio) -> Option<Self> {
        if !can_trace() {
            eprintln!("skipped: strace is missing or may not trace here");
            return None;
        }
        let file = scale.root().parent().unwrap().join("trace");
        let output = scale
            .command("strace")
            .args(["-f", "-qq", "-e", "signal=none", "-o"])
            .arg(&file)
            .arg(cook_binary())
            .args(args)
            .stdin(input)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cook {args:?}: {said}");
        Some(Self::read(&std::fs::read_to_string(file).unwrap()))
    }

    fn read(text: &str) -> Self {
        let mut calls = BTreeMap::new();
        let mut lines = Vec::new();
        let mut own = None;
        for line in text.lines() {
            // `PID name(…) = …`; continuations begin with `<... name resumed>`.
            let (pid, call) = line.split_once(' ').unwrap();
            let call = call.trim_start();
            let Some((name, _)) = call.split_once('(').filter(|_| !call.starts_with('<')) else {
                continue;
            };
            // libgit2 asks whether each directory above is a link: as often as this one lies deep.
            if *own.get_or_insert(pid) == pid && name != "readlink" {
                *calls.entry(name.to_owned()).or_default() += 1;
            }
            lines.push(call.to_owned());
        }
        Self { calls, lines }
    }

    fn total(&self) -> usize {
        self.calls.values().sum()
    }

    fn count(&self, names: &[&str]) -> usize {
        names.iter().filter_map(|name| self.calls.get(*name)).sum()
    }

    /// Children, and children of children; threads are none.
    fn processes(&self) -> usize {
        let starts = |line: &&String| {
            ["fork(", "vfork(", "clone(", "clone3("]
                .iter()
                .any(|name| line.starts_with(name))
                && !line.contains("CLONE_THREAD")
        };
        self.lines.iter().filter(starts).count()
    }

    /// Programs of that name that were started, by anybody.
    fn starts(&self, program: &str) -> usize {
        let named = format!("/{program}\", [");
        let starts = |line: &&String| {
            line.starts_with("execve(\"") && line.contains(&named) && !line.contains(" = -1 ")
        };
        self.lines.iter().filter(starts).count()
    }

    fn threads(&self) -> usize {
        let starts = |line: &&String| line.contains("CLONE_THREAD");
        self.lines.iter().filter(starts).count()
    }

    fn flushes(&self) -> usize {
        self.count(&["fsync", "fdatasync", "sync", "syncfs", "sync_file_range"])
    }

    /// Calls that change a file system, and files opened for writing.
    fn writes(&self) -> Vec<&String> {
        const CHANGING: [&str; 20] = [
            "mkdir",
            "mkdirat",
            "rmdir",
            "rename",
            "renameat",
            "renameat2",
            "unlink",
            "unlinkat",
            "link",
            "linkat",
            "symlink",
            "symlinkat",
            "chmod",
            "fchmod",
            "fchmodat",
            "truncate",
            "ftruncate",
            "utimensat",
            "flock",
            "creat",
        ];
        let opens = |line: &str| {
            line.starts_with("open")
                && ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"]
                    .iter()
                    .any(|flag| line.contains(flag))
        };
        let changes = |line: &str| {
            line.split_once('(')
                .is_some_and(|(name, _)| CHANGING.contains(&name))
        };
        let lines = self.lines.iter();
        lines.filter(|line| opens(line) || changes(line)).collect()
    }
}

fn can_trace() -> bool {
    let traced = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    traced.is_ok_and(|status| status.success())
}

/// A slice waits for its implementer. The stamp is a moment younger than the files it
/// vouches for, so that their stat alone decides (see `store`'s checkout).
fn make_selected(files: usize) -> Scale {
    let scale = Scale::initialise(files);
    scale.select();
    settle(&scale);
    scale
}

/// A transition long enough after the last one that no file of the view shares a clock
/// tick with the stamp.
fn settle(scale: &Scale) {
    std::thread::sleep(std::time::Duration::from_millis(20));
    scale.cook(&["pause"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    scale.cook(&["resume", "--as-user"]);
}

/// The cheapest of a few pauses. A document written in the same tick of the file system's
/// clock as the stamp beside it is read again by the next command, and whether that
/// happens is the machine's to say.
fn cheapest_pause(scale: &Scale) -> Option<Trace> {
    let mut cheapest = Trace::of(scale, &["pause"])?;
    for _ in 0..4 {
        scale.cook(&["resume", "--as-user"]);
        settle(scale);
        let again = Trace::of(scale, &["pause"])?;
        if again.total() < cheapest.total() {
            cheapest = again;
        }
    }
    Some(cheapest)
}

#[test]
fn next_spawns_nothing_and_writes_nothing() {
    let scale = make_selected(10);
    let Some(trace) = Trace::of(&scale, &["next"]) else {
        return;
    };
    assert_eq!(trace.count(&["execve"]), 1, "{:#?}", trace.calls);
    assert_eq!(trace.processes(), 0, "{:#?}", trace.calls);
    assert_eq!(trace.threads(), 0);
    assert_eq!(trace.writes(), Vec::<&String>::new());
    assert_eq!(trace.flushes(), 0);
}

#[test]
fn next_asks_the_kernel_little() {
    let scale = make_selected(10);
    let Some(trace) = Trace::of(&scale, &["next"]) else {
        return;
    };
    eprintln!("cook next: {} system calls", trace.total());
    assert!(trace.total() <= NEXT_AT_MOST, "{:#?}", trace.calls);
}

#[test]
fn next_does_not_grow_with_the_repository() {
    let (small, large) = (make_selected(10), make_selected(1_000));
    let (Some(few), Some(many)) = (Trace::of(&small, &["next"]), Trace::of(&large, &["next"]))
    else {
        return;
    };
    assert_no_more(&few, &many);
}

#[test]
fn next_does_not_grow_with_the_past() {
    let scale = make_selected(10);
    let Some(young) = Trace::of(&scale, &["next"]) else {
        return;
    };
    scale.grow_log_to(scale.transitions() + 100);
    settle(&scale);
    let old = Trace::of(&scale, &["next"]).unwrap();
    assert_no_more(&young, &old);
}

#[test]
fn a_transition_costs_the_same_in_a_long_log() {
    let scale = make_selected(10);
    let Some(young) = cheapest_pause(&scale) else {
        return;
    };
    eprintln!(
        "a transition: {} system calls, {} flushes",
        young.total(),
        young.flushes()
    );
    // A pause writes down the worktree's state: git is asked once to judge, and once more
    // right before the commit.
    assert_eq!(young.processes(), 2, "{:#?}", young.lines);
    assert!(young.total() <= TRANSITION_AT_MOST, "{:#?}", young.calls);
    assert!(young.flushes() <= FLUSHES_AT_MOST, "{:#?}", young.calls);
    scale.cook(&["resume", "--as-user"]);
    // A hundred more, which ends with the workflow going on; loose objects are counted at
    // every 32nd transition, and this one is none of them.
    scale.grow_log_to(scale.transitions() + 100);
    settle(&scale);
    let old = cheapest_pause(&scale).unwrap();
    assert!(old.flushes() <= young.flushes(), "{:#?}", old.calls);
    assert_no_more(&young, &old);
}

#[test]
fn a_transition_costs_the_same_beside_long_histories() {
    let (short, long) = (Scale::with_records(10), Scale::with_records(10_000));
    for scale in [&short, &long] {
        settle(scale);
    }
    let (Some(few), Some(many)) = (cheapest_pause(&short), cheapest_pause(&long)) else {
        return;
    };
    assert!(many.flushes() <= few.flushes(), "{:#?}", many.calls);
    assert_no_more(&few, &many);
}

#[test]
fn a_session_asks_git_little() {
    let scale = Scale::with_planners(10);
    let run = |agent| Trace::of(&scale, &["run", "--once", "--yes", "--agent", agent]);
    let seq = scale.transitions();
    let Some(trace) = run("one") else {
        return;
    };
    assert_eq!(scale.transitions(), seq + 1, "its report was recorded");
    let asked = trace.starts("git");
    eprintln!(
        "a session: {asked} processes of git, {} flushes",
        trace.flushes()
    );
    assert!(asked > 0, "{:#?}", trace.calls);
    assert!(asked <= SESSION_ASKS_GIT_AT_MOST, "{asked}");
}

/// A decision that took what `git status` said a moment ago is taken again where that is not so any more.
#[test]
fn what_is_recorded_is_what_stands_under_the_lock() {
    let scale = Scale::initialise(10);
    let mut workspace = Workspace::open(&scale.root()).unwrap();
    workspace.worktree_stays = true;
    assert!(workspace.repo.status().unwrap().worktree.is_clean());
    std::fs::write(scale.root().join("meanwhile.txt"), "new\n").unwrap();
    assert!(workspace.repo.recent_status().unwrap().worktree.is_clean());
    let event = Event::Paused {
        why: "a look".to_owned(),
    };
    cook::service::transition(&workspace, &event, Actor::Script).unwrap();
    let id = std::fs::read_to_string(scale.root().join(".git/cook-id")).unwrap();
    let mut git = scale.command("git");
    git.arg("--git-dir")
        .arg(scale.root().join(".git/cook/log.git"));
    let shown = git
        .args(["show", &format!("{}:event.json", id.trim())])
        .output()
        .unwrap();
    let event: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let dirty = event["facts"]["worktree"]["dirty"].as_array().unwrap();
    assert!(dirty.contains(&"meanwhile.txt".into()), "{dirty:?}");
}

/// A hook of Claude Code on a tool call, after the session has started and made a commit.
fn on_a_tool(scale: &Scale, event: &str) -> Option<Trace> {
    let path = scale.root().parent().unwrap().join("event.json");
    let feed = |name: &str, id: u64| {
        let root = scale.root();
        let event = format!(
            "{{\"hook_event_name\":\"{name}\",\"session_id\":\"s\",\"cwd\":{root:?},\"tool_name\":\"Read\",\
             \"tool_use_id\":\"{id}\",\"tool_input\":{{\"file_path\":\"x\"}}}}"
        );
        std::fs::write(&path, event).unwrap();
        Stdio::from(std::fs::File::open(&path).unwrap())
    };
    Trace::run_fed(scale, &["hook", "claude"], feed("SessionStart", 1))?;
    Trace::run_fed(scale, &["hook", "claude"], feed("PostToolUse", 2))?;
    Trace::run_fed(scale, &["hook", "claude"], feed(event, 3))
}

#[test]
fn a_hook_on_a_tool_event_starts_nothing_and_asks_the_kernel_little() {
    let scale = make_selected(10);
    let Some(before) = on_a_tool(&scale, "PreToolUse") else {
        return;
    };
    eprintln!("before a tool: {} system calls", before.total());
    assert_eq!(
        (before.processes(), before.threads(), before.flushes()),
        (0, 0, 0)
    );
    // The scratch directory is there, the lock is taken; nothing is written.
    assert_eq!(before.writes().len(), 3, "{:#?}", before.writes());
    assert!(before.total() <= HOOK_AT_MOST, "{:#?}", before.calls);
    let after = on_a_tool(&scale, "PostToolUse").unwrap();
    eprintln!("after a tool: {} system calls", after.total());
    assert_eq!(
        (after.processes(), after.threads(), after.flushes()),
        (0, 0, 0)
    );
    assert!(after.total() <= HOOK_AT_MOST, "{:#?}", after.calls);
}

#[test]
fn a_hook_does_not_grow_with_the_repository() {
    let (small, large) = (make_selected(10), make_selected(1_000));
    for event in ["PreToolUse", "PostToolUse", "PostToolBatch"] {
        let (Some(few), Some(many)) = (on_a_tool(&small, event), on_a_tool(&large, event)) else {
            return;
        };
        assert_no_more(&few, &many);
    }
}

/// No more work beside the larger one. It may be less: a young log has directories of
/// objects yet to make.
fn assert_no_more(small: &Trace, large: &Trace) {
    assert!(
        large.total() <= small.total() + SLACK,
        "{} against {} system calls: {:#?} {:#?}",
        small.total(),
        large.total(),
        small.calls,
        large.calls
    );
}
