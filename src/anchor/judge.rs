//! The verdict on an anchor (`docs/brief.md#anchors-and-verdicts`).

use super::output::{TestOutcome, names, test_outcomes, without_escapes};
use super::place::{Placed, Text};
use cook_core::diagnostic::Failure;
use cook_core::digest::sha256;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, Head};
use cook_core::model::{Anchor, PROMPT_DIGEST, Receipt, Verdict, fits};
use cook_git::{Change, Entry, Repo};
use cook_store::receipt::Receipts;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Characters a text after `#` needs to stand for the beginning of a line.
const BEGINNING: usize = 8;

/// What anchors are held against.
pub struct Sources<'a> {
    pub(super) repo: &'a Repo,
    receipts: &'a Receipts,
    pub(super) head: &'a Head,
    read: RefCell<BTreeMap<String, Rc<Said>>>,
    messages: RefCell<Option<Rc<BTreeMap<String, String>>>>,
    recall: &'a dyn Fn() -> Result<BTreeMap<String, String>, Failure>,
    pub(super) texts: Kept<Text>,
    pub(super) changes: Kept<Vec<Change>>,
}

/// What was read once: by commit and path, or by two commits.
type Kept<T> = RefCell<HashMap<(String, String), Rc<T>>>;

/// What a receipt's output says.
struct Said {
    lines: Vec<String>,
    tests: Vec<(String, TestOutcome)>,
    partial: bool,
}

impl<'a> Sources<'a> {
    /// The repository at this HEAD, its receipts, and the user's messages by id, which
    /// are only asked for when an anchor points to one.
    pub fn new(
        repo: &'a Repo,
        receipts: &'a Receipts,
        head: &'a Head,
        messages: &'a dyn Fn() -> Result<BTreeMap<String, String>, Failure>,
    ) -> Self {
        Self {
            repo,
            receipts,
            head,
            read: RefCell::default(),
            messages: RefCell::default(),
            recall: messages,
            texts: RefCell::default(),
            changes: RefCell::default(),
        }
    }

    /// The user's messages that count.
    pub fn messages(&self) -> Result<Rc<BTreeMap<String, String>>, Failure> {
        if let Some(messages) = &*self.messages.borrow() {
            return Ok(Rc::clone(messages));
        }
        let messages = Rc::new((self.recall)()?);
        *self.messages.borrow_mut() = Some(Rc::clone(&messages));
        Ok(messages)
    }

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
            Anchor::Lines { .. } | Anchor::Symbol { .. } => self.place(question, &anchor),
            Anchor::Test(name) => self.test(question, name, gates),
            Anchor::Command { command, text } => self.command(question, command, text),
            Anchor::Receipt(id) => self.receipt(question, id),
            Anchor::Commit(id) => self.commit(question, id),
            Anchor::Doc { place, section } => self.doc(question, place, section.as_deref()),
            Anchor::User { id, quote } => self.said_by_user(question, id, quote.as_deref()),
        }
    }

    /// A message of the user's, and whether it holds the quote. White space does not matter.
    fn said_by_user(
        &self,
        question: &AnchorQuestion,
        id: &str,
        quote: Option<&str>,
    ) -> Result<AnchorAnswer, Failure> {
        let messages = self.messages()?;
        let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (verdict, why) = match (messages.get(id), quote) {
            (None, _) => (Verdict::Missing, "no message of the user's has that id"),
            (Some(text), Some(quote)) if text.starts_with(PROMPT_DIGEST) => {
                match text[PROMPT_DIGEST.len()..] == sha256(fold(quote)) {
                    true => (Verdict::Verified, "the message is exactly that"),
                    false => (
                        Verdict::Unverifiable,
                        "only the digest of the message is kept",
                    ),
                }
            }
            (Some(text), Some(quote)) if !fold(text).contains(&fold(quote)) => {
                (Verdict::Missing, "the message does not say that")
            }
            (Some(_), Some(_)) => (Verdict::Verified, "the message says that"),
            (Some(_), None) => (Verdict::Verified, "the message is there"),
        };
        let mut answer = answer(verdict, why, &format!("user@{id}"));
        // Of a slice that is to be accepted only receipts and changed places are proof
        // (`protocol/completion.md#acceptance-criteria`).
        answer.related = question.changed_between.is_none();
        Ok(answer)
    }

    fn place(&self, question: &AnchorQuestion, anchor: &Anchor) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(
                Verdict::Missing,
                "there is no commit yet",
                &question.anchor,
            ));
        };
        let stamp = match &question.stamped_at {
            None => None,
            Some(stamp) => match self.repo.resolve(stamp)? {
                Some(stamp) => Some(stamp),
                None => {
                    let why = "the commit it was stamped at is not here";
                    return Ok(answer(Verdict::Unverifiable, why, &question.anchor));
                }
            },
        };
        let (placed, symbol) = match (anchor, stamp) {
            (Anchor::Lines { path, first, last }, None) => {
                (self.lines_now(head, path, *first, *last)?, None)
            }
            (Anchor::Lines { path, first, last }, Some(stamp)) => {
                (self.lines_since(&stamp, head, path, *first, *last)?, None)
            }
            (Anchor::Symbol { path, symbol }, None) => {
                (self.symbol_now(head, path, symbol)?, Some(symbol))
            }
            (Anchor::Symbol { path, symbol }, Some(stamp)) => {
                (self.symbol_since(&stamp, head, path, symbol)?, Some(symbol))
            }
            _ => (
                Placed::not(Verdict::Malformed, "it does not point into a file"),
                None,
            ),
        };
        self.placed(question, placed, symbol.map(String::as_str))
    }

    pub(super) fn placed(
        &self,
        question: &AnchorQuestion,
        placed: Placed,
        symbol: Option<&str>,
    ) -> Result<AnchorAnswer, Failure> {
        let mut answer = answer(placed.verdict, placed.why, &question.anchor);
        let Some((path, first, last)) = placed.found else {
            return Ok(answer);
        };
        answer.target = format!("{path}#{first}-{last}");
        if placed.verdict == Verdict::Moved {
            answer.now = Some(match symbol {
                Some(symbol) => format!("{path}:{symbol}"),
                None if first == last => format!("{path}:{first}"),
                None => format!("{path}:{first}-{last}"),
            });
        }
        answer.related = match &question.changed_between {
            None => true,
            Some((basis, slice_head)) => {
                let range = (basis.as_str(), slice_head.as_str());
                self.is_changed_by(range, &path, &placed.text, symbol.is_some())?
            }
        };
        Ok(answer)
    }

    fn test(
        &self,
        question: &AnchorQuestion,
        name: &str,
        gates: &[String],
    ) -> Result<AnchorAnswer, Failure> {
        let tree = self.head.tree.as_deref().unwrap_or_default();
        let (mut seen, mut partial, mut stale) = (0, false, false);
        let mut passed = None;
        for command in gates {
            let Some(receipt) = self.receipts.find(command, tree)? else {
                stale |= match self.receipts.latest(command)? {
                    Some(old) => self.test_in(&old, name)? == Some(true),
                    None => false,
                };
                continue;
            };
            seen += 1;
            match self.test_in(&receipt, name)? {
                Some(true) if !receipt.passed() => {
                    let (why, target) = (red(&receipt), format!("test {name}"));
                    return Ok(self.backed(question, Verdict::Missing, why, &receipt, &target));
                }
                Some(true) => {
                    passed.get_or_insert((command, receipt));
                }
                Some(false) => {
                    let why = format!("`{command}` says that it failed or did not run");
                    return Ok(self.backed(
                        question,
                        Verdict::Missing,
                        why,
                        &receipt,
                        &format!("test {name}"),
                    ));
                }
                None => partial |= self.said(&receipt)?.partial,
            }
        }
        let Some((command, receipt)) = passed else {
            let (verdict, why) = match (seen, partial, stale) {
                (0, _, true) => (
                    Verdict::Stale,
                    "the receipt that names it is of another tree",
                ),
                (0, ..) => (
                    Verdict::Unverifiable,
                    "no gate has a clean receipt of HEAD's tree",
                ),
                (_, true, _) => (Verdict::Unverifiable, "the gates' output is not kept whole"),
                _ => (Verdict::Missing, "no gate's output names it as passed"),
            };
            return Ok(answer(verdict, why, &question.anchor));
        };
        let why = format!("`{command}` names it as passed");
        let target = format!("test {name}");
        let mut answer = self.backed(question, Verdict::Verified, why, &receipt, &target);
        answer.related = self.is_slices(question, &receipt, |old| {
            Ok(old.passed() && self.test_in(old, name)? == Some(true))
        })?;
        Ok(answer)
    }

    /// Whether a receipt's output names the test as passed; none when it does not name it.
    fn test_in(&self, receipt: &Receipt, name: &str) -> Result<Option<bool>, Failure> {
        let said = self.said(receipt)?;
        let exact = said.tests.iter().any(|(full, _)| full == name);
        let outcomes = said
            .tests
            .iter()
            .filter(|(full, _)| {
                if exact {
                    full == name
                } else {
                    names(full, name)
                }
            })
            .map(|(_, outcome)| *outcome == TestOutcome::Passed);
        Ok(outcomes.reduce(|all, passed| all && passed))
    }

    fn command(
        &self,
        question: &AnchorQuestion,
        command: &str,
        text: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let tree = self.head.tree.as_deref().unwrap_or_default();
        let Some(receipt) = self.receipts.find(command, tree)? else {
            let (verdict, why) = match self.receipts.latest(command)? {
                Some(_) => (Verdict::Stale, "its receipt is of another tree"),
                None => (
                    Verdict::Unverifiable,
                    "no trusted gate has run this command",
                ),
            };
            return Ok(answer(verdict, why, &question.anchor));
        };
        let (verdict, why, target) = self.output_anchor(&receipt, text)?;
        let mut answer = self.backed(question, verdict, why, &receipt, &target);
        answer.related = self.is_slices(question, &receipt, |old| {
            Ok(self.output_anchor(old, text)?.0 == Verdict::Verified)
        })?;
        Ok(answer)
    }

    /// What stands behind `#`: `exit`, `exit-status-line`, or a line of the output.
    fn output_anchor(
        &self,
        receipt: &Receipt,
        text: &str,
    ) -> Result<(Verdict, String, String), Failure> {
        if !receipt.passed() {
            return Ok((Verdict::Missing, red(receipt), text.to_owned()));
        }
        if matches!(text, "exit" | "exit-status-line") {
            return Ok((
                Verdict::Verified,
                "it ended with exit code 0".to_owned(),
                "exit".to_owned(),
            ));
        }
        let said = self.said(receipt)?;
        let begins = text.chars().count() >= BEGINNING;
        let found = said.lines.iter().position(|line| line == text).or_else(|| {
            said.lines
                .iter()
                .position(|line| begins && line.starts_with(text))
        });
        Ok(match found {
            Some(at) => (
                Verdict::Verified,
                format!("line {} of its output", at + 1),
                format!("line {}", at + 1),
            ),
            None if said.partial => (
                Verdict::Unverifiable,
                "the output is not kept whole".to_owned(),
                text.to_owned(),
            ),
            None => (
                Verdict::Missing,
                "no line of its output says that".to_owned(),
                text.to_owned(),
            ),
        })
    }

    fn receipt(&self, question: &AnchorQuestion, id: &str) -> Result<AnchorAnswer, Failure> {
        let Some(receipt) = self.receipts.get(id)? else {
            return Ok(answer(
                Verdict::Missing,
                "no receipt has that id",
                &question.anchor,
            ));
        };
        let (verdict, why) = if receipt.dirty {
            (
                Verdict::Unverifiable,
                "it is of a tree that was not clean".to_owned(),
            )
        } else if receipt.tree_oid != self.head.tree {
            (
                Verdict::Stale,
                "it is of another tree than HEAD's".to_owned(),
            )
        } else if receipt.passed() {
            (Verdict::Verified, "it ended with exit code 0".to_owned())
        } else {
            (Verdict::Missing, red(&receipt))
        };
        let mut answer = self.backed(question, verdict, why, &receipt, "exit");
        answer.related = self.is_slices(question, &receipt, |old| Ok(old.passed()))?;
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
        let mut answer = answer(verdict, why, &format!("commit {commit}"));
        answer.related = match &question.changed_between {
            None => true,
            Some((basis, slice_head)) => {
                match (self.repo.resolve(basis)?, self.repo.resolve(slice_head)?) {
                    (Some(basis), Some(slice_head)) => {
                        !self.repo.is_ancestor(&commit, &basis)?
                            && self.repo.is_ancestor(&commit, &slice_head)?
                    }
                    _ => false,
                }
            }
        };
        Ok(answer)
    }

    fn doc(
        &self,
        question: &AnchorQuestion,
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
        let target = format!("{place}#{}", section.unwrap_or_default());
        let (verdict, why) = match self.repo.entry(head, place)? {
            Entry::File { bytes, .. } => match section {
                Some(section) if !has_heading(&bytes, section) => {
                    (Verdict::Missing, "the document has no such section")
                }
                _ => (Verdict::Verified, "it is in HEAD's tree"),
            },
            Entry::Nothing => (Verdict::Missing, "it is not in HEAD's tree"),
            _ => (Verdict::Unverifiable, "it is not a file that can be read"),
        };
        let mut answer = answer(verdict, why, &target);
        answer.related = match &question.changed_between {
            None => true,
            Some((basis, slice_head)) => {
                self.is_changed_by((basis, slice_head), place, &[], true)?
            }
        };
        Ok(answer)
    }

    /// Whether the receipt, or another of the same command that holds as well, is of
    /// the slice head's tree.
    fn is_slices(
        &self,
        question: &AnchorQuestion,
        receipt: &Receipt,
        holds: impl Fn(&Receipt) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        let Some((_, slice_head)) = &question.changed_between else {
            return Ok(true);
        };
        let Some(slice_head) = self.repo.resolve(slice_head)? else {
            return Ok(false);
        };
        let tree = self.repo.tree_of(&slice_head)?;
        if receipt.tree_oid.as_deref() == Some(tree.as_str()) {
            return Ok(true);
        }
        match self.receipts.find(&receipt.command, &tree)? {
            Some(old) => holds(&old),
            None => Ok(false),
        }
    }

    fn said(&self, receipt: &Receipt) -> Result<Rc<Said>, Failure> {
        if let Some(said) = self.read.borrow().get(&receipt.id) {
            return Ok(Rc::clone(said));
        }
        let output = self.receipts.output(receipt)?;
        let plain = without_escapes(&output.text);
        let said = Rc::new(Said {
            lines: plain.lines().map(|line| line.trim().to_owned()).collect(),
            tests: test_outcomes(&output.text),
            partial: output.partial,
        });
        self.read
            .borrow_mut()
            .insert(receipt.id.clone(), Rc::clone(&said));
        Ok(said)
    }

    fn backed(
        &self,
        question: &AnchorQuestion,
        verdict: Verdict,
        why: impl Into<String>,
        receipt: &Receipt,
        what: &str,
    ) -> AnchorAnswer {
        AnchorAnswer {
            receipt: Some(receipt.id.clone()),
            target: format!("receipt {} {what}", receipt.id),
            ..answer(verdict, why, &question.anchor)
        }
    }
}

fn answer(verdict: Verdict, why: impl Into<String>, target: &str) -> AnchorAnswer {
    AnchorAnswer {
        verdict,
        why: why.into(),
        now: None,
        receipt: None,
        target: target.to_owned(),
        related: false,
    }
}

fn red(receipt: &Receipt) -> String {
    match receipt.exit_code {
        _ if receipt.timed_out => "its gate is red: it ran into its timeout".to_owned(),
        Some(code) => format!("its gate is red: exit code {code}"),
        None => "its gate is red: a signal ended it".to_owned(),
    }
}

/// A Markdown heading whose text, or whose link form, is `section`.
fn has_heading(bytes: &[u8], section: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let wanted = slug(section);
    headings
        .map(|line| slug(line.trim_start_matches('#')))
        .any(|heading| heading == wanted)
}

fn slug(text: &str) -> String {
    text.trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
