//! The verdict on an anchor (`protocol/completion.md#acceptance-criteria`).

use super::named_test::{Said, find_test};
use super::place::{answer_moved, find_place, find_symbol};
use super::sources::{Sources, Text, answer, recall, say};
use crate::prelude::*;
use crate::trial;
use cook_mutants::{Class, Edited, classify_texts, plant, with_comment};
use cook_protocol::model::{Anchor, Basis, Stamp, fits};
use cook_repo::git::{Entry, Put, digest_lines, find_digest, is_telling};
use std::ops::Range;

impl Sources<'_> {
    /// The present verdict on an anchor. `gates` are the commands whose runs may prove a `test:` anchor.
    ///
    /// # Errors
    /// A repository or a receipt that cannot be read. A bad anchor is not an error, but gets a verdict.
    pub fn judge(&self, question: &AnchorQuestion, gates: &[String]) -> Result<AnchorAnswer> {
        let anchor = match Anchor::parse(&question.anchor) {
            Ok(anchor) if fits(question.basis, &anchor) => anchor,
            Ok(_) => {
                let why = "its form does not fit its basis";
                return say(question, Verdict::Malformed, why);
            }
            Err(why) => return Ok(answer(Verdict::Malformed, why.0, &question.anchor)),
        };
        match &anchor {
            Anchor::Lines { path, .. } | Anchor::Symbol { path, .. } => {
                self.judge_place(question, &anchor, path)
            }
            Anchor::Doc { place, .. } if !place.contains("://") => {
                self.judge_place(question, &anchor, place)
            }
            Anchor::Doc { .. } => {
                let why = "a document outside of the repository cannot be read here";
                say(question, Verdict::Unverifiable, why)
            }
            Anchor::Test(name) => self.judge_test(question, name, gates),
            Anchor::Command { command, text } => self.judge_command(question, command, text),
            Anchor::Receipt(id) => self.judge_receipt(question, id),
            Anchor::Commit(id) => self.judge_commit(question, id),
            Anchor::Gone { path, line } => self.judge_gone(question, path, line.as_deref()),
            Anchor::Entry(path) => self.judge_entry(question, path),
            Anchor::User { id, quote } => self.judge_message(id, quote.as_deref()),
        }
    }

    fn judge_commit(&self, question: &AnchorQuestion, id: &str) -> Result<AnchorAnswer> {
        let Some(commit) = self.repo.resolve(id)? else {
            let why = "there is no such commit here";
            return say(question, Verdict::Missing, why);
        };
        let (verdict, why) = match self.repo.on_head(self.head, &commit)? {
            true => (Verdict::Verified, "it is on HEAD"),
            false => (Verdict::Missing, "it is not on HEAD"),
        };
        // It shows that something was done, but not what.
        Ok(answer(verdict, why, &format!("commit {commit}")))
    }

    /// The verdict on a new anchor, and its stamp. `gates` are the commands whose receipts may prove a `test:` anchor.
    ///
    /// # Errors
    /// A repository or a receipt that cannot be read. A bad anchor is not an error, but gets a verdict.
    pub fn stamp(
        &self,
        anchor: &str,
        basis: Basis,
        gates: &[String],
    ) -> Result<(AnchorAnswer, Stamp)> {
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

    /// The present verdict on a stamped anchor: the stamped text is searched in its file, and in the file that git says
    /// it was renamed to.
    ///
    /// # Errors
    /// A repository or a receipt that cannot be read.
    pub fn recheck(
        &self,
        anchor: &str,
        basis: Basis,
        stamp: Option<&Stamp>,
        gates: &[String],
    ) -> Result<AnchorAnswer> {
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
    ) -> Result<AnchorAnswer> {
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
                    Some(then) if then != head => {
                        format!("unchanged since commit {}", short(then))
                    }
                    _ => "it is as it was stamped".to_owned(),
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

    /// Whether the test is green with comments added to the slice's code and red with a defect planted in it, with a
    /// description.
    pub(super) fn notices_defect(
        &self,
        runner: &Gates,
        gate: &GateSpec,
        name: &str,
        (basis, head): (&str, &str),
    ) -> Result<(bool, String)> {
        let edits = self.repo.edits(basis, head)?;
        let sources = list_sources(&edits, &gate.run);
        let planted = plant(&sources, head, MOST).mutants;
        if planted.is_empty() {
            return Ok((true, "no defect can be planted in the slice's code".into()));
        }
        let commented = sources.iter().filter_map(|edit| {
            let text = with_comment(edit.path, edit.after?)?;
            Some((edit.path.to_owned(), text))
        });
        let with = |files: Vec<(String, String)>| self.try_with(runner, gate, name, head, files);
        if !matches!(with(commented.collect())?, Said::Green(_)) {
            let why = "it is not green where only comments are added to the slice's code";
            return Ok((false, why.to_owned()));
        }
        let tried = planted.len();
        for defect in planted {
            let place = format!("{}:{}", defect.path, defect.line);
            if let Said::Red(_) = with(vec![(defect.path, defect.text)])? {
                return Ok((true, format!("it notices a defect planted in {place}")));
            }
        }
        let why = format!("it notices none of {tried} defects planted in the slice's code");
        Ok((false, why))
    }

    /// The result of a test if these files have other contents.
    fn try_with(
        &self,
        runner: &Gates,
        gate: &GateSpec,
        name: &str,
        head: &str,
        files: Vec<(String, String)>,
    ) -> Result<Said> {
        let modes = recall(&self.known.files, head.to_owned(), || self.repo.files(head))?;
        let puts: BTreeMap<String, Put> = files
            .into_iter()
            .filter_map(|(path, text)| {
                let mode = modes.get(&path)?.mode.clone();
                Some((path, Put::Text { mode, text }))
            })
            .collect();
        let commit = self.repo.make_mixed(head, &puts)?;
        let key = (gate.run.clone(), commit.clone());
        let told = recall(&self.known.on_other_code, key, || {
            Ok(Some(trial::run_at(runner, &commit, gate)?.into()))
        })?;
        Ok(match &*told {
            Some(told) => find_test(&told.outcomes, name),
            None => Said::Nothing,
        })
    }
}

// Anchors of the brief: stamped when they are recorded, and later looked up at HEAD.

fn question(anchor: &str, basis: Basis) -> AnchorQuestion {
    AnchorQuestion {
        slice_id: String::new(),
        criterion: String::new(),
        anchor: anchor.to_owned(),
        basis,
        required: Required::AtHead,
    }
}

/// The lines that a stamp covers: for a symbol also its body.
fn find_block(lines: &[String], anchor: &Anchor) -> Option<Range<usize>> {
    match anchor {
        Anchor::Symbol { symbol, .. } => find_symbol(lines, symbol),
        _ => find_place(lines, anchor),
    }
}

/// The one place that is the stamped one. If the text is too short or occurs several times, the lines around it decide.
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

/// The lines, with one before and one after if they exist.
fn find_context<'l>(lines: &'l [String], range: &Range<usize>) -> &'l [String] {
    &lines[range.start.saturating_sub(1)..(range.end + 1).min(lines.len())]
}

/// Whether a word of the path is or ends with `test` or `spec`, as test runners look for them.
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

// For a test that cannot be loaded on the code of the basis: whether it notices a defect in the slice's code. On the
// basis it would have no result, whatever it tests.

/// Maximum number of defects that are tried; each takes one run of the gate, which all claims of a slice share.
const MOST: usize = 8;

fn list_sources<'e>(edits: &'e [Edit], command: &str) -> Vec<Edited<'e>> {
    let commands = [command.to_owned()];
    let read = edits.iter().filter_map(|edit| {
        let (before, after) = edit.texts.as_ref()?;
        let (before, after) = (before.as_deref(), after.as_deref());
        let path = edit.change.path.as_str();
        Some(Edited {
            path,
            class: classify_texts(path, &commands, [before, after]),
            before,
            after,
        })
    });
    read.filter(|edit| edit.class == Class::Source).collect()
}
