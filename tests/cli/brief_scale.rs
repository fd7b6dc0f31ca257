//! What `cook brief check` costs: 1,000 anchors, in a small repository and in one of
//! 10,000 files. Times say little on a shared machine, so the test is run by hand:
//!
//! `cargo test --release --test all cli::brief_scale -- --ignored --nocapture`

use crate::support::{Repo, run};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Anchored lines are in this many files, whatever the size of the repository.
const ANCHORED: usize = 100;
/// Anchors under `established`, and as many mentioned as sources.
const ANCHORS: usize = 500;

fn text(file: usize) -> String {
    (0..10).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "let value_{file}_{line} = compute({file}, {line});");
        text
    })
}

/// A set-up repository of that many files.
fn repository(files: usize) -> Repo {
    let repo = Repo::unborn();
    let mut stream =
        "commit refs/heads/main\ncommitter A <a@example.org> 1767323045 +0000\ndata 5\nbegin\n"
            .to_owned();
    for file in 0..files {
        let text = text(file);
        let (part, length) = (file / 100, text.len());
        let _ = write!(
            stream,
            "M 100644 inline src/{part}/f{file}.rs\ndata {length}\n{text}\n"
        );
    }
    let mut command = repo.command("git");
    command.args(["fast-import", "--quiet"]);
    run(command, stream.as_bytes()).exits(0);
    repo.git(&["reset", "-q", "--hard", "main"]);
    repo.cook(&[
        "init",
        "--mission",
        crate::support::story::MISSION,
        "--commit",
    ])
    .exits(0);
    repo
}

fn import(repo: &Repo) {
    let place = |number: usize| {
        let (file, line) = (number % ANCHORED, number / ANCHORED + 1);
        format!("src/{}/f{file}.rs:{line}", file / 100)
    };
    let established: Vec<Value> = (0..ANCHORS)
        .map(|number| json!({"claim": format!("claim {number}"), "evidence": place(number), "basis": "observed", "reopen": "r"}))
        .collect();
    let learned: Vec<Value> = (0..ANCHORS)
        .map(|number| json!({"lesson": format!("lesson {number}"), "source": place(number)}))
        .collect();
    let artifact = json!({
        "version": "pi-continue-artifacts/v4",
        "brief": {"task": "t", "done_when": "d", "forbid": [], "established": established, "learned": learned, "open": [], "next": []},
        "agentGuideUpdate": {"content": null, "reason": ""},
    });
    let command = repo.cook_command(&["brief", "import"]);
    run(command, artifact.to_string().as_bytes()).exits(0);
}

/// The shortest of a few checks, and how many anchors had each verdict.
fn check(repo: &Repo) -> (Duration, Value) {
    let mut best = Duration::MAX;
    let mut counts = Value::Null;
    for _ in 0..5 {
        let start = Instant::now();
        let check = repo.cook(&["brief", "check", "--json"]).exits(0);
        best = best.min(start.elapsed());
        counts = check.json()["counts"].clone();
    }
    (best, counts)
}

#[test]
#[ignore = "measures; run it by hand in a release build"]
fn a_thousand_anchors_cost_the_same_in_a_large_repository() {
    let mut seen = Vec::new();
    for files in [ANCHORED, 10_000] {
        let repo = repository(files);
        import(&repo);
        let (still, counts) = check(&repo);
        assert_eq!(counts, json!({"verified": 2 * ANCHORS}));
        for file in 0..ANCHORED / 2 {
            let path = format!("src/0/f{file}.rs");
            repo.write(&path, format!("// a new line\n{}", text(file)));
        }
        repo.commit("half of the files have a new first line", None);
        let (moved, counts) = check(&repo);
        assert_eq!(counts["moved"], ANCHORS / 2);
        println!(
            "{files} files: {:.1} µs an anchor as stamped, {:.1} µs with half of them moved",
            still.as_secs_f64() * 1e6 / (2 * ANCHORS) as f64,
            moved.as_secs_f64() * 1e6 / (2 * ANCHORS) as f64,
        );
        seen.push((still, moved));
    }
    let ratio = |small: Duration, large: Duration| large.as_secs_f64() / small.as_secs_f64();
    assert!(ratio(seen[0].0, seen[1].0) < 2.0, "as stamped: {seen:?}");
    assert!(ratio(seen[0].1, seen[1].1) < 2.0, "moved: {seen:?}");
}
