//! JSON in what a model says: behind its thoughts, between other words, in a fence.

use serde_json::{Deserializer, Value};

/// Longest text that JSON is sought in, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// What comes after a model's thoughts, where it says them.
pub fn skip_thoughts(text: &str) -> &str {
    let mut rest = text;
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some(inside) = rest.trim_start().strip_prefix(open) {
            rest = inside.split_once(close).map_or(rest, |(_, after)| after);
        }
        // Where the program has begun the thoughts itself, only their end is there.
        if let Some((before, after)) = rest.split_once(&format!("{close}\n"))
            && (before.is_empty() || before.ends_with('\n'))
            && !before.contains(open)
        {
            rest = after;
        }
    }
    rest
}

/// Each object and list of a text that is JSON by itself, in order; none lies within another.
///
/// A value that nests deeper than `serde_json` goes is given up there, so that the text is read
/// a bounded number of times.
pub fn find_json(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find(['{', '['])) {
        if text.len() > MAX_BYTES {
            break;
        }
        let start = at + next;
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        at = match values.next() {
            Some(Ok(_)) => {
                let end = start + values.byte_offset();
                found.push(&text[start..end]);
                end
            }
            _ => start + 1,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_passed_over() {
        for (text, wanted) in [
            ("<think>{}</think>[1]", "[1]"),
            ("\n<thinking>\na\n</thinking>\nb", "\nb"),
            ("so {} or\n</think>\n[1]", "[1]"),
            ("<think>never ends", "<think>never ends"),
            ("a `</think>` in words", "a `</think>` in words"),
            ("plain", "plain"),
        ] {
            assert_eq!(skip_thoughts(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn json_is_found_between_words() {
        for (text, wanted) in [
            ("Here: {\"a\": [1]} and [2].", vec!["{\"a\": [1]}", "[2]"]),
            ("```json\n{\"a\": \"}\"}\n```", vec!["{\"a\": \"}\"}"]),
            ("{x} [see {\"a\": 1}", vec!["{\"a\": 1}"]),
            ("nothing {", vec![]),
            ("é[1]é", vec!["[1]"]),
        ] {
            assert_eq!(find_json(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn hostile_text_is_searched_in_bounded_time() {
        let start = std::time::Instant::now();
        for piece in ["[", "{\"a\":", "[1,", "[],", "\"[", "[1,\",[1,\",", "{}"] {
            let text = piece.repeat(MAX_BYTES / piece.len());
            find_json(&text);
            find_json(&format!("{}{}", "[".repeat(1_000), &text[..MAX_BYTES / 2]));
        }
        assert!(find_json(&"[1]".repeat(MAX_BYTES)).is_empty());
        assert!(start.elapsed().as_secs() < 300, "{:?}", start.elapsed());
    }
}
