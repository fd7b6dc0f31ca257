//! Anchors that point into files: held against HEAD's tree, and against the tree
//! they were stamped at.
//!
//! A text that moved is followed only when it can be told: it must say enough, be
//! the only one of its kind where it was, and turn up exactly once elsewhere.

use super::judge::Sources;
use cook_core::diagnostic::{Failure, counted};
use cook_core::digest::hex;
use cook_core::model::{Count, Stamp, Verdict};
use cook_git::{Change, ChangeKind, Entry, changed_lines};
use sha2::{Digest, Sha256};
use std::rc::Rc;

/// Characters, blanks not counted, that a text needs to be told from others.
const TELLING: usize = 6;
/// Files whose lines are kept while anchors are judged.
const MAX_KEPT_TEXTS: usize = 512;
/// Files that changed since the stamp that are searched for a text that moved.
const MAX_SEARCHED: usize = 200;

const AMBIGUOUS: &str = "ambiguous: the text stands in several places now";
const AMBIGUOUS_THEN: &str = "ambiguous: the text is too short, or stood in several places";

/// What a place is worth.
pub(super) struct Placed {
    pub(super) verdict: Verdict,
    pub(super) why: String,
    /// Path and lines (from 1) where it is now, when it was found.
    pub(super) found: Option<(String, usize, usize)>,
    /// The anchored text.
    pub(super) text: Vec<String>,
}

impl Placed {
    pub(super) fn not(verdict: Verdict, why: impl Into<String>) -> Self {
        Self {
            verdict,
            why: why.into(),
            found: None,
            text: Vec::new(),
        }
    }

    fn at(verdict: Verdict, why: String, path: &str, first: usize, text: Vec<String>) -> Self {
        Self {
            verdict,
            why,
            found: Some((path.to_owned(), first, first + text.len() - 1)),
            text,
        }
    }
}

/// A file's lines, or why it has none that could be anchored.
pub(super) enum Text {
    Lines(Vec<String>),
    Gone,
    No(&'static str),
}

/// A file as it was when something in it was anchored.
pub(super) struct Then {
    lines: Vec<String>,
    /// The commit it was in; none when that commit is not here any more.
    commit: Option<String>,
}

impl Then {
    fn said(&self) -> String {
        match &self.commit {
            Some(commit) => format!("commit {}", short(commit)),
            None => "it was stamped".to_owned(),
        }
    }
}

impl Sources<'_> {
    /// A file's lines, read once.
    fn text(&self, commit: &str, path: &str) -> Result<Rc<Text>, Failure> {
        let key = (commit.to_owned(), path.to_owned());
        if let Some(text) = self.texts.borrow().get(&key) {
            return Ok(Rc::clone(text));
        }
        let text = Rc::new(self.read_text(commit, path)?);
        let mut texts = self.texts.borrow_mut();
        if texts.len() >= MAX_KEPT_TEXTS {
            texts.clear();
        }
        texts.insert(key, Rc::clone(&text));
        Ok(text)
    }

    fn read_text(&self, commit: &str, path: &str) -> Result<Text, Failure> {
        Ok(match self.repo.entry(commit, path)? {
            Entry::Nothing => Text::Gone,
            Entry::Directory => Text::No("it is a directory"),
            Entry::Symlink => Text::No("it is a symbolic link"),
            Entry::Submodule => Text::No("it is a submodule"),
            Entry::Huge(_) => Text::No("it is too large to read"),
            Entry::File { bytes, .. } if bytes.contains(&0) => Text::No("it is a binary file"),
            Entry::File { bytes, .. } => Text::Lines(split(&bytes)),
        })
    }

    /// What differs between two commits, listed once.
    fn changes(&self, from: &str, to: &str) -> Result<Rc<Vec<Change>>, Failure> {
        let key = (from.to_owned(), to.to_owned());
        if let Some(changes) = self.changes.borrow().get(&key) {
            return Ok(Rc::clone(changes));
        }
        let changes = Rc::new(self.repo.changes(Some(from), to)?);
        self.changes.borrow_mut().insert(key, Rc::clone(&changes));
        Ok(changes)
    }

    /// A file as it was at a stamp: from its commit, or from its blob when a rewritten or
    /// shallow history no longer has the commit.
    pub(super) fn then(&self, stamp: &Stamp, path: &str) -> Result<Option<Then>, Failure> {
        let commit = match &stamp.head {
            Some(head) => self.repo.resolve(head)?,
            None => None,
        };
        if let Some(commit) = commit
            && let Text::Lines(lines) = &*self.text(&commit, path)?
        {
            return Ok(Some(Then {
                lines: lines.clone(),
                commit: Some(commit),
            }));
        }
        let bytes = match &stamp.blob {
            Some(blob) => self.repo.blob(blob)?,
            None => None,
        };
        Ok(bytes.filter(|bytes| !bytes.contains(&0)).map(|bytes| Then {
            lines: split(&bytes),
            commit: None,
        }))
    }

    /// `path:first-last` or a symbol's line by its digest alone, when neither commit nor
    /// blob of the stamp are here: only its own file can be searched.
    pub(super) fn by_digest(
        &self,
        head: &str,
        path: &str,
        stamp: &Stamp,
    ) -> Result<Placed, Failure> {
        let gone = "neither the commit nor the file it was stamped at are here";
        let (Some(wanted), Some(first), Some(count)) =
            (&stamp.text_sha256, stamp.line, stamp.lines)
        else {
            return Ok(Placed::not(Verdict::Unverifiable, gone));
        };
        let text = self.text(head, path)?;
        let Text::Lines(lines) = &*text else {
            return Ok(Placed::not(Verdict::Unverifiable, gone));
        };
        let (first, count) = (first.0 as usize, (count.0 as usize).max(1));
        let found: Vec<usize> = lines
            .windows(count)
            .enumerate()
            .filter(|(_, window)| digest(window) == *wanted)
            .map(|(at, _)| at)
            .collect();
        Ok(match found.as_slice() {
            [at] if is_telling(&lines[*at..at + count]) => {
                let block = &lines[*at..at + count];
                match at + 1 == first {
                    true => {
                        let why = "the text is as it was stamped".to_owned();
                        Placed::at(Verdict::Verified, why, path, first, block.to_vec())
                    }
                    false => moved(path, *at, block),
                }
            }
            [] => Placed::not(
                Verdict::Changed,
                format!("`{path}` no longer holds the text"),
            ),
            _ => Placed::not(Verdict::Unverifiable, AMBIGUOUS),
        })
    }

    /// What a stamp keeps of a place in HEAD's tree.
    pub(super) fn stamped(
        &self,
        head: &str,
        path: &str,
        first: usize,
        last: usize,
    ) -> Result<Stamp, Failure> {
        let mut stamp = Stamp {
            head: Some(head.to_owned()),
            ..Stamp::default()
        };
        if let Entry::File { bytes, oid } = self.repo.entry(head, path)? {
            stamp.blob = Some(oid);
            let lines = split(&bytes);
            if let Some(block) = lines.get(first - 1..last) {
                stamp.text_sha256 = Some(digest(block));
                stamp.context_sha256 = Some(digest(context(&lines, first, last)));
                stamp.line = Some(Count(first as u64));
                stamp.lines = Some(Count(block.len() as u64));
            }
        }
        Ok(stamp)
    }

    /// `path:first-last`, fresh.
    pub(super) fn lines_now(
        &self,
        head: &str,
        path: &str,
        first: usize,
        last: usize,
    ) -> Result<Placed, Failure> {
        let text = self.text(head, path)?;
        let lines = match &*text {
            Text::Lines(lines) => lines,
            Text::Gone => return Ok(gone(path)),
            Text::No(why) => return Ok(unreadable(path, why)),
        };
        let Some(block) = lines.get(first - 1..last) else {
            let why = format!(
                "`{path}` has {} at HEAD",
                counted(lines.len() as u64, "line")
            );
            return Ok(Placed::not(Verdict::Missing, why));
        };
        if !is_telling(block) {
            let why = "these lines are too short to prove anything";
            return Ok(Placed::not(Verdict::Unverifiable, why));
        }
        let why = "the lines are there at HEAD".to_owned();
        Ok(Placed::at(
            Verdict::Verified,
            why,
            path,
            first,
            block.to_vec(),
        ))
    }

    /// `path:first-last`, as it was at the commit `stamp`.
    pub(super) fn lines_since(
        &self,
        stamp: &str,
        head: &str,
        path: &str,
        first: usize,
        last: usize,
    ) -> Result<Placed, Failure> {
        let text = self.text(stamp, path)?;
        let Text::Lines(lines) = &*text else {
            let why = format!("`{path}` cannot be read in commit {}", short(stamp));
            return Ok(Placed::not(Verdict::Unverifiable, why));
        };
        let then = Then {
            lines: lines.clone(),
            commit: Some(stamp.to_owned()),
        };
        self.lines_from(&then, head, path, (first, last))
    }

    /// `path:first-last`, as it was then.
    pub(super) fn lines_from(
        &self,
        then: &Then,
        head: &str,
        path: &str,
        (first, last): (usize, usize),
    ) -> Result<Placed, Failure> {
        let Some(block) = then.lines.get(first - 1..last) else {
            let why = format!("`{path}` had no such line in {}", then.said());
            return Ok(Placed::not(Verdict::Unverifiable, why));
        };
        let text = self.text(head, path)?;
        let now = match &*text {
            Text::Lines(lines) => Some(lines),
            Text::Gone => None,
            Text::No(why) => return Ok(unreadable(path, why)),
        };
        let tells = is_telling(block) && occurrences(&then.lines, block).len() == 1;
        let in_place = now.and_then(|now| now.get(first - 1..last)) == Some(block);
        // A text that also stands elsewhere may be another one of its kind, unless its
        // neighbours are the same too.
        let same_context =
            now.is_some_and(|now| context(now, first, last) == context(&then.lines, first, last));
        if in_place && (tells || same_context) {
            let why = format!("unchanged since {}", then.said());
            return Ok(Placed::at(
                Verdict::Verified,
                why,
                path,
                first,
                block.to_vec(),
            ));
        }
        if !tells {
            return Ok(Placed::not(Verdict::Unverifiable, AMBIGUOUS_THEN));
        }
        let here = now.map_or(Vec::new(), |now| occurrences(now, block));
        let there = match &then.commit {
            Some(commit) => self.elsewhere(commit, head, path, block)?,
            None => Found::TooMany,
        };
        Ok(match (here.as_slice(), there) {
            ([at], Found::None | Found::TooMany) => moved(path, *at, block),
            ([], Found::One(path, at)) => moved(&path, at, block),
            ([], Found::TooMany) if then.commit.is_none() && now.is_some() => Placed::not(
                Verdict::Changed,
                format!("`{path}` holds something else there"),
            ),
            ([], Found::TooMany) => Placed::not(
                Verdict::Unverifiable,
                "too many files changed since to look for the text, or its commit is gone",
            ),
            ([], Found::None) if now.is_none() => gone(path),
            ([], Found::None) => Placed::not(
                Verdict::Changed,
                format!("`{path}` holds something else there"),
            ),
            _ => Placed::not(Verdict::Unverifiable, AMBIGUOUS),
        })
    }

    /// Where else the block turned up since the stamp.
    fn elsewhere(
        &self,
        stamp: &str,
        head: &str,
        path: &str,
        block: &[String],
    ) -> Result<Found, Failure> {
        let changes = self.changes(stamp, head)?;
        let others = changes
            .iter()
            .filter(|change| change.kind != ChangeKind::Deleted && change.path != path);
        let mut found = Found::None;
        for (number, change) in others.enumerate() {
            if number == MAX_SEARCHED {
                return Ok(if matches!(found, Found::None) {
                    Found::TooMany
                } else {
                    found
                });
            }
            let text = self.text(head, &change.path)?;
            let Text::Lines(now) = &*text else {
                continue;
            };
            let places = occurrences(now, block);
            if places.is_empty() {
                continue;
            }
            // Text that stood there already did not move there.
            let before = match &*self.text(stamp, &change.path)? {
                Text::Lines(then) => !occurrences(then, block).is_empty(),
                _ => false,
            };
            found = match (found, places.as_slice()) {
                (Found::None, [at]) if !before => Found::One(change.path.clone(), *at),
                _ => return Ok(Found::Several),
            };
        }
        Ok(found)
    }

    /// `path:symbol`, fresh: its first whole-word occurrence.
    pub(super) fn symbol_now(
        &self,
        head: &str,
        path: &str,
        symbol: &str,
    ) -> Result<Placed, Failure> {
        let text = self.text(head, path)?;
        let lines = match &*text {
            Text::Lines(lines) => lines,
            Text::Gone => return Ok(gone(path)),
            Text::No(why) => return Ok(unreadable(path, why)),
        };
        Ok(match first_occurrence(lines, symbol) {
            Some(at) => {
                let why = format!("`{symbol}` stands in line {}", at + 1);
                Placed::at(
                    Verdict::Verified,
                    why,
                    path,
                    at + 1,
                    vec![lines[at].clone()],
                )
            }
            None => Placed::not(
                Verdict::Missing,
                format!("`{path}` does not name `{symbol}`"),
            ),
        })
    }

    /// `path:symbol`, as it was at the commit `stamp`.
    pub(super) fn symbol_since(
        &self,
        stamp: &str,
        head: &str,
        path: &str,
        symbol: &str,
    ) -> Result<Placed, Failure> {
        let text = self.text(stamp, path)?;
        let Text::Lines(lines) = &*text else {
            let why = format!("`{path}` cannot be read in commit {}", short(stamp));
            return Ok(Placed::not(Verdict::Unverifiable, why));
        };
        let then = Then {
            lines: lines.clone(),
            commit: Some(stamp.to_owned()),
        };
        self.symbol_from(&then, head, path, symbol)
    }

    /// `path:symbol`, as it was then.
    pub(super) fn symbol_from(
        &self,
        then: &Then,
        head: &str,
        path: &str,
        symbol: &str,
    ) -> Result<Placed, Failure> {
        let Some(at) = first_occurrence(&then.lines, symbol) else {
            let why = format!("`{path}` did not name `{symbol}` in {}", then.said());
            return Ok(Placed::not(Verdict::Unverifiable, why));
        };
        let line = &then.lines[at];
        match &*self.text(head, path)? {
            Text::Lines(now) => {
                if let Some(at) = now.iter().position(|now| now.trim() == line.trim()) {
                    let why = format!("the line that names `{symbol}` is unchanged");
                    let text = vec![now[at].clone()];
                    return Ok(Placed::at(Verdict::Verified, why, path, at + 1, text));
                }
                if first_occurrence(now, symbol).is_some() {
                    let why = format!("the line that names `{symbol}` changed");
                    return Ok(Placed::not(Verdict::Changed, why));
                }
            }
            Text::Gone => {}
            Text::No(why) => return Ok(unreadable(path, why)),
        }
        let block = std::slice::from_ref(line);
        if !is_telling(block) || occurrences(&then.lines, block).len() > 1 {
            return Ok(Placed::not(
                Verdict::Missing,
                format!("`{path}` no longer names `{symbol}`"),
            ));
        }
        let there = match &then.commit {
            Some(commit) => self.elsewhere(commit, head, path, block)?,
            None => Found::None,
        };
        Ok(match there {
            Found::One(path, at) => moved(&path, at, block),
            Found::Several => Placed::not(
                Verdict::Unverifiable,
                format!("ambiguous: `{symbol}` stands in several files now"),
            ),
            Found::None | Found::TooMany => Placed::not(
                Verdict::Missing,
                format!("`{path}` no longer names `{symbol}`"),
            ),
        })
    }

    /// Whether commits of `basis..slice_head` changed this text; with `whole_file`,
    /// anything in its file.
    pub(super) fn is_changed_by(
        &self,
        (basis, slice_head): (&str, &str),
        path: &str,
        text: &[String],
        whole_file: bool,
    ) -> Result<bool, Failure> {
        let (Some(basis), Some(slice_head)) =
            (self.repo.resolve(basis)?, self.repo.resolve(slice_head)?)
        else {
            return Ok(false);
        };
        let Entry::File { bytes: new, .. } = self.repo.entry(&slice_head, path)? else {
            return Ok(false);
        };
        let old = match self.repo.entry(&basis, path)? {
            Entry::File { bytes, .. } => bytes,
            _ => Vec::new(),
        };
        if whole_file {
            return Ok(old != new);
        }
        let changed = changed_lines(&old, &new)?;
        let overlaps = |at: usize| {
            let (first, last) = (at + 1, at + text.len());
            changed
                .iter()
                .any(|range| *range.start() <= last && *range.end() >= first)
        };
        Ok(occurrences(&split(&new), text).into_iter().any(overlaps))
    }
}

enum Found {
    None,
    /// Path, and index of its first line.
    One(String, usize),
    Several,
    TooMany,
}

fn moved(path: &str, at: usize, block: &[String]) -> Placed {
    let why = format!("the text stands at `{path}` line {} now", at + 1);
    Placed::at(Verdict::Moved, why, path, at + 1, block.to_vec())
}

fn gone(path: &str) -> Placed {
    Placed::not(Verdict::Missing, format!("`{path}` is not in HEAD's tree"))
}

fn unreadable(path: &str, why: &str) -> Placed {
    Placed::not(
        Verdict::Unverifiable,
        format!("`{path}` cannot be anchored in: {why}"),
    )
}

/// The beginning of an id, for a reader.
fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// The lines with one before and one after, where there are any.
fn context(lines: &[String], first: usize, last: usize) -> &[String] {
    let end = (last + 1).min(lines.len());
    lines.get(first.saturating_sub(2)..end).unwrap_or_default()
}

/// SHA-256 over the lines, each with its end.
fn digest(lines: &[String]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

fn split(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

fn is_telling(block: &[String]) -> bool {
    let characters = block.iter().flat_map(|line| line.chars());
    characters
        .filter(|c| !c.is_whitespace())
        .take(TELLING)
        .count()
        == TELLING
}

/// Indexes at which the block begins.
fn occurrences(lines: &[String], block: &[String]) -> Vec<usize> {
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
fn first_occurrence(lines: &[String], symbol: &str) -> Option<usize> {
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
