//! Repositories and documents as they should not be: a clear word, the right
//! exit code, nothing lost.

use crate::support::story::MISSION;
use crate::support::{Repo, run};
use serde_json::{Value, json};
use std::io::Write;

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
fn an_unborn_head_is_set_up_and_selects_nothing() {
    let repo = Repo::unborn();
    repo.cook(&["next"]).exits(0).says("cook init");
    repo.cook(&["init", "--mission", MISSION]).exits(0);
    repo.cook(&["verify", "control-plane"])
        .exits(0)
        .says("unborn_head");
    repo.cook(&["verify", "control-plane", "--strict"]).exits(1);
    let report = repo.reground(
        "none",
        "none",
        "a",
        &json!({"plan": crate::support::story::plan(), "select": "a"}),
    );
    let before = repo.fingerprint();
    let refused = repo.record("regrounder", &report).exits(4);
    assert!(
        refused.err.contains("cook init --commit"),
        "{}",
        refused.err
    );
    assert!(before == repo.fingerprint());
    repo.cook(&["init", "--commit"]).exits(0);
    repo.record(
        "regrounder",
        repo.reground(
            "none",
            "none",
            "a",
            &json!({"plan": crate::support::story::plan(), "select": "a"}),
        ),
    )
    .exits(0);
}

#[test]
#[cfg(unix)]
fn an_agent_directory_that_is_none_is_refused() {
    for make in ["symlink", "file", "dangling"] {
        let repo = Repo::with_script();
        let agent = repo.root.join(".agent");
        let outside = repo.root.parent().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        match make {
            "symlink" => std::os::unix::fs::symlink(&outside, &agent).unwrap(),
            "dangling" => std::os::unix::fs::symlink("/nowhere/at/all", &agent).unwrap(),
            _ => std::fs::write(&agent, "mine").unwrap(),
        }
        let before = repo.fingerprint();
        repo.cook(&["init", "--mission", "m"])
            .fails(3, "agent_dir_unsafe");
        assert!(before == repo.fingerprint(), "{make}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{make}");
        assert!(
            !repo.root.join(".git/cook").exists(),
            "{make}: a log was begun"
        );
    }
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
fn fields_of_the_wrong_kind_are_named_with_their_place() {
    let repo = Repo::with_selection();
    let cases: [(&str, &str, Value); 6] = [
        ("state.json", "current_phase", json!("frobnicate")),
        ("state.json", "continuation_policy", json!(7)),
        ("plan.json", "candidate_slices", json!({})),
        ("active-slice.json", "priority", json!("high")),
        ("active-slice.json", "status", json!("perhaps")),
        ("verification-evidence.json", "outcome", json!("fine")),
    ];
    for (name, key, value) in cases {
        repo.edit(name, |document| document[key] = value);
        repo.cook(&["verify", "control-plane"])
            .exits(1)
            .says(key)
            .says(name);
        assert_eq!(repo.rule(), "2");
        repo.cook(&["plan", "adopt", "--discard", "--as-user"])
            .exits(0);
    }
    for key in ["why_now", "priority", "basis_commit", "acceptance_criteria"] {
        repo.edit("active-slice.json", |document| {
            document.as_object_mut().unwrap().remove(key);
        });
        repo.cook(&["verify", "control-plane"]).exits(1).says(key);
        repo.cook(&["plan", "adopt", "--discard", "--as-user"])
            .exits(0);
    }
}

#[test]
fn a_reground_over_an_edit_keeps_the_edit() {
    let repo = Repo::with_selection();
    repo.edit("plan.json", |plan| {
        plan["plan_basis"] = json!("my own words")
    });
    assert_eq!(repo.rule(), "2");
    let report = repo.reground(
        "none",
        "none",
        "a",
        &json!({"plan": crate::support::story::plan()}),
    );
    repo.record("regrounder", &report).exits(0);
    assert_eq!(repo.rule(), "4");
    assert_ne!(repo.document("plan.json")["plan_basis"], "my own words");
    let copies = repo
        .cook(&["doctor", "rescue", "list", "--json"])
        .exits(0)
        .json();
    let id = copies["copies"][0]["id"].as_str().unwrap().to_owned();
    repo.cook(&["doctor", "rescue", "show", &id])
        .exits(0)
        .says("plan.json");
    let name = copies["copies"][0]["files"][0]["path"].as_str().unwrap();
    repo.cook(&["doctor", "rescue", "show", &id, name])
        .exits(0)
        .says("my own words");
    repo.cook(&["doctor", "rescue", "show", &id, "../plan.json"])
        .fails(2, "operation_unknown")
        .says("lists its files");
    repo.git(&["update-ref", "refs/cook/rescue/x/HEAD", "HEAD"]);
    repo.cook(&["doctor", "rescue", "show", "refs/cook/rescue/x/HEAD"])
        .exits(0)
        .says("git show refs/cook/rescue/x/HEAD");
    repo.cook(&["doctor", "rescue", "show", "refs/cook/rescue/x/HEAD", "a"])
        .fails(2, "operation_unknown")
        .says("git show");
    let shown = repo
        .cook(&["doctor", "rescue", "show", &id, name, "--json"])
        .json();
    assert!(shown["text"].as_str().unwrap().contains("my own words"));
    repo.cook(&["doctor", "rescue", "restore", &id, "--to", "back"])
        .exits(0);
    let back = repo.git(&["grep", "--no-index", "-l", "my own words", "back"]);
    assert!(back.ends_with("plan.json"), "{back}");
    repo.cook(&["doctor", "rescue", "show", "nothing"])
        .fails(2, "operation_unknown")
        .says("rescue list");
    repo.cook(&["doctor", "rescue", "restore", "nothing", "--to", "x"])
        .fails(2, "operation_unknown");
    repo.cook(&["doctor", "rescue", "restore", &id, "--to", "../out"])
        .exits(2);
    assert!(!repo.root.parent().unwrap().join("out").exists());
}

#[test]
fn a_giant_document_is_refused_quickly_and_never_overwritten() {
    let repo = Repo::with_selection();
    for name in ["state.json", "slice-history.jsonl"] {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(repo.root.join(".agent").join(name))
            .unwrap();
        file.set_len(100 << 20).unwrap();
        drop(file);
        let began = std::time::Instant::now();
        assert_eq!(repo.rule(), "2", "{name}");
        repo.cook(&["verify", "control-plane"]).exits(1).says(name);
        assert!(
            began.elapsed() < std::time::Duration::from_secs(60),
            "{name}: {:?}",
            began.elapsed()
        );
        // Too large to be kept, so it is not touched, and the way out is named.
        repo.cook(&["plan", "adopt", "--discard", "--as-user"])
            .fails(3, "input_too_large")
            .says("move that file out");
        let giant = repo.root.join(".agent").join(name);
        assert_eq!(std::fs::metadata(&giant).unwrap().len(), 100 << 20);
        std::fs::rename(&giant, repo.root.parent().unwrap().join(name)).unwrap();
        repo.cook(&["plan", "adopt", "--discard", "--as-user"])
            .exits(0);
        assert_eq!(repo.rule(), "4", "{name}");
    }
}

#[test]
fn a_torn_history_line_is_named_and_put_back() {
    let repo = Repo::with_commit();
    let good = repo.read(".agent/slice-history.jsonl");
    repo.write(".agent/slice-history.jsonl", &good[..good.len() - 20]);
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("slice-history.jsonl");
    repo.record("reviewer", repo.review(true)).exits(4);
    assert_eq!(repo.rule(), "2");
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);
    assert_eq!(good, repo.read(".agent/slice-history.jsonl"));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(repo.root.join(".agent/slice-history.jsonl"))
        .unwrap();
    file.write_all(b"{\"type\": \"accept").unwrap();
    drop(file);
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("slice-history.jsonl");
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);
    assert_eq!(good, repo.read(".agent/slice-history.jsonl"));
}

#[test]
fn two_selected_slices_are_contradictory() {
    let repo = Repo::with_selection();
    repo.edit("plan.json", |plan| {
        plan["candidate_slices"][1]["status"] = json!("selected");
    });
    repo.cook(&["verify", "control-plane", "--strict"]).exits(1);
    assert_eq!(repo.rule(), "2");
    repo.edit("plan.json", |plan| {
        plan["candidate_slices"][1]["slice_id"] = json!("a");
    });
    repo.cook(&["plan", "adopt", "--as-user"]).exits(4);
    assert_eq!(repo.rule(), "2");
}

#[test]
fn a_basis_that_is_gone_leads_to_a_reground_that_mends_it() {
    let repo = Repo::set_up();
    repo.write("notes.txt", "x\n");
    repo.commit("notes", None);
    repo.select_a();
    repo.edit("active-slice.json", |active| {
        active["basis_commit"] = json!("deadbeef")
    });
    repo.cook(&["verify", "control-plane"])
        .says("basis_unresolved");
    repo.cook(&["verify", "control-plane", "--strict"]).exits(1);
    assert_eq!(repo.rule(), "2");
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);

    // HEAD is rewritten below the basis.
    repo.git(&["commit", "-q", "--amend", "-m", "another first commit"]);
    assert_eq!(repo.rule(), "2");
    repo.cook(&["next"]).says("ancestor");
    repo.cook(&["verify", "control-plane"])
        .exits(0)
        .says("basis_not_ancestor");
    repo.record(
        "implementer",
        repo.implementation("a", &repo.git(&["rev-parse", "HEAD"])),
    )
    .fails(4, "not_your_turn");
    let report = repo.reground(
        "none",
        "none",
        "a",
        &json!({"plan": crate::support::story::plan()}),
    );
    repo.record("regrounder", &report).exits(0);
    assert_eq!(repo.rule(), "4");
    repo.implement_a();
    assert_eq!(repo.rule(), "5");

    // HEAD is rewound over the slice's commit.
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let rule = repo.rule();
    assert!(rule == "2" || rule == "4", "rule {rule}");
    repo.record("reviewer", repo.review(true)).exits(4);
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
fn a_held_lease_lets_the_user_pause_and_nobody_else_record() {
    let repo = Repo::with_commit();
    let id = std::fs::read_to_string(repo.root.join(".git/cook-id")).unwrap();
    let leases = repo.root.join(".git/cook/leases");
    let lease = leases.join(id.trim());
    std::fs::create_dir_all(leases).unwrap();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lease)
        .unwrap();
    file.lock().unwrap();
    let before = repo.fingerprint();
    repo.record("reviewer", repo.review(true))
        .fails(7, "lease_held");
    repo.cook(&["undo", "--as-user"]).fails(7, "lease_held");
    assert!(before == repo.fingerprint());
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
fn a_directory_that_cannot_be_written_is_named_and_nothing_is_half_done() {
    // Root writes everywhere, so a file stands where a directory must be.
    let repo = Repo::with_script();
    std::fs::write(repo.root.join(".git/cook"), "in the way").unwrap();
    let before = repo.fingerprint();
    repo.cook(&["init", "--mission", "m"])
        .fails(3, "log_unsafe")
        .says(".git/cook");
    assert_eq!(
        before.get("status"),
        repo.fingerprint().get("status"),
        "files were written before the log"
    );

    // The view is in the way: the transition counts, the view follows later.
    let repo = Repo::with_commit();
    std::fs::remove_dir_all(repo.root.join(".agent/tmp")).ok();
    std::fs::write(repo.root.join(".agent/tmp"), "in the way").unwrap();
    let run = repo.record("reviewer", repo.review(true));
    assert!(run.code == 0 || run.code == 3, "{run:?}");
    std::fs::remove_file(repo.root.join(".agent/tmp")).ok();
    if run.code == 3 {
        repo.record("reviewer", repo.review(true)).exits(0);
    }
    repo.record("auditor", repo.audit("b")).exits(0);
    repo.cook(&["verify", "control-plane"]).exits(0);
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

#[test]
fn settings_that_cannot_be_read_name_the_nearest_key() {
    let repo = Repo::set_up();
    repo.write(".agent/cook.toml", "[gatez]\nt = { run = \"true\" }\n");
    let run = repo.cook(&["doctor", "--config"]).exits(3);
    assert!(
        run.err.contains("config_invalid") && run.err.contains("gates"),
        "{}",
        run.err
    );
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("config_invalid");
    repo.cook(&["status"]).exits(0);
    repo.write(".agent/cook.toml", "[limits]\nsteps = 7\n");
    repo.cook(&["doctor", "--config"])
        .exits(0)
        .says("steps = 7");
    for (gone, instead) in [
        ("[sessions]\nkeep = \"9d\"\n", "[roles.default]"),
        ("[brief]\npath = \"B.md\"\n", "CONTINUE.md"),
        ("[clean_room]\nmax = \"1 GiB\"\n", "10 GiB"),
    ] {
        repo.write(".agent/cook.toml", gone);
        let run = repo
            .cook(&["doctor", "--config"])
            .fails(3, "config_invalid");
        assert!(run.err.contains("it is gone: ") && run.err.contains(instead));
    }
    for text in ["\u{0}", "[", "limits = 3\n", "[limits]\nsteps = \"many\"\n"] {
        repo.write(".agent/cook.toml", text);
        repo.cook(&["doctor", "--config"])
            .exits(3)
            .says("config_invalid");
    }
}

#[test]
fn a_wrong_setting_is_shown_with_its_place_and_key() {
    for (text, names) in [
        (
            "[gates.a]\nrun = \" \"",
            ".agent/cook.toml:2:7: gates.a.run: ",
        ),
        (
            "[limits]\nsteps = 1\nwall = \"x\"",
            ".agent/cook.toml:3:8: ",
        ),
        (
            "[notify]\nrun = \"a 'b\"",
            "notify.run: `a 'b` has an open quote",
        ),
        ("[roles.revewer]\nagent = \"a\"", ".agent/cook.toml:1:8: "),
        ("[roles.revewer]\nagent = \"a\"", "did you mean `reviewer`?"),
        ("\n[agents.\"a b\"]\nbin = \"b\"", ".agent/cook.toml:2:9: "),
        (
            "\n[prices.a]\ninput = -1.0\noutput = 0.0",
            ".agent/cook.toml:3:9: prices.a.input",
        ),
        (
            "[brief]\nsnyc = \"always\"",
            ".agent/cook.toml:2:1: brief.snyc: unknown field",
        ),
        (
            "[roles.auditor]\nagents = [\"a\"]",
            "auditor.agents: only judges take turns",
        ),
        ("a = [", ".agent/cook.toml:1:"),
    ] {
        let why = cook_protocol::model::Config::parse(text).unwrap_err();
        assert!(why.contains(names), "{text}: {why}");
    }
}
