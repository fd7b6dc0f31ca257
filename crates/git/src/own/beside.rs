//! What came into the place of lines, change by change: what had stood beside them before they went
//! did not.

use super::file::Text;
use super::place::{image, list_touching};
use crate::lines::{Hunk, find_lines, hunks, split_lines};
use crate::{Repo, RepoError};
use cook_core::diagnostic::Failure;
use std::cell::OnceCell;
use std::ops::Range;

/// Texts of one file that are compared, and their bytes.
const MAX_TEXTS: usize = 200;
const MAX_BYTES: usize = 64 << 20;

/// A file's texts on the way from one commit to another, oldest first, and what changed each into the
/// next. White space within lines does not count.
#[derive(Debug, Default)]
pub struct Trail {
    /// The text whose lines are followed.
    then: Vec<u8>,
    texts: Vec<Vec<u8>>,
    changes: Vec<Vec<Hunk>>,
    /// The first text that holds the lines that were looked for first, where the way does not begin with `then`.
    first: OnceCell<Option<usize>>,
}

impl Trail {
    fn new(then: &Text, texts: Vec<Vec<u8>>) -> Result<Self, RepoError> {
        let pairs = texts.windows(2);
        let changes = pairs.map(|pair| hunks(&pair[0], &pair[1]));
        Ok(Self {
            then: then.squeeze_all(),
            changes: changes.collect::<Result<_, _>>()?,
            texts,
            first: OnceCell::new(),
        })
    }

    /// The lines (from 0) of the last text that came into the place of these, in order, with those that
    /// stayed; none where that is not known.
    pub(super) fn find_place(&self, lines: &Range<usize>) -> Option<Vec<Range<usize>>> {
        let (first, start) = self.find_start(lines)?;
        let mut place = vec![start];
        for changes in &self.changes[first..] {
            let led = place.iter().flat_map(|run| lead(changes, run));
            place = unite(led.collect());
        }
        Some(place)
    }

    /// The first of the texts that holds them, and where.
    fn find_start(&self, lines: &Range<usize>) -> Option<(usize, Range<usize>)> {
        if self.texts.first() == Some(&self.then) {
            return Some((0, lines.clone()));
        }
        let all = split_lines(&self.then);
        let block = all.get(lines.clone())?;
        let find = |number: usize| {
            let found = find_lines(&split_lines(&self.texts[number]), block);
            <[_; 1]>::try_from(found).ok().map(|[only]| (number, only))
        };
        let known = self.first.get_or_init(|| {
            let found = (0..self.texts.len()).find_map(find);
            found.map(|(number, _)| number)
        });
        known.and_then(find)
    }
}

/// Where lines are after a change, or what it wrote in their stead. What it put between them it did
/// not put in their place.
fn lead(changes: &[Hunk], lines: &Range<usize>) -> Vec<Range<usize>> {
    let (mut at, mut led) = (lines.start, Vec::new());
    for hunk in list_touching(changes, lines) {
        if hunk.old.start > at {
            led.push(image(changes, &(at..hunk.old.start)));
        }
        at = at.max(hunk.old.end);
        if !hunk.old.is_empty() {
            led.push(hunk.new.clone());
        }
    }
    if lines.end > at {
        led.push(image(changes, &(at..lines.end)));
    }
    led
}

fn unite(mut runs: Vec<Range<usize>>) -> Vec<Range<usize>> {
    runs.retain(|run| !run.is_empty());
    runs.sort_by_key(|run| run.start);
    let mut united: Vec<Range<usize>> = Vec::new();
    for run in runs {
        match united.last_mut().filter(|last| run.start <= last.end) {
            Some(last) => last.end = last.end.max(run.end),
            None => united.push(run),
        }
    }
    united
}

impl Repo {
    /// The texts of a file on the way from one commit to another, in which the lines of `then` are followed;
    /// `names` are its former name and the one that it has now.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn find_trail(
        &self,
        way: &[(String, String)],
        names: (&str, &str),
        then: &Text,
    ) -> Result<Trail, Failure> {
        let (mut texts, mut last, mut bytes) = (Vec::new(), None, 0);
        let first = way.iter().take(1).map(|(parent, _)| parent);
        for commit in first.chain(way.iter().map(|(_, commit)| commit)) {
            let entry = match self.tree_entry(commit, names.1)? {
                None => self.tree_entry(commit, names.0)?,
                entry => entry,
            };
            // It may have been called otherwise for a while.
            if entry.is_none() || entry == last {
                continue;
            }
            let text = self.read_text(entry.as_ref())?.unwrap_or_default();
            last = entry;
            bytes += text.bytes().len();
            if texts.len() == MAX_TEXTS || bytes > MAX_BYTES {
                return Ok(Trail::default());
            }
            texts.push(text.squeeze_all());
        }
        Ok(Trail::new(then, texts)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_place(texts: &[&str], lines: Range<usize>) -> Option<Vec<Range<usize>>> {
        let texts = texts.iter().map(|text| text.replace(' ', "\n") + "\n");
        let texts: Vec<Text> = texts.filter_map(|text| Text::of(text.into())).collect();
        let squeezed = texts.iter().map(Text::squeeze_all).collect();
        Trail::new(&texts[0], squeezed).unwrap().find_place(&lines)
    }

    fn lines(place: Option<Vec<Range<usize>>>) -> Vec<usize> {
        place.unwrap().into_iter().flatten().collect()
    }

    #[test]
    fn what_stood_beside_did_not_come_into_the_place() {
        for (texts, of, place) in [
            (&["a w", "a w b", "a b"][..], 1..2, &[][..]),
            (&["a w", "a w b", "a x b"], 1..2, &[1]),
            (&["a w", "a b"], 1..2, &[1]),
            // Changed before it went, and put between.
            (&["a w v", "a x v", "a x v b", "a b"], 1..3, &[]),
            (&["a w v", "a w b v", "a b"], 1..3, &[]),
            (&["a w v", "a w b v", "a x b y"], 1..3, &[1, 3]),
        ] {
            assert_eq!(lines(find_place(texts, of)), place, "{texts:?}");
        }
    }

    #[test]
    fn lines_are_found_where_the_way_begins_elsewhere() {
        let [then, other] =
            ["head\nworks\n", "other\nhead\nworks\n"].map(|text| Text::of(text.into()).unwrap());
        let later = Text::of(b"other\nhead\nworked\n".to_vec()).unwrap();
        let trail = Trail::new(&then, [&other, &later].map(Text::squeeze_all).into()).unwrap();
        assert_eq!(lines(trail.find_place(&(1..2))), [2]);
        assert_eq!(Trail::default().find_place(&(1..2)), None);
    }
}
