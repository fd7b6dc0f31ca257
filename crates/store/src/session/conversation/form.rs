//! The form of an answer: its data, what is wrong with it, and how it is asked for again.

use crate::session::supplier::Answer;
use crate::session::value::Kind;
use cook_core::schema::{GivenSchema, find_json, without_thoughts};
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

/// The data of an answer and what is wrong with it: what the supplier names, or the one JSON value
/// among the words that fits.
pub(super) fn check_data(answer: &Answer, schema: &GivenSchema) -> (Option<Value>, Vec<String>) {
    let values = match &answer.data {
        Some(data) => vec![data.clone()],
        None => values(&answer.output),
    };
    let mut fitting: Vec<&Value> = Vec::new();
    for value in &values {
        if fitting.len() < 2 && !fitting.contains(&value) && schema.objections(value).is_empty() {
            fitting.push(value);
        }
    }
    let wrong = match (fitting.as_slice(), values.last()) {
        ([one], _) => return (Some((*one).clone()), Vec::new()),
        ([], None) => vec!["the answer is no JSON".to_owned()],
        ([], Some(last)) => schema.objections(last),
        _ => vec!["the answer holds JSON values that fit and differ: give one".to_owned()],
    };
    (values.last().cloned(), wrong)
}

/// The answer as one value, fenced or not, or else the objects and lists between its words.
fn values(answer: &str) -> Vec<Value> {
    let spoken = without_thoughts(answer);
    let text = spoken.text.trim();
    let inside = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|inside| inside.strip_suffix("```"));
    match serde_json::from_str(inside.unwrap_or(text)) {
        Ok(value) => vec![value],
        Err(_) => find_json(text)
            .into_iter()
            .filter_map(|value| serde_json::from_str(value).ok())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_s_data_is_found_among_its_words() {
        for (answer, wanted) in [
            ("{\"done\": true}", Some("{\"done\":true}")),
            ("```json\n{\"done\": true}\n```", Some("{\"done\":true}")),
            (
                "Here it is:\n```\n{\"done\": true}\n```\nBye [1].",
                Some("{\"done\":true}"),
            ),
            (
                "<think>{\"done\": false}</think>{\"done\": true}",
                Some("{\"done\":true}"),
            ),
            (
                "{\"done\": true} as I said: {\"done\":true}",
                Some("{\"done\":true}"),
            ),
            ("{\"done\": true} or {\"done\": false}", None),
            ("{\"done\": 1}", None),
            ("[] and {}", None),
            ("yes", None),
        ] {
            assert_eq!(values_that_fit(answer).as_deref(), wanted, "{answer}");
        }
    }

    fn values_that_fit(output: &str) -> Option<String> {
        let schema = r#"{"type": "object", "required": ["done"],
            "properties": {"done": {"type": "boolean"}}}"#;
        let schema = GivenSchema::of(serde_json::from_str(schema).unwrap()).unwrap();
        let answer = Answer {
            output: output.to_owned(),
            ..Answer::default()
        };
        let (data, wrong) = check_data(&answer, &schema);
        wrong.is_empty().then(|| data.unwrap().to_string())
    }
}
