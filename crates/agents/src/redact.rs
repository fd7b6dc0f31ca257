//! Takes secrets out of what is kept: those of the usual shapes, and the values of this
//! process's own variables whose names say that they are secret.

use crate::named::find_named;
use cook_core::diagnostic::{self, REDACTED, find_tokens, texts, without_tokens};
use serde_json::Value;

/// Endings of the names of variables that hold a secret.
const SECRET_NAMES: [&str; 7] = [
    "_KEY",
    "_TOKEN",
    "_SECRET",
    "PASSWORD",
    "PASSWD",
    "_PAT",
    "_CREDENTIALS",
];

/// Shorter values are words, not secrets.
const LEAST: usize = 8;

/// The text without the secrets that are recognised.
pub fn redact(text: &str) -> String {
    diagnostic::redact(&without_own(text))
}

/// An answer without secrets. Reports and data are read out of it: what only may be a secret stays.
pub fn redact_answer(text: &str) -> String {
    without_tokens(&without_own(text))
}

/// The same of data, text by text.
pub fn redact_data(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact_answer(text),
        Value::Array(items) => items.iter_mut().for_each(redact_data),
        Value::Object(fields) => fields.values_mut().for_each(redact_data),
        _ => {}
    }
}

/// What is hardly anything but a secret: tokens, private keys, the values of this process's own, and what
/// an address or a name tells.
pub fn find_secrets(text: &str) -> Vec<String> {
    let decoded = texts(text);
    let holds = |value: &String| decoded.iter().any(|text| text.contains(value.as_str()));
    let mut found: Vec<String> = own().filter(holds).collect();
    found.extend(find_tokens(text));
    found.extend(decoded.iter().flat_map(|text| find_named(text)));
    found
}

/// The text without the values of this process's own secrets.
fn without_own(text: &str) -> String {
    own().fold(text.to_owned(), |text, value| {
        text.replace(&value, REDACTED)
    })
}

fn own() -> impl Iterator<Item = String> {
    std::env::vars().filter_map(|(name, value)| {
        let upper = name.to_ascii_uppercase();
        let is_secret = SECRET_NAMES.iter().any(|end| upper.ends_with(end));
        (value.len() >= LEAST && is_secret).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_words_stay() {
        for secret in [
            "sk-ant-api03-abcdefghijklmnop",
            "ghp_abcdefghijklmnopqrstuvwx",
            "AKIAABCDEFGHIJKLMNOP",
        ] {
            let text = redact(&format!("before {secret}, after"));
            assert_eq!(text, "before [redacted], after");
        }
        assert_eq!(redact("KEY=sk-abcdefghijklmnopqrst"), "KEY=[redacted]");
        let header = redact("{\"Authorization\": \"Bearer abcdef0123456789XYZ\"}");
        assert_eq!(header, "{\"Authorization\": \"Bearer [redacted]\"}");
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redact(key), "a\n[redacted]\nb");
        for harmless in [
            "the sk-learn package",
            "bearer of news",
            "-----BEGIN CERTIFICATE-----",
            "é sk- ghp_ ü",
            "",
        ] {
            assert_eq!(redact(harmless), harmless);
        }
    }
}
