//! The verdict on an anchor (`docs/brief.md#anchors-and-verdicts`).

use super::answer::{NO_COMMIT, Placed, answer};
use super::section::{find_retitled, find_section, says_the_same, slug};
use super::sources::{Sources, Text};
use super::work::answer_unstamped;
use cook_core::diagnostic::{Failure, with_plain_marks};
use cook_core::digest::sha256;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, WorkOf, short};
use cook_core::model::{Anchor, PROMPT_DIGEST, PROMPT_ID, Verdict, fits};
use std::rc::Rc;

/// Any process of the agent's can say that the user typed something.
const HEARD: &str =
    "(heard) a hook reported it; only what the user says to cook itself counts as theirs";

/// The beginning of a message, for a reader.
fn begin(text: &str) -> String {
    /// Room for a sentence.
    const SHOWN: usize = 160;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

impl Sources<'_> {
    /// What an anchor is worth now. `gates` are the commands whose receipts may
    /// prove a `test:` anchor.
    ///
    /// # Errors
    /// When the repository or a receipt cannot be read; a bad anchor is an answer.
    pub fn judge(
        &self,
        question: &AnchorQuestion,
        gates: &[String],
    ) -> Result<AnchorAnswer, Failure> {
        let anchor = match Anchor::parse(&question.anchor) {
            Ok(anchor) if fits(question.basis, &anchor) => anchor,
            Ok(_) => {
                return Ok(answer(
                    Verdict::Malformed,
                    "its form does not fit its basis",
                    &question.anchor,
                ));
            }
            Err(why) => return Ok(answer(Verdict::Malformed, why.0, &question.anchor)),
        };
        match &anchor {
            Anchor::Lines { path, .. } | Anchor::Symbol { path, .. } => {
                self.place(question, &anchor, path)
            }
            Anchor::Test(name) => self.test(question, name, gates),
            Anchor::Command { command, text } => self.command(question, command, text),
            Anchor::Receipt(id) => self.receipt(question, id),
            Anchor::Commit(id) => self.commit(question, id),
            Anchor::Doc { place, section } => {
                self.doc(question, &anchor, place, section.as_deref())
            }
            Anchor::Gone { path, line } => self.judge_gone(question, path, line.as_deref()),
            Anchor::Entry(path) => self.entry(question, path),
            Anchor::User { id, quote } => self.judge_message(id, quote.as_deref()),
        }
    }

    /// A message of the user's, and whether it holds the quote. White space does not matter, nor how
    /// quotes and dashes are set.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn judge_message(&self, id: &str, quote: Option<&str>) -> Result<AnchorAnswer, Failure> {
        let messages = self.messages()?;
        let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (verdict, why) = match (messages.get(id), quote) {
            (None, _) => (Verdict::Missing, "no message of the user's has that id"),
            (Some(text), Some(quote)) if text.starts_with(PROMPT_DIGEST) => {
                match text[PROMPT_DIGEST.len()..] == sha256(fold(quote)) {
                    true => (Verdict::Unverifiable, HEARD),
                    false => (
                        Verdict::Unverifiable,
                        "only the digest of the message is kept",
                    ),
                }
            }
            (Some(text), Some(quote))
                if !with_plain_marks(text).contains(&with_plain_marks(quote)) =>
            {
                let (quote, says) = (begin(quote), begin(&fold(text)));
                let why = format!("the message does not say \"{quote}\"; it says: {says}");
                return Ok(answer(Verdict::Missing, why, &format!("user@{id}")));
            }
            (Some(_), _) if id.starts_with(PROMPT_ID) => (Verdict::Unverifiable, HEARD),
            (Some(_), Some(_)) => (Verdict::Verified, "the message says that"),
            (Some(_), None) => (Verdict::Verified, "the message is there"),
        };
        // Of a criterion only receipts and text are proof
        // (`protocol/completion.md#acceptance-criteria`).
        Ok(answer(verdict, why, &format!("user@{id}")))
    }

    fn place(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        path: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(Verdict::Missing, NO_COMMIT, &question.anchor));
        };
        let stamp = match &question.stamped_at {
            None => None,
            Some(_) => match self.find_stamp(question)? {
                Some(stamp) => Some(stamp),
                None if matches!(question.work, Some(WorkOf::Accepted(_))) => {
                    return self.by_work(question, anchor, path);
                }
                None => return Ok(answer_unstamped(question)),
            },
        };
        let then = match &stamp {
            None => None,
            Some(stamp) => match self.at_commit(stamp, path)? {
                Some(then) => Some(then),
                None => {
                    let why = format!("`{path}` cannot be read in commit {}", short(stamp));
                    return Ok(answer(Verdict::Unverifiable, why, &question.anchor));
                }
            },
        };
        let (placed, symbol) = match (anchor, then) {
            (Anchor::Lines { first, last, .. }, None) => {
                (self.lines_now(head, path, *first, *last)?, None)
            }
            (Anchor::Lines { first, last, .. }, Some(then)) => {
                let lines = (*first, *last);
                let (before, was) = self.before(question, path, first - 1..*last)?;
                let placed = self.place_lines_from(&then, head, path, lines, (&before, was))?;
                (placed, None)
            }
            (Anchor::Symbol { symbol, .. }, None) => {
                (self.symbol_now(head, path, symbol)?, Some(symbol))
            }
            (Anchor::Symbol { symbol, .. }, Some(then)) => (
                self.place_symbol_from(question, &then, head, path, symbol)?,
                Some(symbol),
            ),
            _ => (
                Placed::not(Verdict::Malformed, "it does not point into a file"),
                None,
            ),
        };
        self.answer_placed(question, placed, symbol.map(String::as_str))
    }

    pub(super) fn answer_placed(
        &self,
        question: &AnchorQuestion,
        placed: Placed,
        symbol: Option<&str>,
    ) -> Result<AnchorAnswer, Failure> {
        let mut answer = answer(placed.verdict, placed.why, &question.anchor);
        let Some((path, first, last)) = placed.found else {
            return Ok(answer);
        };
        // What a program writes is nobody's work, whoever wrote it before.
        if question.stamped_at.is_some() && question.work.is_some() && self.is_generated(&path)? {
            let is_in_place = match Anchor::parse(&question.anchor) {
                Ok(Anchor::Lines { path: named, .. } | Anchor::Symbol { path: named, .. }) => {
                    named == path
                }
                _ => false,
            };
            answer.verdict = match is_in_place {
                true => Verdict::Changed,
                false => Verdict::Missing,
            };
            answer.why = format!("a program writes `{path}` now");
            return Ok(answer);
        }
        // A symbol is shown by its first line: what stands below may show something else too.
        let shown = match symbol {
            Some(_) => first,
            None => last,
        };
        answer.target = format!("{path}#{first}-{shown}");
        // Of proof also where to look for another.
        let is_near = placed.verdict == Verdict::Changed && question.work.is_some();
        if placed.verdict == Verdict::Moved || is_near {
            let named = match symbol {
                Some(symbol) => {
                    let here = self.find_symbol_now(&path, symbol)?;
                    (here == Some(first - 1..last)).then_some(symbol)
                }
                None => None,
            };
            answer.now = Some(match named {
                Some(symbol) => format!("{path}:{symbol}"),
                None if first == last => format!("{path}:{first}"),
                None => format!("{path}:{first}-{last}"),
            });
            // A symbol names no line: where its own name leads, it stands as it did.
            if placed.verdict == Verdict::Moved && answer.now.as_ref() == Some(&question.anchor) {
                answer.verdict = Verdict::Verified;
                answer.now = None;
            }
        }
        answer.related = match &question.work {
            None => !self.is_generated(&path)?,
            Some(work) => self.is_work(work, &path, &(first - 1..last))?,
        };
        let holds = matches!(answer.verdict, Verdict::Verified | Verdict::Moved);
        if let Some(work @ WorkOf::Claimed(_)) = question.work.as_ref().filter(|_| holds)
            && !self.was_reviewed(work, &path, first - 1..last)?
        {
            answer.verdict = Verdict::Changed;
            "it says something else than at the commit that was reviewed; reopened, it is reviewed again"
                .clone_into(&mut answer.why);
        }
        Ok(answer)
    }

    fn commit(&self, question: &AnchorQuestion, id: &str) -> Result<AnchorAnswer, Failure> {
        let Some(commit) = self.repo.resolve(id)? else {
            return Ok(answer(
                Verdict::Missing,
                "there is no such commit here",
                &question.anchor,
            ));
        };
        let on_head = self.repo.on_head(self.head, &commit)?;
        let (verdict, why) = if on_head {
            (Verdict::Verified, "it is on HEAD")
        } else {
            (Verdict::Missing, "it is not on HEAD")
        };
        // It shows that something was done, and nothing of what.
        Ok(answer(verdict, why, &format!("commit {commit}")))
    }

    fn doc(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        place: &str,
        section: Option<&str>,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = self
            .head
            .commit
            .as_deref()
            .filter(|_| !place.contains("://"))
        else {
            let why = "a document outside the repository cannot be read here";
            return Ok(answer(Verdict::Unverifiable, why, &question.anchor));
        };
        let then = self.find_stamp(question)?;
        if then.is_none()
            && question.stamped_at.is_some()
            && let (Some(WorkOf::Accepted(_)), Some(_)) = (&question.work, section)
        {
            return self.by_work(question, anchor, place);
        }
        let renamed = match (&then, &*self.text(head, place)?) {
            (Some(then), Text::Gone) => self.find_renamed(then, head, place)?,
            _ => None,
        };
        let here = renamed.as_deref().unwrap_or(place);
        let now = self.text(head, here)?;
        let was = match &then {
            Some(then) => self.text(then, place)?,
            None => Rc::new(Text::Gone),
        };
        let find = |section: Option<&str>| match (&*now, section) {
            (Text::Lines(lines), Some(section)) => find_section(lines, section),
            (Text::Lines(lines), None) => Some(0..lines.len()),
            _ => None,
        };
        let mut found = find(section);
        let mut retitled = None;
        if let (Text::Lines(was), Text::Lines(now), Some(title), None) =
            (&*was, &*now, section, &found)
        {
            retitled = find_retitled(was, now, title);
            found = retitled.and_then(|title| find(Some(title)));
        }
        // A section is its lines, however it is named.
        let target = match (section, &found) {
            (Some(_), Some(found)) => format!("{here}#{}-{}", found.start + 1, found.end),
            _ => format!("{here}#{}", section.map(slug).unwrap_or_default()),
        };
        let (verdict, why) = match (&*now, &found) {
            (Text::Gone, _) => (Verdict::Missing, "it is not in HEAD's tree"),
            (Text::No(_), _) => (Verdict::Unverifiable, "it is not a file that can be read"),
            (_, None) => (Verdict::Missing, "the document has no such section"),
            _ if retitled.is_some() => (Verdict::Moved, "it stands under another heading"),
            (Text::Lines(lines), Some(found)) => {
                let is_same = match (&then, section, &*was) {
                    (Some(_), Some(section), Text::Lines(old)) => find_section(old, section)
                        .is_some_and(|range| says_the_same(&old[range], &lines[found.clone()])),
                    (Some(_), Some(_), _) => false,
                    _ => true,
                };
                match is_same {
                    true if renamed.is_some() => {
                        (Verdict::Moved, "it stands in a file of another name")
                    }
                    true => (Verdict::Verified, "it is in HEAD's tree"),
                    false => (Verdict::Changed, "the section says something else now"),
                }
            }
        };
        if let (Some(work), Some(section), Text::Lines(_)) = (&question.work, section, &*was) {
            let is_work = match &found {
                Some(found) => verdict != Verdict::Changed || self.is_work(work, here, found)?,
                None => false,
            };
            if !is_work {
                return self.answer_emptied(work, place, section);
            }
        }
        let mut answer = answer(verdict, why, &target);
        if renamed.is_some() || retitled.is_some() {
            let section = retitled.or(section);
            answer.now = section.map(|section| format!("doc:{here}#{section}"));
        }
        answer.related = match (&question.work, section, &found) {
            (None, Some(_), _) => !self.is_generated(here)?,
            (Some(work), Some(_), Some(found)) => self.is_work(work, here, found)?,
            _ => false,
        };
        Ok(answer)
    }
}
