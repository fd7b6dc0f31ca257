//! The record of calls: a line for each call, and for refs that were taken in or let go of.

use super::error::Prior;
use super::hash::ContentHash;
use super::reference::{On, Ref};
use super::supplier::{Action, Answer, Transport};
use super::value::Kind;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// A line of the record of calls; what it says nothing of is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Always 1.
    pub schema_version: u32,
    /// When, RFC 3339.
    pub at: String,
    /// Who was called; none where refs were taken in or let go of.
    pub supplier: Option<String>,
    /// Whether something was asked or ordered.
    pub action: Option<Action>,
    /// The first words of what was said.
    pub said: Option<String>,
    /// What the exchange was for.
    pub kind: Option<Kind>,
    /// What it went on from.
    pub on: Option<On>,
    /// How what came before reached the supplier.
    pub transport: Option<Transport>,
    /// The exchange.
    pub exchange: Option<Ref>,
    /// The window after it.
    pub episode: Option<Ref>,
    /// The chain after it.
    pub series: Option<Ref>,
    /// Hash of the schema that the answer was to fit.
    pub schema_hash: Option<ContentHash>,
    /// The code of a call that failed, or `interrupted`.
    pub error: Option<String>,
    /// What was wrong.
    pub message: Option<String>,
    /// The refs that were still good.
    pub prior: Option<Prior>,
    /// Whose fault it was, where the supplier could tell.
    pub class: Option<String>,
    /// When a limit ends, RFC 3339.
    pub reset_at: Option<String>,
    /// When a call was begun that was interrupted.
    pub began_at: Option<String>,
    /// The process that made it.
    pub pid: Option<u32>,
    /// The beginning of its note, where that is damaged.
    pub note: Option<String>,
    /// Refs that were taken in.
    pub imported: Option<Vec<Ref>>,
    /// Refs that were let go of.
    pub expired: Option<Vec<Ref>>,
    /// What the call took and did.
    #[serde(flatten)]
    pub answer: Option<Answer>,
}

impl CallRecord {
    /// A line that says nothing but when it was written.
    pub(super) fn at(at: &str) -> Self {
        Self {
            schema_version: 1,
            at: at.to_owned(),
            ..Self::default()
        }
    }

    /// Whether it was of a role in this workflow.
    pub fn is_of(&self, workflow: &str) -> bool {
        let answer = self.answer.as_ref();
        answer.is_some_and(|answer| answer.workflow.as_deref() == Some(workflow))
    }
}

/// A line as it is written: without what it says nothing of.
///
/// # Errors
/// The serializer's.
pub fn without_nulls<S: Serializer>(line: &CallRecord, serializer: S) -> Result<S::Ok, S::Error> {
    let mut line = serde_json::to_value(line).map_err(serde::ser::Error::custom)?;
    if let Some(line) = line.as_object_mut() {
        line.retain(|_, value| *value != Value::Null);
    }
    line.serialize(serializer)
}
