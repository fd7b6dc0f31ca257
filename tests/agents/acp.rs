//! Agents over the Agent Client Protocol, against a scripted one: a turn and its conduct,
//! permissions by access, cancelling, dying, and each way of breaking the protocol.
#![cfg(target_os = "linux")]

use crate::support::Repo;
use crate::support::agents::{Scripted, is_alive, settle, wait_for, wait_for_pid};
use crate::support::job::{Job, SESSIONS};
use crate::support::player;
use cook_agents::{AgentSupplier, FailureClass, Preset, Progress, Report, run};
use cook_protocol::model::{Access, Config};
use cook_repo::process::{Clocks, ControlFlow};
use cook_repo::session::{Action, Ref, RefKind, SupplierErrorKind, Turn};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What the client said, line by line.
fn read_lines(file: &Path) -> Vec<Value> {
    std::fs::read_to_string(file)
        .unwrap_or_default()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

struct Bench {
    temp: tempfile::TempDir,
    agent: Scripted,
    access: Access,
    model: Option<&'static str>,
    clocks: Clocks,
    /// Another table than that of the scripted agent.
    table: Option<String>,
}

impl Bench {
    fn new() -> Self {
        let temp = crate::support::room();
        Self {
            agent: Scripted::new(temp.path(), "a", "acp"),
            temp,
            access: Access::Read,
            model: None,
            table: None,
            clocks: Clocks {
                wall: Duration::from_secs(30),
                idle: Duration::from_secs(20),
            },
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn read_heard(&self) -> Vec<Value> {
        read_lines(&self.path("heard"))
    }

    fn plays(&self, steps: Value) -> Report {
        self.behaves(json!({}), steps)
    }

    fn behaves(&self, mut acp: Value, steps: Value) -> Report {
        acp["heard"] = json!(self.path("heard"));
        let _ = std::fs::remove_file(self.path("heard"));
        self.agent.script(json!({"acp": acp, "steps": steps}));
        self.run("do it", &mut |_| ControlFlow::Continue)
    }

    fn run(&self, prompt: &str, watch: &mut dyn FnMut(Progress) -> ControlFlow) -> Report {
        let table = self.table.clone().unwrap_or_else(|| self.agent.table());
        let preset = Preset::of("a", &Config::parse(&table).unwrap()).unwrap();
        let dir = self.temp.path();
        let mut agent = AgentSupplier::new(preset, dir, dir, self.clocks);
        agent.model = self.model.map(str::to_owned);
        agent.access = Some(self.access);
        agent.role = Some("completion-reviewer".to_owned());
        let turn = Turn {
            name: Ref::new(RefKind::Exchange),
            prompt,
            action: Action::Ask,
            fork: None,
            schema: None,
        };
        let _shared = super::run_beside_others();
        run(&agent, &turn, watch).unwrap()
    }
}

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
fn a_turn_from_greeting_to_stop_reason() {
    let bench = Bench::new();
    bench
        .agent
        .script(json!({"acp": {"heard": bench.path("heard")}, "steps": [
        {"answer": "PROGRESS: let me look\nat it"}, {"tool": "grep\u{1b}[2J x"},
        {"report": {"usage": {"inputTokens": 10, "outputTokens": 2}, "cost_usd": 0.25}},
        {"reply": "done: ü\nand \u{202e}more"}]}));
    let prompt = format!("first\nsecond é {}", "x".repeat(1_000_000));
    let mut shown = Vec::new();
    let report = bench.run(&prompt, &mut |progress| {
        match progress {
            Progress::Tool(tool) => shown.push(format!("tool {tool}")),
            Progress::Said(said) => shown.push(format!("said {said}")),
            _ => {}
        }
        ControlFlow::Continue
    });
    assert_eq!(report.failure, None);
    // What came before the tool was not the answer.
    assert_eq!(report.text, "done: ü\nand \u{202e}more");
    assert!(report.swept && report.session.is_some());
    assert_eq!(report.exit, Some(0), "it leaves when its input ends");
    let usage = json!({"inputTokens": 10, "outputTokens": 2});
    assert_eq!(report.usage, Some(usage));
    assert_eq!(report.cost_micro_usd, Some(250_000));
    assert_eq!(shown[0], "said PROGRESS: let me look");
    assert_eq!(shown[1], "said at it");
    assert!(shown[2].starts_with("tool grep") && !shown[2].contains('\u{1b}'));
    assert!(
        bench.agent.input(0) == prompt,
        "the input is not the prompt"
    );
    let heard = bench.read_heard();
    let methods: Vec<_> = heard.iter().map(|message| &message["method"]).collect();
    assert_eq!(methods, ["initialize", "session/new", "session/prompt"]);
    let offered = &heard[0]["params"]["clientCapabilities"];
    assert_eq!(
        offered,
        &json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false})
    );
    assert_eq!(heard[0]["params"]["protocolVersion"], 1);
    let here = bench.temp.path().display().to_string();
    assert_eq!(heard[1]["params"], json!({"cwd": here, "mcpServers": []}));
    let kept = std::fs::read_to_string(report.kept.join("stdout")).unwrap();
    assert!(kept.contains("\"stopReason\":\"end_turn\""), "{kept}");
}

#[test]
fn one_that_dies_is_at_fault_and_leaves_nothing_running() {
    let bench = Bench::new();
    let file = bench.path("daemon");
    let daemon = json!([{"ignore": ["TERM", "INT"]}, {"pid": file}, {"hang": null}]);
    let leave = json!({"leave": {"steps": daemon, "own_session": true}});
    let report = bench.plays(json!([
        {"tool": "bash"}, leave, {"sleep": 700}, {"print_error": "out of luck"}, {"exit": 3}]));
    assert_eq!(
        expect_failure(&report, "failed: out of luck"),
        FailureClass::Agent
    );
    assert!(!is_alive(wait_for_pid(&file)) && report.swept);
    let report = bench.plays(json!([{"run": ["bash", "-c", "kill -9 $PPID"]}]));
    assert_eq!(expect_failure(&report, "by signal 9"), FailureClass::Agent);
    let report = bench.plays(json!([{"answer": "all is"}, {"exit": 0}]));
    expect_failure(&report, "unparseable: it left before its turn was over");
}

#[test]
fn lines_that_are_no_messages() {
    let bench = Bench::new();
    let report = bench.plays(json!([
        {"print": "warning: x"}, {"bytes": [255, 254, 10, 123, 10]}, {"print": "[]"},
        {"flood": 20_000_000}, {"print": "{\"id\":{},\"method\":\"m\"}"}, {"reply": "still here"}]));
    assert_eq!((report.failure, report.text.as_str()), (None, "still here"));
    let report = bench.plays(json!([{"print": "{\"jsonrpc\": "}, {"exit": 0}]));
    let class = expect_failure(
        &report,
        "unparseable: a line is not a message: {\"jsonrpc\":",
    );
    assert_eq!(class, FailureClass::Agent);
    // Somebody else's session, another's answer, half an update: none of it is an answer.
    let stranger = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "other",
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "lies"}}}});
    let report = bench.plays(json!([
        {"print": stranger.to_string()}, {"print": "{\"id\":2,\"result\":{\"stopReason\":\"end_turn\"}}"},
        {"print": "{\"method\":\"session/update\",\"params\":{\"sessionId\":7}}"},
        {"done": null}]));
    expect_failure(&report, "failed: the answer is empty");
    let report = bench.plays(json!([{"flood_line": 17_000_000}, {"print": ""}, {"exit": 1}]));
    expect_failure(&report, "unparseable: a line is not a message");
    let long: Vec<Value> = (0..5)
        .map(|_| json!({"answer": "x".repeat(1_000_000)}))
        .collect();
    let mut steps = long;
    steps.push(json!({"done": null}));
    expect_failure(&bench.plays(json!(steps)), "longer than cook takes");
}

#[test]
fn a_broken_installation_is_the_environments_fault_here_too() {
    let bench = Bench::new();
    let steps = json!([{"print_error": "env: 'node': No such file or directory"}, {"exit": 127}]);
    bench.agent.script(json!({"deaf": true, "steps": steps}));
    let report = bench.run("x", &mut |_| ControlFlow::Continue);
    let class = expect_failure(&report, "absent: env: 'node'");
    assert_eq!(class, FailureClass::Environment);
}

#[test]
fn a_model_is_chosen_as_the_session_offers_it() {
    let mut bench = Bench::new();
    bench.model = Some("big");
    for (models, method) in [
        ("option", "session/set_config_option"),
        ("method", "session/set_model"),
    ] {
        let report = bench.behaves(json!({"models": models}), json!([{"reply": "ok"}]));
        assert_eq!(report.failure, None, "{models}");
        let heard = bench.read_heard();
        assert_eq!(heard[2]["method"], method);
        assert!(heard[2]["params"].to_string().contains("\"big\""));
    }
    bench.model = Some("unknown");
    let report = bench.behaves(json!({"models": "option"}), json!([{"reply": "ok"}]));
    assert_eq!(
        expect_failure(&report, "Invalid params"),
        FailureClass::Config
    );
    bench.model = Some("big");
    let report = bench.plays(json!([{"reply": "ok"}]));
    let class = expect_failure(&report, "offers no choice of model");
    assert_eq!(class, FailureClass::Config);
}

/// A repository with the agent `a`, and where it notes what it hears.
fn workplace(acp: Value) -> (Repo, Scripted, PathBuf) {
    let repo = Repo::set_up();
    let agent = Scripted::new(&repo.beside("agents"), "a", "acp");
    let heard = repo.beside("heard");
    let mut acp = acp;
    acp["heard"] = json!(heard);
    agent.script(json!({"acp": acp, "steps": [{"recall": null}]}));
    settle(&repo, std::slice::from_ref(&agent), "");
    repo.commit("agents", None);
    (repo, agent, heard)
}

/// Ctrl-C: the turn is cancelled in the protocol's own words before the process is ended.
#[test]
fn a_signal_cancels_the_turn() {
    let (repo, agent, heard) = workplace(json!({}));
    let pid = repo.beside("pid");
    agent.script(json!({"acp": {"heard": heard}, "steps": [
        {"pid": pid}, {"tool": "think"}, {"await_cancel": null}]}));
    let mut child = repo
        .cook_command(&["ask", "think long", "--agent", "a"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let agent_pid = wait_for_pid(&pid);
    interrupt(&child);
    let status = wait_for(|| child.try_wait().unwrap());
    assert!(!status.success());
    assert!(!is_alive(agent_pid));
    assert_eq!(
        read_lines(&heard).last().unwrap()["method"],
        "session/cancel"
    );
    repo.cook(&["session", "verify"]).exits(0);
}

fn interrupt(child: &std::process::Child) {
    let id = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(kill.success());
}

/// `cook run`: the first Ctrl-C lets the turn end, the second one cancels it.
#[test]
fn a_second_signal_to_a_run_cancels_the_turn() {
    let job = acp_job();
    let (heard, pid) = (job.state.join("heard"), job.state.join("pid"));
    let script = json!({"dialect": "acp", "acp": {"heard": heard}, "steps": [
        {"pid": pid}, {"tool": "think"}, {"await_cancel": null}]});
    std::fs::write(job.state.join("script.json"), script.to_string()).unwrap();
    let mut child = job
        .repo
        .cook_command(&["run"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let agent = wait_for_pid(&pid);
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none() && is_alive(agent));
    interrupt(&child);
    let status = wait_for(|| child.try_wait().unwrap());
    assert!(!is_alive(agent), "{status}");
    assert_eq!(
        read_lines(&heard).last().unwrap()["method"],
        "session/cancel"
    );
    std::fs::remove_file(job.state.join("script.json")).unwrap();
    job.repo.cook(&["run", "--steps", "1"]).exits(13);
    job.repo.cook(&["session", "verify"]).exits(0);
}

#[test]
fn agents_and_doctor_know_it() {
    let (repo, agent, _) = workplace(json!({}));
    agent.plays(json!([{"reply": "ready"}]));
    let agents = repo.cook(&["doctor", "agents", "--json"]).exits(0).json();
    let rows = agents["agents"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "a").unwrap();
    assert_eq!(row["installed"], true, "{row}");
    assert!(row["capabilities"].to_string().contains("acp"), "{row}");
    repo.cook(&["doctor", "--probe", "--agent", "a"])
        .says("agent a: answered");
    agent.script(json!({"acp": {"login": true}, "steps": []}));
    repo.cook(&["doctor", "--probe", "--agent", "a"])
        .says("environment: it wants a login first");
}

/// The smoke script's job over the protocol; a script in `$STATE/script.json` is played instead.
fn acp_job() -> Job {
    let script = json!({"dialect": "acp", "steps": [
        {"tool": "look around"}, {"permission": ["allow_once", "reject_once"]}, {"tool": "work"},
        {"reply_of": ["bash", Job::player()]}]})
    .to_string();
    let start = [
        "-c",
        r#"[ -f "$STATE/script.json" ] && set -- "$1" "$(cat "$STATE/script.json")"; exec "$1" scripted-agent "$2""#,
        "sh",
        player::program().to_str().unwrap(),
        &script,
    ];
    Job::with(&format!(
        "[agents.player]\nkind = \"acp\"\nbin = \"/bin/sh\"\nstart = {}\n\
         [roles.default]\nagent = \"player\"\ntimeout = \"60s\"\n",
        json!(start)
    ))
}

/// Twenty-five sessions over the protocol, from the first re-ground to `done`.
#[test]
fn a_whole_job_is_driven_over_the_protocol() {
    let job = acp_job();
    std::fs::write(job.state.join("mischief"), "reviewer once\n").unwrap();
    let run = job.repo.cook(&["run"]).exits(0);
    // A report that breaks the rules is asked for again, in the same conversation.
    assert!(
        run.err.contains("cook asks for it once more"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("the session failed: "), "{}", run.err);
    assert!(run.err.contains("PROGRESS: counting words"), "{}", run.err);
    assert!(run.out.contains("the work is done"), "{}", run.out);
    assert_eq!(job.calls().len(), SESSIONS + 1);
    job.is_done();
}
