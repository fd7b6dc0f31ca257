//! Where the work goes on: who is due, on what the worktree stands, and what the last checkpoint
//! said of it.

use super::material::{CHECKPOINT, Here, LastCheckpoint, Material, SAID_DONE};
use super::render::Weight;
use super::slots::{Slots, short};
use crate::model::{BriefLine, Slot};

/// Dirty paths that are named before the rest is counted.
const NAMED: usize = 8;

pub(super) fn fill_next(material: &Material, slots: &mut Slots) {
    let due = &material.due;
    let first = match &due.command {
        Some(command) => format!(" First run `{command}`."),
        None => String::new(),
    };
    let (action, outcome) = match due.role {
        Some(role) => (
            format!(
                "As the {role}: {}.{first} `cook next --prompt` says how.",
                due.action
            ),
            format!("`cook record {role} FILE` takes the report."),
        ),
        None if material.snapshot.state.project_done && due.command.is_none() => (
            "Nothing: the project is done.".to_owned(),
            "`cook verify --strict` proves it again.".to_owned(),
        ),
        None => (
            format!("{}.{first}", due.action),
            format!("The work goes on; it stands still because {}.", due.reason),
        ),
    };
    slots.add(BriefLine::new(Slot::Next, action, outcome), Weight::Kept);
    let last = material.checkpoint.as_ref();
    let outcome = match last.and_then(|last| last.next.as_ref()) {
        Some(next) => format!("{CHECKPOINT} {next}"),
        None => "No checkpoint says what comes next.".to_owned(),
    };
    let line = BriefLine::new(Slot::Next, stands_on(&material.here), outcome);
    slots.add(line, Weight::Later);
}

fn stands_on(here: &Here) -> String {
    let branch = match &here.branch {
        Some(branch) => format!("branch `{branch}`"),
        None => "no branch".to_owned(),
    };
    let head = match &here.head {
        Some(head) => format!("HEAD `{}`", short(head)),
        None => "no commit yet".to_owned(),
    };
    let named: Vec<String> = here
        .dirty
        .iter()
        .take(NAMED)
        .map(|path| format!("`{path}`"))
        .collect();
    let rest = (here.dirty.len() as u64 + here.more).saturating_sub(named.len() as u64);
    let more = match rest {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let dirty = match named.is_empty() {
        true => "nothing is uncommitted".to_owned(),
        false => format!("uncommitted: {}{more}", named.join(", ")),
    };
    format!("Go on from {branch}, {head}; {dirty}.")
}

/// What a checkpoint says is done is somebody's word until a commit shows it.
pub(super) fn fill_said(last: &LastCheckpoint, slots: &mut Slots) {
    let Some(done) = &last.done else { return };
    let source = format!("the last checkpoint, {}", last.at);
    let line = BriefLine::new(Slot::Learned, format!("{SAID_DONE} {done}"), source);
    slots.add(line, Weight::Learned(u64::MAX));
}

/// What a checkpoint says is done, and what it says is next (`Next: …`, at its end).
pub fn split_checkpoint(text: &str) -> (Option<String>, Option<String>) {
    let said = |text: &str, nothing: &str| {
        let text = text.trim().trim_end_matches(['.', ';']).trim();
        (!text.is_empty() && text != nothing).then(|| text.to_owned())
    };
    let lower = text.to_ascii_lowercase();
    let (before, next) = match lower.rfind("next:") {
        Some(at) => (&text[..at], said(&text[at + "next:".len()..], "not known")),
        None => (text, None),
    };
    let done = match lower[..before.len()].find("done:") {
        Some(at) => &before[at + "done:".len()..],
        None => before,
    };
    // What else cook itself keeps before a compaction is not what was done.
    let done = done.split_once(". Files: ").map_or(done, |(done, _)| done);
    // A commit shows itself, and who is due is said by cook.
    let done: Vec<&str> = done
        .split("; ")
        .filter(|part| !part.trim_start().starts_with("commit "))
        .collect();
    let next = next.filter(|next| !next.starts_with("cook next"));
    (said(&done.join("; "), "nothing committed"), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_says_what_is_done_and_what_is_next() {
        for (text, done, next) in [
            (
                "half the parser; next: the printer",
                "half the parser",
                "the printer",
            ),
            ("Done: a. b\nNext: c.", "a. b", "c"),
            ("only done", "only done", ""),
            ("next: go", "", "go"),
            (
                "Auto-checkpoint (before compaction). Done: nothing committed. Files: x. Turns since the last checkpoint: 2. Next: not known",
                "",
                "",
            ),
            (
                "half of it; commit 1a. Files: a. Next: cook next --prompt",
                "half of it",
                "",
            ),
            (
                "Auto-checkpoint (before compaction). Done: commit 1a; ran `t`. Files: x. Turns since the last checkpoint: 2. Next: mend it",
                "ran `t`",
                "mend it",
            ),
        ] {
            let (found, then) = split_checkpoint(text);
            assert_eq!(found.unwrap_or_default(), done, "{text}");
            assert_eq!(then.unwrap_or_default(), next, "{text}");
        }
    }
}
