//! A job of many hours, made short. What interrupts its sessions is mostly not the agent's doing: the run
//! waits, or ends with what happened and the way on.

use crate::drive::base::Job;
use crate::drive::{AGENTS, PATIENCE};
use crate::support::with_default_signals;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
