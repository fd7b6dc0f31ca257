//! Agents as child processes: what counts as a result, what is left running, what they get
//! and what is kept of them. The agents are scripted and speak in the events of real ones.
#![cfg(target_os = "linux")]

use crate::support::agents::{Scripted, has_ended, wait_for_pid};
use cook_agents::{AgentSupplier, FailureClass, Preset, Progress, Report, run};
use cook_protocol::model::{Config, EventFormat, KnownAgent};
use cook_repo::process::{Clocks, ControlFlow};
use cook_repo::session::{Action, Native, Ref, RefKind, SupplierErrorKind, Turn};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A directory, an agent, and a way to run it.
struct Bench {
    temp: tempfile::TempDir,
    agent: Scripted,
    preset: Preset,
    clocks: Clocks,
    alone: bool,
}

impl Bench {
    fn of(dialect: &'static str) -> Self {
        Self::with(dialect, "")
    }

    fn with(dialect: &'static str, extra: &str) -> Self {
        let temp = crate::support::room();
        let agent = Scripted::new(temp.path(), "a", dialect).with(extra);
        let config = Config::parse(&agent.table()).unwrap();
        Self {
            preset: Preset::of("a", &config).unwrap(),
            agent,
            temp,
            clocks: Clocks {
                wall: Duration::from_secs(30),
                idle: Duration::from_secs(20),
            },
            alone: false,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn plays(&self, steps: Value) -> Report {
        self.agent.plays(steps);
        self.run("do it", None, &mut |_| ControlFlow::Continue)
    }

    fn run(
        &self,
        prompt: &str,
        fork: Option<&Native>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow,
    ) -> Report {
        let _shared = (!self.alone).then(super::run_beside_others);
        let dir = self.temp.path();
        let mut agent = AgentSupplier::new(self.preset.clone(), dir, dir, self.clocks);
        agent.model = self.preset.takes_model().then(|| "m1".to_owned());
        agent.role = Some("completion-reviewer".to_owned());
        run(&agent, &turn(prompt, fork), watch).unwrap()
    }

    fn read_kept(&self, name: &str) -> String {
        let mut dirs: Vec<_> = std::fs::read_dir(self.path("attempts"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        dirs.sort_by_key(|dir| dir.metadata().unwrap().modified().unwrap());
        std::fs::read_to_string(dirs.last().unwrap().join(name)).unwrap()
    }
}

fn turn<'a>(prompt: &'a str, fork: Option<&'a Native>) -> Turn<'a> {
    Turn {
        name: Ref::new(RefKind::Exchange),
        prompt,
        action: Action::Ask,
        fork,
        schema: None,
    }
}

const DIALECTS: [&str; 8] = [
    "cline", "pi", "claude", "codex", "opencode", "gemini", "qwen", "copilot",
];

#[track_caller]
fn expect_failure(report: &Report, words: &str) -> FailureClass {
    let failure = report.failure.clone().expect("it succeeded");
    let said = match &failure.failure {
        SupplierErrorKind::Failed(why) => format!("failed: {why}"),
        SupplierErrorKind::Absent(why) => format!("absent: {why}"),
        SupplierErrorKind::TimedOut(why) => format!("timed out: {why}"),
        SupplierErrorKind::Unparseable(why) => format!("unparseable: {why}"),
    };
    assert!(said.contains(words), "{said}");
    failure.class
}

#[test]
fn each_dialect_gives_its_answer_and_its_errors() {
    for dialect in DIALECTS {
        let bench = Bench::of(dialect);
        let report = bench.plays(json!([
            {"tool": "read"}, {"report": {"usage": {"input": 10, "output": 2}}}, {"reply": "done: ü"}]));
        assert_eq!(report.failure, None, "{dialect}");
        assert_eq!(report.text, "done: ü", "{dialect}");
        assert!(report.session.is_some() && report.swept, "{dialect}");
        let usage = (dialect != "copilot").then(|| json!({"input": 10, "output": 2}));
        assert_eq!(report.usage, usage, "{dialect}");
        let report = bench.plays(json!([{"error": "API Error: 529 overloaded"}, {"exit": 1}]));
        assert_eq!(
            expect_failure(&report, "529 overloaded"),
            FailureClass::Environment,
            "{dialect}"
        );
    }
    assert_eq!(
        KnownAgent::names()
            .filter(|name| {
                let preset = Preset::of(name, &Config::default()).unwrap();
                preset.events() == EventFormat::Json
            })
            .count(),
        DIALECTS.len()
    );
}

#[test]
fn fact_1_exit_codes_lie() {
    let bench = Bench::of("pi");
    let report = bench.plays(json!([{"error": "the tool broke"}, {"done": null}, {"exit": 0}]));
    assert_eq!(
        expect_failure(&report, "the tool broke"),
        FailureClass::Agent
    );
    let report = bench.plays(json!([{"answer": "all done"}, {"exit": 0}]));
    expect_failure(&report, "unparseable: its events end");
    let report = bench.plays(json!([{"reply": "all done"}, {"exit": 3}]));
    expect_failure(&report, "exit code 3");
    let report = bench.plays(json!([{"reply": "  \u{1b} "}]));
    expect_failure(&report, "the answer is empty");
    let report = bench.plays(json!([{"exit": 0}]));
    expect_failure(&report, "without a word");
    let report = bench.plays(json!([{"print": "{\"type\": \"agent_e"}]));
    expect_failure(&report, "not an event: {\"type\"");
    let report = bench.plays(json!([{"bytes": [255, 254, 10, 123, 10]}, {"exit": 0}]));
    expect_failure(&report, "unparseable");
    let report =
        bench.plays(json!([{"print_error": "error: unknown option '--frob'"}, {"exit": 2}]));
    assert_eq!(expect_failure(&report, "--frob"), FailureClass::Config);
    // Noise between the events is not a failure.
    let report =
        bench.plays(json!([{"print": "warning: x"}, {"bytes": [255, 10]}, {"reply": "ok"}]));
    assert_eq!((report.failure, report.text.as_str()), (None, "ok"));
    let text = Bench::of("text");
    let report = text.plays(json!([{"reply": "one\n\ttwo\r\n\u{202e}three"}]));
    assert_eq!(report.failure, None);
    assert_eq!(report.text, "one\n\ttwo\r\n\u{202e}three\n");
    expect_failure(
        &text.plays(json!([{"reply": "sorry"}, {"exit": 1}])),
        "exit code 1",
    );
    let long = text.plays(json!([{"flood": 3_000_000}]));
    assert_eq!((long.failure, long.text.len()), (None, 3_000_000));
    expect_failure(
        &text.plays(json!([{"flood": 5_000_000}])),
        "longer than cook takes",
    );
}

/// Ways in which an agent leaves something running, each with the pid in `name`.
fn daemons(bench: &Bench) -> (Value, Vec<PathBuf>) {
    let mut steps = Vec::new();
    let mut files = Vec::new();
    let mut left = |name: &str, own_session: bool, own_environment: bool, deep: bool| {
        let file = bench.path(name);
        let _ = std::fs::remove_file(&file);
        let mut inner = json!([{"ignore": ["TERM", "INT"]}, {"pid": file}, {"hang": null}]);
        if deep {
            // The one between ends at once, so that the daemon is an orphan.
            inner = json!([{"leave": {"steps": inner, "own_session": own_session,
                "own_environment": own_environment}}, {"sleep": 200}]);
        }
        steps.push(json!({"leave": {"steps": inner, "own_session": own_session,
            "own_environment": own_environment}}));
        files.push(file);
    };
    left("plain", false, false, false);
    left("session", true, false, false);
    left("environment", false, true, false);
    left("both", true, true, false);
    left("orphan", true, true, true);
    (json!(steps), files)
}

#[test]
fn fact_2_nothing_survives_whatever_ends_the_agent() {
    let _alone = super::run_alone();
    let mut bench = Bench::of("pi");
    bench.alone = true;
    for end in [
        json!([{"reply": "ok"}]),
        json!([{"exit": 1}]),
        json!([{"reply": "ok"}, {"ignore": ["TERM", "INT"]}, {"hang": null}]),
        json!([{"ignore": ["TERM", "INT"]}, {"hang": null}]),
    ] {
        let (steps, files) = daemons(&bench);
        bench.clocks.wall = Duration::from_millis(2500);
        let mut all = steps.as_array().unwrap().clone();
        // Until each daemon has said who it is.
        all.push(json!({"sleep": 900}));
        all.extend(end.as_array().unwrap().iter().cloned());
        let report = bench.plays(json!(all));
        assert!(report.swept, "{end}");
        for file in files {
            let pid = wait_for_pid(&file);
            assert!(has_ended(pid), "{} lives after {end}", file.display());
        }
    }
}

#[test]
fn facts_3_and_8_what_an_agent_gets() {
    let bench = Bench::of("claude");
    let dump = bench.path("environment");
    let report = bench.plays(json!([{"environment": dump}, {"reply": "ok"}]));
    assert_eq!(report.failure, None);
    let env: Value = serde_json::from_str(&std::fs::read_to_string(dump).unwrap()).unwrap();
    let here = bench.temp.path().display().to_string();
    assert_eq!(env["PWD"], json!(here));
    let call = &bench.agent.calls()[0];
    assert_eq!((&call["cwd"], &call["pwd"]), (&json!(here), &json!(here)));
    for (name, value) in [
        ("COOK_ROLE", "completion-reviewer"),
        ("COOK_DEPTH", "1"),
        ("NO_COLOR", "1"),
        ("TERM", "dumb"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("DISABLE_AUTOUPDATER", "1"),
    ] {
        assert_eq!(env[name], json!(value), "{name}");
    }
    assert!(env["COOK_INVOCATION"].as_str().unwrap().starts_with("ex_"));
    for name in env.as_object().unwrap().keys() {
        assert!(
            !cook_repo::process::is_agent_marker(name),
            "{name} came through"
        );
    }
    assert_eq!(call["args"][0], "--tools");
    assert!(
        call["args"]
            .as_array()
            .unwrap()
            .windows(2)
            .any(|two| two == [json!("--model"), json!("m1")])
    );
}

#[test]
fn fact_4_the_prompt_goes_in_whole_and_floods_do_not_stay_in_memory() {
    let bench = Bench::of("pi");
    let prompt = "p\n\u{e9}".repeat(1_000_000);
    bench.agent.plays(json!([{"reply": "ok"}]));
    let report = bench.run(&prompt, None, &mut |_| ControlFlow::Continue);
    assert_eq!(report.failure, None);
    assert!(
        bench.agent.input(0) == prompt,
        "the input is not the prompt"
    );
    // One that reads nothing, and one that closes its stdout early.
    bench
        .agent
        .script(json!({"deaf": true, "steps": [{"reply": "ok"}]}));
    assert_eq!(
        bench
            .run(&prompt, None, &mut |_| ControlFlow::Continue)
            .text,
        "ok"
    );
    let report = bench.plays(json!([{"reply": "early"}, {"close_stdout": null}, {"sleep": 100}]));
    assert_eq!((report.failure, report.text.as_str()), (None, "early"));
    let report = bench.plays(json!([{"flood": 60_000_000}, {"flood_line": 40_000_000}, {"print": ""}, {"reply": "still here"}]));
    assert_eq!((report.failure, report.text.as_str()), (None, "still here"));
    let kept = bench.read_kept("stdout");
    assert!(kept.len() <= 9 * 1024 * 1024 + 100, "{}", kept.len());
    assert!(kept.contains("bytes left out]") && kept.contains("still here"));
}

#[test]
fn fact_9_totals_of_a_thread_are_stored_as_differences() {
    let bench = Bench::of("codex");
    let first =
        bench.plays(json!([{"report": {"usage": {"input_tokens": 100}}}, {"reply": "one"}]));
    let native = first.native.unwrap();
    assert_eq!(first.usage, Some(json!({"input_tokens": 100})));
    bench
        .agent
        .plays(json!([{"report": {"usage": {"input_tokens": 140}}}, {"reply": "two"}]));
    let second = bench.run("more", Some(&native), &mut |_| ControlFlow::Continue);
    assert_eq!(second.usage, Some(json!({"input_tokens": 40})));
    let bench = Bench::of("claude");
    let first = bench.plays(json!([{"report": {"cost_usd": 0.5}}, {"reply": "one"}]));
    assert_eq!(first.cost_micro_usd, Some(500_000));
    bench
        .agent
        .plays(json!([{"report": {"cost_usd": 0.75}}, {"reply": "two"}]));
    let second = bench.run("more", first.native.as_ref(), &mut |_| {
        ControlFlow::Continue
    });
    assert_eq!(second.cost_micro_usd, Some(250_000));
    // What is not reported is unknown, not nothing.
    let silent = Bench::of("copilot").plays(json!([{"reply": "ok"}]));
    assert_eq!((silent.usage, silent.cost_micro_usd), (None, None));
}

#[test]
fn fact_10_two_clocks_and_the_result_at_the_last_event() {
    let mut bench = Bench::of("pi");
    let begin = Instant::now();
    let report = bench.plays(json!([{"reply": "ok"}, {"hang": null}]));
    assert_eq!((report.failure, report.text.as_str()), (None, "ok"));
    assert!(begin.elapsed() < Duration::from_secs(8));
    bench.clocks.idle = Duration::from_millis(700);
    expect_failure(
        &bench.plays(json!([{"session": null}, {"hang": null}])),
        "timed out: it said nothing",
    );
    // Output on either stream is a sign of life.
    let signs: Vec<Value> = (0..8)
        .flat_map(|_| [json!({"sleep": 200}), json!({"print_error": "."})])
        .chain([json!({"reply": "ok"})])
        .collect();
    assert_eq!(bench.plays(json!(signs)).failure, None);
    bench.clocks.wall = Duration::from_millis(900);
    expect_failure(&bench.plays(json!(signs)), "timed out: it took longer");
}

#[test]
fn secrets_are_not_kept() {
    let bench = Bench::of("text");
    bench.plays(json!([
        {"print_error": "using ghp_abcdefghijklmnopqrstuvwxyz0123"}, {"reply": "fine"}]));
    assert_eq!(bench.read_kept("stderr"), "using [redacted]\n");
}

#[test]
fn no_run_overwrites_what_another_left() {
    let bench = Bench::of("text");
    let turn = turn("x", None);
    let taken = bench.path("attempts").join(turn.name.to_string());
    std::fs::create_dir_all(taken).unwrap();
    let dir = bench.temp.path();
    let agent = AgentSupplier::new(bench.preset.clone(), dir, dir, bench.clocks);
    assert!(run(&agent, &turn, &mut |_| ControlFlow::Continue).is_err());
    assert!(bench.agent.calls().is_empty());
}
