//! Every command of the README and of the guide's quick start is run, or, where it builds or tests the whole
//! project, is one that CI runs.
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

/// Commands that concern this project and not the reader's repository: all of the README's.
const ELSEWHERE: [&str; 2] = [
    "cargo run --release -- demo",
    "cargo install --path . --locked",
];

/// The part of a page below one of its headings.
fn section(markdown: &str, heading: &str) -> String {
    let mut sections = markdown.split("\n## ");
    let found = sections.find(|section| section.lines().next() == Some(heading));
    found.unwrap_or_else(|| panic!("`{heading}`")).to_owned()
}

#[test]
fn the_quick_start_works_as_written() {
    let repo = Repo::new();
    let bin = repo.outside();
    std::os::unix::fs::symlink(COOK, bin.join("cook")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut ran = 0;
    for line in commands(&section(&project("docs/guide.md"), "Quick start")) {
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
    assert_eq!(ran, 6, "every command of the quick start");
    assert_eq!(repo.rule(), "4");
}

#[test]
fn what_is_not_run_here_is_run_by_ci() {
    let ci = project(".ci/run");
    assert!(ci.contains("step demo cargo run --release -- demo\n"));
    assert!(ci.contains("step tests cargo test --no-fail-fast\n"));
    assert_eq!(commands(&project("README.md")), ELSEWHERE);
    assert!(project("README.md").contains("`cargo test`"));
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

/// The README's answer of `cook check`, but for the commits' ids, about the change that it tells of.
#[test]
fn the_readme_quotes_what_check_says() {
    let repo = Repo::new();
    let write = |sign: &str, price: &str| {
        let total = format!(
            "def total(prices, discount=0):\n    return round(sum(prices) * (100 {sign} discount) / 100)\n"
        );
        repo.write("price.py", total);
        let test = format!(
            "import unittest\nfrom price import total\n\n\nclass Price(unittest.TestCase):\n    \
             def test_discount(self):\n        self.assertEqual(total([40, 60], discount=10), {price})\n"
        );
        repo.write("tests/test_price.py", test);
    };
    repo.write("Makefile", "test:\n\tpython3 -m unittest -v\n");
    repo.write("tests/__init__.py", "");
    repo.write(".gitignore", "__pycache__\n");
    write("-", "90");
    repo.commit("Add prices", None);
    write("+", "110");
    repo.commit("Fix rounding; all tests pass", None);
    let said = repo.cook(&["check", "--trust-repo"]).exits(1).out;
    let without_ids = |line: &str| {
        let is_id = |word: &str| word.len() == 12 && word.bytes().all(|c| c.is_ascii_hexdigit());
        let words = line
            .split(' ')
            .filter(|word| !is_id(word.trim_start_matches("../trial-")));
        words.collect::<Vec<_>>().join(" ")
    };
    let readme = project("README.md");
    let (_, quoted) = readme.split_once("$ cook check --trust-repo\n").unwrap();
    let (quoted, _) = quoted.split_once("```").unwrap();
    let said: Vec<String> = said.lines().map(without_ids).collect();
    let quoted: Vec<String> = quoted.lines().map(without_ids).collect();
    assert_eq!(quoted, said[..quoted.len()], "{said:#?}");
    assert!(quoted.len() > 3);
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
        "docs/commands.md",
        "docs/promises.md",
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
