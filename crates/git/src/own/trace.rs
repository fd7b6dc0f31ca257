//! Who wrote which line between a slice's basis and its head.

use super::file::Text;
use crate::history::ChangeKind;
use crate::lines::{Hunk, digest_lines, find_reshaped, hunks};
use crate::{Repo, RepoError};
use cook_core::diagnostic::Failure;
use cook_core::model::{Count, Own, OwnFile, OwnHunk};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Commits that are looked at one by one.
const MAX_STEPS: usize = 500;
/// Files that are listed.
const MAX_FILES: usize = 2_000;
/// Hunks that are listed; files after that count as a whole.
const MAX_HUNKS: usize = 4_000;

/// A commit on the way from the basis.
pub(super) struct Step {
    pub(super) commit: String,
    /// The parent on that way.
    pub(super) parent: String,
    others: Vec<String>,
    pub(super) own: bool,
}

/// Renames of a step: new names to old ones.
type Moves = BTreeMap<String, String>;

/// What a file was called before the first step, and after each.
fn names_of(path: &str, moves: &[Moves]) -> Vec<String> {
    let mut names = vec![path.to_owned()];
    for moves in moves.iter().rev() {
        let name = names.last().map_or(path, String::as_str);
        names.push(moves.get(name).map_or(name, String::as_str).to_owned());
    }
    names.reverse();
    names
}

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

impl Repo {
    /// What commits of `basis..head` that are among `claimed` wrote and took away. Commits that a
    /// merge brought in are somebody else's, whoever claims them. `only` names the files to look at.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn own(
        &self,
        basis: &str,
        head: &str,
        claimed: &BTreeSet<String>,
        only: Option<&BTreeSet<String>>,
    ) -> Result<Own, Failure> {
        let steps = self.steps(basis, head, claimed)?;
        let changes = self.changes(Some(basis), head)?;
        let has = |kind| changes.iter().any(|change| change.kind == kind);
        let moves = self.moves(&steps, has(ChangeKind::Added))?;
        let touched = self.touched(&steps, &moves)?;
        let mut renamed: BTreeMap<String, String> =
            match has(ChangeKind::Added) && has(ChangeKind::Deleted) {
                true => self.renames(basis, head)?.into_iter().collect(),
                false => BTreeMap::new(),
            };
        let gone = changes.iter().filter(|one| one.kind == ChangeKind::Deleted);
        let gone: BTreeSet<&str> = gone.map(|change| change.path.as_str()).collect();
        // Git sees some renames one by one alone.
        for change in changes.iter().filter(|one| one.kind == ChangeKind::Added) {
            let names = names_of(&change.path, &moves);
            let first = names.first().filter(|first| gone.contains(first.as_str()));
            if let (Some(first), None) = (first, renamed.get(&change.path)) {
                renamed.insert(change.path.clone(), first.clone());
            }
        }
        let sources: BTreeSet<&String> = renamed.values().collect();
        let mut own = Own {
            basis: basis.to_owned(),
            head: head.to_owned(),
            commits: steps
                .iter()
                .filter(|step| step.own)
                .map(|step| step.commit.clone())
                .collect(),
            ..Own::default()
        };
        let mut listed = 0;
        for change in &changes {
            let is_source = change.kind == ChangeKind::Deleted && sources.contains(&change.path);
            let is_asked = only.is_none_or(|only| only.contains(&change.path));
            if !touched.contains(&change.path) || is_source || !is_asked {
                continue;
            }
            if own.files.len() == MAX_FILES {
                own.more = Count(own.more.0 + 1);
                continue;
            }
            let from = renamed.get(&change.path);
            let mut file = OwnFile {
                entry: self.tree_entry(head, &change.path)?,
                was: self.tree_entry(basis, from.unwrap_or(&change.path))?,
                path: change.path.clone(),
                from: from.cloned(),
                hunks: Vec::new(),
            };
            let names = names_of(&change.path, &moves);
            let is_mover = |(step, (names, moves)): (&Step, (&[String], &Moves))| {
                step.own && names.last().is_some_and(|name| moves.contains_key(name))
            };
            let is_moved = moves
                .iter()
                .zip(names.windows(2))
                .any(|(moves, names)| names.last().is_some_and(|name| moves.contains_key(name)));
            let mut ways = steps.iter().zip(names.windows(2).zip(&moves));
            let renames = file.from.is_some() && (!is_moved || ways.any(is_mover));
            match self.own_hunks(&file, (basis, head), &steps, &names)? {
                // Text that own commits put back, or that others overwrote.
                Some(hunks) if hunks.is_empty() && !is_more_than_text(&file, renames) => continue,
                Some(hunks) if listed + hunks.len() <= MAX_HUNKS => {
                    listed += hunks.len();
                    file.hunks = hunks;
                }
                _ => {}
            }
            own.files.push(file);
        }
        Ok(own)
    }

    /// Commits on the way from the basis to the head.
    pub(crate) fn way(
        &self,
        basis: &str,
        head: &str,
        claimed: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Failure> {
        let steps = self.steps(basis, head, claimed)?;
        Ok(steps.into_iter().map(|step| step.commit).collect())
    }

    /// Paths that commits of `basis..head` among these changed.
    pub(crate) fn touched_by(
        &self,
        basis: &str,
        head: &str,
        claimed: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Failure> {
        let steps = self.steps(basis, head, claimed)?;
        let moves = self.moves(&steps, true)?;
        self.touched(&steps, &moves)
    }

    /// The renames of each step, new names to old ones.
    fn moves(&self, steps: &[Step], wanted: bool) -> Result<Vec<Moves>, Failure> {
        let of = |step: &Step| -> Result<Moves, Failure> {
            if !wanted {
                return Ok(Moves::new());
            }
            let changes = self.changes(Some(&step.parent), &step.commit)?;
            let has = |kind| changes.iter().any(|change| change.kind == kind);
            match has(ChangeKind::Added) && has(ChangeKind::Deleted) {
                true => Ok(self
                    .renames(&step.parent, &step.commit)?
                    .into_iter()
                    .collect()),
                false => Ok(Moves::new()),
            }
        };
        steps.iter().map(of).collect()
    }

    /// Paths that own commits changed, by the names that they have in the end; of a merge those that
    /// differ from every parent.
    fn touched(&self, steps: &[Step], moves: &[Moves]) -> Result<BTreeSet<String>, Failure> {
        let mut touched = BTreeSet::new();
        for (step, moves) in steps.iter().zip(moves) {
            for (new, old) in moves {
                if touched.contains(old) {
                    touched.insert(new.clone());
                }
            }
            if !step.own {
                continue;
            }
            let differ = |parent: &str| -> Result<BTreeSet<String>, Failure> {
                let changes = self.changes(Some(parent), &step.commit)?;
                Ok(changes.into_iter().map(|change| change.path).collect())
            };
            let mut paths = differ(&step.parent)?;
            for other in &step.others {
                let there = differ(other)?;
                paths.retain(|path| there.contains(path));
            }
            touched.append(&mut paths);
        }
        Ok(touched)
    }

    /// The way from the basis to the head: of a merge the first parent that the basis is in.
    pub(super) fn steps(
        &self,
        basis: &str,
        head: &str,
        claimed: &BTreeSet<String>,
    ) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        let mut commit = head.to_owned();
        while commit != basis && steps.len() < MAX_STEPS {
            let parents = self.ask(|history| history.parents(&commit))?;
            let Some(parent) = self.way_to(basis, &parents, claimed)? else {
                break;
            };
            steps.push(Step {
                own: claimed.contains(&commit),
                others: parents
                    .into_iter()
                    .filter(|other| *other != parent)
                    .collect(),
                commit: std::mem::replace(&mut commit, parent.clone()),
                parent,
            });
        }
        steps.reverse();
        Ok(steps)
    }

    /// The parent on the way: the first that the basis is in, sooner one that holds commits of the
    /// slice.
    fn way_to(
        &self,
        basis: &str,
        parents: &[String],
        claimed: &BTreeSet<String>,
    ) -> Result<Option<String>, Failure> {
        if let [only] = parents {
            return Ok(Some(only.clone()));
        }
        let mut first = None;
        for parent in parents {
            if !self.is_ancestor(basis, parent)? {
                continue;
            }
            for commit in claimed {
                let known = self.resolve(commit)?.is_some();
                if known && self.is_ancestor(commit, parent)? && !self.is_ancestor(commit, basis)? {
                    return Ok(Some(parent.clone()));
                }
            }
            first = first.or(Some(parent.clone()));
        }
        Ok(first)
    }

    /// The file's own hunks; none where it is no text.
    fn own_hunks(
        &self,
        file: &OwnFile,
        (basis, head): (&str, &str),
        steps: &[Step],
        names: &[String],
    ) -> Result<Option<Vec<OwnHunk>>, Failure> {
        let source = file.from.as_deref().unwrap_or(&file.path);
        let (Some(old), Some(new)) = (
            self.text_at(basis, source)?,
            self.text_at(head, &file.path)?,
        ) else {
            return Ok(None);
        };
        let Some(lineage) = self.lineage(file, &old, steps, names)? else {
            return Ok(None);
        };
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

    /// Who wrote the lines of the file at the last step; none where it was no text on the way.
    fn lineage(
        &self,
        file: &OwnFile,
        old: &Text,
        steps: &[Step],
        names: &[String],
    ) -> Result<Option<Lineage>, Failure> {
        let mut lineage = Lineage {
            lines: (0..old.lines().len()).map(Origin::Basis).collect(),
            removed: BTreeMap::new(),
        };
        let mut before = old.clone();
        for (step, names) in steps.iter().zip(names.windows(2)) {
            let Some(after) = self.text_on_the_way(&step.commit, file, names)? else {
                return Ok(None);
            };
            if after.bytes() == before.bytes() {
                continue;
            }
            let mut others = Vec::new();
            for other in &step.others {
                if let Some(text) = self.text_on_the_way(other, file, names)? {
                    others.push(text);
                }
            }
            lineage.take(&before, &after, &others, step.own)?;
            before = after;
        }
        Ok(Some(lineage))
    }

    /// The file's text at a commit, by whichever of its names it has there.
    fn text_on_the_way(
        &self,
        commit: &str,
        file: &OwnFile,
        names: &[String],
    ) -> Result<Option<Text>, Failure> {
        let others = names.iter().rev().map(String::as_str);
        let all = others
            .chain([file.path.as_str()])
            .chain(file.from.as_deref());
        for name in all {
            if self.tree_entry(commit, name)?.is_some() {
                return self.text_at(commit, name);
            }
        }
        Ok(Some(Text::default()))
    }
}

impl Lineage {
    /// One commit further. Of a merge only what none of its parents has is its own.
    fn take(
        &mut self,
        before: &Text,
        after: &Text,
        others: &[Text],
        own: bool,
    ) -> Result<(), RepoError> {
        let changed = hunks(before.bytes(), after.bytes())?;
        let mut brought = Vec::new();
        let mut missing = Vec::new();
        for other in others {
            let new = hunks(other.bytes(), after.bytes())?;
            brought.push(new.into_iter().map(|hunk| hunk.new).collect::<Vec<_>>());
            let gone = hunks(before.bytes(), other.bytes())?;
            missing.push(gone.into_iter().map(|hunk| hunk.old).collect::<Vec<_>>());
        }
        let is_in = |ranges: &[Range<usize>], at: usize| {
            let next = ranges.partition_point(|range| range.end <= at);
            ranges.get(next).is_some_and(|range| range.contains(&at))
        };
        let wrote = |at: usize| own && brought.iter().all(|new| is_in(new, at));
        let took = |at: usize| own && !missing.iter().any(|gone| is_in(gone, at));
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
            let stays: BTreeSet<usize> = reshaped.iter().flatten().copied().collect();
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
            lines.extend(new.zip(&reshaped).map(origin));
            next = old.end;
        }
        lines.extend(self.lines.get(next..).unwrap_or_default());
        self.lines = lines;
        Ok(())
    }
}

/// Something else than lines differs between a text's two entries.
fn is_more_than_text(file: &OwnFile, renames: bool) -> bool {
    match (&file.was, &file.entry) {
        (Some(was), Some(entry)) => was.mode != entry.mode || renames,
        // A file without a line.
        (Some(one), None) | (None, Some(one)) => EMPTY.contains(&one.id.as_str()),
        (None, None) => false,
    }
}

/// The blob without a byte, by SHA-1 and by SHA-256.
const EMPTY: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

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
