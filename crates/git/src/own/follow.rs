//! What became of a slice's work.

use super::file::Text;
use super::moved::{Index, MAX_SEARCHED};
use super::outcome::{Comparison, Followed};
use crate::Repo;
use crate::history::ChangeKind;
use crate::lines::{find_digest, find_lines, is_telling};
use cook_core::diagnostic::Failure;
use cook_core::model::{MAX_NAMED, Own, OwnFile, OwnHunk, Rest, Survival, TextOutcome, TreeEntry};
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Pieces of one slice that are looked for in other files.
const MAX_SOUGHT: usize = 200;
/// Bytes of text that are searched for that.
const MAX_SEARCHED_BYTES: usize = 64 << 20;
/// Own commits before the last whose text is compared.
const MAX_ATTEMPTS: usize = 20;

/// A slice's work as it is followed to a commit.
pub struct Following<'a> {
    repo: &'a Repo,
    own: &'a Own,
    at: &'a str,
    /// The slice's head, where it is still here.
    head: Option<String>,
    /// A commit on the way to the slice's head that the history of `at` left it at.
    fork: Option<String>,
    renames: OnceCell<BTreeMap<String, String>>,
    changed: OnceCell<(Vec<String>, Index)>,
    sought: Cell<usize>,
    /// Each commit since the slice's head, after its parent, oldest first.
    way: OnceCell<Vec<(String, String)>>,
}

/// Some lines of a piece, what became of them, and where they are.
type Part = (Range<usize>, TextOutcome, (String, Range<usize>));

/// A piece of the work, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which of its file's hunks it is, or is a part of; none = the file as a whole.
    pub hunk: Option<usize>,
    /// Path and lines (from 0) at the slice's head.
    pub then: (String, Range<usize>),
    /// What became of it.
    pub outcome: TextOutcome,
    /// Path and lines (from 0) now, where there is something.
    pub now: Option<(String, Range<usize>)>,
    /// It says enough to be told from others.
    pub tells: bool,
}

impl<'a> Following<'a> {
    /// The work, and the commit (full id) it is followed to.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn new(repo: &'a Repo, own: &'a Own, at: &'a str) -> Result<Self, Failure> {
        let head = repo.resolve(&own.head)?;
        let mut fork = None;
        if let Some(head) = &head
            && !repo.is_ancestor(head, at)?
            && let Some(base) = repo.merge_base(head, at)?
            && base != own.basis
            && repo.resolve(&own.basis)?.is_some()
            && repo.is_ancestor(&own.basis, &base)?
        {
            fork = Some(base);
        }
        Ok(Self {
            repo,
            own,
            at,
            head,
            fork,
            renames: OnceCell::new(),
            changed: OnceCell::new(),
            sought: Cell::new(0),
            way: OnceCell::new(),
        })
    }

    /// How much of the work is there.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn survival(&self) -> Result<Survival, Failure> {
        let on_head = match &self.head {
            Some(head) => self.repo.is_ancestor(head, self.at)?,
            None => false,
        };
        let mut pieces = Vec::new();
        for file in &self.own.files {
            pieces.extend(self.pieces(file)?);
        }
        // Braces and blank lines turn up everywhere.
        if pieces.iter().any(|piece| piece.tells) {
            pieces.retain(|piece| piece.tells);
        }
        let named = |wanted: fn(TextOutcome) -> bool| -> Vec<String> {
            let named = pieces.iter().filter(|piece| wanted(piece.outcome));
            named.take(MAX_NAMED).map(Piece::name).collect()
        };
        let rest = match pieces.is_empty() {
            true => Rest::Whole,
            false if pieces.iter().all(|piece| piece.outcome.survives()) => Rest::Whole,
            false if pieces.iter().all(|piece| piece.outcome.is_lost()) => Rest::None,
            false => Rest::Part,
        };
        Ok(Survival {
            rest,
            on_head,
            lost: named(TextOutcome::is_lost),
            rewritten: named(|outcome| outcome == TextOutcome::Rewritten),
        })
    }

    /// The pieces of one file.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn pieces(&self, file: &OwnFile) -> Result<Vec<Piece>, Failure> {
        let here = self.repo.tree_entry(self.at, &file.path)?;
        let stands = here == file.entry;
        if stands && file.hunks.is_empty() {
            return Ok(vec![whole(file, TextOutcome::Stands, Some(&file.path))]);
        }
        let renamed = match (&here, &file.entry) {
            (None, Some(_)) => self.find_renamed(&file.path)?,
            _ => None,
        };
        let path = renamed.as_deref().unwrap_or(&file.path);
        if file.hunks.is_empty() {
            let now = self.repo.tree_entry(self.at, path)?;
            let outcome = entry_outcome(file, now.as_ref(), renamed.is_some());
            return Ok(vec![whole(file, outcome, now.map(|_| path))]);
        }
        let then = self.repo.read_text(file.entry.as_ref())?;
        let was_there = self.repo.read_text(file.was.as_ref())?;
        let tells = |hunk: &OwnHunk| {
            let (text, lines) = match hunk.lines.0 {
                0 => (&was_there, hunk.was()),
                _ => (&then, hunk.span()),
            };
            let lines = |text: &Text| is_telling(text.lines().get(lines).unwrap_or_default());
            text.as_ref().is_none_or(lines)
        };
        let mut pieces = Vec::new();
        if stands {
            pieces.extend(file.hunks.iter().enumerate().map(|(number, hunk)| Piece {
                hunk: Some(number),
                then: (file.path.clone(), hunk.span()),
                outcome: TextOutcome::Stands,
                now: Some((file.path.clone(), hunk.span())),
                tells: tells(hunk),
            }));
            return Ok(pieces);
        }
        let now = self.repo.read_text_at(self.at, path)?;
        let before = self.before(file)?;
        let compared = match (&then, &now) {
            (Some(then), Some(now)) => Some(Comparison::new(then, now, &before)?),
            _ => None,
        };
        for (number, hunk) in file.hunks.iter().enumerate() {
            let (outcome, lines) = match (&now, &compared) {
                (None, _) => (TextOutcome::Gone, None),
                (Some(_), Some(compared)) => {
                    let Followed { outcome, now } =
                        compared.find_outcome(hunk.span(), &hunk.was())?;
                    (outcome, Some(now))
                }
                (Some(now), None) => by_digest(hunk, now),
            };
            let mut piece = Piece {
                hunk: Some(number),
                then: (file.path.clone(), hunk.span()),
                outcome,
                now: lines.map(|lines| (path.to_owned(), lines)),
                tells: tells(hunk),
            };
            if renamed.is_some() && outcome == TextOutcome::Stands {
                piece.outcome = TextOutcome::Moved;
            }
            let mut parts = Vec::new();
            if let (Some(then), true) = (&then, !piece.outcome.survives() && piece.tells) {
                let now = now.as_ref().zip(compared.as_ref());
                parts = self.find_moved_parts(path, then, now, hunk.span())?;
                if let [(run, outcome, now)] = &parts[..]
                    && *run == hunk.span()
                {
                    (piece.outcome, piece.now) = (*outcome, Some(now.clone()));
                    parts.clear();
                }
                let tells = |run: Range<usize>| {
                    let lines = then.lines();
                    is_telling(lines.get(run).unwrap_or_default())
                };
                let stays = compared
                    .iter()
                    .flat_map(|it| it.list_untouched(&hunk.span()));
                let stays = stays.filter(|(run, _)| tells(run.clone()));
                let outcome = match renamed.is_some() {
                    true => TextOutcome::Moved,
                    false => TextOutcome::Stands,
                };
                let stays = stays.map(|(run, now)| (run, outcome, (path.to_owned(), now)));
                if piece.outcome.is_lost() || !parts.is_empty() {
                    parts.extend(stays);
                }
            }
            let is_left = |at: &usize| !parts.iter().any(|(run, ..)| run.contains(at));
            let is_all = !parts.is_empty()
                && then.as_ref().is_some_and(|then| {
                    let lines = then.lines();
                    let left = hunk.span().filter(is_left);
                    let left = left.filter_map(|at| lines.get(at).copied());
                    !is_telling(&left.collect::<Vec<_>>())
                });
            pieces.extend(parts.into_iter().map(|(run, outcome, now)| Piece {
                then: (file.path.clone(), run),
                outcome,
                now: Some(now),
                ..piece.clone()
            }));
            // Where each of its lines is somewhere, nothing of it is lost.
            if !is_all {
                pieces.push(piece);
            }
        }
        Ok(pieces)
    }

    /// The texts that stood in the file before the work.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn before(&self, file: &OwnFile) -> Result<Vec<Text>, Failure> {
        let mut before: Vec<Text> = self
            .repo
            .read_text(file.was.as_ref())?
            .into_iter()
            .collect();
        // What stood there before the accepted text is an attempt that was not good enough.
        let attempts = self.own.commits.iter().rev().skip(1).take(MAX_ATTEMPTS);
        for commit in attempts.chain(&self.fork) {
            if self.repo.resolve(commit)?.is_some() {
                before.extend(self.repo.read_text_at(commit, &file.path)?);
            }
        }
        Ok(before)
    }

    /// The file's name now, where git sees that it was renamed.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn find_renamed(&self, path: &str) -> Result<Option<String>, Failure> {
        if self.renames.get().is_none() {
            let renames = match &self.head {
                Some(head) => self.repo.renames(head, self.at)?,
                None => Vec::new(),
            };
            let by_old = renames.into_iter().map(|(new, old)| (old, new)).collect();
            let _ = self.renames.set(by_old);
        }
        let renames = self.renames.get();
        Ok(renames.and_then(|renames| renames.get(path).cloned()))
    }

    /// Runs of these lines that stand elsewhere in their file, or in one other that changed, and did
    /// not before.
    fn find_moved_parts(
        &self,
        path: &str,
        then: &Text,
        now: Option<(&Text, &Comparison<'_>)>,
        lines: Range<usize>,
    ) -> Result<Vec<Part>, Failure> {
        let all = then.lines();
        let mut here = Index::default();
        let mut due = vec![lines.clone()];
        if let Some((now, compared)) = now {
            let (now, mut is_new) = (now.lines(), Vec::new());
            for at in 0..now.len() {
                is_new.push(compared.is_new(at)?);
            }
            here.add(&now, |at| is_new[at]);
            let mut at = lines.start;
            due.clear();
            for (run, _) in compared.list_untouched(&lines) {
                due.push(at..run.start);
                at = run.end;
            }
            due.push(at..lines.end);
        }
        let mut parts = Vec::new();
        for due in due {
            let block = all.get(due.clone()).unwrap_or_default();
            let mut left = due.start..due.start;
            let mut others = Vec::new();
            for run in here.find_runs(block, |_| true) {
                let of = due.start + run.of.start..due.start + run.of.end;
                others.push(left.start..of.start);
                left = of.end..of.end;
                parts.push((of, TextOutcome::Moved, (path.to_owned(), run.at)));
            }
            others.push(left.start..due.end);
            for other in others {
                parts.extend(self.elsewhere(path, &all, other)?);
            }
        }
        Ok(parts)
    }

    /// The same in other files.
    fn elsewhere(
        &self,
        path: &str,
        then: &[&[u8]],
        lines: Range<usize>,
    ) -> Result<Vec<Part>, Failure> {
        let block = then.get(lines.clone()).unwrap_or_default();
        let (Some(head), true) = (&self.head, is_telling(block)) else {
            return Ok(Vec::new());
        };
        self.sought.set(self.sought.get() + 1);
        if self.sought.get() > MAX_SOUGHT {
            return Ok(Vec::new());
        }
        if self.changed.get().is_none() {
            let _ = self.changed.set(self.index_changed(head)?);
        }
        let Some((paths, index)) = self.changed.get() else {
            return Ok(Vec::new());
        };
        let mut parts = Vec::new();
        for run in index.find_runs(block, |text| paths[text] != path) {
            let other = &paths[run.text];
            // What stood there already did not move there, and what stood there at the basis was put back.
            let mut is_new = true;
            for commit in [head, &self.own.basis] {
                if self.repo.resolve(commit)?.is_some() {
                    let was = self.repo.read_text_at(commit, other)?.unwrap_or_default();
                    is_new &= find_lines(&was.lines(), &block[run.of.clone()]).is_empty();
                }
            }
            if is_new && !self.has_stood_before(path, other, &block[run.of.clone()])? {
                let of = lines.start + run.of.start..lines.start + run.of.end;
                parts.push((of, TextOutcome::Moved, (other.clone(), run.at)));
            }
        }
        Ok(parts)
    }

    /// Where the lines left their file, the other one held them already: they are somebody's who wrote
    /// the same, and did not move there.
    fn has_stood_before(&self, path: &str, other: &str, lines: &[&[u8]]) -> Result<bool, Failure> {
        let holds = |commit: &str, path: &str| -> Result<bool, Failure> {
            let text = self.repo.read_text_at(commit, path)?.unwrap_or_default();
            Ok(!find_lines(&text.lines(), lines).is_empty())
        };
        if self.way.get().is_none() {
            let head = self.head.as_deref().unwrap_or(self.at);
            let steps = self.repo.steps(head, self.at, &BTreeSet::new())?;
            let ids = steps.into_iter().map(|step| (step.parent, step.commit));
            let _ = self.way.set(ids.collect());
        }
        let mut held = None;
        for (parent, commit) in self.way.get().into_iter().flatten().rev() {
            let after = match held {
                Some(held) => held,
                None => holds(commit, path)?,
            };
            let before = holds(parent, path)?;
            held = Some(before);
            if before && !after && holds(parent, other)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Files that changed since the slice's head, and their lines now.
    fn index_changed(&self, head: &str) -> Result<(Vec<String>, Index), Failure> {
        let (mut paths, mut index, mut bytes) = (Vec::new(), Index::default(), 0);
        let changes = self.repo.changes(Some(head), self.at)?.into_iter();
        let there = changes.filter(|change| change.kind != ChangeKind::Deleted);
        for change in there.take(MAX_SEARCHED) {
            let text = self
                .repo
                .read_text_at(self.at, &change.path)?
                .unwrap_or_default();
            bytes += text.bytes().len();
            if bytes > MAX_SEARCHED_BYTES {
                break;
            }
            index.add(&text.lines(), |_| true);
            paths.push(change.path);
        }
        Ok((paths, index))
    }
}

impl Piece {
    /// Where it stood, for a reader.
    fn name(&self) -> String {
        let (path, lines) = &self.then;
        match lines.len() {
            0 => path.clone(),
            1 => format!("{path}:{}", lines.end),
            _ => format!("{path}:{}-{}", lines.start + 1, lines.end),
        }
    }
}

fn whole(file: &OwnFile, outcome: TextOutcome, now: Option<&str>) -> Piece {
    Piece {
        hunk: None,
        then: (file.path.clone(), 0..0),
        outcome,
        now: now.map(|path| (path.to_owned(), 0..0)),
        tells: true,
    }
}

fn entry_outcome(file: &OwnFile, now: Option<&TreeEntry>, renamed: bool) -> TextOutcome {
    match (now, &file.entry) {
        (now, entry) if now == entry.as_ref() && renamed => TextOutcome::Moved,
        (now, entry) if now == entry.as_ref() => TextOutcome::Stands,
        (now, _) if now == file.was.as_ref() => TextOutcome::Reverted,
        (None, _) => TextOutcome::Gone,
        // What was deleted is there as something else.
        (Some(_), None) => TextOutcome::Stands,
        (Some(_), Some(_)) => TextOutcome::Rewritten,
    }
}

/// The blob is not here any more, its digests are.
fn by_digest(hunk: &OwnHunk, now: &Text) -> (TextOutcome, Option<Range<usize>>) {
    if hunk.lines.0 == 0 {
        let back = find_digest(&now.lines(), hunk.was_lines.0 as usize, &hunk.was_sha256);
        return match back.is_empty() {
            true => (TextOutcome::Stands, None),
            false => (TextOutcome::Reverted, None),
        };
    }
    let found = find_digest(&now.lines(), hunk.lines.0 as usize, &hunk.sha256);
    let back = find_digest(&now.lines(), hunk.was_lines.0 as usize, &hunk.was_sha256);
    match (&found[..], now.lines().is_empty()) {
        ([only], _) => (TextOutcome::Stands, Some(only.clone())),
        ([], true) => (TextOutcome::Gone, None),
        ([], _) if !back.is_empty() => (TextOutcome::Reverted, None),
        _ => (TextOutcome::Rewritten, None),
    }
}
