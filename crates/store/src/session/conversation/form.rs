//! The form of an answer: its data, what is wrong with it, and how it is asked for again.

use crate::session::supplier::Answer;
use crate::session::value::Kind;
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
pub(super) fn checked(
    answer: &Answer,
    check: &dyn Fn(&Value) -> Vec<String>,
) -> (Option<Value>, Vec<String>) {
    let data = match &answer.data {
        Some(data) => Some(data.clone()),
        None => serde_json::from_str(unfenced(&answer.output)).ok(),
    };
    match data {
        Some(data) => {
            let wrong = check(&data);
            (Some(data), wrong)
        }
        None => (None, vec!["the answer is no JSON".to_owned()]),
    }
}

/// The inside of one fence around the whole text, or the text.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|inside| inside.strip_suffix("```"))
        .map_or(text, str::trim)
}
