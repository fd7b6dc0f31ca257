//! The recovery message: what a session needs after its context was lost. Pure.
//!
//! Invariants: at most [`MAX_BYTES`] bytes of valid UTF-8 whatever goes in; the
//! item's id, the newest checkpoint, the role and its command are always in it;
//! text from outside is one line each, without control characters, inside a fence
//! or a code span, and cannot open a heading, a fence or a tag.

use cook_protocol::diagnostic::{Lines, begin, clean, count_noun};
use serde::Serialize;

/// The whole message.
pub const MAX_BYTES: usize = 2048;
/// Checkpoints that are shown.
pub const CHECKPOINTS: usize = 5;
/// Uncommitted paths that are shown.
pub const PATHS: usize = 15;

/// Ready issues that are shown.
const READY: usize = 3;

/// Bytes that a piece may always have; together they stay below [`MAX_BYTES`].
const ID: usize = 120;
const NEWEST: usize = 320;
const ROLE: usize = 160;
const COMMAND: usize = 320;

/// What the session works on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, schemars::JsonSchema)]
pub struct Item {
    /// Slice or issue id.
    pub id: String,
    /// What it is for.
    pub title: String,
    /// Where it stands.
    pub status: String,
    /// `slice`, or the tracker's type.
    #[serde(rename = "type")]
    pub kind: String,
    /// As its owner writes it.
    pub priority: String,
    /// What it is a part of: id and title.
    pub parent: Option<String>,
    /// What waits for it: id and title.
    pub unblocks: Vec<String>,
    /// Others that are in progress.
    pub others: usize,
    /// The tracker has it; otherwise it is a slice of the plan.
    #[serde(skip)]
    pub is_issue: bool,
}

/// What goes in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// The rules, one line each, most important first.
    pub rules: Vec<String>,
    /// What the session works on, if anything.
    pub item: Option<Item>,
    /// Checkpoints, oldest first: how long ago, and text.
    pub checkpoints: Vec<(String, String)>,
    /// Paths that `git status` names.
    pub uncommitted: Vec<String>,
    /// How many more of them there are.
    pub uncommitted_more: u64,
    /// Who is due and what they do.
    pub role: String,
    /// The exact command.
    pub command: String,
    /// What could be worked on in the tracker: id and title.
    pub ready: Vec<String>,
    /// What could not be asked, one line each.
    pub notes: Vec<String>,
}

/// How much of each part is shown.
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
    /// The message. Over budget, these go in this order: the ready list, the last rules, unblocked
    /// items beyond three, paths beyond five, the oldest checkpoints, long titles
    /// (and after them what is left of the lists).
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
    /// Gives up the next thing; false when nothing is left to give up.
    fn shrink(&mut self) -> bool {
        /// A part, how much of it stays, and how much goes at once.
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

/// The first entries of a list, each written so, as far as there is room.
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

/// How many there are beside what is shown.
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

/// Text from outside: one line of at most `cap` bytes that opens nothing.
pub fn data(text: &str, cap: usize) -> String {
    let line = clean(text, Lines::Fold)
        .replace('<', "‹")
        .replace('>', "›")
        .replace("```", "'''")
        .replace("~~~", "---");
    let line = line.trim_start_matches('#').trim_start();
    shorten(line, cap)
}

/// The same among words of cook's own: in a code span that nothing in it ends.
fn quote_span(text: &str, cap: usize) -> String {
    match data(text, cap).replace('`', "'") {
        text if text.is_empty() => text,
        text => format!("`{text}`"),
    }
}

/// At most `cap` bytes, cut at a character and marked.
pub fn shorten(text: &str, cap: usize) -> String {
    match text.len() <= cap {
        true => text.to_owned(),
        false => format!("{}…", begin(text, cap.saturating_sub("…".len()))),
    }
}

/// A span of time in one short word.
pub fn ago(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..=59 => format!("{s}s ago"),
        s @ 60..=3_599 => format!("{}m ago", s / 60),
        s @ 3_600..=172_799 => format!("{}h ago", s / 3_600),
        s => format!("{}d ago", s / 86_400),
    }
}
