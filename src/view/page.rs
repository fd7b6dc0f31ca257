//! Text for a terminal. Only this module cleans text from a repository and adds color. Also defines the exit codes.

use crate::prelude::*;
use cook_protocol::diagnostic::harmless_json;
use std::process::ExitCode;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The emphasis of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Correct or passed.
    Good,
    /// Needs attention.
    Warn,
    /// Wrong or failed.
    Bad,
    /// A heading.
    Strong,
    /// Less important.
    Dim,
}

/// A page that is being written.
#[derive(Debug)]
pub struct Page {
    text: String,
    /// The start of the current line.
    begun: usize,
    surface: Surface,
    /// Findings that are printed separately.
    pub(super) findings: Vec<Finding>,
}

/// The properties of the output on which a page is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Surface {
    pub(super) color: bool,
    /// The columns of a terminal; `None` if lines are not wrapped.
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

    /// Adds findings that are printed separately.
    pub fn find(&mut self, findings: &[Finding]) {
        self.findings.extend_from_slice(findings);
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds text within a line; line ends in it become blanks.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(&show(text));
    }

    /// Adds text of others with several lines, which stands alone.
    pub fn lines(&mut self, text: &str) {
        self.verbatim(&format!("{}\n", without_tags(&clean(text, Lines::Keep))));
    }

    /// Adds a whole line.
    pub fn line(&mut self, text: &str) {
        self.text(text);
        self.newline();
    }

    /// Ends the line and wraps it.
    pub fn newline(&mut self) {
        if let Some(width) = self.surface.width {
            let line = self.text.split_off(self.begun);
            self.text.push_str(&wrap(&line, width));
        }
        self.verbatim("\n");
    }

    /// Adds text with a tone.
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

    /// Adds a line with one tone.
    pub fn add_toned_line(&mut self, tone: Tone, text: &str) {
        self.add_toned(tone, text);
        self.newline();
    }

    /// Adds `label  value` with the label padded.
    pub fn row(&mut self, label: &str, value: &str) {
        self.add_toned(Tone::Dim, &format!("{label:<10} "));
        self.line(&clean(value, Lines::Fold));
    }

    /// Adds a row if there is a value.
    pub fn row_of(&mut self, label: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.row(label, value);
        }
    }

    /// Adds a line for each item, with `lead` before it.
    pub fn list(&mut self, lead: &str, lines: &[impl std::fmt::Display]) {
        for line in lines {
            self.line(&format!("{lead}{line}"));
        }
    }

    /// Adds a row with a command, which is not wrapped, so that it can be copied.
    pub fn command_row(&mut self, label: &str, command: &str) {
        self.add_toned(Tone::Dim, &format!("{label:<10} "));
        self.lines(&clean(command, Lines::Fold));
    }

    /// Adds a value as JSON over several lines; characters that control a terminal are escaped.
    pub fn json(&mut self, value: &Value) {
        self.verbatim(&json_text(value));
    }

    /// Adds a value as JSON on one line.
    pub fn json_line(&mut self, value: &Value) {
        self.verbatim(&format!("{}\n", harmless_json(&value.to_string())));
    }

    /// Adds lines that are safe to print already, wrapped to the terminal's width.
    pub fn wrap_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push_str(line);
            self.newline();
        }
    }

    /// Adds text unchanged, such as scripts and completions.
    pub fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
        self.begun = self.text.len();
    }
}

/// Breaks a line at blanks and indents the rest to the line's second column, or by two. Text in backquotes is for
/// copying, so it is not broken if it fits on a line.
fn wrap(line: &str, width: usize) -> String {
    let hang = measure_hang(line).min(width * 2 / 5);
    let mut wrapped = String::new();
    let (mut column, mut blanks, mut rest) = (0, 0, line);
    while !rest.is_empty() {
        let word = first_word(rest, width - hang);
        rest = &rest[word.len()..];
        let length = measure(word);
        // The first word after a label goes to the next line only if it fits there.
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

/// Returns the text up to the first blank, or through the first wide character, because scripts with wide characters
/// use no blanks. Text in backquotes is not split if it fits in `most` columns.
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

/// The end of the character at `at`, with its combining marks and joined characters.
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

/// The columns of a text, without color codes.
fn measure(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let plain = parts.next().map_or(0, UnicodeWidthStr::width);
    let toned = parts.filter_map(|part| part.split_once('m'));
    plain + toned.map(|(_, shown)| shown.width()).sum::<usize>()
}

/// The indentation of a wrapped line: that of its second column, or two more than the line's own.
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

/// Removes characters that control a terminal and tags that a model could read, and turns line ends into blanks.
fn show(text: &str) -> String {
    without_tags(&clean(text, Lines::Keep).replace('\n', " "))
}

/// Formats a value as JSON over several lines that is safe for a terminal.
pub fn json_text(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{}\n", harmless_json(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wrapped lines are indented, text for copying stays whole, and color takes no columns.
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

    /// Wide characters count as two columns, and text in scripts without blanks is broken between characters.
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

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The work succeeded, nothing is wrong, or a role is due.
    Ok = 0,
    /// The check failed.
    CheckFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The state cannot be read, or there is no git repository; for `cook check`: the answer is unknown.
    State = 3,
    /// The event was refused.
    Refused = 4,
    /// An agent failed.
    Supplier = 5,
    /// A budget is used up, or the work makes no more progress.
    Spent = 6,
    /// Another process holds the lock or the lease.
    Held = 7,
    /// The user must answer a question.
    AwaitingUser = 10,
    /// An external obstacle blocks the work.
    Blocked = 11,
    /// The user paused the work, or a person must decide on a contract.
    Paused = 12,
    /// The command ended early for its caller: the `--steps` of a run are used up, or (`cook run --once --from`) the
    /// mission is done.
    Ended = 13,
    /// The user or the system interrupted the command (Ctrl-C, SIGTERM).
    Interrupted = 130,
}

impl Exit {
    /// The exit code of a check.
    pub fn of_check(passed: bool) -> Self {
        if passed { Exit::Ok } else { Exit::CheckFailed }
    }

    /// The exit code of `cook next --exit-code` for a policy.
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
