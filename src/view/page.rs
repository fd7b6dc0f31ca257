//! Text on its way to a terminal: whatever comes from a repository is cleaned,
//! colour is added here and nowhere else. And the exit codes.

use crate::prelude::*;
use cook_protocol::diagnostic::harmless_json;
use std::process::ExitCode;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
    /// Where the line in work begins.
    begun: usize,
    surface: Surface,
    /// What is told beside the text.
    pub(super) findings: Vec<Finding>,
}

/// What a page is shown on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Surface {
    pub(super) color: bool,
    /// Columns of a terminal; without one a line is as long as it is.
    pub(super) width: Option<usize>,
}

impl Page {
    pub(super) fn new(surface: Surface) -> Self {
        Self {
            text: String::new(),
            begun: 0,
            surface,
            findings: Vec::new(),
        }
    }

    /// Has findings told beside the text.
    pub fn find(&mut self, findings: &[Finding]) {
        self.findings.extend_from_slice(findings);
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
        self.verbatim(&format!("{}\n", without_tags(&clean(text, Lines::Keep))));
    }

    /// A whole line.
    pub fn line(&mut self, text: &str) {
        self.text(text);
        self.newline();
    }

    /// Ends the line.
    pub fn newline(&mut self) {
        if let Some(width) = self.surface.width {
            let line = self.text.split_off(self.begun);
            self.text.push_str(&wrap(&line, width));
        }
        self.verbatim("\n");
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
        if self.surface.color {
            self.text.push_str(&format!("\u{1b}[{code}m"));
        }
        self.text.push_str(&show(text));
        if self.surface.color {
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

    /// The same where there is a value.
    pub fn row_of(&mut self, label: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.row(label, value);
        }
    }

    /// A line for each, behind its lead.
    pub fn list(&mut self, lead: &str, lines: &[impl std::fmt::Display]) {
        for line in lines {
            self.line(&format!("{lead}{line}"));
        }
    }

    /// The same of a command, which stays on one line for whoever copies it.
    pub fn command_row(&mut self, label: &str, command: &str) {
        self.add_toned(Tone::Dim, &format!("{label:<10} "));
        self.lines(&clean(command, Lines::Fold));
    }

    /// A value as JSON over several lines, the same value: what would act on a terminal is
    /// escaped in it.
    pub fn json(&mut self, value: &Value) {
        self.verbatim(&json_text(value));
    }

    /// The same on one line.
    pub fn json_line(&mut self, value: &Value) {
        self.verbatim(&format!("{}\n", harmless_json(&value.to_string())));
    }

    /// Text over several lines that holds nothing hidden, as it is but for the width of the terminal.
    pub fn wrap_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push_str(line);
            self.newline();
        }
    }

    /// Bytes that are printed as they are: scripts, completions.
    pub fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
        self.begun = self.text.len();
    }
}

/// A line broken at blanks, the rest of it below where its first column or its words begin. What stands in
/// back-quotes is to be copied, and is not broken where it fits a line.
fn wrap(line: &str, width: usize) -> String {
    let hang = measure_hang(line).min(width * 2 / 5);
    let mut wrapped = String::new();
    let (mut column, mut blanks, mut rest) = (0, 0, line);
    while !rest.is_empty() {
        let word = first_word(rest, width - hang);
        rest = &rest[word.len()..];
        let length = measure(word);
        // What stands behind a label goes below only where that is of use.
        let goes_below = column > hang || column > 0 && hang + length <= width;
        if goes_below && length > 0 && column + blanks + length > width {
            wrapped.push('\n');
            (column, blanks) = (0, hang);
        }
        wrapped.extend(std::iter::repeat_n(' ', blanks));
        wrapped.push_str(word);
        column += blanks + length;
        let after = rest.trim_start_matches(' ');
        blanks = rest.len() - after.len();
        rest = after;
    }
    wrapped
}

/// Up to the first blank, or behind the first sign of two columns (such scripts have no blanks), that stands in no
/// back-quotes that fit into so many columns.
fn first_word(text: &str, most: usize) -> &str {
    let is_wide = |c: char| c.width() == Some(2);
    let mut end = 0;
    while let Some((at, found)) = text[end..]
        .char_indices()
        .map(|(at, found)| (end + at, found))
        .find(|(_, found)| matches!(found, ' ' | '`') || is_wide(*found))
    {
        if found == ' ' {
            return &text[..at];
        }
        if found != '`' {
            return &text[..end_of_sign(text, at)];
        }
        let closed = text[at + 1..].find('`').map(|close| at + close + 2);
        end = match closed.filter(|close| measure(&text[at..*close]) <= most) {
            Some(close) => close,
            None => at + 1,
        };
    }
    text
}

/// Where a sign ends that begins there, with the marks on it and those that it is joined to.
fn end_of_sign(text: &str, at: usize) -> usize {
    const JOINER: char = '\u{200d}';
    let mut chars = text[at..].char_indices().skip(1);
    let mut is_joined = false;
    let next = chars.find(|(_, c)| {
        let goes_on = is_joined || c.width() == Some(0);
        is_joined = *c == JOINER;
        !goes_on
    });
    next.map_or(text.len(), |(end, _)| at + end)
}

/// Columns of a text, without what colours it.
fn measure(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let plain = parts.next().map_or(0, UnicodeWidthStr::width);
    let toned = parts.filter_map(|part| part.split_once('m'));
    plain + toned.map(|(_, shown)| shown.width()).sum::<usize>()
}

/// Where a line goes on: below its second column, or two further in than it begins.
fn measure_hang(line: &str) -> usize {
    let body = line.trim_start_matches(' ');
    let indent = line.len() - body.len();
    match body.split_once("  ") {
        Some((label, rest)) if measure(label) < 24 => {
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            indent + measure(label) + 2 + blanks
        }
        _ => indent + 2,
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

    /// A line goes on below its words; what is to be copied is whole; colour takes no room.
    #[test]
    fn lines_are_broken_at_words_by_the_width_of_a_terminal() {
        let surface = Surface {
            color: true,
            width: Some(40),
        };
        let mut page = Page::new(surface);
        page.row(
            "because",
            "a re-ground is due: `cook init` took in the plan of it",
        );
        page.line("  planned     one — the first of the two that there are");
        page.line("error[x]: `a long command in back-quotes that fits no line` failed");
        page.command_row(
            "first run",
            "cook trust 'bash .agent/verify_completion_stop.sh'",
        );
        let told = page.into_text();
        let expected = "\u{1b}[2mbecause    \u{1b}[0ma re-ground is due:
           `cook init` took in the plan
           of it
  planned     one — the first of the two
              that there are
error[x]: `a long command in back-quotes
  that fits no line` failed
\u{1b}[2mfirst run  \u{1b}[0mcook trust 'bash .agent/verify_completion_stop.sh'
";
        assert_eq!(told, expected);
        for width in 0..40 {
            let words = wrap("  a `b c` d\u{1b}[2me\u{1b}[0m `f", width);
            let plain = words.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(plain, "a `b c` d\u{1b}[2me\u{1b}[0m `f", "{width}");
        }
    }

    /// Signs of two columns count as two, and a script without blanks is broken between its signs.
    #[test]
    fn wide_signs_take_two_columns() {
        let family = "👨\u{200d}👩\u{200d}👧";
        for (line, expected) in [
            (
                "goal  日本語の文字列を変換する",
                "goal  日本語の文字列\n      を変換する",
            ),
            ("見る `cook status` 次", "見る `cook status`\n  次"),
            (
                &format!("ab {family}{family} cd ef gh ij kl mn"),
                &format!("ab {family}{family} cd ef gh\n  ij kl mn"),
            ),
            (
                "e\u{301}e\u{301}e\u{301}e\u{301} one two thr fo fi",
                "e\u{301}e\u{301}e\u{301}e\u{301} one two thr\n  fo fi",
            ),
        ] {
            let told = wrap(line, 18 + 2 * usize::from(line.starts_with("goal")));
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn words_make_no_lines_of_their_own() {
        let mut page = Page::new(Surface::default());
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
        if passed { Exit::Ok } else { Exit::CheckFailed }
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
