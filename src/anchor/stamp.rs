//! Anchors of the brief: stamped when they are written down, held against the stamp
//! afterwards.

use super::section::find_section;
use super::sources::{Sources, Text};
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, AnchorQuestion};
use cook_core::model::{Anchor, Basis, Stamp, Verdict, fits};
use cook_git::digest_lines;
use std::ops::Range;

fn question(anchor: &str, basis: Basis) -> AnchorQuestion {
    AnchorQuestion {
        slice_id: String::new(),
        criterion: String::new(),
        anchor: anchor.to_owned(),
        basis,
        stamped_at: None,
        work: None,
    }
}

impl Sources<'_> {
    /// What a fresh anchor is worth, and its stamp. `gates` are the commands whose
    /// receipts may prove a `test:` anchor.
    ///
    /// # Errors
    /// When the repository or a receipt cannot be read; a bad anchor is an answer.
    pub fn stamp(
        &self,
        anchor: &str,
        basis: Basis,
        gates: &[String],
    ) -> Result<(AnchorAnswer, Stamp), Failure> {
        let answer = self.judge(&question(anchor, basis), gates)?;
        let mut stamp = Stamp {
            head: self.head.commit.clone(),
            ..Stamp::default()
        };
        if let (Some(head), Ok(parsed)) = (&self.head.commit, Anchor::parse(anchor)) {
            let place = match &parsed {
                Anchor::Lines { path, first, last } => Some((path, first - 1..*last)),
                Anchor::Symbol { path, symbol } => {
                    let lines = self.find_symbol_now(path, symbol)?;
                    lines.map(|lines| (path, lines))
                }
                Anchor::Doc { place, section } => {
                    let lines = self.section(head, place, section.as_deref())?;
                    lines.map(|lines| (place, lines))
                }
                _ => None,
            };
            if let Some((path, lines)) = place {
                stamp = self.stamp_lines(head, path, lines.start + 1, lines.end)?;
            }
        }
        stamp.branch.clone_from(&self.head.branch);
        Ok((answer, stamp))
    }

    /// What an anchor is worth against its stamp; without one, as if it were fresh.
    ///
    /// # Errors
    /// As [`Sources::stamp`].
    pub fn recheck(
        &self,
        anchor: &str,
        basis: Basis,
        stamp: Option<&Stamp>,
        gates: &[String],
    ) -> Result<AnchorAnswer, Failure> {
        let asked = question(anchor, basis);
        let parsed = Anchor::parse(anchor);
        let stamped = stamp.filter(|stamp| stamp.text_sha256.is_some());
        let (Ok(parsed), Some(stamp), Some(head)) = (parsed, stamped, &self.head.commit) else {
            return self.judge(&asked, gates);
        };
        if !fits(basis, &parsed) {
            return self.judge(&asked, gates);
        }
        let (path, symbol) = match &parsed {
            Anchor::Lines { path, .. } => (path, None),
            Anchor::Symbol { path, symbol } => (path, Some(symbol.as_str())),
            Anchor::Doc { place, section } => {
                let mut answer = self.judge(&asked, gates)?;
                let now = self.section_digest(head, place, section.as_deref())?;
                if answer.verdict == Verdict::Verified && now != stamp.text_sha256 {
                    answer.verdict = Verdict::Changed;
                    answer.why = "the document says something else there now".to_owned();
                }
                return Ok(answer);
            }
            _ => return self.judge(&asked, gates),
        };
        let placed = match (self.read_then(stamp, path)?, &parsed) {
            (Some(then), Anchor::Lines { first, last, .. }) => {
                self.place_lines_from(&then, head, path, (*first, *last), (&[], 0..0))?
            }
            (Some(then), _) => {
                let symbol = symbol.unwrap_or_default();
                self.place_symbol_from(&asked, &then, head, path, symbol)?
            }
            (None, _) => self.by_digest(head, path, stamp)?,
        };
        let mut answer = self.answer_placed(&asked, placed, symbol)?;
        if basis == Basis::Test && answer.verdict == Verdict::Verified && !is_test_file(path) {
            answer.verdict = Verdict::Unverifiable;
            answer.why = format!("`{path}` does not look like a file of tests");
        }
        // A symbol that another line of its own file names is still where it was.
        if symbol.is_some() && answer.now.as_deref() == Some(anchor) {
            answer.verdict = Verdict::Verified;
            answer.now = None;
        }
        Ok(answer)
    }

    /// The lines of a document's section, or all of it; none where they are not there.
    fn section(
        &self,
        head: &str,
        place: &str,
        section: Option<&str>,
    ) -> Result<Option<Range<usize>>, Failure> {
        if place.contains("://") {
            return Ok(None);
        }
        Ok(match (&*self.text(head, place)?, section) {
            (Text::Lines(lines), Some(section)) => find_section(lines, section),
            (Text::Lines(lines), None) => Some(0..lines.len()),
            _ => None,
        })
    }

    fn section_digest(
        &self,
        head: &str,
        place: &str,
        section: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let lines = self.section(head, place, section)?;
        Ok(match (lines, &*self.text(head, place)?) {
            (Some(range), Text::Lines(lines)) => lines.get(range).map(digest_lines),
            _ => None,
        })
    }
}

/// A word of the path is or ends with `test` or `spec`, as test runners look for them.
fn is_test_file(path: &str) -> bool {
    let mut words = path.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        let word = word.to_ascii_lowercase();
        let marks = ["test", "tests", "spec", "specs"];
        marks
            .iter()
            .any(|mark| word == *mark || word.strip_suffix(mark).is_some_and(|w| w.len() > 2))
    })
}
