//! What keeps judges from being measured, each with its code and a way on.

use super::{Bench, counts};
use crate::support::Repo;
use serde_json::json;

#[test]
fn what_may_not_run_is_named() {
    let bench = Bench::with_done();
    let repo = &bench.repo;
    repo.cook(&["calibrate", "--agent", "nobody"])
        .exits(2)
        .says("nobody");
    repo.cook(&["calibrate", "--cases", "0"]).exits(2);
    repo.cook(&["calibrate", "--cases", "1001"]).exits(2);
    repo.cook(&["calibrate", "--role", "implementer"]).exits(2);
    repo.cook_env(&["calibrate"], "COOK_ROLE", "reviewer")
        .expect_refused("inside_role");
    let settings = repo.read(".agent/cook.toml");
    let more = format!("{settings}\n[gates.more]\nrun = \"bash other.sh\"\n");
    repo.write(".agent/cook.toml", more);
    repo.cook(&["calibrate"])
        .expect_refused("trust_missing")
        .says("cook trust 'bash other.sh'")
        .says("--trust-repo");
    assert_eq!(bench.calls(), 0);
}

#[test]
fn a_run_starts_nobody_who_catches_too_little() {
    let bench = Bench::wave();
    let repo = &bench.repo;
    let settings = repo.read(".agent/cook.toml");
    repo.write(
        ".agent/cook.toml",
        format!("{settings}\n[rules]\nmin_catch_rate = 0.7\n"),
    );
    repo.commit("Ask how much judges catch", None);
    repo.cook(&["init", "--as-user"]).exits(0);
    let run = ["run", "--steps", "1"];
    repo.cook(&run)
        .expect_refused("judge_uncalibrated")
        .says("judge has no measured catch rate")
        .says("cook calibrate --role reviewer --agent judge");
    bench.errs(1, 0);
    for role in ["reviewer", "auditor", "stop-judge"] {
        bench.judge(role, &["--cases", "2"]);
    }
    let called = bench.calls();
    repo.cook(&run)
        .expect_refused("judge_misses_much")
        .says("caught 0 of 2 planted faults");
    assert_eq!(bench.calls(), called, "nobody was started");
    bench.errs(0, 0);
    for role in ["reviewer", "auditor", "stop-judge"] {
        bench.judge(role, &["--cases", "2", "--again"]);
    }
    let run = repo.cook(&run);
    assert!(!run.err.contains("[judge_"), "{}", run.err);
}

#[test]
fn a_judge_that_gives_no_verdict_is_no_judge() {
    let bench = Bench::with_done();
    let mute = bench.state.join("mute");
    std::fs::write(&mute, "").unwrap();
    let args = ["calibrate", "--role", "reviewer", "--cases", "1"];
    bench
        .repo
        .cook(&args)
        .fails(5, "supplier_failed")
        .says("continues after them");
    std::fs::remove_file(&mute).unwrap();
    let judge = bench.judge("reviewer", &["--cases", "1"]);
    assert_eq!(counts(&judge), [1, 1, 0, 1]);
}

#[test]
fn what_is_kept_and_cannot_be_read_counts_as_nothing() {
    let bench = Bench::with_done();
    bench.judge("reviewer", &["--cases", "1"]);
    let dir = bench.repo.root.join(".git/cook/calibrations");
    let file = std::fs::read_dir(&dir)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}{{\"case\": \"torn")).unwrap();
    let judge = bench.judge("reviewer", &["--cases", "1"]);
    assert_eq!((counts(&judge), &judge["asked"]), ([1, 1, 0, 1], &json!(0)));
    std::fs::write(&file, "garbage\n\u{1b}[31m\n").unwrap();
    let judge = bench.judge("reviewer", &["--cases", "1"]);
    assert_eq!((counts(&judge), &judge["asked"]), ([1, 1, 0, 1], &json!(2)));
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    bench
        .repo
        .cook(&["calibrate", "--role", "reviewer", "--cases", "1"])
        .exits(3)
        .says("document_unreadable");
}

/// The history that cook carries takes the place of one that is not there.
#[test]
fn a_repository_without_done_work_is_given_the_history_that_cook_carries() {
    let repo = Repo::with_script();
    let judge = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calibrate/roman.sh");
    repo.write(
        ".agent/cook.toml",
        format!(
            "[agents.judge]\nbin = {judge:?}\nstart = []\nevents = \"text\"\n[roles.default]\nagent = \"judge\"\n[sandbox]\nmode = \"off\"\n"
        ),
    );
    let refused = repo.cook(&["calibrate"]);
    let words = refused
        .err
        .split("cook trust '")
        .nth(1)
        .unwrap_or_else(|| panic!("{refused:?}"));
    let words = words.split('\'').next().unwrap().to_owned();
    repo.cook(&["trust", &words, "--as-user"]).exits(0);
    let args = ["calibrate", "--role", "reviewer", "--cases", "2", "--json"];
    let answer = repo.cook(&args).exits(0).json();
    let judge = &answer["judges"][0];
    assert_eq!(counts(judge), [0, 2, 0, 2], "{answer}");
    assert_eq!((&judge["own"], &judge["asked"]), (&json!(0), &json!(4)));
    // Nothing of it became a workflow here.
    repo.cook(&["status"]).exits(3).says("not_initialised");
    assert_eq!(repo.git(&["log", "--oneline"]).lines().count(), 1);
}
