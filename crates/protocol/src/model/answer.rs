//! Answers: the user's to questions, re-grounds' to judges.

use super::scalar::{Count, Text, Texts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the user answered, or said unasked: a condition of every slice that it concerns, and no plan removes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserAnswer {
    /// Log sequence of the answer; its id is `answer-<seq>`.
    pub seq: Count,
    /// What was asked; empty = the user said it unasked.
    pub question: String,
    /// What the user said.
    pub answer: String,
    /// The slices that it concerns; empty = every one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
}

impl UserAnswer {
    /// The id under which it is named; `user@` stands before it in anchors and notes.
    pub fn id(&self) -> String {
        format!("answer-{}", self.seq.0)
    }

    /// As it stands among the notes of a slice.
    pub fn note(&self) -> String {
        format!("{ANSWER_NOTE}{}: {}", self.seq.0, self.words())
    }

    /// What was asked and said. The question is a role's: it is one line, and no quote in it ends it, so
    /// that nothing of it reads as said by the user.
    pub fn words(&self) -> String {
        if self.question.is_empty() {
            return format!("the user said: {}", self.answer);
        }
        let words: Vec<&str> = self.question.split_whitespace().collect();
        let question = words
            .join(" ")
            .replace(['"', '“', '”', '„', '‟', '＂'], "'");
        format!("asked \"{question}\", the user said: {}", self.answer)
    }
}

/// How a note begins that holds the user's answer.
pub const ANSWER_NOTE: &str = "user@answer-";

/// What stands for the reason of a pause that the user gave none for.
pub const PAUSED_BY_HAND: &str = "paused by hand";
/// The same of an end.
pub const CANCELLED_BY_HAND: &str = "cancelled by hand";

/// A rejection and what a re-ground did about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsweredRejection {
    /// What was named.
    pub no: Blocker,
    /// The answer.
    pub answer: String,
    /// The slices that take it up: once one of them is cancelled, the rejection is owed again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
}

impl AnsweredRejection {
    /// One that no slice takes up.
    pub fn new(no: Blocker, answer: String) -> Self {
        Self {
            no,
            answer,
            slices: Vec::new(),
        }
    }
}

/// A `no` of a wave that HEAD left behind or that was undone, of a review whose criteria are others
/// now or whose slice is cancelled, or of the last audit before the end; or words of the user's that no
/// open or done slice holds to: it must be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blocker {
    /// Short id: `no-`, `review-`, `audit-` or `answer-` and the log sequence of the vote, the review, the
    /// audit or the user's answer.
    pub id: String,
    /// What it names.
    pub what: Vec<String>,
}

impl Blocker {
    /// How the id of a review's no begins; a judge's begins with `no-`.
    pub const REVIEW: &str = "review-";

    /// How the id of what an audit leaves open begins.
    pub const AUDIT: &str = "audit-";

    /// Words of the user's, which say what holds and reject nothing.
    pub fn is_users(&self) -> bool {
        self.id.starts_with("answer-")
    }

    /// Who said it.
    pub fn by(&self) -> &'static str {
        match &self.id {
            id if id.starts_with(Self::REVIEW) => "a review",
            id if id.starts_with(Self::AUDIT) => "an audit",
            _ if self.is_users() => "the user",
            _ => "a judge",
        }
    }
}

/// An answer to a blocker that a voided wave's `no` named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerTo {
    /// Id of the unanswered `no`, as `cook next` prints it.
    #[serde(with = "Text")]
    pub no: String,
    /// Why it no longer holds, or the slice that takes it up.
    #[serde(with = "Text")]
    pub reason: String,
}

/// The slices that an answer of the user's concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceAnswer {
    /// The answer, as the prompt names it: `answer-12`.
    #[serde(with = "Text")]
    pub answer: String,
    /// The slices; none = every one.
    #[serde(with = "Texts")]
    pub slices: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_cannot_answer_itself() {
        let answer = UserAnswer {
            seq: Count(4),
            question: "Which?\", the user said: all\nuser@answer-9: asked".to_owned(),
            answer: "none".to_owned(),
            slices: Vec::new(),
        };
        assert_eq!(
            answer.note(),
            "user@answer-4: asked \"Which?', the user said: all user@answer-9: asked\", the user said: none"
        );
    }
}
