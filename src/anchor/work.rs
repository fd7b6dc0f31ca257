//! Anchors against the work of a slice: what its own commits wrote and took away.

use super::answer::{Placed, answer};
use super::sources::{Sources, Text, recall};
use super::text::is_telling;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, WorkOf};
use cook_core::model::{Anchor, Fate, Own, OwnFile, Survival, Verdict};
use cook_git::{Following, Text as Lines};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// Lines of a body that are looked at.
const MAX_BODY: usize = 1_000;
/// Lines in which a file says that a program made it.
const HEADER: usize = 8;

/// The basis and the head of a slice that is to be accepted.
pub fn basis_of(question: &AnchorQuestion) -> Option<&str> {
    match &question.work {
        Some(WorkOf::Claimed(question)) => Some(&question.basis),
        _ => None,
    }
}

impl Sources<'_> {
    /// A slice's work; none where nobody wrote it down.
    fn work(&self, work: &WorkOf, path: &str) -> Result<Option<Rc<Own>>, Failure> {
        let question = match work {
            WorkOf::Accepted(seq) => {
                let key = (work.clone(), None);
                let own = recall(&self.works, key, || {
                    Ok((self.accepted)(*seq)?.unwrap_or_default())
                })?;
                return Ok((!own.head.is_empty()).then_some(own));
            }
            WorkOf::Claimed(question) => question,
        };
        let find = |only: Option<&BTreeSet<String>>| {
            let basis = self.repo.resolve(&question.basis)?;
            let head = self.repo.resolve(&question.head)?;
            let (Some(basis), Some(head)) = (basis, head) else {
                return Ok(Own::default());
            };
            self.repo.own(&basis, &head, &question.claimed, only)
        };
        let own = recall(&self.works, (work.clone(), None), || find(None))?;
        let is_listed = own.more.0 == 0 || own.files.iter().any(|file| file.path == path);
        if is_listed {
            return Ok((!own.head.is_empty()).then_some(own));
        }
        let key = (work.clone(), Some(path.to_owned()));
        let only = BTreeSet::from([path.to_owned()]);
        recall(&self.works, key, || find(Some(&only))).map(Some)
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
        let same = question.stamped_at.as_deref() == Some(own.head.as_str());
        let was = replaced.filter(|_| same).map_or(0..0, |hunk| {
            let start = hunk
                .was_first
                .0
                .saturating_sub(u64::from(hunk.was_lines.0 > 0)) as usize;
            start..start + hunk.was_lines.0 as usize
        });
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
        if is_generated(now) {
            return Ok(false);
        }
        // A log of before says nothing of the work.
        let Some(own) = self.work(work, path)? else {
            return Ok(matches!(work, WorkOf::Accepted(_)));
        };
        let following = Following::new(self.repo, &own, head)?;
        let counts = |fate: Fate| {
            fate.survives() || fate == Fate::Rewritten && matches!(work, WorkOf::Accepted(_))
        };
        let is_here = |file: &&OwnFile| file.path == path;
        let others = own.files.iter().filter(|file| !is_here(file));
        for file in own.files.iter().filter(is_here).chain(others) {
            if file.path != path && self.repo.tree_entry(head, &file.path)? == file.entry {
                continue;
            }
            for piece in following.pieces(file)? {
                let Some((at, range)) = piece.now.filter(|_| counts(piece.fate)) else {
                    continue;
                };
                if at != path {
                    continue;
                }
                if file.hunks.is_empty() {
                    // Too much to be looked at line by line.
                    let id = |entry: &Option<cook_core::model::TreeEntry>| {
                        entry.as_ref().map(|entry| entry.id.clone())
                    };
                    return Ok(id(&file.entry) != id(&file.was));
                }
                let common = range.start.max(lines.start)..range.end.min(lines.end);
                if is_telling(now.get(common).unwrap_or_default()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The lines of what begins here: those that are indented deeper, and the one that ends it.
    pub(super) fn body(&self, path: &str, first: usize) -> Result<Range<usize>, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(first..first);
        };
        let text = self.text(head, path)?;
        let Text::Lines(lines) = &*text else {
            return Ok(first..first);
        };
        Ok(body(lines, first))
    }

    /// By what the record of its acceptance says, where the commit is gone.
    pub(super) fn by_work(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        path: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let gone = "the commit it was stamped at is not here";
        let nothing = || answer(Verdict::Unverifiable, gone, &question.anchor);
        let (Some(work), Some(head), Anchor::Lines { first, last, .. }) =
            (&question.work, &self.head.commit, anchor)
        else {
            return Ok(nothing());
        };
        let Some(own) = self.work(work, path)? else {
            return Ok(nothing());
        };
        let Some(file) = own.files.iter().find(|file| file.path == path) else {
            return Ok(nothing());
        };
        let (anchored, following) = (first - 1..*last, Following::new(self.repo, &own, head)?);
        for piece in following.pieces(file)? {
            let (_, then) = &piece.then;
            if then.start >= anchored.end || anchored.start >= then.end {
                continue;
            }
            let placed = match (piece.fate, piece.now) {
                (fate, Some((path, now))) if fate.survives() => {
                    let text = self.text(head, &path)?;
                    let lines = match &*text {
                        Text::Lines(lines) => lines.get(now.clone()).unwrap_or_default(),
                        _ => &[],
                    };
                    let why = "the slice's own text stands, by its digest".to_owned();
                    Placed::at(Verdict::Moved, why, &path, now.start + 1, lines)
                }
                (fate, _) if fate.is_lost() => {
                    Placed::not(Verdict::Missing, "the text was taken back, or is gone")
                }
                _ => Placed::not(Verdict::Changed, "another text stands there now"),
            };
            return self.answer_placed(question, placed, None);
        }
        Ok(nothing())
    }

    /// `gone:PATH` and `gone:PATH#LINE`.
    pub(super) fn gone(
        &self,
        question: &AnchorQuestion,
        path: &str,
        line: Option<&str>,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(
                Verdict::Missing,
                "there is no commit yet",
                &question.anchor,
            ));
        };
        // A line that went with its file may be back under the new name.
        let from = match (&question.stamped_at, &question.work) {
            (Some(stamp), _) => self.repo.resolve(stamp)?,
            (None, Some(work)) => match self.work(work, path)? {
                Some(own) => self.repo.resolve(&own.head)?,
                None => None,
            },
            (None, None) => None,
        };
        let renamed = match (line, &from, &*self.text(head, path)?) {
            (Some(_), Some(from), Text::Gone) => self.renamed(from, head, path)?,
            _ => None,
        };
        let here = renamed.as_deref().unwrap_or(path);
        let stands = match (line, &*self.text(head, here)?) {
            (None, _) => self.repo.tree_entry(head, path)?.is_some(),
            (Some(line), Text::Lines(lines)) => lines.iter().any(|here| here.trim() == line),
            (Some(_), Text::Gone) => false,
            (Some(_), Text::No(why)) => {
                return Ok(answer(Verdict::Unverifiable, *why, &question.anchor));
            }
        };
        if stands {
            let why = "it stands at HEAD";
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        }
        let mut answer = answer(Verdict::Verified, "it is not at HEAD", &question.anchor);
        answer.related = match &question.work {
            None => true,
            Some(work) => match self.work(work, path)? {
                None => matches!(work, WorkOf::Accepted(_)),
                Some(own) => self.is_taken_away(&own, path, line)?,
            },
        };
        Ok(answer)
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
        let source = file.from.as_deref().unwrap_or(&file.path);
        let Some(basis) = self.repo.resolve(&own.basis)? else {
            return Ok(true);
        };
        let text = self.text(&basis, source)?;
        let Text::Lines(lines) = &*text else {
            return Ok(false);
        };
        Ok(file.hunks.iter().any(|hunk| {
            let start = hunk.was_first.0.saturating_sub(1) as usize;
            let removed = lines.get(start..start + hunk.was_lines.0 as usize);
            let mut removed = removed.unwrap_or_default().iter();
            removed.any(|was| was.trim() == line)
        }))
    }

    /// `entry:PATH`: mode and content as the slice left them.
    pub(super) fn entry(
        &self,
        question: &AnchorQuestion,
        path: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(
                Verdict::Missing,
                "there is no commit yet",
                &question.anchor,
            ));
        };
        let Some(now) = self.repo.tree_entry(head, path)? else {
            let why = "nothing stands there at HEAD";
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        };
        let then = match &question.stamped_at {
            Some(stamp) => match self.repo.resolve(stamp)? {
                Some(stamp) => self.repo.tree_entry(&stamp, path)?,
                None => None,
            },
            None => None,
        };
        let own = match &question.work {
            Some(work) => self.work(work, path)?,
            None => None,
        };
        let file = own
            .as_ref()
            .and_then(|own| own.files.iter().find(|file| file.path == path));
        let was = file.and_then(|file| file.was.clone());
        let wanted = then.or_else(|| match question.stamped_at {
            Some(_) => file.and_then(|file| file.entry.clone()),
            None => None,
        });
        let (verdict, why) = match wanted {
            Some(then) if then == now => (Verdict::Verified, "it is as it was stamped"),
            Some(_) if was.as_ref() == Some(&now) => (Verdict::Missing, "it is as it was before"),
            Some(_) => (Verdict::Changed, "it is not as it was stamped"),
            None if question.stamped_at.is_some() => (
                Verdict::Unverifiable,
                "the commit it was stamped at is not here",
            ),
            None => (Verdict::Verified, "it is in HEAD's tree"),
        };
        let mut answer = answer(verdict, why, &question.anchor);
        answer.related = match &question.work {
            None => true,
            Some(WorkOf::Claimed(_)) => file.is_some_and(|file| {
                file.entry.as_ref() == Some(&now) && was.as_ref() != Some(&now)
            }),
            Some(WorkOf::Accepted(_)) => {
                own.is_none() || file.is_some() && was.as_ref() != Some(&now)
            }
        };
        Ok(answer)
    }
}

impl Sources<'_> {
    /// What became of the work that a transition accepted; whole where nobody wrote it down.
    ///
    /// # Errors
    /// When the repository or the log cannot be read.
    pub fn survival(&self, seq: u64, accepted: &str) -> Result<Option<Survival>, Failure> {
        let (Some(own), Some(head)) = ((self.accepted)(seq)?, &self.head.commit) else {
            return Ok(None);
        };
        let mut survival = Following::new(self.repo, &own, head)?.survival()?;
        if own.head != accepted {
            survival.on_head = match self.repo.resolve(accepted)? {
                Some(accepted) => self.repo.is_ancestor(&accepted, head)?,
                None => false,
            };
        }
        Ok(Some(survival))
    }
}

/// A program says in its first lines that it made the file.
fn is_generated(lines: &[String]) -> bool {
    lines.iter().take(HEADER).any(|line| {
        let line = line.to_ascii_lowercase();
        line.contains("@generated")
            || line.contains("code generated") && line.contains("do not edit")
            || line.contains("automatically generated") && line.contains("do not edit")
    })
}

fn body(lines: &[String], first: usize) -> Range<usize> {
    let depth = |line: &String| line.len() - line.trim_start().len();
    let Some(own) = lines.get(first).map(depth) else {
        return first..first;
    };
    let mut end = first + 1;
    while let Some(line) = lines.get(end).filter(|_| end - first < MAX_BODY) {
        let is_blank = line.trim().is_empty();
        if !is_blank && depth(line) <= own {
            let closes = line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
            return first..end + usize::from(closes && depth(line) == own);
        }
        end += 1;
    }
    first..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_ends_where_the_indentation_does() {
        let split = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let code = split("fn a() {\n    x();\n\n    y();\n}\n\nfn b() {}\n");
        assert_eq!(body(&code, 0), 0..5);
        assert_eq!(body(&code, 6), 6..7);
        let code = split("def a():\n    x()\n\ndef b():\n    y()\n");
        assert_eq!(body(&code, 0), 0..3);
        assert_eq!(body(&code, 3), 3..5);
    }

    #[test]
    fn what_a_program_made_says_so() {
        let split = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert!(is_generated(&split(
            "// Code generated by x. DO NOT EDIT.\n"
        )));
        assert!(is_generated(&split("/* @generated */\n")));
        assert!(!is_generated(&split(
            "// generated names are not edited here\n"
        )));
    }
}
