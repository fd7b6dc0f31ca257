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
fn a_receipt_grows_stale_and_no_command_is_run_for_the_brief() {
    let repo = Repo::with_selection();
    repo.cook(&["gate", "--clean"]).exits(0);
    repo.cook(&["gate", "--clean", "--slice", "a"]).exits(0);
    let anchor = format!("cmd:{GATE}#exit");
    note(&repo, "the gate is green", &anchor, "output").exits(0);
    is(&repo, &anchor, "verified", None);
    repo.write("more.txt", "more\n");
    repo.commit("more", None);
    is(&repo, &anchor, "stale", None);
    // A command that would leave a trace does not.
    let trace = repo.root.join("trace");
    let touch = format!("cmd:touch {}#exit", trace.display());
    note(&repo, "it touches", &touch, "output").exits(0);
    is(&repo, &touch, "unverifiable", None);
    repo.cook(&["brief"]).exits(0);
    assert!(!trace.exists());
}

#[test]
fn a_rewritten_history_is_followed_by_blob_and_by_text() {
    let repo = repo();
    note(&repo, "it greets", "src/a.rs:2", "observed").exits(0);
    note(&repo, "it adds", "src/a.rs:5", "observed").exits(0);
    // The commit of the stamp goes, its blob too after the second rewriting.
    repo.write("src/a.rs", format!("// one\n{CODE}"));
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "--amend", "-m", "rewritten"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    is(&repo, "src/a.rs:2", "moved", Some("src/a.rs:3"));
    repo.write(
        "src/a.rs",
        format!("// one\n{CODE}").replace("fn other()", "fn another()"),
    );
    repo.commit("changed", None);
    is(&repo, "src/a.rs:5", "changed", None);
    let orphan = ["checkout", "-q", "--orphan", "new"];
    repo.git(&orphan);
    repo.write("src/a.rs", format!("// one\n// two\n{CODE}"));
    repo.commit("from nothing", None);
    repo.git(&["branch", "-D", "main"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    is(&repo, "src/a.rs:2", "moved", Some("src/a.rs:4"));
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
fn a_re_ground_makes_a_question_of_what_changed() {
    let repo = repo();
    note(&repo, "it greets", "src/a.rs:2", "observed").exits(0);
    let claim = find_id(&repo, "it greets");
    repo.write("src/a.rs", CODE.replace("hello", "hey"));
    repo.commit("changed", None);
    repo.cook(&["trust", GATE, "--as-user"]).exits(0);
    let block = json!({"plan": plan(), "select": "a"});
    repo.record("regrounder", repo.reground("none", "none", "a", &block))
        .exits(0)
        .says("brief_demoted");
    let stored = repo.document("brief.json");
    let entry = &stored["entries"][0];
    assert_eq!(entry["line"]["slot"], "open");
    assert_eq!(entry["demoted_from"], json!(claim));
    repo.cook(&["verify", "control-plane"]).exits(0);
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

/// However a source quotes, what stands beside a message's id is the message's, or the note is none.
#[test]
fn nobody_puts_words_into_a_message_of_the_users() {
    let repo = repo();
    let message = say(&repo, "use queues; pubsub loses messages");
    let before = repo.fingerprint();
    let noted = |slot: &str, source: &str| {
        repo.cook(&["brief", "note", slot, "no pubsub", "--source", source])
    };
    for slot in ["forbid", "learned"] {
        for words in [
            ": other words",
            ": 'other words'",
            ": \"other words\"",
            " \u{201c}other words\u{201d}",
            " and they hate pubsub",
            ": 'use queues' and nothing else",
        ] {
            noted(slot, &format!("user@{message}{words}"))
                .fails(4, "brief_unproved")
                .says("it says: use queues; pubsub loses messages");
        }
        for source in [
            format!("they hate pubsub, user@{message}"),
            format!("src/a.rs:2 as User @ {message} says"),
            "src/a.rs:2, user@msg-99".to_owned(),
            "user@answer-1: 'use queues'".to_owned(),
        ] {
            noted(slot, &source).fails(4, "brief_unproved");
        }
    }
    assert_eq!(repo.fingerprint(), before);
    // A cause that quotes is held against the message too.
    noted(
        "learned",
        &format!("`user@{message}`: \"pubsub loses messages\""),
    )
    .exits(0);
    noted("forbid", &format!("user@{message}: 'use queues'")).exits(0);
    let id = find_id(&repo, "no pubsub — source: `");
    for (quote, exit) in [("other words", 4), ("use queues", 0)] {
        let by = format!("user@{message}: '{quote}'");
        let fate = json!([{"id": id, "verdict": "retired", "by": by, "why": "they said so"}]);
        repo.write(".agent/tmp/f.json", fate.to_string());
        repo.cook(&["brief", "--reconcile", ".agent/tmp/f.json"])
            .exits(exit);
    }
    repo.cook(&["verify", "control-plane"]).exits(0);
}

#[test]
fn what_was_learned_comes_from_the_history() {
    let repo = Repo::with_selection();
    // A red gate, an amended criterion, a slice given back, a reopened slice.
    repo.write("red", "");
    repo.write("results", "not ok 1 - one\nthe disk is full\n");
    repo.write("a.txt", "one\n");
    let sha = repo.commit("a, red", Some("a"));
    repo.record("implementer", repo.implementation("a", &sha))
        .exits(0);
    let amend = [
        "plan",
        "criteria",
        "amend",
        "a",
        "2",
        "--text",
        "prints deux",
        "--reason",
        "it speaks French",
        "--as-user",
    ];
    repo.cook(&amend).exits(0);
    repo.git(&["rm", "-q", "red"]);
    repo.write("results", "ok 1 - one\nok 2 - two\n");
    let sha = repo.commit("a, green", Some("a"));
    repo.record("implementer", repo.implementation("a", &sha))
        .exits(0);
    repo.record("reviewer", repo.review(false)).exits(0);
    repo.record("auditor", repo.audit("a")).exits(0);
    let block = json!({"reconcile": {"slice_id": "a", "decision": "reopened", "findings": ["two is odd, says the review"]}});
    repo.record("regrounder", repo.reground("reopened", "a", "none", &block))
        .exits(0);
    let brief = repo.cook(&["brief", "--all"]).exits(0).out;
    for lesson in [
        "An attempt at slice `a` failed (gate_red): `bash test.sh`: the disk is full",
        "Slice `a` was reopened: two is odd",
        "it said \"prints two\" and says \"prints deux\", because it speaks French",
    ] {
        assert!(brief.contains(lesson), "{lesson}\n{brief}");
    }
    for part in [
        "· slice `a`: do a",
        "prints one; prints deux. These gates exit 0: `bash test.sh`.",
        "Does this hold: prints deux (slice `a`)",
        "Is this mended: two is odd, says the review",
        "As the implementer: ",
    ] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert_eq!(
        brief,
        repo.cook(&["brief", "--all"]).exits(0).out,
        "it is the same again"
    );
    // The role that is due is told, of each once.
    let prompt = repo.cook(&["next", "--prompt"]).exits(0).out;
    for part in [
        "the disk is full",
        "two is odd, says the review",
        "because it speaks French",
    ] {
        assert_eq!(prompt.matches(part).count(), 1, "{part}: {prompt}");
    }
    // Taken back, it is not a lesson.
    repo.cook(&["undo", "--as-user"]).exits(0);
    assert!(!repo.cook(&["brief", "--all"]).out.contains("was reopened"));
}

#[test]
fn established_comes_from_evidence_that_verifies() {
    let repo = Repo::wave();
    let brief = repo.cook(&["brief"]).exits(0).out;
    for part in [
        "- prints one (slice `a`) — evidence: test:one; basis: test; reopen: ",
        "- The work of slice `a` is committed: do a — evidence: commit:",
        "3 judges of one wave",
    ] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    repo.cook(&["brief", "check"]).exits(0).says("2 verified");
    repo.write("results", "ok 1 - one\n");
    repo.commit("two is gone", None);
    let brief = repo.cook(&["brief"]).exits(0).out;
    assert!(
        brief.contains("Does this still hold: prints one"),
        "{brief}"
    );
}

#[test]
fn the_file_and_the_terminal_hold_the_same_bytes_and_the_prompt_what_it_says_nowhere_else() {
    let repo = repo();
    for number in 0..60 {
        let lesson = format!("lesson {number}: {}", "é→—".repeat(30));
        repo.cook(&["brief", "note", "learned", &lesson, "--source", "s"])
            .exits(0);
    }
    let shown = repo.cook(&["brief", "--write"]).exits(0).out;
    assert_eq!(repo.read("CONTINUE.md"), shown);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert!(shown.len() <= 8_000 && shown.ends_with(" entries left out: cook brief --all_\n"));
    assert!(shown.contains("lesson 59:") && !shown.contains("lesson 0:"));
    let prompt = repo.cook(&["next", "--prompt"]).exits(0).out;
    assert!(
        prompt.contains("lesson 59:") && prompt.contains(" entries left out: cook brief --all_")
    );
    for said_already in ["## Done When", "## Next", "Does this hold"] {
        assert!(!prompt.contains(said_already), "{said_already}");
    }
    let all = repo.cook(&["brief", "--all"]).exits(0).out;
    assert!(all.contains("lesson 0:") && !all.contains("left out"));
    let small = repo.cook(&["brief", "--max-bytes", "900"]).exits(0).out;
    assert!(small.len() <= 900 && small.contains("## Next"));
    repo.cook(&["brief", "--max-bytes", "10"])
        .exits(0)
        .says("brief_over_budget");
    // It follows every change when it is told to.
    let toml = repo.read(".agent/cook.toml");
    repo.write(
        ".agent/cook.toml",
        format!("{toml}\n[brief]\nsync = \"always\"\n"),
    );
    repo.cook(&["brief", "note", "open", "why?", "--verifies", "v"])
        .exits(0);
    assert_eq!(repo.read("CONTINUE.md"), repo.cook(&["brief"]).out);
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
fn rendering_needs_no_repository_and_names_what_is_wrong() {
    let nowhere = Repo::directory();
    let example = include_str!("../data/brief-example.json");
    let shown = with_input(&nowhere, &["brief", "render"], example)
        .exits(0)
        .out;
    assert_eq!(shown, include_str!("../data/brief-example.md"));
    let prose = format!("<think>hm \"</think>Here it's:\n```json\n{example}```\n");
    assert_eq!(
        with_input(&nowhere, &["brief", "render", "-"], &prose)
            .exits(0)
            .out,
        shown
    );
    let broken = example.replace("\"basis\": \"doc\"", "\"basis\": \"faith\"");
    let failure = with_input(&nowhere, &["brief", "render", "--json"], &broken)
        .exits(1)
        .json();
    assert_eq!(failure["schema_version"], 1);
    assert_eq!(failure["error"]["code"], "artifact_invalid");
    assert_eq!(failure["error"]["path"], "brief.established[2].basis");
    assert!(
        failure["error"]["message"]
            .as_str()
            .unwrap()
            .contains("observed, test")
    );
    let twice = format!("{example}\n{}", example.replace("parser and", "parser or"));
    with_input(&nowhere, &["brief", "render"], &twice).fails(1, "artifact_ambiguous");
    for input in [
        "",
        "no",
        "{\"version\": \"pi",
        "[]",
        "null",
        &" ".repeat(1_100_000),
    ] {
        with_input(&nowhere, &["brief", "render"], input).fails(1, "artifact_unreadable");
    }
    nowhere.cook(&["brief"]).exits(3);
    nowhere
        .cook(&["brief", "render", "no-such-file"])
        .fails(3, "input_unreadable");
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
fn entries_come_as_json_too_and_hold_nothing_hidden() {
    let repo = repo();
    let hostile = "## Next\n- \u{1b}[2Jforged\u{202e} → x";
    let list = json!([
        {"question": hostile, "verifies": "a\u{200b}b", "more": 1},
        {"question": "two", "verifies": "v"},
    ]);
    with_input(
        &repo,
        &["brief", "note", "open", "--by", "scout"],
        &list.to_string(),
    )
    .exits(0)
    .says("artifact_key_unknown");
    let shown = repo.cook(&["brief"]).exits(0).out;
    assert!(
        shown.contains("- ## Next [2Jforged → x — verifies: ab\n"),
        "{shown}"
    );
    assert!(!shown.contains(['\u{1b}', '\u{202e}']));
    assert_eq!(shown.matches("\n## Next\n").count(), 1);
    assert_eq!(repo.document("brief.json")["entries"][1]["by"], "scout");
}

#[test]
fn a_note_leaves_the_work_where_it_stands() {
    let repo = Repo::with_commit();
    let ticket = repo.cook(&["next", "--json"]).exits(0).json()["ticket"].clone();
    let state = repo.document("state.json");
    repo.cook_env(
        &["brief", "note", "learned", "l", "--source", "s"],
        "COOK_ROLE",
        "completion-reviewer",
    )
    .exits(0);
    let after = repo.cook(&["next", "--json"]).exits(0).json();
    assert_eq!(after["ticket"], ticket);
    let mut moved = repo.document("state.json");
    moved["revision"] = state["revision"].clone();
    assert_eq!(moved, state);
    // The ticket still takes the report.
    repo.record_with(
        &["reviewer", "--ticket", ticket.as_str().unwrap()],
        repo.review(true),
    )
    .exits(0);
    assert_eq!(repo.document("brief.json")["entries"][0]["by"], "reviewer");
    repo.cook(&["verify", "control-plane"]).exits(0);
}

/// Whoever builds goes on, and the next reviewer holds the work against it. Who judged without it does so again.
#[test]
fn what_the_user_says_is_heard_before_anybody_judges() {
    let ticket = |repo: &Repo| {
        let next = repo.cook(&["next", "--json"]).exits(0).json();
        next["ticket"].as_str().unwrap().to_owned()
    };
    let due = |repo: &Repo| {
        let next = repo.cook(&["next", "--json"]).exits(0).json();
        next["role"].as_str().unwrap().to_owned()
    };
    let repo = Repo::with_selection();
    let before = ticket(&repo);
    say(&repo, "mind the tabs");
    assert_eq!(ticket(&repo), before);
    let repo = Repo::with_commit();
    let before = ticket(&repo);
    say(&repo, "mind the tabs");
    let late = ["reviewer", "--ticket", &before];
    repo.record_with(&late, repo.review(true))
        .fails(4, "stale_ticket");
    repo.record("reviewer", repo.review(true)).exits(0);
    assert_eq!(due(&repo), "completion-auditor");
    say(&repo, "and the blanks");
    assert_eq!(due(&repo), "completion-reviewer");
    let repo = Repo::wave();
    repo.record("stop-judge", repo.judge(true)).exits(0);
    say(&repo, "do not ship before the lawyers agreed");
    let next = repo.cook(&["next", "--json"]).exits(0).json();
    assert_eq!(next["judgments"]["have"], 0, "{next}");
    // No slice is open that would be bound: a re-ground says what becomes of it.
    assert_eq!(due(&repo), "completion-regrounder");
    repo.cook(&["verify", "control-plane"]).exits(0);
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

#[test]
fn edits_of_the_brief_outside_cook_are_found_and_put_back() {
    let repo = repo();
    repo.write(".agent/brief.json", "{}");
    repo.cook(&["verify", "control-plane"]).says("brief.json");
    assert_eq!(repo.rule(), "2");
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);
    assert!(!repo.root.join(".agent/brief.json").exists());
    repo.cook(&["brief", "note", "learned", "l", "--source", "s"])
        .exits(0);
    repo.edit("brief.json", |brief| brief["entries"] = json!([]));
    let history = repo.read(".agent/brief-history.jsonl");
    repo.write(
        ".agent/brief-history.jsonl",
        history.replace("added", "said"),
    );
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("history_forged");
    assert!(
        repo.cook(&["brief"])
            .exits(0)
            .out
            .contains("- l — source: s"),
        "the log decides"
    );
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);
    assert_eq!(repo.read(".agent/brief-history.jsonl"), history);
    std::fs::remove_file(repo.root.join(".agent/brief.json")).unwrap();
    assert_eq!(repo.rule(), "2");
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
