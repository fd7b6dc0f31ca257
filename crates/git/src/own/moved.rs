//! Text that turned up in another place.

use crate::lines::{find_lines, is_telling};
use cook_core::diagnostic::Failure;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::Path;

/// Changed files that are searched.
pub(super) const MAX_SEARCHED: usize = 1_000;
/// Places of one line that are looked at; what stands in more says nothing of where it came from.
const MAX_PLACES: usize = 64;

/// Where a text turned up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nowhere.
    None,
    /// In these lines (from 0) of one file.
    One(String, Range<usize>),
    /// In several places.
    Several,
    /// Nowhere in the files that were searched, and there are more.
    TooMany,
}

/// Endings of files that people read and no program runs.
const PROSE: [&str; 8] = [
    "md", "markdown", "rst", "adoc", "asciidoc", "org", "textile", "tex",
];
/// Endings of plain text and of what quotes: code does not run there.
const QUOTES: [&str; 6] = ["txt", "text", "log", "wiki", "patch", "diff"];
/// Endings of what was set aside: nothing runs or reads it there.
const ASIDE: [&str; 12] = [
    "bak", "backup", "orig", "old", "off", "disabled", "save", "rej", "tmp", "swp", "dist",
    "example",
];
/// Endings of data.
const DATA: [&str; 8] = ["csv", "tsv", "json", "yaml", "yml", "xml", "toml", "dat"];
/// Files of plain text by their ending that programs run.
const RUN: [&str; 1] = ["CMakeLists.txt"];

/// Whether text of one file may have gone into the other: prose quotes code, and what is set aside does not run.
pub fn may_move(path: &str, other: &str) -> bool {
    if is_aside(other) {
        return is_aside(path);
    }
    let is_text = |path: &str| is_prose(path) || ends_in(path, &QUOTES) && !is_run(path);
    if is_text(path) || is_run(other) {
        return true;
    }
    // What has no ending may be prose, unless it is known by its name.
    if Path::new(path).extension().is_none() {
        return !(is_script(path) && is_text(other));
    }
    if ends_in(path, &DATA) {
        return !is_prose(other);
    }
    !is_text(other) && !ends_in(other, &DATA)
}

fn is_aside(path: &str) -> bool {
    let is_number = |found: &OsStr| {
        let found = found.as_encoded_bytes();
        !found.is_empty() && found.iter().all(u8::is_ascii_digit)
    };
    path.ends_with(['~', '#'])
        || ends_in(path, &ASIDE)
        || Path::new(path).extension().is_some_and(is_number)
}

fn is_run(path: &str) -> bool {
    let name = Path::new(path).file_name();
    name.is_some_and(|name| RUN.iter().any(|known| name == *known))
}

/// A file without an ending that a program runs, by its name or its directory.
fn is_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_make = name.ends_with("file") && name.starts_with(|c: char| c.is_ascii_uppercase());
    let in_programs = path
        .split('/')
        .rev()
        .skip(1)
        .any(|dir| matches!(dir, "bin" | "scripts"));
    is_make || in_programs
}

/// A file that people read and no program runs.
pub fn is_prose(path: &str) -> bool {
    ends_in(path, &PROSE)
}

fn ends_in(path: &str, endings: &[&str]) -> bool {
    let found = Path::new(path).extension();
    found.is_some_and(|found| {
        endings
            .iter()
            .any(|known| found.eq_ignore_ascii_case(known))
    })
}

/// The one of the changed files that holds a text now and did not before. `places` says where the
/// text stands in a file now (true) or then (false).
///
/// # Errors
/// When a file cannot be read.
pub fn find_moved<'a>(
    changed: impl Iterator<Item = &'a str>,
    places: impl Fn(&str, bool) -> Result<Vec<Range<usize>>, Failure>,
) -> Result<Found, Failure> {
    let mut found = Found::None;
    for (number, path) in changed.enumerate() {
        if number == MAX_SEARCHED {
            return Ok(match found {
                Found::None => Found::TooMany,
                found => found,
            });
        }
        let here = places(path, true)?;
        let Some(first) = here.first() else {
            continue;
        };
        // What stood there already did not move there.
        let is_new = here.len() == 1 && places(path, false)?.is_empty();
        found = match found {
            Found::None if is_new => Found::One(path.to_owned(), first.clone()),
            _ => return Ok(Found::Several),
        };
    }
    Ok(found)
}

/// Lines of texts, by what they say.
#[derive(Default)]
pub(super) struct Index {
    /// With keys of its own, so that nobody can write a line that is taken for another.
    state: RandomState,
    texts: Vec<Vec<Option<u64>>>,
    places: HashMap<u64, Vec<(usize, usize)>>,
}

/// Some lines of a block, and where they stand.
pub(super) struct Run {
    /// Lines of the block, from 0.
    pub(super) of: Range<usize>,
    /// Which text.
    pub(super) text: usize,
    /// Its lines, from 0.
    pub(super) at: Range<usize>,
}

impl Index {
    /// One more text; only these lines of it are found.
    pub(super) fn add(&mut self, lines: &[&[u8]], is_wanted: impl Fn(usize) -> bool) {
        let number = self.texts.len();
        let mut text = Vec::with_capacity(lines.len());
        for (at, line) in lines.iter().enumerate() {
            let hash = is_wanted(at).then(|| self.state.hash_one(line));
            if let Some(hash) = hash {
                self.places.entry(hash).or_default().push((number, at));
            }
            text.push(hash);
        }
        self.texts.push(text);
    }

    /// Of one text.
    pub(super) fn of(lines: &[&[u8]]) -> Self {
        let mut index = Self::default();
        index.add(lines, |_| true);
        index
    }

    /// Wherever the block stands in the one text (`lines`), whole.
    pub(super) fn find_whole(&self, lines: &[&[u8]], block: &[&[u8]]) -> Vec<Range<usize>> {
        let places = |line: &&[u8]| {
            let places = self.places.get(&self.state.hash_one(line));
            places.map_or(&[][..], Vec::as_slice)
        };
        let listed = block.iter().map(places).enumerate();
        let Some((offset, rarest)) = listed.min_by_key(|(_, places)| places.len()) else {
            return Vec::new();
        };
        if rarest.len() > MAX_PLACES {
            return find_lines(lines, block);
        }
        let starts = rarest.iter().filter_map(|(_, at)| at.checked_sub(offset));
        let ranges = starts.map(|start| start..start + block.len());
        let is_there = |range: &Range<usize>| lines.get(range.clone()) == Some(block);
        ranges.filter(is_there).collect()
    }

    /// The longest runs of the block that can be told from others and stand in one place alone, in
    /// one of the texts that are asked for.
    pub(super) fn find_runs(&self, block: &[&[u8]], is_asked: impl Fn(usize) -> bool) -> Vec<Run> {
        let wanted: Vec<u64> = block.iter().map(|line| self.state.hash_one(line)).collect();
        let (mut runs, mut at) = (Vec::new(), 0);
        while let Some(first) = wanted.get(at) {
            let places = self.places.get(first).map_or(&[][..], Vec::as_slice);
            let mut longest = 1;
            let mut found = Vec::new();
            let places = places.iter().filter(|_| places.len() <= MAX_PLACES);
            for &(text, start) in places.filter(|(text, _)| is_asked(*text)) {
                let here = self.texts[text].get(start..).unwrap_or_default();
                let same = here.iter().zip(&wanted[at..]);
                let length = same
                    .take_while(|(here, wanted)| **here == Some(**wanted))
                    .count();
                if length > longest {
                    found.clear();
                }
                longest = longest.max(length);
                if length == longest {
                    found.push((text, start));
                }
            }
            let of = at..at + longest;
            if let [(text, start)] = found[..]
                && is_telling(&block[of.clone()])
            {
                let at = start..start + longest;
                runs.push(Run { of, text, at });
            }
            at += longest;
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_all(block: &str, texts: &[(&str, usize)]) -> Vec<(Range<usize>, usize, Range<usize>)> {
        let mut index = Index::default();
        for (text, first) in texts {
            let lines: Vec<&[u8]> = text.split(' ').map(str::as_bytes).collect();
            index.add(&lines, |at| at >= *first);
        }
        let block: Vec<&[u8]> = block.split(' ').map(str::as_bytes).collect();
        let runs = index.find_runs(&block, |_| true).into_iter();
        runs.map(|run| (run.of, run.text, run.at)).collect()
    }

    #[test]
    fn runs_are_found_where_they_stand_alone() {
        let block = "first-line } second-line third-line";
        assert_eq!(
            find_all(
                block,
                &[("x second-line third-line", 0), ("} first-line }", 0)]
            ),
            [(0..2, 1, 1..3), (2..4, 0, 1..3)]
        );
        // In two places, among lines that are not wanted, or of braces alone.
        assert!(find_all(block, &[("first-line", 0), ("first-line", 0)]).is_empty());
        assert!(find_all(block, &[("first-line x", 1)]).is_empty());
        assert!(find_all(block, &[("}", 0)]).is_empty());
    }
}
