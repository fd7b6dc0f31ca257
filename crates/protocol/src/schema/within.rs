//! JSON in what a model says: between other words, in a fence.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// Longest text that JSON is sought in, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// How much is parsed in search of it, all attempts together.
const MAX_PARSED: usize = 4 << 20;

/// Each object and list of a text that is JSON by itself, in order; none lies within another.
pub fn find_json(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut at, mut parsed) = (0, 0);
    while let Some(next) = text[at..].find(['{', '[']) {
        let start = at + next;
        let rest = &text[start..];
        if text.len() > MAX_BYTES || parsed > MAX_PARSED {
            break;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        at = start + 1;
        match values.next() {
            Some(Err(error)) => {
                let lines = rest.split_inclusive('\n').take(error.line() - 1);
                parsed += lines.map(str::len).sum::<usize>() + error.column();
            }
            _ => {
                at = start + values.byte_offset();
                parsed += at - start;
                found.push(&text[start..at]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_between_words() {
        for (text, wanted) in [
            ("Here: {\"a\": [1]} and [2].", vec!["{\"a\": [1]}", "[2]"]),
            ("```json\n{\"a\": \"}\"}\n```", vec!["{\"a\": \"}\"}"]),
            ("{x} [see {\"a\": 1}", vec!["{\"a\": 1}"]),
            ("nothing {", vec![]),
            ("é[1]é", vec!["[1]"]),
            ("[ ] { } [1,] {\"a\":1,} {1:2}", vec!["[ ]", "{ }"]),
            (
                "[{\"a\" : [true, -1.5e3, null], \"b\":{}} , \"\\u00e9\"]",
                vec!["[{\"a\" : [true, -1.5e3, null], \"b\":{}} , \"\\u00e9\"]"],
            ),
            // A quote that another one ends by chance hides no value.
            ("he said [\"so] and {\"a\": \"b\"}", vec!["{\"a\": \"b\"}"]),
            ("[[1], [2] oops [3]", vec!["[1]", "[2]", "[3]"]),
            ("[01] [\"\n\"] [tru] [1]", vec!["[1]"]),
        ] {
            assert_eq!(find_json(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn hostile_text_is_searched_in_bounded_time() {
        let start = std::time::Instant::now();
        for piece in [
            "[",
            "{\"a\":",
            "[1,",
            "[],",
            "\"[",
            "[1,\",[1,\",",
            "{}",
            "[\",",
            "{\"{\":",
            "]",
        ] {
            let text = piece.repeat(MAX_BYTES / piece.len());
            find_json(&text);
            find_json(&format!("{}{}", "[".repeat(1_000), &text[..MAX_BYTES / 2]));
            find_json(&format!("[\"{}", &text[..MAX_BYTES / 2]));
        }
        let half = MAX_BYTES / 2;
        find_json(&format!("{}{}", "[".repeat(half), "]".repeat(half)));
        assert!(find_json(&"[1]".repeat(MAX_BYTES)).is_empty());
        assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    }
}
