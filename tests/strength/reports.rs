//! Reports of other tools, in the same shape.

use crate::strength::Repo;
use serde_json::{Value, json};

/// Two defects of `cargo mutants`: one was caught, the other missed.
fn cargo(file: &str, diff: &str) -> Value {
    let mutant = |line: u32, summary: &str| {
        json!({
            "scenario": {"Mutant": {
                "name": format!("{file}:{line}:5: replace < with =="), "file": file,
                "span": {"start": {"line": line, "column": 5}, "end": {"line": line, "column": 6}},
                "replacement": "==",
            }},
            "summary": summary,
            "diff_path": diff,
        })
    };
    json!({"outcomes": [
        {"scenario": "Baseline", "summary": "Success"},
        mutant(3, "CaughtMutant"),
        mutant(9, "MissedMutant"),
    ]})
}

#[test]
fn cargo_mutants_and_its_diffs() {
    let repo = Repo::directory();
    let report = cargo("src/lib.rs", "diff/a.diff");
    repo.write("mutants.out/outcomes.json", report.to_string());
    repo.write(
        "mutants.out/diff/a.diff",
        "--- src/lib.rs\n+++ x\n@@\n-a < b\n+a == b\n",
    );
    let args = ["strength", "--report", "mutants.out/outcomes.json"];
    let answer = repo
        .cook(&[&args[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(
        (&answer["strength"], &answer["killed"]),
        (&json!(0.5), &json!(1))
    );
    assert_eq!(
        (&answer["head"], &answer["timed_out"]),
        (&json!(null), &json!(null))
    );
    let survivor = &answer["survivors"][0];
    assert_eq!(
        (&survivor["path"], &survivor["line"]),
        (&json!("src/lib.rs"), &json!(9))
    );
    let run = repo
        .cook(&[&args[..], &["--minimum", "0.7"]].concat())
        .exits(1);
    assert!(
        run.out.contains("not noticed src/lib.rs:9") && run.out.contains("+a == b"),
        "{run:?}"
    );
}

#[test]
fn mutation_testing_elements() {
    let repo = Repo::directory();
    let at = |line: u32| json!({"start": {"line": line, "column": 1}, "end": {"line": line, "column": 2}});
    let report = json!({"schemaVersion": "2", "files": {"a.js": {"source": "x\ny\n", "mutants": [
        {"id": "1", "mutatorName": "Block", "replacement": "z\u{1b}[2J", "status": "Survived", "location": at(2)},
        {"id": "2", "mutatorName": "Block", "replacement": "z", "status": "Killed", "location": at(1)},
    ]}}});
    repo.write("mutation.json", report.to_string());
    let run = repo
        .cook(&["strength", "--report", "mutation.json"])
        .exits(0);
    assert!(
        run.out.contains("strength 0.50") && run.out.contains("not noticed a.js:2"),
        "{run:?}"
    );
    assert!(!run.out.contains('\u{1b}'), "{run:?}");
}

#[test]
fn what_cannot_be_read_says_so_in_a_code() {
    let repo = Repo::directory();
    for text in [
        "",
        "{}",
        "3 caught",
        &cargo("../outside.rs", "x").to_string(),
    ] {
        repo.write("report.json", text);
        let run = repo.cook(&["strength", "--report", "report.json"]).exits(4);
        assert!(
            run.err.contains("defect_report_unread") && run.err.contains("next: "),
            "{run:?}"
        );
    }
    repo.cook(&["strength", "--report", "none.json"]).exits(3);
    repo.cook(&["strength", "a", "--report", "none.json"])
        .exits(2);
    // A diff is looked for beside the report, and nowhere else.
    repo.write("secret.diff", "kept to itself\n");
    repo.write(
        "out/outcomes.json",
        cargo("a.rs", "../secret.diff").to_string(),
    );
    let run = repo
        .cook(&["strength", "--report", "out/outcomes.json", "--json"])
        .exits(0);
    assert_eq!(run.json()["survivors"][0]["diff"], json!(null));
}
