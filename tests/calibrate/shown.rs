//! Where a verdict is shown, what is known of its judge stands beside it.

use super::Bench;
use serde_json::{Value, json};

/// The votes are given by sessions of the judge; the project is done.
fn make_judged() -> Bench {
    let bench = Bench::wave();
    let run = bench.repo.cook(&["run", "--steps", "3"]);
    assert_eq!(bench.calls(), 3, "{run:?}");
    bench.repo.conclude_done().exits(0);
    bench
}

#[test]
fn status_verify_page_and_attestation_say_what_a_judge_caught() {
    let bench = make_judged();
    let repo = &bench.repo;
    repo.cook(&["status"])
        .exits(0)
        .says("stop-judge: 3 of 3 yes; uncalibrated");
    let status = repo.cook(&["status", "--json"]).exits(0).json();
    let votes = |status: &Value| -> Value {
        let judges = status["judges"].as_array().unwrap();
        let found = judges
            .iter()
            .find(|one| one["role"] == "completion-stop-judge");
        found.unwrap_or_else(|| panic!("{status}")).clone()
    };
    assert_eq!(votes(&status)["caught"], json!(null), "{status}");
    repo.cook(&["verify", "--strict"])
        .exits(0)
        .says("stop-judge: 3 of 3 yes; uncalibrated");

    bench.errs(3, 0);
    bench.judge("stop-judge", &["--cases", "3"]);
    let said = "stop-judge: 3 of 3 yes by judge; this judge caught 2 of 3 planted faults (21 to 94 %), 0 of 3 false alarms (0 to 56 %)";
    repo.cook(&["status"]).exits(0).says(said);
    let status = repo.cook(&["status", "--json"]).exits(0).json();
    let judge = votes(&status);
    assert_eq!((&judge["yes"], &judge["of"]), (&json!(3), &json!(3)));
    assert_eq!(
        (&judge["caught"]["hits"], &judge["caught"]["of"]),
        (&json!(2), &json!(3))
    );
    repo.cook(&["verify", "--strict"]).exits(0).says(said);

    let page = repo.outside().join("page.html");
    repo.cook(&["report", "--html", page.to_str().unwrap()])
        .exits(0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("this judge caught 2 of 3 planted faults"),
        "{page}"
    );

    let file = repo.outside().join("a.intoto.jsonl");
    repo.cook(&["attest", "--out", file.to_str().unwrap()])
        .exits(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let statement: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let words = &statement["predicate"]["cook_judges"];
    let word = words
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["role"] == "stop-judge");
    assert_eq!(
        word.unwrap_or_else(|| panic!("{statement}")),
        &json!({"role": "stop-judge", "yes": 3, "of": 3, "agent": "judge",
                "caught": {"hits": 2, "of": 3}, "falseAlarms": {"hits": 0, "of": 3}})
    );
}
