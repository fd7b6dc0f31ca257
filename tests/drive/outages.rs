//! A job of many hours, made short. What interrupts its sessions is mostly not the agent's doing: the run
//! waits, or ends with what happened and the way on.

use crate::drive::base::Job;
use crate::drive::{AGENTS, PATIENCE};
use crate::support::{Run, run_alone, with_default_signals};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What interrupts the sessions, one after another; `-` = nothing. Those after the last go well.
const OUTAGES: &str =
    "offline - until - login login - overload - crash crash - removed network - model - -";

/// What a user reads of each, and whether the run ends with it.
const TOLD: [(&str, &str, bool); 8] = [
    ("offline", "connect ECONNREFUSED 127.0.0.1:1", true),
    ("until", "usage limit reached", false),
    ("login", "Not logged in. Please run /login", true),
    ("overload", "529 overloaded, try again in 1s", false),
    ("network", "connect ECONNRESET 127.0.0.1:1", false),
    ("model", "unknown model: gpt-0", true),
    ("crash", "it was ended by signal 9", false),
    ("removed", "`away-agent` was not found", false),
];

/// A job whose agent is on PATH alone, and the place there.
fn prepare(outages: &str) -> (Job, PathBuf) {
    let tables = AGENTS.replace("LIMITED", "away-agent");
    let job = Job::with(&format!(
        "{tables}\n[roles.default]\nagent = \"limited\"\ntimeout = \"60s\"\n"
    ));
    let bin = job.state.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let cook = Path::new(env!("CARGO_BIN_EXE_cook")).parent().unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", bin.display(), cook.display());
    job.repo.extra.borrow_mut().push(("PATH".to_owned(), path));
    let words: Vec<&str> = outages.split_whitespace().collect();
    std::fs::write(job.state.join("outages"), words.join("\n") + "\n").unwrap();
    let agent = bin.join("away-agent");
    install(&agent);
    (job, agent)
}

fn install(agent: &Path) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/limited.sh");
    std::os::unix::fs::symlink(program, agent).unwrap();
}

fn list_met(job: &Job) -> Vec<String> {
    let text = std::fs::read_to_string(job.state.join("outages.met")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// As a user runs it, with a clock that goes on. An agent that is gone, and missed, comes back, as after an update.
fn run(job: &Job, agent: &Path) -> Run {
    let mut status = job.repo.cook_command(&["status", "--json"]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
                if agent.exists() {
                    continue;
                }
                let said = status.output().unwrap().stdout;
                let said: Value = serde_json::from_slice(&said).unwrap();
                if said["run"]["waits_until"].is_string() {
                    install(agent);
                }
            }
        });
        let run = run_alone(job.repo.cook_command(&["run"]).env_remove("COOK_NOW"));
        is_over.store(true, Ordering::Relaxed);
        run
    })
}

#[test]
fn a_run_through_outages_ends_done_and_each_end_says_why_and_how_to_go_on() {
    let (job, agent) = prepare(OUTAGES);
    let mut said = String::new();
    let mut ends = Vec::new();
    loop {
        let run = run(&job, &agent);
        let text = format!("{}{}", run.out, run.err);
        said.push_str(&text);
        match run.code {
            0 => break,
            5 => {
                let last = list_met(&job).pop().unwrap();
                let (name, words, _) = TOLD.iter().find(|(name, ..)| *name == last).unwrap();
                assert!(text.contains(words), "{name}: {text}");
                assert!(text.contains("`cook doctor agents`"), "{name}: {text}");
                ends.push(last);
            }
            code => panic!("{code}: {text}"),
        }
    }
    let met = list_met(&job);
    assert_eq!(
        met.join(" "),
        OUTAGES.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let is_end = |word: &&String| TOLD.iter().any(|(name, _, ends)| name == word && *ends);
    let expected: Vec<&String> = met.iter().filter(is_end).collect();
    assert_eq!(ends.iter().collect::<Vec<_>>(), expected, "{said}");
    for (name, words, _) in TOLD {
        let times = met.iter().filter(|word| *word == name).count();
        assert!(said.matches(words).count() >= times, "{name}: {said}");
    }
    // Each is one call with its class, and whose fault it was is told.
    let calls = job
        .repo
        .cook(&["session", "log", "-n", "200", "--json"])
        .exits(0)
        .json();
    let calls = calls["calls"].as_array().unwrap();
    let failed = |class: &str| {
        let of_class = calls.iter().filter(|call| call["call"]["class"] == class);
        of_class.count()
    };
    let count = |name: &str| met.iter().filter(|word| *word == name).count();
    let all: usize = TOLD.iter().map(|(name, ..)| count(name)).sum();
    assert_eq!(failed("config"), count("model"), "{calls:?}");
    assert_eq!(failed("agent"), count("crash"), "{calls:?}");
    let outside = all - count("model") - count("crash");
    assert_eq!(failed("environment"), outside, "{calls:?}");
    job.is_done();
}

#[test]
fn a_network_that_was_there_is_waited_for() {
    let (job, _) = prepare("- offline");
    let mut command = job.repo.cook_command(&["run"]);
    let errors = std::fs::File::create(job.state.join("err")).unwrap();
    command.stderr(errors).stdout(std::process::Stdio::null());
    let mut child = with_default_signals(&mut command).spawn().unwrap();
    let started = Instant::now();
    let until = loop {
        let status = job.repo.cook(&["status", "--json"]).exits(0).json();
        if let Some(until) = status["run"]["waits_until"].as_str() {
            break until.to_owned();
        }
        assert!(started.elapsed() < PATIENCE, "it waits");
        std::thread::sleep(Duration::from_millis(50));
    };
    let pid = child.id().to_string();
    let ended = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(ended.unwrap().success());
    child.wait().unwrap();
    let said = std::fs::read_to_string(job.state.join("err")).unwrap();
    assert!(said.contains("connect ECONNREFUSED 127.0.0.1:1"), "{said}");
    assert!(
        said.contains(&format!("waiting until {until} to try again")),
        "{said}"
    );
    // Half a minute, and a second for the fraction.
    assert_eq!(until, "2026-01-02T03:04:36Z");
    job.repo.cook(&["run", "--steps", "1"]).exits(13);
    assert_eq!(job.calls(), ["regrounder", "implementer"]);
}
