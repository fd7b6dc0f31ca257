//! The words cook keeps and says: auto-checkpoints, reminders, warnings, file
//! lists. Pure.

use super::facts::ClosedIssue;
use super::recovery::{data, shorten};
use super::state::{GoOn, SessionState};
use cook_core::model::MAX_CHECKPOINT_TEXT;
use std::collections::BTreeSet;

/// Closed issues that are named.
const CLOSED: usize = 10;
/// Files that a list names before it counts.
const FILES: usize = 30;

/// What a session had done when its context went.
pub(super) fn auto(
    state: &SessionState,
    turns: u64,
    next: Option<&str>,
    command: Option<&str>,
) -> String {
    let mut done: Vec<String> = Vec::new();
    done.extend(state.since.checkpoints.iter().rev().take(3).rev().cloned());
    done.extend(
        state
            .since
            .commits
            .iter()
            .map(|commit| format!("commit {commit}")),
    );
    done.extend(state.since.gates.iter().map(|gate| format!("ran `{gate}`")));
    let done = match done.is_empty() {
        true => "nothing committed".to_owned(),
        false => shorten(&done.join("; "), 1_500),
    };
    let files = match state.since.files.is_empty() {
        true => "none".to_owned(),
        false => shorten(&file_list(&state.since.files), 1_200),
    };
    let next = match (next, command) {
        (Some(line), _) => data(line, 400),
        (None, Some(command)) => data(command, 400),
        (None, None) => "not known".to_owned(),
    };
    let text = format!(
        "Auto-checkpoint (before compaction). Done: {done}. Files: {files}. Turns since the last checkpoint: {turns}. Next: {next}"
    );
    shorten(&text, MAX_CHECKPOINT_TEXT)
}

/// Sorted, the first of them, then a count.
pub(super) fn file_list(files: &BTreeSet<String>) -> String {
    let shown: Vec<String> = files
        .iter()
        .take(FILES)
        .map(|path| data(path, 200))
        .collect();
    let more = match files.len().saturating_sub(FILES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    shorten(
        &format!("{}{more}", shown.join(", ")),
        MAX_CHECKPOINT_TEXT - 100,
    )
}

/// The brief between two lines that mark it, byte for byte as it is printed; where it
/// does not fit, how to get it.
pub(super) fn beside(brief: &str, room: usize) -> String {
    let text = format!("--- cook brief ---\n{brief}\n--- end of the brief ---");
    match text.len() + 2 <= room {
        true => text,
        false => "(The brief is too long to stand here: run `cook brief`)".to_owned(),
    }
}

/// The first line that says something.
pub fn first_line(text: &str) -> Option<String> {
    text.lines()
        .map(|line| data(line, 400))
        .find(|line| !line.is_empty())
}

pub(super) fn nudge(turns: u64) -> String {
    format!(
        "cook: {turns} turns without a checkpoint. Keep what you know now: cook brief checkpoint 'DONE: …; NEXT: …'"
    )
}

pub(super) fn warning(percent: f64) -> String {
    format!(
        "cook: the context is {percent:.0} % full and will be compacted. Keep what must survive: cook brief checkpoint 'DONE: …; NEXT: …'"
    )
}

/// After a close: what became free, and what must still be committed.
pub(super) fn describe_closed(closed: &ClosedIssue, dirty: Option<&[String]>, pending: &mut GoOn) {
    let id = data(&closed.id, 100);
    if pending.closed.len() < CLOSED {
        pending.closed.push(match closed.unblocked.is_empty() {
            true => format!("{id} is closed; it unblocked nothing."),
            false => {
                let shown = closed.unblocked.iter().take(5);
                let shown: Vec<String> = shown.map(|entry| data(entry, 120)).collect();
                format!("{id} is closed; it unblocked {}.", shown.join(", "))
            }
        });
    }
    if dirty.is_some_and(|dirty| !dirty.is_empty()) {
        pending.commit = Some(format!("git commit -am 'Close {id}'"));
    }
}

/// Sends the session on.
pub(super) fn go_on(pending: &GoOn) -> String {
    let mut text = format!(
        "cook: {} Continue with the next ready work: cook issue ready",
        pending.closed.join(" ")
    );
    if let Some(commit) = &pending.commit {
        text.push_str(&format!("\nThe tree is dirty; commit first: {commit}"));
    }
    text
}
