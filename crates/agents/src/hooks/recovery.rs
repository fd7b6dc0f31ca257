//! The recovery message: what a session must know after its context was lost. Pure.
//!
//! Invariants: it has at most [`MAX_BYTES`] bytes of valid UTF-8, whatever the input is; it always contains the item's
//! id, the newest checkpoint, the role and its command; text from outside is one line per entry, without control
//! characters, inside a fence or a code span, and cannot open a heading, a fence or a tag.

use cook_protocol::diagnostic::{Lines, begin, clean, count_noun};
use serde::Serialize;

/// The maximum size of the message in bytes.
pub const MAX_BYTES: usize = 2048;
/// The maximum number of checkpoints shown.
pub const CHECKPOINTS: usize = 5;
/// The maximum number of uncommitted paths shown.
pub const PATHS: usize = 15;

/// The maximum number of ready issues shown.
const READY: usize = 3;

/// The sizes in bytes that are always available to these parts; their sum is below [`MAX_BYTES`].
const ID: usize = 120;
const NEWEST: usize = 320;
const ROLE: usize = 160;
const COMMAND: usize = 320;

/// The slice or issue that the session works on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, schemars::JsonSchema)]
pub struct Item {
    /// ID of the slice or issue.
    pub id: String,
    /// Goal of the slice, or title of the issue.
    pub title: String,
    /// Status of the slice or issue.
    pub status: String,
    /// `slice`, or the type of the issue in the tracker.
    #[serde(rename = "type")]
    pub kind: String,
    /// Priority: a number for a slice, `P` and a number for an issue, or `none`.
    pub priority: String,
    /// ID and title of the parent issue; null if there is none.
    pub parent: Option<String>,
    /// IDs and titles of the open slices or issues that wait for this one.
    pub unblocks: Vec<String>,
    /// Number of other issues that are in progress.
    pub others: usize,
    /// The tracker has it; otherwise it is a slice of the plan.
    #[serde(skip)]
    pub is_issue: bool,
}

/// The input of the message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// The rules, one line each, most important first.
    pub rules: Vec<String>,
    /// The item that the session works on, if any.
    pub item: Option<Item>,
    /// Checkpoints, oldest first: age and text.
    pub checkpoints: Vec<(String, String)>,
    /// The paths that `git status` lists.
    pub uncommitted: Vec<String>,
    /// The number of further paths.
    pub uncommitted_more: u64,
    /// The role that is due, and its task.
    pub role: String,
    /// The exact command of the role.
    pub command: String,
    /// Issues in the tracker that are ready: id and title.
    pub ready: Vec<String>,
    /// Facts that could not be determined, one line each.
    pub notes: Vec<String>,
}

/// The number of entries of each part, and the length of a line.
#[derive(Debug, Clone, Copy)]
struct Room {
    rules: usize,
    unblocks: usize,
    paths: usize,
    checkpoints: usize,
    line: usize,
    ready: usize,
    notes: usize,
}

impl Recovery {
    /// Renders the message. If it is too long, it is shortened in this order: the ready list, the last rules, unblocked
    /// items beyond three, paths beyond five, the oldest checkpoints, long titles, and finally the rest of the lists.
    pub fn render(&self) -> String {
        let mut room = Room {
            rules: self.rules.len(),
            unblocks: self
                .item
                .as_ref()
                .map_or(0, |item| item.unblocks.len().min(30)),
            paths: self.uncommitted.len().min(PATHS),
            checkpoints: self.checkpoints.len().min(CHECKPOINTS),
            line: NEWEST,
            ready: self.ready.len().min(READY),
            notes: self.notes.len().min(3),
        };
        loop {
            let text = self.with(room);
            if text.len() <= MAX_BYTES || !room.shrink() {
                return text;
            }
        }
    }

    fn with(&self, room: Room) -> String {
        let mut sections = Vec::new();
        if room.rules > 0 {
            let rules = self.rules.iter().take(room.rules);
            let rules: Vec<String> = rules.map(|rule| format!("- {rule}")).collect();
            sections.push(format!("## Core Rules\n{}", rules.join("\n")));
        }
        sections.extend(self.item.as_ref().map(|item| item_section(item, room)));
        sections.extend(self.trail_section(room));
        sections.extend(self.describe_uncommitted(room));
        sections.push(self.next_section(room));
        sections.join("\n\n")
    }

    fn trail_section(&self, room: Room) -> Option<String> {
        let skipped = self.checkpoints.len().saturating_sub(room.checkpoints);
        let shown = &self.checkpoints[skipped..];
        if shown.is_empty() {
            return None;
        }
        let lines: Vec<String> = shown
            .iter()
            .map(|(ago, text)| format!("[{}] {}", data(ago, 24), data(text, room.line.min(NEWEST))))
            .collect();
        Some(fence("Checkpoint Trail", &lines))
    }

    fn describe_uncommitted(&self, room: Room) -> Option<String> {
        if self.uncommitted.is_empty() {
            return None;
        }
        let mut lines = list_some(&self.uncommitted, (room.paths, room), data);
        let rest = (self.uncommitted.len() - lines.len()) as u64 + self.uncommitted_more;
        if rest > 0 {
            let more = if lines.is_empty() { "" } else { " more" };
            lines.push(format!("({}{more})", count_noun(rest, "path")));
        }
        Some(fence("Uncommitted Changes", &lines))
    }

    fn next_section(&self, room: Room) -> String {
        let mut text = format!(
            "## Next\n{}\nRun: {}",
            data(&self.role, ROLE),
            data(&self.command, COMMAND)
        );
        if room.ready > 0 {
            let ready = list_some(&self.ready, (room.ready, room), quote_span);
            text.push_str(&format!("\nReady: {}", ready.join(", ")));
        }
        for note in self.notes.iter().take(room.notes) {
            text.push_str(&format!("\n({})", data(note, 160)));
        }
        text
    }
}

impl Room {
    /// Shortens the next part; false if nothing can be shortened any more.
    fn shrink(&mut self) -> bool {
        /// A part, its minimum, and the amount by which it is shortened in one step.
        type Part = (fn(&mut Room) -> &mut usize, usize, usize);
        const ORDER: [Part; 11] = [
            (|room| &mut room.ready, 0, 1),
            (|room| &mut room.rules, 1, 1),
            (|room| &mut room.unblocks, 3, usize::MAX),
            (|room| &mut room.paths, 5, 1),
            (|room| &mut room.checkpoints, 1, 1),
            (|room| &mut room.line, 120, 40),
            (|room| &mut room.unblocks, 0, 1),
            (|room| &mut room.paths, 0, 1),
            (|room| &mut room.notes, 0, 1),
            (|room| &mut room.rules, 0, usize::MAX),
            (|room| &mut room.line, 40, 40),
        ];
        for (part, least, by) in ORDER {
            let part = part(self);
            if *part > least {
                *part = part.saturating_sub(by).max(least);
                return true;
            }
        }
        false
    }
}

/// Formats the first entries of a list.
fn list_some(
    list: &[String],
    (count, room): (usize, Room),
    write: fn(&str, usize) -> String,
) -> Vec<String> {
    let entries = list.iter().take(count);
    entries
        .map(|entry| write(entry, room.line.min(100)))
        .collect()
}

fn fence(title: &str, lines: &[String]) -> String {
    format!("### {title}\n```text\n{}\n```", lines.join("\n"))
}

/// The number of entries that are not shown.
fn more(count: usize) -> String {
    match count {
        0 => String::new(),
        n => format!(" (+{n})"),
    }
}

fn item_section(item: &Item, room: Room) -> String {
    let mut text = format!(
        "## Resuming: {} — {}{}\nStatus: {} | Type: {} | Priority: {}",
        data(&item.id, ID),
        quote_span(&item.title, room.line.min(200)),
        more(item.others),
        data(&item.status, 40),
        data(&item.kind, 40),
        data(&item.priority, 40)
    );
    if let Some(parent) = &item.parent {
        text.push_str(&format!(
            "\nParent: {}",
            quote_span(parent, room.line.min(160))
        ));
    }
    if room.unblocks > 0 {
        let unblocks = list_some(&item.unblocks, (room.unblocks, room), quote_span);
        let more = more(item.unblocks.len() - unblocks.len());
        text.push_str(&format!("\nUnblocks: {}{more}", unblocks.join(", ")));
    }
    text
}

/// Text from outside: one line of at most `cap` bytes that cannot open a heading, a fence or a tag.
pub fn data(text: &str, cap: usize) -> String {
    let line = clean(text, Lines::Fold)
        .replace('<', "‹")
        .replace('>', "›")
        .replace("```", "'''")
        .replace("~~~", "---");
    let line = line.trim_start_matches('#').trim_start();
    shorten(line, cap)
}

/// The same for use within cook's own text: in a code span that the text cannot close.
fn quote_span(text: &str, cap: usize) -> String {
    match data(text, cap).replace('`', "'") {
        text if text.is_empty() => text,
        text => format!("`{text}`"),
    }
}

/// Truncates a text to at most `cap` bytes at a character boundary, with an ellipsis.
pub fn shorten(text: &str, cap: usize) -> String {
    match text.len() <= cap {
        true => text.to_owned(),
        false => format!("{}…", begin(text, cap.saturating_sub("…".len()))),
    }
}

/// Formats an age in one short word.
pub fn ago(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..=59 => format!("{s}s ago"),
        s @ 60..=3_599 => format!("{}m ago", s / 60),
        s @ 3_600..=172_799 => format!("{}h ago", s / 3_600),
        s => format!("{}d ago", s / 86_400),
    }
}
