//! Lines of a text: which are new against another, where some stand, whether they can be told from
//! others.

use super::RepoError;
use cook_protocol::digest::hex;
use git2::{DiffOptions, Patch};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Characters, white space not counted, that lines need to be told from others.
const TELLING: usize = 6;
/// Lines that are digested while some are looked for by their digest alone.
const MAX_DIGESTED: usize = 4_000_000;

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
pub fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    let whole = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = whole.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .take(if text.is_empty() { 0 } else { usize::MAX })
        .collect()
}

/// The lines say enough to be told from others.
pub fn is_telling<L: AsRef<[u8]>>(lines: &[L]) -> bool {
    let parts = lines.iter().flat_map(|line| line.as_ref().utf8_chunks());
    let characters = parts.flat_map(|part| part.valid().chars());
    let telling = characters.filter(|c| !c.is_whitespace());
    telling.take(TELLING).count() == TELLING
}

/// SHA-256 of lines, whatever their ends were.
pub fn digest_lines<L: AsRef<[u8]>>(lines: &[L]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_ref());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// Wherever so many lines with this digest stand; nowhere when that takes too long to tell.
pub fn find_digest<L: AsRef<[u8]>>(text: &[L], count: usize, sha256: &str) -> Vec<Range<usize>> {
    let windows = (text.len() + 1).saturating_sub(count);
    if count == 0 || windows.saturating_mul(count) > MAX_DIGESTED {
        return Vec::new();
    }
    let here = text.windows(count).enumerate();
    let here = here.filter(|(_, window)| digest_lines(window) == sha256);
    here.map(|(at, _)| at..at + count).collect()
}

/// The two texts as a unified diff; empty when they are equal.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn make_unified_diff(path: &str, old: &str, new: &str) -> Result<String, RepoError> {
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
    fn lines_are_found_by_their_digest() {
        let split = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        let wanted = digest_lines(&["b", "a"]);
        assert_eq!(find_digest(&split("a b a b a"), 2, &wanted), [1..3, 3..5]);
        assert!(find_digest(&split("b"), 2, &wanted).is_empty());
    }

    #[test]
    fn braces_tell_nothing() {
        assert!(!is_telling(&["  }", "\t)", "\u{e9}\u{e9}\u{e9}"]));
        assert!(is_telling(&["  x(1);", "}"]));
    }

    #[test]
    fn lines_have_no_ends() {
        assert_eq!(split_lines(b""), Vec::<&[u8]>::new());
        assert_eq!(split_lines(b"\n"), [b""]);
        assert_eq!(split_lines(b"a\r\nb"), [b"a", b"b"]);
    }
}
