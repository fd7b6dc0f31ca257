//! The only place that prints: text for people, `--json`, and exit codes.
//!
//! A command returns a value that implements [`Show`], and never prints itself.

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

/// An answer with the version of its schema.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: SchemaVersion,
    #[serde(flatten)]
    answer: &'a T,
}

fn to_json<T: Serialize>(answer: &T) -> Value {
    json!(Versioned {
        schema_version: SchemaVersion,
        answer,
    })
}

/// An answer for people and programs. Its JSON is the serialized type itself, from which the schema in
/// `protocol/schema/` is made.
pub trait Answer: Show {
    /// Returns the JSON for programs.
    fn json(&self) -> Value;
}

impl<T: Show + Serialize> Answer for T {
    fn json(&self) -> Value {
        to_json(self)
    }
}

/// How an answer is shown.
pub trait Show {
    /// Writes the text for people; findings that are not part of it go to stderr.
    fn human(&self, page: &mut Page);

    /// False for answers with a single format, such as man pages and completions.
    fn has_json(&self) -> bool {
        true
    }

    /// The results, if other formats than text and JSON can be made from them.
    fn results(&self) -> Option<Results> {
        None
    }

    /// A line for stderr that is not a finding. It is printed even with `--quiet`, because it says why there is no
    /// answer.
    fn aside(&self) -> Option<&str> {
        None
    }

    /// The exit code of the command.
    fn exit(&self) -> Exit {
        Exit::Ok
    }
}
