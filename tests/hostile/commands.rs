//! Every command, as it is called on a clone of somebody's.

use crate::support::{Repo, run_alone};

/// One call of each at least, the user's own word given where it is asked for.
const CALLS: &[&[&str]] = &[
    &["status"],
    &["next"],
    &["next", "--prompt"],
    &["verify"],
    &["doctor"],
    &["brief", "show"],
    &["doctor", "fsck"],
    &["check"],
    &["check", "--pushed"],
    &["check", "--format", "sarif"],
    &["verify", "--format", "github"],
    &["verify", "--base", "HEAD"],
    &["goal", "w", "--check", "true", "--as-user"],
    &["goal"],
    &["goal", "drop", "--as-user"],
    &["attest"],
    &[
        "attest",
        "verify",
        "README.md",
        "--allowed-signers",
        "README.md",
    ],
    &["report", "--format", "pr"],
    &["report", "--html", "-"],
    &["mcp"],
    &["run", "--estimate"],
    &["hooks", "install", "git", "--check"],
    &["hooks", "install", "claude", "--check"],
    &["next", "--why"],
    &["gate"],
    &["gate", "--clean"],
    &["strength"],
    &["strength", "--report", "README.md"],
    &["calibrate"],
    &["verify", "--rerun"],
    &["verify", "stop"],
    &["push"],
    &["pull"],
    &["trust", "--list"],
    &["status", "--ready"],
    &["status", "--graph"],
    &["plan", "criteria"],
    &["issue", "ready"],
    &["issue", "show", "a"],
    &["issue", "status"],
    &["issue", "claim", "a"],
    &["issue", "close", "a"],
    &["issue", "comment", "a", "x"],
    &["issue", "create", "x"],
    &["log"],
    &["log", "@"],
    &["log", "@-..@"],
    &["brief", "render", "-"],
    &["brief", "check"],
    &["brief", "note", "--json"],
    &["brief", "say", "x", "--as-user"],
    &["brief", "import", "-"],
    &["brief", "export"],
    &["brief", "guide", "--diff"],
    &["brief", "checkpoint", "DONE: x; NEXT: y"],
    &["brief", "recover"],
    &["hook", "claude"],
    &["hooks", "check", "claude"],
    &["hooks", "install", "claude"],
    &["hooks", "attach", "x"],
    &["hooks", "remove", "claude"],
    &["run", "--yes"],
    &["run", "--once"],
    &["status", "--watch", "--json"],
    &["status", "--cost"],
    &["ask", "x"],
    &["act", "x"],
    &["ask", "--each", "claude,evil", "x"],
    &["session", "log"],
    &["session", "show", "x"],
    &["session", "tree"],
    &["session", "verify"],
    &["session", "name", "x", "y"],
    &["session", "export", "x"],
    &["session", "import", "-"],
    &["session", "gc"],
    &["session", "open", "x"],
    &["doctor", "agents"],
    &["doctor", "rescue", "list"],
    &["doctor", "rescue", "show", "x"],
    &["doctor", "rescue", "restore", "--to", "back", "x"],
    &["init"],
    &["uninstall", "--dry-run"],
    &["init", "--from", "TODO.md"],
    &["init", "--from", "specs"],
    &["init", "--tick", "--as-user"],
    &["record", "reviewer"],
    &["pause"],
    &["resume", "--as-user"],
    &[
        "plan",
        "criteria",
        "amend",
        "a",
        "1",
        "--text",
        "t",
        "--reason",
        "r",
        "--as-user",
    ],
    &[
        "plan",
        "criteria",
        "retire",
        "a",
        "1",
        "--reason",
        "r",
        "--as-user",
    ],
    &["resume", "--add", "steps=1", "--as-user"],
    &["resume", "--answer", "x", "--as-user"],
    &["undo", "--as-user"],
    &["plan", "adopt", "--as-user"],
    &["plan", "adopt", "--discard", "--as-user"],
    &["plan", "refocus", "--mission", "m", "--as-user"],
    &["trust", "true", "--as-user"],
    &["cancel", "--as-user"],
];

/// These look at no repository that is there.
const ELSEWHERE: [&str; 4] = ["completions", "demo", "explain", "help"];

/// What a place is tried with that others are like.
pub const FIRST: &[&[&str]] = &[&["next"], &["verify"], &["doctor", "fsck"]];

/// So many of all come first that a person types first; the others find the same files by the same ways.
pub const FEW: usize = 7;

/// All of them.
pub fn all() -> &'static [&'static [&'static str]] {
    CALLS
}

fn list_commands(repo: &Repo, above: &[&str]) -> Vec<String> {
    let mut words = above.to_vec();
    words.push("--help");
    let help = repo.cook(&words).ok().out;
    let lines = help.lines().take_while(|line| *line != "Options:");
    lines
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_is_called() {
    let repo = Repo::new();
    let mut missing = Vec::new();
    for name in list_commands(&repo, &[]) {
        if ELSEWHERE.contains(&name.as_str()) {
            continue;
        }
        let mut below = list_commands(&repo, &[&name]);
        below.retain(|inner| inner != "help");
        let is_called = |words: &[&str]| CALLS.iter().any(|call| call.starts_with(words));
        if below.is_empty() && !is_called(&[&name]) {
            missing.push(name.clone());
        }
        let uncalled = below.iter().filter(|inner| !is_called(&[&name, inner]));
        missing.extend(uncalled.map(|inner| format!("{name} {inner}")));
    }
    assert!(missing.is_empty(), "no call of {missing:?}");
    // Each is understood: 2 would say that its words are wrong.
    let repo = Repo::with_commit();
    for words in CALLS {
        let run = run_alone(&mut repo.cook_command(words));
        let is_wrong = run.code == 2 && run.err.contains("Usage:");
        assert!(!is_wrong, "{words:?}: {}", run.err);
    }
}
