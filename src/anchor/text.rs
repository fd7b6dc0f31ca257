//! Lines of a file: whether they can be told from others, and where they stand.

use cook_core::digest::hex;
use sha2::{Digest, Sha256};

/// Characters, blanks not counted, that a text needs to be told from others.
const TELLING: usize = 6;

pub(super) fn split(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// SHA-256 over the lines, each with its end.
pub(super) fn digest(lines: &[String]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// The lines with one before and one after, where there are any.
pub(super) fn context(lines: &[String], first: usize, last: usize) -> &[String] {
    let end = (last + 1).min(lines.len());
    lines.get(first.saturating_sub(2)..end).unwrap_or_default()
}

pub(super) fn is_telling(block: &[String]) -> bool {
    let characters = block.iter().flat_map(|line| line.chars());
    characters
        .filter(|c| !c.is_whitespace())
        .take(TELLING)
        .count()
        == TELLING
}

/// Indexes at which the block begins.
pub(super) fn occurrences(lines: &[String], block: &[String]) -> Vec<usize> {
    if block.is_empty() {
        return Vec::new();
    }
    let windows = lines.windows(block.len()).enumerate();
    windows
        .filter(|(_, window)| *window == block)
        .map(|(at, _)| at)
        .collect()
}

/// The first line that names the symbol as a whole word. A qualified name
/// (`Type::method`) that stands nowhere as such is found by its last part, when
/// the file names the other parts too.
pub(super) fn first_occurrence(lines: &[String], symbol: &str) -> Option<usize> {
    let find = |word: &str| lines.iter().position(|line| has_word(line, word));
    if let Some(at) = find(symbol) {
        return Some(at);
    }
    let mut parts = symbol
        .split([':', '.', '#'])
        .filter(|part| !part.is_empty())
        .rev();
    let last = parts.next().filter(|last| *last != symbol)?;
    let at = find(last)?;
    parts.all(|part| find(part).is_some()).then_some(at)
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_and_qualified_names() {
        let lines = split(b"use a;\nimpl Foo {\n  fn bars() {}\n  fn bar() {}\n}\n");
        assert_eq!(first_occurrence(&lines, "bar"), Some(3));
        assert_eq!(first_occurrence(&lines, "Foo::bar"), Some(3));
        assert_eq!(first_occurrence(&lines, "Qux::bar"), None);
        assert_eq!(first_occurrence(&lines, "ba"), None);
    }
}
