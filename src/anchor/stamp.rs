//! Anchors of the brief: stamped when they are written down, looked up at HEAD afterwards.

use super::place::find_place;
use super::sources::{Sources, Text, answer};
use super::symbol::find_symbol;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{AnchorAnswer, AnchorQuestion, Required, short};
use cook_protocol::model::{Anchor, Basis, Count, Stamp, Verdict, fits};
use cook_repo::git::{Entry, digest_lines, find_digest, is_telling};
use std::ops::Range;

fn question(anchor: &str, basis: Basis) -> AnchorQuestion {
    AnchorQuestion {
        slice_id: String::new(),
        criterion: String::new(),
        anchor: anchor.to_owned(),
        basis,
        required: Required::AtHead,
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
        let mut answer = self.judge(&question(anchor, basis), gates)?;
        let mut stamp = Stamp {
            head: self.head.commit.clone(),
            branch: self.head.branch.clone(),
            ..Stamp::default()
        };
        if let (Some(head), Ok(parsed)) = (&self.head.commit, Anchor::parse(anchor))
            && let Some(path) = parsed.file()
            && let Text::Lines(lines) = &*self.text(head, path)?
            && let Some(range) = find_block(lines, &parsed)
        {
            let block = &lines[range.clone()];
            if answer.verdict == Verdict::Verified && !is_telling(block) {
                answer.verdict = Verdict::Unverifiable;
                "these lines are too short to be found again".clone_into(&mut answer.why);
            }
            if let Entry::File { oid, .. } = self.repo.entry(head, path)? {
                stamp.blob = Some(oid);
            }
            stamp.text_sha256 = Some(digest_lines(block));
            stamp.context_sha256 = Some(digest_lines(find_context(lines, &range)));
            stamp.line = Some(Count(range.start as u64 + 1));
            stamp.lines = Some(Count(block.len() as u64));
        }
        Ok((answer, stamp))
    }

    /// What an anchor that was stamped is worth now: the stamped text is looked up in its file, and in the file
    /// that git says was renamed.
    ///
    /// # Errors
    /// When the repository or a receipt cannot be read.
    pub fn recheck(
        &self,
        anchor: &str,
        basis: Basis,
        stamp: Option<&Stamp>,
        gates: &[String],
    ) -> Result<AnchorAnswer, Failure> {
        let asked = question(anchor, basis);
        let parsed = Anchor::parse(anchor)
            .ok()
            .filter(|parsed| fits(basis, parsed));
        let (Some(parsed), Some(stamp), Some(head)) = (parsed, stamp, &self.head.commit) else {
            return self.judge(&asked, gates);
        };
        let (Some(path), Some(digest)) = (parsed.file(), &stamp.text_sha256) else {
            return self.judge(&asked, gates);
        };
        let mut found = self.look_up(anchor, &parsed, (head, path), (stamp, digest))?;
        if basis == Basis::Test && found.verdict == Verdict::Verified && !is_test_file(path) {
            found.verdict = Verdict::Unverifiable;
            found.why = format!("`{path}` does not look like a file of tests");
        }
        Ok(found)
    }

    fn look_up(
        &self,
        anchor: &str,
        parsed: &Anchor,
        (head, path): (&str, &str),
        (stamp, digest): (&Stamp, &str),
    ) -> Result<AnchorAnswer, Failure> {
        let count = stamp.lines.map_or(1, |count| count.0 as usize).max(1);
        let first = stamp.line.map_or(0, |line| line.0 as usize);
        let here = match &*self.text(head, path)? {
            Text::Lines(lines) => Some(lines.clone()),
            Text::Gone => None,
            Text::No(why) => {
                let why = format!("`{path}` holds no text any more: {why}");
                return Ok(answer(Verdict::Missing, why, anchor));
            }
        };
        if let Some(lines) = &here {
            let found = find_digest(lines, count, digest);
            let named = find_block(lines, parsed).filter(|named| found.contains(named));
            if named.is_some() || found.iter().any(|range| range.start + 1 == first) {
                let why = match &stamp.head {
                    Some(then) => format!("unchanged since commit {}", short(then)),
                    None => "it is as it was stamped".to_owned(),
                };
                return Ok(answer(Verdict::Verified, why, anchor));
            }
            if let Some(range) = find_one(lines, &found, stamp) {
                return Ok(answer_moved(parsed, path, range));
            }
            if !found.is_empty() {
                let why = "the text stands in several places now";
                return Ok(answer(Verdict::Changed, why, anchor));
            }
        }
        let then = match &stamp.head {
            Some(then) => self.repo.resolve(then)?,
            None => None,
        };
        let renamed = match &then {
            Some(then) => self.repo.find_renamed(then, head, path)?,
            None => None,
        };
        let mut there = here.is_some().then(|| path.to_owned());
        if let Some(to) = renamed
            && let Text::Lines(lines) = &*self.text(head, &to)?
        {
            let found = find_digest(lines, count, digest);
            if let Some(range) = find_one(lines, &found, stamp) {
                return Ok(answer_moved(parsed, &to, range));
            }
            there.get_or_insert(to);
        }
        Ok(match there {
            Some(there) => answer(
                Verdict::Changed,
                format!("`{there}` holds another text there"),
                anchor,
            ),
            None => answer(
                Verdict::Missing,
                format!("`{path}` is not in HEAD's tree"),
                anchor,
            ),
        })
    }
}

/// The lines that a stamp is made of: of a symbol also what belongs to the line that names it.
fn find_block(lines: &[String], anchor: &Anchor) -> Option<Range<usize>> {
    match anchor {
        Anchor::Symbol { symbol, .. } => find_symbol(lines, symbol),
        _ => find_place(lines, anchor),
    }
}

/// The one place that is the stamped one: what says little, or stands in several places, is told by the lines
/// around it.
fn find_one<'f>(
    lines: &[String],
    found: &'f [Range<usize>],
    stamp: &Stamp,
) -> Option<&'f Range<usize>> {
    if let [range] = found
        && is_telling(&lines[range.clone()])
    {
        return Some(range);
    }
    let mut around = found.iter().filter(|range| {
        let context = digest_lines(find_context(lines, range));
        stamp.context_sha256.as_ref() == Some(&context)
    });
    around.next().filter(|_| around.next().is_none())
}

/// The lines with one before and one after, where there are any.
fn find_context<'l>(lines: &'l [String], range: &Range<usize>) -> &'l [String] {
    &lines[range.start.saturating_sub(1)..(range.end + 1).min(lines.len())]
}

fn answer_moved(anchor: &Anchor, path: &str, range: &Range<usize>) -> AnchorAnswer {
    let (first, last) = (range.start + 1, range.end);
    let now = match anchor {
        Anchor::Symbol { symbol, .. } => format!("{path}:{symbol}"),
        Anchor::Doc {
            section: Some(section),
            ..
        } => format!("doc:{path}#{section}"),
        Anchor::Doc { .. } => format!("doc:{path}"),
        _ if first == last => format!("{path}:{first}"),
        _ => format!("{path}:{first}-{last}"),
    };
    let why = format!("the text stands at `{path}` line {first} now");
    let target = format!("{path}#{first}-{last}");
    let mut answer = answer(Verdict::Moved, why, &target);
    answer.now = Some(now);
    answer
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
