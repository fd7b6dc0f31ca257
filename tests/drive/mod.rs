//! `cook run` and `cook run --once` with an agent that plays the smoke script's job: from the first
//! re-ground to `done`, and each way in which an agent misbehaves on it.
#![cfg(unix)]

mod assurance;
mod demo;
mod outages;
mod sandbox;

use crate::support::Run;
use crate::support::job::{self as base, SESSIONS as JOB};
use crate::support::with_default_signals;
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

/// What a judge was given before its own prompt, and that prompt.
fn evidence_and_prompt(job: &Job, turn: usize) -> (String, String) {
    let text = std::fs::read_to_string(job.state.join(format!("judge.{turn}"))).unwrap();
    let (before, now) = text.rsplit_once(" now\n").unwrap();
    (before.to_owned(), now.to_owned())
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
