//! Where lines are after changes, and which changes touch them.

use super::file::overlap;
use crate::lines::Hunk;
use std::ops::Range;

/// The changes that touch these lines of the old text.
pub(super) fn list_touching<'h>(changes: &'h [Hunk], lines: &Range<usize>) -> &'h [Hunk] {
    let first = changes.partition_point(|hunk| hunk.old.end <= lines.start);
    let rest = changes.get(first..).unwrap_or_default();
    let count = rest.partition_point(|hunk| overlap(&hunk.old, lines));
    &rest[..count]
}

/// A change touches these lines of the old text.
pub(super) fn touches(changes: &[Hunk], lines: &Range<usize>) -> bool {
    !list_touching(changes, lines).is_empty()
}

/// A change wrote this line of the new text.
pub(super) fn is_new(changes: &[Hunk], at: usize) -> bool {
    let next = changes.partition_point(|hunk| hunk.new.end <= at);
    changes.get(next).is_some_and(|hunk| hunk.new.contains(&at))
}

/// Where lines are that no change touched: what comes before them may have grown or shrunk.
pub(super) fn image(changes: &[Hunk], lines: &Range<usize>) -> Range<usize> {
    let shifted = |at: usize, is_end: bool| {
        let before = changes.partition_point(|hunk| match is_end {
            true => hunk.old.end < at || hunk.old.end == at && !hunk.old.is_empty(),
            false => hunk.old.end <= at,
        });
        // Between two changes the lines of both texts are the same.
        match before.checked_sub(1).map(|last| &changes[last]) {
            Some(last) => (at + last.new.end).saturating_sub(last.old.end),
            None => at,
        }
    };
    let start = shifted(lines.start, false);
    start..shifted(lines.end, true).max(start)
}
