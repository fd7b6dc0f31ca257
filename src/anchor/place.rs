//! Anchors that point into files: held against HEAD's tree, and against the tree
//! they were stamped at.
//!
//! A text that moved is followed only when it can be told: it must say enough, be
//! the only one of its kind where it was, and turn up exactly once elsewhere.

use super::answer::Placed;
use super::sources::{Sources, Text};
use super::text::{context, join, split};
use super::then::{Then, report_moved};
use cook_core::diagnostic::{Failure, count_noun};
use cook_core::model::{Count, Stamp, TextOutcome, Verdict};
use cook_git::{
    Comparison, Entry, Followed, Found, Text as Lines, digest_lines, find_digest, find_lines,
    is_telling,
};
use std::ops::Range;

const AMBIGUOUS: &str = "ambiguous: the text stands in several places now";

impl Sources<'_> {
    /// `path:first-last` or a symbol's line by its digest alone, when neither commit nor
    /// blob of the stamp are here: only its own file can be searched.
    pub(super) fn by_digest(
        &self,
        head: &str,
        path: &str,
        stamp: &Stamp,
    ) -> Result<Placed, Failure> {
        let gone = "neither the commit nor the file it was stamped at are here";
        let (Some(wanted), Some(first), Some(count)) =
            (&stamp.text_sha256, stamp.line, stamp.lines)
        else {
            return Ok(Placed::not(Verdict::Unverifiable, gone));
        };
        let text = self.text(head, path)?;
        let Text::Lines(lines) = &*text else {
            return Ok(Placed::not(Verdict::Unverifiable, gone));
        };
        let (first, count) = (first.0 as usize, (count.0 as usize).max(1));
        let found = find_digest(lines, count, wanted);
        Ok(match found.as_slice() {
            [range] if is_telling(&lines[range.clone()]) => {
                let block = &lines[range.clone()];
                match range.start + 1 == first {
                    true => {
                        let why = "the text is as it was stamped".to_owned();
                        Placed::at(Verdict::Verified, why, path, first, block)
                    }
                    false => report_moved(path, range.start, block),
                }
            }
            [] => Placed::not(
                Verdict::Changed,
                format!("`{path}` no longer holds the text"),
            ),
            _ => Placed::not(Verdict::Unverifiable, AMBIGUOUS),
        })
    }

    /// What a stamp keeps of a place in HEAD's tree.
    pub(super) fn stamp_lines(
        &self,
        head: &str,
        path: &str,
        first: usize,
        last: usize,
    ) -> Result<Stamp, Failure> {
        let mut stamp = Stamp {
            head: Some(head.to_owned()),
            ..Stamp::default()
        };
        if let Entry::File { bytes, oid } = self.repo.entry(head, path)? {
            stamp.blob = Some(oid);
            let lines = split(&bytes);
            if let Some(block) = lines.get(first - 1..last) {
                stamp.text_sha256 = Some(digest_lines(block));
                stamp.context_sha256 = Some(digest_lines(context(&lines, first, last)));
                stamp.line = Some(Count(first as u64));
                stamp.lines = Some(Count(block.len() as u64));
            }
        }
        Ok(stamp)
    }

    /// `path:first-last`, fresh.
    pub(super) fn lines_now(
        &self,
        head: &str,
        path: &str,
        first: usize,
        last: usize,
    ) -> Result<Placed, Failure> {
        let text = self.text(head, path)?;
        let lines = match &*text {
            Text::Lines(lines) => lines,
            Text::Gone => return Ok(report_gone(path)),
            Text::No(why) => return Ok(unreadable(path, why)),
        };
        let Some(block) = lines.get(first - 1..last) else {
            let why = format!(
                "`{path}` has {} at HEAD",
                count_noun(lines.len() as u64, "line")
            );
            return Ok(Placed::not(Verdict::Missing, why));
        };
        if !is_telling(block) {
            let why = "these lines are too short to prove anything";
            return Ok(Placed::not(Verdict::Unverifiable, why));
        }
        let why = "the lines are there at HEAD".to_owned();
        Ok(Placed::at(Verdict::Verified, why, path, first, block))
    }

    /// `path:first-last`, as it was then. `before` are the file's texts before the work that it is
    /// proof of.
    pub(super) fn place_lines_from(
        &self,
        then: &Then,
        head: &str,
        path: &str,
        (first, last): (usize, usize),
        (before, was): (&[Lines], Range<usize>),
    ) -> Result<Placed, Failure> {
        let Some(block) = then.lines.get(first - 1..last) else {
            let why = format!("`{path}` had no such line in {}", then.describe());
            return Ok(Placed::not(Verdict::Unverifiable, why));
        };
        let renamed = match (&*self.text(head, path)?, &then.commit) {
            (Text::Gone, Some(commit)) => self.find_renamed(commit, head, path)?,
            _ => None,
        };
        let (stamped, path) = (path, renamed.as_deref().unwrap_or(path));
        let text = self.text(head, path)?;
        let now = match &*text {
            Text::Lines(lines) => Some(lines),
            Text::Gone => None,
            // What cannot be read holds no text.
            Text::No(why) => {
                let why = format!("`{path}` holds no text any more: {why}");
                return Ok(Placed::not(Verdict::Missing, why));
            }
        };
        // Of texts that are alike the one in its old place is it.
        if renamed.is_none()
            && is_telling(block)
            && now.and_then(|now| now.get(first - 1..last)) == Some(block)
        {
            let why = format!("unchanged since {}", then.describe());
            return Ok(Placed::at(Verdict::Verified, why, path, first, block));
        }
        let is_replaced = !was.is_empty();
        let there = match now {
            Some(now) => {
                let names = (stamped, path);
                self.follow_lines_on(then, (head, now), names, first - 1..last, (before, was))?
            }
            None => None,
        };
        let (outcome, range) = match there {
            Some(followed) => (followed.outcome, followed.now),
            None => (TextOutcome::Gone, 0..0),
        };
        let lines = now
            .and_then(|now| now.get(range.clone()))
            .unwrap_or_default();
        let stays = range.start + 1 == first && renamed.is_none();
        match outcome {
            TextOutcome::Stands if stays => {
                let why = format!("unchanged since {}", then.describe());
                return Ok(Placed::at(Verdict::Verified, why, path, first, lines));
            }
            TextOutcome::Stands | TextOutcome::Moved => {
                return Ok(report_moved(path, range.start, lines));
            }
            TextOutcome::Reshaped => {
                let why = format!(
                    "the same but for white space, at `{path}` line {}",
                    range.start + 1
                );
                return Ok(Placed::at(
                    Verdict::Moved,
                    why,
                    path,
                    range.start + 1,
                    lines,
                ));
            }
            TextOutcome::Rewritten | TextOutcome::Reverted | TextOutcome::Gone => {}
        }
        // Where the text from before the work stands again, nothing moved, whoever quotes it.
        if outcome == TextOutcome::Reverted && is_replaced {
            return Ok(Placed::not(Verdict::Missing, report_back(path)));
        }
        // Of several that were alike one is gone, and nobody can say which.
        if is_telling(block) && now.is_some_and(|now| !find_lines(now, block).is_empty()) {
            return Ok(Placed::not(Verdict::Changed, AMBIGUOUS));
        }
        let tells = is_telling(block) && find_lines(&then.lines, block).len() == 1;
        let there = match &then.commit {
            Some(commit) if tells => self.elsewhere(commit, head, path, block)?,
            _ => Found::None,
        };
        Ok(match (there, outcome) {
            (Found::One(path, at), _) => report_moved(&path, at.start, block),
            (Found::Several, _) => Placed::not(Verdict::Changed, AMBIGUOUS),
            (_, TextOutcome::Rewritten) => {
                let why = format!("`{path}` holds another text there");
                Placed::at(Verdict::Changed, why, path, range.start + 1, lines)
            }
            (_, TextOutcome::Reverted) => Placed::not(Verdict::Missing, report_back(path)),
            (there, _) if now.is_none() => note_unsearched(report_gone(path), &there),
            (there, _) => {
                let why =
                    format!("the text is gone from `{path}`, and nothing stands in its place");
                note_unsearched(Placed::not(Verdict::Missing, why), &there)
            }
        })
    }
}

impl Sources<'_> {
    /// What became of these lines of a file at HEAD, by the way that they went. `names` are the file's
    /// former name and the one that it has now.
    fn follow_lines_on(
        &self,
        then: &Then,
        (head, now): (&str, &[String]),
        names: (&str, &str),
        lines: Range<usize>,
        (before, was): (&[Lines], Range<usize>),
    ) -> Result<Option<Followed>, Failure> {
        let (Some(old), Some(new)) = (join(&then.lines), join(now)) else {
            return Ok(None);
        };
        let compared = Comparison::new(&old, &new, before)?;
        let found = compared.find_outcome(lines.clone(), &was)?;
        let Some(commit) = then
            .commit
            .as_ref()
            .filter(|_| found.outcome == TextOutcome::Rewritten)
        else {
            return Ok(Some(found));
        };
        let way = self.repo.list_way(commit, head)?;
        let trail = self.repo.find_trail(&way, names, &old);
        Ok(Some(compared.find_outcome_on(lines, &was, Some(&trail))?))
    }
}

/// What became of these lines (from 0) of a text in another; none where they cannot be compared.
pub(super) fn follow_lines(
    then: &[String],
    now: &[String],
    lines: Range<usize>,
    (before, was): (&[Lines], Range<usize>),
) -> Result<Option<Followed>, Failure> {
    let (Some(then), Some(now)) = (join(then), join(now)) else {
        return Ok(None);
    };
    let compared = Comparison::new(&then, &now, before)?;
    Ok(Some(compared.find_outcome(lines, &was)?))
}

/// The place is gone whatever was searched; where its text is now may be unknown, and is said so.
fn note_unsearched(mut placed: Placed, there: &Found) -> Placed {
    if matches!(there, Found::TooMany) {
        let rest = "; too many files changed to look for it in all of them";
        placed.why.push_str(rest);
    }
    placed
}

fn report_back(path: &str) -> String {
    format!("the text was taken back: `{path}` stands there as before")
}

pub(super) fn report_gone(path: &str) -> Placed {
    Placed::not(Verdict::Missing, format!("`{path}` is not in HEAD's tree"))
}

pub(super) fn unreadable(path: &str, why: &str) -> Placed {
    let whole = "where the work changed it, `entry:` anchors it as a whole";
    Placed::not(
        Verdict::Unverifiable,
        format!("`{path}` cannot be anchored in: {why}; {whole}, as `entry:{path}`"),
    )
}
