//! Streams that the real programs printed (`tests/streams/record.sh` records them), read by the presets built in.
#![cfg(unix)]

use cook_agents::{AgentSupplier, Bounds, FailureClass, Preset, Progress, Report, run};
use cook_protocol::model::Config;
use cook_repo::process::{Clocks, ControlFlow};
use cook_repo::session::{Action, Ref, RefKind, Turn};
use std::path::Path;
use std::time::Duration;

/// The agent, how its tool use shows, and what its API error says.
const AGENTS: [(&str, &str, &str); 8] = [
    ("pi", "bash", "401"),
    ("claude", "Bash", "400"),
    ("codex", "echo seen", "401"),
    ("opencode", "bash", "401"),
    ("gemini", "run_shell_command", "401"),
    ("qwen", "run_shell_command", "401"),
    ("copilot", "bash", "401"),
    // It names no status.
    ("cline", "run_commands", "api key"),
];

/// The same for those that are spoken with over the Agent Client Protocol.
const OVER_ACP: [(&str, &str, &str); 4] = [
    ("opencode-acp", "bash", "401"),
    ("gemini-acp", "echo seen", "401"),
    ("qwen-acp", "Shell", "401"),
    ("kimi", "Bash", "401"),
];

/// What the preset makes of a recorded stream, and the tools it showed.
fn replay(agent: &str, case: &str) -> (Report, Vec<String>) {
    replay_within(agent, case, Bounds::default())
}

/// The same held to what it may take.
fn replay_within(agent: &str, case: &str, bounds: Bounds) -> (Report, Vec<String>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/streams")
        .join(agent)
        .join(format!("{case}.jsonl"));
    replay_file(agent, &file, bounds)
}

fn replay_file(agent: &str, file: &Path, bounds: Bounds) -> (Report, Vec<String>) {
    assert!(file.is_file(), "{}", file.display());
    let table = format!(
        "[agents.{agent}]\nbin = \"cat\"\nstart = [{:?}]\n",
        file.display().to_string()
    );
    let preset = Preset::of(agent, &Config::parse(&table).unwrap()).unwrap();
    let temp = crate::support::room();
    let mut tools = Vec::new();
    let clocks = Clocks {
        wall: Duration::from_secs(30),
        idle: Duration::from_secs(30),
    };
    let mut supplier = AgentSupplier::new(preset, temp.path(), temp.path(), clocks);
    supplier.bounds = bounds;
    let turn = Turn {
        name: Ref::new(RefKind::Exchange),
        prompt: "x",
        action: Action::Ask,
        fork: None,
        schema: None,
    };
    let _shared = super::run_beside_others();
    let report = run(&supplier, &turn, &mut |progress| {
        if let Progress::Tool(shown) | Progress::Notice(shown) = progress {
            tools.push(shown.to_owned());
        }
        ControlFlow::Continue
    })
    .unwrap();
    (report, tools)
}

#[test]
fn an_error_of_the_api() {
    for (agent, _, code) in AGENTS.iter().chain(&OVER_ACP) {
        let failure = replay(agent, "error").0.failure.unwrap();
        let said = format!("{:?}", failure.failure);
        assert!(said.contains(code), "{agent}: {said}");
        let class = match *code {
            "401" | "api key" => FailureClass::Environment,
            _ => FailureClass::Agent,
        };
        assert_eq!(failure.class, class, "{agent}: {said}");
    }
}

/// Two requests are made, of 34 and 56 tokens; the second one is over each limit.
#[test]
fn a_session_is_ended_when_its_events_go_over_a_limit() {
    let limits = |tokens, requests| Bounds {
        tokens,
        requests,
        ..Bounds::default()
    };
    for (agent, _, _) in AGENTS {
        let over = replay_within(agent, "tool", limits(None, Some(0)));
        let over = over.0.failure.unwrap_or_else(|| panic!("{agent}"));
        assert!(over.why().contains("`[limits] requests`"), "{over:?}");
        assert_eq!(over.class, FailureClass::Agent, "{agent}");
        let within = replay_within(agent, "tool", limits(Some(90), Some(2)));
        assert_eq!(within.0.failure, None, "{agent}");
    }
    // Those that tell tokens request by request.
    for agent in ["claude", "pi", "opencode", "qwen", "cline"] {
        let (report, _) = replay_within(agent, "tool", limits(Some(33), None));
        let failure = report.failure.unwrap_or_else(|| panic!("{agent}"));
        assert!(failure.why().contains("it took 34 tokens"), "{failure:?}");
        // What it took until then counts.
        let taken = cook_agents::tokens(&report.usage.unwrap()).unwrap();
        assert_eq!((taken.input, taken.output), (30, 4), "{agent}");
    }
    let price = toml::from_str("input = 1000000.0\noutput = 0.0").unwrap();
    let bounds = Bounds {
        micro_usd: Some(29_000_000),
        price: Some(price),
        ..Bounds::default()
    };
    let failure = replay_within("qwen", "tool", bounds).0.failure.unwrap();
    assert!(failure.why().contains("it cost 30.0000"), "{failure:?}");
}
