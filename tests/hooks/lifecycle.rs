//! What cook does in an agent's session, event by event, on the built binary.

use crate::support::hooks::{Session, list_linked, states, texts, trail};
use crate::support::{Repo, run};
use serde_json::{Value, json};

#[test]
fn a_session_begins_with_what_it_must_know() {
    let repo = Repo::with_selection();
    repo.write("results", "draft\n");
    let session = Session::new(&repo, "s");
    let text = session.start("startup").context();
    for part in [
        "## Core Rules",
        "cook next",
        "cook record",
        "cook brief checkpoint",
        "cook brief",
        "## Resuming: a — `do a`",
        "Status: selected | Type: slice | Priority: 5",
        "Unblocks: `b — do b`",
        "### Uncommitted Changes\n```text\nresults\n```",
        "## Next\ncompletion-implementer is due (rule 4)",
        "cook record implementer",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    assert!(text.len() <= 2048);
    let at = |part: &str| text.find(part).unwrap();
    assert!(at("## Core Rules") < at("## Resuming"));
    assert!(at("## Resuming") < at("### Uncommitted"));
    assert!(at("### Uncommitted") < at("## Next"));
    let rules = &text[..at("\n\n## Resuming")];
    assert!(rules.len() <= 600, "{}", rules.len());
}

#[test]
fn without_a_slice_there_are_rules_and_state_only() {
    let repo = Repo::set_up();
    let text = Session::new(&repo, "s").start("startup").context();
    assert!(
        text.contains("## Core Rules") && text.contains("## Next"),
        "{text}"
    );
    assert!(text.contains("completion-regrounder is due (rule 3)"));
    assert!(!text.contains("## Resuming") && !text.contains("Checkpoint Trail"));
}

#[test]
fn a_compaction_leaves_a_checkpoint_that_the_next_start_shows() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.tell_edit("a.txt");
    repo.write("a.txt", "one\n");
    repo.write("by-shell.txt", "x\n");
    session.turn();
    session.shell("cook gate");
    session.turn();
    assert_eq!(
        session.compact().json(),
        Value::Null,
        "a compaction takes no answer"
    );
    let kept = texts(&repo, "auto");
    assert_eq!(kept.len(), 1);
    for part in [
        "ran `cook gate`",
        "a.txt, by-shell.txt",
        "Turns since the last checkpoint: 2",
        "Next: cook next",
    ] {
        assert!(kept[0].contains(part), "`{part}` is not in {}", kept[0]);
    }
    assert_eq!(session.state()["turns"], 0);
    let text = session.start("compact").context();
    assert!(text.contains("### Checkpoint Trail\n```text\n["), "{text}");
    assert!(text.contains("Auto-checkpoint (before compaction)"));
    assert_eq!(session.shell("ls").context(), "", "it is said once");
    session.turn();
    session.compact();
    assert_eq!(
        texts(&repo, "auto").len(),
        2,
        "each compaction keeps its own"
    );
}

#[test]
fn an_auto_checkpoint_names_what_the_agent_said_last() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.turn();
    let line = json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "text", "text": "\n# Now I mend the parser <b>\nand more"}]}});
    let tool = json!({"type": "user", "message": {"role": "user", "content": []}});
    let path = repo.root.parent().unwrap().join("transcript.jsonl");
    std::fs::write(
        &path,
        format!("{}\n{line}\n{tool}\n{{torn", "x".repeat(100_000)),
    )
    .unwrap();
    session.send("PreCompact", json!({"transcript_path": path}));
    let kept = texts(&repo, "auto");
    assert!(
        kept[0].ends_with("Next: Now I mend the parser ‹b›"),
        "{kept:?}"
    );
}

#[test]
fn a_compaction_without_news_or_without_work_leaves_nothing() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.compact();
    let idle = Repo::set_up();
    let other = Session::owner(&idle, "s");
    other.tell_edit("a.txt");
    other.turn();
    other.compact();
    assert_eq!(
        (texts(&repo, "auto"), texts(&idle, "auto")),
        (vec![], vec![])
    );
}

#[test]
fn a_message_waits_for_an_event_that_can_carry_it() {
    let repo = Repo::with_selection();
    let session = Session::new(&repo, "c");
    let send = |name: &str| {
        session.wait(10);
        session.raw(
            "codex",
            session.event(name, json!({})).to_string().as_bytes(),
        )
    };
    send("SessionStart");
    send("PreCompact").is_silent();
    send("PostCompact").is_silent();
    session.wait(10);
    send("PreToolUse").is_silent();
    assert!(send("PostToolUse").context().contains("## Resuming: a"));
    assert_eq!(send("UserPromptSubmit").context(), "");
}

/// Each scenario is a command that the session ran, and the subjects that are then linked.
fn scenario(prepare: &str, command: &str) -> Vec<String> {
    let repo = Repo::with_selection();
    let sh = |line: &str| {
        let mut bash = repo.command("bash");
        bash.args(["-ec", line]);
        // Commits of one second are told apart all the same.
        run(bash, b"").exits(0);
    };
    sh(prepare);
    let session = Session::owner(&repo, "s");
    sh(command);
    session.shell("true");
    let first = list_linked(&repo);
    // Delivered again, by this session and by another that looks for the first time.
    session.shell("true");
    Session::owner(&repo, "t").shell("true");
    assert_eq!(list_linked(&repo), first);
    first
}

const COMMIT: &str = "c() { echo $1 > $1; git add -A; git commit -qm $1; };";

#[test]
fn commits_are_linked_by_head() {
    let three = scenario("true", &format!("{COMMIT} c one && c two; c three"));
    assert_eq!(three, ["one", "two", "three"]);
    let quiet = scenario("true", "mkdir d; git -C d commit -q --allow-empty -m quiet");
    assert_eq!(quiet, ["quiet"]);
}

#[test]
fn a_rebase_of_five_links_the_five_that_it_wrote() {
    let prepare = format!(
        "{COMMIT} git switch -qc topic; for i in 1 2 3 4 5; do c t$i; done; git switch -q main; c base; git switch -q topic"
    );
    assert_eq!(
        scenario(&prepare, "git rebase -q main"),
        ["t1", "t2", "t3", "t4", "t5"]
    );
}

#[test]
fn a_branch_switch_links_nothing() {
    let prepare = format!("{COMMIT} git switch -qc topic; c t1; c t2; git switch -q main");
    assert_eq!(
        scenario(&prepare, "git switch -q topic"),
        Vec::<String>::new()
    );
    assert_eq!(
        scenario(&prepare, &format!("{COMMIT} git switch -q topic && c t3")),
        ["t3"]
    );
}

#[test]
fn an_amend_links_what_it_made() {
    let amend = scenario(
        "git commit -q --allow-empty -m old",
        "git commit -q --amend --allow-empty -m new",
    );
    assert_eq!(amend, ["new"]);
    let both = scenario(
        "true",
        &format!("{COMMIT} c first; git commit -q --amend -m second"),
    );
    assert_eq!(both, ["second"], "what an amend left behind is not on HEAD");
}

#[test]
fn a_merge_links_the_merge() {
    let prepare = format!("{COMMIT} git switch -qc topic; c t1; git switch -q main; c m1");
    assert_eq!(
        scenario(&prepare, "git merge -q --no-edit topic -m merged"),
        ["merged"]
    );
    let forward = format!("{COMMIT} git switch -qc topic; c t1; git switch -q main");
    assert_eq!(
        scenario(&forward, "git merge -q --ff-only topic"),
        Vec::<String>::new()
    );
    assert_eq!(
        scenario(
            "true",
            "git commit -q --allow-empty -m 'commit: Fast-forward'"
        ),
        ["commit: Fast-forward"]
    );
}

#[test]
fn a_reset_links_nothing_and_unlinks_nothing() {
    let prepare = format!("{COMMIT} c one; c two");
    assert_eq!(
        scenario(&prepare, "git reset -q --hard HEAD~1"),
        Vec::<String>::new()
    );
    let gone = scenario(
        "true",
        &format!("{COMMIT} c one; c two; git reset -q --hard HEAD~1"),
    );
    assert_eq!(gone, ["one"]);
}

#[test]
fn without_gits_record_of_moves_ancestry_tells() {
    let prepare = "git config core.logAllRefUpdates false; rm -rf .git/logs";
    let two = scenario(prepare, &format!("{COMMIT} c one; c two"));
    assert_eq!(two, ["one", "two"]);
    let switch =
        format!("{prepare}; {COMMIT} git switch -qc topic; c t1; git switch -q main; c m1");
    assert_eq!(
        scenario(&switch, "git switch -q topic"),
        Vec::<String>::new()
    );
}

#[test]
fn the_users_own_commit_between_two_events_is_linked() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    repo.commit("by the user", None);
    session.prompt("go on");
    assert_eq!(list_linked(&repo), ["by the user"]);
    let entry = &trail(&repo)[0];
    let head = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(entry["id"], format!("commit:{head}"));
    assert_eq!(entry["commit"], head);
    assert_eq!(entry["item"], "a");
    assert_eq!(entry["text"], format!("commit: {} by the user", &head[..7]));
}

#[test]
fn eight_turns_without_a_checkpoint_bring_one_reminder() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let mut told = Vec::new();
    for turn in 1..=16 {
        let answer = session.turn();
        if !answer.context().is_empty() {
            assert!(answer.notice().contains(&format!("{turn} turns")));
            told.push((turn, answer.context()));
        }
    }
    let turns: Vec<u64> = told.iter().map(|(turn, _)| *turn).collect();
    assert_eq!(turns, [8, 16]);
    assert!(told[0].1.contains("8 turns without a checkpoint"));
    assert!(told[0].1.contains("cook brief checkpoint '"));
}

#[test]
fn a_checkpoint_of_any_kind_starts_the_counter_again() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let seven = || (0..7).for_each(|_| assert_eq!(session.turn().context(), ""));
    seven();
    repo.cook(&["brief", "checkpoint", "DONE: x; NEXT: y"])
        .exits(0)
        .says("kept, with a");
    seven();
    repo.commit("one", None);
    session.shell("git commit");
    assert_eq!(session.state()["turns"], 0);
    seven();
    session.compact();
    session.start("compact");
    seven();
}

#[test]
fn the_context_warning_comes_once_in_a_window() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let fill = |percent: f64| {
        let input = json!({"session_id": session.id, "workspace": {"current_dir": repo.root},
            "context_window": {"used_percentage": percent}});
        session.raw("claude-statusline", input.to_string().as_bytes())
    };
    assert_eq!(fill(84.0).0.out, "cook: implementer · a · context 84 %\n");
    assert_eq!(session.turn().context(), "");
    fill(86.0);
    let told = session.turn();
    assert!(
        told.context().contains("the context is 86 % full"),
        "{}",
        told.context()
    );
    assert!(told.notice().contains("86 %"));
    fill(90.0);
    assert_eq!(session.turn().context(), "");
    session.compact();
    session.start("compact");
    fill(88.0);
    assert!(session.turn().context().contains("88 % full"));
}

#[test]
fn an_owning_session_is_held_at_work_and_let_go_after_three() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    for _ in 0..3 {
        let why = session.stop().why_blocked().unwrap();
        assert!(
            why.contains("completion-implementer is due: implement slice `a`"),
            "{why}"
        );
        assert!(why.contains("cook record implementer"), "{why}");
    }
    let told = session.stop();
    assert_eq!(told.why_blocked(), None);
    assert!(told.notice().contains("no progress"), "{}", told.notice());
    assert_eq!(texts(&repo, "released").len(), 1);
    assert_eq!(session.stop().json(), Value::Null);
    // A commit is progress.
    repo.commit("one", None);
    for _ in 0..3 {
        assert!(session.stop().why_blocked().is_some());
    }
    assert_eq!(session.stop().why_blocked(), None);
    assert_eq!(texts(&repo, "released").len(), 2);
}

#[test]
fn other_policies_do_not_hold() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    repo.cook(&["pause"]).exits(0);
    assert_eq!(session.stop().json(), Value::Null);
    repo.cook(&["resume", "--as-user"]).exits(0);
    assert!(session.stop().why_blocked().is_some());
    repo.git(&["switch", "-q", "-c", "other"]);
    assert_eq!(
        session.stop().json(),
        Value::Null,
        "another branch waits for the user"
    );
    let done = Repo::with_done();
    assert_eq!(Session::owner(&done, "s").stop().json(), Value::Null);
}

#[test]
fn a_goal_loop_of_the_agents_own_is_left_alone() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let told = session.send("Stop", json!({"goal_active": true}));
    assert_eq!(told.why_blocked(), None);
    assert!(told.notice().contains("goal loop"));
    assert_eq!(
        session.send("Stop", json!({"goal_active": true})).json(),
        Value::Null
    );
}

#[test]
fn a_foreign_session_gets_the_message_and_nothing_else() {
    let repo = Repo::with_selection();
    let _owner = Session::owner(&repo, "owner");
    let other = Session::new(&repo, "other");
    other.wait(100);
    assert!(other.start("startup").context().contains("## Resuming"));
    for _ in 0..20 {
        assert_eq!(other.turn().json(), Value::Null);
    }
    assert_eq!(other.stop().json(), Value::Null);
    assert_eq!(texts(&repo, "released"), Vec::<String>::new());
}

#[test]
fn ownership_is_taken_lapses_and_ends() {
    let repo = Repo::with_selection();
    let first = Session::new(&repo, "first");
    first.start("startup");
    assert_eq!(first.stop().json(), Value::Null, "nobody took it");
    // By a commit for the slice in work.
    repo.commit("one", Some("a"));
    first.shell("git commit");
    assert!(first.stop().why_blocked().is_some());
    // Another one takes it.
    let second = Session::new(&repo, "second");
    second.wait(200);
    second.start("startup");
    second.take();
    assert!(second.stop().why_blocked().is_some());
    assert_eq!(first.stop().json(), Value::Null);
    // Silence.
    second.wait(31 * 60);
    assert_eq!(second.stop().json(), Value::Null);
    // By name; and the end of the session.
    let mut attach = repo.cook_command(&["hooks", "attach", "second"]);
    attach.env("COOK_NOW", second.now());
    run(attach, b"").exits(0).says("session second (claude)");
    assert!(second.stop().why_blocked().is_some());
    second.send("SessionEnd", json!({"reason": "exit"}));
    assert_eq!(second.stop().json(), Value::Null);
    repo.cook(&["hooks", "attach", "nobody"])
        .fails(2, "session_unknown");
}

#[test]
fn a_session_whose_id_the_environment_holds_takes_the_work_itself() {
    let repo = Repo::with_selection();
    let session = Session::new(&repo, "s");
    session.start("startup");
    let mut next = repo.cook_command(&["next", "--take"]);
    next.env("CLAUDE_CODE_SESSION_ID", "s")
        .env("COOK_NOW", session.now());
    run(next, b"").exits(0);
    assert!(session.stop().why_blocked().is_some());
}

#[test]
fn a_sub_agents_work_counts_for_its_session_and_it_is_told_nothing() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let sub = |name: &str, fields: Value| {
        let mut fields = fields;
        fields["agent_id"] = json!("sub-1");
        session.send(name, fields)
    };
    for _ in 0..10 {
        assert_eq!(
            sub("PostToolBatch", json!({"n": session.call_id()})).json(),
            Value::Null
        );
    }
    assert_eq!(session.state()["turns"], 0);
    let write =
        json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt"}, "tool_use_id": "w"});
    sub("PostToolUse", write);
    repo.commit("by a sub-agent", None);
    session.turn();
    sub(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "b"}),
    );
    assert_eq!(list_linked(&repo), ["by a sub-agent"]);
    assert!(
        session.state()["files"]["a"]
            .as_array()
            .unwrap()
            .contains(&json!("a.txt"))
    );
    assert_eq!(sub("SubagentStop", json!({})).json(), Value::Null);
    assert_eq!(sub("Stop", json!({})).json(), Value::Null);
    assert_eq!(
        sub("SessionStart", json!({"source": "startup"})).context(),
        ""
    );
}

#[test]
fn a_role_that_reads_is_kept_from_writing() {
    let repo = Repo::with_commit();
    let session = Session::owner(&repo, "s");
    assert_eq!(repo.rule(), "5");
    let write = |path: &str| {
        session
            .before("Edit", json!({"file_path": path}))
            .why_denied()
    };
    let why = write("a.txt").unwrap();
    assert!(
        why.contains("completion-reviewer") && why.contains("`a.txt`"),
        "{why}"
    );
    assert!(write(repo.root.join("test.sh").to_str().unwrap()).is_some());
    assert!(write("./d/../a.txt").is_some());
    for free in [
        "new.txt",
        ".agent/tmp/report.txt",
        "/etc/hosts",
        "../outside.txt",
    ] {
        assert_eq!(write(free), None, "{free}");
    }
    for line in [
        "git commit -qm x",
        "cd . && git -C . commit -m x",
        "git reset --hard HEAD~1",
    ] {
        let told = session.before("Bash", json!({"command": line}));
        assert!(told.why_denied().is_some(), "{line}");
    }
    for line in [
        "git log",
        "cat a.txt",
        "echo 'git commit'",
        "git commit 'open quote",
    ] {
        let told = session.before("Bash", json!({"command": line}));
        assert_eq!(told.json(), Value::Null, "{line}");
    }
    let sub = json!({"tool_name": "Edit", "tool_input": {"file_path": "a.txt"}, "agent_id": "x"});
    assert!(
        session.send("PreToolUse", sub).why_denied().is_some(),
        "a sub-agent too"
    );
    let other = Session::new(&repo, "other");
    other.wait(500);
    assert_eq!(
        other
            .before("Edit", json!({"file_path": "a.txt"}))
            .why_denied(),
        None
    );
}

#[test]
fn cooks_own_child_is_guarded_and_counted_and_told_nothing() {
    let repo = Repo::with_selection();
    let session = Session::new(&repo, "child");
    let env = [
        ("COOK_INVOCATION", "x"),
        ("COOK_ROLE", "completion-reviewer"),
    ];
    let send = |name: &str, fields: Value| {
        session.wait(10);
        session.raw_env(
            "claude",
            session.event(name, fields).to_string().as_bytes(),
            &env,
        )
    };
    assert_eq!(
        send("SessionStart", json!({"source": "startup"})).json(),
        Value::Null
    );
    assert!(
        send(
            "PreToolUse",
            json!({"tool_name": "Write", "tool_input": {"file_path": "test.sh"}})
        )
        .why_denied()
        .is_some()
    );
    for n in 0..9 {
        assert_eq!(send("PostToolBatch", json!({"n": n})).json(), Value::Null);
    }
    assert_eq!(session.state()["turns"], 9);
    send(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "cook record x"}}),
    );
    assert_eq!(send("Stop", json!({})).json(), Value::Null);
}

#[test]
fn an_event_that_is_delivered_twice_happens_once() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let twice = |name: &str, fields: Value| {
        let event = session.event(name, fields).to_string();
        session.wait(10);
        let first = session.raw("claude", event.as_bytes());
        (first, session.raw("claude", event.as_bytes()))
    };
    let (first, second) = twice("SessionStart", json!({"source": "resume"}));
    assert!(first.context().contains("## Resuming"));
    assert_eq!(second.json(), Value::Null);
    twice("PostToolBatch", json!({"n": 1}));
    assert_eq!(session.state()["turns"], 1);
    // A tool call's own id tells for longer than a moment.
    let call = json!({"tool_name": "Edit", "tool_input": {"file_path": ".agent/plan.json"}, "tool_use_id": "x"});
    let (first, second) = twice("PreToolUse", call);
    assert_eq!(first.json(), second.json());
    assert!(first.why_denied().is_some());
}

#[test]
fn what_silences_hooks_silences_all() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.wait(10);
    let start = session
        .event("SessionStart", json!({"source": "startup"}))
        .to_string();
    session
        .raw_env("claude", start.as_bytes(), &[("COOK_HOOKS", "off")])
        .is_silent();
    session
        .raw_env(
            "claude-statusline",
            start.as_bytes(),
            &[("COOK_HOOKS", "off")],
        )
        .is_silent();
    repo.write(".agent/cook.toml", "[hooks]\nenabled = false\n");
    session.start("startup").is_silent();
    session.stop().is_silent();
}

#[test]
fn outside_a_workflow_hooks_are_silent() {
    let plain = Repo::directory();
    Session::new(&plain, "s").start("startup").is_silent();
    let without = Repo::with_script();
    let session = Session::new(&without, "s");
    session.start("startup").is_silent();
    session.stop().is_silent();
    assert_eq!(without.git(&["status", "--porcelain"]), "");
    let bare = Repo::directory();
    bare.git(&["init", "-q", "--bare"]);
    Session::new(&bare, "s").start("startup").is_silent();
    let repo = Repo::with_selection();
    let gone = Session::new(&repo, "s");
    let told = gone.send(
        "SessionStart",
        json!({"source": "startup", "cwd": repo.root.join("gone/dir")}),
    );
    assert!(
        told.context().contains("## Resuming"),
        "what is gone lies in what is there"
    );
    let git = gone.send(
        "SessionStart",
        json!({"source": "startup", "cwd": "/nowhere/at/all"}),
    );
    assert_eq!(git.json(), Value::Null);
}

#[test]
fn each_worktree_has_its_own_session_and_submodules_are_not_their_parent() {
    let repo = Repo::with_selection();
    let linked = repo.root.parent().unwrap().join("linked");
    repo.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let session = Session::owner(&repo, "s");
    session
        .send("SessionStart", json!({"source": "startup", "cwd": linked}))
        .is_silent();
    let inner = repo.root.join("inner");
    std::fs::create_dir(&inner).unwrap();
    repo.git(&["init", "-q", inner.to_str().unwrap()]);
    session
        .send("SessionStart", json!({"source": "startup", "cwd": inner}))
        .is_silent();
}

#[test]
fn bad_input_ends_well_and_says_why_on_stderr() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let huge = format!(
        "{{\"hook_event_name\":\"Stop\",\"x\":\"{}\"}}",
        "y".repeat(5 << 20)
    );
    let deep = "[".repeat(100_000);
    let bad: [&[u8]; 12] = [
        b"",
        b"   \n",
        b"\xef\xbb\xbf",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe{}",
        b"{}",
        b"{\"hook_event_name\":7}",
        b"{\"hook_event_name\":\"NoSuchEvent\"}",
        b"{\"hook_event_name\":\"Sto\\u0000p\\u001b[31m\"}",
        deep.as_bytes(),
    ];
    for agent in [
        "claude", "codex", "gemini", "qwen", "copilot", "cursor", "opencode", "pi",
    ] {
        for input in bad {
            let told = session.raw(agent, input);
            assert_eq!((told.0.code, told.0.out.as_str()), (0, ""));
            assert!(
                told.0.err.starts_with("cook hook: "),
                "{agent}: {:?}",
                told.0.err
            );
            assert_eq!(told.0.err.lines().count(), 1);
            assert!(!told.0.err.contains('\u{1b}'));
        }
    }
    assert_eq!(session.raw("claude", huge.as_bytes()).0.code, 0);
    session.wait(10);
    let with_mark = [
        b"\xef\xbb\xbf".as_slice(),
        session
            .event("SessionStart", json!({"source": "startup"}))
            .to_string()
            .as_bytes(),
    ]
    .concat();
    assert!(
        session
            .raw("claude", &with_mark)
            .context()
            .contains("## Resuming")
    );
}

#[test]
fn fields_of_the_wrong_kind_count_as_absent() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let odd = [
        json!(null),
        json!(7),
        json!([]),
        json!({"a": {"b": []}}),
        json!("x".repeat(100_000)),
        json!("a\u{0}b"),
        json!("\u{202e}\u{1b}[2J"),
    ];
    for name in [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PreCompact",
        "Stop",
        "SubagentStop",
        "SessionEnd",
    ] {
        for value in &odd {
            let mut event = json!({"hook_event_name": name});
            for field in [
                "session_id",
                "cwd",
                "transcript_path",
                "tool_name",
                "tool_input",
                "tool_use_id",
                "prompt",
                "source",
                "agent_id",
                "stop_hook_active",
                "context_usage",
                "extra",
            ] {
                event[field] = value.clone();
            }
            event["cwd"] = json!(repo.root);
            session.wait(10);
            let told = session.raw("claude", event.to_string().as_bytes());
            assert_eq!(told.0.code, 0);
            assert!(
                !told.0.out.contains('\u{1b}') && !told.0.err.contains("panicked"),
                "{:?}",
                told.0
            );
        }
    }
}

#[test]
fn wrong_calls_never_end_with_two() {
    let repo = Repo::with_selection();
    for args in [
        vec!["hook"],
        vec!["hook", "nobody"],
        vec!["hook", "claude", "--no-such-flag"],
        vec!["hook", "claude", "more"],
        vec!["hook", "--json"],
    ] {
        let run = repo.cook(&args);
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{args:?}");
        assert!(run.err.starts_with("cook hook: "), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_lost_torn_or_later_state_is_no_harm() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.turn();
    let file = std::fs::read_dir(repo.root.join(".agent/tmp"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("hook-") && name.ends_with(".json") && name != "hook-owner.json"
        })
        .unwrap();
    std::fs::write(&file, "{\"schema_version\": 1, \"tur").unwrap();
    assert_eq!(session.turn().0.code, 0);
    assert_eq!(session.state()["turns"], 1, "it starts anew");
    std::fs::write(&file, "{\"schema_version\": 9, \"turns\": \"many\"}").unwrap();
    session.turn().is_silent();
    assert!(
        std::fs::read_to_string(&file).unwrap().contains("many"),
        "a later cook's is left alone"
    );
    std::fs::remove_dir_all(repo.root.join(".agent/tmp")).unwrap();
    assert_eq!(session.turn().0.code, 0);
    assert_eq!(states(&repo).len(), 1);
}

#[test]
fn paths_outside_are_never_remembered() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc", repo.root.join("link")).unwrap();
    for path in [
        "/etc/passwd",
        "../x",
        "link/passwd",
        ".git/config",
        "a/../../../x",
        "",
    ] {
        session.tell_edit(path);
        session.after("Write", json!({"file_path": path}));
    }
    session.after("NotebookEdit", json!({"notebook_path": "n.ipynb"}));
    session.after("mcp__files__write_file", json!({"path": "m.txt"}));
    session.after("MultiEdit", json!({"file_path": "a.txt", "edits": []}));
    session.after(
        "Write",
        json!({"file_path": repo.root.join("sub/dir/new.txt")}),
    );
    session.after("Read", json!({"file_path": "read.txt"}));
    let files = session.state()["files"]["a"].clone();
    assert_eq!(
        files,
        json!(["a.txt", "m.txt", "n.ipynb", "sub/dir/new.txt"])
    );
}

#[test]
fn fifty_hooks_at_once_lose_no_count() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let rounds = if std::env::var_os("COOK_LONG_TESTS").is_some() {
        20
    } else {
        4
    };
    for round in 0..rounds {
        repo.commit(&format!("round {round}"), None);
        std::thread::scope(|scope| {
            for n in 0..50 {
                let event = session
                    .event("PostToolBatch", json!({"n": round * 50 + n}))
                    .to_string();
                let mut command = repo.cook_command(&["hook", "claude"]);
                command.env("COOK_NOW", session.now());
                scope.spawn(move || run(command, event.as_bytes()).exits(0));
            }
        });
        // The commit was linked by the first of them, and set the counter back once.
        assert_eq!(session.state()["turns"], 50);
        session.wait(10);
    }
    assert_eq!(list_linked(&repo).len(), rounds);
}

/// The ids and texts of kept prompts.
fn prompts(repo: &Repo) -> Vec<(String, String)> {
    trail(repo)
        .iter()
        .filter(|entry| entry["kind"] == "prompt")
        .map(|entry| {
            assert_eq!(entry.get("item"), None);
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            (text("id"), text("text"))
        })
        .collect()
}

/// A claim that rests on a user's message; how the note ended.
fn claim(repo: &Repo, anchor: &str) -> crate::support::Run {
    let args = ["brief", "note", "established", anchor, "--evidence", anchor];
    let rest = ["--basis", "user", "--reopen", "none"];
    repo.cook(&[&args[..], &rest[..]].concat())
}

#[test]
fn what_the_user_typed_is_a_message_that_anchors_can_quote() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    session.turn();
    let key = format!("sk-{}", "a1".repeat(12));
    session
        .prompt(&format!(
            "use queues;\n pubsub loses messages ({key})\u{202e}"
        ))
        .is_silent();
    let kept = prompts(&repo);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let (id, text) = &kept[0];
    assert_eq!(text, "use queues;\n pubsub loses messages ([redacted])");
    assert!(id.starts_with("prompt-"));
    assert_eq!(session.state()["turns"], 1, "a prompt is not a checkpoint");
    assert!(!session.start("resume").context().contains("pubsub"));
    claim(&repo, &format!("user@{id}: 'queues; pubsub loses'")).exits(0);
    claim(&repo, &format!("user@{id}: 'use pubsub'")).fails(4, "brief_unproved");
    claim(&repo, "user@prompt-0").fails(4, "brief_unproved");
    // It goes into the log with the next transition and is there when the file is lost.
    std::fs::remove_file(repo.root.join(".agent/checkpoints.jsonl")).unwrap();
    // Any process of the agent's could have said so.
    repo.cook(&["brief", "check"]).exits(1).says("(heard)");
    let brief = repo.cook(&["brief", "--all"]).exits(0).out;
    assert!(brief.contains("Claimed, not verified: "), "{brief}");
    repo.cook(&["verify", "control-plane"]).exits(0);
    // A forbid stays the user's to end, whatever a hook reported.
    repo.cook(&[
        "brief",
        "note",
        "forbid",
        "No vendoring.",
        "--source",
        "x",
        "--as-user",
    ])
    .exits(0);
    let stored = repo.document("brief.json");
    let entries = stored["entries"].as_array().unwrap();
    let forbid = entries
        .iter()
        .find(|e| e["line"]["slot"] == "forbid")
        .unwrap();
    let fate =
        json!([{"id": forbid["id"], "verdict": "retired", "by": format!("user@{id}"), "why": "w"}]);
    repo.write(".agent/tmp/f.json", fate.to_string());
    repo.cook_env(
        &["brief", "--reconcile", ".agent/tmp/f.json"],
        "CLAUDECODE",
        "1",
    )
    .fails(4, "user_only");
    repo.cook_env(&["brief", "say", "I said so"], "CLAUDECODE", "1")
        .fails(4, "user_only");
}

#[test]
fn prompts_that_nobody_typed_are_not_kept() {
    let repo = Repo::with_selection();
    let session = Session::owner(&repo, "s");
    let reason = session.stop().why_blocked().unwrap();
    session.prompt(&reason);
    session.prompt("cook: go on");
    session.prompt(" \n");
    session.send("UserPromptSubmit", json!({"prompt": 7}));
    session.send(
        "UserPromptSubmit",
        json!({"prompt": "x", "agent_id": "sub"}),
    );
    let typed = session.event("UserPromptSubmit", json!({"prompt": "typed"}));
    session.wait(10);
    let child = [("COOK_INVOCATION", "i"), ("COOK_ROLE", "implementer")];
    session.raw_env("claude", typed.to_string().as_bytes(), &child);
    session.wait(10);
    session.raw("qwen", typed.to_string().as_bytes());
    let pi = json!({"event": "prompt", "session": "p", "cwd": repo.root, "prompt": "by a tool", "typed": false});
    session.raw("pi", pi.to_string().as_bytes());
    assert_eq!(prompts(&repo), []);
    session.wait(10);
    for _ in 0..2 {
        session.raw("claude", typed.to_string().as_bytes());
    }
    let pi = json!({"event": "prompt", "session": "p", "cwd": repo.root, "prompt": "by hand", "typed": true});
    session.raw("pi", pi.to_string().as_bytes());
    let texts: Vec<String> = prompts(&repo).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["typed", "by hand"]);
    // A line that somebody put there under another id is not a message.
    let forged = trail(&repo).pop().unwrap().to_string();
    let id = prompts(&repo)[1].0.clone();
    let path = repo.root.join(".agent/checkpoints.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text + &forged.replace(&id, "msg-99") + "\n").unwrap();
    claim(&repo, "user@msg-99").fails(4, "brief_unproved");
}

#[test]
fn settings_keep_the_digest_of_a_prompt_only() {
    let repo = Repo::with_selection();
    repo.write(".agent/cook.toml", "[hooks]\nkeep_prompts = false\n");
    let session = Session::owner(&repo, "s");
    session.prompt("use  queues; never pubsub ");
    let kept = prompts(&repo);
    assert!(
        kept[0].1.starts_with("sha256:") && kept[0].1.len() == 71,
        "{kept:?}"
    );
    let id = &kept[0].0;
    claim(&repo, &format!("user@{id}: 'use queues; never pubsub'")).exits(0);
    let part = claim(&repo, &format!("user@{id}: 'use queues'"));
    part.exits(0).says("only the digest");
}

#[test]
fn after_a_compaction_the_brief_stands_behind_the_message() {
    let repo = Repo::with_selection();
    repo.write(".agent/cook.toml", "[brief]\nsync = \"always\"\n");
    repo.cook(&[
        "brief",
        "note",
        "learned",
        "the <b> parser is slow",
        "--source",
        "s",
    ])
    .exits(0);
    let session = Session::owner(&repo, "s");
    assert!(
        !session
            .start("startup")
            .context()
            .contains("cook brief ---")
    );
    session.turn();
    session.compact();
    let told = session.start("compact");
    let text = told.context();
    let (message, rest) = text.split_once("\n\n--- cook brief ---\n").unwrap();
    let brief = rest.strip_suffix("\n--- end of the brief ---").unwrap();
    assert!(message.starts_with("## Core Rules") && message.len() <= 2048);
    assert!(brief.contains("- the <b> parser is slow"));
    assert_eq!(format!("{brief}\n"), repo.read("CONTINUE.md"));
    assert_eq!(format!("{brief}\n"), repo.cook(&["brief"]).out);
    assert_eq!(told.notice(), brief, "and the user sees it");
    assert!(text.len() <= 10_000);
    assert_eq!(session.shell("ls").context(), "", "once");
    // A checkpoint keeps the file in step, and the next start says the same.
    repo.write("CONTINUE.md", "## Task\nold\n");
    repo.cook(&["brief", "checkpoint", "half"]).exits(0);
    assert_eq!(repo.read("CONTINUE.md"), repo.cook(&["brief"]).out);
    repo.write(".agent/cook.toml", "[brief]\nsync = \"always\"\n");
    let resumed = session.start("resume");
    assert!(resumed.context().contains("--- cook brief ---"));
    assert_eq!(repo.read("CONTINUE.md"), repo.cook(&["brief"]).out);
    // A file that is not a brief is left alone, and nothing is held up by it.
    repo.write("CONTINUE.md", "mine\n");
    let resumed = session.start("resume");
    assert!(resumed.context().contains("--- cook brief ---"));
    assert!(
        resumed.0.err.contains("`CONTINUE.md` is not a brief"),
        "{:?}",
        resumed.0
    );
    assert_eq!(repo.read("CONTINUE.md"), "mine\n");
    // What is too long for a context is named.
    for n in 0..3 {
        let rule = format!("{n} {}", "x".repeat(3_900));
        repo.cook(&[
            "brief",
            "note",
            "forbid",
            &rule,
            "--source",
            "s",
            "--as-user",
        ])
        .exits(0);
    }
    let text = session.start("resume").context();
    assert!(
        text.ends_with("run `cook brief`)") && text.len() <= 10_000,
        "{text}"
    );
}
