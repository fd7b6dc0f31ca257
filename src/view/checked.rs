//! `cook check`: what is not true of a commit, worst first.

use super::{Exit, Page, Results, Show, Tone};
use crate::check::{ChangedPath, Checked, Line, Truth};
use cook_core::diagnostic::{Lines, clean};
use cook_trials::Weight;
use serde::Serialize;

/// What `cook check` found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct CommitCheckAnswer {
    /// The answer.
    answer: Truth,
    /// The commit that was checked.
    head: String,
    /// The commit that it was compared with.
    base: String,
    /// Why with that one.
    base_is: String,
    /// What was found, worst first.
    lines: Vec<Line>,
    /// The paths that differ, and on which side of a trial each stands.
    changed: Vec<ChangedPath>,
    /// What was looked at, one line each.
    checked: Vec<String>,
}

impl From<Checked> for CommitCheckAnswer {
    fn from(checked: Checked) -> Self {
        Self {
            answer: checked.truth(),
            head: checked.head,
            base: checked.base.commit,
            base_is: checked.base.why,
            lines: checked.lines,
            changed: checked.changed,
            checked: checked.checked,
        }
    }
}

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
        page.line(&format!(
            " [{}] {}",
            line.code,
            clean(&line.message, Lines::Fold)
        ));
        page.add_toned(Tone::Dim, "        next: ");
        page.line(&clean(&line.show, Lines::Fold));
        if let Some(declare) = &line.declare {
            page.add_toned(Tone::Dim, "        or declare it in a commit's message: ");
            page.line(&clean(declare, Lines::Fold));
        }
    }
}

impl Show for CommitCheckAnswer {
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
            page.add_toned_line(Tone::Dim, &format!("  {}", clean(line, Lines::Fold)));
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

impl CommitCheckAnswer {
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
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        let base_is = clean(&self.base_is, Lines::Fold);
        let (head, base) = (short(&self.head), short(&self.base));
        format!("{head} against {base} ({base_is})")
    }
}
