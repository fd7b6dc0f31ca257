//! The thoughts in what a model says.

use regex::Regex;
use std::sync::LazyLock;

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

/// A tag of thoughts: `<think>`, `</Reasoning >`, `<seed:think>`, `[THINK]`, `◁think▷`.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    const NAMES: &str =
        "thinking|think|thoughts|thought|reasoning|reason|reflection|scratchpad|analysis";
    let shouted = NAMES.to_uppercase();
    compile(&format!(
        r"[<◁][| \t]*(?<end>/?)[ \t]*(?:[A-Za-z]+:)?(?<name>(?i-u:{NAMES}))(?:[| \t][^<>◁▷]*)?[>▷]|\[(?<END>/?)(?<NAME>{shouted})\]"
    ))
});

/// Where the first word of a list item or behind a label stands in a line: what comes after it is
/// part of a sentence.
fn find_sentence(line: &str) -> Option<usize> {
    const LABEL: usize = 120;
    let said = line.trim_start();
    let digits = said.trim_start_matches(|c: char| c.is_ascii_digit());
    let item = match digits.len() < said.len() {
        true => digits.strip_prefix(['.', ')']),
        false => said.strip_prefix(['-', '*', '+']),
    };
    let item = item.filter(|item| item.starts_with(' '));
    let begins = said.starts_with(|c: char| c.is_alphanumeric() || c == '*');
    let mut pairs = said.as_bytes().windows(2).take(LABEL + 1);
    let label = pairs.position(|pair| pair == b": ").filter(|_| begins);
    let words = item.or_else(|| label.map(|at| &said[at + 1..]))?;
    let word = words.find(char::is_alphanumeric)?;
    Some(line.len() - words.len() + word)
}

/// What an answer says besides a model's thoughts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// The words that are no thoughts.
    pub text: String,
    /// The tag of thoughts that never end, with the number of its line.
    pub unended: Option<(String, usize)>,
    /// The tag that ends thoughts which the program began, with the number of its line.
    pub ended: Option<(String, usize)>,
}

/// Thoughts are no part of an answer, wherever they stand: between their tags, behind a tag that
/// none ends, before an end that none begins. A tag in a code span or in quotes is a word, and so is
/// one in a sentence of a list item or of a field.
pub fn without_thoughts(text: &str) -> Spoken {
    let mut spoken = Spoken::default();
    let mut open_name = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        // Most lines hold no bracket, and answers have many lines.
        if !line.contains(['<', '[', '◁']) {
            if spoken.unended.is_none() {
                spoken.text.push_str(line);
            }
            continue;
        }
        let sentence = find_sentence(line).unwrap_or(usize::MAX);
        let (mut kept, mut looked_at, mut marks, mut is_spoken_of) = (0, 0, [false; 2], false);
        for found in TAG.captures_iter(line) {
            let tag = found.get_match();
            let group = |one: &str, other: &str| {
                let part = found.name(one).or(found.name(other));
                part.map_or_else(String::new, |part| part.as_str().to_lowercase())
            };
            let (closes, name) = (!group("end", "END").is_empty(), group("name", "NAME"));
            for (mark, is_odd) in ['`', '"'].into_iter().zip(&mut marks) {
                *is_odd ^= line[looked_at..tag.start()].matches(mark).count() % 2 == 1;
            }
            looked_at = tag.start();
            if marks.contains(&true) {
                continue;
            }
            if spoken.unended.is_some() {
                if closes && name == open_name {
                    spoken.unended = None;
                    kept = tag.end();
                    if !spoken.text.is_empty() && !spoken.text.ends_with('\n') {
                        spoken.text.push('\n');
                    }
                }
                continue;
            }
            let goes_on = || !line[tag.end()..].trim().is_empty();
            if sentence < tag.start() && (!closes || is_spoken_of || goes_on()) {
                is_spoken_of = true;
                continue;
            }
            let place = Some((tag.as_str().to_owned(), number + 1));
            if closes {
                // The program has begun the thoughts itself.
                spoken.text.clear();
                spoken.ended = place;
                kept = tag.end();
            } else {
                spoken.text.push_str(&line[kept..tag.start()]);
                spoken.unended = place;
                open_name = name;
            }
        }
        if spoken.unended.is_none() {
            spoken.text.push_str(&line[kept..]);
        }
    }
    spoken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        for (text, wanted) in [
            ("<think>{}</think>[1]", "[1]"),
            ("\n<thinking>\na\n</thinking>\nb", "\n\nb"),
            ("so {} or\n</think>\n[1]", "\n[1]"),
            ("a\n<think>never ends", "a\n"),
            ("a `</think>` in words", "a `</think>` in words"),
            ("{\"a\": \"<think>\"}", "{\"a\": \"<think>\"}"),
            ("OK. <THINK a=b>x</Think >y", "OK. \ny"),
            ("<reasoning>\n<think>\n</reasoning>a", "a"),
            ("<seed:think>x</seed:think>a", "a"),
            ("[THINK]x[/THINK]a [think] b", "a [think] b"),
            ("◁think▷x◁/think▷a", "a"),
            ("Vec<Thing> a < b </p>", "Vec<Thing> a < b </p>"),
            ("<think>a</think>b<think>c</think>d", "b\nd"),
            ("plain", "plain"),
            (
                "- between <think> and </think>\n- a",
                "- between <think> and </think>\n- a",
            ),
            ("- p.py:5 passes </think> on", "- p.py:5 passes </think> on"),
            (
                "1. it does not end at <think>\na",
                "1. it does not end at <think>\na",
            ),
            (
                "Follow-up: keep <reasoning>x</reasoning>",
                "Follow-up: keep <reasoning>x</reasoning>",
            ),
            ("- draft\n- more </think>\na", "\na"),
            ("- <think>a</think>b", "- \nb"),
            ("- so <think>\na\n</think>\nb", "\nb"),
            ("<think>\n- a </think> b", " b"),
        ] {
            assert_eq!(without_thoughts(text).text, wanted, "{text:?}");
        }
        let unended = without_thoughts("a\n<Think>b").unended;
        assert_eq!(unended, Some(("<Think>".to_owned(), 2)));
        let ended = without_thoughts("a\nb</think>c").ended;
        assert_eq!(ended, Some(("</think>".to_owned(), 2)));
    }

    #[test]
    fn thoughts_without_end_are_searched_in_bounded_time() {
        const BYTES: usize = 1 << 20;
        let start = std::time::Instant::now();
        for piece in [
            "<",
            "<think>",
            "</think>",
            "`<think>",
            "<think></think>",
            "[",
            "◁think",
            "<think ",
            "< ",
            "</think>\n",
            "a: <think></think>",
        ] {
            without_thoughts(&piece.repeat(BYTES / piece.len()));
            without_thoughts(&format!("- {}", piece.repeat(BYTES / piece.len())));
        }
        assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    }
}
