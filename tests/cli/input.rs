//! Repositories and documents as they should not be: a clear word, the right
//! exit code, nothing lost.

use crate::support::{Repo, run};
use serde_json::{Value, json};

const DOCUMENTS: [&str; 4] = [
    "state.json",
    "plan.json",
    "active-slice.json",
    "verification-evidence.json",
];

/// A list begins with a hyphen, and so does a number that is below zero.
#[test]
fn what_is_said_may_begin_with_a_hyphen() {
    let repo = Repo::with_script();
    let mission = "- one thing\n- another";
    repo.cook(&["init", "--mission", mission, "--commit"])
        .exits(0);
    assert!(repo.read(".agent/mission.md").contains(mission));
    repo.cook(&["brief", "say", "- no network", "--as-user"])
        .exits(0);
    repo.cook(&["brief", "checkpoint", "- done: one; next: two"])
        .exits(0);
    let note = [
        "brief",
        "note",
        "open",
        "-1 is a number?",
        "--verifies",
        "- a look",
    ];
    repo.cook(&note).exits(0);
    repo.cook(&["pause", "- for lunch"]).exits(0);
    repo.cook(&["resume", "--as-user"]).exits(0);
    repo.cook(&[
        "plan",
        "refocus",
        "--mission",
        "-v is a flag of ours",
        "--as-user",
    ])
    .exits(0);
    // What is mistyped is not taken for words.
    repo.cook(&["pause", "--wy"])
        .exits(2)
        .says("looks like an option");
    repo.cook(&["plan", "refocus", "--mission", "--as-user"])
        .exits(2);
    repo.cook(&["cancel", "- enough", "--as-user"]).exits(0);
}

#[test]
fn no_repository_and_a_bare_one() {
    let dir = Repo::directory();
    for args in [
        &["next"][..],
        &["status"],
        &["init", "--mission", "m"],
        &["verify"],
        &["log"],
    ] {
        dir.cook(args).fails(3, "not_a_repository").says("git init");
    }
    assert_eq!(std::fs::read_dir(&dir.root).unwrap().count(), 0);
    dir.git(&["init", "-q", "--bare"]);
    dir.cook(&["next"]).fails(3, "bare_repository");
    dir.cook(&["init", "--mission", "m"])
        .fails(3, "bare_repository");
    dir.cook(&["-C", "nowhere", "next"]).exits(3);
}

#[test]
#[cfg(unix)]
fn an_agent_directory_that_became_a_symlink_loses_nothing() {
    let repo = Repo::with_commit();
    let moved = repo.root.parent().unwrap().join("moved");
    std::fs::rename(repo.root.join(".agent"), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, repo.root.join(".agent")).unwrap();
    let before = std::fs::read(moved.join("state.json")).unwrap();
    let tip = repo.cook(&["log", "--json"]).exits(0).out;
    repo.record("reviewer", repo.review(true))
        .fails(3, "agent_dir_unsafe");
    assert_eq!(before, std::fs::read(moved.join("state.json")).unwrap());
    assert_eq!(tip, repo.cook(&["log", "--json"]).exits(0).out);
    std::fs::remove_file(repo.root.join(".agent")).unwrap();
    std::fs::rename(&moved, repo.root.join(".agent")).unwrap();
    repo.record("reviewer", repo.review(true)).exits(0);
}

/// Named ways to break a document's text.
fn list_broken(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let mut value: Value = serde_json::from_str(text).unwrap();
    let mut with = |key: &str, new: Value| {
        let old = value[key].clone();
        value[key] = new;
        let text = value.to_string();
        if old.is_null() {
            value.as_object_mut().unwrap().remove(key);
        } else {
            value[key] = old;
        }
        text.into_bytes()
    };
    let extra = with("frobnicated", json!(1));
    let version = with("schema_version", json!("one"));
    let mut deep = text.trim_end().trim_end_matches('}').to_owned();
    deep.push_str(",\"x\":");
    deep.push_str(&"[".repeat(10_000));
    deep.push_str(&"]".repeat(10_000));
    deep.push('}');
    let doubled = text.replacen('{', "{\"schema_version\": 1,", 1);
    vec![
        ("empty", Vec::new()),
        ("truncated", text.as_bytes()[..text.len() / 2].to_vec()),
        ("nul", vec![0; 200]),
        ("array", b"[]".to_vec()),
        ("extra", extra),
        ("wrong type", version),
        ("deep", deep.into_bytes()),
        ("doubled", doubled.into_bytes()),
        ("not utf-8", b"{\"schema_version\": \"\xff\xfe\"}".to_vec()),
    ]
}

#[test]
fn every_document_broken_in_every_way_is_named_and_put_back() {
    let repo = Repo::with_selection();
    let good: Vec<Vec<u8>> = DOCUMENTS
        .iter()
        .map(|name| std::fs::read(repo.root.join(".agent").join(name)).unwrap())
        .collect();
    let mut kept = 0;
    for (name, good) in DOCUMENTS.iter().zip(&good) {
        for (how, bytes) in list_broken(std::str::from_utf8(good).unwrap()) {
            let path = format!(".agent/{name}");
            repo.write(&path, &bytes);
            let before = repo.fingerprint();
            let found = repo.cook(&["verify", "control-plane"]).exits(1);
            assert!(found.out.contains(&path), "{name} {how}: {}", found.out);
            assert_eq!(repo.rule(), "2", "{name} {how}");
            repo.cook(&["status"]).exits(0);
            assert!(before == repo.fingerprint(), "{name} {how}: a reader wrote");
            repo.cook(&["plan", "adopt", "--discard", "--as-user"])
                .exits(0);
            kept += 1;
            assert_eq!(repo.rule(), "4", "{name} {how}");
        }
    }
    let copies = repo
        .cook(&["doctor", "rescue", "list", "--json"])
        .exits(0)
        .json();
    assert_eq!(copies["copies"].as_array().unwrap().len(), kept);
    repo.cook(&["verify", "control-plane"]).exits(0);
    repo.cook(&["doctor", "fsck"]).exits(0);
}

#[test]
fn a_held_lock_is_waited_for_and_then_named() {
    let repo = Repo::with_selection();
    let lock = repo.root.join(".git/cook/lock");
    let file = std::fs::OpenOptions::new().write(true).open(&lock).unwrap();
    file.lock().unwrap();
    let before = repo.fingerprint();
    repo.cook(&["pause"]).fails(7, "lock_held");
    assert!(before == repo.fingerprint());
    // Readers take no lock.
    assert_eq!(repo.rule(), "4");
    repo.cook(&["verify", "control-plane"]).exits(0);
    drop(file);
    repo.cook(&["pause"]).exits(0);
}

#[test]
fn a_clock_that_goes_back_never_dates_a_record_earlier() {
    let repo = Repo::with_commit();
    let mut early = repo.cook_command(&["record", "reviewer"]);
    early.env("COOK_NOW", "2001-01-01T00:00:00Z");
    run(early, repo.review(true).as_bytes()).exits(0);
    let log = repo.cook(&["log", "--json"]).exits(0).json();
    let times: Vec<&str> = log["worktrees"][0]["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["time"].as_str().unwrap())
        .collect();
    assert!(
        times.iter().all(|time| *time >= "2026-01-02T03:04:05Z"),
        "{times:?}"
    );
    assert!(!repo.read(".agent/slice-history.jsonl").contains("2001-"));
    repo.cook(&["verify", "control-plane"]).exits(0);
    let mut wrong = repo.cook_command(&["next"]);
    wrong.env("COOK_NOW", "yesterday");
    run(wrong, b"").exits(2).says("RFC 3339");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_nothing() {
    let repo = Repo::with_commit();
    let log = repo.root.join(".git/cook/log.git");
    let before = repo.fingerprint();
    // A file size limit stands in for a full disk: every write of an object fails.
    let cook = env!("CARGO_BIN_EXE_cook");
    let mut shell = repo.command("bash");
    shell.args([
        "-c",
        &format!("trap '' XFSZ; ulimit -f 0; exec {cook} record reviewer"),
    ]);
    let failed = run(shell, repo.review(true).as_bytes());
    assert_eq!(failed.code, 3, "{failed:?}");
    assert!(log.is_dir());
    assert!(before == repo.fingerprint());
    repo.record("reviewer", repo.review(true)).exits(0);
    repo.cook(&["verify", "control-plane"]).exits(0);
}
