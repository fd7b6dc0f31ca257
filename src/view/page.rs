//! Text on its way to a terminal: whatever comes from a repository is cleaned,
//! colour is added here and nowhere else. And the exit codes.

use cook_protocol::diagnostic::{FailureKind, Lines, clean, harmless_json, without_tags};
use cook_protocol::model::Policy;
use serde_json::Value;
use std::process::ExitCode;

/// What a piece of text says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Worth a look.
    Warn,
    /// Wrong.
    Bad,
    /// A heading.
    Strong,
    /// Beside the point.
    Dim,
}

/// A page being written.
#[derive(Debug)]
pub struct Page {
    text: String,
    color: bool,
}

impl Page {
    pub(super) fn new(color: bool) -> Self {
        Self {
            text: String::new(),
            color,
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Text without a line end: whoever made it makes no line of its own.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(&show(text));
    }

    /// Somebody's words over several lines, where nothing but them is shown.
    pub fn lines(&mut self, text: &str) {
        self.text.push_str(&without_tags(&clean(text, Lines::Keep)));
        self.newline();
    }

    /// A whole line.
    pub fn line(&mut self, text: &str) {
        self.text(text);
        self.newline();
    }

    /// Ends the line.
    pub fn newline(&mut self) {
        self.text.push('\n');
    }

    /// Text that stands out.
    pub fn add_toned(&mut self, tone: Tone, text: &str) {
        let code = match tone {
            Tone::Good => "32",
            Tone::Warn => "33",
            Tone::Bad => "31",
            Tone::Strong => "1",
            Tone::Dim => "2",
        };
        if self.color {
            self.text.push_str(&format!("\u{1b}[{code}m"));
        }
        self.text.push_str(&show(text));
        if self.color {
            self.text.push_str("\u{1b}[0m");
        }
    }

    /// A line of one tone.
    pub fn add_toned_line(&mut self, tone: Tone, text: &str) {
        self.add_toned(tone, text);
        self.newline();
    }

    /// `label  value`, the label padded.
    pub fn row(&mut self, label: &str, value: &str) {
        self.add_toned(Tone::Dim, &format!("{label:<10} "));
        self.line(&clean(value, Lines::Fold));
    }

    /// A value as JSON over several lines, the same value: what would act on a terminal is
    /// escaped in it.
    pub fn json(&mut self, value: &Value) {
        self.text.push_str(&json_text(value));
    }

    /// The same on one line.
    pub fn json_line(&mut self, value: &Value) {
        self.text.push_str(&harmless_json(&value.to_string()));
        self.newline();
    }

    /// Bytes that are printed as they are: scripts, completions.
    pub fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// What acts on a terminal, or reads as a tag to a model, is taken off, and every line end is a blank.
fn show(text: &str) -> String {
    without_tags(&clean(text, Lines::Keep).replace('\n', " "))
}

/// A value as JSON over several lines, harmless to a terminal.
pub fn json_text(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{}\n", harmless_json(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_no_lines_of_their_own() {
        let mut page = Page::new(false);
        let words = "a\r\nb\n::set-output name=x::y\u{2028}passed\rz";
        page.text(words);
        page.line(words);
        page.add_toned_line(Tone::Good, words);
        page.row("label", words);
        let text = page.into_text();
        assert_eq!(text.lines().count(), 3, "{text:?}");
        assert!(!text.contains('\r') && !text.contains("\n::"), "{text:?}");
    }
}

/// What a command's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, nothing wrong, or a role is to be dispatched.
    Ok = 0,
    /// The check failed.
    CheckFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// State is unreadable, or this is no git repository; of `cook check`: it is not known.
    State = 3,
    /// The event was refused.
    Refused = 4,
    /// An agent failed.
    Supplier = 5,
    /// A budget is spent, or nothing moves any more.
    Spent = 6,
    /// Another process holds the lock or the lease.
    Held = 7,
    /// The user owes an answer.
    AwaitingUser = 10,
    /// Something outside blocks.
    Blocked = 11,
    /// The user paused the work, or a person is to decide on a contract.
    Paused = 12,
    /// It ended where whoever called would not expect it: `--steps` of a run is used up, or
    /// (`cook run --once --from`) the mission is done.
    Ended = 13,
    /// Somebody asked for an end (Ctrl-C, SIGTERM).
    Interrupted = 130,
}

impl Exit {
    /// Of a check.
    pub fn of_check(passed: bool) -> Self {
        match passed {
            true => Exit::Ok,
            false => Exit::CheckFailed,
        }
    }

    /// What `cook next --exit-code` answers for a policy.
    pub fn of_policy(policy: Policy) -> Self {
        match policy {
            Policy::Continue | Policy::Done => Exit::Ok,
            Policy::AwaitUserInput => Exit::AwaitingUser,
            Policy::Blocked => Exit::Blocked,
            Policy::Paused => Exit::Paused,
        }
    }
}

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Check => Exit::CheckFailed,
            FailureKind::Usage => Exit::Usage,
            FailureKind::State => Exit::State,
            FailureKind::Refused => Exit::Refused,
            FailureKind::Supplier => Exit::Supplier,
            FailureKind::Held => Exit::Held,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
