//! What became of a slice's work.

use super::fate::{Fated, Place, find_digest};
use super::file::{Text, is_telling, places};
use crate::Repo;
use crate::history::ChangeKind;
use cook_core::diagnostic::Failure;
use cook_core::model::{Fate, MAX_NAMED, Own, OwnFile, OwnHunk, Rest, Survival, TreeEntry};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Files that changed since the slice's head that are searched for a text that moved.
const MAX_SEARCHED: usize = 200;
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
    changed: OnceCell<Vec<String>>,
}

/// A piece of the work, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Path and lines (from 0) at the slice's head.
    pub then: (String, Range<usize>),
    /// What became of it.
    pub fate: Fate,
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
        let named = |wanted: fn(Fate) -> bool| -> Vec<String> {
            let named = pieces.iter().filter(|piece| wanted(piece.fate));
            named.take(MAX_NAMED).map(Piece::name).collect()
        };
        let rest = match pieces.is_empty() {
            true => Rest::Whole,
            false if pieces.iter().all(|piece| piece.fate.survives()) => Rest::Whole,
            false if pieces.iter().all(|piece| piece.fate.is_lost()) => Rest::None,
            false => Rest::Part,
        };
        Ok(Survival {
            rest,
            on_head,
            lost: named(Fate::is_lost),
            rewritten: named(|fate| fate == Fate::Rewritten),
        })
    }

    /// The pieces of one file.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn pieces(&self, file: &OwnFile) -> Result<Vec<Piece>, Failure> {
        let here = self.repo.tree_entry(self.at, &file.path)?;
        if here == file.entry {
            let stands = |hunk: &OwnHunk| self.piece(file, hunk, Fate::Stands, Some(span(hunk)));
            return match file.hunks.is_empty() {
                true => Ok(vec![whole(file, Fate::Stands, Some(&file.path))]),
                false => file.hunks.iter().map(stands).collect(),
            };
        }
        let renamed = match (&here, &file.entry) {
            (None, Some(_)) => self.renamed(&file.path)?,
            _ => None,
        };
        let path = renamed.as_deref().unwrap_or(&file.path);
        if file.hunks.is_empty() {
            let now = self.repo.tree_entry(self.at, path)?;
            let fate = entry_fate(file, now.as_ref(), renamed.is_some());
            return Ok(vec![whole(file, fate, now.map(|_| path))]);
        }
        let now = self.repo.text_at(self.at, path)?;
        let then = self.repo.text_of(file.entry.as_ref())?;
        let before = self.before(file)?;
        let mut pieces = Vec::new();
        for hunk in &file.hunks {
            let (fate, lines) = match (&now, &then) {
                (None, _) => (Fate::Gone, None),
                (Some(now), Some(then)) => {
                    let place = Place {
                        then,
                        lines: span(hunk),
                        was: was(hunk),
                        before: &before,
                    };
                    let Fated { fate, now } = place.fate_in(now)?;
                    (fate, Some(now))
                }
                (Some(now), None) => by_digest(hunk, now),
            };
            let mut piece = self.piece(file, hunk, fate, lines)?;
            piece.now = piece.now.map(|(_, lines)| (path.to_owned(), lines));
            if renamed.is_some() && fate == Fate::Stands {
                piece.fate = Fate::Moved;
            }
            if let (Some(then), true) = (&then, !piece.fate.survives() && piece.tells)
                && let Some(place) = self.elsewhere(path, then, span(hunk))?
            {
                piece.fate = Fate::Moved;
                piece.now = Some(place);
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// The texts that stood in the file before the work.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn before(&self, file: &OwnFile) -> Result<Vec<Text>, Failure> {
        let mut before: Vec<Text> = self.repo.text_of(file.was.as_ref())?.into_iter().collect();
        // What stood there before the accepted text is an attempt that was not good enough.
        let attempts = self.own.commits.iter().rev().skip(1).take(MAX_ATTEMPTS);
        for commit in attempts.chain(&self.fork) {
            if self.repo.resolve(commit)?.is_some() {
                before.extend(self.repo.text_at(commit, &file.path)?);
            }
        }
        Ok(before)
    }

    fn piece(
        &self,
        file: &OwnFile,
        hunk: &OwnHunk,
        fate: Fate,
        now: Option<Range<usize>>,
    ) -> Result<Piece, Failure> {
        let (entry, lines) = match hunk.lines.0 {
            0 => (&file.was, was(hunk)),
            _ => (&file.entry, span(hunk)),
        };
        let text = self.repo.text_of(entry.as_ref())?;
        let tells = text.is_none_or(|text| {
            let all = text.lines();
            is_telling(all.get(lines).unwrap_or_default())
        });
        Ok(Piece {
            then: (file.path.clone(), span(hunk)),
            fate,
            now: now.map(|lines| (file.path.clone(), lines)),
            tells,
        })
    }

    /// The file's name now, where git sees that it was renamed.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn renamed(&self, path: &str) -> Result<Option<String>, Failure> {
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

    /// The one other file that changed and holds the text now, and did not before.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn elsewhere(
        &self,
        path: &str,
        then: &Text,
        lines: Range<usize>,
    ) -> Result<Option<(String, Range<usize>)>, Failure> {
        let Some(head) = &self.head else {
            return Ok(None);
        };
        if self.changed.get().is_none() {
            let changes = self.repo.changes(Some(head), self.at)?;
            let there = changes
                .into_iter()
                .filter(|change| change.kind != ChangeKind::Deleted);
            let _ = self.changed.set(there.map(|change| change.path).collect());
        }
        let changed = self.changed.get().map(Vec::as_slice).unwrap_or_default();
        let all = then.lines();
        let block = all.get(lines).unwrap_or_default();
        if block.is_empty() || changed.len() > MAX_SEARCHED {
            return Ok(None);
        }
        let mut found = None;
        for other in changed.iter().filter(|other| *other != path) {
            let (Some(now), Some(then)) = (
                self.repo.text_at(self.at, other)?,
                self.repo.text_at(head, other)?,
            ) else {
                continue;
            };
            let here = places(&now.lines(), block);
            match (&here[..], places(&then.lines(), block).is_empty()) {
                ([], _) => {}
                ([only], true) if found.is_none() => found = Some((other.clone(), only.clone())),
                _ => return Ok(None),
            }
        }
        Ok(found)
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

/// A hunk's own lines, from 0.
pub(super) fn span(hunk: &OwnHunk) -> Range<usize> {
    let start = hunk.first.0.saturating_sub(u64::from(hunk.lines.0 > 0)) as usize;
    start..start + hunk.lines.0 as usize
}

/// The lines of the basis that a hunk replaced, from 0.
pub(super) fn was(hunk: &OwnHunk) -> Range<usize> {
    let start = hunk
        .was_first
        .0
        .saturating_sub(u64::from(hunk.was_lines.0 > 0)) as usize;
    start..start + hunk.was_lines.0 as usize
}

fn whole(file: &OwnFile, fate: Fate, now: Option<&str>) -> Piece {
    Piece {
        then: (file.path.clone(), 0..0),
        fate,
        now: now.map(|path| (path.to_owned(), 0..0)),
        tells: true,
    }
}

fn entry_fate(file: &OwnFile, now: Option<&TreeEntry>, renamed: bool) -> Fate {
    match (now, &file.entry) {
        (now, entry) if now == entry.as_ref() && renamed => Fate::Moved,
        (now, entry) if now == entry.as_ref() => Fate::Stands,
        (now, _) if now == file.was.as_ref() => Fate::Reverted,
        (None, _) => Fate::Gone,
        // What was deleted is there as something else.
        (Some(_), None) => Fate::Stands,
        (Some(_), Some(_)) => Fate::Rewritten,
    }
}

/// The blob is not here any more, its digests are.
fn by_digest(hunk: &OwnHunk, now: &Text) -> (Fate, Option<Range<usize>>) {
    if hunk.lines.0 == 0 {
        let back = find_digest(now, hunk.was_lines.0 as usize, &hunk.was_sha256);
        return match back.is_empty() {
            true => (Fate::Stands, None),
            false => (Fate::Reverted, None),
        };
    }
    let found = find_digest(now, hunk.lines.0 as usize, &hunk.sha256);
    match (&found[..], now.lines().is_empty()) {
        ([only], _) => (Fate::Stands, Some(only.clone())),
        ([], true) => (Fate::Gone, None),
        _ => (Fate::Rewritten, None),
    }
}
