//! Which lines of a text are new against another.

use super::RepoError;
use git2::{DiffOptions, Patch};
use std::ops::RangeInclusive;

/// Line ranges of `new` (from 1) that `old` does not hold in that place.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn changed_lines(old: &[u8], new: &[u8]) -> Result<Vec<RangeInclusive<usize>>, RepoError> {
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    let mut ranges = Vec::new();
    for number in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(number)?;
        let (first, count) = (hunk.new_start() as usize, hunk.new_lines() as usize);
        if count > 0 {
            ranges.push(first..=first + count - 1);
        }
    }
    Ok(ranges)
}

/// The two texts as a unified diff; empty when they are equal.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn unified_diff(path: &str, old: &str, new: &str) -> Result<String, RepoError> {
    if old == new {
        return Ok(String::new());
    }
    let mut options = DiffOptions::new();
    options.force_text(true);
    let file = Some(std::path::Path::new(path));
    let mut patch = Patch::from_buffers(
        old.as_bytes(),
        file,
        new.as_bytes(),
        file,
        Some(&mut options),
    )?;
    let bytes = patch.to_buf()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_and_replaced_lines_not_removed_ones() {
        let old = b"a\nb\nc\nd\n";
        assert_eq!(
            changed_lines(old, b"a\nB\nc\nd\ne\n").unwrap(),
            [2..=2, 5..=5]
        );
        assert!(changed_lines(old, b"a\nd\n").unwrap().is_empty());
        assert!(changed_lines(old, old).unwrap().is_empty());
        assert_eq!(changed_lines(b"", b"a\nb\n").unwrap(), [1..=2]);
    }
}
