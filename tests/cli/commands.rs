//! Each command at the binary: what it answers, how it ends, what it refuses,
//! and that what only reads never writes.

use crate::support::{Repo, run};
use cook_protocol::diagnostic::CATALOGUE;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn set_up_is_safe_to_repeat() {
    let repo = Repo::set_up();
    let before = repo.fingerprint();
    repo.cook(&["init"]).exits(0).says("nothing to do");
    repo.cook(&["init", "--commit"]).exits(0);
    assert!(before == repo.fingerprint());
    repo.cook(&["init", "--mission", "another"])
        .fails(4, "does_not_apply")
        .says("cook plan refocus");
    assert!(before == repo.fingerprint());
    repo.cook(&["init", "--mission", "   "]).fails(2, "usage");
    repo.git(&["rm", "-q", "--cached", ".agent/profile.json"]);
    repo.git(&["commit", "-q", "-m", "Lose it"]);
    repo.cook(&["init"])
        .ok()
        .says(".agent/profile.json is not committed: run `cook init --commit`");
}

#[test]
fn a_mission_nobody_gave_is_asked_for() {
    let repo = Repo::unborn();
    repo.cook(&["init"]).exits(0);
    repo.cook(&["next", "--exit-code"])
        .exits(10)
        .says("cook resume --answer");
    repo.cook(&["resume", "--answer", "Count words", "--as-user"])
        .exits(0);
    assert_eq!(repo.read(".agent/mission.md").trim(), "Count words");
    repo.cook(&["status"]).exits(0).says("Count words");
}

#[test]
fn stopped_states_have_exit_codes_of_their_own() {
    let repo = Repo::with_selection();
    repo.cook(&["next", "--exit-code"]).exits(0);
    repo.cook(&["pause", "lunch"]).exits(0);
    repo.cook(&["pause"]).fails(4, "does_not_apply");
    repo.cook(&["next"]).exits(0).says("lunch");
    repo.cook(&["next", "--exit-code"]).exits(12);
    repo.cook(&["next", "--prompt"]).exits(4);
    repo.cook(&["resume", "--as-user"]).exits(0);
    // A command line that is wrong trusts nothing.
    repo.cook(&["resume", "--trust", "true", "--add", "x", "--as-user"])
        .exits(2);
    let trusted = repo.cook(&["trust", "--list"]).exits(0).out;
    assert!(!trusted.contains("command  true"), "{trusted}");
    // More budget brings no cancelled work back.
    let cancelled = Repo::with_selection();
    cancelled.cook(&["cancel", "--as-user"]).exits(0);
    cancelled
        .cook(&["resume", "--add", "steps=1", "--as-user"])
        .fails(4, "does_not_apply")
        .says("cook resume");
    repo.cook(&["resume", "--as-user"])
        .fails(4, "does_not_apply");
    assert_eq!(repo.rule(), "4");

    let report = |repo: &Repo, policy: Value| {
        repo.edit("state.json", |state| {
            state["requires_reground"] = json!(true)
        });
        let text = repo.reground("none", "none", "a", &json!({"policy": policy}));
        repo.record("regrounder", &text).exits(0);
    };
    report(
        &repo,
        json!({"to": "blocked", "why": "no network", "exit": "ping host"}),
    );
    for command in [&["next", "--exit-code"][..], &["status"]] {
        let exit = if command[0] == "next" { 11 } else { 0 };
        repo.cook(command)
            .exits(exit)
            .says("no network")
            .says("ping host && cook resume");
    }
    repo.cook(&["resume", "--as-user"]).exits(0);
    report(
        &repo,
        json!({"to": "await_user_input", "question": "which port?"}),
    );
    repo.cook(&["next", "--exit-code"])
        .exits(10)
        .says("which port?");
    repo.cook(&["resume", "--answer", "8080", "--as-user"])
        .exits(0);
}

#[test]
fn criteria_are_listed_by_the_number_that_amend_takes() {
    let repo = Repo::with_selection();
    let all = repo.cook(&["plan", "criteria"]).exits(0);
    all.says("a (selected)")
        .says("  1. prints one")
        .says("no proof yet");
    let one = repo.cook(&["plan", "criteria", "b"]).exits(0);
    assert!(!one.out.contains("a (selected)"), "{}", one.out);
    repo.cook(&["plan", "criteria", "z"])
        .fails(2, "slice_unknown");
    let json = repo.cook(&["plan", "criteria", "--json"]).exits(0).json();
    assert_eq!(json["slices"][0]["criteria"][0]["number"], 1);
}

#[test]
fn budgets_are_added_and_wrong_ones_named() {
    let repo = Repo::with_selection();
    repo.cook(&["resume", "--add", "steps=7", "attempts=2", "--as-user"])
        .exits(0);
    repo.cook(&["status"]).exits(0).says("of 67");
    for wrong in [
        "steps",
        "steps=0",
        "steps=-1",
        "steps=many",
        "gold=3",
        "cost=-1",
        "wall=2h",
    ] {
        repo.cook(&["resume", "--add", wrong, "--as-user"])
            .fails(2, "usage");
    }
}

#[test]
fn ready_and_graph_show_the_plan() {
    let repo = Repo::with_selection();
    repo.cook(&["status", "--ready"])
        .exits(0)
        .says("b waits for a");
    let graph = repo.cook(&["status", "--graph"]).exits(0);
    assert!(
        graph.out.starts_with("[>] a — ") && graph.out.contains("\n`-- [ ] b — "),
        "{}",
        graph.out
    );
    assert!(graph.out.contains("(after a)"), "{}", graph.out);
    let mermaid = repo.cook(&["status", "--graph=mermaid"]).exits(0);
    assert!(
        mermaid.out.starts_with("graph LR\n") && mermaid.out.contains("s0 --> s1"),
        "{}",
        mermaid.out
    );
    let dot = repo.cook(&["status", "--graph=dot"]).exits(0);
    assert!(
        dot.out.starts_with("digraph") && dot.out.contains("s0 -> s1"),
        "{}",
        dot.out
    );
    let json = repo.cook(&["status", "--graph", "--json"]).exits(0).json();
    assert_eq!(json["edges"], json!([{"from": "a", "to": "b"}]));
}

#[test]
fn a_legal_edit_of_the_plan_is_adopted() {
    let repo = Repo::with_selection();
    repo.cook(&["plan", "adopt", "--as-user"])
        .fails(4, "does_not_apply");
    repo.edit("plan.json", |plan| {
        plan["candidate_slices"][1]["acceptance_criteria"]
            .as_array_mut()
            .unwrap()
            .push(json!("prints four"));
    });
    assert_eq!(repo.rule(), "2");
    repo.cook(&["plan", "adopt", "--as-user"]).exits(0);
    assert_eq!(
        repo.document("plan.json")["candidate_slices"][1]["acceptance_criteria"][1],
        "prints four"
    );
    repo.cook(&["verify", "control-plane"]).exits(0);
    repo.edit("plan.json", |plan| {
        plan["candidate_slices"][1]["acceptance_criteria"] = json!(["prints four"]);
    });
    let before = repo.fingerprint();
    repo.cook(&["plan", "adopt", "--as-user"])
        .fails(4, "adopt_illegal")
        .says("criteria_weakened");
    assert!(before == repo.fingerprint());
    repo.edit("state.json", |state| state["project_done"] = json!(true));
    repo.cook(&["plan", "adopt", "--as-user"])
        .fails(4, "adopt_illegal")
        .says("--discard");
}

/// Every file below a directory, the git dir included, with length and moment of change.
fn everything(root: &Path) -> BTreeMap<String, (u64, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            found.insert(
                path.display().to_string(),
                (meta.len(), meta.modified().unwrap()),
            );
            if meta.is_dir() {
                todo.push(path);
            }
        }
    }
    found
}

#[test]
fn what_only_reads_never_writes() {
    let readers: [&[&str]; 18] = [
        &["next"],
        &["next", "--json"],
        &["next", "--prompt"],
        &["next", "--why"],
        &["status"],
        &["status", "--ready"],
        &["status", "--graph"],
        &["report", "--html", "-"],
        &["log"],
        &["log", "--all-worktrees"],
        &["log", "@"],
        &["log", "@-..@"],
        &["doctor", "rescue", "list"],
        &["verify", "control-plane"],
        &["doctor"],
        &["doctor", "--config"],
        &["doctor", "fsck"],
        &["trust", "--list"],
    ];
    for make in [
        Repo::with_script as fn() -> Repo,
        Repo::unborn,
        Repo::with_commit,
        Repo::with_done,
    ] {
        let repo = make();
        let before = everything(&repo.root);
        for args in readers {
            repo.cook(args);
            assert_eq!(before, everything(&repo.root), "{args:?}");
        }
    }
}

#[test]
fn linked_worktrees_have_workflows_of_their_own() {
    let repo = Repo::with_selection();
    let linked = repo.root.parent().unwrap().join("linked");
    let path = linked.to_str().unwrap();
    let cook = |args: &[&str]| {
        let mut command = repo.cook_command(args);
        command.current_dir(&linked);
        run(command, b"")
    };
    repo.git(&["worktree", "add", "-q", "-b", "side", path]);
    cook(&["status"]).fails(3, "not_initialised");
    cook(&["init"]).exits(0);
    assert_eq!(cook(&["next", "--json"]).json()["rule"], "3");
    assert_eq!(repo.rule(), "4");
    cook(&["pause"]).exits(0);
    assert_eq!(repo.rule(), "4");
    repo.cook(&["log"]).exits(0);
    let all = repo
        .cook(&["log", "--all-worktrees", "--json"])
        .exits(0)
        .json();
    assert_eq!(all["worktrees"].as_array().unwrap().len(), 2);
    // Removed and made again: a new workflow, and the old one still in the log.
    repo.git(&["worktree", "remove", "--force", path]);
    repo.git(&["worktree", "add", "-q", path, "side"]);
    cook(&["status"]).fails(3, "not_initialised");
    let all = repo
        .cook(&["log", "--all-worktrees", "--json"])
        .exits(0)
        .json();
    assert_eq!(all["worktrees"].as_array().unwrap().len(), 2);
    assert_eq!(repo.rule(), "4");
}

#[test]
fn the_view_survives_git_clean_stash_and_branch_switches_in_every_state() {
    type State = (&'static str, fn() -> Repo);
    let states: [State; 6] = [
        ("set up", Repo::set_up),
        ("selected", Repo::with_selection),
        ("committed", Repo::with_commit),
        ("reviewed", Repo::with_review),
        ("wave", Repo::wave),
        ("done", Repo::with_done),
    ];
    for (name, make) in states {
        let repo = make();
        let rule = repo.rule();
        let tip = repo.cook(&["log", "--json"]).out;
        repo.git(&["switch", "-q", "-c", "other"]);
        assert_eq!(repo.rule(), "S", "{name}");
        repo.git(&["switch", "-q", "main"]);
        assert_eq!(repo.rule(), rule, "{name}: after a branch switch");
        repo.write("new.txt", "x");
        repo.git(&["stash", "-q", "-u"]);
        assert_eq!(repo.rule(), rule, "{name}: after a stash");
        repo.git(&["stash", "drop", "-q"]);
        repo.git(&["clean", "-fdxq"]);
        assert_eq!(
            tip,
            repo.cook(&["log", "--json"]).out,
            "{name}: the log is lost"
        );
        let after = repo.rule();
        assert!(after == "2" || after == "S", "{name}: rule {after}");
        repo.cook(&["plan", "adopt", "--discard", "--as-user"])
            .exits(0);
        assert_eq!(repo.rule(), rule, "{name}: after git clean");
        repo.cook(&["verify", "control-plane"]).exits(0);
    }
}

#[test]
fn a_code_is_explained_and_an_old_name_names_the_new_one() {
    let dir = Repo::directory();
    for code in CATALOGUE {
        let run = dir.cook(&["explain", code.id()]).exits(0);
        assert!(run.out.contains(code.meaning()), "{run:?}");
    }
    let all = dir.cook(&["explain"]).exits(0).out;
    assert_eq!(all.lines().count(), CATALOGUE.len());
    dir.cook(&["explain", "no_such\u{1b}"])
        .exits(2)
        .says("`cook explain`");
    for (old, new) in [
        ("why", "cook next --why"),
        ("step", "cook run --once"),
        ("fsck", "cook doctor fsck"),
        ("checkpoint", "cook brief checkpoint"),
    ] {
        dir.cook(&[old, "x"]).exits(2).says(new);
    }
}

#[test]
fn completions_and_the_manual_name_every_command() {
    let dir = Repo::directory();
    let man = dir.cook(&["help", "--man"]).exits(0).out;
    for shell in ["bash", "zsh", "fish"] {
        let text = dir.cook(&["completions", shell]).exits(0).out;
        for command in ["init", "record", "verify", "explain"] {
            assert!(text.contains(command), "{shell}: {command}");
            assert!(man.contains(command), "man: {command}");
        }
    }
}
