//! JSON of other tools: what breaks it is refused by line and column.

use super::task::{At, refuse_form};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// The value of a whole file.
pub(super) fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| refuse(path, &error, 0))
}

/// The values of a file of one value a line, with the line of each.
pub(super) fn parse_lines<T: DeserializeOwned>(
    path: &str,
    text: &str,
) -> Result<Vec<(usize, T)>, Failure> {
    let mut values = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            let value = serde_json::from_str(line).map_err(|error| refuse(path, &error, number))?;
            values.push((number + 1, value));
        }
    }
    Ok(values)
}

fn refuse(path: &str, error: &serde_json::Error, lines_before: usize) -> Failure {
    let at = At {
        line: lines_before + error.line().max(1),
        column: error.column(),
    };
    let text = error.to_string();
    // The place stands before it already.
    let what = text.split(" at line ").next().unwrap_or(&text);
    refuse_form(path, at, &clean(what, Lines::Fold))
}

/// An id that is a number or a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "neither a number nor a text")]
pub(super) enum Id {
    Number(u64),
    Text(String),
}

impl Id {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.trim().to_owned(),
        }
    }
}

/// A text on one line, harmless; null is empty.
pub(super) fn line<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(value)?;
    Ok(clean(&text.unwrap_or_default(), Lines::Fold))
}

/// A list that may be null.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(value)?.unwrap_or_default())
}
