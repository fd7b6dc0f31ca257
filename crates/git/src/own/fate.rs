//! What became of some lines between two texts.

use super::file::{Text, digest, is_telling, overlap, places, squeezed};
use crate::RepoError;
use crate::lines::{Hunk, hunks};
use cook_core::model::Fate;
use std::ops::Range;

/// Lines that are followed, and the texts that stood there before them.
#[derive(Debug, Clone)]
pub struct Place<'a> {
    /// The file's text when they stood in it.
    pub then: &'a Text,
    /// Which lines, from 0; none = something was removed before this line.
    pub lines: Range<usize>,
    /// The lines of the first of `before` that they replaced.
    pub was: Range<usize>,
    /// The file's text at the basis, then at other commits that the work was not in yet.
    pub before: &'a [Text],
}

/// What became of them, and the lines that are there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fated {
    /// What became of them.
    pub fate: Fate,
    /// The lines in their place, from 0.
    pub now: Range<usize>,
}

impl Fated {
    pub(super) fn new(fate: Fate, now: Range<usize>) -> Self {
        Self { fate, now }
    }
}

impl Place<'_> {
    /// What stands in their place in the file's text now.
    ///
    /// # Errors
    /// When the texts cannot be compared.
    pub fn fate_in(&self, now: &Text) -> Result<Fated, RepoError> {
        if self.lines.is_empty() {
            return self.removal_in(now);
        }
        let squeezed = now.squeezed();
        let changes = hunks(&self.then.squeezed(), &squeezed)?;
        let touching: Vec<&Hunk> = changes
            .iter()
            .filter(|hunk| overlap(&hunk.old, &self.lines))
            .collect();
        let (then, text) = (self.then.lines(), now.lines());
        let block = then.get(self.lines.clone()).unwrap_or_default();
        let (Some(first), Some(last)) = (touching.first(), touching.last()) else {
            let image = image(&changes, &self.lines);
            let kept = block.iter().all(|line| {
                let here = text.get(image.clone()).unwrap_or_default();
                here.contains(line)
            });
            let fate = if kept { Fate::Stands } else { Fate::Reshaped };
            return Ok(Fated::new(fate, image));
        };
        if is_telling(block)
            && places(&then, block).len() == 1
            && let [only] = &places(&text, block)[..]
        {
            return Ok(Fated::new(Fate::Moved, only.clone()));
        }
        let start = image(&changes, &(self.lines.start..self.lines.start + 1)).start;
        let end = match self.lines.end > last.old.end {
            true => image(&changes, &(self.lines.end - 1..self.lines.end)).end,
            false => last.new.end,
        };
        let region = match self.lines.start < first.old.start {
            true => start..end,
            false => first.new.start..end,
        };
        if let Some(reshaped) = find_squeezed(&text, &region, block) {
            return Ok(Fated::new(Fate::Reshaped, reshaped));
        }
        let replaced: Vec<usize> = touching.iter().flat_map(|hunk| hunk.new.clone()).collect();
        if replaced.is_empty() {
            let fate = match self.was.is_empty() {
                true => Fate::Reverted,
                false => Fate::Gone,
            };
            return Ok(Fated::new(fate, region));
        }
        for (number, before) in self.before.iter().enumerate() {
            let new = hunks(&before.squeezed(), &squeezed)?;
            let is_old = |at: &usize| !new.iter().any(|hunk| hunk.new.contains(at));
            // Whatever became of the lines around them.
            let is_back = number == 0
                && !self.was.is_empty()
                && !new.iter().any(|hunk| overlap(&hunk.old, &self.was));
            if is_back || replaced.iter().all(is_old) {
                return Ok(Fated::new(Fate::Reverted, region));
            }
        }
        Ok(Fated::new(Fate::Rewritten, region))
    }

    /// What was taken away is back, or it is not.
    fn removal_in(&self, now: &Text) -> Result<Fated, RepoError> {
        let at = self.lines.start..self.lines.start;
        let Some(before) = self.before.first() else {
            return Ok(Fated::new(Fate::Stands, at));
        };
        let gone = hunks(&before.squeezed(), &now.squeezed())?;
        let is_back = !gone.iter().any(|hunk| overlap(&hunk.old, &self.was));
        let fate = match is_back {
            true => Fate::Reverted,
            false => Fate::Stands,
        };
        Ok(Fated::new(fate, image(&gone, &self.was)))
    }
}

/// By the digest alone: where the lines stand in a text.
pub(super) fn find_digest(now: &Text, count: usize, sha256: &str) -> Vec<Range<usize>> {
    let lines = now.lines();
    if count == 0 || count > lines.len() {
        return Vec::new();
    }
    let windows = lines.windows(count).enumerate();
    let here = windows.filter(|(_, window)| digest(window) == sha256);
    here.map(|(at, _)| at..at + count).collect()
}

/// Where lines are that no change touched: what comes before them may have grown or shrunk.
fn image(changes: &[Hunk], lines: &Range<usize>) -> Range<usize> {
    let shifted = |at: usize, is_end: bool| {
        let before = changes.iter().filter(|hunk| match is_end {
            true => hunk.old.end < at || hunk.old.end == at && !hunk.old.is_empty(),
            false => hunk.old.end <= at,
        });
        let (old, new) = before.fold((0, 0), |(old, new), hunk| {
            (old + hunk.old.len(), new + hunk.new.len())
        });
        (at + new).saturating_sub(old)
    };
    let start = shifted(lines.start, false);
    start..shifted(lines.end, true).max(start)
}

/// The lines of the region that hold the block's text, white space aside; none when there is no
/// such place, or more than one.
fn find_squeezed(text: &[&[u8]], region: &Range<usize>, block: &[&[u8]]) -> Option<Range<usize>> {
    let wanted: Vec<u8> = squeezed(block).copied().collect();
    let (mut bytes, mut of_line) = (Vec::new(), Vec::new());
    for at in region.clone() {
        let line = text.get(at..=at).unwrap_or_default();
        for byte in squeezed(line) {
            bytes.push(*byte);
            of_line.push(at);
        }
    }
    if wanted.is_empty() || bytes.len() < wanted.len() {
        return None;
    }
    let whole = bytes == wanted;
    let mut found = bytes
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| *window == wanted)
        .map(|(at, _)| at);
    match (found.next(), found.next()) {
        (Some(at), None) if whole || is_telling(block) => {
            Some(of_line[at]..of_line[at + wanted.len() - 1] + 1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &str) -> Text {
        Text::of(lines.as_bytes().to_vec()).unwrap()
    }

    fn fate(before: &str, then: &str, lines: Range<usize>, now: &str) -> (Fate, Range<usize>) {
        let (then, before) = (text(then), [text(before)]);
        let place = Place {
            then: &then,
            lines,
            was: 1..2,
            before: &before,
        };
        let fated = place.fate_in(&text(now)).unwrap();
        (fated.fate, fated.now)
    }

    #[test]
    fn what_becomes_of_a_line() {
        let of = |now| {
            fate(
                "head\nold line\ntail\n",
                "head\nnew line here\ntail\n",
                1..2,
                now,
            )
        };
        assert_eq!(of("head\nnew line here\ntail\n"), (Fate::Stands, 1..2));
        assert_eq!(of("top\nhead\nnew line here\ntail\n"), (Fate::Stands, 2..3));
        assert_eq!(of("head\ntail\nmore\nnew line here\n"), (Fate::Moved, 3..4));
        assert_eq!(
            of("head\n  new  line\n  here\ntail\n"),
            (Fate::Reshaped, 1..3)
        );
        assert_eq!(of("head\nother\ntail\n"), (Fate::Rewritten, 1..2));
        assert_eq!(of("head\nold line\ntail\n"), (Fate::Reverted, 1..2));
        assert_eq!(of("head\ntail\n").0, Fate::Gone);
        assert_eq!(
            of("head\r\nnew line here\r\ntail\r\n"),
            (Fate::Stands, 1..2)
        );
    }

    #[test]
    fn a_removal_is_lost_when_the_lines_are_back() {
        let of = |now| fate("head\nold line\ntail\n", "head\ntail\n", 1..1, now).0;
        assert_eq!(of("head\ntail\n"), Fate::Stands);
        assert_eq!(of("head\nold line\ntail\n"), Fate::Reverted);
        assert_eq!(of(""), Fate::Stands);
    }
}
