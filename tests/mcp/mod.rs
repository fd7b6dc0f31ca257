//! `cook mcp`: the protocol over pipes, a whole job through it, and what a hostile or hasty client sends.
#![cfg(unix)]

mod bounds;
mod client;

use crate::support::Repo;
use crate::support::reports::{plan, proof, slice};
use client::Client;
use serde_json::{Value, json};
use std::time::Duration;

const TOOLS: [&str; 7] = [
    "next", "prompt", "record", "check", "status", "gate", "brief",
];

#[test]
fn it_says_what_it_is_and_lists_what_an_agent_may_call() {
    let repo = Repo::with_mission("Build it");
    let mut client = Client::of(&repo);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, TOOLS);
    for tool in tools {
        let schema = &tool["inputSchema"];
        jsonschema::meta::validate(schema).unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert!(tool["description"].as_str().unwrap().len() > 20);
        for (_, property) in schema["properties"].as_object().unwrap() {
            assert!(!property["description"].as_str().unwrap().is_empty());
        }
    }
    assert_eq!(
        tools[2]["inputSchema"]["required"],
        json!(["role", "report"])
    );
    let listed = client.ask("resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "cook://mission",
            "cook://plan",
            "cook://criteria",
            "cook://brief"
        ]
    );
    client.ends();
}

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
fn a_whole_job_goes_through_it() {
    let repo = Repo::with_mission("Build it");
    let mut client = Client::of(&repo);
    let due = client.does("next", json!({}));
    assert_eq!(due["role"], "completion-regrounder", "{due}");
    assert_eq!(due, repo.cook(&["next", "--json"]).json());
    let prompt = client.call("prompt", json!({}))["result"].clone();
    assert_eq!(
        prompt["structuredContent"],
        repo.cook(&["next", "--prompt", "--json"]).json()
    );
    assert_eq!(
        prompt["content"][0]["text"],
        prompt["structuredContent"]["prompt"]
    );

    let planned = json!({"plan": plan(&[slice("a")]), "select": "a"});
    let report = repo.regrounder_report(&planned);
    let checked = client.does(
        "record",
        json!({"role": "regrounder", "report": report, "check": true}),
    );
    assert_eq!(checked["valid"], true, "{checked}");
    let ticket = due["ticket"].clone();
    hand_in(
        &mut client,
        "regrounder",
        &report,
        json!({"ticket": ticket}),
    );
    repo.write_commit_for("a", "a.txt", "a works\n");
    hand_in(
        &mut client,
        "implementer",
        &repo.implementer_report(None),
        json!({}),
    );
    hand_in(
        &mut client,
        "reviewer",
        &repo.reviewer_report(None),
        json!({}),
    );
    hand_in(&mut client, "auditor", &repo.auditor_report(), json!({}));
    let accepted =
        json!({"reconcile": {"slice_id": "a", "decision": "accepted"}, "evidence": proof("a")});
    hand_in(
        &mut client,
        "regrounder",
        &repo.regrounder_report(&accepted),
        json!({}),
    );
    for judge in ["x", "y", "z"] {
        hand_in(
            &mut client,
            "stop-judge",
            &repo.judge_report(None),
            json!({"session": judge}),
        );
    }
    let concluded = json!({"conclude": {"decision": "stop"}});
    hand_in(
        &mut client,
        "regrounder",
        &repo.regrounder_report(&concluded),
        json!({}),
    );

    let status = client.does("status", json!({}));
    assert_eq!(status, repo.cook(&["status", "--json"]).json());
    assert_eq!(client.does("next", json!({}))["role"], Value::Null);
    let read = |client: &mut Client, name: &str| {
        let answer = client.ask("resources/read", json!({"uri": format!("cook://{name}")}));
        let text = &answer["result"]["contents"][0]["text"];
        text.as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    };
    assert!(read(&mut client, "mission").contains("Build it"));
    let plan: Value = serde_json::from_str(&read(&mut client, "plan")).unwrap();
    assert_eq!(plan, repo.document("plan.json"));
    let criteria: Value = serde_json::from_str(&read(&mut client, "criteria")).unwrap();
    assert_eq!(criteria[0]["status"], "done");
    assert_eq!(
        criteria[0]["acceptance_criteria"],
        plan["candidate_slices"][0]["acceptance_criteria"]
    );
    assert_eq!(criteria[0]["evidence"].as_array().unwrap().len(), 1);
    assert_eq!(
        read(&mut client, "brief"),
        client.does("brief", json!({}))["text"]
    );
    client.ends();
    repo.cook(&["verify"]).ok();
}

#[track_caller]
fn hand_in(client: &mut Client, role: &str, report: &str, more: Value) {
    let mut arguments = more;
    arguments["role"] = json!(role);
    arguments["report"] = json!(report);
    let taken = client.does("record", arguments);
    assert!(
        taken["operation"].is_string() || taken["seq"].is_number(),
        "{taken}"
    );
}

/// What is refused is refused in the command's own words.
#[test]
fn refusals_are_those_of_the_commands() {
    let repo = Repo::with_mission("Build it");
    let mut client = Client::of(&repo);
    let report = repo.reviewer_report(None);
    let refused = client.fails("record", json!({"role": "reviewer", "report": report}));
    let same = repo
        .record_with(&["reviewer", "--json"], &report)
        .exits(4)
        .json();
    assert_eq!(refused, same);
    assert!(refused["error"]["hint"].is_string(), "{refused}");

    let refused = client.fails(
        "record",
        json!({"role": "regrounder", "report": "no report\n"}),
    );
    assert_eq!(refused["error"]["code"], "report_invalid");
    let refused = client.fails("record", json!({"role": "king", "report": report}));
    assert_eq!(refused["error"]["code"], "usage");
    let refused = client.fails("record", json!({"role": "--as-user", "report": report}));
    assert_eq!(refused["error"]["code"], "usage");

    repo.write(".agent/cook.toml", "[gates.t]\nrun = \"true\"\n");
    let refused = client.fails("gate", json!({"clean": true}));
    assert_eq!(
        refused,
        repo.cook(&["gate", "--clean", "--json"]).exits(4).json()
    );
    assert_eq!(refused["error"]["code"], "trust_missing", "{refused}");
    repo.trust("--gates");
    let ran = client.does("gate", json!({})).to_string();
    assert!(ran.contains("\"t\""), "{ran}");
    client.ends();
}

/// What is the user's alone has no tool, by whatever name it is called.
#[test]
fn what_is_the_users_alone_is_no_tool() {
    let repo = Repo::with_mission("Build it");
    let mut client = Client::of(&repo);
    for name in [
        "answer", "trust", "resume", "cancel", "adopt", "undo", "refocus", "init", "run", "mcp", "",
    ] {
        assert_eq!(
            client.objects("tools/call", json!({"name": name})),
            -32602,
            "{name}"
        );
    }
    client.ends();
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

/// An agent that gives a server none of its variables, and says in the call which session it is: what it
/// hands in makes that session the owner of the work.
#[test]
fn a_session_that_a_call_names_takes_the_work() {
    for (client, owns) in [("codex-mcp-client", true), ("another", false)] {
        let repo = Repo::with_mission("Build it");
        let hook = |event: Value| {
            let mut hook = repo.cook_command(&["hook", "codex"]);
            hook.current_dir(&repo.root);
            let run = crate::support::run(hook, event.to_string().as_bytes());
            match run.out.is_empty() {
                true => Value::Null,
                false => run.json(),
            }
        };
        let of_session = |name: &str, more: Value| {
            let mut event = json!({"session_id": "t-1", "cwd": repo.root, "hook_event_name": name,
                "transcript_path": null, "model": "m", "permission_mode": "default"});
            let fields = more.as_object().unwrap().clone();
            event.as_object_mut().unwrap().extend(fields);
            event
        };
        let stop = || {
            let more = json!({"stop_hook_active": false, "last_assistant_message": "done", "turn_id": "1"});
            hook(of_session("Stop", more))
        };
        hook(of_session("SessionStart", json!({"source": "startup"})));
        assert_ne!(stop()["decision"], "block", "nobody took it");
        let mut server = Client::connect_as(&repo, client);
        let report = repo.regrounder_report(&json!({"plan": plan(&[slice("a")]), "select": "a"}));
        let arguments = json!({"role": "regrounder", "report": report});
        let call = json!({"name": "record", "arguments": arguments, "_meta": {"threadId": "t-1"}});
        let answer = server.ask("tools/call", call);
        assert_eq!(answer["result"]["isError"], false, "{answer:#}");
        server.ends();
        assert_eq!(stop()["decision"] == "block", owns, "{client}");
    }
}
