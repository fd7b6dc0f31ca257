//! Finding lines of text: where given lines are in a file, whether they are distinctive, and whether any file of a
//! commit holds them. Lines match in their order, ignoring white space and any lines between them.
//!
//! The texts of files in two commits.

use super::libgit::Entry;
use super::program::OrFail;
use super::{Change, ChangeKind, Repo};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::hex;
use git2::{DiffOptions, Patch};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ops::Range;

/// Characters, not counting white space, that make lines distinctive.
const TELLING: usize = 6;
/// Most lines that are hashed in a search by digest.
const MAX_DIGESTED: usize = 4_000_000;

/// The lines of a text, without line endings.
pub fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    let whole = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = whole.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .take(if text.is_empty() { 0 } else { usize::MAX })
        .collect()
}

/// Whether the lines have enough characters to be distinctive.
pub fn is_telling<L: AsRef<[u8]>>(lines: &[L]) -> bool {
    let parts = lines.iter().flat_map(|line| line.as_ref().utf8_chunks());
    let characters = parts.flat_map(|part| part.valid().chars());
    let telling = characters.filter(|c| !c.is_whitespace());
    telling.take(TELLING).count() == TELLING
}

/// SHA-256 of lines, independent of their line endings.
pub fn digest_lines<L: AsRef<[u8]>>(lines: &[L]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_ref());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// All places where `count` lines with this digest are; none if the search would take too long.
pub fn find_digest<L: AsRef<[u8]>>(text: &[L], count: usize, sha256: &str) -> Vec<Range<usize>> {
    let windows = (text.len() + 1).saturating_sub(count);
    if count == 0 || windows.saturating_mul(count) > MAX_DIGESTED {
        return Vec::new();
    }
    let here = text.windows(count).enumerate();
    let here = here.filter(|(_, window)| digest_lines(window) == sha256);
    here.map(|(at, _)| at..at + count).collect()
}

/// The two texts as a unified diff; empty if they are equal.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn make_unified_diff(path: &str, old: &str, new: &str) -> Result<String, Failure> {
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
    )
    .or_fail()?;
    let bytes = patch.to_buf().or_fail()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Shortest word by which files are searched.
const SHORTEST: usize = 2;

/// The lines that have a letter or a digit, without white space.
fn list_telling(lines: &[String]) -> Vec<String> {
    let lines = lines.iter().map(|line| {
        let words = line.split_whitespace();
        words.collect::<String>()
    });
    lines
        .filter(|line| line.contains(char::is_alphanumeric))
        .collect()
}

/// Whether at least one of the lines has a letter or a digit.
pub fn says_something(lines: &[String]) -> bool {
    lines
        .iter()
        .any(|line| line.contains(char::is_alphanumeric))
}

/// The shortest ranges of a file that hold these lines in their order; they do not overlap. If there are none, the
/// ranges that hold the same text broken into other lines.
pub fn find_text(file: &[String], text: &[String]) -> Vec<Range<usize>> {
    let wanted = list_telling(text);
    let plain: Vec<String> = file
        .iter()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let found = find_in_order(&plain, &wanted);
    match found.is_empty() {
        true => find_reshaped(&plain, text),
        false => found,
    }
}

/// Ranges of whole lines that hold the same text without a gap.
fn find_reshaped(plain: &[String], text: &[String]) -> Vec<Range<usize>> {
    let words = text.iter().flat_map(|line| line.split_whitespace());
    let wanted: String = words.collect();
    if !wanted.contains(char::is_alphanumeric) {
        return Vec::new();
    }
    let ends = |start: usize| {
        let mut rest = wanted.as_str();
        for (at, line) in plain.iter().enumerate().skip(start) {
            rest = rest.strip_prefix(line.as_str())?;
            if rest.is_empty() {
                return Some(start..at + 1);
            }
        }
        None
    };
    let starts = (0..plain.len()).filter(|at| !plain[*at].is_empty());
    starts.filter_map(ends).collect()
}

fn find_in_order(plain: &[String], wanted: &[String]) -> Vec<Range<usize>> {
    let Some((first, rest)) = wanted.split_first() else {
        return Vec::new();
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for start in (0..plain.len()).filter(|at| plain[*at] == *first) {
        let mut end = start + 1;
        let stands = rest.iter().all(|line| {
            let at = plain[end..].iter().position(|other| other == line);
            end += at.map_or(0, |at| at + 1);
            at.is_some()
        });
        if !stands {
            break;
        }
        // A later start with the same end is the shorter range.
        match found.last_mut() {
            Some(last) if start < last.end => {
                if end == last.end {
                    last.start = start;
                }
            }
            _ => found.push(start..end),
        }
    }
    found
}

impl Repo {
    /// Whether any file of a commit (full id) holds the text.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn has_text(&self, commit: &str, text: &[String]) -> Result<bool, Failure> {
        let words = text.iter().flat_map(|line| line.split_whitespace());
        let telling = words.filter(|word| word.contains(char::is_alphanumeric));
        let Some(longest) = telling.max_by_key(|word| word.chars().count()) else {
            return Ok(false);
        };
        if longest.chars().count() < SHORTEST {
            return self.has_text_in(commit, self.files(commit)?.into_keys(), text);
        }
        let paths = self.list_files_with(commit, longest)?;
        self.has_text_in(commit, paths.into_iter(), text)
    }

    fn has_text_in(
        &self,
        commit: &str,
        paths: impl Iterator<Item = String>,
        text: &[String],
    ) -> Result<bool, Failure> {
        let mut seen = BTreeSet::new();
        for path in paths {
            let Entry::File { bytes, oid } = self.entry(commit, &path)? else {
                continue;
            };
            if !seen.insert(oid) {
                continue;
            }
            let file = String::from_utf8_lossy(&bytes);
            let lines: Vec<String> = file.lines().map(str::to_owned).collect();
            if !find_text(&lines, text).is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The new name of a file that git sees as renamed between two commits (full ids).
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn find_renamed(
        &self,
        from: &str,
        to: &str,
        path: &str,
    ) -> Result<Option<String>, Failure> {
        let changes = self.list_tree_changes(from, to)?.into_iter();
        let mut pairs = changes.filter_map(|change| Some((change.before?.0, change.after?.0)));
        let renamed = pairs.find(|(old, new)| old == path && new != old);
        Ok(renamed.map(|(_, new)| new))
    }

    /// The texts of all files that differ between two commits (full ids), sorted by path. After the first [`MAX_EDITS`]
    /// files, or 64 MiB of text, only the paths.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn edits(&self, from: &str, to: &str) -> Result<Vec<Edit>, Failure> {
        let mut edits = Vec::new();
        let mut bytes = 0;
        for change in self.changes(Some(from), to)? {
            let texts = if edits.len() < MAX_EDITS && bytes < MAX_TEXTS {
                let before = match change.kind {
                    ChangeKind::Added => Some(None),
                    _ => self.text(from, &change.path)?,
                };
                let after = match change.kind {
                    ChangeKind::Deleted => Some(None),
                    _ => self.text(to, &change.path)?,
                };
                let texts = [&before, &after].into_iter().flatten().flatten();
                bytes += texts.map(String::len).sum::<usize>();
                before.zip(after)
            } else {
                None
            };
            edits.push(Edit { change, texts });
        }
        Ok(edits)
    }

    /// The text of a file; `None` if it is binary or too large.
    fn text(&self, commit: &str, path: &str) -> Result<Option<Option<String>>, Failure> {
        Ok(match self.entry(commit, path)? {
            Entry::File { bytes, .. } if bytes.len() <= MAX_TEXT && !bytes.contains(&0) => {
                String::from_utf8(bytes).ok().map(Some)
            }
            _ => None,
        })
    }
}

/// Most files whose texts are read.
pub const MAX_EDITS: usize = 3_000;
/// Largest text, in bytes, that is read; larger files are only named.
pub const MAX_TEXT: usize = 1024 * 1024;
/// Most bytes of all texts together.
const MAX_TEXTS: usize = 64 << 20;

/// A file that differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The path, and how it changed.
    pub change: Change,
    /// The text before and after; each is `None` if the file did not exist. `None` as a whole if a text is binary or
    /// too large.
    pub texts: Option<(Option<String>, Option<String>)>,
}

#[cfg(test)]
mod lines_tests {
    use super::*;

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

#[cfg(test)]
mod stood_tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_text_stands_whatever_comes_between_its_lines() {
        let file = lines("a {\n  one( x );\n\n  new;\n  two;\n}\na {\n  two;\n}\n");
        let found = |text: &str| {
            let found = find_text(&file, &lines(text)).into_iter();
            found
                .map(|range| (range.start, range.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("a {\none(x);\ntwo;\n}"), [(0, 5)]);
        assert_eq!(found("one(x);"), [(1, 2)]);
        assert_eq!(found("a {\ntwo;"), [(0, 5), (6, 8)]);
        for text in ["two;\none(x);", "}\n{", "three", "one(x"] {
            assert!(found(text).is_empty(), "{text}");
        }
        assert_eq!(found("a { one(x); new;\ntwo; }"), [(0, 6)]);
    }

    #[test]
    fn of_several_beginnings_the_nearest_counts() {
        let file = lines("a\na\nb\na\nb\n");
        assert_eq!(find_text(&file, &lines("a\nb")), [1..3, 3..5]);
    }
}
