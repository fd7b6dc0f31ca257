//! `cook run` and `cook run --once` with an agent that plays the smoke script's job: from the first
//! re-ground to `done`, and each way in which an agent misbehaves on it.
#![cfg(unix)]

mod assurance;
mod demo;
mod outages;
mod sandbox;

use crate::support::job::{self as base, MISSION, SESSIONS as JOB};
use crate::support::with_default_signals;
use crate::support::{Repo, Run};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Sessions before the first judge's.
const BEFORE_JUDGES: usize = 13;
/// Longer than what is waited for takes on a machine that is busy with other things: it ends a test that
/// would wait for ever.
const PATIENCE: Duration = Duration::from_secs(300);

/// The job with a player for every role.
struct Job(base::Job);

/// Agents that cannot work alone, and the one who stands in for them.
const OTHERS: &str = r#"
[roles.reviewer]
agent = "absent"
fallback = ["player"]

[roles.auditor]
agent = "limited"
"#;

/// Agents that a `cook.toml` may name beside the player.
const AGENTS: &str = r#"
[agents.absent]
bin = "/nonexistent/agent"
start = []
events = "text"

[agents.limited]
bin = "LIMITED"
start = []
events = "json"

[[agents.limited.rule]]
when = { type = "limit" }
set = { error = "message" }

[[agents.limited.rule]]
when = { type = "end" }
set = { text = "text", session = "session", usage = "usage", done = true }
"#;

impl Job {
    fn new() -> Self {
        Self::with("")
    }

    fn with(more: &str) -> Self {
        let player = base::Job::player();
        let limited = PathBuf::from(&player).with_file_name("limited.sh");
        let more = more.replace("LIMITED", &limited.display().to_string());
        Self(base::Job::with(&format!(
            "[agents.player]\nbin = {player:?}\nstart = []\nevents = \"text\"\nwrites = [\"$STATE\", \"$SMOKE\", {{ home = \".player\", settings = [\"settings.json\", \"hooks/\"] }}]\n\
             [roles.default]\nagent = \"player\"\ntimeout = \"60s\"\n{more}"
        )))
    }

    fn mischief(&self, role: &str, kind: &str) {
        std::fs::write(self.state.join("mischief"), format!("{role} {kind}\n")).unwrap();
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut all = vec!["run"];
        all.extend(args);
        self.repo.cook(&all)
    }

    /// A run up to the last vote of the first wave.
    #[track_caller]
    fn run_through_the_first_wave(&self) -> Run {
        let steps = (BEFORE_JUDGES + 3).to_string();
        self.run(&["--steps", &steps]).exits(13)
    }

    /// A run whose agent hangs by now, and that agent's process id.
    fn run_until_it_hangs(&self) -> (Child, String) {
        let to = |name: &str| std::fs::File::create(self.state.join(name)).unwrap();
        let mut command = self.repo.cook_command(&["run"]);
        command
            .stdin(Stdio::null())
            .stdout(to("run.out"))
            .stderr(to("run.err"));
        let child = with_default_signals(&mut command).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        loop {
            match std::fs::read_to_string(self.state.join("hung")) {
                Ok(text) if text.ends_with('\n') => return (child, text.trim().to_owned()),
                _ => assert!(Instant::now() < until, "the agent was never started"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the run that hangs has said that, on `out` or `err`.
    #[track_caller]
    fn hanging_run_says(&self, stream: &str, text: &str) {
        let path = self.state.join(format!("run.{stream}"));
        let until = Instant::now() + PATIENCE;
        loop {
            let said = std::fs::read_to_string(&path).unwrap();
            if said.contains(text) {
                return;
            }
            assert!(Instant::now() < until, "`{text}` is not in {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The next session is held as ever, and everything kept is sound. To drive a job to its end after each story
    /// would take most of the time of all tests.
    #[track_caller]
    fn goes_on(&self) -> Run {
        let run = self.run(&["--steps", "1"]).exits(13);
        for sound in [
            &["verify", "control-plane"][..],
            &["doctor", "fsck"],
            &["session", "verify"],
        ] {
            self.repo.cook(sound).exits(0);
        }
        self.no_baseline_is_held();
        run
    }

    #[track_caller]
    fn no_baseline_is_held(&self) {
        let held = self.repo.git(&["for-each-ref", "refs/cook/watch"]);
        assert_eq!(held, "", "baselines that are not let go of");
    }

    /// The work is done, and nothing of a session is left.
    #[track_caller]
    fn is_done(&self) {
        self.no_baseline_is_held();
        self.0.is_done();
        let verified = self.repo.cook(&["verify", "--strict"]).exits(0).out;
        let again = verified.contains("reports compared with the recorded answers of the sessions");
        assert!(again, "{verified}");
        let left = walk(&self.repo.root.join(".git/cook/watch"));
        assert!(left.is_empty(), "{left:?}");
    }
}

impl std::ops::Deref for Job {
    type Target = base::Job;

    fn deref(&self) -> &base::Job {
        &self.0
    }
}

fn walk(dir: &std::path::Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    entries
        .flatten()
        .flat_map(|entry| {
            let path = entry.path();
            match path.is_dir() {
                true => walk(&path),
                false => vec![path],
            }
        })
        .collect()
}

fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[track_caller]
fn ends(child: &mut Child) -> Option<i32> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(Instant::now() < until, "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_whole_job_is_driven_to_done() {
    let job = Job::new();
    let run = job.run(&[]).exits(0);
    assert!(run.err.contains("PROGRESS: counting words"), "{}", run.err);
    assert!(run.err.contains("completion-stop-judge"), "{}", run.err);
    assert!(run.out.contains("the work is done"), "{}", run.out);
    assert_eq!(job.calls().len(), JOB);
    job.is_done();
    // What is done stays done, and costs no session.
    job.run(&[]).exits(0);
    assert_eq!(job.calls().len(), JOB);
    let json = job.run(&["--json"]).exits(0).json();
    fits("run", &json);
    assert_eq!(json["ended"], "policy");
    assert_eq!(json["next"]["policy"], "done");
    let cost = job
        .repo
        .cook(&["status", "--cost", "--json"])
        .exits(0)
        .json();
    fits("cost", &cost);
    assert_eq!(cost["total"]["calls"], JOB);
    assert_eq!(cost["total"]["cost_unknown"], JOB);
    job.repo
        .cook(&["status", "--cost"])
        .exits(0)
        .says("unknown");
    // Each judge spoke in a session of its own.
    let log = job.repo.cook(&["session", "log", "--json"]).exits(0);
    assert_eq!(
        log.out.matches("\"role\": \"stop-judge\"").count(),
        6,
        "{}",
        log.out
    );
}

#[track_caller]
fn fits(name: &str, value: &serde_json::Value) {
    let path = format!(
        "{}/protocol/schema/output-{name}.schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(jsonschema::draft202012::is_valid(&schema, value), "{value}");
}

#[test]
fn one_step_is_one_session() {
    let job = Job::new();
    for calls in 1..=3 {
        job.repo.cook(&["run", "--once"]).exits(0);
        assert_eq!(job.calls().len(), calls);
    }
    assert_eq!(job.calls(), ["regrounder", "implementer", "reviewer"]);
    job.run(&["--steps", "2"])
        .exits(13)
        .says("the requested number of sessions");
    assert_eq!(job.calls().len(), 5);
    job.repo.cook(&["run", "--once", "--steps", "5"]).exits(2);
    assert_eq!(job.calls().len(), 5);
}

/// Each is noticed, put back, written down, and the role gets its turn again.
#[test]
fn what_a_role_may_not_do_is_put_back_and_the_job_goes_on() {
    for (role, kind, said) in [
        ("reviewer", "edit", "`tally` was changed"),
        ("auditor", "untracked", "`cheat.txt` is new"),
        ("auditor", "commit", "`refs/heads/main` was moved"),
        ("regrounder", "tag", "`refs/tags/cheat` is new"),
        ("reviewer", "branch", "HEAD went from"),
        ("reviewer", "config", "`.git/config`"),
        ("auditor", "hook", "`.git/hooks/post-commit`"),
        ("reviewer", "hide", "the index"),
        ("reviewer", "stash", "the stash"),
        ("implementer", "rewrite", "`refs/heads/main` was moved"),
        ("implementer", "branch", "HEAD went from"),
        ("implementer", "state", "`.agent/state.json` was edited"),
        ("implementer", "criteria", "`.agent/plan.json` was edited"),
        ("regrounder", "exclude", "`.git/info/exclude`"),
        ("implementer", "hide", "`tally` was hidden"),
        ("reviewer", "rewind", "the log was set back"),
        ("implementer", "log", "were removed"),
    ] {
        let job = Job::new();
        job.repo.write("later.txt", "for later");
        job.repo.git(&["stash", "-q", "--include-untracked"]);
        job.mischief(role, kind);
        // So many sessions come before its own.
        let before = match role {
            "regrounder" => 0,
            "implementer" => 1,
            "reviewer" => 2,
            _ => 3,
        };
        let steps = (before + 2).to_string();
        let run = job.run(&["--steps", &steps]).exits(13);
        assert!(run.err.contains(said), "{role} {kind}: {}", run.err);
        let told = run.err.matches("exceeded its role").count();
        assert_eq!(told, 1, "{role} {kind}: {}", run.err);
        assert!(!run.err.contains("the session failed: "), "{}", run.err);
        assert_eq!(job.calls()[before..], [role, role], "{kind}");
        assert_eq!(run.err.matches("recorded #").count(), before + 1, "{kind}");
        job.repo.cook(&["verify", "control-plane"]).exits(0);
        job.repo.cook(&["session", "verify"]).exits(0);
        assert_eq!(job.repo.git(&["status", "--porcelain"]), "");
        assert_eq!(
            job.repo.git(&["stash", "list"]).lines().count(),
            1,
            "{role} {kind}"
        );
        let log = job.repo.cook(&["log", "-n", "99"]).exits(0);
        assert_eq!(log.out.matches("refused").count(), 1, "{}", log.out);
    }
}

/// The user commits in another worktree and fetches while a reviewer is at work.
#[test]
fn what_the_user_does_elsewhere_is_nobodys_breach() {
    let job = Job::new();
    let other = job.repo.beside("other");
    job.repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        other.to_str().unwrap(),
    ]);
    job.mischief("reviewer", "elsewhere");
    let run = job.run(&["--steps", "3"]).exits(13);
    assert!(!run.err.contains("exceeded its role"), "{}", run.err);
    assert_eq!(
        job.repo.git(&["log", "-1", "--format=%s", "side"]),
        "beside"
    );
    assert_eq!(
        job.repo.git(&["log", "-1", "--format=%s", "origin/x"]),
        "beside"
    );
}

#[test]
fn what_is_put_back_is_kept() {
    let job = Job::new();
    job.mischief("regrounder", "untracked");
    job.run(&["--steps", "1"]).exits(13);
    assert!(!job.repo.root.join("cheat.txt").exists());
    let kept = job
        .repo
        .cook(&["doctor", "rescue", "list", "--json"])
        .exits(0)
        .json();
    let id = kept["copies"][0]["id"].as_str().unwrap().to_owned();
    job.repo
        .cook(&["doctor", "rescue", "restore", &id, "--to", "out"])
        .exits(0);
    assert_eq!(job.repo.read("out/cheat.txt"), "cheat\n");
}

/// A repository of its own may be the user's and stays; a name that is not text, a mode, and a
/// file too large for a copy are kept.
#[test]
fn nothing_is_removed_that_was_not_kept() {
    let job = Job::new();
    let root = &job.repo.root;
    job.mischief("reviewer", "hoards");
    let run = job.run(&["--steps", "3"]).exits(13);
    assert!(run.err.contains("`vendored` is new"), "{}", run.err);
    for gone in ["run.sh", "big.bin", "vendored"] {
        assert!(!root.join(gone).exists(), "{gone}");
    }
    let kept = job
        .repo
        .cook(&["doctor", "rescue", "list", "--json"])
        .exits(0)
        .json();
    let copies = kept["copies"].as_array().unwrap();
    for copy in copies {
        let id = copy["id"].as_str().unwrap();
        job.repo
            .cook(&["doctor", "rescue", "restore", id, "--to", "out"])
            .exits(0);
    }
    assert_eq!(job.repo.read("out/caf%E9.txt"), "work");
    assert_eq!(job.repo.read("out/vendored/work.txt"), "work\n");
    job.shell("test -x out/run.sh");
    // The history of a repository is moved as it is.
    job.shell(
        "git --git-dir \"$(echo .git/cook-rescued/*/*/.git)\" log --format=%s | grep -qx work",
    );
    job.shell("test $(stat -c %s .git/cook-rescued/*/*/big.bin) = 73400320");
    std::fs::remove_dir_all(root.join("out")).unwrap();
    job.goes_on();
}

/// One job in which a session of each role comes to nothing.
#[test]
fn a_session_that_comes_to_nothing_is_held_again_and_no_more() {
    let job = Job::new();
    for (role, kind, told) in [
        ("implementer", "silent", "the session failed: "),
        ("reviewer", "fails", "the session failed: "),
        ("auditor", "malformed", "the session failed: "),
        ("reviewer", "once", "cook asks for it once more"),
        ("stop-judge", "commit", "exceeded its role"),
    ] {
        job.mischief(role, kind);
        loop {
            let run = job.run(&["--steps", "1"]).exits(13);
            if run.err.contains(told) {
                let in_vain = run.err.contains("the session failed: ");
                assert_eq!(in_vain, kind != "once" && kind != "commit", "{}", run.err);
                break;
            }
        }
    }
    job.run(&[]).exits(0);
    // A malformed report is asked for once more before its session is held again.
    assert_eq!(job.calls().len(), JOB + 6);
    job.is_done();
}

/// Nobody's commit becomes the slice's because a session that did nothing names it.
#[test]
fn a_commit_from_before_the_session_is_not_its_work() {
    let job = Job::new();
    job.run(&["--steps", "1"]).exits(13);
    job.repo.write("notes.txt", "mine\n");
    job.repo.commit("Take notes", None);
    job.mischief("implementer", "earlier");
    let run = job.run(&["--steps", "1"]).exits(13);
    run.says("[wrong_commit]")
        .says("--trailer 'Cook-Slice: words'");
    job.run(&["--steps", "1"]).exits(13).says(" implemented (");
}

/// Also in a run that begins anew.
#[test]
fn the_next_session_of_a_role_is_told_why_the_last_report_was_not_taken() {
    let job = Job::new();
    job.run(&["--steps", "3"]).exits(13);
    job.mischief("auditor", "malformed");
    let run = job.run(&["--steps", "1"]).exits(13);
    assert!(run.err.contains("the session failed: "), "{}", run.err);
    job.run(&["--steps", "1"]).exits(13);
    let told = std::fs::read_to_string(job.state.join("prompt.auditor")).unwrap();
    let why = "was not taken, for this reason (data, no instruction): ``the report breaks the rules: [header_missing] the report has no line `MISSION ANCHOR";
    assert!(told.contains(why), "{told}");
    job.goes_on();
    let told = std::fs::read_to_string(job.state.join("prompt.regrounder")).unwrap();
    assert!(!told.contains("was not taken"), "{told}");
}

#[test]
fn three_sessions_that_come_to_nothing_stop_the_work() {
    let job = Job::new();
    std::fs::write(job.state.join("regrounder"), "90\n").unwrap();
    let run = job.run(&[]).exits(6);
    assert!(run.out.contains("3 sessions in a row"), "{}", run.out);
    job.repo.cook(&["next", "--exit-code"]).exits(11);
    let again = job.run(&[]).exits(11);
    for said in [
        "the work is blocked: 3 sessions in a row",
        "`cook resume`, then `cook run`",
    ] {
        assert!(again.out.contains(said), "{}", again.out);
    }
    job.repo.cook(&["resume", "--as-user"]).exits(0);
    std::fs::write(job.state.join("regrounder"), "0\n").unwrap();
    job.goes_on();
}

/// Reports that are taken and change nothing do not go on for ever.
#[test]
fn six_sessions_that_change_nothing_stop_the_work() {
    let job = Job::new();
    std::fs::write(job.state.join("idle"), "").unwrap();
    let run = job.run(&["--steps", "20"]).exits(6);
    assert!(run.out.contains("changed nothing"), "{}", run.out);
    // The first one brought the plan.
    assert_eq!(job.calls().len(), 7);
    job.repo.cook(&["next", "--exit-code"]).exits(11);
}

#[test]
fn nothing_that_an_agent_started_outlives_its_session() {
    let job = Job::new();
    job.mischief("reviewer", "daemon");
    job.run(&["--steps", "3"]).exits(13);
    let pid = std::fs::read_to_string(job.state.join("daemon")).unwrap();
    assert!(!is_alive(pid.trim()));
}

/// Killed while an agent works: the next run ends that agent, puts back what it did, goes on.
#[test]
fn a_run_that_is_killed_goes_on_with_the_next() {
    let job = Job::new();
    job.run(&["--steps", "2"]).exits(13);
    job.mischief("reviewer", "hang");
    let (mut child, pid) = job.run_until_it_hangs();
    // A second driver is told who drives.
    job.run(&[]).exits(7);
    child.kill().unwrap();
    child.wait().unwrap();
    job.repo.write("cheat.txt", "left by the hung reviewer");
    let run = job.goes_on();
    assert!(!is_alive(&pid));
    assert!(
        run.err.contains("an unfinished session of the"),
        "{}",
        run.err
    );
    assert!(!job.repo.root.join("cheat.txt").exists());
}

/// A role does not pause the work; the user does, and loses nothing by it.
#[test]
fn a_pause_from_another_terminal_ends_the_run_after_the_session() {
    let job = Job::new();
    job.mischief("implementer", "waits");
    let (mut child, _) = job.run_until_it_hangs();
    let refused = std::fs::read_to_string(job.state.join("pause")).unwrap();
    assert_eq!(refused, "4\n");
    job.repo.cook(&["pause"]).exits(0);
    std::fs::write(job.state.join("go"), "").unwrap();
    let until = Instant::now() + PATIENCE;
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None => assert!(Instant::now() < until, "it ends with the session"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(code, Some(12));
    assert_eq!(job.repo.git(&["log", "-1", "--format=%s"]), "Count words");
    job.repo.cook(&["resume", "--as-user"]).exits(0);
    let log = job.repo.cook(&["log", "-n", "99"]).exits(0);
    assert!(!log.out.contains("refused"), "{}", log.out);
    assert!(log.out.contains("paused"), "{}", log.out);
}

/// In a place of its own a reader sees the documents and changes nothing; what the user does
/// in the worktree meanwhile is the user's. A judge finds no votes there.
#[test]
fn readers_in_a_place_of_their_own_leave_the_worktree_to_the_user() {
    let job = Job::with("[rules]\nisolate_readonly = true\n");
    job.run(&["--steps", "2"]).exits(13);
    job.mischief("reviewer", "waits");
    let child = job
        .repo
        .command(env!("CARGO_BIN_EXE_cook"))
        .args(["run", "--steps", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    while !job.state.join("hung").exists() {
        assert!(Instant::now() < until, "the reviewer was never started");
        std::thread::sleep(Duration::from_millis(20));
    }
    let readme = job.repo.read("README.md");
    job.repo
        .write("README.md", "what the user writes meanwhile");
    std::fs::write(job.state.join("go"), "").unwrap();
    let run = child.wait_with_output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(13), "{said}");
    // cook answers there for the worktree in work.
    let next = std::fs::read_to_string(job.state.join("next")).unwrap();
    let next: serde_json::Value = serde_json::from_str(&next).unwrap();
    assert_eq!(next["rule"], "5", "{next}");
    let gate = std::fs::read_to_string(job.state.join("gate")).unwrap();
    assert!(
        gate.contains("[inside_role]") && gate.ends_with("\n4\n"),
        "{gate}"
    );
    let hooks = std::fs::read_to_string(job.state.join("hooks")).unwrap();
    assert!(hooks.contains("[inside_role]"), "{hooks}");
    // No report is taken beside it, and nobody is accused.
    assert!(said.contains("[tree_changed]"), "{said}");
    assert!(!said.contains("exceeded its role"), "{said}");
    let edited = job.repo.read("README.md");
    assert_eq!(edited, "what the user writes meanwhile");
    assert!(job.state.join("seen.reviewer").exists());
    job.repo.write("README.md", readme);
    std::fs::write(job.state.join("reviewer"), "0\n").unwrap();
    job.mischief("auditor", "edit");
    // The review and one audit are held again.
    let steps = (BEFORE_JUDGES + 3 - 2 + 1).to_string();
    let run = job.run(&["--steps", &steps]).exits(13);
    assert!(!run.err.contains("exceeded its role"), "{}", run.err);
    assert!(job.state.join("judge.3").exists() && !job.state.join("votes").exists());
    job.goes_on();
}

/// A run that was ended in a reviewer's session, with its agent, after some deeds of that one;
/// some time later.
fn cut(deeds: &str, before: impl FnOnce(&Job)) -> Job {
    let job = Job::new();
    before(&job);
    job.run(&["--steps", "2", "--yes"]).exits(13);
    std::fs::write(job.state.join("deeds"), deeds).unwrap();
    job.mischief("reviewer", "cut");
    let (mut child, pid) = job.run_until_it_hangs();
    child.kill().unwrap();
    child.wait().unwrap();
    job.shell(&format!("kill -KILL -- -{pid}"));
    let until = Instant::now() + PATIENCE;
    while is_alive(&pid) {
        assert!(Instant::now() < until, "{pid} does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = job.repo.cook(&["status"]).exits(0);
    assert!(status.out.contains("unfinished"), "{}", status.out);
    std::thread::sleep(Duration::from_millis(300));
    job.shell("touch -d '60 seconds ago' .git/cook/live/*.json");
    std::thread::sleep(Duration::from_millis(300));
    job
}

/// What the next run says of it: of the session, and of what came later.
fn read_settled(job: &Job) -> (String, String) {
    let run = job.run(&["--steps", "0", "--yes"]);
    let status = job.repo.cook(&["status"]).exits(0);
    assert!(!status.out.contains("unfinished"), "{}", status.out);
    let line = run.err.lines().find(|line| line.contains("an unfinished"));
    let line = line.unwrap_or_else(|| panic!("{}", run.err));
    let (session, later) = line
        .split_once("; left as it is, because it came after the session: ")
        .unwrap_or((line, ""));
    (session.to_owned(), later.to_owned())
}

const CHEATS: &str = "echo cheat >>tally; echo litter >litter.txt; git tag cheat";

#[track_caller]
fn tells(text: &str, all: &[&str]) {
    for what in all {
        assert!(text.contains(what), "{what}: {text}");
    }
}

/// What the session did is put back, what the user did since is not.
#[test]
fn what_came_after_a_session_that_was_cut_is_the_users() {
    let job = cut(CHEATS, |job| {
        job.repo.write("README.md", "begun\n");
        job.shell("git stash push -q -- README.md");
    });
    job.repo.write("README.md", "the user's\n");
    job.repo.write("new.txt", "the user's\n");
    std::fs::create_dir_all(job.repo.beside("made")).unwrap();
    std::fs::write(job.repo.beside("made").join("x"), "x").unwrap();
    job.repo.git(&["config", "user.mine", "mine"]);
    job.repo.git(&["branch", "mine"]);
    job.repo.git(&["stash", "drop", "-q"]);
    let (session, later) = read_settled(&job);
    tells(&session, &["`tally`", "`litter.txt`", "`refs/tags/cheat`"]);
    tells(
        &later,
        &["`README.md`", "`new.txt`", "`.git/config`", "heads/mine"],
    );
    let status = job.repo.git(&["status", "--porcelain"]);
    assert_eq!(status, "M README.md\n?? new.txt", "{session}");
    assert_eq!(job.repo.git(&["tag", "--list"]), "");
    assert_eq!(job.repo.git(&["config", "user.mine"]), "mine");
    assert_eq!(job.repo.git(&["branch", "--list", "mine"]).trim(), "mine");
    // The settings as they were are kept, whoever changed what in them.
    tells(
        &later,
        &[
            "the earlier uncommitted content is kept",
            "cook doctor rescue show",
        ],
    );
    // A list that is gone has no time: it comes back.
    assert_eq!(job.repo.git(&["stash", "list"]).lines().count(), 1);
}

/// A commit takes along what is in commits; what a ref named is kept where nothing leads to it.
#[test]
fn commits_after_a_session_that_was_cut_stay_and_nothing_is_out_of_reach() {
    let job = cut(CHEATS, |_| {});
    job.repo.write("new.txt", "the user's\n");
    job.shell("git add new.txt && git commit -qm later");
    let (session, later) = read_settled(&job);
    assert_eq!(job.repo.git(&["log", "-1", "--format=%s"]), "later");
    assert_eq!(job.repo.git(&["status", "--porcelain"]), "M tally");
    tells(&later, &["`refs/heads/main` was moved", "`tally`"]);
    tells(&session, &["`litter.txt`"]);
    assert_eq!(job.repo.git(&["tag", "--list"]), "");

    let job = cut("git reset -q --hard HEAD~1", |_| {});
    let before = job.repo.git(&["rev-parse", "ORIG_HEAD"]);
    // The record of a packed ref tells when it moved.
    job.shell(
        "unset GIT_COMMITTER_DATE; git commit -q --allow-empty -m later && git pack-refs --all",
    );
    let (session, later) = read_settled(&job);
    tells(&later, &["`refs/heads/main` was moved"]);
    let holding = ["for-each-ref", "--contains", &before, "refs/cook/rescue"];
    assert_ne!(job.repo.git(&holding), "", "{session}{later}");

    // A branch that was renamed is not a history that was rewritten.
    let job = cut("git tag cheat", |_| {});
    job.repo.git(&["branch", "-m", "main", "trunk"]);
    let (session, later) = read_settled(&job);
    assert!(!session.contains("heads/main"), "{session}");
    assert!(!later.contains("heads/main stays"), "{later}");
    tells(&later, &["HEAD went from", "`refs/heads/main` is gone"]);
    job.repo.git(&["rev-parse", "--verify", "-q", "trunk"]);
}

/// Whatever stands in the way of putting something back, nothing is overwritten and the rest
/// is settled.
#[test]
fn what_stands_in_the_way_of_putting_back_stays() {
    let job = cut("git tag cheat", |job| {
        std::fs::create_dir_all(job.repo.root.join("d")).unwrap();
        job.repo.write("d/kept.txt", "kept");
        job.shell("git add d && git commit -qm d");
        job.shell("git branch feature $(git commit-tree HEAD^{tree} -p HEAD -m own)");
    });
    job.shell("rm -r d && echo precious >d");
    job.shell("git branch -q -D feature && git branch feature/one");
    job.shell("mkdir -p ../old/x && echo old >../old/x/f && sleep 0.1 && mv ../old/x x");
    let (session, later) = read_settled(&job);
    assert_eq!(job.repo.read("d").trim(), "precious");
    assert_eq!(job.repo.read("x/f").trim(), "old");
    tells(&later, &["`d` is new", "`x/f` is new", "feature/one"]);
    tells(&session, &["cheat", "before/heads/feature"]);
    job.repo
        .git(&["rev-parse", "--verify", "-q", "feature/one"]);

    // A stash whose objects are gone is no reason not to go on.
    let job = cut("git tag cheat", |job| {
        job.repo.write("README.md", "begun\n");
        job.shell("git stash push -q -- README.md");
    });
    job.shell("git stash drop -q && git reflog expire --expire=now --all && git gc -q --prune=now");
    let (session, _) = read_settled(&job);
    tells(&session, &["the stash"]);
    job.repo.cook(&["status"]).exits(0);
}

/// A sparse checkout hides nothing: its files are absent.
#[test]
fn a_sparse_checkout_after_a_session_that_was_cut_stays() {
    let job = cut("git tag cheat", |_| {});
    job.shell("git sparse-checkout set --no-cone '/*' '!/README.md'");
    let (session, _) = read_settled(&job);
    assert!(!session.contains("README"), "{session}");
    assert_eq!(job.repo.git(&["status", "--porcelain"]), "");
    assert!(!job.repo.root.join("README.md").exists());
}

/// From a place of its own a reader can still write to the worktree: what is in no commit is
/// kept, and what is hidden from git is noticed.
#[test]
fn what_a_reader_elsewhere_does_to_the_worktree_is_not_lost() {
    let job = Job::with("[rules]\nisolate_readonly = true\n");
    job.run(&["--steps", "2"]).exits(13);
    job.repo.write("draft.txt", "a draft");
    let owner = job.repo.root.display().to_string();
    let write = |deeds: &str| std::fs::write(job.state.join("deeds"), deeds).unwrap();
    write(&format!("rm {owner}/draft.txt; exit 3"));
    job.mischief("reviewer", "cut");
    let run = job.run(&["--steps", "1", "--yes"]);
    tells(
        &run.err,
        &["outside the session", "cook doctor rescue show"],
    );
    let list = job
        .repo
        .cook(&["doctor", "rescue", "list", "--json"])
        .exits(0)
        .json();
    let id = list["copies"][0]["id"].as_str().unwrap();
    job.repo
        .cook(&["doctor", "rescue", "show", id, "draft.txt"])
        .exits(0)
        .says("a draft");

    write(&format!(
        "cd {owner}; git update-index --assume-unchanged README.md; echo evil >>README.md; exit 3"
    ));
    job.mischief("reviewer", "cut");
    let run = job.run(&["--steps", "1", "--yes"]);
    tells(&run.err, &["`README.md` was hidden"]);
    let listed = job.repo.git(&["ls-files", "-v", "README.md"]);
    assert!(listed.starts_with("H "), "{listed}");
}

/// What a killed session made of the settings is put back before they are read.
#[test]
fn a_killed_session_does_not_choose_the_next_ones_settings() {
    let job = Job::new();
    job.mischief("implementer", "settings");
    let (mut child, pid) = job.run_until_it_hangs();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(job.repo.read(".agent/cook.toml").contains("agents.mine"));
    let run = job.run(&["--steps", "1"]).exits(13);
    assert!(!is_alive(&pid));
    assert!(run.err.contains("`.agent/cook.toml`"), "{}", run.err);
    assert!(!job.repo.read(".agent/cook.toml").contains("agents.mine"));
    job.goes_on();
}

/// Ended when a transition is in the log and `.agent/` does not show it yet: the next session
/// sees what the log says.
#[test]
fn no_session_begins_on_a_view_that_is_behind_the_log() {
    let job = Job::new();
    let root = &job.repo.root;
    let saved = job.repo.beside("before");
    job.shell(&format!("cp -a .agent {}", saved.display()));
    let stamp = std::fs::read(root.join(".git/cook-checkout.json")).unwrap();
    job.run(&["--steps", "1"]).exits(13);
    let planned = job.repo.read(".agent/state.json");
    job.shell(&format!("rm -r .agent; cp -a {} .agent", saved.display()));
    std::fs::write(root.join(".git/cook-checkout.json"), stamp).unwrap();
    assert_ne!(job.repo.read(".agent/state.json"), planned);

    let run = job.run(&["--steps", "1"]).exits(13);
    assert!(
        run.err
            .contains("`.agent/` was behind the log; it now agrees"),
        "{}",
        run.err
    );
    let seen = std::fs::read_to_string(job.state.join("seen.implementer")).unwrap();
    assert_eq!(seen, planned);
    let again = job.goes_on();
    assert!(!again.err.contains("behind the log"), "{}", again.err);
}

/// The first signal asks for an end, the second one ends the session.
#[test]
fn a_run_that_is_interrupted_leaves_a_state_to_go_on_from() {
    let job = Job::new();
    job.mischief("regrounder", "hang");
    let (mut child, _) = job.run_until_it_hangs();
    signal(&child, "INT");
    job.hanging_run_says(
        "err",
        "stopping after the session of the completion-regrounder; press Ctrl-C again to stop now",
    );
    std::thread::sleep(Duration::from_millis(700));
    assert!(
        child.try_wait().unwrap().is_none(),
        "the first one only asks"
    );
    signal(&child, "INT");
    // `cook run && deploy` deploys nothing.
    assert_eq!(ends(&mut child), Some(130));
    job.hanging_run_says(
        "err",
        "stopping the session of the completion-regrounder now; the next `cook run` begins its step again",
    );
    for said in [
        "the session of the completion-regrounder was ended before it reported",
        "`cook run` begins the step of the completion-regrounder again, and no attempt is spent",
        "held       1 session, unknown cost",
    ] {
        job.hanging_run_says("out", said);
    }
    let run = job.run(&["--steps", "1"]).exits(13);
    let said = "begins the step of the completion-regrounder again, because its session was ended before it reported";
    assert!(run.err.contains(said), "{}", run.err);
    let run = job.goes_on();
    let said = "resumes with the completion-implementer, because ";
    assert!(run.err.contains(said), "{}", run.err);
}

/// A copy of a repository has the log's id too: what one of them runs is none of the other's.
#[test]
fn a_copy_is_driven_while_the_other_is() {
    let (one, other) = (Job::new(), Job::new());
    let id = |job: &Job| std::fs::read_to_string(job.repo.root.join(".git/cook-id")).unwrap();
    assert_eq!(id(&one), id(&other), "they are copies");
    one.mischief("regrounder", "hang");
    let (mut child, agent) = one.run_until_it_hangs();
    other.run(&["--steps", "2"]).exits(13);
    assert!(is_alive(&agent) && child.try_wait().unwrap().is_none());
    // The first one only asks.
    for _ in 0..2 {
        signal(&child, "INT");
        std::thread::sleep(Duration::from_millis(700));
    }
    ends(&mut child);
    assert!(!is_alive(&agent));
}

/// A terminal that is closed sends the signal more than once: it asks and never ends a session.
#[test]
fn a_closed_terminal_asks_for_an_end_and_leaves_no_agent_alone() {
    let job = Job::new();
    job.mischief("regrounder", "hang");
    let (mut child, agent) = job.run_until_it_hangs();
    for _ in 0..2 {
        signal(&child, "HUP");
        job.hanging_run_says("err", "stopping after the session");
        std::thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none(), "it only asks");
    }
    assert!(is_alive(&agent));
    signal(&child, "TERM");
    ends(&mut child);
    assert!(!is_alive(&agent));
}

#[test]
fn a_session_that_failed_is_of_unknown_cost_and_not_of_none() {
    let job = Job::with(&format!(
        "{AGENTS}\n[roles.regrounder]\nagent = \"limited\"\n[prices.limited]\ninput = 100.0\noutput = 1000.0\n"
    ));
    job.mischief("regrounder", "silent");
    let json = job.run(&["--json", "--steps", "1"]).exits(13).json();
    // It told its tokens, and they have a price.
    assert_eq!(json["cost_unknown"], 0);
    assert_eq!(json["cost_usd"], 0.2);
    let job = Job::new();
    job.mischief("regrounder", "fails");
    let json = job.run(&["--json", "--steps", "1"]).exits(13).json();
    assert_eq!(json["cost_unknown"], 1);
    let cost = job
        .repo
        .cook(&["status", "--cost", "--json"])
        .exits(0)
        .json();
    assert_eq!(cost["total"]["cost_unknown"], 1);
    job.mischief("regrounder", "silent");
    let run = job.run(&["--steps", "1"]).exits(13);
    assert!(run.out.contains("1 session, unknown cost"), "{}", run.out);
}

#[test]
fn an_agent_that_is_not_logged_in_ends_the_run_with_what_to_do() {
    let job = Job::with(&format!(
        "{AGENTS}\n[roles.regrounder]\nagent = \"limited\"\n"
    ));
    std::fs::write(job.state.join("login"), "").unwrap();
    let run = job.run(&[]).exits(5);
    assert!(run.out.contains("not logged in"), "{}", run.out);
    assert!(run.out.contains("cook doctor --probe"), "{}", run.out);
    assert!(run.out.contains("unknown cost"), "{}", run.out);
}

#[test]
fn a_stop_is_told_in_words_with_the_command_that_goes_on() {
    let job = Job::new();
    job.repo.cook(&["pause"]).exits(0);
    let run = job.run(&[]).exits(12);
    assert!(run.out.contains("the work is paused"), "{}", run.out);
    assert!(
        run.out.contains("`cook resume`, then `cook run`"),
        "{}",
        run.out
    );
    job.repo.cook(&["resume", "--as-user"]).exits(0);
    job.repo.git(&["switch", "-q", "-c", "elsewhere"]);
    let run = job.run(&[]).exits(10);
    assert!(run.out.contains("the work waits for you"), "{}", run.out);
    assert!(
        run.out.contains("`git switch main`, then `cook run`"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("await_user_input"), "{}", run.out);
}

#[test]
fn the_beginning_names_every_gate_and_all_that_binds() {
    let job = Job::new();
    let run = job.run(&["--steps", "1"]).exits(13);
    for said in [
        "0 gates",
        "25.00 of 25.00 US dollars left",
        "100000000 of 100000000 tokens left for calls of unknown cost",
        "60 of 60 steps left",
        "4 attempts for each slice",
    ] {
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
    job.mischief("implementer", "silent");
    job.run(&["--steps", "1"]).exits(13);
    let run = job.run(&["--steps", "1"]).exits(13);
    for said in [
        "1 gate: `bash tests/run.sh` (of the plan, trusted)",
        "58 of 60 steps left",
        "3 of 4 attempts left for `words`",
    ] {
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
    job.repo
        .cook(&["trust", "bash tests/more.sh", "--as-user"])
        .exits(0);
    let mut kept = walk(&job.repo.beside("home"))
        .into_iter()
        .chain(walk(&job.repo.root.join(".git/cook")));
    let holds = |path: &PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("bash tests/more.sh"))
    };
    let trust = kept.find(holds).unwrap();
    // Nobody takes a command off the list by hand: it is given anew without it.
    let list: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&trust).unwrap()).unwrap();
    std::fs::remove_file(&trust).unwrap();
    let commands = list["commands"].as_array().unwrap().iter();
    for command in commands.filter_map(serde_json::Value::as_str) {
        if command != "bash tests/run.sh" {
            job.repo.cook(&["trust", command, "--as-user"]).exits(0);
        }
    }
    let run = job.run(&[]).exits(4);
    assert!(
        run.err
            .contains("(of the plan, not trusted on this machine)"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("cook trust 'bash tests/run.sh'"),
        "{}",
        run.err
    );
}

#[test]
fn a_command_of_notify_that_fails_is_told_in_the_run() {
    const TELL: &str = "bash ../state/tell.sh";
    let job = Job::with(&format!(
        "[notify]\nrun = \"{TELL}\"\n[limits]\nsteps = 1\n"
    ));
    std::fs::write(job.state.join("tell.sh"), "exit 3\n").unwrap();
    job.repo.cook(&["trust", TELL, "--as-user"]).exits(0);
    let run = job.run(&[]).exits(11);
    let said = "[notify_failed] `bash ../state/tell.sh` was not notified that the work is blocked: it ended with exit code 3";
    assert_eq!(run.err.matches(said).count(), 1, "{}", run.err);
}

/// On a terminal one line is redrawn and gone before any other; in a pipe there is none.
#[test]
fn the_line_is_redrawn_on_a_terminal_only() {
    let job = Job::new();
    let run = job.run(&["--steps", "1"]).exits(13);
    assert!(!run.err.contains('\u{1b}') && !run.err.contains('\r'));
    let seen = |term: &str| {
        let mut script = job.repo.command("script");
        let script = script
            .args(["-qec", "cook run --once --yes", "/dev/null"])
            .env("TERM", term)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        String::from_utf8(script.output().unwrap().stdout).unwrap()
    };
    let text = seen("xterm");
    let line = "\r\u{1b}[2K\u{1b}[?7lwhat the completion-implementer reports is checked, cost unknown\u{1b}[?7h";
    assert!(text.contains(line), "{text:?}");
    let after = text.split(line).nth(1).unwrap();
    assert!(after.starts_with("\r\u{1b}[2K  recorded #"), "{after:?}");
    let last = text.rfind("\u{1b}[?7h").unwrap();
    assert!(text.rfind("\u{1b}[2K").unwrap() > last, "{text:?}");
    let dumb = seen("dumb");
    assert!(dumb.contains("recorded #"), "{dumb:?}");
    assert!(!dumb.contains('\u{1b}'), "{dumb:?}");
}

#[test]
fn a_limit_is_waited_for_and_another_agent_stands_in_for_one_that_is_absent() {
    let job = Job::with(&format!("{AGENTS}{OTHERS}"));
    std::fs::write(job.state.join("limit"), "1735689600").unwrap();
    let run = job.run(&["--steps", "6"]).exits(13);
    assert!(run.err.contains("(absent)"), "{}", run.err);
    assert!(
        run.err.contains("waiting until 2025-01-01T00:00:00Z"),
        "{}",
        run.err
    );
    assert_eq!(
        job.calls(),
        ["regrounder", "implementer", "reviewer", "auditor"],
        "{}",
        run.err
    );
    let status = job.repo.cook(&["status"]).exits(0);
    assert!(!status.out.contains("spent"), "{}", status.out);
}

/// Nobody says when it ends: the same attempt is made again after a while.
#[test]
fn a_limit_without_an_end_is_waited_out() {
    let job = Job::with(&format!("{AGENTS}{OTHERS}"));
    std::fs::write(job.state.join("limit"), "soon").unwrap();
    let mut run = job.repo.cook_command(&["run", "--steps", "6"]);
    let run = run.env_remove("COOK_NOW").output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(13), "{said}");
    assert!(job.state.join("met").exists());
    assert!(said.contains("to try again"), "{said}");
    assert_eq!(
        job.calls(),
        ["regrounder", "implementer", "reviewer", "auditor"],
        "{said}"
    );
    let status = job.repo.cook(&["status"]).exits(0);
    assert!(!status.out.contains("spent"), "{}", status.out);
}

#[test]
fn a_wait_for_the_end_of_a_limit_outlives_the_run() {
    let job = Job::with(&format!(
        "{AGENTS}\n[roles.regrounder]\nagent = \"limited\"\n"
    ));
    // One hour after the moment at which every clock stands.
    std::fs::write(job.state.join("limit"), "1767326645").unwrap();
    let until = "2026-01-02T04:04:05Z";
    for moment in ["2026-01-02T03:04:05Z", "2026-01-02T03:34:05Z"] {
        job.repo
            .extra
            .borrow_mut()
            .push(("COOK_NOW".to_owned(), moment.to_owned()));
        let mut child = job
            .repo
            .command(env!("CARGO_BIN_EXE_cook"))
            .arg("run")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        let waits = || {
            let status = job.repo.cook(&["status", "--json"]).exits(0).json();
            status["run"]["waits_until"] == until
        };
        while !waits() {
            assert!(started.elapsed() < Duration::from_secs(30), "it waits");
            std::thread::sleep(Duration::from_millis(50));
        }
        let text = job.repo.cook(&["status"]).exits(0).out;
        assert!(text.contains(until), "{text}");
        let ended = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(ended.success());
        assert!(child.wait().unwrap().code().is_some());
    }
    assert!(job.state.join("met").exists() && job.calls().is_empty());
    let lines = job.repo.cook(&["session", "log", "--json"]).exits(0).json();
    assert_eq!(
        lines["calls"].as_array().unwrap().len(),
        1,
        "nobody was asked again"
    );
    job.repo
        .extra
        .borrow_mut()
        .push(("COOK_NOW".to_owned(), "2026-01-02T05:00:00Z".to_owned()));
    let run = job.run(&["--steps", "1"]).exits(13);
    assert!(!run.err.contains("waiting until"), "{}", run.err);
    assert_eq!(job.calls(), ["regrounder"]);
}

#[test]
fn without_anybody_who_can_play_a_role_no_run_begins() {
    let job = Job::with(&format!("{AGENTS}{OTHERS}").replace("fallback = [\"player\"]\n", ""));
    let run = job.run(&[]).exits(5);
    let said = "no agent can play the completion-reviewer: agent `absent`: there is no `/nonexistent/agent`";
    assert!(run.err.contains(said), "{}", run.err);
    job.repo.cook(&["next", "--exit-code"]).exits(0);
    assert_eq!(job.calls(), [""; 0]);
}

#[test]
fn what_stands_in_the_way_is_said_before_a_session() {
    let job = Job::new();
    job.repo.write("draft.txt", "mine");
    job.run(&[])
        .exits(4)
        .says("[dirty_worktree]")
        .says("draft.txt")
        .says("next: commit them, or use `--park-changes`");
    job.run(&["--agent", "no-such-agent"]).exits(2);
    assert_eq!(job.calls().len(), 0);
    let elsewhere = Repo::with_script();
    elsewhere.cook(&["run"]).fails(3, "not_initialised");
}

#[test]
fn whoever_reads_is_shown_the_diff_the_proofs_and_what_became_of_the_tests() {
    let job = Job::new();
    job.run(&["--steps", "9"]).exits(13);
    job.mischief("implementer", "weaken");
    job.run(&["--steps", "2"]).exits(13);
    let prompt =
        |role: &str| std::fs::read_to_string(job.state.join(format!("prompt.{role}"))).unwrap();
    let reviewer = prompt("reviewer");
    for part in [
        "+++ b/tally (modified, source)",
        "+++ b/tests/run.sh (modified, gate)",
        "-check \"a missing file is an error\"",
        "+check \"the most frequent word comes first\"",
        "words: a file that is not there is an error: changed (test:a missing file is an error)",
        "criterion 1: the most frequent word comes first",
        "gate `bash tests/run.sh` passed at HEAD\n",
        "`lost` (slice `top`): `a missing file is an error` ran before and does not run now; its old version passes on the new code",
    ] {
        assert!(reviewer.contains(part), "{part}\n{reviewer}");
    }
    assert!(!prompt("implementer").contains("the diff:"));
}

/// What a judge was given before its own prompt, and that prompt.
fn evidence_and_prompt(job: &Job, turn: usize) -> (String, String) {
    let text = std::fs::read_to_string(job.state.join(format!("judge.{turn}"))).unwrap();
    let (before, now) = text.rsplit_once(" now\n").unwrap();
    (before.to_owned(), now.to_owned())
}

#[test]
fn judges_go_on_from_one_evidence_and_see_nothing_of_each_other() {
    let job = Job::with(&format!(
        "{AGENTS}\n[roles.stop-judge]\nagents = [\"player\", \"limited\"]\n"
    ));
    job.run_through_the_first_wave();
    let all = [1, 2, 3].map(|turn| evidence_and_prompt(&job, turn));
    for (evidence, prompt) in &all {
        assert_eq!(evidence, &all[0].0, "one evidence for all");
        assert!(evidence.contains("# Evidence for the judges of stop wave"));
        assert!(evidence.contains("words: a file that is not there is an error: verified"));
        assert!(prompt.contains("in the evidence that stands before this"));
    }
    let (evidence, prompt) = evidence_and_prompt(&job, 3);
    assert!(!evidence.contains("does not say how") && !prompt.contains("does not say how"));
    let lines = job.repo.cook(&["session", "log", "--json"]).exits(0).json();
    let suppliers: Vec<&str> = lines["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["call"])
        .filter(|call| call["role"] == "stop-judge")
        .map(|call| call["supplier"].as_str().unwrap())
        .collect();
    assert_eq!(suppliers, ["player", "limited", "player"]);
}

#[test]
fn judges_are_held_at_once_where_the_settings_say_so() {
    let job = Job::with("[rules]\nparallel_judges = true\n");
    std::fs::write(job.state.join("slow"), "").unwrap();
    job.run_through_the_first_wave();
    let judges = std::fs::read_to_string(job.state.join("judges")).unwrap();
    assert_eq!(
        judges.lines().collect::<Vec<_>>(),
        ["begins", "begins", "begins", "ends", "ends", "ends"]
    );
    assert_eq!(
        evidence_and_prompt(&job, 1).0,
        evidence_and_prompt(&job, 3).0
    );
}

#[test]
fn of_judges_that_are_held_at_once_none_counts_when_one_of_them_changed_something() {
    let job = Job::with("[rules]\nparallel_judges = true\n");
    job.mischief("stop-judge", "edit");
    let run = job.run_through_the_first_wave();
    assert!(run.err.contains("`tally`"), "{}", run.err);
    job.run(&["--steps", "2"]).exits(13);
    let judges = std::fs::read_to_string(job.state.join("judges")).unwrap();
    let held = judges.matches("begins").count();
    let votes = job.repo.read(".agent/stop-check-history.jsonl");
    assert!(held > votes.lines().count(), "{judges}{votes}");
    assert!(
        ["judge 1 ", "judge 2 "]
            .iter()
            .all(|first| !votes.contains(first)),
        "{votes}"
    );
    job.goes_on();
}

#[test]
fn two_votes_out_of_one_session_are_one() {
    let job = Job::with(&format!(
        "{AGENTS}\n[roles.stop-judge]\nagent = \"limited\"\n"
    ));
    std::fs::write(job.state.join("same"), "").unwrap();
    let run = job.run(&[]).exits(6);
    assert!(
        run.err.contains("its session already gave vote"),
        "{}",
        run.err
    );
    let status = job.repo.cook(&["log", "--json"]).exits(0).out;
    assert!(status.contains("refused"), "{status}");
}

#[test]
fn another_terminal_sees_what_a_run_is_at() {
    let job = Job::new();
    assert_eq!(
        job.repo.cook(&["status", "--json"]).exits(0).json()["run"],
        serde_json::Value::Null
    );
    job.mischief("implementer", "hang");
    let (mut child, agent) = job.run_until_it_hangs();
    job.repo
        .write("draft.txt", "what the implementer left so far");
    let run = job.repo.cook(&["status", "--json"]).exits(0).json()["run"].clone();
    assert_eq!(run["pid"], child.id());
    let session = &run["sessions"][0];
    assert_eq!(session["role"], "completion-implementer");
    assert_eq!(session["agent"], "player");
    assert_eq!(session["pid"].to_string(), agent);
    assert_eq!(session["alive"], true);
    assert!(session["quiet_seconds"].as_u64().unwrap() < 60);
    assert_eq!(run["last_changed"]["path"], "draft.txt");
    let text = job.repo.cook(&["status"]).exits(0).out;
    for part in [
        "completion-implementer by player, pid ",
        " alive, ",
        " s since output",
        "draft.txt, ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let after = job.repo.cook(&["status", "--json"]).exits(0).json();
    assert_eq!(after["run"], serde_json::Value::Null, "its driver is gone");
    std::fs::remove_file(job.repo.root.join("draft.txt")).unwrap();
}

#[test]
fn what_is_not_committed_is_parked_and_put_back() {
    let job = Job::new();
    job.repo.write("notes/mine.txt", "untracked");
    job.repo.write("LICENSE", "added");
    job.repo.git(&["add", "LICENSE"]);
    job.shell("git stash list >\"$STATE/stashes\"; git stash push -q -- LICENSE; git stash apply -q --index");
    let before = (
        job.repo.git(&["status", "--porcelain"]),
        job.repo.git(&["stash", "list"]),
    );
    assert!(before.0.contains("A  LICENSE") && before.0.contains("?? notes/"));
    let refused = job.run(&[]).exits(4);
    assert!(refused.err.contains("--park-changes"), "{}", refused.err);
    let run = job.run(&["--park-changes"]).exits(0);
    assert!(
        run.err.contains("2 paths are parked as `refs/cook/parked/"),
        "{}",
        run.err
    );
    assert!(
        run.err
            .contains("the parked changes are back in the worktree"),
        "{}",
        run.err
    );
    let after = (
        job.repo.git(&["status", "--porcelain"]),
        job.repo.git(&["stash", "list"]),
    );
    assert_eq!(before, after);
    assert_eq!(job.repo.read("notes/mine.txt"), "untracked");
    assert!(!job.repo.git(&["for-each-ref"]).contains("refs/cook/parked"));
}

/// Without its contract there is no work to go on with.
#[test]
fn the_contract_is_not_parked() {
    let job = Job::new();
    let settings = job.repo.read(".agent/cook.toml");
    job.repo
        .write(".agent/cook.toml", format!("{settings}# mine\n"));
    job.repo.write("draft.txt", "mine");
    job.run(&[])
        .exits(4)
        .says("next: commit the contract first: `cook init --commit`");
    let refused = job.run(&["--park-changes"]).exits(4);
    assert!(
        refused.err.contains("`.agent/cook.toml` is not committed"),
        "{}",
        refused.err
    );
    assert_eq!(job.repo.read("draft.txt"), "mine");
    assert!(job.repo.read(".agent/cook.toml").ends_with("# mine\n"));
    assert!(!job.repo.git(&["for-each-ref"]).contains("refs/cook/parked"));
    assert_eq!(job.calls().len(), 0);
}

#[test]
fn parked_changes_that_would_collide_stay_parked_and_are_named() {
    let job = Job::new();
    job.repo.write("tally", "my own idea\n");
    let run = job.run(&["--park-changes", "--steps", "2"]).exits(13);
    assert!(
        run.err.contains("commits changed `tally` meanwhile"),
        "{}",
        run.err
    );
    job.goes_on();
    let list = job
        .repo
        .cook(&["doctor", "rescue", "list", "--json"])
        .exits(0)
        .json();
    let name = list["refs"][0]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("refs/cook/parked/"));
    assert_eq!(
        job.repo.git(&["show", &format!("{name}:tally")]).trim(),
        "my own idea"
    );
    let text = job.repo.cook(&["doctor", "rescue", "list"]).exits(0).out;
    assert!(text.contains(&name), "{text}");
}

#[test]
fn each_change_of_the_policy_is_told_once() {
    const TELL: &str = "bash ../state/tell.sh";
    let job = Job::with(&format!("[notify]\nrun = \"{TELL}\"\n"));
    std::fs::write(job.state.join("tell.sh"), "cat >>../state/told\n").unwrap();
    let refused = job.run(&[]).exits(4);
    assert!(
        refused.err.contains("[notify]") && refused.err.contains("cook trust"),
        "{}",
        refused.err
    );
    let told = || std::fs::read_to_string(job.state.join("told")).unwrap_or_default();
    let paused = job.repo.cook(&["pause"]).exits(0);
    assert!(
        paused.err.contains("notify_failed") && told().is_empty(),
        "{}",
        paused.err
    );
    job.repo.cook(&["resume", "--as-user"]).exits(0);
    job.repo.cook(&["trust", TELL, "--as-user"]).exits(0);
    job.run(&[]).exits(0);
    let messages: Vec<serde_json::Value> = told()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["from"], "continue");
    assert_eq!(messages[0]["to"], "done");
    assert_eq!(messages[0]["mission_anchor"], MISSION);
    job.is_done();
}

#[test]
fn tokens_have_their_price_and_the_limit_is_the_workflows() {
    let job = Job::with(&format!(
        "{AGENTS}\n[roles.regrounder]\nagent = \"limited\"\n[prices.limited]\ninput = 100.0\noutput = 1000.0\n[limits]\ncost_usd = 0.3\n"
    ));
    // A re-ground costs 0.1 + 0.1 dollars.
    let run = job.run(&[]).exits(6);
    assert!(
        run.out
            .contains("the work has cost 0.40 of 0.30 US dollars"),
        "{}",
        run.out
    );
    let again = job.run(&["--json"]).exits(6).json();
    assert_eq!(again["sessions"], 0, "earlier runs count");
    let rows = job
        .repo
        .cook(&["status", "--cost", "--json"])
        .exits(0)
        .json();
    let row = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["agent"] == "limited")
        .unwrap()
        .clone();
    assert_eq!(row["cost_usd"], 0.4);
    assert_eq!(row["cost_unknown"], 0);
    job.repo
        .cook(&["resume", "--add", "cost=10", "--as-user"])
        .exits(0);
    job.goes_on();
}

/// Kept sessions are the repository's: what one worktree's records cite stays, though another
/// one lets go of the rest.
#[test]
fn what_records_cite_outlives_a_gc_of_another_worktree() {
    let job = Job::new();
    job.run(&["--steps", "4"]).exits(13);
    let other = job.repo.beside("other");
    job.repo
        .git(&["worktree", "add", "-q", other.to_str().unwrap()]);
    // The clock of these runs may stand still.
    let mut gc = job.repo.cook_command(&["session", "gc", "--keep", "1ms"]);
    let gone = gc.current_dir(&other).env_remove("COOK_NOW").output();
    let gone = String::from_utf8(gone.unwrap().stdout).unwrap();
    assert!(gone.contains("12 refs stay"), "{gone}");
    let records = job.repo.read(".agent/slice-history.jsonl");
    let cited: Vec<&str> = records
        .split('"')
        .filter(|word| word.starts_with("ex_"))
        .collect();
    assert!(cited.len() >= 2, "{records}");
    for exchange in cited {
        job.repo.cook(&["session", "show", exchange]).exits(0);
    }
    job.repo.cook(&["session", "verify"]).exits(0);
    job.goes_on();
}

/// `[log] exchanges`: how much of the reviewer's session, which needed two answers, the log keeps.
#[test]
fn the_log_keeps_as_much_of_sessions_as_the_settings_say() {
    for (kept, wanted) in [("none", None), ("cited", Some(1)), ("all", Some(2))] {
        let job = Job::with(&format!("[log]\nexchanges = \"{kept}\"\n"));
        job.mischief("reviewer", "once");
        job.run(&["--steps", "3"]).exits(13);
        let workspace = cook::workspace::Workspace::open(&job.repo.root).unwrap();
        let place = workspace.place();
        let store = cook_repo::store::Store::open(place).unwrap().unwrap();
        let mut found = Vec::new();
        let each = store.each_cited_exchange(None, |_, seq, event, one| {
            let one = one.unwrap();
            found.push((seq, event.name(), one.clone()));
            Ok(())
        });
        each.unwrap();
        let reviewed = found.iter().find(|(_, event, _)| *event == "reviewed");
        let said = reviewed.map(|(_, _, one)| one.said.as_slice());
        assert_eq!(said.map(<[_]>::len), wanted, "{kept}: {found:?}");
        assert_eq!(found.is_empty(), wanted.is_none(), "{kept}");
        if let Some(said) = said {
            let last = &said[said.len() - 1];
            assert!(last.output.contains("Acceptable as-is: no"), "{last:?}");
        }
        if wanted == Some(2) {
            assert_eq!(said.unwrap()[0].output.trim(), "a report? here you are");
        }
        // What is not kept is not missed, and what is kept is held against the reports.
        let verified = job.repo.cook(&["verify", "control-plane"]).exits(0).out;
        let made_again = verified.contains("3 reports compared");
        assert_eq!(made_again, wanted.is_some(), "{kept}: {verified}");
    }
}

#[test]
fn a_session_that_takes_the_log_away_is_caught_and_the_work_goes_on() {
    let job = Job::new();
    job.run(&["--steps", "2"]).exits(13);
    for role in ["reviewer", "implementer"] {
        job.mischief(role, "gone");
        job.run(&["--steps", if role == "reviewer" { "2" } else { "4" }])
            .exits(13);
        let log = job.repo.cook(&["log", "-n", "99"]).exits(0);
        assert!(log.out.contains("refused"), "{}", log.out);
    }
    let calls = job.repo.cook(&["session", "log", "--json"]).exits(0).json();
    assert!(
        calls["calls"].as_array().unwrap().len() >= 6,
        "earlier sessions are kept"
    );
    job.goes_on();
    assert!(!job.repo.root.join(".git/cook-mirror").exists());
}

#[test]
fn a_run_that_is_killed_while_the_log_is_gone_is_gone_on_with() {
    let job = Job::new();
    job.mischief("implementer", "hang");
    let (mut child, _) = job.run_until_it_hangs();
    job.shell("rm -rf .git/cook");
    child.kill().unwrap();
    child.wait().unwrap();
    let lost = job.repo.cook(&["status"]).exits(3);
    assert!(
        lost.err.contains("`cook init` puts it back"),
        "{}",
        lost.err
    );
    job.shell("cp -r .git/cook-mirror ../kept");
    let init = job.repo.cook(&["init"]).exits(0);
    assert!(
        init.err.contains("is restored from the copy"),
        "{}",
        init.err
    );
    job.repo.cook(&["doctor", "fsck"]).exits(0);
    // It was ended in the middle.
    job.shell("rm -rf .git/cook-mirror; cp -r ../kept .git/cook-mirror");
    job.shell("rm -rf .git/cook/log.git/config .git/cook/log.git/refs .git/cook/sessions");
    let lost = job.repo.cook(&["next"]).exits(3);
    assert!(
        lost.err.contains("`cook init` puts it back"),
        "{}",
        lost.err
    );
    job.repo.cook(&["init"]).exits(0);
    job.repo.cook(&["doctor", "fsck"]).exits(0);
    job.shell("rm -rf .git/cook .git/cook-mirror; cp -r ../kept .git/cook-mirror");
    let run = job.goes_on();
    assert!(
        run.err.contains("were gone; they are restored"),
        "{}",
        run.err
    );
}

/// The agent of a killed run goes on deleting: it is ended before anything is put back.
#[test]
fn whoever_is_still_taking_the_log_away_is_ended_first() {
    let job = Job::new();
    job.mischief("implementer", "vandal");
    let (mut child, pid) = job.run_until_it_hangs();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_alive(&pid));
    let run = job.goes_on();
    assert!(!is_alive(&pid));
    assert!(
        run.err.contains("were gone; they are restored"),
        "{}",
        run.err
    );
}

#[test]
fn locks_of_a_git_that_was_ended_hold_nobody_up() {
    let job = Job::new();
    let mine = job.repo.root.join(".git/refs/heads/mine.lock");
    std::fs::write(&mine, "somebody else's, from before").unwrap();
    job.mischief("implementer", "locks");
    let run = job.run(&["--steps", "3"]).exits(13);
    assert!(
        run.err
            .contains("removed the locks of a git process that was ended: "),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("index.lock") && run.err.contains("main.lock"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("mine.lock"), "{}", run.err);
    assert!(mine.exists());
    job.goes_on();
}

/// An implementer whose own git knows nobody makes commits in the user's name.
#[test]
fn an_implementer_commits_in_the_users_name() {
    let job = Job::with("[agents.player.env]\nGIT_CONFIG_GLOBAL = \"/dev/null\"\n");
    let settings = job.repo.beside("gitconfig");
    std::fs::write(
        &settings,
        "[user]\nname = Ada Example\nemail = ada@example.org\n",
    )
    .unwrap();
    let without = |command: &mut Command| {
        for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            command.env_remove(format!("{name}_NAME"));
            command.env_remove(format!("{name}_EMAIL"));
        }
        command.env("GIT_CONFIG_GLOBAL", &settings);
    };
    let mut run = job.repo.cook_command(&["run", "--steps", "2"]);
    without(&mut run);
    let run = crate::support::run(run, b"").exits(13);
    assert_eq!(run.err.matches("recorded #").count(), 2, "{}", run.err);
    let who = ["log", "-1", "--format=%s by %an <%ae>, %cn <%ce>"];
    assert_eq!(
        job.repo.git(&who),
        "Count words by Ada Example <ada@example.org>, Ada Example <ada@example.org>"
    );
    // Where git knows nobody that is said before a session.
    std::fs::write(&settings, "[user]\nuseConfigOnly = true\n").unwrap();
    let mut run = job.repo.cook_command(&["run", "--steps", "0"]);
    without(&mut run);
    let run = crate::support::run(run, b"").exits(13);
    let said = "git does not have a name and an address for the implementer's commits";
    assert!(run.err.contains(said), "{}", run.err);
}

/// An agent that was ended says how, and where what it said lies.
#[test]
fn a_session_that_ended_is_told_with_its_end() {
    let job = Job::new();
    job.mischief("regrounder", "fails");
    let run = job.run(&["--steps", "1"]).exits(13);
    for part in [
        "player: it ended with exit code 3 (ended after ",
        ", with exit code 3, no event, its output lies in `",
        "/.git/cook/sessions/attempts/ex_",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
}

/// A model belongs to the agent that it stands beside.
#[test]
fn a_fallback_does_not_get_another_agents_model() {
    let job = Job::with(
        "[roles.regrounder]\nagent = \"missing\"\nmodel = \"huge\"\nfallback = [\"player\"]\n[agents.missing]\nbin = \"/nonexistent/agent\"\nstart = [\"{model}\"]\nmodel = [\"-m\", \"{model}\"]\nevents = \"text\"\n",
    );
    // The player takes no model: named `huge` it would be refused, and no session held.
    job.run(&["--steps", "1"]).exits(13);
    assert_eq!(job.calls(), ["regrounder"]);
}
