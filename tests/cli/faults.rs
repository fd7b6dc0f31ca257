//! A system that fails: no thread or process left for this user, calls that end in an error, signals at
//! any time. Every command ends soon, with an error of a code where it could not do its work.
#![cfg(target_os = "linux")]

use crate::support::agents::{Scripted, is_alive, settle, wait_for, wait_for_pid};
use crate::support::{COOK, Repo, Run, run_alone, with_default_signals};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const COMMANDS: [&[&str]; 12] = [
    &["next"],
    &["status"],
    &["record", "implementer", "-"],
    &["gate"],
    &["doctor", "rescue", "list"],
    &["verify"],
    &["doctor", "fsck"],
    &["init"],
    &["pause", "lunch"],
    &["say", "hello"],
    &["log"],
    &["brief", "show"],
];

/// How a command ended that met a failing system; none when that is as it should be.
fn wrong(run: &Run) -> Option<String> {
    let is_error = run.err.contains("error[") || run.err.contains("\nerror");
    // The loader comes before cook, and the shell's own words before that.
    let never_began = run.err.contains("error while loading shared libraries")
        || run.err.contains("Cannot fork")
        || run.code == 127;
    // It was its own words that could not be written.
    let unheard = run.err.is_empty() && run.out.is_empty();
    let panicked = run.err.contains("panicked") || matches!(run.code, 101 | 134);
    let why = match run.code {
        _ if panicked => "it panicked",
        124 | 137 => "it hung",
        -1 => "a signal ended it",
        0 if unheard => "its answer was lost, and it ends with 0",
        3 if !is_error && !unheard => "no code",
        _ if never_began => return None,
        code if !(0..=12).contains(&code) => "an exit code of no meaning",
        _ => return None,
    };
    Some(format!("{why} ({}): {}\n{}", run.code, run.line, run.err))
}

fn strace_works() -> bool {
    let inject = "inject=close:error=EIO:when=9999";
    let mut strace = Command::new("strace");
    let works = strace
        .args(["-o", "/dev/null", "-e", inject, "true"])
        .output();
    let works = works.is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: strace is not installed, or may not trace here");
    }
    works
}

/// `COOK_FAULTS=40` tries the first 40 of each call, and every error (`proofs/faults.sh`).
#[test]
fn a_failing_call_ends_every_command_with_a_code() {
    if !strace_works() {
        return;
    }
    let repo = Repo::with_commit();
    repo.cook(&["gate"]).exits(0);
    let before = repo.beside("before");
    let all = std::env::var("COOK_FAULTS").ok();
    let most: usize = all.as_deref().map_or(1, |most| most.parse().unwrap());
    let errors: &[&str] = match all {
        Some(_) => &["EIO", "ENOSPC", "EINTR", "EAGAIN"],
        None => &["EIO"],
    };
    let calls: &[(&str, usize)] = match all {
        Some(_) => &[
            ("write", 0),
            ("read", 0),
            ("openat", 0),
            ("clone3", 0),
            // The first one is the language's own, before anything of cook's runs.
            ("poll", 1),
        ],
        // The first ones of the others are the loader's.
        None => &[("write", 0), ("read", 6)],
    };
    let copy = |from: &Path, to: &Path| {
        let _ = std::fs::remove_dir_all(to);
        let mut cp = Command::new("cp");
        assert!(cp.arg("-a").arg(from).arg(to).status().unwrap().success());
    };
    copy(&repo.root, &before);
    let mut found = Vec::new();
    for (call, first) in calls {
        for error in errors {
            for nth in first + 1..=first + most {
                for arguments in COMMANDS {
                    let inject = format!("inject={call}:error={error}:when={nth}");
                    let mut command = repo.command("timeout");
                    command
                        .args(["-s", "KILL", "10", "strace", "-f", "-qq", "-o", "/dev/null"])
                        .args(["-e", &format!("trace={call}"), "-e", &inject, COOK])
                        .args(arguments);
                    let run = run_alone(&mut command);
                    found.extend(wrong(&run));
                }
                copy(&before, &repo.root);
            }
        }
    }
    assert!(found.is_empty(), "{}: {found:#?}", found.len());
}

/// How long cook may take to end after a signal.
const SOON: Duration = Duration::from_secs(5);

/// Starts cook, sends it a signal when it is where it should be, and sees it end.
fn ends(command: &mut Command, is_there: impl Fn() -> bool, signals: &[Signal]) -> ExitStatus {
    with_default_signals(command);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| is_there().then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it is not at work");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    for signal in signals {
        kill(pid, *signal).unwrap();
        std::thread::sleep(Duration::from_millis(200));
    }
    let sent = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if sent.elapsed() > SOON {
            child.kill().unwrap();
            panic!("{signals:?} did not end {command:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_signals_end_a_run_whose_agent_hangs_and_takes_no_notice() {
    let repo = Repo::with_selection();
    let agent = Scripted::new(&repo.beside("agents"), "one", "claude");
    let (pid, settings) = (repo.beside("pid"), repo.read(".agent/cook.toml"));
    agent.plays(json!([{"pid": pid}, {"ignore": ["TERM", "INT"]}, {"hang": null}]));
    settle(&repo, &[agent], &settings);
    repo.commit("Let one play", None);
    repo.cook(&["init", "--as-user"]).exits(0);
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut run = repo.cook_command(&["run", "--agent", "one"]);
        run.stdin(Stdio::null());
        ends(&mut run, || pid.exists(), &[signal, signal]);
        assert!(!is_alive(wait_for_pid(&pid)));
        std::fs::remove_file(&pid).unwrap();
    }
    repo.cook(&["next"]).exits(0);
}

#[test]
fn a_signal_ends_cook_while_it_reads_waits_or_asks_git() {
    let repo = Repo::with_commit();
    let fifo = repo.beside("fifo");
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    let bin = repo.beside("bin");
    std::fs::create_dir(&bin).unwrap();
    let asked = repo.beside("asked");
    let git = format!("#!/bin/sh\ntouch {}\nexec sleep 600\n", asked.display());
    std::fs::write(bin.join("git"), git).unwrap();
    run_alone(repo.command("chmod").arg("755").arg(bin.join("git"))).ok();
    let lock = std::fs::File::open(repo.root.join(".git/cook/lock")).unwrap();
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let ended_by = |status: ExitStatus| assert_eq!(status.signal(), Some(signal as i32));
        let mut named = repo.cook_command(&["record", "reviewer"]);
        named.arg(&fifo);
        ended_by(ends(named.stdin(Stdio::null()), || true, &[signal]));
        let mut piped = repo.cook_command(&["record", "reviewer", "-"]);
        ended_by(ends(piped.stdin(Stdio::piped()), || true, &[signal]));
        let mut asking = repo.cook_command(&["verify", "control-plane"]);
        let path = format!("{}:/usr/bin:/bin", bin.display());
        asking.env("PATH", path).stdin(Stdio::null());
        ended_by(ends(&mut asking, || asked.exists(), &[signal]));
        std::fs::remove_file(&asked).unwrap();
        lock.lock().unwrap();
        let mut waiting = repo.cook_command(&["pause"]);
        ended_by(ends(waiting.stdin(Stdio::null()), || true, &[signal]));
        lock.unlock().unwrap();
    }
    repo.cook(&["pause"]).exits(0);
}
