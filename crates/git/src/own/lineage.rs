//! Who wrote which line of a file on the way from a slice's basis.

use super::file::Text;
use super::handed::{Handed, find_name_after};
use super::moved::Index;
use super::way::{Moves, Step, list_names};
use crate::lines::{Hunk, digest_lines, find_reshaped, hunks, is_telling};
use crate::{Repo, RepoError};
use cook_core::diagnostic::Failure;
use cook_core::model::{OwnFile, OwnHunk};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

/// Files that are followed because text was moved out of them.
const MAX_GIVERS: usize = 200;

/// Where a line comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// This line of the basis.
    Basis(usize),
    Own,
    Foreign,
}

/// The lines of a file at some commit, and who took lines of the basis away.
struct Lineage {
    lines: Vec<Origin>,
    removed: BTreeMap<usize, bool>,
}

/// Who wrote the lines of files, by the step that follows and their names there; none where they are no text.
type Givers = HashMap<(usize, String), Option<Rc<Vec<Origin>>>>;

/// The way that files are followed on.
pub(super) struct Trace<'a> {
    pub(super) repo: &'a Repo,
    pub(super) basis: &'a str,
    pub(super) steps: &'a [Step],
    pub(super) moves: &'a [Moves],
    pub(super) handed: &'a [Handed],
    /// Files before the steps that text was moved out of.
    givers: RefCell<Givers>,
}

impl<'a> Trace<'a> {
    pub(super) fn new(
        repo: &'a Repo,
        basis: &'a str,
        (steps, moves): (&'a [Step], &'a [Moves]),
        handed: &'a [Handed],
    ) -> Self {
        Self {
            repo,
            basis,
            steps,
            moves,
            handed,
            givers: RefCell::default(),
        }
    }

    /// The file's own hunks; none where it is no text, or was too large for one at the basis.
    pub(super) fn own_hunks(
        &self,
        file: &OwnFile,
        head: &str,
        names: &[String],
    ) -> Result<Option<Vec<OwnHunk>>, Failure> {
        let source = file.from.as_deref().unwrap_or(&file.path);
        // What is deleted as no text has no line that tells of it.
        if file.entry.is_none() && self.repo.read_text_at(self.basis, source)?.is_none() {
            return Ok(None);
        }
        let (Some(old), Some(new)) = (
            self.repo.read_lines_at(self.basis, source)?,
            self.repo.read_text_at(head, &file.path)?,
        ) else {
            return Ok(None);
        };
        let others: Vec<&str> = [Some(&file.path), file.from.as_ref()]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let lineage = self.lineage(&old, names, &others)?;
        let (lines, were) = (new.lines(), old.lines());
        // Where the way is longer than what is looked at, nothing before it is own.
        let is_own = |at: usize| lineage.lines.get(at) == Some(&Origin::Own);
        let mut found = Vec::new();
        for hunk in hunks(old.bytes(), new.bytes())? {
            let own = runs(hunk.new.clone(), is_own);
            let took = |at: usize| lineage.removed.get(&at) == Some(&true);
            let taken = runs(hunk.old.clone(), took);
            let mut note = |run: &Range<usize>, was: Range<usize>| {
                let sha256 = digest_lines(lines.get(run.clone()).unwrap_or_default());
                let was_sha256 = digest_lines(were.get(was.clone()).unwrap_or_default());
                found.push(OwnHunk::new(run, sha256, &was, was_sha256));
            };
            // What others took away beside it is not what own lines replaced.
            let was = match (taken.first(), taken.last()) {
                (Some(first), Some(last)) => first.start..last.end,
                _ => hunk.old.start..hunk.old.start,
            };
            own.iter().for_each(|run| note(run, was.clone()));
            if own.is_empty() {
                let place = hunk.new.start..hunk.new.start;
                taken.into_iter().for_each(|was| note(&place, was));
            }
        }
        Ok(Some(found))
    }

    /// Who wrote the lines of a file that has these names from the basis on, at the last of them.
    /// `others` are names that it may have had as well.
    fn lineage(&self, old: &Text, names: &[String], others: &[&str]) -> Result<Lineage, Failure> {
        let mut lineage = Lineage {
            lines: (0..old.lines().len()).map(Origin::Basis).collect(),
            removed: BTreeMap::new(),
        };
        let mut before = old.clone();
        // Others made it something that has no lines: they took away what was there.
        let mut is_taken = false;
        for (number, (step, names)) in self.steps.iter().zip(names.windows(2)).enumerate() {
            // The next text is held against the last one.
            let Some(after) = self.read_text_on_the_way(&step.commit, names, others)? else {
                is_taken |= !step.own;
                continue;
            };
            let takes = step.own && !std::mem::take(&mut is_taken);
            if after.bytes() == before.bytes() {
                continue;
            }
            let mut brought = Vec::new();
            for other in &step.others {
                let was = match &other.after {
                    Some(commit) => self.read_text_on_the_way(commit, names, others)?,
                    None => None,
                };
                if let Some(text) = self.read_text_on_the_way(&other.commit, names, others)? {
                    brought.push((text, was));
                }
            }
            let changed = hunks(before.bytes(), after.bytes())?;
            let received = match (step.own, names.last()) {
                (false, Some(name)) => {
                    let texts = (&before, &after);
                    self.find_received(number, name, &lineage.lines, texts, &changed)?
                }
                _ => BTreeSet::new(),
            };
            let texts = (&before, &after);
            lineage.take(texts, &brought, (step.own, takes), (changed, &received))?;
            before = after;
        }
        Ok(lineage)
    }

    /// The file's text at a commit, by whichever of its names it has there.
    fn read_text_on_the_way(
        &self,
        commit: &str,
        names: &[String],
        others: &[&str],
    ) -> Result<Option<Text>, Failure> {
        let names = names.iter().rev().map(String::as_str);
        for name in names.chain(others.iter().copied()) {
            if self.repo.tree_entry(commit, name)?.is_some() {
                return self.repo.read_text_at(commit, name);
            }
        }
        Ok(Some(Text::default()))
    }

    /// Lines of the file after somebody else's step that are own text which the step took from
    /// another place.
    fn find_received(
        &self,
        number: usize,
        name: &str,
        lines: &[Origin],
        (before, after): (&Text, &Text),
        changed: &[Hunk],
    ) -> Result<BTreeSet<usize>, Failure> {
        let mut found = BTreeSet::new();
        let given = find_taken_out(lines, changed);
        let others = self.handed.get(number).and_then(|handed| handed.get(name));
        if given.is_empty() && others.is_none() {
            return Ok(found);
        }
        let mut index = Index::default();
        let new: Vec<Range<usize>> = changed.iter().map(|hunk| hunk.new.clone()).collect();
        index.add(&after.lines(), |at| is_in(&new, at));
        let mut take = |given: &[Range<usize>], text: &Text| {
            let lines = text.lines();
            for block in given {
                let block = lines.get(block.clone()).unwrap_or_default();
                for run in index.find_runs(block, |_| true) {
                    found.extend(run.at);
                }
            }
        };
        take(&given, before);
        for other in others.into_iter().flatten() {
            let (Some(lines), Some(step)) = (self.giver(number, other)?, self.steps.get(number))
            else {
                continue;
            };
            let name = self
                .moves
                .get(number)
                .map_or(&**other, |moves| find_name_after(other, moves));
            let was = self
                .repo
                .read_text_at(&step.parent, other)?
                .unwrap_or_default();
            let is = self
                .repo
                .read_text_at(&step.commit, name)?
                .unwrap_or_default();
            take(
                &find_taken_out(&lines, &hunks(was.bytes(), is.bytes())?),
                &was,
            );
        }
        Ok(found)
    }

    /// Who wrote the lines of a file that has this name before the step.
    fn giver(&self, number: usize, name: &str) -> Result<Option<Rc<Vec<Origin>>>, Failure> {
        let key = (number, name.to_owned());
        if let Some(known) = self.givers.borrow().get(&key) {
            return Ok(known.clone());
        }
        if self.givers.borrow().len() == MAX_GIVERS {
            return Ok(None);
        }
        // Counted before those that it is found by.
        self.givers.borrow_mut().insert(key.clone(), None);
        let names = list_names(name, self.moves.get(..number).unwrap_or_default());
        let first = names.first().map_or(name, String::as_str);
        let lines = match self.repo.read_text_at(self.basis, first)? {
            Some(old) => Some(Rc::new(self.lineage(&old, &names, &[])?.lines)),
            None => None,
        };
        self.givers.borrow_mut().insert(key, lines.clone());
        Ok(lines)
    }
}

/// Runs of own lines that are not in the file any more.
fn find_taken_out(lines: &[Origin], changed: &[Hunk]) -> Vec<Range<usize>> {
    let is_own = |at: usize| lines.get(at) == Some(&Origin::Own);
    let old = changed.iter().map(|hunk| hunk.old.clone());
    old.flat_map(|old| runs(old, is_own)).collect()
}

impl Lineage {
    /// One commit further. Of what others brought, all that their text has or what it has over the
    /// one before it, nothing is its own.
    fn take(
        &mut self,
        (before, after): (&Text, &Text),
        others: &[(Text, Option<Text>)],
        (writes, takes): (bool, bool),
        (changed, received): (Vec<Hunk>, &BTreeSet<usize>),
    ) -> Result<(), RepoError> {
        let mut brought = BTreeSet::new();
        let mut missing = BTreeSet::new();
        for (other, was) in others {
            let stay = Change::between(other, after)?.kept.into_iter();
            match was {
                None => {
                    brought.extend(stay.map(|(_, at)| at));
                    missing.extend(Change::between(before, other)?.took);
                }
                Some(was) => {
                    let theirs = Change::between(was, other)?;
                    let is_theirs = |(at, _): &(usize, usize)| theirs.wrote.contains(at);
                    brought.extend(stay.filter(is_theirs).map(|(_, at)| at));
                    let stood = Change::between(before, was)?.kept.into_iter();
                    let is_taken = |(_, at): &(usize, usize)| theirs.took.contains(at);
                    missing.extend(stood.filter(is_taken).map(|(at, _)| at));
                }
            }
        }
        let wrote = |at: usize| (writes || received.contains(&at)) && !brought.contains(&at);
        let took = |at: usize| takes && !missing.contains(&at);
        let mut lines = Vec::with_capacity(after.lines().len());
        let mut next = 0;
        let (were, are) = (before.lines(), after.lines());
        for Hunk { old, new } in changed {
            lines.extend(self.lines.get(next..old.start).unwrap_or_default());
            // Whoever only shaped a line otherwise wrote nothing.
            let reshaped = find_reshaped(
                were.get(old.clone()).unwrap_or_default(),
                are.get(new.clone()).unwrap_or_default(),
            );
            let stays: BTreeSet<usize> = reshaped.from.iter().flatten().copied().collect();
            for (place, at) in old.clone().enumerate() {
                if let Some(Origin::Basis(line)) = self.lines.get(at)
                    && !stays.contains(&place)
                {
                    self.removed.insert(*line, took(at));
                }
            }
            let origin = |(at, from): (usize, &Option<usize>)| {
                let from = from.and_then(|place| self.lines.get(old.start + place));
                match (from, wrote(at)) {
                    (Some(from), _) => *from,
                    (None, true) => Origin::Own,
                    (None, false) => Origin::Foreign,
                }
            };
            lines.extend(new.zip(&reshaped.from).map(origin));
            next = old.end;
        }
        lines.extend(self.lines.get(next..).unwrap_or_default());
        self.lines = lines;
        Ok(())
    }
}

/// What became of one text in another.
#[derive(Default)]
struct Change {
    /// Lines that both hold, by their places in both.
    kept: Vec<(usize, usize)>,
    /// Lines that only the first holds, and only the second, in whatever shape.
    took: BTreeSet<usize>,
    wrote: BTreeSet<usize>,
}

impl Change {
    fn between(old: &Text, new: &Text) -> Result<Self, RepoError> {
        let mut change = Self::default();
        let (were, are) = (old.lines(), new.lines());
        let (mut from, mut to) = (0, 0);
        for hunk in hunks(old.bytes(), new.bytes())? {
            change
                .kept
                .extend((from..hunk.old.start).zip(to..hunk.new.start));
            (from, to) = (hunk.old.end, hunk.new.end);
            let here = are.get(hunk.new.clone()).unwrap_or_default();
            let reshaped = find_reshaped(were.get(hunk.old.clone()).unwrap_or_default(), here);
            for ((at, line), from) in hunk.new.zip(here).zip(reshaped.from) {
                match from {
                    // Braces are anybody's.
                    Some(from) if is_telling(&[line]) => {
                        change.kept.push((hunk.old.start + from, at));
                    }
                    Some(_) => {}
                    None => drop(change.wrote.insert(at)),
                }
            }
            let stays = |at: &usize| reshaped.stay.contains(&(at - hunk.old.start));
            change.took.extend(hunk.old.clone().filter(|at| !stays(at)));
        }
        change.kept.extend((from..were.len()).zip(to..are.len()));
        Ok(change)
    }
}

/// One of the ranges, which are in order, holds the line.
fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.contains(&at))
}

/// Maximal runs of lines that are wanted.
fn runs(range: Range<usize>, wanted: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in range.filter(|at| wanted(*at)) {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}
