//! The table of `docs/performance.md`, made in one run: `cargo bench --bench table`.
//!
//! Whole processes are measured, by turns, so that what else the machine does falls
//! on all of them alike. The minimum of many runs is printed: wall time, and the
//! processor time of the process with its children. `-- --quick` builds smaller
//! repositories, for trying the bench itself; `-- --hooks` measures the hooks alone, `-- --steps`
//! the steps of the run loop, `-- --rooms` gates in clean rooms.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

mod rooms;
mod scale;

use scale::{Scale, cook_binary};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How large, and how often.
struct Size {
    files: [usize; 2],
    /// Odd: the work then goes on, and a pause is possible.
    transitions: [u64; 3],
    /// The last for verification alone.
    records: [u64; 3],
    runs: usize,
}

const FULL: Size = Size {
    files: [1_000, 100_000],
    transitions: [1, 1_001, 10_001],
    records: [1_000, 100_000, 1_000_000],
    runs: 200,
};

const QUICK: Size = Size {
    files: [100, 1_000],
    transitions: [1, 101, 401],
    records: [100, 1_000, 10_000],
    runs: 20,
};

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let size = if quick { QUICK } else { FULL };
    let only = |name: &str| std::env::args().any(|argument| argument == name);
    let scratch = tempfile::tempdir().unwrap();
    let floor = empty_program(scratch.path());
    if only("--rooms") {
        return gates(&size);
    }
    if !only("--steps") {
        for files in size.files {
            hooks(&floor, files, size.runs);
        }
    }
    if only("--hooks") {
        return;
    }
    stepping(&size);
    if only("--steps") {
        return;
    }
    for files in size.files {
        reading(&floor, files, size.runs);
    }
    let logs = transitions(&size);
    verifying(&size, logs);
    initialising(size.files[0], size.runs / 10);
    gates(&size);
}

/// Gates in clean rooms.
fn gates(size: &Size) {
    for files in size.files {
        let runs = if files > 10_000 { 10 } else { size.runs / 5 };
        rooms::rooms(files, runs);
    }
}

/// An empty Rust program: what starting a process costs.
fn empty_program(dir: &Path) -> PathBuf {
    let (source, program) = (dir.join("floor.rs"), dir.join("floor"));
    std::fs::write(&source, "fn main() {}\n").unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["-O", "-o"])
        .args([&program, &source])
        .status();
    assert!(built.unwrap().success());
    program
}

/// The cheapest of several runs.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
}

impl Cost {
    const NONE: Cost = Cost {
        wall: Duration::MAX,
        cpu: Duration::MAX,
    };

    fn least(self, other: Cost) -> Cost {
        Cost {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
        }
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// One run, which must succeed.
fn run(mut command: Command) -> Cost {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let before = children_cpu();
    let started = Instant::now();
    let status = command.status().unwrap();
    let wall = started.elapsed();
    let cpu = children_cpu().saturating_sub(before);
    assert!(status.success(), "{command:?}: {status}");
    Cost { wall, cpu }
}

/// Processor time of all children that have ended.
fn children_cpu() -> Duration {
    use nix::libc;
    // SAFETY: an all-zero `rusage` is a valid value, and the call only fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage), 0);
        usage
    };
    [usage.ru_utime, usage.ru_stime]
        .into_iter()
        .map(|time| {
            Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
        })
        .sum()
}

/// Runs each command once, then each again, and so on.
fn by_turns(runs: usize, commands: &[&dyn Fn() -> Command]) -> Vec<Cost> {
    let mut costs = vec![Cost::NONE; commands.len()];
    for _ in 0..runs {
        for (cost, command) in costs.iter_mut().zip(commands) {
            *cost = cost.least(run(command()));
        }
    }
    costs
}

/// Process start, `cook next` with and without cleanliness, `git status`.
fn reading(floor: &Path, files: usize, runs: usize) {
    let working = Scale::initialise(files);
    working.select();
    let between = Scale::initialise(files);
    between.plan_only();
    let cook = |scale: &Scale, argument: &str| {
        let mut command = scale.command(cook_binary());
        command.arg(argument);
        command
    };
    let git = |arguments: &[&str]| {
        let mut command = between.command("git");
        command.args(arguments);
        command
    };
    let status = [
        "--no-optional-locks",
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=normal",
    ];
    let names = [
        "an empty Rust process",
        "`cook --version`",
        "`cook next`, a slice in work",
        "`cook status`, a slice in work",
        "`git status --porcelain`",
        "`git --no-optional-locks status --porcelain=v2 -z`",
        "`cook next`, cleanliness decides",
    ];
    let runs = if files > 10_000 { runs / 5 } else { runs };
    let costs = by_turns(
        runs,
        &[
            &|| Command::new(floor),
            &|| cook(&working, "--version"),
            &|| cook(&working, "next"),
            &|| cook(&working, "status"),
            &|| git(&["status", "--porcelain"]),
            &|| git(&status),
            &|| cook(&between, "next"),
        ],
    );
    println!("\n### {files} files, minimum of {runs} runs\n");
    println!(
        "| process | wall ms | processor ms | wall over the empty process, ms | wall against `git status --porcelain` |"
    );
    println!("|---|---|---|---|---|");
    for (name, cost) in names.iter().zip(&costs) {
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} |",
            millis(cost.wall),
            millis(cost.cpu),
            millis(cost.wall.saturating_sub(costs[0].wall)),
            cost.wall.as_secs_f64() / costs[4].wall.as_secs_f64(),
        );
    }
}

/// Each lifecycle event of one session of Claude Code that owns a slice in work.
fn hooks(floor: &Path, files: usize, runs: usize) {
    const EVENTS: [(&str, &str); 8] = [
        ("UserPromptSubmit", r#""prompt":"go on""#),
        (
            "PreToolUse",
            r#""tool_name":"Read","tool_input":{"file_path":"x"}"#,
        ),
        (
            "PostToolUse",
            r#""tool_name":"Read","tool_input":{"file_path":"x"}"#,
        ),
        (
            "PostToolUse",
            r#""tool_name":"Write","tool_input":{"file_path":"x"}"#,
        ),
        ("PostToolBatch", ""),
        ("PreCompact", r#""trigger":"auto""#),
        ("Stop", ""),
        ("SessionStart", r#""source":"resume""#),
    ];
    let scale = Scale::initialise(files);
    scale.select();
    let count = Cell::new(0);
    // No event twice: the second delivery of one does nothing.
    let hook = |name: &str, fields: &str| {
        count.set(count.get() + 1);
        let comma = if fields.is_empty() { "" } else { "," };
        let event = format!(
            "{{\"hook_event_name\":\"{name}\",\"session_id\":\"s\",\"cwd\":{:?},\"tool_use_id\":\"{}\"{comma}{fields}}}",
            scale.root(),
            count.get()
        );
        let path = scale.root().parent().unwrap().join("event.json");
        std::fs::write(&path, event).unwrap();
        let mut command = scale.command(cook_binary());
        command
            .args(["hook", "claude"])
            .stdin(std::fs::File::open(path).unwrap());
        command
    };
    run(hook("SessionStart", r#""source":"startup""#));
    scale.cook(&["hooks", "attach", "s"]);
    let version = || {
        let mut command = scale.command(cook_binary());
        command.arg("--version");
        command
    };
    let events: Vec<Box<dyn Fn() -> Command + '_>> = EVENTS
        .iter()
        .map(|(name, fields)| {
            let hook = &hook;
            Box::new(move || hook(name, fields)) as Box<dyn Fn() -> Command>
        })
        .collect();
    let empty = || Command::new(floor);
    let mut commands: Vec<&dyn Fn() -> Command> = vec![&empty, &version];
    commands.extend(events.iter().map(AsRef::as_ref));
    let runs = if files > 10_000 { runs / 5 } else { runs };
    let costs = by_turns(runs, &commands);
    println!("\n### Hooks, {files} files, minimum of {runs} runs\n");
    println!("| event | wall ms | processor ms | wall over `cook --version`, ms |");
    println!("|---|---|---|---|");
    let tools = ["", "", "", " that reads", " that reads", " that writes"];
    let names = ["an empty Rust process", "`cook --version`"]
        .into_iter()
        .chain(EVENTS.iter().map(|(name, _)| *name));
    for (at, (name, cost)) in names.zip(&costs).enumerate() {
        println!(
            "| {name}{} | {:.2} | {:.2} | {:.2} |",
            tools.get(at).unwrap_or(&""),
            millis(cost.wall),
            millis(cost.cpu),
            millis(cost.wall.saturating_sub(costs[1].wall)),
        );
    }
}

/// `cook run --once` with an agent who answers at once: what a step takes beside its agent.
fn stepping(size: &Size) {
    println!(
        "\n### `cook run --once`, minimum of {} runs\n",
        size.runs / 5
    );
    println!(
        "| files | the agent alone: wall ms | `cook pause` | `cook run --once` | of it cook's: wall ms | processor ms |"
    );
    println!("|---|---|---|---|---|---|");
    for files in size.files {
        let scale = Scale::with_planners(files);
        let turn = Cell::new(false);
        let next = || {
            turn.set(!turn.get());
            if turn.get() { "one" } else { "two" }
        };
        let agent = || {
            let mut command = scale.command("/bin/cat");
            command.arg(scale.planners_report("one"));
            command
        };
        let step = || {
            let mut command = scale.command(cook_binary());
            command.args(["run", "--once", "--yes", "--agent", next()]);
            command
        };
        let door = |words: &'static [&'static str]| {
            let scale = &scale;
            move || {
                let mut command = scale.command(cook_binary());
                command.args(words);
                command
            }
        };
        let (pause, resume) = (door(&["pause"]), door(&["resume", "--as-user"]));
        let costs = by_turns(size.runs / 5, &[&agent, &step, &pause, &resume]);
        let [agent, step, pause] = [costs[0], costs[1], costs[2]];
        println!(
            "| {files} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            millis(agent.wall),
            millis(pause.wall),
            millis(step.wall),
            millis(step.wall.saturating_sub(agent.wall)),
            millis(step.cpu.saturating_sub(agent.cpu)),
        );
    }
}

/// A transition in logs of different length, which are returned.
fn transitions(size: &Size) -> Vec<(String, Scale)> {
    let mut logs: Vec<(String, Scale)> = Vec::new();
    for transitions in size.transitions {
        let scale = Scale::initialise(10);
        scale.grow_log_to(transitions);
        logs.push((format!("{transitions} transitions"), scale));
    }
    for records in &size.records[..2] {
        let imported = Scale::with_records(*records);
        logs.push((format!("1 transition, {records} history records"), imported));
    }
    let door = |scale: &Scale, door: &[&str]| {
        let mut command = scale.command(cook_binary());
        command.args(door);
        command
    };
    // Fewer than the log's packing interval, so that bytes are those of the objects alone.
    let pairs = 5;
    let before: Vec<u64> = logs.iter().map(|(_, scale)| scale.log_bytes()).collect();
    let mut costs = vec![[Cost::NONE; 2]; logs.len()];
    let mut bytes = vec![0; logs.len()];
    for turn in 0..size.runs / 5 {
        for ((_, scale), cost) in logs.iter().zip(&mut costs) {
            cost[0] = cost[0].least(run(door(scale, &["pause"])));
            cost[1] = cost[1].least(run(door(scale, &["resume", "--as-user"])));
        }
        if turn + 1 == pairs {
            for (index, (_, scale)) in logs.iter().enumerate() {
                bytes[index] = (scale.log_bytes() - before[index]) / (2 * pairs as u64);
            }
        }
    }
    println!("\n### One transition, minimum of {} runs\n", size.runs / 5);
    println!(
        "| the log holds | pause: wall ms | processor ms | resume: wall ms | processor ms | bytes a transition |"
    );
    println!("|---|---|---|---|---|---|");
    for (((name, _), [pause, resume]), bytes) in logs.iter().zip(&costs).zip(&bytes) {
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {bytes} |",
            millis(pause.wall),
            millis(pause.cpu),
            millis(resume.wall),
            millis(resume.cpu)
        );
    }
    logs
}

/// `cook verify control-plane` on many transitions, and on many records.
fn verifying(size: &Size, mut logs: Vec<(String, Scale)>) {
    let records = size.records[2];
    let many = Scale::with_old_layout(records);
    let mut init = many.command(cook_binary());
    init.args([
        "init",
        "--assurance",
        "strict",
        "--mission",
        scale::MISSION,
        "--commit",
    ]);
    let taken_over = run(init);
    let name = format!("1 transition, {records} history records");
    logs.push((name, many));
    println!("\n### `cook verify control-plane`, minimum of 5 runs\n");
    println!(
        "| built with | transitions now | history MB | wall s | processor s | history MB a processor second |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, scale) in &logs {
        time_verify(name, &scale.transitions().to_string(), scale);
    }
    if let Some((_, many)) = logs.last() {
        many.forget_log();
        time_verify(&format!("{records} history records, no log"), "none", many);
    }
    println!("\n### `cook init` taking {records} history records over, one run\n");
    println!(
        "{:.1} s wall, {:.1} s processor",
        taken_over.wall.as_secs_f64(),
        taken_over.cpu.as_secs_f64()
    );
}

/// One row.
fn time_verify(name: &str, transitions: &str, scale: &Scale) {
    let mut cost = Cost::NONE;
    for _ in 0..5 {
        let mut command = scale.command(cook_binary());
        command.args(["verify", "control-plane"]);
        cost = cost.least(run(command));
    }
    let megabytes = scale.history_bytes() as f64 / 1e6;
    println!(
        "| {name} | {transitions} | {megabytes:.1} | {:.3} | {:.3} | {:.0} |",
        cost.wall.as_secs_f64(),
        cost.cpu.as_secs_f64(),
        megabytes / cost.cpu.as_secs_f64()
    );
}

/// `cook init` in a fresh repository, each run in another.
fn initialising(files: usize, runs: usize) {
    let mut cost = Cost::NONE;
    for _ in 0..runs {
        let scale = Scale::with_files(files);
        let mut command = scale.command(cook_binary());
        command.args(["init", "--assurance", "strict", "--mission", scale::MISSION]);
        cost = cost.least(run(command));
    }
    println!("\n### `cook init` in {files} files, minimum of {runs} runs\n");
    println!(
        "{:.1} ms wall, {:.1} ms processor",
        millis(cost.wall),
        millis(cost.cpu)
    );
}
