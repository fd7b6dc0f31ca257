//! Types the commands that an answer names, in a copy of the repository that it was given in: `proofs/hints.sh`.

use super::{Repo, Run, run_alone};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

/// The file that takes what did not work; without it nothing is typed.
const VARIABLE: &str = "COOK_TYPE_HINTS";

/// What was typed already: the command, and the answer that named it.
static TYPED: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());

/// Types each command that this answer names as the next one.
pub fn type_each(repo: &Repo, given: &Run) {
    let Some(file) = std::env::var_os(VARIABLE) else {
        return;
    };
    let why = first_error(given);
    let place = repo.root.to_string_lossy();
    let mut commands = list_commands(given);
    // A whole path leads out of the copy.
    commands.retain(|command| !command.contains(&*place));
    for command in commands {
        let key = (repo.redact(&command), repo.redact(&why));
        if TYPED.lock().unwrap().insert(key)
            && let Some(wrong) = try_out(repo, &command, &why)
        {
            let line = format!("`{}` says `{command}`, which {wrong}\n", given.line);
            let mut kept = std::fs::OpenOptions::new();
            let mut kept = kept.create(true).append(true).open(&file).unwrap();
            kept.write_all(line.as_bytes()).unwrap();
        }
    }
}

/// The commands in lines that say what to do next, without those that have a word to fill in, or start agents.
fn list_commands(given: &Run) -> BTreeSet<String> {
    let text = format!("{}\n{}", given.out, given.err);
    let mut commands = BTreeSet::new();
    for line in text.lines().map(str::trim_start) {
        let starts = [
            "next: ",
            "first run  ",
            "start      ",
            "then       ",
            "then: ",
            "yours to do: ",
        ];
        let Some(rest) = starts.iter().find_map(|start| line.strip_prefix(start)) else {
            continue;
        };
        match rest.starts_with("cook ") || rest.starts_with("git ") {
            true => drop(commands.insert(rest.to_owned())),
            false => commands.extend(rest.split('`').skip(1).step_by(2).map(str::to_owned)),
        }
    }
    commands.retain(|command| {
        let mut words = command.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_open = words.any(|word| !word.is_empty() && word.chars().all(char::is_uppercase));
        let is_known = command.starts_with("cook ") || command.starts_with("git ");
        is_known && !is_open && !command.contains('…') && !command.contains("cook run")
    });
    commands
}

/// What is wrong with it: the shell or cook does not know it, or its answer is the one that named it.
fn try_out(repo: &Repo, command: &str, why: &str) -> Option<String> {
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy");
    let words = ["-a", repo.root.to_str()?, copy.to_str()?];
    run_alone(repo.command("cp").args(words)).ok();
    let type_in = |command: &str| {
        let mut shell = repo.command("timeout");
        let dir = std::path::Path::new(super::COOK).parent().unwrap();
        let line = format!("PATH='{}':$PATH; {command}", dir.display());
        shell.args(["60", "bash", "-c", &line]).current_dir(&copy);
        run_alone(&mut shell)
    };
    let mut run = type_in(command);
    if run.err.contains("[user_only]") {
        let by_script = type_in(&format!("{command} --as-user"));
        // Some commands are a person's alone.
        if by_script.code != 2 {
            run = by_script;
        }
    }
    let said = first_error(&run);
    match run.code {
        2 | 126 | 127 => Some(format!("ends with {}: {said}", run.code)),
        0 => None,
        _ if said == why && !why.is_empty() => Some(format!("leads back to: {said}")),
        _ => None,
    }
}

fn first_error(run: &Run) -> String {
    let line = run.err.lines().find(|line| line.starts_with("error"));
    line.unwrap_or_default().to_owned()
}
