//! What real agents do that nobody would write by hand: stops that follow at once, compactions that are
//! only announced, sessions without a start, and calls of cook that fail.

use crate::support::hooks::{Session, Told, command_below, texts, trail};
use crate::support::{Repo, run};
use cook_agents::hooks::{Agent, Due, SessionState, Situation, Workflow, read, step};
use cook_protocol::model::{Policy, Role};
use serde_json::{Value, json};

/// Sends an event of an agent's, all of them at one moment.
fn at_once(session: &Session, agent: &str, event: &Value) -> Told {
    session.raw(agent, event.to_string().as_bytes())
}

/// Runs cook in a session of an agent that sets these variables in its children.
fn run_cook_in(session: &Session, args: &[&str], env: &[(&str, &str)]) -> crate::support::Run {
    let mut command = session.repo.cook_command(args);
    command
        .env("COOK_NOW", session.now())
        .envs(env.iter().copied());
    run(command, b"")
}

#[test]
fn three_stops_are_refused_at_any_speed_and_the_release_is_written_down() {
    // The same bytes at the same moment, as the agent sends them: a turn's id is that of all its stops.
    let stops = [
        (
            "claude",
            "CLAUDE_CODE_SESSION_ID",
            json!({"hook_event_name": "Stop", "prompt_id": "p", "stop_hook_active": true, "background_tasks": []}),
        ),
        (
            "codex",
            "CODEX_THREAD_ID",
            json!({"hook_event_name": "Stop", "turn_id": "t", "stop_hook_active": true}),
        ),
        (
            "qwen",
            "QWEN_CODE_SESSION_ID",
            json!({"hook_event_name": "Stop", "stop_hook_active": true}),
        ),
        (
            "gemini",
            "",
            json!({"hook_event_name": "AfterAgent", "stop_hook_active": true}),
        ),
        (
            "copilot",
            "COPILOT_AGENT_SESSION_ID",
            json!({"hook_event_name": "agentStop"}),
        ),
    ];
    for (agent, variable, mut event) in stops {
        let repo = Repo::with_selection();
        let session = Session::new(&repo, "s");
        event["session_id"] = json!("s");
        event["cwd"] = json!(repo.root);
        match variable {
            "" => repo
                .cook(&["hooks", "attach", "s"])
                .fails(2, "session_unknown"),
            name => run_cook_in(&session, &["next", "--take"], &[(name, "s")]).exits(0),
        };
        if variable.is_empty() {
            run_cook_in(&session, &["next", "--take"], &[("GEMINI_CLI", "1")]).exits(0);
            let tool = json!({"hook_event_name": "AfterTool", "session_id": "s", "cwd": repo.root,
                "tool_name": "run_shell_command", "tool_input": {"command": "./do-it"}});
            at_once(&session, agent, &tool);
        }
        let answers: Vec<Value> = (0..20)
            .map(|_| at_once(&session, agent, &event).json())
            .collect();
        let refused = answers
            .iter()
            .filter(|answer| answer["decision"] == "block" || answer["decision"] == "deny");
        assert_eq!(refused.count(), 3, "{agent}: {answers:#?}");
        assert_eq!(texts(&repo, "released").len(), 1, "{agent}");
    }
}

#[test]
fn one_stop_that_two_hooks_deliver_side_by_side_counts_once() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let event = session.event("Stop", json!({})).to_string();
    let held = std::fs::File::open(repo.root.join(".agent/tmp/hook.lock")).unwrap();
    held.lock().unwrap();
    let mut hooks = [(); 2].map(|()| repo.cook_command(&["hook", "claude"]));
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let both: Vec<_> = hooks
            .iter_mut()
            .map(|hook| {
                hook.env("COOK_NOW", session.now());
                let event = event.as_bytes();
                scope.spawn(move || Told(run(hook, event)).json())
            })
            .collect();
        // Both have looked at the session by then, and wait.
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        held.unlock().unwrap();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(answers[0], answers[1], "both copies hold the session");
    assert_eq!(answers[0]["decision"], "block");
    assert_eq!(session.state()["stop"]["blocks"], 1);
}

#[test]
fn a_repeated_stop_is_answered_as_the_first_was() {
    let claude = Agent::parse("claude").unwrap();
    let event = read(
        claude,
        None,
        br#"{"hook_event_name":"Stop","session_id":"s"}"#,
    )
    .unwrap();
    let mut facts = Situation {
        workflow: Some(Workflow {
            policy: Policy::Continue,
            role: Some(Role::Implementer),
            slice: None,
            surfaces: Vec::new(),
            progress: "p".to_owned(),
        }),
        owner: true,
        due: Some(Due {
            policy: Policy::Continue,
            role: Some(Role::Implementer),
            action: "a".to_owned(),
            command: "c".to_owned(),
        }),
        ..Situation::default()
    };
    let mut state = SessionState::default();
    for n in 0..4 {
        facts.again = false;
        let first = step(claude, state, &event, &facts);
        facts.again = true;
        let second = step(claude, first.state.clone(), &event, &facts);
        assert_eq!(first.effects.block, second.effects.block);
        assert_eq!(first.effects.block.is_some(), n < 3);
        assert_eq!(
            (first.entries.len(), second.entries.len()),
            (usize::from(n == 3), 0)
        );
        assert_eq!(first.state.stop, second.state.stop);
        state = second.state;
    }
}

fn gemini(session: &Session, name: &str, fields: Value) -> Told {
    // Without the time that Gemini CLI sends, two announcements would be one for a moment.
    session.wait(5);
    at_once(session, "gemini", &session.event(name, fields))
}

fn model(session: &Session, tokens: u64) {
    let usage = json!({"llm_response": {"usageMetadata": {"totalTokenCount": tokens}}});
    gemini(session, "AfterModel", usage);
}

#[test]
fn a_compaction_that_is_only_announced_is_none_until_the_context_shrinks() {
    let repo = Repo::with_selection();
    let session = Session::new(&repo, "s");
    let told = gemini(&session, "SessionStart", json!({"source": "startup"}));
    assert!(told.context().contains("## Resuming: a"));
    run_cook_in(&session, &["next", "--take"], &[("GEMINI_CLI", "1")]).exits(0);
    for round in 0..6 {
        gemini(&session, "PreCompress", json!({"trigger": "auto"})).is_silent();
        model(&session, 10_000 + 1_000 * round);
        let tool = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
        let told = gemini(&session, "AfterTool", tool);
        assert_eq!(told.context(), "", "round {round}");
        assert_eq!(
            gemini(&session, "BeforeAgent", json!({"prompt": "p"})).context(),
            ""
        );
    }
    assert_eq!(texts(&repo, "auto"), Vec::<String>::new());
    assert_eq!(session.state()["turns"], 6, "nothing was reset");
    // A little less is no compaction; less than three quarters, after an attempt, is one.
    gemini(&session, "PreCompress", json!({"trigger": "auto"}));
    model(&session, 14_000);
    gemini(&session, "PreCompress", json!({"trigger": "auto"}));
    model(&session, 5_000);
    assert_eq!(texts(&repo, "auto").len(), 1);
    let told = gemini(&session, "BeforeAgent", json!({"prompt": "p"})).context();
    assert!(
        told.contains("## Resuming: a") && told.contains("--- cook brief ---"),
        "{told}"
    );
    for _ in 0..3 {
        gemini(&session, "PreCompress", json!({"trigger": "auto"}));
        model(&session, 5_000);
        assert_eq!(
            gemini(&session, "BeforeAgent", json!({"prompt": "p"})).context(),
            ""
        );
    }
    // Without an attempt it is another request, and not a compaction.
    model(&session, 1_000);
    assert_eq!(
        gemini(&session, "BeforeAgent", json!({"prompt": "p"})).context(),
        ""
    );
    // The user asked for this one.
    gemini(&session, "PreCompress", json!({"trigger": "manual"}));
    let told = gemini(&session, "BeforeAgent", json!({"prompt": "p"})).context();
    assert!(told.contains("## Resuming: a"), "{told}");
}

#[test]
fn an_auto_checkpoint_that_would_say_the_same_is_not_kept_and_resets_nothing() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.turn();
    session.compact();
    session.turn();
    session.turn();
    session.compact();
    assert_eq!(texts(&repo, "auto").len(), 1);
    assert_eq!(session.state()["turns"], 2);
    repo.write("new.txt", "x\n");
    session.compact();
    assert_eq!(texts(&repo, "auto").len(), 2, "a file is news");
    assert_eq!(session.state()["turns"], 0);
}

#[test]
fn a_first_prompt_without_a_start_gets_what_the_start_would_have_given() {
    let repo = Repo::with_selection();
    let session = Session::new(&repo, "s");
    let send = |name: &str, fields: Value| {
        session.wait(1);
        at_once(&session, "qwen", &session.event(name, fields))
    };
    let told = send("UserPromptSubmit", json!({"prompt": "do it"})).context();
    assert!(told.contains("## Resuming: a"), "{told}");
    for _ in 0..3 {
        assert_eq!(
            send("UserPromptSubmit", json!({"prompt": ""})).context(),
            ""
        );
    }
    // A session that had a start gets nothing at its prompt.
    let other = Session::new(&repo, "t");
    assert!(other.start("startup").context().contains("## Resuming: a"));
    assert_eq!(other.prompt("do it").context(), "");
    // Ended, and gone on with: it begins again.
    other.send("SessionEnd", json!({"reason": "exit"}));
    assert!(other.prompt("go on").context().contains("## Resuming: a"));
}

#[test]
fn the_work_is_taken_by_the_call_and_not_by_its_words() {
    let repo = Repo::with_selection();
    let session = Session::new(&repo, "s");
    session.start("startup");
    // Codex starts a login shell, whose PATH may not have cook.
    for (line, response) in [
        (
            "cook next --take",
            "/bin/bash: line 1: cook: command not found\n",
        ),
        ("echo 'cook next --take' && cook record implementer x", "x"),
    ] {
        session.after("Bash", json!({"command": line, "output": response}));
        assert_eq!(session.stop().json(), Value::Null, "{line}");
    }
    // A call that fails takes nothing either.
    let env = [("CLAUDE_CODE_SESSION_ID", "s")];
    let no_repo = Repo::directory();
    let mut failing = no_repo.cook_command(&["next", "--take"]);
    failing.envs(env);
    run(failing, b"").exits(3);
    run_cook_in(&session, &["next", "--take", "--nonsense"], &env).exits(2);
    run_cook_in(&session, &["next"], &env).exits(0);
    assert_eq!(session.stop().json(), Value::Null);
    run_cook_in(&session, &["next", "--take"], &env).exits(0);
    assert!(
        session.stop().why_blocked().is_some(),
        "whatever the line was called"
    );
}

#[test]
fn an_agent_that_does_not_name_its_session_says_which_it_is_with_its_next_event() {
    let repo = Repo::with_selection();
    let mine = Session::new(&repo, "mine");
    run_cook_in(&mine, &["next", "--take"], &[("GEMINI_CLI", "1")]).exits(0);
    let tool = |name: &str| json!({"tool_name": name, "tool_input": {"command": "make work", "file_path": "x"}});
    // Another agent's, and a tool that runs no command.
    let other = Session::new(&repo, "other");
    other.shell("cook next --take");
    assert_eq!(other.stop().json(), Value::Null);
    gemini(&mine, "AfterTool", tool("write_file"));
    let stop =
        |session: &Session| gemini(session, "AfterAgent", json!({})).json()["decision"].clone();
    assert_eq!(stop(&mine), Value::Null);
    gemini(&mine, "AfterTool", tool("run_shell_command"));
    assert_eq!(stop(&mine), "deny");
    let late = Session::new(&repo, "late");
    late.wait(60);
    gemini(&late, "AfterTool", tool("run_shell_command"));
    assert_eq!(stop(&late), Value::Null, "it is taken once");
}

#[test]
fn a_resumed_session_keeps_what_it_owned_unless_another_took_it() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.send("SessionEnd", json!({"reason": "exit"}));
    session.wait(2 * 3600);
    session.start("resume");
    assert!(session.stop().why_blocked().is_some());
    // After a silence, too.
    session.wait(2 * 3600);
    session.start("resume");
    assert!(session.stop().why_blocked().is_some());
    session.send("SessionEnd", json!({"reason": "exit"}));
    let other = Session::new(&repo, "other");
    other.wait(4 * 3600 + 600);
    other.start("startup");
    other.take();
    session.wait(900);
    session.start("resume");
    assert_eq!(session.stop().json(), Value::Null);
    assert!(other.stop().why_blocked().is_some());
}

#[test]
fn a_stop_that_waits_for_the_agents_own_task_is_not_refused() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let task = |status: &str| json!({"background_tasks": [{"id": "b", "type": "shell", "status": status}]});
    for _ in 0..5 {
        assert_eq!(session.send("Stop", task("running")).json(), Value::Null);
    }
    assert!(
        session
            .send("Stop", task("completed"))
            .why_blocked()
            .is_some()
    );
    assert_eq!(
        session.state()["stop"]["blocks"],
        1,
        "waiting does not count"
    );
    // What the agent tells itself then is nobody's message.
    session.prompt("<task-notification>\n<task-id>b</task-id>\n</task-notification>");
    assert!(trail(&repo).iter().all(|entry| entry["kind"] != "prompt"));
}

#[test]
fn what_a_shell_does_is_guarded_however_it_is_written() {
    let repo = Repo::with_commit();
    let session = Session::owner(&repo, "s");
    let asked = |line: &str| {
        session
            .before("Bash", json!({"command": line}))
            .why_denied()
    };
    for line in [
        "bash -lc 'git commit -qm x'",
        "sh -c \"cd . && git -C . commit -m x\"",
        "env X=1 bash -c 'git reset --hard HEAD~1'",
        "timeout 5 git commit -m x",
        "bash <<'E'\ngit commit -m x\nE",
        "x=$(git commit -m y)",
        "echo x > test.sh",
        "cd . && echo x >> ./test.sh",
        "echo '{}' > .agent/state.json",
        "cd .agent && tee plan.json < /tmp/x",
        "rm -f .agent/checkpoints.jsonl",
        "apply_patch <<'E'\n*** Begin Patch\n*** Update File: .agent/plan.json\n*** End Patch\nE",
    ] {
        assert!(asked(line).is_some(), "{line}");
    }
    for line in [
        "cat > notes.txt <<'E'\ngit commit -m x\necho > test.sh\nE",
        "bash -c 'git log; git status'",
        "grep -r 'git commit' . > /tmp/found 2>&1",
        "cat .agent/plan.json > /dev/null; cp .agent/plan.json /tmp/plan",
        "command -v git commit",
        "make > build.log",
    ] {
        assert_eq!(asked(line), None, "{line}");
    }
    // The implementer may write what is tracked, and not what is cook's.
    let other = Repo::with_selection();
    let implementer = Session::owner(&other, "s");
    let asked = |line: &str| {
        implementer
            .before("Bash", json!({"command": line}))
            .why_denied()
    };
    assert_eq!(asked("echo x > test.sh && git commit -am x"), None);
    assert!(asked("bash -c 'echo x > .agent/state.json'").is_some());
    let patch = "*** Begin Patch\n*** Add File: .agent/mission.md\n+x\n*** End Patch";
    let call = implementer.before("apply_patch", json!({"command": patch}));
    assert!(call.why_denied().is_some());
}

/// Sessions of the real programs at a scripted model: each took the work, wrote a file, and was sent back
/// to work as often as cook said so. Kimi Code asks at one stop of each prompt, and was resumed for three
/// more; Cline asks at none.
#[test]
fn recorded_sessions_are_told_once_and_held_three_times() {
    for (name, text, told_held) in [
        ("claude", include_str!("../data/hooks/claude.jsonl"), (1, 3)),
        (
            "claude",
            include_str!("../data/hooks/claude-waits.jsonl"),
            (1, 3),
        ),
        ("codex", include_str!("../data/hooks/codex.jsonl"), (1, 3)),
        ("gemini", include_str!("../data/hooks/gemini.jsonl"), (1, 3)),
        ("qwen", include_str!("../data/hooks/qwen.jsonl"), (1, 3)),
        ("kimi", include_str!("../data/hooks/kimi.jsonl"), (4, 3)),
        ("cline", include_str!("../data/hooks/cline.jsonl"), (1, 0)),
    ] {
        let repo = Repo::with_selection();
        let session = Session::new(&repo, "s");
        let markers = &Agent::parse(name).unwrap().known().markers;
        let variable = markers.session.as_ref().or(markers.set.first());
        let variable: Vec<(&str, &str)> = variable
            .map(|name| (name.as_str(), "s"))
            .into_iter()
            .collect();
        let root = repo.root.to_str().unwrap();
        let (mut told, mut held) = (0, 0);
        for line in text.lines() {
            let line = line.replace("@ROOT@", root).replace("@SESSION@", "s");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["source"] == "resume" {
                session.wait(60);
            }
            let after = ["PostToolUse", "AfterTool"].map(|kind| event["hook_event_name"] == kind);
            let after = after.contains(&true) || event["event"] == "after_tool";
            let line_of_it = [
                &event["tool_input"]["command"],
                &event["args"]["commands"][0],
            ];
            if after && line_of_it.iter().any(|line| *line == "cook next --take") {
                let take = ["next", "--take"];
                let mut next = match &markers.program {
                    Some(program) => command_below(&repo, program, &take),
                    None => repo.cook_command(&take),
                };
                next.env("COOK_NOW", session.now())
                    .envs(variable.iter().copied());
                run(next, b"").exits(0);
            }
            let answer = session.raw(name, line.as_bytes());
            let answer = answer.json();
            told += usize::from(answer.to_string().contains("## Core Rules"));
            let decisions = [
                &answer["decision"],
                &answer["hookSpecificOutput"]["permissionDecision"],
            ];
            let stops = event["hook_event_name"] != "PreToolUse";
            held += usize::from(
                stops
                    && decisions
                        .iter()
                        .any(|one| *one == "block" || *one == "deny"),
            );
        }
        assert_eq!((told, held), told_held, "{name}");
        let released = usize::from(held > 0);
        assert_eq!(texts(&repo, "released").len(), released, "{name}");
        assert_eq!(texts(&repo, "auto"), Vec::<String>::new(), "{name}");
    }
}
