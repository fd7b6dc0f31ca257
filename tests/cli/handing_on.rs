//! What the next session is told: what holds, what somebody only claims, where the work stands,
//! and whose words they are.

use crate::support::Repo;

/// The lines below a heading of the whole brief.
fn section(repo: &Repo, heading: &str) -> String {
    let brief = repo.cook(&["brief", "--all"]).exits(0).out;
    let found = brief
        .split("\n\n")
        .find(|part| part.starts_with(&format!("## {heading}\n")));
    found.unwrap_or_default().to_owned()
}

#[track_caller]
pub fn holds(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in:\n{text}");
}

#[track_caller]
pub fn lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "`{part}` in:\n{text}");
}

#[test]
fn next_names_where_the_work_stands_and_a_checkpoint_is_believed_by_its_commit() {
    let repo = Repo::with_selection();
    repo.cook(&[
        "brief",
        "checkpoint",
        "Done: the parser reads one. Next: teach it two",
    ])
    .exits(0);
    repo.write("parser.rs", "fn parse() {}\n");
    let head = repo.head();
    let next = section(&repo, "Next");
    holds(
        &next,
        &format!(
            "Go on from branch `main`, HEAD `{}`; uncommitted: `parser.rs`.",
            &head[..12]
        ),
    );
    holds(&next, "→ The last checkpoint goes on with: teach it two");
    let said = "Said to be done, and in no commit since: the parser reads one";
    holds(&section(&repo, "Learned"), said);
    lacks(&section(&repo, "Established"), "the parser");
    repo.write_commit_for("a", "a.txt", "one\n");
    lacks(&section(&repo, "Learned"), said);
    let next = section(&repo, "Next");
    holds(&next, &repo.head()[..12]);
    holds(&next, "teach it two");
}

/// A judge's no is answered reason by reason, wherever in its report they stand.
#[test]
fn every_reason_of_a_no_is_answered() {
    use crate::support::reports::slice;
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1")]);
    repo.build_slice("s1");
    repo.accept_slice("s1");
    for judge in ["a", "b", "c"] {
        let report = match judge {
            "a" => repo
                .judge_report(Some("look elsewhere"))
                .replace("shipped behavior: yes", "shipped behavior: no"),
            _ => repo.judge_report(None),
        };
        repo.cook_reads(&["record", "stop-judge", "--session", judge], report)
            .ok();
    }
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    holds(&prompt, "docs_config_runbooks_match_shipped_behavior : no");
}
