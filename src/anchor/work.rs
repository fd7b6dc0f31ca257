//! Anchors against the work of a slice: what its own commits wrote and took away.

use super::answer::{NO_COMMIT, Placed, answer};
use super::section::find_section;
use super::sources::{Sources, Text, recall};
use super::symbol::find_symbol;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, OwnQuestion, WorkOf};
use cook_core::model::{Anchor, Own, OwnFile, OwnHunk, TextOutcome, Verdict};
use cook_git::{Following, Piece, Text as Lines, is_telling};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// The basis and the head of a slice that is to be accepted.
pub fn find_basis(question: &AnchorQuestion) -> Option<&str> {
    match &question.work {
        Some(WorkOf::Claimed(question)) => Some(&question.basis),
        _ => None,
    }
}

impl Sources<'_> {
    /// A slice's work; none where nobody wrote it down.
    pub(super) fn work(&self, work: &WorkOf, path: &str) -> Result<Option<Rc<Own>>, Failure> {
        let question = match work {
            WorkOf::Accepted(seq) => {
                let key = (work.clone(), None);
                let own = recall(&self.works, key, || {
                    Ok(self.find_accepted(*seq)?.unwrap_or_default())
                })?;
                return Ok((!own.head.is_empty()).then_some(own));
            }
            WorkOf::Claimed(question) => question,
        };
        let find = |only: Option<&BTreeSet<String>>| self.find_claimed_work(question, only);
        let own = recall(&self.works, (work.clone(), None), || find(None))?;
        let is_listed = own.more.0 == 0 || own.files.iter().any(|file| file.path == path);
        if is_listed {
            return Ok((!own.head.is_empty()).then_some(own));
        }
        let key = (work.clone(), Some(path.to_owned()));
        let only = BTreeSet::from([path.to_owned()]);
        recall(&self.works, key, || find(Some(&only))).map(Some)
    }

    /// What a slice that is to be accepted wrote; nothing where its commits are not here.
    ///
    /// # Errors
    /// When the repository or the log cannot be read.
    pub fn find_claimed_work(
        &self,
        question: &OwnQuestion,
        only: Option<&BTreeSet<String>>,
    ) -> Result<Own, Failure> {
        let basis = self.repo.resolve(&question.basis)?;
        let head = self.repo.resolve(&question.head)?;
        let (Some(basis), Some(head)) = (basis, head) else {
            return Ok(Own::default());
        };
        let here = OwnQuestion {
            basis,
            head,
            ..question.clone()
        };
        let own = self.repo.own(&here, only)?;
        match question.earlier {
            Some(seq) => match self.find_accepted(seq)? {
                Some(earlier) => self.repo.carry(own, &earlier),
                None => Ok(own),
            },
            None => Ok(own),
        }
    }

    /// The file's texts before the work that a question is about, and the lines of the first that
    /// these ones (from 0) replaced.
    pub(super) fn before(
        &self,
        question: &AnchorQuestion,
        path: &str,
        lines: Range<usize>,
    ) -> Result<(Vec<Lines>, Range<usize>), Failure> {
        let nothing = (Vec::new(), 0..0);
        let (Some(work), Some(head)) = (&question.work, &self.head.commit) else {
            return Ok(nothing);
        };
        let Some(own) = self.work(work, path)? else {
            return Ok(nothing);
        };
        let Some(file) = own.files.iter().find(|file| file.path == path) else {
            return Ok(nothing);
        };
        let before = Following::new(self.repo, &own, head)?.before(file)?;
        let replaced = file.hunks.iter().find(|hunk| {
            let start = hunk.first.0.saturating_sub(1) as usize;
            start < lines.end && lines.start < start + hunk.lines.0 as usize
        });
        // Lines that were stamped later stand elsewhere than the hunk says.
        let stamp = self.find_stamp(question)?;
        let same = stamp.as_deref() == Some(own.head.as_str());
        let was = replaced.filter(|_| same).map_or(0..0, OwnHunk::was);
        Ok((before, was))
    }

    /// Whether these lines of HEAD's tree (from 0) are the slice's own; of a slice that is done,
    /// also what stands in the place of its own.
    pub(super) fn is_work(
        &self,
        work: &WorkOf,
        path: &str,
        lines: &Range<usize>,
    ) -> Result<bool, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(false);
        };
        let text = self.text(head, path)?;
        let Text::Lines(now) = &*text else {
            return Ok(false);
        };
        if self.is_generated(path)? {
            return Ok(false);
        }
        // A log of before says nothing of the work.
        let Some(own) = self.work(work, path)? else {
            return Ok(matches!(work, WorkOf::Accepted(_)));
        };
        let following = Following::new(self.repo, &own, head)?;
        let counts = |outcome: TextOutcome| {
            outcome.survives()
                || outcome == TextOutcome::Rewritten && matches!(work, WorkOf::Accepted(_))
        };
        let mut lost = Vec::new();
        let is_here = |file: &&OwnFile| file.path == path;
        let others = own.files.iter().filter(|file| !is_here(file));
        for file in own.files.iter().filter(is_here).chain(others) {
            if file.path != path && self.repo.tree_entry(head, &file.path)? == file.entry {
                continue;
            }
            for piece in following.pieces(file)? {
                let is_away = piece.outcome.is_lost() || piece.outcome == TextOutcome::Rewritten;
                if is_away && piece.tells {
                    lost.push(piece.then.clone());
                }
                let Some((_, range)) = piece.now.as_ref().filter(|(at, _)| at == path) else {
                    continue;
                };
                if file.hunks.is_empty() && counts(piece.outcome) {
                    return self.is_new_text(
                        &own,
                        file,
                        now.get(lines.clone()).unwrap_or_default(),
                    );
                }
                let common = range.start.max(lines.start)..range.end.min(lines.end);
                let common = now.get(common).unwrap_or_default();
                let is_own = match counts(piece.outcome) {
                    true => is_telling(common),
                    // Of a hunk that was rewritten in part, the lines that are still its own.
                    false if piece.outcome == TextOutcome::Rewritten => {
                        self.is_kept_in(&own.head, &piece, common)?
                    }
                    false => false,
                };
                if is_own {
                    return Ok(true);
                }
            }
        }
        if matches!(work, WorkOf::Claimed(_)) {
            return Ok(false);
        }
        let here = now.get(lines.clone()).unwrap_or_default();
        self.is_one_of_several(&own.head, &lost, path, here)
    }

    /// Text that is lost where it stood is among these lines, in a file that did not hold it at the
    /// slice's head: of several such places cook cannot say which it went to, and the report does.
    fn is_one_of_several(
        &self,
        head: &str,
        lost: &[(String, Range<usize>)],
        path: &str,
        here: &[String],
    ) -> Result<bool, Failure> {
        // What git threw away is known by its digests alone.
        let Some(head) = self.find_commit(head)? else {
            return Ok(false);
        };
        for (file, range) in lost {
            let (then, was) = (self.text(&head, file)?, self.text(&head, path)?);
            let Text::Lines(then) = &*then else {
                continue;
            };
            let own = then.get(range.clone()).unwrap_or_default();
            let kept: Vec<&String> = here.iter().filter(|line| own.contains(line)).collect();
            let stood = match &*was {
                Text::Lines(was) => kept.iter().any(|line| was.contains(line)),
                _ => false,
            };
            if is_telling(&kept) && !stood {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// These lines did not stand in the file at the basis: it was no text on the way, or too much to
    /// be looked at line by line, and what stood there before is not the work's own.
    fn is_new_text(&self, own: &Own, file: &OwnFile, here: &[String]) -> Result<bool, Failure> {
        let source = file.from.as_deref().unwrap_or(&file.path);
        let was = match self.find_commit(&own.basis)? {
            Some(basis) => self.text(&basis, source)?,
            None => Rc::new(Text::Gone),
        };
        let Text::Lines(was) = &*was else {
            return Ok(is_telling(here));
        };
        let new: Vec<&String> = here.iter().filter(|line| !was.contains(line)).collect();
        Ok(is_telling(&new))
    }

    /// Among these lines are telling ones of the piece as it was at the slice's head.
    fn is_kept_in(&self, head: &str, piece: &Piece, here: &[String]) -> Result<bool, Failure> {
        let (path, lines) = &piece.then;
        let text = self.text(head, path)?;
        let Text::Lines(then) = &*text else {
            return Ok(false);
        };
        let own = then.get(lines.clone()).unwrap_or_default();
        let kept: Vec<&String> = here.iter().filter(|line| own.contains(line)).collect();
        Ok(is_telling(&kept))
    }

    /// By what the record of its acceptance says, where the commit is gone.
    pub(super) fn by_work(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        path: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let nothing = || answer_unstamped(question);
        let (Some(work), Some(head)) = (&question.work, &self.head.commit) else {
            return Ok(nothing());
        };
        let Some(own) = self.work(work, path)? else {
            return Ok(nothing());
        };
        let Some(file) = own.files.iter().find(|file| file.path == path) else {
            return Ok(nothing());
        };
        let pieces = Following::new(self.repo, &own, head)?.pieces(file)?;
        let anchored = match anchor {
            Anchor::Lines { first, last, .. } => first - 1..*last,
            Anchor::Symbol { symbol, .. } => {
                let find = |lines: &[String]| find_symbol(lines, symbol);
                let placed = self.place_by_work(&pieces, head, find)?;
                return self.answer_placed(question, placed, Some(symbol));
            }
            Anchor::Doc {
                section: Some(section),
                ..
            } => {
                let find = |lines: &[String]| find_section(lines, section);
                let placed = self.place_by_work(&pieces, head, find)?;
                return self.answer_section(question, placed, section);
            }
            _ => return Ok(nothing()),
        };
        for piece in pieces {
            let (_, then) = &piece.then;
            if then.start >= anchored.end || anchored.start >= then.end {
                continue;
            }
            let placed = match (piece.outcome, piece.now) {
                (outcome, Some((path, now))) if outcome.survives() => {
                    let text = self.text(head, &path)?;
                    let lines = match &*text {
                        Text::Lines(lines) => lines.get(now.clone()).unwrap_or_default(),
                        _ => &[],
                    };
                    let why = STANDS_BY_DIGEST.to_owned();
                    Placed::at(Verdict::Moved, why, &path, now.start + 1, lines)
                }
                (outcome, _) if outcome.is_lost() => Placed::not(Verdict::Missing, WAS_TAKEN),
                _ => Placed::not(Verdict::Changed, "another text stands there now"),
            };
            return self.answer_placed(question, placed, None);
        }
        Ok(nothing())
    }

    /// A section is anchored by its heading, not by its lines.
    fn answer_section(
        &self,
        question: &AnchorQuestion,
        placed: Placed,
        section: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let mut answer = self.answer_placed(question, placed, None)?;
        let place = answer.target.split_once('#');
        let here = place.map(|(path, _)| format!("doc:{path}#{section}"));
        answer.now = answer.now.and(here);
        if answer.verdict == Verdict::Moved && answer.now.as_ref() == Some(&question.anchor) {
            answer.verdict = Verdict::Verified;
            answer.now = None;
        }
        Ok(answer)
    }

    /// A named part of a file where the work of that file is now. What the part was made of is not known:
    /// it stands where all of that work does.
    fn place_by_work(
        &self,
        pieces: &[Piece],
        head: &str,
        find: impl Fn(&[String]) -> Option<Range<usize>>,
    ) -> Result<Placed, Failure> {
        if pieces.iter().all(|piece| piece.outcome.is_lost()) {
            return Ok(Placed::not(Verdict::Missing, WAS_TAKEN));
        }
        let stands = pieces.iter().all(|piece| piece.outcome.survives());
        let (verdict, why) = match stands {
            true => (Verdict::Moved, STANDS_BY_DIGEST),
            false => (Verdict::Changed, NO_STAMP),
        };
        for (path, lines) in pieces.iter().filter_map(|piece| piece.now.as_ref()) {
            let Text::Lines(text) = &*self.text(head, path)? else {
                continue;
            };
            let Some(here) = find(text) else {
                continue;
            };
            if here.start < lines.end && lines.start < here.end {
                let (first, text) = (here.start + 1, &text[here]);
                return Ok(Placed::at(verdict, why.to_owned(), path, first, text));
            }
        }
        Ok(Placed::not(Verdict::Changed, NO_STAMP))
    }

    /// `entry:PATH`: mode and content as the slice left them, under whatever name the file has now.
    pub(super) fn entry(
        &self,
        question: &AnchorQuestion,
        path: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(Verdict::Missing, NO_COMMIT, &question.anchor));
        };
        let stamp = self.find_stamp(question)?;
        let renamed = match (&stamp, self.repo.tree_entry(head, path)?) {
            (Some(stamp), None) => self.find_renamed(stamp, head, path)?,
            _ => None,
        };
        let place = renamed.as_deref().unwrap_or(path);
        let Some(now) = self.repo.tree_entry(head, place)? else {
            let why = "nothing stands there at HEAD";
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        };
        let then = match &stamp {
            Some(stamp) => self.repo.tree_entry(stamp, path)?,
            None => None,
        };
        let own = match &question.work {
            Some(work) => self.work(work, path)?,
            None => None,
        };
        let file = match own.as_deref() {
            Some(own) => self.find_own_file(own, head, path, place)?,
            None => None,
        };
        let was = file.and_then(|file| file.was.clone());
        let wanted = then.or_else(|| match question.stamped_at {
            Some(_) => file.and_then(|file| file.entry.clone()),
            None => None,
        });
        let (verdict, why) = match wanted {
            Some(then) if then == now && renamed.is_some() => (
                Verdict::Moved,
                "it is as it was stamped, under another name",
            ),
            Some(then) if then == now => (Verdict::Verified, "it is as it was stamped"),
            Some(_) if was.as_ref() == Some(&now) => (Verdict::Missing, "it is as it was before"),
            Some(_) => (Verdict::Changed, "it is not as it was stamped"),
            None if question.stamped_at.is_some() => (Verdict::Changed, NO_STAMP),
            None => (Verdict::Verified, "it is in HEAD's tree"),
        };
        let mut answer = answer(verdict, why, &format!("entry:{place}"));
        answer.now = renamed.as_ref().map(|place| format!("entry:{place}"));
        answer.related = match &question.work {
            None => true,
            Some(work) => match (own.as_deref(), file) {
                (None, _) => matches!(work, WorkOf::Accepted(_)),
                (Some(_), None) => false,
                (Some(own), Some(file)) => {
                    let is_done = matches!(work, WorkOf::Accepted(_));
                    let is_left = is_done || file.entry.as_ref() == Some(&now);
                    is_left && was.as_ref() != Some(&now) && self.repo.is_own_file(own, file)?
                }
            },
        };
        Ok(answer)
    }

    /// The file of the work that was called `path`, or is called `place` now.
    fn find_own_file<'o>(
        &self,
        own: &'o Own,
        head: &str,
        path: &str,
        place: &str,
    ) -> Result<Option<&'o OwnFile>, Failure> {
        if let Some(file) = own.files.iter().find(|file| file.path == path) {
            return Ok(Some(file));
        }
        let following = Following::new(self.repo, own, head)?;
        for file in &own.files {
            if self.repo.tree_entry(head, &file.path)?.is_none()
                && following.find_renamed(&file.path)?.as_deref() == Some(place)
            {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }
}

const NO_STAMP: &str = "the commit it was stamped at is not here";
const STANDS_BY_DIGEST: &str = "the slice's own text stands, by its digest";
const WAS_TAKEN: &str = "the text was taken back, or is gone";

/// What a done slice rests on cannot be followed, and the report says where it is.
pub(super) fn answer_unstamped(question: &AnchorQuestion) -> AnchorAnswer {
    answer(Verdict::Changed, NO_STAMP, &question.anchor)
}
