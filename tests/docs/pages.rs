//! `docs/`: the guide's tables say what `cook` does.
#![cfg(unix)]

use crate::support::Repo;
use crate::support::generated;
use crate::support::reports::{plan, slice};
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

#[test]
fn the_command_that_generates_is_the_same_everywhere() {
    for file in ["justfile", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(path(file)).unwrap();
        let lines = text
            .lines()
            .filter(|line| line.trim() == generated::COMMAND);
        assert_eq!(lines.count(), 1, "{file}");
    }
}

/// The rows of the guide's table under a heading: cells, trimmed.
fn table(heading: &str) -> Vec<Vec<String>> {
    let guide = std::fs::read_to_string(path("docs/guide.md")).unwrap();
    let section = guide
        .split("\n## ")
        .find(|section| section.starts_with(heading))
        .unwrap()
        .to_owned();
    section
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect()
}

/// A way into a stopped state, and the command line that leaves it.
type State = (&'static str, fn() -> Repo, &'static [&'static str]);

const STATES: [State; 9] = [
    (
        "an answer",
        make_asked,
        &["resume", "--answer", "yes, both"],
    ),
    ("trust", make_untrusted, &["trust", "true"]),
    (
        "attempts",
        attempts_spent,
        &["resume", "--add", "attempts=2"],
    ),
    ("steps", steps_spent, &["resume", "--add", "steps=20"]),
    ("something outside", make_blocked, &["resume"]),
    ("you", make_paused, &["resume"]),
    ("you, after a cancel", make_cancelled, &["resume"]),
    ("the branch", other_branch, &["plan", "adopt", "--branch"]),
    ("new work", make_done_and_moved, &["resume"]),
];

fn make_asked() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.hand_in_reground(
        &json!({"policy": {"to": "await_user_input", "question": "which of the two formats?"}}),
    );
    repo
}

fn make_untrusted() -> Repo {
    let repo = Repo::with_mission("a mission");
    let mut only = slice("one");
    only["verification_commands"] = json!(["true"]);
    repo.plan_and_select(&[only]);
    repo
}

/// With these limits and one required gate, committed and trusted.
fn make_limited(limits: &str, gate: &str) -> Repo {
    let repo = Repo::with_mission("a mission");
    let settings = format!("[gates.only]\nrun = \"{gate}\"\n\n[limits]\n{limits}\n");
    repo.write(".agent/cook.toml", &settings);
    repo.commit("Settle the limits", None);
    repo.cook(&["trust", "--gates", "--as-user"]).ok();
    repo.plan_and_select(&[slice("one")]);
    repo
}

fn attempts_spent() -> Repo {
    let repo = make_limited("attempts_per_slice = 1", "false");
    repo.write_commit_for("one", "one.txt", "one works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo
}

fn steps_spent() -> Repo {
    let repo = make_limited("steps = 2", "true");
    repo.write_commit_for("one", "one.txt", "one works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo
}

fn make_blocked() -> Repo {
    let repo = Repo::with_mission("a mission");
    let block = json!({
        "plan": plan(&[slice("one")]),
        "policy": {"to": "blocked", "why": "the server is down", "exit": "cook resume"},
    });
    repo.hand_in_reground(&block);
    repo
}

fn make_paused() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.cook(&["pause", "lunch"]).ok();
    repo
}

fn make_cancelled() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.plan_and_select(&[slice("one")]);
    repo.cook(&["cancel", "not wanted", "--as-user"]).ok();
    repo
}

fn other_branch() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.git(&["switch", "--quiet", "--create", "aside"]);
    repo
}

fn make_done_and_moved() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.plan_and_select(&[slice("one")]);
    repo.build_slice("one");
    repo.accept_slice("one");
    repo.conclude();
    repo.write_commit_for("none", "more.txt", "more\n");
    repo.cook(&["next"]).ok().says("1 commit came since");
    repo
}

#[test]
fn each_stopped_state_of_the_guide_is_left_by_its_command() {
    let rows = table("When it stops");
    let named: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let driven: Vec<&str> = STATES.iter().map(|state| state.0).collect();
    assert_eq!(named, driven);
    for ((name, arrive, leave), row) in STATES.iter().zip(&rows) {
        let repo = arrive();
        assert_eq!(repo.rule(), "S", "{name}");
        let exit = if *name == "the branch" {
            "cook plan adopt --branch".to_owned()
        } else {
            format!("cook {}", leave[0])
        };
        assert!(row[2].contains(&exit), "{name}: {row:?}");
        repo.cook(&["next"]).ok().says(&exit);
        let mut call = leave.to_vec();
        call.push("--as-user");
        repo.cook(&call).ok();
        assert_ne!(repo.rule(), "S", "{name}");
    }
}

/// Folders of this tree that a comment or a page may cite.
const FOLDERS: [&str; 9] = [
    "src/",
    "tests/",
    "protocol/",
    "docs/",
    "templates/",
    "proofs/",
    "smoke/",
    "benches/",
    "crates/",
];
const PAGES: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];
/// Whose text is read: comments of sources, pages as a whole.
const CITING: [&str; 12] = [
    "crates",
    "src",
    "tests",
    "protocol",
    "docs",
    "templates",
    "proofs",
    "smoke",
    "benches",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
];
/// Paths of a user's repository that pages and comments take as an example.
const EXAMPLES: [&str; 3] = ["src/a.rs", "src/a/b.rs", "tests/test_a.py"];

/// Every file below a path, but those that tests take as data.
fn list_files_below(at: &Path, found: &mut Vec<PathBuf>) {
    if at.is_file() {
        return found.push(at.to_owned());
    }
    let data = [
        "tests/data",
        "tests/streams",
        "crates/mutants/tests/integrity/tuning",
        "crates/mutants/tests/integrity/held-out",
        "crates/mutants/tests/integrity/blind",
    ]
    .map(path);
    let Ok(entries) = std::fs::read_dir(at).map(|entries| entries.flatten()) else {
        return;
    };
    for entry in entries.filter(|entry| !data.contains(&entry.path())) {
        list_files_below(&entry.path(), found);
    }
}

/// The lines of a file in which something can be cited.
fn prose(file: &Path, text: &str) -> Vec<(usize, String)> {
    let page = file.extension().is_some_and(|end| end == "md");
    let mut fenced = false;
    text.lines()
        .enumerate()
        .filter(|(_, line)| {
            let line = line.trim_start();
            fenced ^= page && line.starts_with("```");
            let comment = ["//", "#", "%%"].iter().any(|mark| line.starts_with(mark));
            if page { !fenced } else { comment }
        })
        .map(|(at, line)| (at + 1, line.to_owned()))
        .collect()
}

/// The link form of a heading.
fn slug(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let text: String = heading.trim().to_lowercase().chars().filter(kept).collect();
    text.replace(' ', "-")
}

fn headings(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let marked = prose(page, &text).into_iter().map(|(_, line)| line);
    marked
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_owned())
        .collect()
}

/// What is wrong with a path, and the heading behind it, as it is cited.
fn wrong_citation(cited: &str, from: &Path) -> Option<String> {
    let (name, anchor) = cited.split_once('#').unwrap_or((cited, ""));
    let file = match name {
        "" => from.to_owned(),
        name => from.join(name),
    };
    if !file.exists() {
        return Some(format!("`{name}` does not exist"));
    }
    let known = anchor.is_empty() || headings(&file).iter().any(|one| slug(one) == anchor);
    (!known).then(|| format!("`{name}` has no heading `#{anchor}`"))
}

/// The paths that a line cites: from the root of the tree, and as links from the page itself.
fn citations<'a>(line: &'a str, page: &Path) -> Vec<(&'a str, PathBuf)> {
    let mut found = Vec::new();
    let apart = |c: char| !c.is_alphanumeric() && !"_./#-<*{".contains(c);
    for word in line.split(apart) {
        let whole = word.find(['<', '*', '{']).map_or(word, |at| {
            // One of several files: the folder is checked.
            &word[..word[..at].rfind('/').unwrap_or(0)]
        });
        let whole = whole.trim_end_matches('.');
        let name = whole.split('#').next().unwrap_or_default();
        let ours = FOLDERS.iter().any(|folder| whole.starts_with(folder)) || PAGES.contains(&name);
        if ours && !EXAMPLES.contains(&whole) {
            found.push((whole, path("")));
        }
    }
    let links = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let links = links.filter(|link| !link.contains("://") && !link.contains("::"));
    let beside = page.parent().unwrap_or(page).to_owned();
    for link in links {
        match link.strip_prefix('#') {
            Some(_) => found.push((link, page.to_owned())),
            None => found.push((link, beside.clone())),
        }
    }
    found
}

/// The number behind the word "section", where it is not a heading of the page itself.
fn bare_section(line: &str, page: &Path) -> Option<String> {
    let lower = line.to_lowercase();
    let number = lower.split("section ").nth(1)?;
    let number: String = number.chars().take_while(char::is_ascii_digit).collect();
    let own = headings(page)
        .iter()
        .any(|heading| heading.starts_with(&format!("{number}.")));
    (!number.is_empty() && !own)
        .then(|| format!("`section {number}` names no file: cite `FILE.md#heading`"))
}

#[test]
fn what_comments_and_pages_cite_exists() {
    let mut files = Vec::new();
    for name in CITING {
        list_files_below(&path(name), &mut files);
    }
    let (mut wrong, mut cited) = (Vec::new(), 0);
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        for (number, line) in prose(&file, &text) {
            let mut said = Vec::from_iter(bare_section(&line, &file));
            for (name, from) in citations(&line, &file) {
                cited += 1;
                said.extend(wrong_citation(name, &from));
            }
            let place = file.strip_prefix(path("")).unwrap_or(&file).display();
            wrong.extend(said.iter().map(|what| format!("{place}:{number}: {what}")));
        }
    }
    assert!(cited > 200, "only {cited} citations were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
