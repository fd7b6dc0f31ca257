//! The form of an answer: its data, what is wrong with it, and how it is asked for again.

use crate::session::supplier::Answer;
use crate::session::value::Kind;
use cook_core::schema::GivenSchema;
use serde_json::Value;

/// What an answer that breaks its schema is asked for again with.
pub(super) fn repair(kind: Kind, wrong: &[String]) -> String {
    let keep = match kind {
        Kind::Act => "Do nothing more: only the form of the answer is asked for. ",
        Kind::Say | Kind::Recap | Kind::Repair => "",
    };
    format!(
        "The answer does not fit the schema:\n{}\n{keep}Answer again with the data alone, as JSON that fits.",
        wrong.join("\n")
    )
}

/// The data of an answer and what is wrong with it.
pub(super) fn check_data(answer: &Answer, schema: &GivenSchema) -> (Option<Value>, Vec<String>) {
    let read = || serde_json::from_str(strip_fence(&answer.output)).ok();
    let data = answer.data.clone().or_else(read);
    let wrong = data.as_ref().map(|data| schema.objections(data));
    let wrong = wrong.unwrap_or_else(|| vec!["the answer is no JSON".to_owned()]);
    (data, wrong)
}

/// The inside of one fence around the whole text, or the text.
fn strip_fence(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|inside| inside.strip_suffix("```"))
        .map_or(text, str::trim)
}
