//! `cook brief` on the built binary: every subcommand, every verdict, what is refused, and
//! what a history teaches.

use crate::support::story::{GATE, plan};
use crate::support::{Repo, Run, run};
use serde_json::{Value, json};

const CODE: &str =
    "fn main() {\n    println!(\"hello world\");\n}\n\nfn other() -> u32 {\n    41 + 1\n}\n";

/// A set-up repository with `src/a.rs`.
fn repo() -> Repo {
    let repo = Repo::with_script();
    repo.write("src/a.rs", CODE);
    repo.commit("code", None);
    repo.cook(&[
        "init",
        "--mission",
        crate::support::story::MISSION,
        "--commit",
    ])
    .exits(0);
    repo
}

fn with_input(repo: &Repo, args: &[&str], input: &str) -> Run {
    run(repo.cook_command(args), input.as_bytes())
}

fn note(repo: &Repo, claim: &str, evidence: &str, basis: &str) -> Run {
    repo.cook(&[
        "brief",
        "note",
        "established",
        claim,
        "--evidence",
        evidence,
        "--basis",
        basis,
        "--reopen",
        "when it changes",
    ])
}

/// Verdict and new place of the anchor whose entry is known by these words.
fn verdict(repo: &Repo, anchor: &str) -> (String, Option<String>) {
    let check = repo.cook(&["brief", "check", "--json"]).json();
    let anchors = check["anchors"].as_array().unwrap();
    let found = anchors.iter().find(|found| found["anchor"] == anchor);
    let found = found.unwrap_or_else(|| panic!("no {anchor} in {check:#}"));
    (
        found["verdict"].as_str().unwrap().to_owned(),
        found["now"].as_str().map(str::to_owned),
    )
}

#[track_caller]
fn is(repo: &Repo, anchor: &str, expected: &str, now: Option<&str>) {
    let (found, place) = verdict(repo, anchor);
    assert_eq!((found.as_str(), place.as_deref()), (expected, now));
}

fn say(repo: &Repo, text: &str) -> String {
    let said = repo
        .cook(&["brief", "say", text, "--as-user", "--json"])
        .exits(0)
        .json();
    said["records"][0]["id"].as_str().unwrap().to_owned()
}

fn ids(repo: &Repo) -> Vec<(String, String)> {
    let brief = repo.cook(&["brief", "--json"]).exits(0).json();
    let entries = brief["entries"].as_array().unwrap();
    let pair = |entry: &Value| {
        (
            entry["id"].as_str().unwrap().to_owned(),
            entry["text"].as_str().unwrap().to_owned(),
        )
    };
    entries.iter().map(pair).collect()
}

fn find_id(repo: &Repo, words: &str) -> String {
    let ids = ids(repo);
    let found = ids.iter().find(|(_, text)| text.contains(words));
    found
        .unwrap_or_else(|| panic!("no `{words}` in {ids:?}"))
        .0
        .clone()
}

#[test]
fn every_verdict_on_a_repository_that_moves() {
    let repo = repo();
    let message = say(&repo, "use queues; pubsub loses messages");
    let user = format!("user@{message}: 'use queues'");
    repo.cook(&["trust", GATE, "--as-user"]).exits(0);
    for (claim, evidence, basis) in [
        ("it greets", "src/a.rs:2", "observed"),
        ("it adds", "src/a.rs:other", "observed"),
        ("queues", user.as_str(), "user"),
        ("a page says so", "doc:https://example.org/a#b", "doc"),
        ("it ends in braces", "src/a.rs:3", "observed"),
        ("the gate is green", &format!("cmd:{GATE}#exit"), "output"),
    ] {
        note(&repo, claim, evidence, basis).exits(0);
    }
    is(&repo, "src/a.rs:2", "verified", None);
    is(&repo, "src/a.rs:other", "verified", None);
    is(&repo, &user, "verified", None);
    is(&repo, "doc:https://example.org/a#b", "unverifiable", None);
    is(&repo, &format!("cmd:{GATE}#exit"), "unverifiable", None);
    repo.cook(&["brief", "check"]).exits(0);

    // Other lines above: the text is found again, and the brace by what is around it.
    repo.write("src/a.rs", format!("// one\n// two\n{CODE}"));
    repo.commit("above", None);
    is(&repo, "src/a.rs:2", "moved", Some("src/a.rs:4"));
    is(&repo, "src/a.rs:3", "moved", Some("src/a.rs:5"));
    // Across a rename.
    repo.git(&["mv", "src/a.rs", "src/b.rs"]);
    repo.commit("rename", None);
    is(&repo, "src/a.rs:2", "moved", Some("src/b.rs:4"));
    is(&repo, "src/a.rs:other", "moved", Some("src/b.rs:other"));
    // The next change of the brief writes it down.
    let learned = repo
        .cook(&[
            "brief", "note", "learned", "it moves", "--source", "here", "--json",
        ])
        .exits(0)
        .json();
    let kinds: Vec<&str> = learned["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["added", "followed", "followed", "followed"]);
    is(&repo, "src/b.rs:4", "verified", None);
    // Of two texts that are the same, the one that was there all along.
    let twice = repo
        .read("src/b.rs")
        .replace("    41 + 1", "    println!(\"hello world\");");
    repo.write("src/b.rs", format!("\n{twice}"));
    repo.commit("twice", None);
    is(&repo, "src/b.rs:4", "moved", Some("src/b.rs:5"));
    // Another text.
    repo.write(
        "src/b.rs",
        repo.read("src/b.rs").replace("hello world", "good bye"),
    );
    repo.commit("other", None);
    is(&repo, "src/b.rs:4", "changed", None);
    repo.cook(&["brief", "check"])
        .exits(1)
        .says("does not hold");
    // Nothing.
    repo.git(&["rm", "-q", "src/b.rs"]);
    repo.commit("gone", None);
    is(&repo, "src/b.rs:4", "missing", None);
    repo.cook(&["verify", "control-plane"]).exits(0);
}

#[test]
fn every_door_refuses_to_lose_an_entry() {
    let repo = repo();
    repo.cook(&["brief", "note", "learned", "one", "--source", "s"])
        .exits(0);
    repo.cook(&["brief", "note", "learned", "two", "--source", "s"])
        .exits(0);
    let export = repo.cook(&["brief", "export"]).exits(0).json();
    // Import of what was exported is not a change.
    with_input(&repo, &["brief", "import"], &export.to_string())
        .exits(0)
        .says("already contains this");
    let mut less = export.clone();
    less["brief"]["learned"].as_array_mut().unwrap().remove(0);
    let before = repo.fingerprint();
    let one = find_id(&repo, "one");
    let refused = with_input(&repo, &["brief", "import"], &less.to_string());
    refused.fails(4, "silent_drop").says(&one);
    assert_eq!(repo.fingerprint(), before);
    // The re-ground's own way.
    let entries: Vec<Value> = vec![json!({"slot": "learned", "lesson": "two", "source": "s"})];
    repo.cook(&["trust", GATE, "--as-user"]).exits(0);
    let block =
        json!({"plan": plan(), "select": "a", "brief": {"entries": entries, "whole": true}});
    repo.record("regrounder", repo.reground("none", "none", "a", &block))
        .fails(4, "silent_drop")
        .says(&one);
    // A note that ends an entry without a cause.
    let fate = json!([{"id": one, "verdict": "retired", "by": "user@nobody", "why": "w"}]);
    repo.write(".agent/tmp/fates.json", fate.to_string());
    let args = [
        "brief",
        "note",
        "learned",
        "three",
        "--source",
        "s",
        "--reconcile",
        ".agent/tmp/fates.json",
    ];
    repo.cook(&args).fails(4, "silent_drop");
    repo.cook(&["brief", "--reconcile", ".agent/tmp/fates.json"])
        .fails(4, "silent_drop");
    // A checkpoint that brings the next brief with it: then nothing of it is kept.
    repo.write(".agent/tmp/less.json", less.to_string());
    let trail = || std::fs::read_to_string(repo.root.join(".agent/checkpoints.jsonl"));
    let args = [
        "brief",
        "checkpoint",
        "half",
        "--brief",
        ".agent/tmp/less.json",
    ];
    repo.cook(&args).fails(4, "silent_drop").says(&one);
    assert!(trail().is_err(), "nothing of it is kept");
    repo.write(".agent/tmp/all.json", export.to_string());
    let args = [
        "brief",
        "checkpoint",
        "half",
        "--brief",
        ".agent/tmp/all.json",
    ];
    repo.cook(&args).exits(0);
    assert!(trail().unwrap().contains("half"));
    // A re-ground, a note and a checkpoint that say nothing of an entry leave it alone.
    repo.cook(&["brief", "checkpoint", "more"]).exits(0);
    assert_eq!(find_id(&repo, "one — source"), one);
    // With a cause each of them passes.
    let two = find_id(&repo, "two");
    let fates = json!([{"id": one, "verdict": "superseded", "by": two, "why": "two says it"}]);
    let block = json!({"plan": plan(), "select": "a",
        "brief": {"entries": entries, "whole": true, "reconciliation": fates}});
    repo.record("regrounder", repo.reground("none", "none", "a", &block))
        .exits(0);
    assert!(!repo.cook(&["brief"]).out.contains("- one"));
    let history = repo.read(".agent/brief-history.jsonl");
    assert!(history.contains("\"superseded\"") && history.contains("two says it"));
    repo.cook(&["verify", "control-plane"]).exits(0);
    repo.cook(&["doctor", "fsck"]).exits(0);
}

#[test]
fn a_forbid_is_the_users_to_end_and_say_is_a_user_door() {
    let repo = repo();
    let message = say(&repo, "vendor may change now");
    repo.cook(&[
        "brief",
        "note",
        "forbid",
        "Do not edit vendor/.",
        "--source",
        "a note",
        "--as-user",
    ])
    .exits(0);
    let id = find_id(&repo, "vendor/");
    let fate = json!([{"id": id, "verdict": "retired", "by": format!("user@{message}"), "why": "they said so"}]);
    repo.write(".agent/tmp/f.json", fate.to_string());
    let end = ["brief", "--reconcile", ".agent/tmp/f.json"];
    repo.cook(&end).fails(4, "user_only");
    let as_user = ["brief", "--reconcile", ".agent/tmp/f.json", "--as-user"];
    repo.cook_env(&as_user, "CLAUDECODE", "1")
        .fails(4, "user_only");
    repo.cook_env(&["brief", "say", "yes", "--as-user"], "CLAUDECODE", "1")
        .fails(4, "user_only");
    repo.cook(&["brief", "say", "yes"]).fails(4, "user_only");
    repo.cook(&as_user).exits(0);
    assert!(!repo.cook(&["brief"]).out.contains("Do not edit vendor/"));
    repo.cook(&["brief", "say", " ", "--as-user"])
        .fails(4, "brief_invalid");
}

#[test]
fn paths_are_guarded() {
    let repo = repo();
    std::fs::create_dir(repo.root.join("d")).unwrap();
    for path in [
        "../x.md",
        "/tmp/x.md",
        ".git/x",
        ".agent/x.md",
        "d/../x",
        "no/x.md",
        "d",
        "a\nb",
        ".GIT/config",
    ] {
        repo.cook(&["brief", "--write", path])
            .fails(4, "path_unsafe");
    }
    repo.cook(&["brief", "--write", "README.md"])
        .fails(4, "path_unsafe");
    repo.cook(&["brief", "--write", "d/brief.md"]).exits(0);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/tmp", repo.root.join("link")).unwrap();
        std::os::unix::fs::symlink("README.md", repo.root.join("CONTINUE.md")).unwrap();
        repo.cook(&["brief", "--write", "link/x.md"])
            .fails(4, "path_unsafe");
        repo.cook(&["brief", "--write"]).fails(4, "path_unsafe");
    }
}

#[test]
fn the_agent_guide_is_written_only_when_it_is_asked_for() {
    let repo = repo();
    repo.cook(&["brief", "guide", "--diff"])
        .fails(4, "guide_missing");
    let mut artifact = repo.cook(&["brief", "export"]).exits(0).json();
    artifact["agentGuideUpdate"] =
        json!({"content": "# Guide\n\u{1b}[31mBe\u{202e} kind.", "reason": "it was asked"});
    with_input(
        &repo,
        &["brief", "import", "--by", "m"],
        &artifact.to_string(),
    )
    .exits(0);
    assert!(!repo.root.join("AGENTS.md").exists());
    let diff = repo.cook(&["brief", "guide", "--diff"]).exits(0).out;
    assert!(
        diff.contains("+Be kind.") && diff.contains("it was asked"),
        "{diff}"
    );
    assert!(!repo.root.join("AGENTS.md").exists());
    repo.cook(&["brief", "guide", "--apply"]).exits(0);
    assert_eq!(repo.read("AGENTS.md"), "# Guide\nBe kind.\n");
    repo.cook(&["brief", "guide", "--apply"])
        .exits(0)
        .says("already contains this");
    #[cfg(unix)]
    {
        std::fs::remove_file(repo.root.join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("README.md", repo.root.join("AGENTS.md")).unwrap();
        repo.cook(&["brief", "guide", "--apply"])
            .fails(4, "path_unsafe");
    }
    let toml = repo.read(".agent/cook.toml");
    repo.write(
        ".agent/cook.toml",
        format!("{toml}\n[brief]\nguide = \"../AGENTS.md\"\n"),
    );
    repo.cook(&["brief", "guide", "--apply"])
        .fails(4, "path_unsafe");
}

#[test]
fn bad_notes_are_refused_and_change_nothing() {
    let repo = repo();
    std::fs::write(repo.root.join("binary"), b"a\0b\n").unwrap();
    repo.write("huge", "x".repeat(9 << 20));
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", repo.root.join("out")).unwrap();
    repo.commit("odd files", None);
    let before = repo.fingerprint();
    for (evidence, exit, code) in [
        ("README.md", 1, "artifact_invalid"),
        ("src/a.rs:0", 1, "artifact_invalid"),
        ("src/a.rs:5-3", 1, "artifact_invalid"),
        ("../a.rs:1", 1, "artifact_invalid"),
        ("/etc/passwd:1", 1, "artifact_invalid"),
        ("user@msg-1", 1, "artifact_invalid"),
        ("src/a.rs:99", 4, "brief_unproved"),
        ("src/none.rs:1", 4, "brief_unproved"),
        ("commit:0000000", 4, "brief_unproved"),
    ] {
        note(&repo, "c", evidence, "observed").fails(exit, code);
    }
    note(&repo, "c", "user@msg-99: 'never'", "user").fails(4, "brief_unproved");
    repo.cook(&["brief", "note", "learned", "\u{200b}", "--source", "s"])
        .fails(1, "artifact_invalid");
    repo.cook(&["brief", "note", "learned", "l"])
        .fails(1, "artifact_invalid");
    repo.cook(&["brief", "note", "learned", "l", "--basis", "test"])
        .fails(2, "usage");
    with_input(&repo, &["brief", "note", "open"], "{\"question\": 1}").fails(1, "artifact_invalid");
    with_input(&repo, &["brief", "note", "open"], "{").fails(1, "artifact_unreadable");
    with_input(&repo, &["brief", "import"], "{}").fails(1, "artifact_invalid");
    assert_eq!(repo.fingerprint(), before);
    // What cannot be read is said, and proves nothing.
    for evidence in ["binary:1", "huge:1", "out:1"] {
        note(&repo, "c", evidence, "observed")
            .exits(0)
            .says("brief_unverified");
        is(&repo, evidence, "unverifiable", None);
    }
    repo.cook(&["brief", "check"])
        .exits(1)
        .says("3 unverifiable");
    // That a file is one of tests is for the check to say.
    note(&repo, "c", "src/a.rs:2", "test").exits(0);
    is(&repo, "src/a.rs:2", "unverifiable", None);
    note(&repo, "d", "test.sh:1", "test").exits(0);
    is(&repo, "test.sh:1", "verified", None);
}

#[test]
fn undo_takes_a_note_back_and_says_so() {
    let repo = repo();
    let message = say(&repo, "yes");
    repo.cook(&["brief", "note", "learned", "l", "--source", "s"])
        .exits(0);
    repo.cook(&["undo", "--as-user"])
        .exits(0)
        .says("brief_undone");
    assert!(!repo.cook(&["brief"]).out.contains("## Learned"));
    let history = repo.read(".agent/brief-history.jsonl");
    assert!(
        history
            .lines()
            .last()
            .unwrap()
            .contains("\"cause\":\"undo\""),
        "{history}"
    );
    note(&repo, "they agree", &format!("user@{message}"), "user").exits(0);
    repo.cook(&["undo", "1", "--as-user"]).exits(0);
    note(&repo, "they agree", &format!("user@{message}"), "user").fails(4, "brief_unproved");
    repo.cook(&["verify", "control-plane"])
        .says("transitions run again");
    repo.cook(&["doctor", "fsck"]).exits(0);
}

/// Runs the session of `docs/brief.md`: each line of it must be said by the command
/// above, `…` standing for anything.
#[test]
fn the_session_of_the_document_runs_as_it_stands() {
    let repo = Repo::with_script();
    repo.write("src/a.rs", format!("{CODE}\nfn third() {{}}\n//\n"));
    repo.commit("code", None);
    std::fs::create_dir(repo.root.join(".agent")).unwrap();
    repo.write(
        ".agent/cook.toml",
        format!("[gates.test]\nrun = \"{GATE}\"\n"),
    );
    repo.cook(&[
        "init",
        "--mission",
        crate::support::story::MISSION,
        "--commit",
    ])
    .exits(0);
    let document = include_str!("../../docs/brief.md");
    let session = document.split("```console\n").nth(1).unwrap();
    let session = session.split("\n```").next().unwrap();
    let mut said = String::new();
    let mut checked = 0;
    for line in session.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let mut shell = repo.command("bash");
            shell.args(["-c", command]);
            said = run(shell, b"").out;
            continue;
        }
        let fits = said.lines().any(|found| fits(line, found));
        assert!(fits, "`{line}` is not in\n{said}");
        checked += 1;
    }
    assert!(checked > 15, "{checked} lines");
    for word in [
        "verified",
        "moved",
        "changed",
        "missing",
        "stale",
        "unverifiable",
        "malformed",
    ] {
        assert!(document.contains(word), "{word}");
    }
}

/// Whether a line is what the pattern says.
fn fits(pattern: &str, line: &str) -> bool {
    let mut rest = line.trim();
    let parts: Vec<&str> = pattern.trim().split('…').map(str::trim).collect();
    parts.iter().enumerate().all(|(number, part)| {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        number > 0 || at == 0
    })
}
