//! `cook check`: what is not true of a commit, worst first.

use super::{Exit, Page, Results, Show, Tone};
use crate::check::{Checked, Line, Truth};
use cook_core::machine::short;
use cook_trials::Weight;

/// A line for each thing that was found, with what there is to do.
pub(crate) fn show_lines(page: &mut Page, lines: &[Line]) {
    for line in lines {
        let (tone, word) = match line.weight {
            Weight::Refuses => (Tone::Bad, "false"),
            Weight::NotKnown => (Tone::Warn, "open"),
            Weight::Shown => (Tone::Warn, "look"),
        };
        page.text("  ");
        page.add_toned(tone, &format!("{word:<5}"));
        page.line(&format!(" [{}] {}", line.code, line.message));
        page.add_toned(Tone::Dim, "        next: ");
        page.line(&line.show);
        if let Some(declare) = &line.declare {
            page.add_toned(Tone::Dim, "        or declare it in a commit's message: ");
            page.line(declare);
        }
    }
}

impl Show for Checked {
    fn human(&self, page: &mut Page) {
        let tone = match self.answer {
            Truth::False => Tone::Bad,
            Truth::NotKnown => Tone::Warn,
            Truth::True => Tone::Good,
        };
        page.add_toned(tone, self.word());
        page.line(&format!("  {}", self.describe_compared()));
        show_lines(page, &self.lines);
        for line in &self.checked {
            page.add_toned_line(Tone::Dim, &format!("  {line}"));
        }
    }

    fn results(&self) -> Option<Results> {
        let verdict = format!(
            "is what was claimed true of this commit? {}: {}",
            self.word(),
            self.describe_compared()
        );
        let mut results = Results::new("cook check", self.answer == Truth::True, &verdict);
        results.head = Some(self.head.clone());
        self.lines.iter().for_each(|line| results.add_line(line));
        results.note_looked_at(&self.checked);
        Some(results)
    }

    fn exit(&self) -> Exit {
        match self.answer {
            Truth::True => Exit::Ok,
            Truth::False => Exit::CheckFailed,
            Truth::NotKnown => Exit::State,
        }
    }
}

impl Checked {
    fn word(&self) -> &'static str {
        match (self.answer, self.lines.is_empty()) {
            (Truth::False, _) => "false",
            (Truth::NotKnown, _) => "not known",
            (Truth::True, false) => "true, with a remark",
            (Truth::True, true) => "true",
        }
    }

    /// Which commit, and with which it was compared.
    fn describe_compared(&self) -> String {
        let (head, base) = (short(&self.head), short(&self.base.commit));
        format!("{head} against {base} ({})", self.base.why)
    }
}
