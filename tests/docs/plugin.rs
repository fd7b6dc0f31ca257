//! The plugin: its hooks are those that cook installs, its skill names what is there, its parts fit together.

use crate::support::{Repo, generated};
use serde_json::{Value, json};
use std::path::Path;

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn document(path: &str) -> Value {
    serde_json::from_str(&file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_generated_hooks_are_those_that_cook_installs() {
    let repo = Repo::new();
    repo.cook(&["hooks", "install", "claude", "--shared"]).ok();
    let settings: Value = serde_json::from_str(&repo.read(".claude/settings.json")).unwrap();
    assert!(settings["hooks"]["Stop"].is_array(), "{settings}");
    let hooks = serde_json::to_string_pretty(&json!({"hooks": settings["hooks"]})).unwrap();
    generated::compare("plugin/hooks/hooks.json", &format!("{hooks}\n"));
    generated::compare(
        "plugin/commands/cook.md",
        &repo.read(".claude/commands/cook.md"),
    );
}

#[test]
fn the_skill_begins_with_its_name() {
    let skill = file("plugin/skills/cook/SKILL.md");
    let rest = skill.strip_prefix("---\n").unwrap();
    let (head, text) = rest.split_once("\n---\n").unwrap();
    assert!(head.starts_with("name: cook\ndescription: "), "{head}");
    assert!(text.starts_with("# "), "{text}");
}

/// Each command that the skill names is one, with the options that it names.
#[test]
fn what_the_skill_names_is_there() {
    let repo = Repo::new();
    let skill = file("plugin/skills/cook/SKILL.md");
    let mut seen = 0;
    for quoted in skill.split('`').skip(1).step_by(2) {
        let mut words = quoted.split_whitespace();
        let Some(command) = words
            .next()
            .filter(|word| *word == "cook")
            .and(words.next())
        else {
            continue;
        };
        let help = repo.cook(&[command, "--help"]).ok().out;
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{quoted}");
        }
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn the_parts_fit_together() {
    let plugin = document("plugin/.claude-plugin/plugin.json");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    let market = document(".claude-plugin/marketplace.json");
    let listed = &market["plugins"][0];
    assert_eq!(listed["name"], plugin["name"]);
    let source = listed["source"].as_str().unwrap().trim_start_matches("./");
    document(&format!("{source}/.claude-plugin/plugin.json"));
    let server = &document("plugin/.mcp.json")["mcpServers"]["cook"];
    let args: Vec<&str> = server["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    let repo = Repo::new();
    assert_eq!(server["command"], "cook");
    // An input that ends at once is an end.
    repo.cook(&args).ok();
}
