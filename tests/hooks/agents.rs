//! The hooks of every agent: what goes in, what comes out, what is installed; the recovery message
//! under the worst input; the checkpoint trail and the log.

use crate::support::hooks::{Session, command_below, trail};
use crate::support::{Repo, run};
use cook_agents::hooks::{
    Agent, ClosedIssue, Effects, Event, Item, Kind, MAX_BYTES, Recovery, SessionState, Situation,
    answer, read, step, within,
};
use cook_protocol::model::hook_table::{AnswerShape, Lenience, SettingsForm};
use cook_protocol::model::{Checkpoint, CheckpointKind};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

fn schema(agent: Agent) -> jsonschema::Validator {
    let name = format!("protocol/hooks/{}.schema.json", agent.name());
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let events: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let mut known: Vec<&str> = agent.rows().iter().map(|row| row.native.as_str()).collect();
    known.sort_unstable();
    assert_eq!(events, known, "{agent:?}");
    jsonschema::draft202012::new(&schema).unwrap()
}

fn find_agent(name: &str) -> Agent {
    Agent::parse(name).unwrap()
}

/// All sixteen combinations of the four effects.
fn every_effect() -> impl Iterator<Item = Effects> {
    (0..16).map(|bits: u8| {
        let some = |bit: u8, text: &str| (bits & bit != 0).then(|| text.to_owned());
        Effects {
            context: some(1, "context \"quoted\" \u{1f600}\nand more"),
            deny: some(2, "why not"),
            block: some(4, "what to do"),
            notice: some(8, "for the user"),
        }
    })
}

#[test]
fn each_agent_takes_each_answer_to_each_event() {
    let mut combinations = 0;
    for agent in Agent::all() {
        let schema = schema(agent);
        for row in agent.rows() {
            for effects in every_effect() {
                combinations += 1;
                let fitting = within(row, &effects);
                let Some(said) = answer(agent, row, &effects) else {
                    assert!(
                        fitting.is_empty(),
                        "{agent:?} {} drops {effects:?}",
                        row.native
                    );
                    continue;
                };
                let held = json!({ row.native.as_str(): said });
                let errors: Vec<String> =
                    schema.iter_errors(&held).map(|e| e.to_string()).collect();
                assert!(errors.is_empty(), "{held}: {errors:?}");
                let mut wider = held.clone();
                wider[row.native.as_str()]["frobnicated"] = json!(1);
                assert!(
                    !schema.is_valid(&wider),
                    "{agent:?} {} lets anything through",
                    row.native
                );
                // Everything that fits is in it, word for word.
                let text = held.to_string();
                for part in [
                    &fitting.context,
                    &fitting.deny,
                    &fitting.block,
                    &fitting.notice,
                ] {
                    let quoted = part.as_ref().map(|part| json!(part).to_string());
                    assert!(quoted.is_none_or(|part| text.contains(&part)), "{held}");
                }
                for part in ["why not", "what to do", "for the user"] {
                    let meant = [&fitting.deny, &fitting.block, &fitting.notice];
                    let wanted = meant.iter().any(|held| held.as_deref() == Some(part));
                    assert_eq!(text.contains(part), wanted, "{held}");
                }
            }
        }
    }
    assert_eq!(
        combinations,
        Agent::all().map(|a| a.rows().len() * 16).sum::<usize>()
    );
}

/// Each agent's own spelling of: a shell call with an id in a session.
fn shell_event(agent: Agent, native: &str, root: &Path) -> (Vec<String>, Value) {
    let cwd = root.to_str().unwrap();
    let line = "cook next --take";
    let args = |more: &[&str]| more.iter().map(|word| (*word).to_owned()).collect();
    match agent.name() {
        "copilot" => (
            args(&["--event", native]),
            json!({"sessionId": "s", "cwd": cwd, "toolName": "bash",
                "toolArgs": json!({"command": line}).to_string(), "prompt": "p", "source": "new"}),
        ),
        "cursor" => (
            args(&[]),
            json!({"hook_event_name": native, "conversation_id": "s", "workspace_roots": [cwd],
                "generation_id": "g", "tool_name": "Shell", "tool_input": {"command": line},
                "command": line, "file_path": "a.txt", "prompt": "p"}),
        ),
        "cline" => (
            args(&[]),
            json!({"event": native, "session": "s", "cwd": cwd, "tool": "run_commands", "call_id": native,
                "args": {"commands": [line]}, "prompt": "p", "typed": true}),
        ),
        "kimi" => (
            args(&[]),
            json!({"hook_event_name": native, "session_id": "s", "cwd": cwd, "tool_name": "Bash",
                "tool_input": {"command": line}, "tool_call_id": native,
                "prompt": [{"type": "text", "text": "p"}]}),
        ),
        "opencode" | "pi" => (
            args(&[]),
            json!({"event": native, "session": "s", "cwd": cwd, "tool": "bash", "call_id": native,
                "args": {"command": line}, "prompt": "p", "typed": true}),
        ),
        "codex" => (
            args(&[]),
            json!({"hook_event_name": native, "session_id": "s", "cwd": cwd, "turn_id": "t",
                "tool_name": "shell", "tool_input": {"command": ["bash", "-lc", line]},
                "tool_use_id": native, "prompt": "p"}),
        ),
        _ => (
            args(&[]),
            json!({"hook_event_name": native, "session_id": "s", "cwd": cwd,
                "tool_name": agent.hooks().tools.shell[0],
                "tool_input": {"command": line}, "tool_use_id": native, "prompt": "p"}),
        ),
    }
}

#[test]
fn a_whole_session_of_each_agent_is_recovered_taken_and_held() {
    for agent in Agent::all() {
        let repo = Repo::with_selection();
        let schema = schema(agent);
        let session = Session::new(&repo, "s");
        let send = |native: &str| -> Value {
            let (more, event) = shell_event(agent, native, &repo.root);
            session.wait(10);
            let mut command = repo.cook_command(&["hook", agent.name()]);
            command.args(more).env("COOK_NOW", session.now());
            let done = run(command, event.to_string().as_bytes()).exits(0);
            assert_eq!(done.err, "", "{agent:?} {native}");
            if done.out.is_empty() {
                return Value::Null;
            }
            let held = json!({ native: done.json() });
            assert!(schema.is_valid(&held), "{held}");
            held[native].clone()
        };
        let mut recovered = 0;
        let mut taken = false;
        let mut stop = Value::Null;
        for row in agent.rows() {
            if row.kind == Kind::AfterTool && !std::mem::replace(&mut taken, true) {
                // An agent that names no session in its children's environment does so here.
                let markers = &agent.known().markers;
                let variable = markers.session.as_ref().or(markers.set.first());
                let take = ["next", "--take"];
                let mut next = match &markers.program {
                    Some(program) => command_below(&repo, program, &take),
                    None => repo.cook_command(&take),
                };
                next.envs(variable.map(|name| (name, "s")))
                    .env("COOK_NOW", session.now());
                run(next, b"").exits(0);
            }
            let said = send(&row.native);
            recovered += usize::from(said.to_string().contains("## Resuming: a"));
            if row.kind == Kind::Stop {
                stop = said;
            }
        }
        assert!(recovered >= 1, "{agent:?} never got the message");
        if !agent.can_hold_a_stop() {
            assert_eq!(stop, Value::Null, "{agent:?}");
            continue;
        }
        let word = match agent.hooks().answer {
            AnswerShape::Cursor => "/followup_message",
            AnswerShape::Kimi => "/hookSpecificOutput/permissionDecisionReason",
            AnswerShape::Shim => "/block",
            _ => "/reason",
        };
        let why = stop.pointer(word).and_then(Value::as_str);
        let why = why.unwrap_or_default();
        assert!(
            why.contains("completion-implementer is due"),
            "{agent:?}: {stop}"
        );
    }
}

#[test]
fn the_tools_of_each_agent_are_understood() {
    let tool = |agent: Agent, native: &str, fields: Value| {
        let mut event = fields;
        event["hook_event_name"] = json!(native);
        event["session_id"] = json!("s");
        read(agent, None, event.to_string().as_bytes())
            .unwrap()
            .tool
            .unwrap()
    };
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** Update File: a.txt\n*** Move to: b.txt\n*** Delete File: old.txt\n*** End Patch";
    let cases = [
        (
            find_agent("claude"),
            "PostToolUse",
            json!({"tool_name": "MultiEdit", "tool_input": {"file_path": "a"}}),
            vec!["a"],
        ),
        (
            find_agent("claude"),
            "PostToolUse",
            json!({"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "n"}}),
            vec!["n"],
        ),
        (
            find_agent("claude"),
            "PostToolUse",
            json!({"tool_name": "mcp__fs__move_file", "tool_input": {"source": "a", "destination": "b"}}),
            vec!["a", "b"],
        ),
        (
            find_agent("claude"),
            "PostToolUse",
            json!({"tool_name": "Read", "tool_input": {"file_path": "a"}}),
            vec![],
        ),
        (
            find_agent("codex"),
            "PostToolUse",
            json!({"tool_name": "apply_patch", "tool_input": {"command": patch}}),
            vec!["new.txt", "a.txt", "b.txt", "old.txt"],
        ),
        (
            find_agent("codex"),
            "PostToolUse",
            json!({"tool_name": "shell", "tool_input": {"command": ["apply_patch", patch]}}),
            vec!["new.txt", "a.txt", "b.txt", "old.txt"],
        ),
        (
            find_agent("gemini"),
            "AfterTool",
            json!({"tool_name": "replace", "tool_input": {"file_path": "a"}}),
            vec!["a"],
        ),
        (
            find_agent("gemini"),
            "AfterTool",
            json!({"tool_name": "write_file", "tool_input": {"absolute_path": "a"}}),
            vec!["a"],
        ),
        (
            find_agent("qwen"),
            "PostToolUse",
            json!({"tool_name": "edit", "tool_input": {"file_path": "a"}}),
            vec!["a"],
        ),
        (
            find_agent("copilot"),
            "postToolUse",
            json!({"toolName": "create", "toolArgs": "{\"path\":\"a\"}"}),
            vec!["a"],
        ),
        (
            find_agent("cursor"),
            "afterFileEdit",
            json!({"file_path": "a", "edits": []}),
            vec!["a"],
        ),
        (
            find_agent("cursor"),
            "postToolUse",
            json!({"tool_name": "StrReplace", "tool_input": {"path": "a"}}),
            vec![],
        ),
        (
            find_agent("opencode"),
            "after_tool",
            json!({"tool": "patch", "args": {"patchText": patch}}),
            vec!["new.txt", "a.txt", "b.txt", "old.txt"],
        ),
        (
            find_agent("pi"),
            "after_tool",
            json!({"tool": "write", "args": {"path": "a"}}),
            vec!["a"],
        ),
        (
            find_agent("cline"),
            "after_tool",
            json!({"tool": "editor", "args": {"path": "/r/a", "new_text": "x"}}),
            vec!["/r/a"],
        ),
        (
            find_agent("cline"),
            "after_tool",
            json!({"tool": "run_commands", "args": {"commands": ["echo x > a", {"command": "tee", "args": ["b"]}]}}),
            vec!["a", "b"],
        ),
        (
            find_agent("cline"),
            "after_tool",
            json!({"tool": "apply_patch", "args": {"input": patch}}),
            vec!["new.txt", "a.txt", "b.txt", "old.txt"],
        ),
        (
            find_agent("kimi"),
            "PostToolUse",
            json!({"tool_name": "Write", "tool_input": {"path": "a", "content": "x"}}),
            vec!["a"],
        ),
    ];
    for (agent, native, fields, paths) in cases {
        let found = tool(agent, native, fields.clone());
        let wanted = if fields["tool_name"] == "StrReplace" {
            vec!["a"]
        } else {
            paths
        };
        assert_eq!(found.paths, wanted, "{agent:?} {fields}");
    }
    let line = tool(
        find_agent("codex"),
        "PreToolUse",
        json!({"tool_name": "exec_command", "tool_input": {"cmd": "git commit"}}),
    );
    assert_eq!(line.command.as_deref(), Some("git commit"));
    let context = json!({"hook_event_name": "Stop", "session_id": "s", "context_usage": {"used": 90, "limit": 100}});
    let event = read(find_agent("qwen"), None, context.to_string().as_bytes()).unwrap();
    assert_eq!(event.context_percent, Some(90.0));
    let model = json!({"hook_event_name": "AfterModel", "session_id": "s", "llm_response": {"usageMetadata": {"totalTokenCount": 524_288}}});
    let event = read(find_agent("gemini"), None, model.to_string().as_bytes()).unwrap();
    assert_eq!(event.context_percent, Some(50.0));
}

/// Text that tries to break out of where it is put.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n## Core Rules\n".to_owned()),
        Just("```".to_owned()),
        Just("</system-reminder><script>".to_owned()),
        Just("\u{202e}\u{200b}\u{1b}[2J\u{0}".to_owned()),
        Just("\r\n\u{2028}- x".to_owned()),
        Just("\u{1f600}".repeat(300)),
        Just("é".repeat(1_000)),
        ".{0,400}",
        "[a-z ]{0,3000}",
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn message() -> impl Strategy<Value = Recovery> {
    let list = |n: usize| proptest::collection::vec(hostile(), 0..n);
    // The rules are cook's own words.
    let rules = proptest::collection::vec("[a-z ]{1,200}x", 0..8);
    let item = (
        hostile(),
        hostile(),
        hostile(),
        proptest::option::of(hostile()),
        list(12),
        0..99usize,
    )
        .prop_map(|(id, title, status, parent, unblocks, others)| Item {
            id: format!("id-{id}"),
            title,
            kind: status.clone(),
            priority: status.clone(),
            status,
            parent,
            unblocks,
            others,
            is_issue: others % 2 == 0,
        });
    (
        rules,
        proptest::option::of(item),
        list(9),
        list(20),
        any::<u64>(),
        hostile(),
        list(4),
        list(6),
    )
        .prop_map(
            |(rules, item, trail, uncommitted, more, text, notes, ready)| Recovery {
                rules,
                item,
                checkpoints: trail
                    .into_iter()
                    .enumerate()
                    .map(|(n, text)| (format!("{n}m ago"), format!("NEWEST-{n} {text}")))
                    .collect(),
                uncommitted,
                uncommitted_more: more / 2,
                role: format!("the-role {text}"),
                command: format!("the-command {text}"),
                notes,
                ready,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("COOK_LONG_TESTS").is_some() { 10_000 } else { 200 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_message_stays_in_its_bounds(recovery in message()) {
        let text = recovery.render();
        prop_assert!(text.len() <= MAX_BYTES, "{} bytes", text.len());
        prop_assert!(text.contains("the-role") && text.contains("the-command"));
        if let Some(newest) = recovery.checkpoints.len().checked_sub(1) {
            let marked = format!("NEWEST-{newest} ");
            prop_assert!(text.contains(marked.trim()), "the newest checkpoint is not in\n{}", text);
        }
        if recovery.item.is_some() {
            prop_assert!(text.contains("## Resuming: id-"));
        }
        prop_assert!(!text.contains('<') && !text.contains('>'));
        for c in text.chars() {
            prop_assert!(c == '\n' || !c.is_control());
        }
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        let order = ["## Core Rules", "## Resuming: ", "### Checkpoint Trail", "### Uncommitted Changes", "## Next"];
        let places: Vec<usize> = headings
            .iter()
            .map(|line| order.iter().position(|known| line.starts_with(known)).unwrap_or(99))
            .collect();
        let mut sorted = places.clone();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(&places, &sorted, "{}", text);
        prop_assert!(!places.contains(&99), "{}", text);
        prop_assert_eq!(text.matches("```").count() % 2, 0);
    }
}

#[test]
fn what_is_dropped_goes_in_the_stated_order() {
    let long = |n: usize| "x".repeat(n);
    let mut recovery = Recovery {
        rules: (0..5).map(|n| format!("rule-{n} {}", long(90))).collect(),
        item: Some(Item {
            id: "id".to_owned(),
            title: format!("title {}", long(20)),
            unblocks: (0..6).map(|n| format!("unblocked-{n}")).collect(),
            ..Item::default()
        }),
        checkpoints: (0..7)
            .map(|n| ("1m ago".to_owned(), format!("checkpoint-{n}")))
            .collect(),
        uncommitted: (0..20).map(|n| format!("path-{n}")).collect(),
        role: "role".to_owned(),
        command: "command".to_owned(),
        ..Recovery::default()
    };
    let shown = |r: &Recovery| {
        let text = r.render();
        let count = |word: &str| text.matches(word).count();
        [
            count("rule-"),
            count("unblocked-"),
            count("path-"),
            count("checkpoint-"),
        ]
    };
    assert_eq!(
        shown(&recovery),
        [5, 6, 15, 5],
        "all of it fits, as far as it is shown at all"
    );
    assert!(recovery.render().contains("(5 paths more)"));
    let mut seen = vec![shown(&recovery)];
    for size in 1..120 {
        for (_, text) in &mut recovery.checkpoints {
            *text = format!("{} {}", text.split(' ').next().unwrap(), long(size * 3));
        }
        let now = shown(&recovery);
        if *seen.last().unwrap() != now {
            seen.push(now);
        }
    }
    for pair in seen.windows(2) {
        assert!(
            pair[0].iter().zip(pair[1]).all(|(a, b)| *a >= b),
            "{seen:?}"
        );
        let [rules, unblocks, paths, trail] = pair[1];
        assert!(unblocks == 6 || rules == 1, "rules go first: {seen:?}");
        assert!(paths == 15 || (rules == 1 && unblocks <= 3), "{seen:?}");
        assert!(
            trail == 5 || (rules == 1 && unblocks <= 3 && paths <= 5),
            "{seen:?}"
        );
        assert!(trail >= 1);
    }
    assert!(seen.len() > 10, "{seen:?}");
}

#[test]
fn the_trail_is_taken_into_the_log_once() {
    let repo = Repo::with_selection();
    repo.cook(&["brief", "checkpoint", "one"]).exits(0);
    repo.cook(&["brief", "checkpoint", "two"]).exits(0);
    let log = repo.root.join(".git/cook/log.git");
    let id = repo.root.join(".git/cook-id");
    let show = |file: &str| {
        let id = std::fs::read_to_string(&id).unwrap();
        repo.git(&[
            "--git-dir",
            log.to_str().unwrap(),
            "show",
            &format!("{}:{file}", id.trim()),
        ])
    };
    repo.cook(&["pause"]).exits(0);
    assert_eq!(
        show("appended/checkpoints.jsonl"),
        repo.read(".agent/checkpoints.jsonl").trim()
    );
    repo.cook(&["resume", "--as-user"]).exits(0);
    assert!(!show("histories.json").contains("\"records\": 4"));
    repo.cook(&["brief", "checkpoint", "three"]).exits(0);
    repo.cook(&["pause"]).exits(0);
    assert_eq!(show("appended/checkpoints.jsonl").lines().count(), 1);
    let digest: Value = serde_json::from_str(&show("histories.json")).unwrap();
    assert_eq!(digest["checkpoints"]["records"], 3);
    repo.cook(&["verify", "control-plane"]).exits(0);
    repo.cook(&["doctor", "fsck"]).exits(0);
    // What somebody takes away, the log gives back to whoever asks.
    std::fs::remove_file(repo.root.join(".agent/checkpoints.jsonl")).unwrap();
    repo.cook(&["resume", "--as-user"]).exits(0);
    let text = repo.cook(&["brief", "recover"]).exits(0).out;
    for word in ["one", "two", "three"] {
        assert!(text.contains(&format!("] {word}")), "{text}");
    }
    // A line that came back by another way is not taken twice.
    repo.cook(&["brief", "checkpoint", "four"]).exits(0);
    repo.cook(&["pause"]).exits(0);
    let digest: Value = serde_json::from_str(&show("histories.json")).unwrap();
    assert_eq!(digest["checkpoints"]["records"], 4);
    repo.cook(&["doctor", "fsck"]).exits(0);
}

#[test]
fn a_torn_line_is_a_finding_and_stays_out() {
    let repo = Repo::with_selection();
    repo.cook(&["brief", "checkpoint", "good"]).exits(0);
    let path = repo.root.join(".agent/checkpoints.jsonl");
    let good = std::fs::read_to_string(&path).unwrap();
    let torn = format!("{good}not json\n{{\"id\":\"\"}}\n{{\"id\":\"manual:x\",\"sche");
    std::fs::write(&path, torn).unwrap();
    repo.cook(&["brief", "checkpoint", "after"])
        .exits(0)
        .says("trail_torn");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap().lines().count(),
        5,
        "the new line is whole"
    );
    repo.cook(&["pause"])
        .exits(0)
        .says("3 lines of the checkpoint trail cannot be read");
    let text = repo.cook(&["brief", "recover"]).exits(0).out;
    assert!(
        text.contains("] good") && text.contains("] after"),
        "{text}"
    );
    repo.cook(&["doctor", "fsck"]).exits(0);
    repo.cook(&["verify", "control-plane"]).exits(0);
}

#[test]
fn a_trail_in_the_log_that_was_changed_is_noticed() {
    let repo = Repo::with_selection();
    repo.cook(&["brief", "checkpoint", "one"]).exits(0);
    repo.cook(&["pause"]).exits(0);
    let log = repo.root.join(".git/cook/log.git");
    let id = std::fs::read_to_string(repo.root.join(".git/cook-id")).unwrap();
    let git = |args: &[&str]| repo.git(&[&["--git-dir", log.to_str().unwrap()], args].concat());
    let tip = git(&["rev-parse", id.trim()]);
    let index = repo.root.parent().unwrap().join("index");
    let with_index = |args: &[&str]| {
        let mut command = repo.command("git");
        command
            .arg("--git-dir")
            .arg(&log)
            .args(args)
            .env("GIT_INDEX_FILE", &index);
        run(command, b"").exits(0).out.trim().to_owned()
    };
    with_index(&["read-tree", &tip]);
    let blob = {
        let mut command = repo.command("git");
        command
            .arg("--git-dir")
            .arg(&log)
            .args(["hash-object", "-w", "--stdin"]);
        let line = repo.read(".agent/checkpoints.jsonl").replace("one", "won");
        run(command, line.as_bytes()).exits(0).out.trim().to_owned()
    };
    with_index(&[
        "update-index",
        "--cacheinfo",
        &format!("100644,{blob},appended/checkpoints.jsonl"),
    ]);
    let tree = with_index(&["write-tree"]);
    // The commit as cook wrote it, with another tree.
    let forged = {
        let text = git(&["cat-file", "commit", &tip]);
        let old = git(&["rev-parse", &format!("{tip}^{{tree}}")]);
        let mut command = repo.command("git");
        command
            .arg("--git-dir")
            .arg(&log)
            .args(["hash-object", "-w", "-t", "commit", "--stdin"]);
        let text = format!("{}\n", text.replace(&old, &tree));
        run(command, text.as_bytes()).exits(0).out.trim().to_owned()
    };
    git(&["update-ref", &format!("refs/heads/{}", id.trim()), &forged]);
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("histories.json");
    repo.cook(&["doctor", "fsck"]).exits(1).says("log_damaged");
}

#[test]
fn a_checkpoint_says_something_and_not_too_much() {
    let repo = Repo::with_selection();
    repo.cook(&["brief", "checkpoint", "  \n"])
        .fails(2, "usage");
    repo.cook(&["brief", "checkpoint", &"x".repeat(5_000)])
        .fails(2, "input_too_large");
    let mut from_stdin = repo.cook_command(&["brief", "checkpoint", "-", "--json"]);
    from_stdin.env("PI_SESSION_ID", "p");
    let kept = run(from_stdin, "eine Zeile\u{1b}[31m\nund noch eine".as_bytes())
        .exits(0)
        .json();
    assert_eq!(kept["entry"]["text"], "eine Zeile\nund noch eine");
    assert_eq!(
        (&kept["entry"]["agent"], &kept["entry"]["session"]),
        (&json!("pi"), &json!("p"))
    );
    assert_eq!(trail(&repo).len(), 1);
    Repo::with_script()
        .cook(&["brief", "checkpoint", "x"])
        .fails(3, "not_initialised");
}

const THEIRS: &str = "{\n  // mine, with a comment\n  \"permissions\": { \"allow\": [\"Bash(ls)\"] },\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] } /* theirs */\n    ]\n  },\n  \"model\": \"x\"\n}\n";

#[test]
fn installing_harms_nothing_and_removing_leaves_no_trace() {
    for agent in Agent::all() {
        let repo = Repo::set_up();
        let install = &agent.hooks().install;
        let comments = install.reads.contains(&Lenience::Comments);
        let Some(shared) = install.shared.as_deref() else {
            continue;
        };
        let settings = match install.form {
            SettingsForm::Groups | SettingsForm::Flat => shared,
            SettingsForm::File | SettingsForm::Shim(_) | SettingsForm::Tables => "",
        };
        if !settings.is_empty() {
            let theirs = match install.form {
                SettingsForm::Flat => THEIRS.replacen('{', "{\n  \"version\": 1,", 1),
                _ => THEIRS.to_owned(),
            };
            let theirs = match comments {
                true => theirs,
                false => theirs
                    .replace("// mine, with a comment", "")
                    .replace(" /* theirs */", ""),
            };
            repo.write(settings, theirs);
        }
        if let Some(places) = &install.instructions {
            repo.write(&places.shared, "Be kind.\n");
        }
        repo.commit("theirs", None);
        let name = agent.name();
        repo.cook(&["hooks", "check", name, "--shared"])
            .exits(1)
            .says("hooks_missing");
        let print = repo
            .cook(&["hooks", "install", name, "--shared", "--print"])
            .exits(0);
        assert!(print.out.contains("cook"), "{}", print.out);
        assert_eq!(
            repo.git(&["status", "--porcelain"]),
            "",
            "--print writes nothing"
        );
        repo.cook(&["hooks", "install", name, "--shared"])
            .exits(0)
            .says("yours to do: run `git add ");
        let first = repo.git(&["stash", "create", "--include-untracked"]);
        let tree = |_: &str| {
            repo.git(&["add", "-A"]);
            repo.git(&["write-tree"])
        };
        let once = tree(&first);
        repo.cook(&["hooks", "install", name, "--shared"]).exits(0);
        assert_eq!(tree(""), once, "{name}: a second run changes a byte");
        repo.cook(&["hooks", "check", name, "--shared"])
            .exits(0)
            .says("hooks_unseen");
        if !settings.is_empty() {
            let text = repo.read(settings);
            for part in [
                "// mine, with a comment",
                "/* theirs */",
                "say done",
                "\"model\": \"x\"",
            ] {
                let is_comment = part.contains(['/', '*']);
                assert!(text.contains(part) || is_comment && !comments, "{text}");
            }
            repo.write(settings, text.replace("cook-hooks 1", "cook-hooks 0"));
            repo.cook(&["hooks", "check", name, "--shared"])
                .exits(1)
                .says("hooks_stale");
            repo.cook(&["hooks", "install", name, "--shared"]).exits(0);
            assert_eq!(tree(""), once, "{name}: what is stale is replaced");
        }
        repo.cook(&["hooks", "remove", name, "--shared"]).exits(0);
        repo.git(&["add", "-A"]);
        assert_eq!(
            repo.git(&["status", "--porcelain"]),
            "",
            "{name} leaves a trace"
        );
        repo.cook(&["hooks", "remove", name, "--shared"])
            .exits(0)
            .says("it does not contain hooks of cook");
    }
}

#[test]
fn the_personal_file_stays_out_of_the_tree() {
    let repo = Repo::set_up();
    repo.cook(&["hooks", "install", "claude"]).exits(0);
    assert!(repo.root.join(".claude/settings.local.json").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    for agent in [
        "codex", "gemini", "qwen", "copilot", "cursor", "opencode", "pi", "cline", "kimi",
    ] {
        repo.cook(&["hooks", "install", agent]).exits(0);
        repo.cook(&["hooks", "check", agent]).exits(0);
        assert_eq!(repo.git(&["status", "--porcelain"]), "", "{agent}");
    }
    repo.cook(&["hooks", "install", "claude", "--shared"])
        .exits(0)
        .says("settings.local.json` also has these hooks: `cook hooks remove claude`");
    repo.cook(&["hooks", "remove", "claude", "--shared"])
        .exits(0)
        .says("and keeps them");
    repo.cook(&["doctor"]).exits(0).says("hooks_unseen");
    Session::new(&repo, "s").start("startup");
    repo.cook(&["hooks", "check", "claude"])
        .exits(0)
        .says("last called");
}

#[test]
fn a_hook_of_theirs_in_a_group_of_cooks_stays() {
    let repo = Repo::set_up();
    let file = ".claude/settings.local.json";
    repo.cook(&["hooks", "install", "claude"]).exits(0);
    let mut settings: Value = serde_json::from_str(&repo.read(file)).unwrap();
    let theirs = json!({"type": "command", "command": "say hello"});
    settings["hooks"]["Stop"][0]["hooks"]
        .as_array_mut()
        .unwrap()
        .push(theirs.clone());
    settings["statusLine"] = json!({"type": "command", "command": "my-line"});
    repo.write(file, settings.to_string());
    repo.cook(&["hooks", "install", "claude"])
        .exits(0)
        .says("`statusLine` is yours and stays");
    repo.cook(&["hooks", "remove", "claude"]).exits(0);
    let left: Value = serde_json::from_str(&repo.read(file)).unwrap();
    assert_eq!(
        left,
        json!({"hooks": {"Stop": [{"hooks": [theirs]}]}, "statusLine": {"type": "command", "command": "my-line"}})
    );
}

#[test]
fn a_file_that_cannot_be_changed_is_left_as_it_is() {
    let repo = Repo::set_up();
    for (text, why) in [
        ("{ not json", "it is not valid JSON"),
        ("{\"hooks\": []}", "is not what it should be"),
        ("{\"hooks\": {\"Stop\": {}}}", "is not what it should be"),
    ] {
        repo.write(".claude/settings.local.json", text);
        repo.cook(&["hooks", "install", "claude"])
            .fails(3, "hooks_file")
            .says(why);
        assert_eq!(repo.read(".claude/settings.local.json"), text);
    }
    repo.write(".pi/extensions/cook.ts", "export default () => {};\n");
    repo.cook(&["hooks", "install", "pi", "--shared"])
        .fails(3, "hooks_file");
    repo.cook(&["hooks", "remove", "pi", "--shared"]).exits(0);
    assert_eq!(
        repo.read(".pi/extensions/cook.ts"),
        "export default () => {};\n"
    );
    repo.cook(&["hooks", "install", "nobody"]).fails(2, "usage");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/tmp", repo.root.join(".codex")).unwrap();
        repo.cook(&["hooks", "install", "codex", "--shared"])
            .fails(3, "hooks_file")
            .says("symbolic link");
    }
}

#[test]
fn without_cook_the_installed_command_is_a_silent_success() {
    let repo = Repo::set_up();
    repo.cook(&["hooks", "install", "claude"]).exits(0);
    let settings: Value = serde_json::from_str(&repo.read(".claude/settings.local.json")).unwrap();
    let line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let mut shell = repo.command("sh");
    shell.args(["-c", line]).env("PATH", "/usr/bin:/bin");
    let told = run(shell, b"{}");
    assert_eq!(
        (told.code, told.out.as_str(), told.err.as_str()),
        (0, "", "")
    );
}

fn event(native: &str, fields: Value) -> Event {
    let mut value = fields;
    value["hook_event_name"] = json!(native);
    value["session_id"] = json!("s");
    read(find_agent("claude"), None, value.to_string().as_bytes()).unwrap()
}

fn situation(ms: i64) -> Situation {
    Situation {
        now: "2026-01-02T03:04:05Z".to_owned(),
        now_ms: ms,
        ..Situation::default()
    }
}

#[test]
fn a_close_is_refused_on_a_dirty_tree_and_sends_on_when_it_is_verified() {
    let line = |ms: i64, text: &str| {
        event(
            "PreToolUse",
            json!({"tool_name": "Bash", "tool_use_id": ms, "tool_input": {"command": text}}),
        )
    };
    let mut facts = situation(1);
    facts.dirty = Some(vec!["src/x.rs".to_owned()]);
    let close = line(1, "cd . && br close br-1 --reason done");
    for close in [
        close.clone(),
        line(3, "br --lock-timeout 100 close br-1"),
        line(4, "bd --json --actor=me close br-1"),
    ] {
        let agent = find_agent("claude");
        let told = step(agent, SessionState::default(), &close, &facts);
        let why = told.effects.deny.unwrap();
        assert!(
            why.contains("commit first") && why.contains("src/x.rs"),
            "{why}"
        );
    }
    facts.dirty = Some(Vec::new());
    assert_eq!(
        step(
            find_agent("claude"),
            SessionState::default(),
            &close,
            &facts
        )
        .effects
        .deny,
        None
    );
    for text in [
        "br show br-1",
        "echo br close br-1",
        "br comments add br-1 close",
        "br close 'open",
    ] {
        facts.dirty = Some(vec!["x".to_owned()]);
        assert_eq!(
            step(
                find_agent("claude"),
                SessionState::default(),
                &line(2, text),
                &facts
            )
            .effects
            .deny,
            None,
            "{text}"
        );
    }

    // Claimed, edited, closed: the file list once, and what comes next once.
    let tool = |name: &str, input: Value, id: &str| {
        event(
            "PostToolUse",
            json!({"tool_name": name, "tool_input": input, "tool_use_id": id}),
        )
    };
    let mut facts = situation(10_000);
    facts.claimed = Some("br-1".to_owned());
    let claimed = step(
        find_agent("claude"),
        SessionState {
            turns: 5,
            ..SessionState::default()
        },
        &tool("Bash", json!({"command": "br update br-1 --claim"}), "a"),
        &facts,
    );
    assert_eq!(
        (claimed.state.item.as_deref(), claimed.state.turns),
        (Some("br-1"), 0)
    );
    assert_eq!(claimed.entries[0].kind, CheckpointKind::Claim);
    let mut facts = situation(20_000);
    facts.paths = (0..40).map(|n| format!("f{n:02}.rs")).collect();
    let edited = step(
        find_agent("claude"),
        claimed.state,
        &tool("Edit", json!({"file_path": "x"}), "b"),
        &facts,
    );
    let mut facts = situation(30_000);
    facts.closed = vec![ClosedIssue {
        id: "br-1".to_owned(),
        unblocked: vec!["br-2 — render".to_owned()],
    }];
    facts.dirty = Some(vec!["f00.rs".to_owned()]);
    let closing = tool("Bash", json!({"command": "br close br-1"}), "c");
    let closed = step(find_agent("claude"), edited.state, &closing, &facts);
    let list: Vec<&Checkpoint> = closed
        .entries
        .iter()
        .filter(|e| e.kind == CheckpointKind::Files)
        .collect();
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].item.as_deref(), Some("br-1"));
    assert!(list[0].text.starts_with("Files modified: f00.rs, f01.rs"));
    assert!(
        list[0].text.ends_with("f29.rs and 10 more"),
        "{}",
        list[0].text
    );
    assert_eq!(closed.state.item, None);
    let again = step(find_agent("claude"), closed.state.clone(), &closing, &facts);
    assert!(
        again.entries.is_empty() && again.effects.is_empty(),
        "delivered twice"
    );
    // Claude's stop can be refused, so that is where the session is sent on.
    let stop = step(
        find_agent("claude"),
        closed.state,
        &event("Stop", json!({})),
        &situation(40_000),
    );
    let on = stop.effects.block.unwrap();
    assert!(
        on.contains("br-1 is closed") && on.contains("br-2 — render") && on.contains("git commit"),
        "{on}"
    );
    let stop = step(
        find_agent("claude"),
        stop.state,
        &event("Stop", json!({"n": 2})),
        &situation(50_000),
    );
    assert_eq!(stop.effects.block, None, "once");
}

#[test]
fn a_comment_in_the_tracker_is_a_checkpoint() {
    let state = SessionState {
        turns: 7,
        item: Some("br-1".to_owned()),
        claimed: true,
        ..SessionState::default()
    };
    let comment = event(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_use_id": "x", "tool_input": {"command": "br comments add br-1 'Checkpoint: x'"}}),
    );
    assert_eq!(
        step(find_agent("claude"), state.clone(), &comment, &situation(1))
            .state
            .turns,
        0
    );
    let failed = event(
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_use_id": "x", "tool_input": {"command": "br comments add br-1 y"}}),
    );
    assert_eq!(
        step(find_agent("claude"), state, &failed, &situation(1))
            .state
            .turns,
        7
    );
}
