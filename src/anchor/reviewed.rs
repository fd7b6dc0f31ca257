//! What is claimed of a slice that is to be accepted says what it said when the slice was reviewed.

use super::place::follow_lines;
use super::sources::{Sources, Text};
use cook_core::diagnostic::Failure;
use cook_core::machine::WorkOf;
use cook_core::model::Own;
use std::ops::Range;

impl Sources<'_> {
    /// Whether these lines of HEAD's tree (from 0) stood in this file at the head of the slice: what others
    /// wrote there since nobody reviewed.
    pub(super) fn was_reviewed(
        &self,
        work: &WorkOf,
        path: &str,
        lines: Range<usize>,
    ) -> Result<bool, Failure> {
        let (Some(own), Some(head)) = (self.work(work, path)?, &self.head.commit) else {
            return Ok(true);
        };
        if own.head == *head {
            return Ok(true);
        }
        let before = match &*self.text(&own.head, path)? {
            Text::Gone => self.find_former(&own, head, path)?,
            _ => Some(path.to_owned()),
        };
        // Text that moved into a file that is new: whose it is says `is_work`.
        let Some(before) = before else {
            return Ok(true);
        };
        let (then, now) = (self.text(&own.head, &before)?, self.text(head, path)?);
        let (Text::Lines(then), Text::Lines(now)) = (&*then, &*now) else {
            return Ok(false);
        };
        let back = follow_lines(now, then, lines, (&[], 0..0))?;
        Ok(back.is_some_and(|back| back.outcome.survives()))
    }

    /// The name that a file of the slice's had at its head, where it was renamed to this one since.
    fn find_former(&self, own: &Own, head: &str, path: &str) -> Result<Option<String>, Failure> {
        for file in &own.files {
            let now = self.find_renamed(&own.head, head, &file.path)?;
            if now.as_deref() == Some(path) {
                return Ok(Some(file.path.clone()));
            }
        }
        Ok(None)
    }
}
