//! A real pi with the preset that is built in, and a scripted model on loopback behind it: a whole job from
//! `cook init` to `done`, two branches of one checkpoint, and a compaction of its own.
//!
//! It needs node, and what `tests/shims/prepare.sh DIR` fetches; `COOK_NPM_DIR=DIR` names it. Without it
//! each test says that it was skipped.
#![cfg(unix)]

use crate::support::job::Job;
use crate::support::model::{Model, Step, Turn};
use crate::support::{Repo, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Sessions of the job: one slice that is sent back once, and three judges.
const SESSIONS: usize = 13;
/// The agent of these tests, and which model it uses.
const AGENT: [&str; 4] = ["--agent", "pi", "--model", "mock/mock-model"];
/// Tokens that the model can have before it; pi keeps 1000 of them free.
const WINDOW: u64 = 20_000;

/// The variables with which pi is found, and speaks with the model alone.
fn pi(home: &Path) -> Option<Vec<(String, String)>> {
    let packages = std::env::var_os("COOK_NPM_DIR").map(PathBuf::from);
    let bin = packages.map(|dir| dir.join("node_modules/.bin"));
    let path = std::env::var_os("PATH")?;
    let node = std::env::split_paths(&path).find(|dir| dir.join("node").is_file());
    let (Some(bin), Some(node)) = (bin.filter(|bin| bin.join("pi").exists()), node) else {
        eprintln!("skipped: no node, or COOK_NPM_DIR is not what tests/shims/prepare.sh made");
        return None;
    };
    let cook = Path::new(env!("CARGO_BIN_EXE_cook")).parent().unwrap();
    let dirs = [cook, &bin, &node, Path::new("/usr/bin"), Path::new("/bin")];
    let path = std::env::join_paths(dirs).unwrap().into_string().unwrap();
    let home = home.display().to_string();
    Some(
        [
            ("PATH", path),
            ("PI_CODING_AGENT_DIR", home),
            ("PI_OFFLINE", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec(),
    )
}

/// pi's own settings: one provider, and a window that is soon full.
fn settle(home: &Path, model: &Model) {
    std::fs::create_dir_all(home).unwrap();
    let models = json!([{"id": "mock-model", "contextWindow": WINDOW, "maxTokens": 1000}]);
    let provider = json!({"providers": {"mock": {"baseUrl": format!("http://127.0.0.1:{}/v1", model.port),
        "api": "openai-completions", "apiKey": "x", "models": models}}});
    std::fs::write(home.join("models.json"), provider.to_string()).unwrap();
    let settings =
        json!({"compaction": {"enabled": true, "reserveTokens": 1000, "keepRecentTokens": 10}});
    std::fs::write(home.join("settings.json"), settings.to_string()).unwrap();
}

/// The job's steps, whole: in the sandbox nothing below `/tmp` is to be seen, and this may be there.
const JOB: &str = include_str!("../../smoke/job.sh");

/// What the model does for a role at its so many-th session. A role that may only read has no shell: it looks
/// at a file and reports; the implementer edits, writes and commits with pi's own tools.
fn role(turn: &Turn, role: &str, number: usize, report: &dyn Fn() -> String) -> Step {
    let mut tools: Vec<&str> = turn.tools.iter().map(String::as_str).collect();
    tools.sort_unstable();
    if role != "implementer" {
        assert_eq!(
            tools,
            ["find", "grep", "ls", "read"],
            "the {role} may only read"
        );
        return match turn.done {
            0 => Step::Call("read", json!({"path": "README.md"})),
            _ => Step::Say(report()),
        };
    }
    assert!(
        tools.contains(&"bash") && tools.contains(&"write"),
        "{tools:?}"
    );
    let job = |line: &str| Step::run(format!("{JOB}\n{line}"));
    match (turn.done, number) {
        (0, 1) => job("write_words"),
        (0, _) => job("fix_words"),
        (1, _) => {
            let path = format!("tests/note-{number}.md");
            Step::Call(
                "write",
                json!({"path": path, "content": "by pi's own tool\n"}),
            )
        }
        (2, 1) => job("commit words 'Count words'"),
        (2, _) => job("commit words 'Let a missing file be an error'"),
        _ => Step::Say(report()),
    }
}

/// A model that plays the roles, told apart by the first line of their prompts. It writes its reports in `root`.
fn player(root: PathBuf, environment: Vec<(std::ffi::OsString, std::ffi::OsString)>) -> Model {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pi/report.sh");
    let sessions: Mutex<BTreeMap<String, usize>> = Mutex::default();
    Model::playing(move |turn| {
        let mut lines = turn.prompt.lines();
        let named = lines.find_map(|line| line.strip_prefix("# Role: completion-"));
        let Some(name) = named else {
            return (Step::Say("that is not a role's prompt".to_owned()), 100);
        };
        let number = {
            let mut sessions = sessions.lock().unwrap();
            let number = sessions.entry(name.to_owned()).or_default();
            *number += usize::from(turn.done == 0);
            *number
        };
        let report = || {
            let mut bash = Command::new("bash");
            bash.arg(&script)
                .args([name, &number.to_string()])
                .env_clear()
                .envs(environment.iter().cloned())
                .current_dir(&root);
            run(bash, b"").exits(0).out
        };
        (role(turn, name, number, &report), 100)
    })
}

#[test]
fn a_real_pi_does_a_whole_job() {
    whole_job("off");
}

fn whole_job(sandbox: &str) {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path().join("pi");
    let Some(variables) = pi(&home) else { return };
    let tables = format!(
        "[sandbox]\nmode = \"{sandbox}\"\n\
         [roles.default]\nagent = \"pi\"\nmodel = \"mock/mock-model\"\ntimeout = \"60s\"\n"
    );
    let job = Job::within(&tables, variables);
    let environment = job.repo.command("bash");
    let environment = environment.get_envs();
    let environment = environment
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let model = player(job.repo.root.clone(), environment);
    settle(&home, &model);
    // On a busy machine pi may need long to say who it is; what it said is kept.
    let is_found = || {
        let agents = job
            .repo
            .cook(&["doctor", "agents", "--json"])
            .exits(0)
            .json();
        let rows = agents["agents"].as_array().unwrap().clone();
        rows.iter()
            .any(|row| row["name"] == "pi" && row["installed"] == true)
    };
    assert!((0..5).any(|_| is_found()), "pi does not say who it is");

    let run = job.repo.cook(&["run"]).exits(0);
    assert!(
        run.out.contains("the work is done"),
        "{}\n{}",
        run.out,
        run.err
    );
    assert!(!run.err.contains("exceeded its role"), "{}", run.err);
    job.is_done();
    // Each commit is pi's own doing, by two of its tools.
    let own = [
        "log",
        "--reverse",
        "--grep",
        "Cook-Slice",
        "--format=%s",
        "--name-only",
    ];
    let commits = job.repo.git(&own);
    let lines: Vec<&str> = commits.lines().filter(|line| !line.is_empty()).collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    assert_eq!(
        (first[0], second[0]),
        ("Count words", "Let a missing file be an error")
    );
    for (files, note) in [(first, "tests/note-1.md"), (second, "tests/note-2.md")] {
        assert!(
            files.contains(&note) && files.contains(&"tally"),
            "{files:?}"
        );
    }
    // A look and a report each, and twice two requests more where it implements.
    assert_eq!(model.turns().len(), 2 * SESSIONS + 2 * 2);
    let cost = job
        .repo
        .cook(&["status", "--cost", "--json"])
        .exits(0)
        .json();
    assert_eq!(cost["total"]["calls"], SESSIONS, "{cost}");
    let log = job.repo.cook(&["session", "log", "--json"]).exits(0);
    let judges = log.out.matches("\"role\": \"stop-judge\"").count();
    assert_eq!(judges, 3, "{}", log.out);
}

/// A repository for calls by hand, and a model that says what it was asked for.
fn asking() -> Option<(Repo, Model)> {
    let repo = Repo::set_up();
    let home = repo.beside("pi");
    let variables = pi(&home)?;
    repo.extra.borrow_mut().extend(variables);
    let summaries = AtomicUsize::new(0);
    let model = Model::playing(move |turn| {
        if turn.system.contains("summarization") {
            // pi begins to compact after its last event, and what it then does it tells nobody. As long as a
            // summary usually takes, it is ended over it and makes up for it before its next prompt.
            if summaries.fetch_add(1, Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_secs(4));
            }
            return (Step::Say("SUMMARY: the first word is plum".to_owned()), 100);
        }
        let tokens = match turn.prompt.contains("a long one") {
            true => WINDOW - 500,
            false => 100,
        };
        (Step::Say(format!("heard {}", turn.prompt)), tokens)
    });
    settle(&home, &model);
    Some((repo, model))
}

fn ask(repo: &Repo, say: &str, more: &[&str]) -> Value {
    let args = [&["ask", say, "--json"], &AGENT[..], more].concat();
    repo.cook(&args).exits(0).json()
}

#[test]
fn two_branches_of_a_real_pi_never_see_each_other() {
    let Some((repo, model)) = asking() else {
        return;
    };
    let first = ask(&repo, "the first word is plum", &[]);
    let on = ["--on-episode", first["refs"]["episode"].as_str().unwrap()];
    for (say, transport) in [("now apricot", "fork"), ("now cherry", "fork")] {
        let branch = ask(&repo, say, &on);
        assert_eq!(branch["transport"], transport, "{branch}");
    }
    let told = ask(
        &repo,
        "now damson",
        &[&on[..], &["--native", "never"]].concat(),
    );
    assert_eq!(told["transport"], "replay");
    let turns = model.turns();
    assert_eq!(turns.len(), 4);
    for (turn, own) in turns[1..].iter().zip(["apricot", "cherry", "damson"]) {
        assert!(turn.all.contains("the first word is plum"), "{}", turn.all);
        for word in ["apricot", "cherry", "damson"] {
            assert_eq!(turn.all.contains(word), word == own, "{own}: {}", turn.all);
        }
    }
    repo.cook(&["session", "verify"]).exits(0);
    repo.cook(&["verify", "control-plane"]).exits(0);
}

#[test]
fn a_compaction_of_a_real_pi_becomes_a_recap() {
    let Some((repo, model)) = asking() else {
        return;
    };
    let first = ask(&repo, "the first word is plum", &[]);
    let series = |reply: &Value| reply["refs"]["series"].as_str().unwrap().to_owned();
    let second = ask(&repo, "a long one", &["--on-series", &series(&first)]);
    // Its window is full now: pi compacts before it answers the next one.
    let third = ask(&repo, "and now?", &["--on-series", &series(&second)]);
    assert_eq!(
        (&third["transport"], &third["output"]),
        (&json!("fork"), &json!("heard and now?"))
    );
    let recap = third["recap"].as_str().unwrap_or_default();
    assert!(recap.contains("SUMMARY: the first word is plum"), "{third}");
    // The chain goes on in its next window, which begins with the recap.
    let fourth = ask(&repo, "and then?", &["--on-series", &series(&third)]);
    assert_eq!(fourth["recap"], Value::Null, "{fourth}");
    let last = model.turns().pop().unwrap();
    assert!(
        last.all.contains("SUMMARY: the first word is plum"),
        "{}",
        last.all
    );
    let window = fourth["refs"]["episode"].as_str().unwrap();
    let window = repo
        .cook(&["session", "show", window, "--json"])
        .exits(0)
        .json();
    let kinds: Vec<&str> = window["value"]["exchanges"]
        .as_array()
        .unwrap_or_else(|| panic!("{window}"))
        .iter()
        .map(|exchange| exchange["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["recap", "say", "say"]);
    // The full window is sealed, and says where it goes on.
    let sealed = second["refs"]["episode"].as_str().unwrap();
    let on = ["ask", "x", "--on-episode", sealed];
    repo.cook(&[&on[..], &AGENT[..]].concat())
        .exits(1)
        .says("episode_compacted");
    repo.cook(&["session", "verify"]).exits(0);
}
