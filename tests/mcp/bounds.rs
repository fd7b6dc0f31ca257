//! What is not a message, too large, too much at once, or cut off in the middle.

use crate::mcp::client::Client;
use crate::support::Repo;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn wrong_arguments_are_named() {
    let repo = Repo::with_mission("Build it");
    let mut client = Client::of(&repo);
    let wrong = [
        ("next", json!({"take": true}), "takes no arguments"),
        ("record", json!({"role": "reviewer"}), "needs `report`"),
        ("record", json!({"role": 1, "report": ""}), "`role` must be"),
        ("gate", json!({"names": ["a\u{0}b"]}), "NUL"),
        ("gate", json!({"names": "a"}), "list of strings"),
        ("gate", json!({"slice": "x".repeat(5000)}), "4096"),
        ("brief", json!({"max_bytes": -1}), "whole number"),
        (
            "check",
            json!({"trust_repo": true}),
            "unknown argument `trust_repo`",
        ),
    ];
    for (tool, arguments, says) in wrong {
        let answer = client.call(tool, arguments);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(message.contains(says), "{message}");
    }
    // A name that reads as an option is a name.
    let refused = client.fails("gate", json!({"names": ["--fresh"]}));
    assert!(refused.to_string().contains("unknown gate"), "{refused}");
    assert_eq!(
        client.objects("resources/read", json!({"uri": "file:///etc/passwd"})),
        -32002
    );
    client.ends();
}

#[test]
fn large_requests_are_read_or_refused() {
    let repo = Repo::with_mission("Build it");
    let mut client = Client::of(&repo);
    let large = "x".repeat(10 << 20);
    let refused = client.fails("record", json!({"role": "regrounder", "report": large}));
    assert_eq!(refused["error"]["code"], "report_invalid", "{refused}");
    assert!(refused.to_string().len() < 100_000);
    let more = vec![b'y'; 20 << 20];
    client.write(&more);
    client.write(b"\n");
    let answer = client.read();
    assert_eq!(answer["error"]["code"], -32600);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("16 MiB")
    );
    assert!(client.ask("ping", json!({}))["result"].is_object());
    client.ends();
}

#[test]
fn an_id_that_waits_is_not_taken_twice() {
    let repo = with_slow_gate();
    let mut client = Client::of(&repo);
    let id = client.send("tools/call", json!({"name": "gate"}));
    let line = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    client.write(format!("{line}\n").as_bytes());
    let answer = client.read();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(id), &json!(-32600))
    );
    client.tell("notifications/cancelled", json!({"requestId": id}));
    assert!(client.ask("ping", json!({}))["result"].is_object());
    client.ends();
    is_quiet(&repo);
}

#[test]
fn a_call_in_the_middle_ends_with_the_client() {
    let repo = with_slow_gate();
    let mut client = Client::of(&repo);
    client.send("tools/call", json!({"name": "gate"}));
    wait_for(|| repo.root.join("started").exists());
    // Others are answered beside it.
    assert_eq!(client.does("next", json!({}))["rule"], "3");
    let began = Instant::now();
    client
        .write(b"{\"jsonrpc\": \"2.0\", \"id\": 99, \"method\": \"tools/call\", \"params\": {\"na");
    let rest = client.ends_within(SOON);
    assert!(
        rest.iter().all(|answer: &Value| answer["id"] != 99),
        "{rest:?}"
    );
    assert!(began.elapsed() < SOON);
    is_quiet(&repo);
}

#[test]
fn nobody_who_reads_is_the_end_too() {
    let repo = Repo::with_mission("Build it");
    let mut command = repo.cook_command(&["mcp"]);
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let began = Instant::now();
    // The input stays open: only the answers have nowhere to go.
    while child.try_wait().unwrap().is_none() {
        let _ = std::io::Write::write_all(&mut stdin, b"garbage\n");
        assert!(began.elapsed() < SOON, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Its gate says that it runs, then sleeps for minutes.
fn with_slow_gate() -> Repo {
    let repo = Repo::with_mission("Build it");
    let run = "sh -c 'touch started; exec sleep 300.25'";
    repo.write(
        ".agent/cook.toml",
        format!("[gates.slow]\nrun = \"{run}\"\n"),
    );
    repo.trust("--gates");
    repo
}

/// Nothing of a gate is left in that repository.
fn is_quiet(repo: &Repo) {
    wait_for(|| {
        let sleeping = cook_repo::process::working_directories("sleep").unwrap_or_default();
        !sleeping.iter().any(|place| place.starts_with(&repo.root))
    });
}

#[track_caller]
fn wait_for(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < SOON, "it does not come about");
        std::thread::sleep(Duration::from_millis(10));
    }
}
