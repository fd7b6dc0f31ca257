//! `cook mcp`: the protocol over pipes, a whole job through it, and what a hostile or hasty client sends.
#![cfg(unix)]

mod bounds;
mod client;

use crate::support::Repo;
use client::Client;
use serde_json::{Value, json};
use std::time::Duration;

/// Each argument of a tool stands on its command's own line: the command takes all of them.
#[test]
fn the_arguments_are_those_of_the_commands() {
    let repo = Repo::new();
    let mut client = Client::of(&repo);
    let listed = client.ask("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let command = if name == "prompt" { "next" } else { name };
        let help = repo.cook(&[command, "--help"]).ok().out;
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let option = format!("--{}", argument.replace('_', "-"));
            let positional = ["role", "report", "names"].contains(&argument.as_str());
            assert!(
                positional || help.contains(&option),
                "{name} {option}: {schema}"
            );
        }
    }
    client.ends();
}

/// Protocols before that of June 2025 know a text alone: what stands beside it would reach a model as a second copy.
#[test]
fn a_client_of_an_earlier_protocol_gets_each_thing_once() {
    let repo = Repo::with_mission("Build it");
    for (protocol, copies) in [("2024-11-05", 1), ("2025-03-26", 1), ("2025-06-18", 2)] {
        let mut client = Client::silent(&repo);
        client.greet_in(protocol, "test");
        let prompt = client.call("prompt", json!({}))["result"].clone();
        assert_eq!(
            prompt.to_string().matches("# Role: completion-").count(),
            copies
        );
        let text = prompt["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("# Role: completion-regrounder"), "{text}");
        let next = client.call("next", json!({}))["result"].clone();
        let text = next["content"][0]["text"].as_str().unwrap();
        let due: Value = serde_json::from_str(text).unwrap();
        assert_eq!(due["role"], "completion-regrounder");
        let refused = client.call("record", json!({"role": "auditor", "report": "x"}));
        assert_eq!(refused["result"]["isError"], true);
        let copied = refused["result"]["structuredContent"].is_object();
        assert_eq!(copied, copies == 2, "{refused}");
        client.ends();
    }
}

#[test]
fn outside_a_repository_each_call_says_so() {
    let directory = crate::support::room();
    let mut client = Client::elsewhere(directory.path());
    let refused = client.fails("next", json!({}));
    assert_eq!(refused["error"]["code"], "not_a_repository");
    let answer = client.ask("resources/read", json!({"uri": "cook://plan"}));
    assert_eq!(
        answer["error"]["data"]["code"], "not_a_repository",
        "{answer}"
    );
    assert!(client.ends_within(Duration::from_secs(20)).is_empty());
}
