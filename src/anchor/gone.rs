//! Anchors that say that something is not there any more.

use super::answer::{NO_COMMIT, answer};
use super::sources::{Sources, Text};
use super::text::join;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, OwnQuestion, WorkOf};
use cook_core::model::{Own, OwnFile, Verdict};
use cook_git::{ChangeKind, stands_by_words, stands_reshaped};
use std::collections::BTreeSet;

/// New files in which a line of one that is gone is looked for.
const MAX_NEW: usize = 1_000;

impl Sources<'_> {
    /// `gone:PATH` and `gone:PATH#LINE`.
    pub(super) fn judge_gone(
        &self,
        question: &AnchorQuestion,
        path: &str,
        line: Option<&str>,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(Verdict::Missing, NO_COMMIT, &question.anchor));
        };
        let own = match &question.work {
            Some(work) => self.work(work, path)?,
            None => None,
        };
        let is_there = self.repo.tree_entry(head, path)?.is_some();
        let stands = match line {
            None => is_there,
            Some(line) => {
                let mut stands = false;
                let around = match own.as_deref() {
                    Some(own) => self.text_around(own, path, line)?,
                    None => None,
                };
                let block = match own.as_deref() {
                    Some(own) => self.block_of(own, path, line)?,
                    None => None,
                };
                // The file is gone, and git does not see where it went.
                let block = match (block, own.as_deref()) {
                    (None, Some(_)) if !is_there => around.clone(),
                    (block, _) => block,
                };
                for here in self.names_now(question, own.as_deref(), path, head)? {
                    match &*self.text(head, &here)? {
                        Text::Lines(lines) => {
                            stands |= lines.iter().any(|it| it.trim() == line);
                            let block = block.as_ref();
                            stands |=
                                block.is_some_and(|(block, at)| stands_reshaped(lines, block, *at));
                            if let (false, Some((was, at))) = (stands || here == path, &around) {
                                stands = stands_in_words(was, *at, lines)?;
                            }
                        }
                        Text::Gone => {}
                        Text::No(why) if here == path => {
                            return Ok(answer(Verdict::Unverifiable, *why, &question.anchor));
                        }
                        Text::No(_) => {}
                    }
                }
                stands
            }
        };
        if stands {
            let why = "it stands at HEAD";
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        }
        let mut answer = answer(Verdict::Verified, "it is not at HEAD", &question.anchor);
        answer.related = match &question.work {
            // What never stood there is gone too.
            None => false,
            Some(work) => match own {
                None => matches!(work, WorkOf::Accepted(_)),
                Some(own) if self.is_taken_away(&own, path, line)? => true,
                Some(own) => match (work, line) {
                    (WorkOf::Claimed(question), Some(line)) if !is_there => {
                        let question = OwnQuestion {
                            basis: own.basis.clone(),
                            head: own.head.clone(),
                            ..question.clone()
                        };
                        self.repo.took_away(&question, path, line)?
                    }
                    _ => false,
                },
            },
        };
        Ok(answer)
    }

    /// The lines of a file at the basis, and which of them this one is.
    fn text_around(
        &self,
        own: &Own,
        path: &str,
        line: &str,
    ) -> Result<Option<(Vec<String>, usize)>, Failure> {
        let Some(basis) = self.find_commit(&own.basis)? else {
            return Ok(None);
        };
        let mut files = own.files.iter();
        let file = files.find(|file| file.path == path);
        let was = file.and_then(|file| file.from.as_deref());
        let text = self.text(&basis, was.unwrap_or(path))?;
        let Text::Lines(lines) = &*text else {
            return Ok(None);
        };
        let at = lines.iter().position(|was| was.trim() == line);
        Ok(at.map(|at| (lines.clone(), at)))
    }

    /// A file's name, and those it was given where it is not there any more: by the work or on the
    /// way to it, and since.
    fn names_now(
        &self,
        question: &AnchorQuestion,
        own: Option<&Own>,
        path: &str,
        head: &str,
    ) -> Result<BTreeSet<String>, Failure> {
        let mut names = BTreeSet::from([path.to_owned()]);
        if !matches!(*self.text(head, path)?, Text::Gone) {
            return Ok(names);
        }
        if let Some(own) = own {
            let moved = own.files.iter();
            let moved = moved.filter(|file| file.from.as_deref() == Some(path));
            names.extend(moved.map(|file| file.path.clone()));
            // It may have its former name again.
            let here = own.files.iter().filter(|file| file.path == path);
            names.extend(here.filter_map(|file| file.from.clone()));
            // Git does not see every rename: a line of a file that is gone is not in a new one.
            if let Some(basis) = self.find_commit(&own.basis)? {
                let changes = self.changes(&basis, head)?;
                let new = changes.iter();
                let new = new.filter(|change| change.kind == ChangeKind::Added);
                names.extend(new.take(MAX_NEW).map(|change| change.path.clone()));
            }
        }
        let from = match (&question.stamped_at, own) {
            (Some(_), _) => self.find_stamp(question)?,
            (None, Some(own)) => self.find_commit(&own.head)?,
            (None, None) => None,
        };
        if let Some(from) = from {
            for name in names.clone() {
                names.extend(self.repo.find_renamed(&from, head, &name)?);
            }
        }
        Ok(names)
    }

    /// The work took this away: the file, or the line.
    fn is_taken_away(&self, own: &Own, path: &str, line: Option<&str>) -> Result<bool, Failure> {
        let is_it = |file: &&OwnFile| file.path == path || file.from.as_deref() == Some(path);
        let Some(file) = own.files.iter().find(is_it) else {
            return Ok(false);
        };
        let Some(line) = line else {
            return Ok(file.entry.is_none() || file.from.as_deref() == Some(path));
        };
        if self.find_commit(&own.basis)?.is_none() {
            return Ok(true);
        }
        Ok(self.block_of(own, path, line)?.is_some())
    }

    /// The lines that the work took away together with this one, and which of them it is.
    fn block_of(
        &self,
        own: &Own,
        path: &str,
        line: &str,
    ) -> Result<Option<(Vec<String>, usize)>, Failure> {
        let is_it = |file: &&OwnFile| file.path == path || file.from.as_deref() == Some(path);
        let (Some(file), Some(basis)) =
            (own.files.iter().find(is_it), self.find_commit(&own.basis)?)
        else {
            return Ok(None);
        };
        let text = self.text(&basis, file.from.as_deref().unwrap_or(&file.path))?;
        let Text::Lines(lines) = &*text else {
            return Ok(None);
        };
        Ok(file.hunks.iter().find_map(|hunk| {
            let removed = lines.get(hunk.was()).unwrap_or_default();
            let at = removed.iter().position(|was| was.trim() == line)?;
            Some((removed.to_vec(), at))
        }))
    }
}

/// The words of this line (from 0) stand again, however its file was wrapped meanwhile.
fn stands_in_words(was: &[String], at: usize, now: &[String]) -> Result<bool, Failure> {
    match (join(was), join(now)) {
        (Some(was), Some(now)) => Ok(stands_by_words(&was, at, &now)?),
        _ => Ok(false),
    }
}
