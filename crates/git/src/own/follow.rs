//! What became of a slice's work.

use super::file::Text;
use super::moved::Index;
use super::outcome::Comparison;
use super::sought::{Sought, list_left, list_runs_left};
use crate::Repo;
use crate::lines::{find_digest, is_telling};
use cook_core::diagnostic::Failure;
use cook_core::model::{MAX_NAMED, Own, OwnFile, OwnHunk, Rest, Survival, TextOutcome, TreeEntry};
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;

/// Own commits before the last whose text is compared.
const MAX_ATTEMPTS: usize = 20;

/// A slice's work as it is followed to a commit.
pub struct Following<'a> {
    pub(super) repo: &'a Repo,
    pub(super) own: &'a Own,
    pub(super) at: &'a str,
    /// The slice's head, where it is still here.
    pub(super) head: Option<String>,
    /// A commit on the way to the slice's head that the history of `at` left it at.
    fork: Option<String>,
    renames: OnceCell<BTreeMap<String, String>>,
    pub(super) changed: OnceCell<(Vec<String>, Index)>,
    pub(super) sought: Cell<usize>,
    /// Each commit since the slice's head, after its parent, oldest first.
    pub(super) way: OnceCell<Vec<(String, String)>>,
}

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
        let [lines_then, lines_before] =
            [&then, &was_there].map(|text| text.as_ref().map(Text::lines).unwrap_or_default());
        let tells = |hunk: &OwnHunk| {
            let (text, lines, span) = match hunk.lines.0 {
                0 => (&was_there, &lines_before, hunk.was()),
                _ => (&then, &lines_then, hunk.span()),
            };
            text.is_none() || is_telling(lines.get(span).unwrap_or_default())
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
        let sought = Sought {
            path,
            then: &lines_then,
            now: now.as_ref().zip(compared.as_ref()),
            here: OnceCell::new(),
        };
        let trail = OnceCell::new();
        for (number, hunk) in file.hunks.iter().enumerate() {
            let mut beside = Vec::new();
            let (outcome, lines) = match (&now, &compared) {
                (None, _) => (TextOutcome::Gone, None),
                (Some(_), Some(compared)) => {
                    let mut found = compared.find_outcome(hunk.span(), &hunk.was())?;
                    if let (TextOutcome::Rewritten, Some(then)) = (found.outcome, &then) {
                        let (way, names) = (self.list_way()?, (file.path.as_str(), path));
                        let trail = trail.get_or_init(|| self.repo.find_trail(way, names, then));
                        found = compared.find_outcome_on(hunk.span(), &hunk.was(), Some(trail))?;
                    }
                    beside = found.beside;
                    (found.outcome, Some(found.now))
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
            // Where the text from before the work stands again, the work was taken back, whoever quotes it.
            let is_back = piece.outcome == TextOutcome::Reverted && !hunk.was().is_empty();
            if then.is_some() && !piece.outcome.survives() && !is_back && piece.tells {
                parts = self.find_moved_parts(&sought, hunk.span())?;
                if let [(run, outcome, now)] = &parts[..]
                    && *run == hunk.span()
                {
                    (piece.outcome, piece.now) = (*outcome, Some(now.clone()));
                    parts.clear();
                }
                let tells = |run: &Range<usize>| {
                    is_telling(lines_then.get(run.clone()).unwrap_or_default())
                };
                let stays = compared
                    .iter()
                    .flat_map(|it| it.list_untouched(&hunk.span()));
                let stays = stays.filter(|(run, _)| tells(run));
                let outcome = match renamed.is_some() {
                    true => TextOutcome::Moved,
                    false => TextOutcome::Stands,
                };
                let stays = stays.map(|(run, now)| (run, outcome, (path.to_owned(), now)));
                if piece.outcome.is_lost() || !parts.is_empty() {
                    parts.extend(stays);
                }
            }
            parts.sort_by_key(|(run, ..)| run.start);
            let is_all = !parts.is_empty() && then.is_some() && {
                let left = list_left(&hunk.span(), parts.iter().map(|(run, ..)| run));
                let left = left
                    .into_iter()
                    .filter_map(|at| lines_then.get(at).copied());
                !is_telling(&left.collect::<Vec<_>>())
            };
            pieces.extend(parts.into_iter().map(|(run, outcome, now)| Piece {
                then: (file.path.clone(), run),
                outcome,
                now: Some(now),
                ..piece.clone()
            }));
            // Where each of its lines is somewhere, nothing of it is lost.
            if !is_all {
                pieces.extend(piece.leave_out(&beside));
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
                Some(head) => self.repo.list_moved(head, self.at)?,
                None => Vec::new(),
            };
            let by_old = renames.into_iter().map(|(new, old)| (old, new)).collect();
            let _ = self.renames.set(by_old);
        }
        let renames = self.renames.get();
        Ok(renames.and_then(|renames| renames.get(path).cloned()))
    }
}

impl Piece {
    /// Without these lines of those that stand there now: one piece for each run of the others.
    fn leave_out(self, lines: &[usize]) -> Vec<Self> {
        let Some((path, now)) = self.now.clone().filter(|_| !lines.is_empty()) else {
            return vec![self];
        };
        let lines = lines.iter().map(|at| *at..at + 1);
        let runs = list_runs_left(&now, lines).into_iter().map(|run| Self {
            now: Some((path.clone(), run)),
            ..self.clone()
        });
        runs.collect()
    }

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
