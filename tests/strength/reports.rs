//! Reports of other tools, in the same shape.

use crate::strength::Repo;
use serde_json::json;

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
