//! Every `--json` shape is the one its schema in `protocol/schema/` names, and
//! no schema lets a field through that it does not name.

use crate::support::story::GATE;
use crate::support::{Repo, run};
use cook::commands::published::describe_answers;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/schema")
}

fn schema(name: &str) -> Value {
    let path = directory().join(format!("output-{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[track_caller]
fn valid(name: &str, value: &Value) {
    let validator = jsonschema::draft202012::new(&schema(name)).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{value:#}");
    // A field that the schema does not name does not pass.
    let mut wider = value.clone();
    wider["frobnicated"] = json!(1);
    assert!(!validator.is_valid(&wider), "{name} lets anything through");
}

#[test]
fn every_output_schema_is_listed_and_sound() {
    let found: BTreeSet<String> = std::fs::read_dir(directory())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.strip_prefix("output-")?.strip_suffix(".schema.json")?;
            Some(name.to_owned())
        })
        .collect();
    let names: Vec<&str> = describe_answers().iter().map(|(name, ..)| *name).collect();
    assert_eq!(found, names.iter().map(|name| (*name).to_owned()).collect());
    for name in names {
        let schema = schema(name);
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        assert_eq!(schema["$id"], format!("urn:cook:schema:output-{name}:1"));
    }
}

/// Each reading command in one state of a repository.
#[track_caller]
fn readers(repo: &Repo) {
    for (name, args) in [
        ("next", &["next"][..]),
        ("why", &["next", "--why"]),
        ("status", &["status"]),
        ("ready", &["status", "--ready"]),
        ("graph", &["status", "--graph"]),
        ("criteria", &["plan", "criteria"]),
        ("issue-ready", &["issue", "ready"]),
        ("issue-status", &["issue", "status"]),
        ("log", &["log"]),
        ("log", &["log", "--all-worktrees"]),
        ("show", &["log", "@"]),
        ("show", &["log", "1"]),
        ("rescue", &["doctor", "rescue", "list"]),
        ("verify", &["verify", "control-plane"]),
        ("verify", &["verify", "--strict"]),
        ("verify", &["doctor", "fsck"]),
        ("verify", &["doctor"]),
        ("note", &["doctor", "--config"]),
        ("verify", &["hooks", "check", "claude"]),
        ("recover", &["brief", "recover"]),
        ("checkpoint", &["brief", "checkpoint", "DONE: x; NEXT: y"]),
        ("note", &["trust", "--list"]),
        ("gate", &["gate"]),
        ("pr", &["report", "--format", "pr"]),
        ("brief", &["brief"]),
        ("brief", &["brief", "--ids"]),
        ("brief-check", &["brief", "check"]),
    ] {
        let mut args = args.to_vec();
        args.push("--json");
        valid(name, &repo.cook(&args).json());
    }
    let page = repo.outside().join("report.html");
    let page = ["report", "--html", page.to_str().unwrap(), "--json"];
    valid("report", &repo.cook(&page).json());
}

#[test]
fn readers_follow_their_schemas_in_every_state() {
    for make in [
        Repo::set_up as fn() -> Repo,
        Repo::with_selection,
        Repo::with_review,
        Repo::wave,
        Repo::with_done,
    ] {
        let repo = make();
        readers(&repo);
        repo.edit("state.json", |state| state["project_done"] = json!(7));
        readers(&repo);
        repo.cook(&["plan", "adopt", "--discard", "--as-user"])
            .exits(0);
        readers(&repo);
        valid(
            "diff",
            &repo.cook(&["log", "@-..@", "--json"]).exits(0).json(),
        );
    }
    let fresh = Repo::with_script();
    valid("next", &fresh.cook(&["next", "--json"]).exits(0).json());
    valid(
        "why",
        &fresh.cook(&["next", "--why", "--json"]).exits(0).json(),
    );
    valid(
        "verify",
        &fresh.cook(&["verify", "--format", "json"]).exits(1).json(),
    );
}

#[test]
fn planted_defects_are_told_in_the_documented_shape() {
    let repo = Repo::with_commit();
    let answer = repo.cook(&["strength", "a", "--json"]).exits(0).json();
    valid("strength", &answer);
}

#[test]
fn next_has_exactly_the_documented_fields() {
    let next = Repo::with_selection()
        .cook(&["next", "--json"])
        .exits(0)
        .json();
    let fields: BTreeSet<&str> = next
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let documented = BTreeSet::from([
        "schema_version",
        "rule",
        "role",
        "phase",
        "policy",
        "action",
        "reason",
        "slice_id",
        "wave",
        "judgments",
        "blocking_command",
        "findings",
        "handoff",
        "ticket",
    ]);
    assert_eq!(fields, documented);
    assert_eq!(next["rule"], "4");
    assert_eq!(next["role"], "completion-implementer");
    // The handoff is the document itself.
    let text = std::fs::read_to_string(directory().join("active-slice.schema.json")).unwrap();
    let handoff: Value = serde_json::from_str(&text).unwrap();
    let handoff = jsonschema::draft202012::new(&handoff).unwrap();
    assert!(handoff.is_valid(&next["handoff"]), "{next:#}");
}

#[test]
fn transitions_and_notes_follow_their_schemas() {
    let repo = Repo::with_script();
    let init = repo.cook(&[
        "init",
        "--mission",
        crate::support::story::MISSION,
        "--commit",
        "--json",
    ]);
    valid("transition", &init.exits(0).json());
    valid("note", &repo.cook(&["init", "--json"]).exits(0).json());
    let trust = repo.cook(&["trust", GATE, "--as-user", "--json"]);
    valid("transition", &trust.exits(0).json());
    let block = json!({"plan": crate::support::story::plan(), "select": "a"});
    let report = repo.reground("none", "none", "a", &block);
    let mut command = repo.cook_command(&["record", "regrounder", "--dry-run", "--json"]);
    command.arg("-");
    valid(
        "transition",
        &run(command, report.as_bytes()).exits(0).json(),
    );
    valid(
        "transition",
        &repo
            .record_with(&["regrounder", "--json"], &report)
            .exits(0)
            .json(),
    );
    repo.implement_a();
    valid(
        "gate",
        &repo
            .cook(&["gate", "--slice", "a", "--json"])
            .exits(0)
            .json(),
    );
    valid(
        "transition",
        &repo.cook(&["pause", "--json"]).exits(0).json(),
    );
    valid(
        "transition",
        &repo
            .cook(&["resume", "--as-user", "--json"])
            .exits(0)
            .json(),
    );
    valid(
        "transition",
        &repo.cook(&["undo", "--as-user", "--json"]).exits(0).json(),
    );
    repo.write(".agent/plan.json", "{");
    valid(
        "transition",
        &repo
            .cook(&["plan", "adopt", "--discard", "--as-user", "--json"])
            .exits(0)
            .json(),
    );
    let copies = repo
        .cook(&["doctor", "rescue", "list", "--json"])
        .exits(0)
        .json();
    valid("rescue", &copies);
    let id = copies["copies"][0]["id"].as_str().unwrap();
    let path = copies["copies"][0]["files"][0]["path"].as_str().unwrap();
    valid(
        "rescue-file",
        &repo
            .cook(&["doctor", "rescue", "show", id, path, "--json"])
            .exits(0)
            .json(),
    );
    valid(
        "note",
        &repo
            .cook(&["doctor", "rescue", "restore", id, "--to", "back", "--json"])
            .exits(0)
            .json(),
    );
}

#[test]
fn failures_of_every_kind_follow_one_schema() {
    let outside = Repo::directory();
    let repo = Repo::with_selection();
    for (failed, code) in [
        (outside.cook(&["next", "--json"]), 3),
        (outside.cook(&["verify", "--format", "json"]), 3),
        (repo.cook(&["frobnicate", "--json"]), 2),
        (repo.cook(&["log", "zzz", "--json"]), 2),
        (repo.cook(&["resume", "--json"]), 4),
        (repo.cook(&["resume", "--as-user", "--json"]), 4),
        (repo.record_with(&["reviewer", "--json"], ""), 4),
        (
            repo.record_with(&["reviewer", "--json"], repo.review(true)),
            4,
        ),
    ] {
        let failed = failed.exits(code);
        valid("failure", &failed.json());
        assert!(failed.err.starts_with("error"), "{}", failed.err);
    }
}
