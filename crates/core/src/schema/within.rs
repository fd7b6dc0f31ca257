//! JSON in what a model says: between other words, in a fence.

use serde_json::{Deserializer, Value};

/// Longest text that JSON is sought in, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// How deep `serde_json` reads.
const MAX_DEPTH: usize = 127;

/// Each object and list of a text that is JSON by itself, in order; none lies within another.
///
/// A value that nests deeper than `serde_json` goes is none.
pub fn find_json(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if text.len() > MAX_BYTES {
        return found;
    }
    let mut values = Values::of(text);
    let mut at = 0;
    while let Some(next) = text[at..].find(['{', '[']) {
        let start = at + next;
        at = match values.find_end(start) {
            Some(end) => {
                found.push(&text[start..end]);
                end
            }
            None => start + 1,
        };
    }
    found
}

/// What is known of the value that begins at a bracket.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    Broken,
    Whole { end: usize, depth: usize },
}

/// An object or a list whose end is not reached.
struct Open {
    start: usize,
    closer: u8,
    depth: usize,
}

/// The objects and lists of a text. What one holds is the same whoever asks for it, so each is
/// read once: a text of nothing but brackets is gone through as fast as any.
struct Values<'a> {
    text: &'a str,
    known: Vec<Known>,
}

impl<'a> Values<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            known: vec![Known::Nothing; text.len()],
        }
    }

    /// Where the value ends that begins at `start`, if it is one.
    fn find_end(&mut self, start: usize) -> Option<usize> {
        let mut open = Vec::new();
        let end = self.read(start, &mut open);
        for value in open {
            self.known[value.start] = Known::Broken;
        }
        end
    }

    /// Reads a value; those that stay open are none.
    fn read(&mut self, start: usize, open: &mut Vec<Open>) -> Option<usize> {
        let mut at = start;
        loop {
            let mut end = match (self.byte(at)?, self.known[at]) {
                (b'{' | b'[', Known::Broken) => return None,
                (b'{' | b'[', Known::Whole { end, depth }) => {
                    deepen(open, depth);
                    end
                }
                (opener @ (b'{' | b'['), Known::Nothing) => {
                    // `]` and `}` stand two behind theirs.
                    let closer = opener + 2;
                    let depth = 1;
                    open.push(Open {
                        start: at,
                        closer,
                        depth,
                    });
                    at = self.skip_blanks(at + 1);
                    if self.byte(at)? != closer {
                        at = self.skip_key(at, opener)?;
                        continue;
                    }
                    self.close(at, open)?
                }
                _ => self.find_end_of_plain(at)?,
            };
            // After a value the next one begins, or what holds it ends.
            at = loop {
                let Some(around) = open.last() else {
                    return Some(end);
                };
                let next = self.skip_blanks(end);
                match self.byte(next)? {
                    b',' => {
                        let next = self.skip_blanks(next + 1);
                        break self.skip_key(next, around.closer - 2)?;
                    }
                    closer if closer == around.closer => end = self.close(next, open)?,
                    _ => return None,
                }
            };
        }
    }

    /// Notes the innermost value as whole, and gives its end.
    fn close(&mut self, closer: usize, open: &mut Vec<Open>) -> Option<usize> {
        let Open { start, depth, .. } = *open.last().filter(|value| value.depth <= MAX_DEPTH)?;
        open.pop();
        let end = closer + 1;
        self.known[start] = Known::Whole { end, depth };
        deepen(open, depth);
        Some(end)
    }

    /// In an object a key stands before the value that begins here.
    fn skip_key(&self, at: usize, opener: u8) -> Option<usize> {
        if opener != b'{' {
            return Some(at);
        }
        let key = self.byte(at).filter(|byte| *byte == b'"');
        let colon = self.skip_blanks(key.and_then(|_| self.find_end_of_plain(at))?);
        (self.byte(colon)? == b':').then(|| self.skip_blanks(colon + 1))
    }

    /// Where a text, a number or a word ends.
    fn find_end_of_plain(&self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        values.next()?.ok()?;
        Some(at + values.byte_offset())
    }

    fn skip_blanks(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        at + rest.iter().take_while(is_blank).count()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }
}

fn deepen(open: &mut [Open], depth: usize) {
    if let Some(around) = open.last_mut() {
        around.depth = around.depth.max(depth + 1);
    }
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

    /// One value after the other, as `serde_json` finds them.
    fn find_slowly(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(next) = text[at..].find(['{', '[']) {
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

    #[test]
    fn every_text_of_a_few_signs_is_read_as_serde_json_does() {
        const SIGNS: [&str; 10] = ["[", "]", "{", "}", "\"", ",", ":", "1", "\\", " "];
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer = texts.iter().flat_map(|text| {
                let more = SIGNS.iter();
                more.map(move |sign| format!("{text}{sign}"))
            });
            texts = longer.collect();
        }
        for text in &texts {
            for text in [text.clone(), format!("[{{\"a\":{text}{text}]}}")] {
                assert_eq!(find_json(&text), find_slowly(&text), "{text:?}");
            }
        }
        for depth in [126, 127, 128, 300] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(find_json(&text), find_slowly(&text), "{depth}");
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
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    }
}
