//! What people and models read, as snapshots: answers of the commands at each stage of the work,
//! refusals, the prompt of each role, help texts. `just update` writes them again.

use crate::support::story::MISSION;
use crate::support::{Repo, Run};
use insta::assert_snapshot;

/// The stages of the work, each with the role that is due.
fn stages() -> [(&'static str, Repo); 7] {
    let audited_next = Repo::with_commit();
    audited_next
        .record("reviewer", audited_next.review(true))
        .exits(0);
    [
        ("regrounder", Repo::set_up()),
        ("implementer", Repo::with_selection()),
        ("reviewer", Repo::with_commit()),
        ("auditor", audited_next),
        ("regrounder_after_audit", Repo::with_review()),
        ("stop_judge", Repo::wave()),
        ("done", Repo::with_done()),
    ]
}

/// Both streams and how it ended.
fn show(repo: &Repo, run: &Run) -> String {
    let text = format!("{}{}exit code {}\n", run.out, run.err, run.code);
    without_durations(&repo.redact(&text))
}

/// What a gate took differs from run to run or does not, and with it where a long line is cut.
fn without_durations(text: &str) -> String {
    let mut under_duration = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let field = line.trim_start();
        let is_value = field.starts_with("- ") || field.starts_with("+ ");
        if line.ends_with(".duration_ms") || under_duration && is_value {
            under_duration = true;
            continue;
        }
        under_duration = false;
        lines.push(match line.split_once("\"duration_ms\":") {
            Some((before, _)) => format!("{before}\"duration_ms\":[MS]…"),
            None => without_seconds(line),
        });
    }
    lines.join("\n") + "\n"
}

/// `green in 0.1 s` without the number.
fn without_seconds(line: &str) -> String {
    let is_number = |word: &str| word.contains('.') && word.parse::<f64>().is_ok();
    match line.split_once(" in ") {
        Some((before, rest)) => match rest.split_once(" s") {
            Some((number, rest)) if is_number(number) => format!("{before} in [S] s{rest}"),
            _ => line.to_owned(),
        },
        None => line.to_owned(),
    }
}

/// These commands, one after another, each with what it answered.
fn session(repo: &Repo, commands: &[&[&str]]) -> String {
    let answers = commands.iter().map(|arguments| {
        let run = repo.cook(arguments);
        let text = show(repo, &run);
        format!("$ cook {}\n{text}", arguments.join(" "))
    });
    answers.collect::<Vec<_>>().join("\n")
}

#[test]
fn generated_answers_at_each_stage() {
    for (stage, repo) in stages() {
        let commands: &[&[&str]] = &[
            &["next"],
            &["next", "--why"],
            &["status"],
            &["status", "--ready"],
            &["verify"],
            &["log"],
            &["log", "@"],
        ];
        assert_snapshot!(format!("answers_{stage}"), session(&repo, commands));
    }
}

#[test]
fn generated_prompts_of_each_role() {
    for (stage, repo) in stages() {
        if stage == "done" {
            continue;
        }
        let prompt = repo.cook(&["next", "--prompt"]).ok();
        assert_snapshot!(format!("prompt_{stage}"), repo.redact(&prompt.out));
    }
}

#[test]
fn generated_refusals() {
    let nowhere = Repo::directory();
    assert_snapshot!("refusal_not_a_repository", session(&nowhere, &[&["next"]]));
    let born = Repo::with_script();
    assert_snapshot!(
        "refusal_not_set_up",
        session(
            &born,
            &[&["next"], &["status"], &["verify", "control-plane"]]
        )
    );
    let repo = Repo::with_selection();
    assert_snapshot!(
        "refusal_of_arguments",
        session(
            &repo,
            &[&["nxt"], &["record", "cook"], &["log", "zzz"], &["undo"]]
        )
    );
    let early = repo.record("reviewer", repo.review(true));
    assert_snapshot!("refusal_of_a_report_too_early", show(&repo, &early));
    let nonsense = repo.record("implementer", format!("MISSION ANCHOR: {MISSION}\nDone.\n"));
    assert_snapshot!("refusal_of_a_report_without_fields", show(&repo, &nonsense));
}

/// The commands that a help text lists.
fn list_commands(help: &str) -> Vec<String> {
    let listed = help.lines().take_while(|line| *line != "Options:");
    listed
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The help of a command and of those below it.
fn help(repo: &Repo, path: &[String]) -> String {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push("--help");
    let own = repo.cook(&arguments).ok().out;
    let mut text = format!("$ cook {}\n{own}\n", arguments.join(" "));
    for name in list_commands(&own) {
        let below: Vec<String> = path.iter().cloned().chain([name]).collect();
        text += &help(repo, &below);
    }
    text
}

#[test]
fn generated_help_texts() {
    let repo = Repo::directory();
    let top = repo.cook(&["--help"]).ok().out;
    assert_snapshot!("help", top);
    let commands = list_commands(&top);
    assert!(commands.len() > 30, "{commands:?}");
    for name in commands {
        assert_snapshot!(format!("help_{name}"), help(&repo, &[name]));
    }
}
