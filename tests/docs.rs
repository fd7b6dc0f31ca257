//! `docs/`: the list of codes is the catalogue's, and the guide's tables say what `cook` does.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use cook_core::diagnostic::{CATALOGUE, Family, Severity};
use serde_json::json;
use std::path::{Path, PathBuf};
use support::Repo;
use support::reports::{plan, slice};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

const FAMILIES: [(Family, &str, &str); 4] = [
    (
        Family::Report,
        "Reports",
        "The report breaks the grammar or contradicts itself. It is refused as a whole and writes nothing.",
    ),
    (
        Family::Refusal,
        "Refusals",
        "The event is not taken; nothing was written. Exit code 4.",
    ),
    (
        Family::Finding,
        "Findings",
        "What `cook verify`, `cook next` and `cook status` point at.",
    ),
    (
        Family::Failure,
        "Failures",
        "The command could not run. Exit codes 2, 3 and 7.",
    ),
];

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "a note",
        Severity::Warning => "a warning; never changes an exit code",
        Severity::NeedsReground => "needs a re-ground; `cook verify` fails with `--strict`",
        Severity::Error => "an error; `cook verify` fails",
    }
}

/// `docs/codes.md` as the catalogue has it.
fn codes() -> String {
    let mut text = String::from(
        "# Codes\n\nEvery objection of `cook` carries one of these codes. They are stable: a program may rely on them.\n\
         Generated from the catalogue by `COOK_UPDATE=1 cargo test --test docs`; the same list for programs is\n\
         [protocol/codes.json](../protocol/codes.json).\n",
    );
    for (family, title, about) in FAMILIES {
        text.push_str(&format!("\n# {title}\n\n{about}\n"));
        for code in CATALOGUE.iter().filter(|code| code.family() == family) {
            text.push_str(&format!("\n## {code}\n\nIn short: {}.\n", code.meaning()));
            if family == Family::Finding {
                text.push_str(&format!("\nWeight: {}.\n", severity(code.severity())));
            }
            text.push_str(&format!("\nWhat to do: {}.\n", code.hint()));
        }
    }
    text
}

#[test]
fn the_list_of_codes_is_the_catalogue() {
    let file = path("docs/codes.md");
    if std::env::var_os("COOK_UPDATE").is_some() {
        std::fs::write(&file, codes()).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).unwrap_or_default() == codes(),
        "`docs/codes.md` is not the catalogue's: run `COOK_UPDATE=1 cargo test --test docs`"
    );
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
    ("an answer", asked, &["answer", "yes, both"]),
    ("trust", untrusted, &["trust", "true"]),
    (
        "attempts",
        attempts_spent,
        &["resume", "--budget", "attempts=2"],
    ),
    ("steps", steps_spent, &["resume", "--budget", "steps=20"]),
    ("something outside", blocked, &["resume"]),
    ("you", paused, &["resume"]),
    ("you, after a cancel", cancelled, &["resume"]),
    ("the branch", other_branch, &["adopt", "--branch"]),
    ("new work", done_and_moved, &["resume"]),
];

fn asked() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.reground(
        &json!({"policy": {"to": "await_user_input", "question": "which of the two formats?"}}),
    );
    repo
}

fn untrusted() -> Repo {
    let repo = Repo::with_mission("a mission");
    let mut only = slice("one");
    only["verification_commands"] = json!(["true"]);
    repo.planned(&[only]);
    repo
}

/// With these limits and one required gate, committed and trusted.
fn limited(limits: &str, gate: &str) -> Repo {
    let repo = Repo::with_mission("a mission");
    let settings = format!("[gates.only]\nrun = \"{gate}\"\n\n[limits]\n{limits}\n");
    repo.write(".agent/cook.toml", &settings);
    repo.commit("Settle the limits");
    repo.cook(&["trust", "--gates", "--as-user"]).ok();
    repo.planned(&[slice("one")]);
    repo
}

fn attempts_spent() -> Repo {
    let repo = limited("attempts_per_slice = 1", "false");
    repo.commit_for("one", "one.txt", "one works\n");
    repo.record("implementer", &repo.implemented(None)).ok();
    repo
}

fn steps_spent() -> Repo {
    let repo = limited("steps = 2", "true");
    repo.commit_for("one", "one.txt", "one works\n");
    repo.record("implementer", &repo.implemented(None)).ok();
    repo
}

fn blocked() -> Repo {
    let repo = Repo::with_mission("a mission");
    let block = json!({
        "plan": plan(&[slice("one")]),
        "policy": {"to": "blocked", "why": "the server is down", "exit": "cook resume"},
    });
    repo.reground(&block);
    repo
}

fn paused() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.cook(&["pause", "lunch"]).ok();
    repo
}

fn cancelled() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.planned(&[slice("one")]);
    repo.cook(&["cancel", "not wanted", "--as-user"]).ok();
    repo
}

fn other_branch() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.git(&["switch", "--quiet", "--create", "aside"]);
    repo
}

fn done_and_moved() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.planned(&[slice("one")]);
    repo.built("one");
    repo.accepted("one");
    repo.concluded();
    repo.commit_for("none", "more.txt", "more\n");
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
        let door = if *name == "the branch" {
            "cook adopt --branch".to_owned()
        } else {
            format!("cook {}", leave[0])
        };
        assert!(row[2].contains(&door), "{name}: {row:?}");
        repo.cook(&["next"]).ok().says(&door);
        let mut call = leave.to_vec();
        call.push("--as-user");
        repo.cook(&call).ok();
        assert_ne!(repo.rule(), "S", "{name}");
    }
}
