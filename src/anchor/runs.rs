//! Anchors at a gate's output and at receipts, checked against kept receipts.

use super::sources::{Said, Sources, answer, read_line, say};
use crate::prelude::*;
use cook_protocol::diagnostic::with_plain_marks;
use cook_protocol::model::{PROMPT_DIGEST, PROMPT_ID};

/// Minimum number of characters by which the beginning of a longer line may be named.
const BEGINNING: usize = 8;

impl Sources<'_> {
    /// Judges `cmd:COMMAND#LINE` and `cmd:COMMAND#exit`.
    pub(super) fn judge_command(
        &self,
        question: &AnchorQuestion,
        command: &str,
        text: &str,
    ) -> Result<AnchorAnswer> {
        let tree = self.head.tree.as_deref().unwrap_or_default();
        let Some(receipt) = self.receipts.find(command, tree)? else {
            let (verdict, why) = match self.receipts.latest(command)? {
                Some(_) => (Verdict::Stale, "its receipt is of another tree"),
                None => (
                    Verdict::Unverifiable,
                    "no trusted gate has run this command",
                ),
            };
            return say(question, verdict, why);
        };
        let (verdict, why, target) = self.read_said(&receipt, text)?;
        let mut answer = answer_from(&receipt, verdict, why, &target);
        answer.is_new = self.differs_at_basis(question, command, |then| {
            Ok(self.read_said(then, text)?.0 == Verdict::Verified)
        })?;
        if !answer.is_new {
            answer.why.push_str(", as at the basis already");
        }
        Ok(answer)
    }

    /// The verdict on the text after `#`: `exit`, or a line of the output.
    fn read_said(&self, receipt: &Receipt, text: &str) -> Result<(Verdict, String, String)> {
        if !receipt.has_passed() {
            return Ok((Verdict::Missing, red(receipt), text.to_owned()));
        }
        if matches!(text, "exit" | "exit-status-line") {
            let why = "it ended with exit code 0".to_owned();
            return Ok((Verdict::Verified, why, "exit".to_owned()));
        }
        let said = self.read_output(receipt)?;
        Ok(match find_line(&said, text) {
            Some(at) => {
                let why = format!("line {} of its output", at + 1);
                (Verdict::Verified, why, format!("line {}", at + 1))
            }
            None if said.partial => {
                let why = "the output is not kept whole".to_owned();
                (Verdict::Unverifiable, why, text.to_owned())
            }
            None => {
                let holds = said.lines.iter().find(|line| line.contains(text));
                let why = holds.map_or_else(
                    || "no line of its output says that".to_owned(),
                    |line| {
                        format!("no line of its output begins with that; one holds it: `{line}`")
                    },
                );
                (Verdict::Missing, why, text.to_owned())
            }
        })
    }

    /// Judges `receipt:ID`; for an accepted proof at another tree, by the same command.
    pub(super) fn judge_receipt(
        &self,
        question: &AnchorQuestion,
        id: &str,
    ) -> Result<AnchorAnswer> {
        let Some(receipt) = self.receipts.get(id)? else {
            let why = "no receipt has that id";
            return say(question, Verdict::Missing, why);
        };
        let tree = self.head.tree.as_deref().unwrap_or_default();
        if matches!(question.required, Required::Accepted(_)) && receipt.tree_oid != self.head.tree
        {
            return self.judge_command(question, &receipt.command, "exit");
        }
        let (verdict, why) = if !self.receipts.is_from_here(&receipt)? {
            (
                Verdict::Unverifiable,
                "it was not made on this machine".to_owned(),
            )
        } else if !receipt.proves() {
            (
                Verdict::Unverifiable,
                "it is of a worktree, not of a commit".to_owned(),
            )
        } else if receipt.tree_oid.as_deref() != Some(tree) {
            (
                Verdict::Stale,
                "it is of another tree than HEAD's".to_owned(),
            )
        } else if receipt.has_passed() {
            (Verdict::Verified, "it ended with exit code 0".to_owned())
        } else {
            (Verdict::Missing, red(&receipt))
        };
        let mut answer = answer_from(&receipt, verdict, why, "exit");
        answer.is_new =
            self.differs_at_basis(question, &receipt.command, |then| Ok(then.has_passed()))?;
        Ok(answer)
    }

    /// Whether the same did not hold at the slice's basis; true if no run there is kept.
    fn differs_at_basis(
        &self,
        question: &AnchorQuestion,
        command: &str,
        holds: impl Fn(&Receipt) -> Result<bool>,
    ) -> Result<bool> {
        let Some(basis) = self.find_basis(question)? else {
            return Ok(true);
        };
        let tree = self.repo.find_tree(&basis)?;
        match self.receipts.find(command, &tree)? {
            Some(then) => Ok(!holds(&then)?),
            None => Ok(true),
        }
    }

    /// Judges a message of the user and a quote from it. White space and the form of quotes and dashes do not matter.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn judge_message(&self, id: &str, quote: Option<&str>) -> Result<AnchorAnswer> {
        let messages = self.list_messages()?;
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
        // Only receipts and text prove a criterion (`protocol/completion.md#acceptance-criteria`).
        Ok(answer(verdict, why, &format!("user@{id}")))
    }
}

/// The first line that is this text or begins with it. If the text has tags as replaced for prompts, the line is
/// compared in that form.
fn find_line(said: &Said, text: &str) -> Option<usize> {
    let find = |as_shown: fn(&str) -> String| {
        let mut lines = said.lines.iter();
        let whole = lines.position(|line| as_shown(line) == text);
        // The beginning of a line may leave out that a test was skipped.
        let begins = || {
            let mut lines = said.lines.iter();
            lines.position(|line| {
                let rest = as_shown(line).strip_prefix(text).map(str::to_lowercase);
                rest.is_some_and(|rest| !is_skipped(line, &rest))
            })
        };
        let is_long = text.chars().count() >= BEGINNING;
        whole.or_else(|| is_long.then(begins).flatten())
    };
    find(str::to_owned).or_else(|| text.contains('‹').then(|| find(without_tags)).flatten())
}

/// Whether a line says that a test did not run: by its mark, by the words after its name, or in its runner's format.
fn is_skipped(line: &str, rest: &str) -> bool {
    const WORDS: [&str; 6] = ["skip", "ignored", "todo", "pending", "disabled", "xfail"];
    const MARKS: [char; 6] = ['○', '\u{fe63}', '↓', '□', '✎', '⚠'];
    line.starts_with(MARKS)
        || WORDS.iter().any(|word| rest.contains(word))
        || read_line(line).is_some_and(|(_, how)| how == TestResult::Skipped)
}

pub(super) fn answer_from(
    receipt: &Receipt,
    verdict: Verdict,
    why: impl Into<String>,
    what: &str,
) -> AnchorAnswer {
    let mut answer = answer(verdict, why, &format!("receipt {} {what}", receipt.id));
    answer.receipt = Some(receipt.id.clone());
    answer
}

pub(super) fn red(receipt: &Receipt) -> String {
    format!("its gate is red: it {}", receipt.ending())
}

// Anchors at the user's words.

/// Any process of the agent can claim that the user typed something.
const HEARD: &str =
    "(heard) a hook reported it; only what the user says to cook itself counts as theirs";

/// The beginning of a message.
fn begin(text: &str) -> String {
    /// Enough for a sentence.
    const SHOWN: usize = 160;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}
