//! The verdict on an anchor (`protocol/completion.md#acceptance-criteria`).

use super::sources::{Sources, answer};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{AnchorAnswer, AnchorQuestion};
use cook_protocol::model::{Anchor, Verdict, fits};

impl Sources<'_> {
    /// What an anchor is worth now. `gates` are the commands whose runs may prove a `test:` anchor.
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
                let why = "its form does not fit its basis";
                return Ok(answer(Verdict::Malformed, why, &question.anchor));
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
                Ok(answer(Verdict::Unverifiable, why, &question.anchor))
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

    fn judge_commit(&self, question: &AnchorQuestion, id: &str) -> Result<AnchorAnswer, Failure> {
        let Some(commit) = self.repo.resolve(id)? else {
            let why = "there is no such commit here";
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        };
        let (verdict, why) = match self.repo.on_head(self.head, &commit)? {
            true => (Verdict::Verified, "it is on HEAD"),
            false => (Verdict::Missing, "it is not on HEAD"),
        };
        // It shows that something was done, and nothing of what.
        Ok(answer(verdict, why, &format!("commit {commit}")))
    }
}
