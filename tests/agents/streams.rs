//! Streams that the real programs printed (`tests/streams/record.sh` records them), read by the presets built in.
#![cfg(unix)]

use cook_agents::{AgentSupplier, Bounds, FailureClass, Preset, Progress, Report, run};
use cook_protocol::model::Config;
use cook_repo::process::{Clocks, ControlFlow};
use cook_repo::session::{Action, Ref, RefKind, Turn};
use serde_json::{Value, json};
use std::collections::BTreeSet;
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
        ("cline", "inputTokens"),
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
            "401" | "api key" => FailureClass::Environment,
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

/// A cost of 0 beside tokens is what a program says that knows no price.
#[test]
fn a_cost_of_nothing_beside_tokens_is_unknown() {
    for agent in ["pi", "opencode"] {
        let (report, _) = replay(agent, "tool");
        assert!(report.usage.is_some(), "{agent}");
        assert_eq!(report.cost_micro_usd, None, "{agent}");
    }
    let (report, _) = replay("claude", "tool");
    assert_eq!(report.cost_micro_usd, Some(520));
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

/// A prompt that a hook refused is none, and says why. After stops that were refused the last answer counts.
#[test]
fn hooks_of_the_users_make_no_answers() {
    let blocked = replay("claude", "blocked").0.failure.unwrap();
    assert!(blocked.why().contains("not yet"), "{blocked:?}");
    for (agent, word) in [("claude", "overriding"), ("qwen", "")] {
        let (report, told) = replay(agent, "refused");
        assert_eq!(report.failure, None, "{agent}");
        assert_eq!(report.text, "A second answer.", "{agent}");
        let told_it = told.iter().any(|text| text.contains(word));
        assert!(told_it || word.is_empty(), "{agent}: {told:?}");
    }
}

/// Cline ends a session itself after some calls that it did not run, with exit code 0 and no word of why.
#[test]
fn a_session_that_its_agent_gave_up_says_so() {
    let (report, told) = replay("cline", "aborted");
    let failure = report.failure.unwrap();
    assert_eq!(failure.why(), "aborted");
    assert!(
        told.iter().any(|text| text.contains("[no_tool_2]")),
        "{told:?}"
    );
    assert_eq!(failure.class, FailureClass::Agent);
}

/// What will not get better is not waited for: the program would try again for minutes.
#[test]
fn a_refused_key_ends_the_session() {
    let login = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams/claude/login.jsonl"),
    )
    .unwrap();
    let until = login.find("\"attempt\":2").unwrap();
    let until = login[..until].rfind('\n').unwrap() + 1;
    let room = crate::support::room();
    let file = room.path().join("begun.jsonl");
    std::fs::write(&file, &login[..until]).unwrap();
    let failure = replay_file("claude", &file, Bounds::default()).0.failure;
    let failure = failure.unwrap();
    assert_eq!(failure.why(), "401 authentication_failed");
    assert_eq!(failure.class, FailureClass::Environment);
}

/// Overload, a limit and a missing login: what is tried again is shown, and counts for what it is.
#[test]
fn retries_are_shown_and_are_no_fault_of_the_agents() {
    for (agent, case, shown, passes) in [
        ("claude", "overload", "overloaded", true),
        ("claude", "limit", "rate_limit", true),
        ("claude", "login", "authentication_failed", false),
        ("pi", "limit", "429", true),
        ("codex", "overload", "Reconnecting... 5/5", true),
        ("codex", "login", "401 Unauthorized", false),
    ] {
        let (report, told) = replay(agent, case);
        let told_it = told.iter().any(|text| text.contains(shown));
        assert!(told_it, "{agent} {case}: {told:?}");
        let failure = report.failure.unwrap_or_else(|| panic!("{agent} {case}"));
        assert_eq!(failure.class, FailureClass::Environment, "{failure:?}");
        assert_eq!(failure.passes(), passes, "{agent} {case}: {failure:?}");
    }
    for case in ["overload", "login"] {
        let failure = replay("pi", case).0.failure.unwrap();
        assert_eq!(failure.class, FailureClass::Environment, "{failure:?}");
    }
}

/// A program that failed goes on where it says that it tries again.
#[test]
fn an_error_that_is_tried_again_with_success_is_none() {
    let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams/pi");
    let read = |case: &str| std::fs::read_to_string(streams.join(case)).unwrap();
    let limit = read("limit.jsonl");
    let until = limit.find("{\"type\":\"auto_retry_start\"").unwrap();
    let until = until + limit[until..].find('\n').unwrap() + 1;
    let both = format!("{}{}", &limit[..until], read("success.jsonl"));
    let file = crate::support::room();
    std::fs::write(file.path().join("both.jsonl"), both).unwrap();
    let (report, _) = replay_file("pi", &file.path().join("both.jsonl"), Bounds::default());
    assert_eq!(report.failure, None);
    assert_eq!(report.text, "A plain answer.");
}

/// What tells kinds of events apart.
const KINDS: [&str; 6] = [
    "type",
    "subtype",
    "method",
    "sessionUpdate",
    "contentType",
    "role",
];

fn kind_of(line: &str) -> String {
    fn walk(value: &Value, depth: usize, found: &mut Vec<String>) {
        for (key, inner) in value.as_object().into_iter().flatten() {
            match inner.as_str().filter(|_| KINDS.contains(&key.as_str())) {
                Some(kind) => found.push(kind.to_owned()),
                None if depth > 0 => walk(inner, depth - 1, found),
                None => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(&serde_json::from_str(line).unwrap(), 2, &mut found);
    found.join(" ")
}

/// A later release may leave out any kind of event: the same answer is taken without it, or none.
#[test]
fn a_kind_of_event_that_is_dropped_makes_no_other_answer() {
    let room = crate::support::room();
    for (agent, _, _) in AGENTS.iter().chain(&OVER_ACP) {
        let (whole, _) = replay(agent, "tool");
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/streams")
            .join(agent);
        let text = std::fs::read_to_string(file.join("tool.jsonl")).unwrap();
        let lines: Vec<(String, &str)> = text.lines().map(|line| (kind_of(line), line)).collect();
        let kinds: BTreeSet<&String> = lines.iter().map(|(kind, _)| kind).collect();
        let mut failed = 0;
        for dropped in &kinds {
            let kept = lines.iter().filter(|(kind, _)| kind != *dropped);
            let kept: String = kept.map(|(_, line)| format!("{line}\n")).collect();
            let file = room.path().join("dropped.jsonl");
            std::fs::write(&file, kept).unwrap();
            let (report, _) = replay_file(agent, &file, Bounds::default());
            match report.failure {
                Some(failure) => {
                    failed += 1;
                    assert_eq!(failure.class, FailureClass::Agent, "{agent} {dropped}");
                    assert!(!failure.why().is_empty(), "{agent} {dropped}");
                }
                None => {
                    assert_eq!(report.text, whole.text, "{agent} without {dropped}");
                    // A sum that lacks a part is no sum.
                    let is_sum = report.usage.is_none() || report.usage == whole.usage;
                    assert!(is_sum, "{agent} {dropped}: {:?}", report.usage);
                }
            }
        }
        // Its end at least is one that is missed.
        assert!(
            (1..kinds.len()).contains(&failed),
            "{agent}: {failed} of {kinds:?}"
        );
    }
}

/// What a program prints for people before its events: news of a release, a frame, half an object.
#[test]
fn a_banner_before_the_events_changes_no_answer() {
    let banner = "\u{feff}\n\u{1b}[33mUpdate available: 1.0.0 \u{2192} 2.0.0\u{1b}[0m\n\u{256d}\u{2500}\u{256e}\n{\n  \"name\": \"news\"\n}\n[1, 2]\n\"text\"\nnull\n{\"update\": {\"type\": \"text\"}}\n{}\n";
    let room = crate::support::room();
    for (agent, _, _) in AGENTS.iter().chain(&OVER_ACP) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/streams")
            .join(agent);
        let text = std::fs::read_to_string(file.join("success.jsonl")).unwrap();
        let (plain, _) = replay(agent, "success");
        let file = room.path().join("banner.jsonl");
        std::fs::write(&file, format!("{banner}{text}")).unwrap();
        let (report, _) = replay_file(agent, &file, Bounds::default());
        assert_eq!(report.failure, None, "{agent}");
        assert_eq!(
            (report.text, report.usage),
            (plain.text, plain.usage),
            "{agent}"
        );
        // Of one cook chooses the file.
        assert!(report.session == plain.session || *agent == "pi", "{agent}");
    }
}

/// Each agent's variables as they stood in a program that it started itself.
#[test]
fn a_marker_stands_in_a_recorded_environment() {
    use cook_protocol::model::KnownAgent;
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/markers");
    for known in KnownAgent::all() {
        let Ok(names) = std::fs::read_to_string(recorded.join(known.name())) else {
            let seen = known
                .preset
                .verified
                .as_ref()
                .is_some_and(|all| !all.is_empty());
            let none = known.markers.set.is_empty();
            assert!(none || !seen, "{} was never recorded", known.name());
            continue;
        };
        for marker in &known.markers.set {
            assert!(names.lines().any(|name| name == marker), "{marker}");
        }
        assert!(names.lines().any(|name| known.markers.include(name)));
    }
}
