//! Every command of the README is run, or, where it builds or tests the whole project, is one that CI runs.
#![cfg(unix)]

use crate::support::reports::{plan, slice};
use crate::support::{COOK, Repo, run_alone};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

fn project(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of the fenced `sh` blocks, in order.
fn commands(markdown: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        match (inside, line.trim()) {
            (false, "```sh") => inside = true,
            (true, "```") => inside = false,
            (true, line) if !line.is_empty() => lines.push(line.to_owned()),
            _ => {}
        }
    }
    lines
}

/// Commands that concern this project and not the reader's repository, with where they are run.
const ELSEWHERE: [&str; 3] = [
    "cargo run --release -- demo",
    "cargo test",
    "cargo install --path . --locked",
];

#[test]
fn the_quick_start_works_as_written() {
    let repo = Repo::new();
    let bin = repo.outside();
    std::os::unix::fs::symlink(COOK, bin.join("cook")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut ran = 0;
    for line in commands(&project("README.md")) {
        if ELSEWHERE.contains(&line.as_str()) {
            continue;
        }
        assert!(line.starts_with("cook "), "`{line}` is run by no test");
        if line.starts_with("cook record") && line.contains("--check") {
            // The agent's part: it reads the prompt and answers it.
            let prompt = repo.read(".agent/tmp/prompt.txt");
            assert!(prompt.contains("# Role: completion-regrounder"), "{prompt}");
            let block = json!({"plan": plan(&[slice("first")]), "select": "first"});
            repo.write(".agent/tmp/report.txt", repo.regrounder_report(&block));
        }
        let mut command = repo.command("bash");
        command.args(["-euo", "pipefail", "-c", &line]);
        run_alone(command.env("PATH", &path)).ok();
        ran += 1;
    }
    assert_eq!(ran, 7, "every command of the quick start");
    assert_eq!(repo.rule(), "4");
}

#[test]
fn what_is_not_run_here_is_run_by_ci() {
    let ci = project(".ci/run");
    assert!(ci.contains(" ./smoke/smoke.sh\n"));
    assert!(ci.contains("step demo cargo run --release -- demo\n"));
    assert!(ci.contains("step tests cargo test --no-fail-fast\n"));
    let readme = commands(&project("README.md"));
    for line in ELSEWHERE {
        assert!(readme.iter().any(|command| command == line), "{line}");
    }
    assert_eq!(
        readme[..2],
        ELSEWHERE[..2],
        "what a fresh clone begins with"
    );
    // `cargo install --path .`: a release build is too long for a test, so what it installs is looked at.
    let manifest: toml::Table = project("Cargo.toml").parse().unwrap();
    let bins = manifest["bin"].as_array().unwrap();
    assert_eq!(bins.len(), 1);
    assert_eq!(bins[0]["name"].as_str(), Some("cook"));
    assert!(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("Cargo.lock")
            .is_file()
    );
}

/// `cook …` in back-quotes or in a fenced line, as words.
fn mentions(markdown: &str) -> BTreeSet<Vec<String>> {
    let spans = markdown.split('`').map(str::to_owned);
    spans
        .chain(commands(markdown))
        .filter(|text| text.starts_with("cook ") && !text.contains('\n'))
        .map(|text| text.split_whitespace().skip(1).map(str::to_owned).collect())
        .collect()
}

/// Every `cook` command that a document names exists, with the options it is given.
#[test]
fn every_command_named_in_the_documents_exists() {
    let repo = Repo::unborn();
    let mut seen = 0;
    for file in [
        "README.md",
        "ARCHITECTURE.md",
        "docs/guide.md",
        "docs/attest.md",
        "docs/brief.md",
        "docs/trackers.md",
        "protocol/completion.md",
    ] {
        for words in mentions(&project(file)) {
            let nested = ["plan", "issue", "hooks"].contains(&words[0].as_str())
                || (["attest", "brief", "doctor"].contains(&words[0].as_str())
                    && words.get(1).is_some_and(|word| !word.starts_with('-')));
            let mut depth = if nested { 2 } else { 1 };
            if let (true, Some(inner)) = (nested, words.get(2)) {
                let help = repo.cook(&[&words[0], &words[1], "--help"]).ok().out;
                depth += usize::from(help.contains(&format!("\n  {inner} ")));
            }
            let mut call: Vec<&str> = words.iter().take(depth).map(String::as_str).collect();
            call.push("--help");
            let help = repo.cook(&call).ok().out;
            for option in words.iter().filter(|word| word.starts_with("--")) {
                assert!(
                    help.contains(option.as_str()),
                    "{file}: `cook {}`",
                    words.join(" ")
                );
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}
