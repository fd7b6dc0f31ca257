//! The easy ways to `done`, each closed: proof that proves nothing, forged
//! state, a plan that grades itself, a taken-back no, an agent that calls a user-only command.

use crate::support::story::{GATE, MISSION, plan};
use crate::support::{Repo, run};
use serde_json::{Value, json};

fn accept(evidence: Value) -> Value {
    json!({"reconcile": {"slice_id": "a", "decision": "accepted"}, "evidence": evidence, "select": "b"})
}

#[track_caller]
fn expect_refused(repo: &Repo, report: &str, role: &str, code: &str) {
    let before = repo.fingerprint();
    repo.record(role, report).fails(4, code);
    assert!(before == repo.fingerprint(), "a refusal changed something");
}

#[test]
fn a_green_gate_is_no_evidence_for_a_criterion() {
    let repo = Repo::with_review();
    let report = repo.reground("accepted", "a", "b", &accept(json!([])));
    expect_refused(&repo, &report, "regrounder", "evidence_missing");
    let one = json!([{"criterion": "prints one", "anchor": "test:one", "basis": "test"}]);
    let report = repo.reground("accepted", "a", "b", &accept(one));
    expect_refused(&repo, &report, "regrounder", "evidence_missing");
}

#[test]
fn one_proof_copied_to_every_criterion_is_refused() {
    let repo = Repo::with_review();
    let receipts = &repo.document("verification-evidence.json")["runs"];
    let id = receipts[0]["id"].as_str().unwrap();
    let same = |anchor: String, basis: &str| {
        json!([{"criterion": "prints one", "anchor": anchor, "basis": basis},
               {"criterion": "prints two", "anchor": anchor, "basis": basis}])
    };
    for (anchor, basis) in [
        (format!("receipt:{id}"), "output"),
        (format!("cmd:{GATE}#exit"), "output"),
        ("test:one".to_owned(), "test"),
        ("README.md:1".to_owned(), "observed"),
        ("a.txt:1".to_owned(), "observed"),
    ] {
        let report = repo.reground("accepted", "a", "b", &accept(same(anchor.clone(), basis)));
        let before = repo.fingerprint();
        let run = repo.record("regrounder", &report).exits(4);
        assert!(run.err.contains("evidence_"), "{anchor}: {}", run.err);
        assert!(before == repo.fingerprint(), "{anchor}");
    }
}

#[test]
fn evidence_that_names_a_test_nobody_ran_is_refused() {
    let repo = Repo::with_review();
    let lie = json!([{"criterion": "prints one", "anchor": "test:one", "basis": "test"},
                     {"criterion": "prints two", "anchor": "test:never written", "basis": "test"}]);
    let report = repo.reground("accepted", "a", "b", &accept(lie));
    let before = repo.fingerprint();
    let run = repo.record("regrounder", &report).exits(4);
    assert!(run.err.contains("evidence_"), "{}", run.err);
    assert!(before == repo.fingerprint());
}

#[test]
fn forged_state_neither_stops_next_nor_passes_verify() {
    let repo = Repo::with_selection();
    repo.edit("state.json", |state| {
        state["continuation_policy"] = json!("done");
        state["project_done"] = json!(true);
        state["current_phase"] = json!("done");
        state["next_mandatory_role"] = Value::Null;
    });
    let next = repo
        .cook(&["next", "--json", "--exit-code"])
        .exits(0)
        .json();
    assert_eq!(next["rule"], "2");
    assert_eq!(next["role"], "completion-regrounder");
    assert_eq!(next["policy"], "continue");
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("state_forged");
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);
    assert_eq!(repo.rule(), "4");
    repo.cook(&["verify", "control-plane"]).exits(0);
}

#[test]
fn a_forged_history_is_named() {
    let repo = Repo::with_commit();
    repo.write(".agent/slice-history.jsonl", "");
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("history_forged");
    assert_eq!(repo.rule(), "2");
}

#[test]
fn a_plan_cannot_mark_its_slices_done() {
    let repo = Repo::with_selection();
    let mut marked = plan();
    marked["candidate_slices"][1]["status"] = json!("done");
    repo.edit("state.json", |state| {
        state["requires_reground"] = json!(true)
    });
    let report = repo.reground("none", "none", "a", &json!({"plan": marked}));
    expect_refused(&repo, &report, "regrounder", "plan_marks_done");
}

#[test]
fn an_adopted_plan_cannot_mark_its_slices_done() {
    let repo = Repo::with_selection();
    repo.edit("plan.json", |plan| {
        plan["candidate_slices"][1]["status"] = json!("done");
    });
    let before = repo.fingerprint();
    repo.cook(&["plan", "adopt", "--as-user"])
        .fails(4, "adopt_illegal")
        .says("plan_marks_done");
    assert!(before == repo.fingerprint());
}

#[test]
fn undo_past_a_no_does_not_remove_the_no() {
    let repo = Repo::wave();
    repo.record_with(&["stop-judge", "--session", "s1"], repo.judge(false))
        .exits(0);
    repo.cook(&["undo", "--as-user"]).exits(0);
    let status = repo.cook(&["status", "--json"]).exits(0).json();
    assert_eq!(
        status["unanswered"].as_array().unwrap().len(),
        1,
        "{status}"
    );
    assert!(status["wave"].as_u64().unwrap() >= 1);
    let empty = repo.reground("none", "none", "none", &json!({}));
    expect_refused(&repo, &empty, "regrounder", "no_unanswered");
    let history = repo.read(".agent/stop-check-history.jsonl");
    assert!(history.contains("\"can_stop\":false"), "{history}");
}

#[test]
fn undo_does_not_bring_counters_back() {
    let repo = Repo::with_commit();
    let before = repo.cook(&["status", "--json"]).json();
    repo.cook(&["undo", "--as-user"]).exits(0);
    let after = repo.cook(&["status", "--json"]).json();
    assert_eq!(before["steps"], after["steps"]);
    assert_eq!(
        after["scripted_commands"].as_u64().unwrap(),
        before["scripted_commands"].as_u64().unwrap() + 1
    );
}

const USER_COMMANDS: [&[&str]; 18] = [
    &["goal", "x", "--check", "false"],
    &["goal", "drop"],
    &["goal", "--show-hidden"],
    &["plan", "adopt"],
    &["plan", "adopt", "--discard"],
    &["plan", "adopt", "--branch"],
    &["undo"],
    &["trust", "true"],
    &["trust", "--gates"],
    &["resume", "--answer", "x"],
    &[
        "plan", "criteria", "amend", "a", "1", "--text", "t", "--reason", "r",
    ],
    &["plan", "criteria", "retire", "a", "1", "--reason", "r"],
    &["resume"],
    &["resume", "--new-wave"],
    &["cancel"],
    &["plan", "refocus", "--mission", "m"],
    &["resume", "--add", "steps=1"],
    &["resume", "--trust", "true"],
];

#[test]
fn every_user_door_is_closed_to_agents() {
    let repo = Repo::with_selection();
    let before = repo.fingerprint();
    let trusted = repo.cook(&["trust", "--list"]).out;
    for command in USER_COMMANDS {
        let mut as_user = command.to_vec();
        as_user.push("--as-user");
        for marker in [
            "CLAUDECODE",
            "CODEX_THREAD_ID",
            "COOK_ROLE",
            "COOK_INVOCATION",
        ] {
            repo.cook_env(&as_user, marker, "1")
                .fails(4, "user_only")
                .says(marker);
        }
        // Without a terminal and without the word.
        repo.cook(command).fails(4, "user_only").says("--as-user");
    }
    assert!(before == repo.fingerprint());
    assert_eq!(trusted, repo.cook(&["trust", "--list"]).out);
}

#[test]
fn one_door_is_closed_under_every_marker_of_an_agent() {
    let repo = Repo::with_selection();
    for marker in [
        "AGENT",
        "AI_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_CI",
        "CODEX_THREAD_ID",
        "COPILOT_AGENT_SESSION_ID",
        "CURSOR_AGENT",
        "CURSOR_TRACE_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "PI_CODING_AGENT",
        "PI_SESSION_FILE",
        "PI_SESSION_ID",
        "QWEN_CODE",
        "QWEN_CODE_SESSION_ID",
    ] {
        repo.cook_env(&["cancel", "--as-user"], marker, "1")
            .fails(4, "user_only")
            .says(marker);
    }
    // Keys, homes and switches that a person exports say nothing.
    let exported = [
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_EFFORT_LEVEL",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CODEX_HOME",
        "COPILOT_MODEL",
        "GEMINI_CLI_TRUST_WORKSPACE",
        "PI_CODING_AGENT_DIR",
        "QWEN_CODE_MAX_OUTPUT_TOKENS",
    ];
    let exported = exported.map(|name| (name.to_owned(), "1".to_owned()));
    repo.extra.borrow_mut().extend(exported);
    repo.cook(&["cancel", "--as-user"]).exits(0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_role_session_is_seen_through_a_cleaned_environment() {
    let repo = Repo::with_selection();
    let cook = env!("CARGO_BIN_EXE_cook");
    for marker in ["COOK_ROLE", "COOK_INVOCATION"] {
        let mut shell = repo.command("sh");
        shell.env(marker, "completion-implementer").args([
            "-c",
            &format!("env -u {marker} {cook} cancel --as-user; exit $?"),
        ]);
        run(shell, b"").fails(4, "user_only").says(marker);
    }
}

#[test]
fn a_role_session_hands_in_its_own_report_only() {
    let repo = Repo::with_commit();
    let mut command = repo.cook_command(&["record", "reviewer"]);
    command.env("COOK_ROLE", "completion-implementer");
    run(command, repo.review(true).as_bytes()).fails(4, "inside_role");
    let mut command = repo.cook_command(&["record", "reviewer"]);
    command.env("COOK_ROLE", "completion-reviewer");
    run(command, repo.review(true).as_bytes()).exits(0);
}

#[test]
fn criteria_are_locked() {
    let repo = Repo::with_selection();
    repo.edit("state.json", |state| {
        state["requires_reground"] = json!(true)
    });
    let cases: [(&str, Value); 3] = [
        ("criteria_weakened", json!(["prints one"])),
        (
            "criteria_weakened",
            json!(["prints one", "prints two or so"]),
        ),
        ("criteria_empty", json!([])),
    ];
    for (code, criteria) in cases {
        let mut weaker = plan();
        weaker["candidate_slices"][0]["acceptance_criteria"] = criteria;
        let report = repo.reground("none", "none", "a", &json!({"plan": weaker}));
        expect_refused(&repo, &report, "regrounder", code);
    }
    let mut shorter = plan();
    shorter["candidate_slices"].as_array_mut().unwrap().pop();
    let report = repo.reground("none", "none", "a", &json!({"plan": shorter}));
    expect_refused(&repo, &report, "regrounder", "slice_removed");
}

#[test]
fn done_means_done_at_this_head() {
    let repo = Repo::with_done();
    let next = repo
        .cook(&["next", "--json", "--exit-code"])
        .exits(0)
        .json();
    assert_eq!(
        (&next["rule"], &next["policy"]),
        (&json!("S"), &json!("done"))
    );
    repo.cook(&["verify", "--strict"]).exits(0);
    repo.write("later.txt", "x\n");
    repo.commit("later", None);
    repo.cook(&["verify", "--strict"])
        .exits(1)
        .says("head_moved_since_done");
    assert_eq!(repo.rule(), "S");
    repo.cook(&["resume", "--as-user"]).exits(0);
    assert_eq!(repo.rule(), "2");
}

/// The work of `a`, and everybody's yes to it.
fn do_all_but_conclude(repo: &Repo) {
    repo.select_a();
    repo.implement_a();
    repo.look_at_a();
    repo.leave_judges();
    repo.judges_say_yes();
}

/// Neither a remote that is said to have them nor a room without history makes objects dispensable: a
/// clone is not made without them.
#[test]
fn a_hole_in_the_history_is_not_done_whatever_the_settings_say() {
    for git in ["history", "none"] {
        let repo = Repo::with_script();
        let settings = format!("[clean_room]\ngit = \"{git}\"\n[gates.test]\nrun = \"{GATE}\"\n");
        repo.write(".agent/cook.toml", settings);
        repo.write("old.txt", "precious\n");
        repo.commit("old", None);
        let blob = repo.git(&["rev-parse", "HEAD:old.txt"]);
        repo.git(&["rm", "-q", "old.txt"]);
        repo.commit("new", None);
        repo.init_strictly(MISSION).exits(0);
        repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
        do_all_but_conclude(&repo);
        let object = repo
            .root
            .join(".git/objects")
            .join(&blob[..2])
            .join(&blob[2..]);
        let bytes = std::fs::read(&object).unwrap();
        std::fs::remove_file(&object).unwrap();
        repo.git(&["config", "remote.x.promisor", "true"]);
        let nowhere = repo.beside("nowhere");
        repo.git(&["config", "remote.x.url", nowhere.to_str().unwrap()]);
        repo.conclude_done()
            .fails(3, "not_reproducible")
            .says("cannot be cloned")
            .says(&blob)
            .says("it was not fetched");
        assert_eq!(repo.rule(), "9");
        // A remote that has it brings it.
        let there = repo.beside("there.git");
        let there = there.to_str().unwrap();
        std::fs::write(&object, &bytes).unwrap();
        repo.git(&["clone", "-q", "--bare", ".", there]);
        std::fs::remove_file(&object).unwrap();
        repo.git(&["config", "remote.x.url", there]);
        repo.conclude_done().exits(0);
        assert_eq!(repo.git(&["cat-file", "-t", &blob]), "blob");
        repo.cook(&["verify", "--strict"]).exits(0);
    }
}
