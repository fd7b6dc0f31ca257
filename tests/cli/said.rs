//! What the user says with another command, or in other marks, is theirs: it reaches whoever is next.

use crate::cli::handing_on::holds;
use crate::support::Repo;
use serde_json::json;

fn prompt(repo: &Repo) -> String {
    repo.cook(&["next", "--prompt"]).exits(0).out
}

#[test]
fn the_reason_of_a_pause_or_an_end_binds_who_goes_on() {
    let repo = Repo::with_selection();
    repo.cook(&["pause"]).exits(0);
    repo.cook(&["resume", "--as-user"]).exits(0);
    assert!(!prompt(&repo).contains("the user said: "));
    repo.cook(&["pause", "the port must be 8081"])
        .exits(0)
        .says("is not binding");
    repo.cook(&["resume", "--as-user"]).exits(0);
    assert!(!prompt(&repo).contains("the user said: "));
    repo.cook(&["pause", "the port must be 8080", "--as-user"])
        .exits(0);
    repo.cook(&["resume", "--as-user"]).exits(0);
    assert_eq!(repo.rule(), "4");
    holds(&prompt(&repo), "the user said: the port must be 8080");
    repo.cook(&["pause"]).exits(0);
    repo.cook(&["resume", "--answer", "and the host as before", "--as-user"])
        .exits(0);
    holds(&prompt(&repo), "the user said: and the host as before");
    repo.cook(&["cancel", "nobody needs a server", "--as-user"])
        .exits(0);
    repo.cook(&["resume", "--as-user"]).exits(0);
    assert_eq!(repo.rule(), "2");
    let told = prompt(&repo);
    holds(&told, "the user said: nobody needs a server");
    holds(&told, "the user said: the port must be 8080");
    repo.cook(&["pause", "once more", "--as-user"]).exits(0);
    repo.cook(&["pause", "and this", "--as-user"])
        .fails(4, "does_not_apply")
        .says("cook brief say");
}

#[test]
fn a_no_to_commands_reaches_the_regrounder() {
    let repo = Repo::with_selection();
    let returned = repo.implementation("a", "none").replace(
        "adjustment required: no\nResidual risks discovered: none",
        "adjustment required: yes\nResidual risks discovered: c comes first",
    );
    repo.record("implementer", returned).exits(0);
    let block = json!({"plan": {"plan_basis": "the tree", "add": [{
        "slice_id": "c", "goal": "c", "acceptance_criteria": ["c holds"], "contract_ids": [],
        "priority": 1, "why_now": "now", "verification_commands": ["rm -rf home"],
    }]}});
    repo.record("regrounder", repo.reground("none", "none", "none", &block))
        .exits(0);
    repo.cook(&["next", "--exit-code"]).exits(10);
    repo.cook(&["resume", "--answer", "yes", "--as-user"])
        .fails(4, "trust_missing")
        .says("cook trust 'rm -rf home'")
        .says("cook resume --answer 'no: WHY'");
    repo.cook(&["resume", "--answer", "no: it deletes files", "--as-user"])
        .exits(0);
    assert_eq!(repo.rule(), "2");
    let told = prompt(&repo);
    holds(
        &told,
        "the user was asked to trust commands of the plan, and did not answer yes",
    );
    holds(&told, "rm -rf home\", the user said: no: it deletes files");
    let change = json!({"plan": {"plan_basis": "a message of the user", "change": [
        {"slice_id": "c", "verification_commands": []},
    ]}, "select": "a"});
    repo.record("regrounder", repo.reground("none", "none", "a", &change))
        .exits(0);
    assert_eq!(repo.rule(), "4");
    holds(&prompt(&repo), "the user said: no: it deletes files");
}

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
