//! Whether a text stands in a file, or stood in any file of a commit: its lines in their order, white space
//! apart, whatever stands between them.

use super::Repo;
use super::contents::Entry;
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;
use std::ops::Range;

/// Characters of the word by which files are looked for.
const SHORTEST: usize = 2;

/// The lines that say something, without white space.
fn list_telling(lines: &[String]) -> Vec<String> {
    let lines = lines.iter().map(|line| {
        let words = line.split_whitespace();
        words.collect::<String>()
    });
    lines
        .filter(|line| line.contains(char::is_alphanumeric))
        .collect()
}

/// At least one of the lines has a letter or a digit.
pub fn says_something(lines: &[String]) -> bool {
    lines
        .iter()
        .any(|line| line.contains(char::is_alphanumeric))
}

/// Where in a file these lines stand in their order, the shortest such places; none overlap. Where they stand
/// nowhere so, the same text however it is broken into lines.
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

/// Where whole lines say the same in one go.
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
        // A later beginning that comes to the same end is the shorter one.
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
    /// Whether the text stands in any file of a commit (full id).
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
}

#[cfg(test)]
mod tests {
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
