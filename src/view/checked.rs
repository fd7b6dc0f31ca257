//! `cook check`: what is not true of a commit, worst first.

use super::{Exit, Page, Show, Tone};
use crate::check::{Checked, Line};
use cook_core::diagnostic::{Lines, clean};
use serde::Serialize;

/// What `cook check` found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct CommitCheckAnswer {
    passed: bool,
    /// The commit that was checked.
    head: String,
    /// The commit that it was compared with.
    base: String,
    /// Why with that one.
    base_is: String,
    /// What was found, worst first.
    lines: Vec<Line>,
    /// What was looked at, one line each.
    checked: Vec<String>,
}

impl From<Checked> for CommitCheckAnswer {
    fn from(checked: Checked) -> Self {
        Self {
            passed: checked.passed(),
            head: checked.head,
            base: checked.base.commit,
            base_is: checked.base.why,
            lines: checked.lines,
            checked: checked.checked,
        }
    }
}

impl Show for CommitCheckAnswer {
    fn human(&self, page: &mut Page) {
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        let (tone, word) = match (self.passed, self.lines.is_empty()) {
            (false, _) => (Tone::Bad, "false"),
            (true, false) => (Tone::Good, "true, with a remark"),
            (true, true) => (Tone::Good, "true"),
        };
        page.toned(tone, word);
        let base_is = clean(&self.base_is, Lines::Fold);
        page.line(&format!(
            "  {} against {} ({base_is})",
            short(&self.head),
            short(&self.base)
        ));
        for line in &self.lines {
            let (tone, word) = match line.fails {
                true => (Tone::Bad, "false"),
                false => (Tone::Warn, "look"),
            };
            page.text("  ");
            page.toned(tone, &format!("{word:<5}"));
            page.line(&format!(
                " [{}] {}",
                line.code,
                clean(&line.message, Lines::Fold)
            ));
            page.toned(Tone::Dim, "        next: ");
            page.line(&clean(&line.show, Lines::Fold));
        }
        for line in &self.checked {
            page.toned_line(Tone::Dim, &format!("  {}", clean(line, Lines::Fold)));
        }
    }

    fn exit(&self) -> Exit {
        match self.passed {
            true => Exit::Ok,
            false => Exit::CheckFailed,
        }
    }
}
