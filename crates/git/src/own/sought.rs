//! Lines of a file that are looked for.

use super::file::Text;
use super::moved::Index;
use super::outcome::Comparison;
use cook_core::diagnostic::Failure;
use cook_core::model::TextOutcome;
use std::cell::OnceCell;
use std::ops::Range;

/// Some lines of a piece, what became of them, and where they are.
pub(super) type Part = (Range<usize>, TextOutcome, (String, Range<usize>));

/// A file whose lines are looked for.
pub(super) struct Sought<'s> {
    pub(super) path: &'s str,
    pub(super) then: &'s [&'s [u8]],
    pub(super) now: Option<(&'s Text, &'s Comparison<'s>)>,
    pub(super) here: OnceCell<Index>,
}

impl Sought<'_> {
    /// Its new lines now.
    pub(super) fn here(&self) -> Result<&Index, Failure> {
        if let Some(here) = self.here.get() {
            return Ok(here);
        }
        let mut here = Index::default();
        if let Some((now, compared)) = self.now {
            let (now, mut is_new) = (now.lines(), Vec::new());
            for at in 0..now.len() {
                is_new.push(compared.is_new(at)?);
            }
            here.add(&now, |at| is_new[at]);
        }
        Ok(self.here.get_or_init(|| here))
    }
}

/// Those of the lines that are in none of the runs, which are in order.
pub(super) fn list_left<'r>(
    lines: &Range<usize>,
    runs: impl Iterator<Item = &'r Range<usize>>,
) -> Vec<usize> {
    let left = list_runs_left(lines, runs.cloned());
    left.into_iter().flatten().collect()
}

/// The same as runs.
pub(super) fn list_runs_left(
    lines: &Range<usize>,
    runs: impl Iterator<Item = Range<usize>>,
) -> Vec<Range<usize>> {
    let (mut at, mut left) = (lines.start, Vec::new());
    for run in runs {
        left.push(at..run.start);
        at = at.max(run.end);
    }
    left.push(at..lines.end);
    left.retain(|run| !run.is_empty());
    left
}
