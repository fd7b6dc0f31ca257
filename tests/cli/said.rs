//! What the user says with another command, or in other marks, is theirs: it reaches whoever is next.

use crate::support::Repo;

#[test]
fn marks_that_an_editor_sets_say_what_plain_ones_say() {
    let repo = Repo::with_selection();
    repo.cook(&["brief", "say", "Don't vendor \"x\" -- ever...", "--as-user"])
        .exits(0);
    let said = repo.cook(&["log", "-n", "1", "--json"]).exits(0).json();
    let seq = said["worktrees"][0]["transitions"][0]["seq"]
        .as_u64()
        .unwrap();
    let forbid = |words: &str| {
        let source = format!("user@msg-{seq}: {words}");
        repo.cook(&["brief", "note", "forbid", words, "--source", &source])
    };
    for words in ["Don’t vendor “x” — ever…", "don't vendor"] {
        let run = forbid(words);
        match words.starts_with('D') {
            true => run.exits(0),
            false => run.fails(4, "brief_unproved"),
        };
    }
}
