//! What a test harness usually fakes, for real: a terminal at the other end, a file system
//! without room, a user without write access. Each says so and passes where this machine
//! does not let a test have it.
#![cfg(target_os = "linux")]

use crate::support::reports::slice;
use crate::support::{COOK, Repo, Run, clean, run, run_alone};
use std::path::Path;
use std::process::Command;

fn make_started() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.plan_and_select(&[slice("one")]);
    repo.write_commit_for("one", "one.txt", "one works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo
}

fn has(program: &str, arguments: &[&str]) -> bool {
    let works = Command::new(program)
        .args(arguments)
        .output()
        .is_ok_and(|output| output.status.success());
    if !works {
        eprintln!(
            "skipped: `{program} {}` does not work here",
            arguments.join(" ")
        );
    }
    works
}

/// `cook` with a terminal of its own as standard input, output and error.
fn in_terminal(repo: &Repo, line: &str, environment: &[(&str, &str)]) -> Run {
    let typed = format!("'{COOK}' {line}");
    let mut command = repo.command("script");
    command.args(["-qec", &typed, "/dev/null"]);
    command.envs(environment.iter().copied());
    run_alone(&mut command)
}

#[test]
fn a_person_at_a_terminal_may_run_user_commands_and_an_agent_there_may_not() {
    if !has("script", &["-qec", "true", "/dev/null"]) {
        return;
    }
    let repo = make_started();
    repo.cook(&["pause"]).ok();
    // No terminal: a script must say that it acts for the user.
    repo.cook(&["resume"]).expect_refused("user_only");
    for agent in [("CLAUDECODE", "1"), ("COOK_ROLE", "completion-reviewer")] {
        in_terminal(&repo, "resume", &[agent])
            .exits(4)
            .says("user_only");
        assert_eq!(repo.rule(), "S");
    }
    in_terminal(&repo, "resume", &[]).ok();
    assert_eq!(repo.rule(), "5");
    // The person is on record as such, and no script is counted.
    let newest = repo.cook(&["log", "@", "--json"]).ok().json();
    assert_eq!(newest["actor"], "user");
    let status = repo.cook(&["status", "--json"]).ok().json();
    assert_eq!(status["scripted_commands"], 0);
}

#[test]
fn a_terminal_sees_colours_and_never_what_a_report_smuggles() {
    if !has("script", &["-qec", "true", "/dev/null"]) {
        return;
    }
    let repo = Repo::with_mission("a mission \u{1b}[2J\u{202e}reversed");
    let seen = in_terminal(&repo, "--color always status", &[("TERM", "xterm")]).ok();
    assert!(seen.out.contains("\u{1b}["), "no colour: {}", seen.out);
    assert!(!seen.out.contains("\u{1b}[2J"), "{:?}", seen.out);
    assert!(!seen.out.contains('\u{202e}'), "{:?}", seen.out);
}

/// Runs lines of bash in a mount namespace of their own, with `$cook` and a 4 MiB file
/// system at `$small`, which goes with the namespace.
fn with_little_room(repo: &Repo, lines: &str) -> Run {
    let small = repo.outside();
    let script = format!(
        "set -eu\ncook='{COOK}'\nsmall='{}'\n\
         mount -t tmpfs -o size=4m,mode=700 tmpfs \"$small\"\n{lines}",
        small.display()
    );
    let mut command = repo.command("unshare");
    command.args(["--mount", "bash", "-c", &script]);
    run_alone(&mut command)
}

#[test]
fn a_full_file_system_refuses_whole_and_goes_on_when_there_is_room() {
    if !has("unshare", &["--mount", "true"]) {
        return;
    }
    let repo = make_started();
    let review = repo.reviewer_report(None);
    repo.outside();
    std::fs::write(repo.root.with_file_name("review"), review).unwrap();
    let answer = with_little_room(
        &repo,
        "cp -R . \"$small/work\"\n\
         cp ../review \"$small/review\"\n\
         cd \"$small/work\"\n\
         tip() { git --git-dir .git/cook/log.git rev-parse \"$(cat .git/cook-id)\"; }\n\
         before=$(tip)\n\
         head -c 8m /dev/zero > ../filler || true\n\
         status=0; \"$cook\" record reviewer ../review || status=$?\n\
         [ \"$status\" = 3 ] || { echo \"record ended with $status\"; exit 1; }\n\
         [ \"$(tip)\" = \"$before\" ] || { echo 'the log moved'; exit 1; }\n\
         \"$cook\" next\n\
         rm ../filler\n\
         \"$cook\" record reviewer ../review\n\
         [ \"$(tip)\" != \"$before\" ]\n\
         \"$cook\" doctor fsck\n\
         \"$cook\" verify control-plane\n",
    );
    answer.ok().says("completion-auditor");
}

fn chown(path: &Path, user: &str) {
    let status = Command::new("chown")
        .args(["-R", user])
        .arg(path)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_user_who_may_not_write_reads_everything_and_changes_nothing() {
    const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !has("setpriv", &[NOBODY[0], NOBODY[1], NOBODY[2], "true"]) {
        return;
    }
    let repo = make_started();
    let place = repo.root.parent().unwrap().to_owned();
    let cook = place.join("cook");
    std::fs::copy(COOK, &cook).unwrap();
    let review = repo.reviewer_report(None);
    repo.git(&["config", "core.fileMode", "false"]);
    chown(&place, "65534:65534");
    let modes = |mode: &str| {
        let mut chmod = Command::new("chmod");
        chmod.args(["-R", mode]).arg(&repo.root);
        assert!(chmod.status().unwrap().success());
    };
    modes("a-w");
    let as_nobody = |arguments: &[&str], input: &str| {
        let mut command = clean("setpriv", &place.join("home"));
        command
            .args(NOBODY)
            .arg(&cook)
            .args(arguments)
            .current_dir(&repo.root);
        run(&mut command, input)
    };
    as_nobody(&["next"], "").ok().says("completion-reviewer");
    as_nobody(&["status"], "").ok();
    as_nobody(&["verify", "control-plane"], "").ok();
    as_nobody(&["record", "reviewer"], &review)
        .exits(3)
        .says("ermission denied");
    as_nobody(&["pause"], "").exits(3);
    as_nobody(&["next"], "").ok().says("completion-reviewer");
    modes("u+w");
    as_nobody(&["record", "reviewer"], &review).ok();
    // What another user owns is refused, as git refuses it.
    chown(&repo.root, "65533:65533");
    as_nobody(&["next"], "")
        .exits(3)
        .says("git config --global --add safe.directory");
    chown(&place, "0:0");
}
