//! `cook status --watch`: lines in a pipe, and the status again in a terminal.
#![cfg(unix)]

use crate::support::agents::is_alive;
use crate::support::reports::slice;
use crate::support::{Repo, with_default_signals};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const BOUND: Duration = Duration::from_secs(60);
/// What clears a terminal.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

fn make_started() -> Repo {
    let repo = Repo::with_mission("a mission \u{202e}\u{1b}[2J");
    repo.plan_and_select(&[slice("one")]);
    repo
}

fn watching(repo: &Repo) -> (Child, Receiver<String>) {
    let mut command = repo.cook_command(&["status", "--watch"]);
    with_default_signals(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let out = child.stdout.take().unwrap();
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    (child, lines)
}

fn ends(mut child: Child) -> i32 {
    let began = Instant::now();
    while began.elapsed() < BOUND {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("it does not end");
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

#[test]
fn a_pipe_gets_a_line_for_each_transition_until_somebody_wants_to_go() {
    for asked in [Signal::SIGINT, Signal::SIGTERM] {
        let repo = make_started();
        let (child, lines) = watching(&repo);
        let first = lines.recv_timeout(BOUND).unwrap();
        assert!(first.contains(" regrounded by "), "{first}");
        repo.cook(&["pause", "for a while"]).ok();
        let second = lines.recv_timeout(BOUND).unwrap();
        assert!(second.contains(" paused by "), "{second}");
        assert!(lines.recv_timeout(Duration::from_millis(1500)).is_err());
        signal(&child, asked);
        assert_eq!(ends(child), 0);
    }
}

#[test]
fn a_pipe_ends_with_the_work_and_hostile_names_do_nothing() {
    let repo = make_started();
    let (child, lines) = watching(&repo);
    repo.work_until_done();
    assert_eq!(ends(child), 0);
    let told: Vec<String> = lines.iter().collect();
    let seqs: Vec<u64> = told
        .iter()
        .map(|line| line[1..].split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(seqs.windows(2).all(|two| two[0] + 1 == two[1]), "{told:#?}");
    let log = repo.cook(&["log", "-n", "1", "--json"]).ok().json();
    let newest = &log["worktrees"][0]["transitions"][0];
    assert_eq!(newest["seq"], *seqs.last().unwrap(), "{told:#?}");
    for line in &told {
        assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line:?}");
    }
    // The work is done: its last line, and that is all.
    let run = repo.cook(&["status", "--watch"]).ok();
    assert_eq!(run.out.lines().count(), 1, "{}", run.out);
    repo.cook(&["status", "--watch", "--json"])
        .exits(2)
        .says("cook log --json");
}

/// `cook status --watch` in a terminal that util-linux makes, after what the shell does before.
fn start_in_terminal(repo: &Repo, variables: &[(&str, &str)], before: &str) -> Option<Child> {
    let on_path = Command::new("script").arg("--version").output();
    if !on_path.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("util-linux")) {
        println!("skipped: no `script` of util-linux here");
        return None;
    }
    let cook = env!("CARGO_BIN_EXE_cook");
    let line = format!("{before} stty rows 24 cols 80; echo $$ >pid; exec '{cook}' status --watch");
    let mut command = repo.command("script");
    with_default_signals(&mut command);
    command.args([
        "-qec",
        &format!("sh -c \"{}\"", line.replace('$', "\\$")),
        "/dev/null",
    ]);
    command.env("TERM", "xterm").envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Some(command.spawn().unwrap())
}

#[test]
fn a_terminal_gets_the_status_again_when_it_changes() {
    let repo = make_started();
    let Some(mut child) = start_in_terminal(&repo, &[], "") else {
        return;
    };
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut sent = Vec::new();
        let _ = out.read_to_end(&mut sent);
        String::from_utf8_lossy(&sent).into_owned()
    });
    std::thread::sleep(Duration::from_secs(3));
    repo.cook(&["pause", "for a while"]).ok();
    std::thread::sleep(Duration::from_secs(3));
    let pid = repo.read("pid").trim().parse().unwrap();
    kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    ends(child);
    let sent = reader.join().unwrap();
    let looks: Vec<&str> = sent.split(CLEAR).skip(1).collect();
    assert!(looks.len() >= 2, "{sent:?}");
    assert!(looks.last().unwrap().contains("for a while"), "{sent:?}");
    assert!(!sent.contains('\u{202e}'), "{sent:?}");
}

#[test]
fn the_command_of_before_names_the_one_of_today() {
    let repo = make_started();
    repo.cook(&["watch"]).exits(2).says("cook status --watch");
}

/// As when a connection drops: the terminal ends, and whoever was started so that it outlives it
/// gets no signal.
#[test]
fn it_ends_with_its_terminal() {
    for before in ["", "trap '' HUP;"] {
        let repo = make_started();
        let Some(mut child) = start_in_terminal(&repo, &[], before) else {
            return;
        };
        std::thread::sleep(Duration::from_secs(3));
        let pid: u32 = repo.read("pid").trim().parse().unwrap();
        assert!(is_alive(pid), "{before}");
        child.kill().unwrap();
        child.wait().unwrap();
        let began = Instant::now();
        while is_alive(pid) {
            if began.elapsed() > BOUND {
                kill(Pid::from_raw(pid.try_into().unwrap()), Signal::SIGKILL).unwrap();
                panic!("it goes on without a terminal: {before:?}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
