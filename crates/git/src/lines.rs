//! Which lines of a text are new against another.

use super::RepoError;
use git2::{DiffOptions, Patch};
use std::ops::Range;

/// Lines that differ, both counted from 0; one of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the old text.
    pub old: Range<usize>,
    /// Lines of the new text that stand in their place.
    pub new: Range<usize>,
}

/// Where two texts differ, in order.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn hunks(old: &[u8], new: &[u8]) -> Result<Vec<Hunk>, RepoError> {
    if old == new {
        return Ok(Vec::new());
    }
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    // A side without lines is named by the line before it.
    let range = |start: u32, count: u32| {
        let first = (start as usize).saturating_sub(usize::from(count > 0));
        first..first + count as usize
    };
    (0..patch.num_hunks())
        .map(|number| {
            let (hunk, _) = patch.hunk(number)?;
            Ok(Hunk {
                old: range(hunk.old_start(), hunk.old_lines()),
                new: range(hunk.new_start(), hunk.new_lines()),
            })
        })
        .collect()
}

/// A text's lines, without their ends.
pub fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    let whole = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = whole.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .take(if text.is_empty() { 0 } else { usize::MAX })
        .collect()
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
    fn a_side_without_lines_is_where_they_would_stand() {
        let found = |old: &[u8], new: &[u8]| {
            let hunks = hunks(old, new).unwrap();
            let ranges = hunks.into_iter().map(|hunk| (hunk.old, hunk.new));
            ranges.collect::<Vec<_>>()
        };
        let old = b"a\nb\nc\nd\n";
        assert_eq!(found(old, b"a\nB\nc\nd\ne\n"), [(1..2, 1..2), (4..4, 4..5)]);
        assert_eq!(found(old, b"a\nd\n"), [(1..3, 1..1)]);
        assert_eq!(found(old, old), []);
        assert_eq!(found(b"", b"a\nb\n"), [(0..0, 0..2)]);
        assert_eq!(found(b"b\n", b"a\nb\n"), [(0..0, 0..1)]);
    }

    #[test]
    fn lines_have_no_ends() {
        assert_eq!(lines_of(b""), Vec::<&[u8]>::new());
        assert_eq!(lines_of(b"\n"), [b""]);
        assert_eq!(lines_of(b"a\r\nb"), [b"a", b"b"]);
    }
}
