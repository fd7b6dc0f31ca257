//! Anchors that point into files: held against HEAD's tree, and against the tree
//! they were stamped at.
//!
//! A text that moved is followed only when it can be told: it must say enough, be
//! the only one of its kind where it was, and turn up exactly once elsewhere.

use super::answer::Placed;
use super::sources::{Sources, Text};
use super::text::{context, digest, first_occurrence, is_telling, occurrences, split};
use super::then::{Found, Then, moved};
use cook_core::diagnostic::{Failure, counted};
use cook_core::model::{Count, Stamp, Verdict};
use cook_git::{Entry, changed_lines};

const AMBIGUOUS: &str = "ambiguous: the text stands in several places now";
const AMBIGUOUS_THEN: &str = "ambiguous: the text is too short, or stood in several places";

impl Sources<'_> {
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
                        Placed::at(Verdict::Verified, why, path, first, block)
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
    pub(super) fn stamp_lines(
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
        Ok(Placed::at(Verdict::Verified, why, path, first, block))
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
            let why = format!("`{path}` had no such line in {}", then.describe());
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
            let why = format!("unchanged since {}", then.describe());
            return Ok(Placed::at(Verdict::Verified, why, path, first, block));
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
                Placed::at(Verdict::Verified, why, path, at + 1, &lines[at..=at])
            }
            None => Placed::not(
                Verdict::Missing,
                format!("`{path}` does not name `{symbol}`"),
            ),
        })
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
            let why = format!("`{path}` did not name `{symbol}` in {}", then.describe());
            return Ok(Placed::not(Verdict::Unverifiable, why));
        };
        let line = &then.lines[at];
        match &*self.text(head, path)? {
            Text::Lines(now) => {
                if let Some(at) = now.iter().position(|now| now.trim() == line.trim()) {
                    let why = format!("the line that names `{symbol}` is unchanged");
                    let text = &now[at..=at];
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

fn gone(path: &str) -> Placed {
    Placed::not(Verdict::Missing, format!("`{path}` is not in HEAD's tree"))
}

fn unreadable(path: &str, why: &str) -> Placed {
    Placed::not(
        Verdict::Unverifiable,
        format!("`{path}` cannot be anchored in: {why}"),
    )
}
