//! Who took a line away whose file got another name that git does not see.

use super::way::{Other, Step};
use crate::Repo;
use crate::history::ChangeKind;
use crate::lines::stands_reshaped;
use cook_core::diagnostic::Failure;
use cook_core::machine::OwnQuestion;
use std::collections::BTreeSet;

/// Files that are read for it.
const MAX_READ: usize = 2_000;

/// A line of a text, and those around it.
struct Wanted<'a> {
    lines: &'a [&'a [u8]],
    at: usize,
}

impl Repo {
    /// A line that stood in this file at the basis (a full id, as the head's) was taken away by an own
    /// commit, from whichever file it stood in by then: another one that changed on the way holds it, in
    /// whatever shape, as soon as the one before does not.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn took_away(
        &self,
        question: &OwnQuestion,
        path: &str,
        line: &str,
    ) -> Result<bool, Failure> {
        let Some(was) = self.read_text_at(&question.basis, path)? else {
            return Ok(false);
        };
        let lines = was.lines();
        let is_it = |here: &&[u8]| here.trim_ascii() == line.as_bytes();
        let Some(at) = lines.iter().position(is_it) else {
            return Ok(false);
        };
        let wanted = Wanted { lines: &lines, at };
        let left = self.find_left(question)?;
        let mut places = BTreeSet::from([path.to_owned()]);
        let (mut seen, mut read) = (places.clone(), 0);
        for mut step in self.steps(&question.basis, &question.head, &question.claimed)? {
            for change in self.changes(Some(&step.parent), &step.commit)? {
                let is_new = change.kind == ChangeKind::Added;
                if !is_new && !places.contains(&change.path) {
                    continue;
                }
                read += 1;
                if read > MAX_READ {
                    return Ok(false);
                }
                match self.holds(&step.commit, &change.path, &wanted)? {
                    true => places.insert(change.path.clone()),
                    false => places.remove(&change.path),
                };
            }
            seen.extend(places.iter().cloned());
            if places.is_empty() {
                step.others.extend(left);
                return Ok(step.own && !self.is_taken_by_others(&step, &seen, &wanted)?);
            }
        }
        Ok(false)
    }

    /// The line was gone already in what the step brought in besides.
    fn is_taken_by_others(
        &self,
        step: &Step,
        seen: &BTreeSet<String>,
        wanted: &Wanted<'_>,
    ) -> Result<bool, Failure> {
        let stands = |commit: &str| -> Result<bool, Failure> {
            for path in seen {
                if self.holds(commit, path, wanted)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        for Other { commit, after } in &step.others {
            let stood = match after {
                Some(after) => stands(after)?,
                None => true,
            };
            if stood && !stands(commit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds(&self, commit: &str, path: &str, wanted: &Wanted<'_>) -> Result<bool, Failure> {
        let text = self.read_text_at(commit, path)?.unwrap_or_default();
        Ok(stands_reshaped(&text.lines(), wanted.lines, wanted.at))
    }
}
