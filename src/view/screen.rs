//! The one place that prints. Answers go to stdout, everything else to stderr.

use super::page::{Exit, Page, Surface, Tone, json_text};
use super::results::{Format, harmless, write_down};
use super::{Answer, Results, to_json};
use crate::prelude::*;
use cook_protocol::diagnostic::PriorRefs;
use std::io::{self, IsTerminal, Write};
use terminal_size::{Height, Width, terminal_size_of};

/// When to use colors; `auto` means on a terminal, unless `NO_COLOR` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// How answers are printed.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether answers are printed as JSON.
    pub json: bool,
    format: Format,
    /// The command that the results name.
    pub command: &'static str,
    /// Whether notes on stderr are suppressed.
    pub quiet: bool,
    /// Whether the causes of errors are printed in full.
    pub verbose: bool,
    out: Surface,
    err: Surface,
    /// Whether stderr is a terminal on which a line can be redrawn, and notes are not suppressed.
    pub redraws: bool,
}

impl Screen {
    /// Sets the screen up, and decides once about colors.
    pub fn new(format: Format, quiet: bool, verbose: bool, color: ColorChoice) -> Self {
        let wanted = |terminal: bool| match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                terminal
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        };
        let columns = |(width, _): (Width, Height)| usize::from(width.0);
        Self {
            json: format == Format::Json,
            format,
            command: "cook",
            quiet,
            verbose,
            out: Surface {
                color: wanted(io::stdout().is_terminal()),
                width: terminal_size_of(io::stdout()).map(columns),
            },
            err: Surface {
                color: wanted(io::stderr().is_terminal()),
                width: terminal_size_of(io::stderr()).map(columns),
            },
            redraws: format == Format::Human
                && !quiet
                && io::stderr().is_terminal()
                && std::env::var_os("TERM").is_some_and(|term| term != "dumb"),
        }
    }

    /// Returns an answer as text for people.
    pub fn text(&self, answer: &dyn Answer) -> String {
        let mut page = Page::new(self.out);
        answer.human(&mut page);
        page.into_text()
    }

    /// Prints an answer and returns the exit code.
    pub fn answer(&self, answer: &dyn Answer) -> Exit {
        let as_json = self.json && answer.has_json();
        let results = answer.results();
        let rendered = results.as_ref().and_then(|it| self.format.render(it));
        let mut page = Page::new(self.out);
        if !as_json {
            answer.human(&mut page);
        }
        let findings = std::mem::take(&mut page.findings);
        let text = match (rendered, as_json) {
            (Some(text), _) => text,
            (None, true) => json_text(&answer.json()),
            (None, false) => page.into_text(),
        };
        let written = match (self.format, &results) {
            (Format::Github, Some(results)) => write_down(results),
            _ => Ok(()),
        };
        if let Err(error) = write_out(&text) {
            // The work is done, but the caller does not know the answer.
            let what = "the answer could not be written";
            return self.failure(&Failure::state(Code::OutputUnwritable, what).with_cause(&error));
        }
        if let Err(failure) = written {
            // The verdict and the findings are already printed above.
            return self.tell(&failure);
        }
        if !self.quiet {
            // Print the findings that are not part of the answer.
            let mut page = Page::new(self.err);
            // Skip findings that the answer on the same terminal contains.
            let mut above = Page::new(Surface::default());
            if self.out.width.is_some() {
                answer.human(&mut above);
            }
            let above = above.into_text();
            for finding in findings {
                if !above.contains(&clean(&finding.message, Lines::Fold)) {
                    finding_line(&mut page, &finding);
                }
            }
            write_err(&page.into_text());
        }
        if let Some(aside) = answer.aside() {
            write_err(&format!("{}\n", show(aside)));
        }
        answer.exit()
    }

    /// Prints a failure and returns the exit code.
    pub fn failure(&self, failure: &Failure) -> Exit {
        if self.json {
            // If stdout cannot be written, stderr and the exit code report the failure.
            let _ = write_out(&json_text(&to_json(&Failed::from(failure))));
        }
        let results = Results::of_failure(self.command, failure);
        if let Some(text) = self.format.render(&results) {
            let _ = write_out(&text);
        }
        if self.format == Format::Github {
            // A failure to write is ignored: the original failure is reported below.
            let _ = write_down(&results);
        }
        self.tell(failure)
    }

    /// Prints a failure to stderr and returns the exit code.
    fn tell(&self, failure: &Failure) -> Exit {
        let mut page = Page::new(self.err);
        page.add_toned(Tone::Bad, "error");
        let message = &failure.message;
        page.line(&format!(
            "[{}]: {}",
            failure.code,
            clean(message, Lines::Fold)
        ));
        let findings = failure.findings.iter();
        findings
            .filter(|finding| finding.message != *message)
            .for_each(|finding| finding_line(&mut page, finding));
        if self.verbose || failure.findings.is_empty() {
            for cause in failure.causes.iter().filter(|cause| *cause != message) {
                page.line(&format!("  because: {}", clean(cause, Lines::Fold)));
            }
        }
        for hint in &failure.hints {
            page.add_toned(Tone::Dim, "  next: ");
            page.line(&clean(hint, Lines::Fold));
        }
        if let Some(prior) = &failure.prior {
            let line = refs_line(prior.episode.as_deref(), prior.series.as_deref());
            line.iter().for_each(|line| page.line(line));
        }
        match self.format {
            Format::Github => write_err(&harmless(&page.into_text())),
            _ => write_err(&page.into_text()),
        }
        match failure.code {
            Code::Interrupted => Exit::Interrupted,
            _ => Exit::from(failure.kind),
        }
    }

    /// Like [`Self::note`], with a tone.
    pub fn note_toned(&self, tone: Tone, text: &str) {
        if !self.quiet {
            let mut page = Page::new(self.err);
            for line in clean(text, Lines::Keep).split('\n') {
                page.add_toned_line(tone, line);
            }
            write_err(&page.into_text());
        }
    }

    /// Prints the terminal output of the live line of `cook run` unchanged.
    pub fn draw(&self, sent: &str) {
        if self.redraws {
            write_err(sent);
        }
    }

    /// Asks the person at the terminal; without a terminal the answer is no.
    pub fn agrees(&self, question: &str) -> bool {
        if !io::stdin().is_terminal() || self.json {
            return false;
        }
        question.lines().for_each(|line| self.note(line));
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
    }

    /// Prints a line for the person at the terminal.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            let mut page = Page::new(self.err);
            page.line(text);
            write_err(&page.into_text());
        }
    }
}

/// Shows a finding to a person.
pub(crate) fn finding_line(page: &mut Page, finding: &Finding) {
    let (tone, word) = match finding.severity() {
        Severity::Error => (Tone::Bad, "error"),
        Severity::NeedsReground => (Tone::Warn, "needs re-ground"),
        Severity::Warning => (Tone::Warn, "warning"),
        Severity::Note => (Tone::Dim, "note"),
    };
    page.text("  ");
    page.add_toned(tone, word);
    let place = finding.place.as_deref().unwrap_or_default();
    // Leave out the place if the message already contains it, even in other spelling.
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
    let is_said = || plain(&finding.message).contains(&plain(place));
    let place = match place.is_empty() || is_said() {
        true => String::new(),
        false => format!("{place}: "),
    };
    let said = clean(&format!("{place}{}", finding.message), Lines::Fold);
    page.line(&format!(" [{}] {said}", finding.code));
}

/// The refs of a call on one line, if there are any.
pub(crate) fn refs_line(episode: Option<&str>, series: Option<&str>) -> Option<String> {
    let episode = episode.map(|name| format!("episode {name}"));
    let series = series.map(|name| format!("series {name}"));
    let words: Vec<String> = episode.into_iter().chain(series).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Makes text of others safe for a line on stderr.
fn show(text: &str) -> String {
    without_tags(&clean(text, Lines::Fold))
}

/// The `--json` answer of a command that failed.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Failed<'a> {
    error: Wrong<'a>,
}

/// The failure of a command.
#[derive(Serialize, schemars::JsonSchema)]
struct Wrong<'a> {
    code: Code,
    /// Place of the first finding: the path of a field, a file or a slice; null if there is none.
    path: Option<&'a str>,
    message: &'a str,
    findings: &'a [Finding],
    causes: &'a [String],
    /// The first hint; null if there is none.
    hint: Option<&'a str>,
    /// Next commands, exactly as they can be run.
    hints: &'a [String],
    /// For a failed call of an agent: refs from which the conversation can continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<&'a PriorRefs>,
}

impl<'a> From<&'a Failure> for Failed<'a> {
    fn from(failure: &'a Failure) -> Self {
        let error = Wrong {
            code: failure.code,
            path: failure.path(),
            message: &failure.message,
            findings: &failure.findings,
            causes: &failure.causes,
            hint: failure.hints.first().map(String::as_str),
            hints: &failure.hints,
            prior: failure.prior.as_deref(),
        };
        Self { error }
    }
}

/// Writes a line of a protocol that uses all of stdout. A closed reader is an error, because nobody needs further
/// lines.
pub(crate) fn write_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A closed reader is not an error.
fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

fn write_err(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
