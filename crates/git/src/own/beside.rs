//! What came into the place of lines, change by change: what had stood beside them before they went
//! did not.

use super::file::Text;
use super::place::{image, list_touching};
use crate::Repo;
use crate::lines::{Hunk, find_lines, hunks, split_lines};
use cook_core::diagnostic::Failure;
use cook_core::model::TreeEntry;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Comparisons of two texts of a file, and the bytes of all its texts; after that nothing is known.
const MAX_COMPARED: usize = 400;
const MAX_BYTES: usize = 64 << 20;
/// Places of the way at which lines are looked for that do not stand at its beginning.
const PROBES: usize = 16;

/// The entry at a commit of the way, and its text.
type ReadEntry<'a> = dyn Fn(usize) -> Result<Option<TreeEntry>, Failure> + 'a;
type ReadText<'a> = dyn Fn(&TreeEntry) -> Result<Option<Text>, Failure> + 'a;
/// By the ids of two texts.
type Compared = HashMap<(String, String), Rc<Vec<Hunk>>>;

/// A file on the way from one commit to another. Few of its texts are read: where lines went is found by
/// halving the way.
pub struct Trail<'a> {
    read: Box<ReadEntry<'a>>,
    read_text: Box<ReadText<'a>>,
    /// Commits of the way.
    length: usize,
    /// The text whose lines are followed, without white space in its lines.
    then: Rc<Vec<u8>>,
    entries: RefCell<HashMap<usize, Option<TreeEntry>>>,
    texts: RefCell<HashMap<String, Rc<Vec<u8>>>>,
    bytes: Cell<usize>,
    compared: RefCell<Compared>,
    /// Where the lines that were looked for first stand, when that is not the beginning.
    probed: OnceCell<Option<usize>>,
}

/// Where lines stand: which commit of the way, and the lines.
type Stand = (usize, Vec<Range<usize>>);

impl<'a> Trail<'a> {
    fn new(
        then: &Text,
        length: usize,
        read: Box<ReadEntry<'a>>,
        read_text: Box<ReadText<'a>>,
    ) -> Self {
        Self {
            read,
            read_text,
            length,
            then: Rc::new(then.squeeze_all()),
            entries: RefCell::default(),
            texts: RefCell::default(),
            bytes: Cell::new(0),
            compared: RefCell::default(),
            probed: OnceCell::new(),
        }
    }

    /// The lines (from 0) of the last text that came into the place of these, in order, with those that
    /// stayed; none where that is not known.
    pub(super) fn find_place(
        &self,
        lines: &Range<usize>,
    ) -> Result<Option<Vec<Range<usize>>>, Failure> {
        let Some((mut at, mut place)) = self.find_start(lines)? else {
            return Ok(None);
        };
        let last = self.length - 1;
        while at < last && !place.is_empty() {
            let Some((stood, moved)) = self.find_last(at, &place)? else {
                return Ok(None);
            };
            place = moved;
            at = stood;
            if at < last {
                let Some(changes) = self.compare(at, at + 1)? else {
                    return Ok(None);
                };
                let led = place.iter().flat_map(|run| lead(&changes, run));
                place = unite(led.collect());
                at += 1;
            }
        }
        Ok(Some(place))
    }

    /// The last commit of a part of the way at whose end the lines do not stand, or the way's end.
    fn find_last(&self, at: usize, place: &[Range<usize>]) -> Result<Option<Stand>, Failure> {
        let stands = |there: usize| -> Result<Option<Option<Vec<Range<usize>>>>, Failure> {
            let Some(changes) = self.compare(at, there)? else {
                return Ok(None);
            };
            let is_touched = |run: &Range<usize>| !list_touching(&changes, run).is_empty();
            let moved = place.iter().map(|run| image(&changes, run)).collect();
            Ok(Some((!place.iter().any(is_touched)).then_some(moved)))
        };
        let last = self.length - 1;
        let (mut low, mut high) = ((at, place.to_vec()), last);
        match stands(last)? {
            None => return Ok(None),
            Some(Some(moved)) => return Ok(Some((last, moved))),
            Some(None) => {}
        }
        while low.0 + 1 < high {
            let middle = low.0.midpoint(high);
            match stands(middle)? {
                None => return Ok(None),
                Some(Some(moved)) => low = (middle, moved),
                Some(None) => high = middle,
            }
        }
        Ok(Some(low))
    }

    /// The first commit at which the lines are found, and where.
    fn find_start(&self, lines: &Range<usize>) -> Result<Option<Stand>, Failure> {
        if self.length == 0 {
            return Ok(None);
        }
        let Some(first) = self.text(0)? else {
            return Ok(None);
        };
        if first == self.then {
            return Ok(Some((0, vec![lines.clone()])));
        }
        let all = split_lines(&self.then);
        let Some(block) = all.get(lines.clone()) else {
            return Ok(None);
        };
        let find = |number: usize| -> Result<Option<Range<usize>>, Failure> {
            let Some(text) = self.text(number)? else {
                return Ok(None);
            };
            let found = find_lines(&split_lines(&text), block);
            Ok(<[_; 1]>::try_from(found).ok().map(|[only]| only))
        };
        if self.probed.get().is_none() {
            let step = self.length.div_ceil(PROBES);
            let mut found = None;
            for number in (0..self.length).step_by(step) {
                if find(number)?.is_some() {
                    found = Some(number);
                    break;
                }
            }
            let _ = self.probed.set(found);
        }
        let Some(start) = self.probed.get().copied().flatten() else {
            return Ok(None);
        };
        Ok(find(start)?.map(|lines| (start, vec![lines])))
    }

    fn compare(&self, one: usize, other: usize) -> Result<Option<Rc<Vec<Hunk>>>, Failure> {
        let ids = (self.name(one)?, self.name(other)?);
        if let Some(known) = self.compared.borrow().get(&ids) {
            return Ok(Some(known.clone()));
        }
        let (Some(was), Some(is)) = (self.text(one)?, self.text(other)?) else {
            return Ok(None);
        };
        if self.compared.borrow().len() == MAX_COMPARED {
            return Ok(None);
        }
        let found = Rc::new(hunks(&was, &is)?);
        self.compared.borrow_mut().insert(ids, found.clone());
        Ok(Some(found))
    }

    fn name(&self, number: usize) -> Result<String, Failure> {
        Ok(self
            .entry(number)?
            .map(|entry| entry.id)
            .unwrap_or_default())
    }

    /// What stands there. It may have been called otherwise for a while: then what it was before.
    fn entry(&self, number: usize) -> Result<Option<TreeEntry>, Failure> {
        if let Some(known) = self.entries.borrow().get(&number) {
            return Ok(known.clone());
        }
        let found = match (self.read)(number)? {
            None if number > 0 => self.entry(number - 1)?,
            found => found,
        };
        self.entries.borrow_mut().insert(number, found.clone());
        Ok(found)
    }

    /// Its text; none where too much was read.
    fn text(&self, number: usize) -> Result<Option<Rc<Vec<u8>>>, Failure> {
        let entry = self.entry(number)?;
        let id = entry.as_ref().map_or("", |entry| &entry.id).to_owned();
        if let Some(known) = self.texts.borrow().get(&id) {
            return Ok(Some(known.clone()));
        }
        let text = match &entry {
            Some(entry) => (self.read_text)(entry)?.unwrap_or_default(),
            None => Text::default(),
        };
        self.bytes.set(self.bytes.get() + text.bytes().len());
        if self.bytes.get() > MAX_BYTES {
            return Ok(None);
        }
        let squeezed = Rc::new(text.squeeze_all());
        self.texts.borrow_mut().insert(id, squeezed.clone());
        Ok(Some(squeezed))
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
    /// A file on the way from one commit to another, on which the lines of `then` are followed; `names` are
    /// its former name and the one that it has now.
    pub fn find_trail<'a>(
        &'a self,
        way: &'a [(String, String)],
        names: (&'a str, &'a str),
        then: &Text,
    ) -> Trail<'a> {
        let read = move |number: usize| -> Result<Option<TreeEntry>, Failure> {
            let commit = match number.checked_sub(1) {
                None => &way[0].0,
                Some(step) => &way[step].1,
            };
            match self.tree_entry(commit, names.1)? {
                None if names.0 != names.1 => self.tree_entry(commit, names.0),
                entry => Ok(entry),
            }
        };
        let length = match way.len() {
            0 => 0,
            steps => steps + 1,
        };
        Trail::new(
            then,
            length,
            Box::new(read),
            Box::new(|entry| self.read_text(Some(entry))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each text is the entry of its number.
    fn make_trail(then: &Text, texts: Vec<String>) -> Trail<'static> {
        let length = texts.len();
        let entry = |number: usize| TreeEntry {
            mode: "100644".to_owned(),
            id: number.to_string(),
        };
        Trail::new(
            then,
            length,
            Box::new(move |number| Ok(Some(entry(number)))),
            Box::new(move |entry| {
                let number: usize = entry.id.parse().unwrap();
                Ok(Text::of(texts[number].clone().into()))
            }),
        )
    }

    fn find_place(texts: &[&str], lines: Range<usize>) -> Option<Vec<Range<usize>>> {
        let texts = texts.iter().map(|text| text.replace(' ', "\n") + "\n");
        let texts: Vec<String> = texts.collect();
        let then = Text::of(texts[0].clone().into()).unwrap();
        make_trail(&then, texts).find_place(&lines).unwrap()
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
    fn a_long_way_is_halved() {
        let mut texts = vec!["a w v"; 300];
        texts.extend(vec!["a w v b"; 300]);
        texts.extend(vec!["a x v b"; 300]);
        texts.extend(vec!["a x b c"; 100]);
        assert_eq!(lines(find_place(&texts, 1..3)), [1]);
        texts.push("a b c");
        assert_eq!(lines(find_place(&texts, 1..3)), [0; 0]);
    }

    #[test]
    fn lines_are_found_where_the_way_begins_elsewhere() {
        let then = Text::of(b"head\nworks\n".to_vec()).unwrap();
        let find = |texts: &[&str]| {
            let texts = texts.iter().map(|text| (*text).to_owned()).collect();
            make_trail(&then, texts).find_place(&(1..2)).unwrap()
        };
        let way = ["other\nhead\nworks\n", "other\nhead\nworked\n"];
        assert_eq!(lines(find(&way)), [2]);
        assert_eq!(find(&[]), None);
        assert_eq!(find(&["other\n"]), None);
    }
}
