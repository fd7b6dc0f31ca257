//! The only place that prints: people's text, `--json`, exit codes.
//!
//! A command hands over a value that implements [`Show`]; it never prints itself.

mod answers;
pub(crate) mod html_page;
mod page;
pub(crate) mod results;
mod screen;

pub(crate) use answers::{
    CostAnswer, Dispatched, Judgments, VerifyAnswer, describe_policy, dispatch_lines, tell_dollars,
};
pub(crate) use page::{Exit, Page, Tone, json_text};
pub(crate) use results::{Format, Results, Weight, plain};
pub(crate) use screen::{ColorChoice, Screen, finding_line, refs_line, write_line};
pub(crate) use {answers::Verified, screen::Failed};

use cook_protocol::model::SchemaVersion;
use serde::Serialize;
use serde_json::{Value, json};

/// An answer with the version of its shape.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: SchemaVersion,
    #[serde(flatten)]
    answer: &'a T,
}

/// The JSON of an answer.
fn to_json<T: Serialize>(answer: &T) -> Value {
    json!(Versioned {
        schema_version: SchemaVersion,
        answer,
    })
}

/// An answer, in both forms: for programs its type is written as it is, and the schema in
/// `protocol/schema/` is made from the same type.
pub trait Answer: Show {
    /// For programs.
    fn json(&self) -> Value;
}

impl<T: Show + Serialize> Answer for T {
    fn json(&self) -> Value {
        to_json(self)
    }
}

/// How an answer is shown.
pub trait Show {
    /// For people; what was noticed on the way is told on stderr.
    fn human(&self, page: &mut Page);

    /// False for answers that are one format by nature (man pages, completions).
    fn has_json(&self) -> bool {
        true
    }

    /// What it came to, where other formats than text and JSON are made from it.
    fn results(&self) -> Option<Results> {
        None
    }

    /// A line for stderr that is no finding; told even to the quiet, because it
    /// says why there is no answer.
    fn aside(&self) -> Option<&str> {
        None
    }

    /// How the command ends.
    fn exit(&self) -> Exit {
        Exit::Ok
    }
}
