//! The same ways under `cook run`, with an agent whose implementer plays one and whose other roles say yes.

use crate::cheats::ways::{HONEST, Held, Way};
use crate::cheats::{
    accepts, begin, clone_passes, each, has_sandbox, is_done, is_whole, judge, list_asked, place,
    set,
};
use crate::support::Repo;

/// Sessions that a run may take; honest work needs eight.
const STEPS: &str = "12";
/// Of so many ways the short form drives one.
const EVERY: usize = 48;

/// Settings with the agent in every role. It has a directory of its own, and a second attempt: what it may not
/// do costs it the first.
pub fn with_agent(settings: &str) -> String {
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cheats/agent.sh");
    format!(
        "{settings}[limits]\nattempts_per_slice = 2\n[roles.default]\nagent = \"player\"\ntimeout = \"60s\"\n\
         [agents.player]\nbin = {agent:?}\nstart = []\nevents = \"text\"\nwrites = [\"~/.player\"]\n"
    )
}

/// Runs the work to its end with an agent that plays that.
fn drive(way: &Way, sandbox: &str) -> (Repo, String) {
    let repo = begin(sandbox, place(way));
    repo.outside();
    std::fs::create_dir_all(repo.beside("home/.player")).unwrap();
    set(
        &repo,
        "GIT_CONFIG_GLOBAL",
        &repo.beside("home/.gitconfig").display().to_string(),
    );
    set(
        &repo,
        "WAY",
        &format!("{}{}", crate::cheats::PRELUDE, way.script),
    );
    set(&repo, "ACCEPTS", &accepts().to_string());
    let refused = repo.cook(&["run", "--steps", "0"]);
    if let Some(words) = refused.err.split("cook trust '").nth(1) {
        let words = words.split('\'').next().unwrap_or_default();
        repo.cook(&["trust", words, "--as-user"]).exits(0);
    }
    let run = repo.cook(&["run", "--yes", "--steps", STEPS]);
    let end = run.err + &run.out;
    let last = end.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or_default().to_owned();
    match std::env::var_os("COOK_CHEAT") {
        Some(_) => (repo, end),
        None => (repo, last),
    }
}

#[test]
fn no_driven_way_to_done_leaves_a_clone_that_fails() {
    let kept = has_sandbox();
    let mut runs = Vec::new();
    for (number, way) in list_asked().into_iter().enumerate() {
        for (which, sandbox) in ["auto", "off"].into_iter().enumerate() {
            let held = match way.held {
                Held::Everywhere | Held::ByRun => true,
                Held::BySandbox | Held::BySandboxedRun => kept && sandbox == "auto",
            };
            if held && (is_whole() || number % EVERY == 0 && number / EVERY % 2 == which) {
                runs.push((way, sandbox));
            }
        }
    }
    let wrong = each(&runs, |(way, sandbox)| {
        let (repo, end) = drive(way, sandbox);
        judge(&repo, way, &end, &format!("driven, sandbox {sandbox}"))
    });
    println!("{} runs", runs.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn honest_work_is_driven_to_done() {
    let forms: Vec<(&Way, &str)> = HONEST
        .iter()
        .enumerate()
        .flat_map(|(number, way)| {
            ["auto", "off"]
                .into_iter()
                .enumerate()
                .filter(move |(which, _)| is_whole() || number == *which)
                .map(move |(_, sandbox)| (way, sandbox))
        })
        .collect();
    let wrong = each(&forms, |(way, sandbox)| {
        let (repo, end) = drive(way, sandbox);
        match is_done(&repo) && clone_passes(&repo) {
            true => Ok(()),
            false => Err(format!("{}, sandbox {sandbox}: {end}", way.name)),
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
