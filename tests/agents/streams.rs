//! Streams that the real programs printed (`tests/streams/record.sh` records them), read by the presets built in.
#![cfg(unix)]

use cook_agents::{FailureClass, Preset, Progress, Report, Task, run};
use cook_core::model::{Access, Config};
use cook_os::process::{Clocks, ControlFlow};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The agent, how its tool use shows, and what its API error says.
const AGENTS: [(&str, &str, &str); 7] = [
    ("pi", "bash", "401"),
    ("claude", "Bash", "400"),
    ("codex", "echo seen", "401"),
    ("opencode", "bash", "401"),
    ("gemini", "run_shell_command", "401"),
    ("qwen", "run_shell_command", "401"),
    ("copilot", "bash", "401"),
];

/// The same for those that are spoken with over the Agent Client Protocol.
const OVER_ACP: [(&str, &str, &str); 3] = [
    ("opencode-acp", "bash", "401"),
    ("gemini-acp", "echo seen", "401"),
    ("qwen-acp", "Shell", "401"),
];

/// What the preset makes of a recorded stream, and the tools it showed.
fn replay(agent: &str, case: &str) -> (Report, Vec<String>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/streams")
        .join(agent)
        .join(format!("{case}.jsonl"));
    assert!(file.is_file(), "{}", file.display());
    let table = format!(
        "[agents.{agent}]\nbin = \"cat\"\nstart = [{:?}]\n",
        file.display().to_string()
    );
    let preset = Preset::of(agent, &Config::parse(&table).unwrap()).unwrap();
    let temp = crate::support::room();
    let mut tools = Vec::new();
    let report = run(
        &Task {
            preset: &preset,
            prompt: "x",
            access: Access::Read,
            action: cook_store::session::Action::Ask,
            sandbox: None,
            dir: temp.path(),
            model: None,
            schema: None,
            fork: None,
            clocks: Clocks {
                wall: Duration::from_secs(30),
                idle: Duration::from_secs(30),
            },
            invocation: &format!("replay-{}-{agent}-{case}", std::process::id()),
            role: None,
            env: &[],
            state: &temp.path().join("state"),
            keep: &temp.path().join("keep"),
        },
        &mut |progress| {
            if let Progress::Tool(tool) = progress {
                tools.push(tool.to_owned());
            }
            ControlFlow::Continue
        },
    )
    .unwrap();
    (report, tools)
}

#[test]
fn an_answer() {
    for (agent, _, _) in AGENTS.iter().chain(&OVER_ACP) {
        let (report, _) = replay(agent, "success");
        assert_eq!(report.failure, None, "{agent}");
        assert_eq!(report.text, "A plain answer.", "{agent}");
        assert!(report.session.is_some(), "{agent} names no session");
    }
    for (agent, _, _) in AGENTS {
        let (report, _) = replay(agent, "success");
        assert_eq!(report.usage.is_some(), agent != "copilot", "{agent}");
    }
}

#[test]
fn a_tool_call() {
    for (agent, tool, _) in AGENTS.iter().chain(&OVER_ACP) {
        let (report, tools) = replay(agent, "tool");
        assert_eq!(report.failure, None, "{agent}");
        assert_eq!(report.text, "The tool said: seen.", "{agent}");
        assert!(
            tools.iter().any(|one| one.contains(tool)),
            "{agent}: {tools:?}"
        );
    }
    // Tokens of both turns, however a program counts them.
    let tokens = |agent: &str, key: &str| replay(agent, "tool").0.usage.unwrap()[key].clone();
    for (agent, key) in [
        ("pi", "input"),
        ("codex", "input_tokens"),
        ("opencode", "input"),
        ("gemini", "input_tokens"),
        ("qwen", "input_tokens"),
        ("claude", "input_tokens"),
    ] {
        assert_eq!(tokens(agent, key), json!(80), "{agent}");
    }
}

#[test]
fn an_answer_in_a_schema() {
    for (agent, _, _) in AGENTS.iter().chain(&OVER_ACP) {
        let (report, _) = replay(agent, "schema");
        assert_eq!(report.failure, None, "{agent}");
        let data = report.data.clone();
        let data = data.or_else(|| serde_json::from_str::<Value>(&report.text).ok());
        assert_eq!(data, Some(json!({"ok": true})), "{agent}: {}", report.text);
        // Two of them report it beside the text.
        assert_eq!(
            report.data.is_some(),
            ["claude", "qwen"].contains(agent),
            "{agent}"
        );
    }
}

#[test]
fn an_error_of_the_api() {
    for (agent, _, code) in AGENTS.iter().chain(&OVER_ACP) {
        let failure = replay(agent, "error").0.failure.unwrap();
        let said = format!("{:?}", failure.failure);
        assert!(said.contains(code), "{agent}: {said}");
        let class = match *code {
            "401" => FailureClass::Environment,
            _ => FailureClass::Agent,
        };
        assert_eq!(failure.class, class, "{agent}: {said}");
    }
}

#[test]
fn a_stream_that_was_cut_by_the_end_is_no_answer() {
    for (agent, _, _) in AGENTS.iter().chain(&OVER_ACP) {
        assert!(replay(agent, "kill").0.failure.is_some(), "{agent}");
    }
    // Over the protocol they say themselves that they were cancelled.
    for (agent, _, _) in OVER_ACP {
        let failure = replay(agent, "kill").0.failure.unwrap();
        assert!(
            format!("{:?}", failure.failure).contains("cancelled"),
            "{agent}"
        );
    }
}
