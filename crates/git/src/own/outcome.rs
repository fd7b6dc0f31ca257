//! What became of some lines between two texts.

use super::beside::Trail;
use super::file::{Text, squeeze_lines};
use super::moved::Index;
use super::place::{image, is_new, list_touching, touches};
use super::words::Words;
use crate::RepoError;
use crate::lines::{Hunk, hunks, is_telling};
use cook_core::diagnostic::Failure;
use cook_core::model::TextOutcome;
use memchr::memmem;
use std::cell::OnceCell;
use std::ops::Range;

/// A file's text when work stood in it, and now. A hunk is told in little more than the time that its
/// own lines take: a file may have thousands of them, and a million lines.
pub struct Comparison<'a> {
    then: Vec<&'a [u8]>,
    now: Vec<&'a [u8]>,
    squeezed: Vec<u8>,
    /// Both texts' lines by what they say, and now's without white space; made when first asked for.
    found: OnceCell<[Index; 2]>,
    bare: OnceCell<Bare>,
    /// Where the two differ, white space aside.
    changes: Vec<Hunk>,
    /// The file's text at the basis, then at other commits that the work was not in yet; and where
    /// now differs from them.
    before: Vec<(&'a Text, OnceCell<Vec<Hunk>>)>,
    /// Then and now.
    texts: [&'a Text; 2],
    /// The words of the text at the basis, and where those of then and of now are others.
    words: OnceCell<(Words, [Vec<Hunk>; 2])>,
}

/// What became of them, and the lines that are there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// What became of them.
    pub outcome: TextOutcome,
    /// The lines in their place, from 0.
    pub now: Range<usize>,
    /// Those of them that had stood beside the others.
    pub(super) beside: Vec<usize>,
}

impl Followed {
    pub(super) fn new(outcome: TextOutcome, now: Range<usize>) -> Self {
        Self {
            outcome,
            now,
            beside: Vec::new(),
        }
    }
}

impl<'a> Comparison<'a> {
    /// # Errors
    /// When the texts cannot be compared.
    pub fn new(then: &'a Text, now: &'a Text, before: &'a [Text]) -> Result<Self, RepoError> {
        let squeezed = now.squeeze_all();
        Ok(Self {
            then: then.lines(),
            now: now.lines(),
            changes: hunks(&then.squeeze_all(), &squeezed)?,
            squeezed,
            found: OnceCell::new(),
            bare: OnceCell::new(),
            before: before.iter().map(|text| (text, OnceCell::new())).collect(),
            texts: [then, now],
            words: OnceCell::new(),
        })
    }

    /// What stands in the place of these lines (from 0; none = something was removed before the
    /// first) now. `was` are the lines of the first text before that they replaced.
    ///
    /// # Errors
    /// When the texts cannot be compared.
    pub fn find_outcome(
        &self,
        lines: Range<usize>,
        was: &Range<usize>,
    ) -> Result<Followed, Failure> {
        self.find_outcome_on(lines, was, None)
    }

    /// The same where lines seem rewritten, by what came into their place on the way.
    ///
    /// # Errors
    /// When the texts cannot be compared.
    pub fn find_outcome_on(
        &self,
        lines: Range<usize>,
        was: &Range<usize>,
        trail: Option<&Trail<'_>>,
    ) -> Result<Followed, Failure> {
        if lines.is_empty() {
            return Ok(self.find_outcome_of_removal(lines.start, was)?);
        }
        let changes = &self.changes;
        let touching = list_touching(changes, &lines);
        let (then, text) = (&self.then, &self.now);
        let block = then.get(lines.clone()).unwrap_or_default();
        let (Some(first), Some(last)) = (touching.first(), touching.last()) else {
            let image = image(changes, &lines);
            let kept = block.iter().all(|line| {
                let here = text.get(image.clone()).unwrap_or_default();
                here.contains(line)
            });
            // Lines that are the same may be those that somebody quotes.
            let is_quoted = !self.is_in_place(&lines, &image) && self.stands_again(was)?;
            let outcome = match kept {
                _ if is_quoted => TextOutcome::Reverted,
                true => TextOutcome::Stands,
                false => TextOutcome::Reshaped,
            };
            return Ok(Followed::new(outcome, image));
        };
        let [were, are] = self
            .found
            .get_or_init(|| [Index::of(then), Index::of(text)]);
        if is_telling(block)
            && let [only] = &are.find_whole(text, block)[..]
            && were.find_whole(then, block).len() == 1
        {
            let outcome = match self.was_there(only)? || self.stands_again(was)? {
                true => TextOutcome::Reverted,
                false => TextOutcome::Moved,
            };
            return Ok(Followed::new(outcome, only.clone()));
        }
        let start = image(changes, &(lines.start..lines.start + 1)).start;
        let end = match lines.end > last.old.end {
            true => image(changes, &(lines.end - 1..lines.end)).end,
            false => last.new.end,
        };
        let region = match lines.start < first.old.start {
            true => start..end,
            false => first.new.start..end,
        };
        if let Some(reshaped) = self.find_squeezed(&region, block) {
            return Ok(Followed::new(TextOutcome::Reshaped, reshaped));
        }
        let mut replaced: Vec<usize> = touching.iter().flat_map(|hunk| hunk.new.clone()).collect();
        let mut beside = Vec::new();
        let place = match trail {
            Some(trail) => trail.find_place(&lines)?,
            None => None,
        };
        if let Some(place) = place {
            let is_there = |at: &usize| place.iter().any(|run| run.contains(at));
            (replaced, beside) = replaced.into_iter().partition(is_there);
            let left = replaced.iter().filter_map(|at| text.get(*at));
            if !beside.is_empty() && !is_telling(&left.collect::<Vec<_>>()) {
                replaced.clear();
            }
        }
        if replaced.is_empty() {
            let outcome = match was.is_empty() {
                true => TextOutcome::Reverted,
                false => TextOutcome::Gone,
            };
            return Ok(Followed::new(outcome, region));
        }
        for number in 0..self.before.len() {
            let new = self.since(number)?;
            // Whatever became of the lines around them.
            let is_back =
                number == 0 && !was.is_empty() && (!touches(new, was) || self.is_back(was)?);
            if is_back || replaced.iter().all(|at| !is_new(new, *at)) {
                return Ok(Followed::new(TextOutcome::Reverted, region));
            }
        }
        let mut now = region;
        let is_beside = |at: usize| beside.binary_search(&at).is_ok();
        while !now.is_empty() && is_beside(now.start) {
            now.start += 1;
        }
        while !now.is_empty() && is_beside(now.end - 1) {
            now.end -= 1;
        }
        Ok(Followed {
            beside,
            ..Followed::new(TextOutcome::Rewritten, now)
        })
    }

    /// The next line above these, or below, is the same then and now.
    fn is_in_place(&self, lines: &Range<usize>, image: &Range<usize>) -> bool {
        let (then, now) = (&self.then, &self.now);
        let above = |text: &[&[u8]], at: usize| find_text(text[..at.min(text.len())].iter().rev());
        let below = |text: &[&[u8]], at: usize| find_text(text[at.min(text.len())..].iter());
        above(then, lines.start) == above(now, image.start)
            || below(then, lines.end) == below(now, image.end)
    }

    /// What the work replaced stands where it stood, whoever quotes the work.
    fn stands_again(&self, was: &Range<usize>) -> Result<bool, RepoError> {
        let Some((basis, _)) = self.before.first() else {
            return Ok(false);
        };
        let lines = basis.lines();
        let tells = is_telling(lines.get(was.clone()).unwrap_or_default());
        Ok(tells && !touches(self.since(0)?, was))
    }

    /// Of these lines of the text at the basis, those whose words the work replaced all stand again: what a
    /// formatter did to the lines around them ran them together with others.
    fn is_back(&self, was: &Range<usize>) -> Result<bool, RepoError> {
        let Some((basis, _)) = self.before.first() else {
            return Ok(false);
        };
        if self.words.get().is_none() {
            let words = Words::of(basis);
            let [then, now] = self.texts.map(Words::of);
            let changes = [words.compare(&then)?, words.compare(&now)?];
            let _ = self.words.set((words, changes));
        }
        let Some((words, [replaced, changed])) = self.words.get() else {
            return Ok(false);
        };
        let lines = was.clone().map(|line| words.find_line(line));
        let mut lines = lines.filter(|line| touches(replaced, line)).peekable();
        Ok(lines.peek().is_some() && lines.all(|line| !touches(changed, &line)))
    }

    /// Those of these lines that no change touched, each run with where it stands now.
    pub(super) fn list_untouched(&self, lines: &Range<usize>) -> Vec<(Range<usize>, Range<usize>)> {
        let touching = list_touching(&self.changes, lines).iter();
        let (mut at, mut runs) = (lines.start, Vec::new());
        for old in touching
            .map(|hunk| &hunk.old)
            .chain([&(lines.end..lines.end)])
        {
            if old.start > at {
                let run = at..old.start;
                runs.push((run.clone(), image(&self.changes, &run)));
            }
            at = at.max(old.end);
        }
        runs
    }

    /// This line of the text now was not there, neither then nor at the basis.
    pub(super) fn is_new(&self, at: usize) -> Result<bool, RepoError> {
        Ok(is_new(&self.changes, at) && !self.was_there(&(at..at + 1))?)
    }

    /// This line of the text now was there then, and not at the basis.
    ///
    /// # Errors
    /// When the texts cannot be compared.
    pub fn is_kept(&self, at: usize) -> Result<bool, RepoError> {
        Ok(!is_new(&self.changes, at) && !self.was_there(&(at..at + 1))?)
    }

    /// These lines of the text now stand as they did at the basis.
    fn was_there(&self, lines: &Range<usize>) -> Result<bool, RepoError> {
        if self.before.is_empty() {
            return Ok(false);
        }
        let new = self.since(0)?;
        Ok(lines.clone().all(|at| !is_new(new, at)))
    }

    /// What was taken away is back, or it is not.
    fn find_outcome_of_removal(
        &self,
        at: usize,
        was: &Range<usize>,
    ) -> Result<Followed, RepoError> {
        if self.before.is_empty() {
            return Ok(Followed::new(TextOutcome::Stands, at..at));
        }
        let gone = self.since(0)?;
        let outcome = match touches(gone, was) {
            true => TextOutcome::Stands,
            false => TextOutcome::Reverted,
        };
        Ok(Followed::new(outcome, image(gone, was)))
    }

    /// The lines of the region that hold the block's text, white space aside; none when there is no
    /// such place, or more than one.
    fn find_squeezed(&self, region: &Range<usize>, block: &[&[u8]]) -> Option<Range<usize>> {
        let wanted: Vec<u8> = squeeze_lines(block).copied().collect();
        let bare = self.bare.get_or_init(|| Bare::of(&self.now));
        let first = bare.start(region.start);
        let bytes = bare.bytes.get(first..bare.start(region.end))?;
        if wanted.is_empty() || bytes.len() < wanted.len() {
            return None;
        }
        let whole = bytes == wanted;
        let at = memmem::find(bytes, &wanted)?;
        let is_alone = memmem::find(&bytes[at + 1..], &wanted).is_none();
        let (start, end) = (first + at, first + at + wanted.len());
        (is_alone && (whole || is_telling(block))).then(|| bare.line(start)..bare.line(end - 1) + 1)
    }

    /// Where the text now differs from one before.
    fn since(&self, number: usize) -> Result<&[Hunk], RepoError> {
        let (before, known) = &self.before[number];
        if known.get().is_none() {
            let _ = known.set(hunks(&before.squeeze_all(), &self.squeezed)?);
        }
        Ok(known.get().map(Vec::as_slice).unwrap_or_default())
    }
}

/// The first of these lines that holds something, without white space.
fn find_text<'l>(lines: impl Iterator<Item = &'l &'l [u8]>) -> Option<Vec<u8>> {
    let mut squeezed = lines.map(|line| squeeze_lines(&[line]).copied().collect::<Vec<u8>>());
    squeezed.find(|line| !line.is_empty())
}

/// A text without white space.
struct Bare {
    bytes: Vec<u8>,
    /// Where each line begins, and the end.
    starts: Vec<usize>,
}

impl Bare {
    fn of(lines: &[&[u8]]) -> Self {
        let (mut bytes, mut starts) = (Vec::new(), vec![0]);
        for line in lines {
            bytes.extend(squeeze_lines(&[line]));
            starts.push(bytes.len());
        }
        Self { bytes, starts }
    }

    /// Where a line begins; the end for those that are not there.
    fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.bytes.len())
    }

    /// The line of a byte.
    fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte) - 1
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &str) -> Text {
        Text::of(lines.as_bytes().to_vec()).unwrap()
    }

    fn outcome(
        before: &str,
        then: &str,
        lines: Range<usize>,
        now: &str,
    ) -> (TextOutcome, Range<usize>) {
        let (then, before) = (text(then), [text(before)]);
        let now = text(now);
        let compared = Comparison::new(&then, &now, &before).unwrap();
        let followed = compared.find_outcome(lines, &(1..2)).unwrap();
        (followed.outcome, followed.now)
    }

    #[test]
    fn what_becomes_of_a_line() {
        let of = |now| {
            outcome(
                "head\nold line\ntail\n",
                "head\nnew line here\ntail\n",
                1..2,
                now,
            )
        };
        assert_eq!(
            of("head\nnew line here\ntail\n"),
            (TextOutcome::Stands, 1..2)
        );
        assert_eq!(
            of("top\nhead\nnew line here\ntail\n"),
            (TextOutcome::Stands, 2..3)
        );
        assert_eq!(
            of("head\ntail\nmore\nnew line here\n"),
            (TextOutcome::Moved, 3..4)
        );
        assert_eq!(
            of("head\n  new  line\n  here\ntail\n"),
            (TextOutcome::Reshaped, 1..3)
        );
        assert_eq!(of("head\nother\ntail\n"), (TextOutcome::Rewritten, 1..2));
        assert_eq!(of("head\nold line\ntail\n"), (TextOutcome::Reverted, 1..2));
        assert_eq!(of("head\ntail\n").0, TextOutcome::Gone);
        assert_eq!(
            of("head\r\nnew line here\r\ntail\r\n"),
            (TextOutcome::Stands, 1..2)
        );
    }

    /// The file was wrapped before the last of the work, and what the work replaced is back in one line
    /// beside somebody's change.
    #[test]
    fn what_it_replaced_is_back_among_lines_that_were_wrapped() {
        let library = "the first line\nthe old line\nthe third line\nthe fourth line\n";
        let then = "the first\nline\nwork of the slice\nthe third\nline\nthe fourth\nline\n";
        let compare = |now: &str| {
            let (then, now, before) = (text(then), text(now), [text(library)]);
            let compared = Comparison::new(&then, &now, &before).unwrap();
            compared.find_outcome(2..3, &(0..4)).unwrap().outcome
        };
        let back = library.replace("fourth", "best");
        assert_eq!(compare(&back), TextOutcome::Reverted);
        let other = back.replace("the old line", "a better line");
        assert_eq!(compare(&other), TextOutcome::Rewritten);
    }

    #[test]
    fn a_removal_is_lost_when_the_lines_are_back() {
        let of = |now| outcome("head\nold line\ntail\n", "head\ntail\n", 1..1, now).0;
        assert_eq!(of("head\ntail\n"), TextOutcome::Stands);
        assert_eq!(of("head\nold line\ntail\n"), TextOutcome::Reverted);
        assert_eq!(of(""), TextOutcome::Stands);
    }
}
