//! Anchors at what the user said.

use super::sources::{Sources, answer};
use cook_protocol::diagnostic::{Failure, with_plain_marks};
use cook_protocol::digest::sha256;
use cook_protocol::machine::AnchorAnswer;
use cook_protocol::model::{PROMPT_DIGEST, PROMPT_ID, Verdict};

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
}
