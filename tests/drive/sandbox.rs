//! Driven sessions in the sandbox: the job is done there, what a role may not write cannot be
//! written, and what can be is put back. Without a bubblewrap that works here the tests say so.

use super::{Job, PATIENCE};
use crate::support::agents::has_sandbox;
use std::time::Instant;

const REQUIRED: &str = "[sandbox]\nmode = \"required\"\n";

fn make_sandboxed() -> Option<Job> {
    has_sandbox().then(|| Job::with(REQUIRED))
}

/// It did not happen, so nobody is accused: the report alone is asked for again.
#[test]
fn what_a_role_may_not_write_it_cannot() {
    if !has_sandbox() {
        return;
    }
    for (role, kind) in [
        ("regrounder", "tag"),
        ("regrounder", "exclude"),
        ("implementer", "config"),
        ("implementer", "hook"),
        ("implementer", "log"),
        ("implementer", "rewind"),
        ("implementer", "gone"),
        ("implementer", "trusts"),
        ("implementer", "another-log"),
        ("reviewer", "edit"),
        ("reviewer", "commit"),
        ("reviewer", "stash"),
    ] {
        let Some(job) = make_sandboxed() else { return };
        job.repo.write("later.txt", "for later");
        job.repo.git(&["stash", "-q", "--include-untracked"]);
        job.mischief(role, kind);
        let before = match role {
            "regrounder" => 0,
            "implementer" => 1,
            _ => 2,
        };
        let steps = (before + 1).to_string();
        let run = job.run(&["--steps", &steps]).exits(13);
        assert!(
            !run.err.contains("exceeded its role"),
            "{role} {kind}: {}",
            run.err
        );
        assert_eq!(job.calls()[before..], [role, role], "{kind}");
        assert_eq!(
            run.err.matches("recorded #").count(),
            before + 1,
            "{kind}: {}",
            run.err
        );
        assert_eq!(job.repo.git(&["status", "--porcelain"]), "", "{kind}");
        assert_eq!(job.repo.git(&["tag"]), "");
        assert_eq!(
            job.repo.git(&["stash", "list"]).lines().count(),
            1,
            "{kind}"
        );
        job.repo.cook(&["verify", "control-plane"]).exits(0);
    }
}

/// Nothing keeps a file that is not there: it is taken away with the session's answer.
#[test]
fn settings_that_start_programs_later_do_not_outlast_the_session() {
    let Some(job) = make_sandboxed() else { return };
    job.mischief("implementer", "plants");
    let run = job.run(&["--steps", "3"]).exits(13);
    let said = "it wrote settings that start programs later";
    assert_eq!(run.err.matches(said).count(), 1, "{}", run.err);
    assert_eq!(job.calls()[1..], ["implementer", "implementer"]);
    let own = job.repo.beside("home").join(".player");
    let mut left: Vec<_> = std::fs::read_dir(own).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left.remove(0).file_name(), "session");
}

/// A role's agent waits, the user does something, and the agent goes on: what the run ends with.
fn do_meanwhile(settings: &str, role: &str, words: &[&[&str]]) -> (Job, Option<i32>) {
    let job = Job::with(settings);
    job.mischief(role, "waits");
    let (mut child, _) = job.run_until_it_hangs();
    for words in words {
        job.repo.cook(words).exits(0);
    }
    std::fs::write(job.state.join("go"), "").unwrap();
    let until = Instant::now() + PATIENCE;
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None => assert!(Instant::now() < until, "it ends with the session"),
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    (job, code)
}

/// Whoever wrote it: what comes next would rest on what nobody looked at.
#[test]
fn a_log_that_moves_during_a_session_ends_the_run() {
    let words: [&[&str]; 2] = [&["pause", "a while"], &["resume", "--as-user"]];
    let (job, code) = do_meanwhile("", "implementer", &words);
    job.hanging_run_says("err", "the log was moved during the session");
    assert_eq!(code, Some(4));
}

/// Whoever judges hears it first: its session is held anew, and nobody is accused.
#[test]
fn what_the_user_says_to_a_reader_at_work_has_it_asked_anew() {
    let said: &[&str] = &["brief", "say", "mind the blanks", "--as-user"];
    let apart = "[rules]\nisolate_readonly = true\n";
    let (job, _) = do_meanwhile(apart, "reviewer", &[said]);
    let told = std::fs::read_to_string(job.state.join("run.err")).unwrap();
    let (_, after) = told
        .split_once("the session failed: the user said something meanwhile")
        .unwrap_or_else(|| panic!("{told}"));
    let mut lines = after.lines().skip(1);
    for part in ["completion-reviewer (player), rule 5", " reviewed ("] {
        let line = lines.next().unwrap();
        assert!(line.contains(part), "`{part}` is not in `{line}`: {told}");
    }
    assert!(!told.contains("exceeded its role"), "{told}");
    let calls = job.calls();
    let first = calls.iter().position(|role| role == "reviewer").unwrap();
    assert_eq!(calls[first + 1], "reviewer", "{calls:?}");
}

#[test]
fn a_sandbox_that_is_required_and_absent_stops_the_run_and_says_why() {
    let job = Job::with(REQUIRED);
    let bin = job.repo.outside();
    for program in ["git", "bash", "sh", "env"] {
        let real = ["/usr/bin", "/bin"]
            .map(|dir| std::path::Path::new(dir).join(program))
            .into_iter()
            .find(|file| file.exists());
        std::os::unix::fs::symlink(real.unwrap(), bin.join(program)).unwrap();
    }
    let path = bin.display().to_string();
    let run = job.repo.cook_env(&["run"], "PATH", &path);
    let run = run.fails(4, "sandbox_unavailable");
    assert!(run.err.contains("`bwrap` is not on PATH"), "{}", run.err);
    assert!(run.err.contains("apt install bubblewrap"), "{}", run.err);
    assert!(job.calls().is_empty());
    let doctor = job.repo.cook_env(&["doctor"], "PATH", &path);
    assert!(doctor.says("[sandbox_unavailable]").code != 0);

    let job = Job::with("[sandbox]\nmode = \"auto\"\n");
    let run = job.repo.cook_env(&["run", "--steps", "0"], "PATH", &path);
    let said = "sandbox                not in force (`bwrap` is not on PATH)";
    assert_eq!(
        run.exits(13).says(said).err.matches("not in force").count(),
        1
    );
    let doctor = job.repo.cook_env(&["doctor"], "PATH", &path);
    doctor
        .exits(0)
        .says("[sandbox_off]")
        .says("everything that you can");
}

#[test]
fn doctor_says_what_holds_agents() {
    let Some(job) = make_sandboxed() else { return };
    let doctor = job.repo.cook(&["doctor"]).exits(0);
    doctor
        .says("sandbox in force")
        .says("an implementer can write the worktree and `.git`; not cook's directory")
        .never_says("[sandbox_");
    let job = Job::with("[sandbox]\nmode = \"required\"\nsockets = [\"/run/docker.sock\"]\n");
    job.repo.cook(&["doctor"]).exits(0).says("[sandbox_opened]");
    let run = job.run(&["--steps", "0"]).exits(13);
    assert!(
        run.err.contains("agents reach `/run/docker.sock`"),
        "{}",
        run.err
    );
}
