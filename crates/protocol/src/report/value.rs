//! Reads the text of a field: a word, a number, a commit, none, a list.
//!
//! Every reading fails closed: a word, a number or a commit must be the whole text.

use crate::digest::sha256;
use crate::prelude::*;

/// Removes the decoration of a chat answer: hidden characters, blank lines and blanks at the ends, indentation
/// that all lines share, back-quotes or bold around the whole. Idempotent.
pub(super) fn tidy(text: &str) -> String {
    let word = text.trim();
    if word
        .bytes()
        .all(|c| c.is_ascii_graphic() && c != b'*' && c != b'`')
    {
        return word.to_owned();
    }
    let text = dedent(&clean(text, Lines::Keep));
    let mut text = text.trim();
    while let Some(inner) = strip_wrapping(text) {
        text = inner;
    }
    text.to_owned()
}

/// The value on one line without the decoration around it, however many layers there are. Idempotent.
pub(super) fn tidy_line(value: &str) -> String {
    let mut value = clean(value, Lines::Fold);
    loop {
        let bare = value.strip_prefix(['-', '*', '+']);
        let bare = bare.and_then(|rest| rest.strip_prefix(' '));
        let next = tidy(bare.unwrap_or(&value));
        if next == value {
            return value;
        }
        value = next;
    }
}

/// The lines without blanks at their ends and without the indentation that they share.
pub(super) fn dedent(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let said = lines.iter().filter(|line| !line.is_empty());
    let shared = said.map(|line| indent(line)).min().unwrap_or(0);
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.get(shared..).unwrap_or_default())
        .collect();
    lines.join("\n")
}

fn strip_wrapping(text: &str) -> Option<&str> {
    ["**", "`"].into_iter().find_map(|mark| {
        let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
        let plain = !inner.contains(mark) && !inner.starts_with(&mark[..1]);
        let inner = inner.trim();
        (plain && !inner.is_empty() && !inner.contains('\n')).then_some(inner)
    })
}

/// The text after a list marker (`- `, `* `, `+ `, `1. `, `1) `), if there is one.
pub(super) fn after_marker(line: &str) -> Option<&str> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+'])?,
        1..=3 => line[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start())
}

/// Which of these words the text is, ignoring case, bold and back-quotes.
pub(super) fn word(text: &str, words: &[&'static str]) -> Option<&'static str> {
    let text = text.trim_matches([' ', '*', '`', '_']);
    let mut words = words.iter().copied();
    words.find(|word| text.eq_ignore_ascii_case(word))
}

/// The beginning of a field's value on one line, for a message.
pub(super) fn show_held(value: &str) -> String {
    const MAX_CHARS: usize = 80;
    let value = clean(value, Lines::Fold);
    match value.as_str() {
        "" => "nothing".to_owned(),
        value => format!("`{}`", shorten(value, MAX_CHARS)),
    }
}

/// Reads exactly yes or no.
pub(super) fn yes_no(text: &str) -> Option<bool> {
    word(text, &["yes", "no"]).map(|word| word == "yes")
}

/// The text without blanks and separators at its beginning.
pub(super) fn without_separator(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || "-–—:;,.".contains(c))
}

/// The largest count (2^53 - 1), which every JSON reader holds exactly.
pub(super) const MAX_COUNT: u64 = 9_007_199_254_740_991;

/// Reads exactly a whole number of at least 0.
pub(super) fn count(text: &str) -> Option<u64> {
    let is_digits = text.chars().all(|c| c.is_ascii_digit());
    let value = text.parse().ok().filter(|_| is_digits)?;
    (value <= MAX_COUNT).then_some(value)
}

/// Reads exactly a commit id of 7 to 64 hex digits.
pub(super) fn commit(text: &str) -> Option<String> {
    let is_hex = text.chars().all(|c| c.is_ascii_hexdigit());
    (is_hex && (7..=64).contains(&text.len())).then(|| text.to_ascii_lowercase())
}

/// Whether the text is purely none (`protocol/completion.md#reports`): `none`, `(none)`, `n/a`, `na` or
/// `not applicable`, followed by punctuation and blanks only.
pub(super) fn is_none(text: &str) -> bool {
    after_none(text).is_some_and(|rest| rest.chars().all(is_closing))
}

/// Whether the text is purely none, or none and the routing phrase `proceed to (completion-)auditor`.
pub(super) fn is_none_or_routing(text: &str) -> bool {
    after_none(text).is_some_and(|rest| rest.chars().all(is_closing) || is_routing(&rest))
}

/// Whether the text is only the routing phrase.
pub(super) fn is_routing(text: &str) -> bool {
    let text = one_line(text);
    let phrase = text.trim_matches(|c: char| is_closing(c) || c == '(');
    matches!(
        phrase,
        "proceed to auditor" | "proceed to completion-auditor" | "proceed to (completion-)auditor"
    )
}

/// Whether the text says something: it is neither purely none nor only punctuation.
pub(crate) fn is_named(text: &str) -> bool {
    !is_none(text) && text.chars().any(char::is_alphanumeric)
}

fn one_line(text: &str) -> String {
    clean(text, Lines::Fold)
        .to_lowercase()
        .replace(['`', '*'], "")
}

/// The text after one of the words for none, if it begins with one.
fn after_none(text: &str) -> Option<String> {
    // The first letter of all of them is an n, and a control character may hide it.
    let first = text.chars().find(|c| c.is_alphabetic() || c.is_control());
    if first.is_some_and(|c| c.is_ascii_alphabetic() && !c.eq_ignore_ascii_case(&'n')) {
        return None;
    }
    let text = clean(text, Lines::Fold);
    let text = one_line(after_marker(&text).unwrap_or(&text));
    ["(none)", "none", "not applicable", "n/a", "na"]
        .into_iter()
        .find_map(|word| {
            let rest = text.trim_start().strip_prefix(word)?;
            let whole = !rest.starts_with(|c: char| c.is_alphanumeric());
            whole.then(|| rest.to_owned())
        })
}

fn is_closing(c: char) -> bool {
    c.is_whitespace() || ".,;:!?)]}\"'-–—…。".contains(c)
}

/// The texts of a list: one for each marked line and its continuation, or one for each line if none is marked.
/// Purely none is not a text.
pub(super) fn items(text: &str) -> Vec<String> {
    let marked = has_marker(text);
    let mut items: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // One blank of indentation is tolerated; a line with more belongs to the item above.
        let own = after_marker(line.strip_prefix(' ').unwrap_or(line));
        match (own, items.last_mut()) {
            (None, Some(last)) if marked => {
                last.push(' ');
                last.push_str(line.trim());
            }
            (own, _) => items.push(own.unwrap_or(line).trim().to_owned()),
        }
    }
    items
        .iter()
        .map(|item| clean(item, Lines::Fold))
        .filter(|item| is_named(item))
        .collect()
}

/// The texts of a list with the number that each begins with: `1: …`, `- 2. …`, `3) …`. A line without a number
/// continues the text above it, unless it is an item of its own.
pub(super) fn split_numbered(text: &str) -> Vec<(Option<usize>, String)> {
    let mut found: Vec<(Option<usize>, String)> = Vec::new();
    let marked = has_marker(text) || text.lines().any(|line| number(line.trim()).is_some());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let item = line
            .strip_prefix(['-', '*', '+'])
            .filter(|item| item.starts_with(' '));
        match (number(item.unwrap_or(line).trim()), found.last_mut()) {
            (Some((number, said)), _) => found.push((Some(number), said.to_owned())),
            (None, Some((_, said))) if marked && item.is_none() => {
                said.push(' ');
                said.push_str(line);
            }
            (None, _) => found.push((None, item.unwrap_or(line).trim().to_owned())),
        }
    }
    let found = found.into_iter();
    let cleaned = found.map(|(number, said)| (number, clean(&said, Lines::Fold)));
    cleaned.filter(|(_, said)| is_named(said)).collect()
}

/// The number at the beginning of a text, and the text after it.
fn number(text: &str) -> Option<(usize, &str)> {
    let text = text.trim_start_matches(['*', '`', '#']);
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    let rest = rest.trim_start_matches(['*', '`']);
    let ends = rest.starts_with([':', ')'])
        || [". ", " - ", " – ", " — "]
            .iter()
            .any(|end| rest.starts_with(end));
    let number = digits.parse().ok().filter(|_| ends && end <= 3)?;
    Some((
        number,
        without_separator(rest.trim_start_matches([')', '*', '`'])),
    ))
}

fn has_marker(text: &str) -> bool {
    text.lines()
        .any(|line| after_marker(line.trim_start()).is_some())
}

/// Reads ids: a JSON array, marked lines, or words between commas, semicolons and line ends.
pub(super) fn ids(text: &str) -> Vec<String> {
    if is_none(text) {
        return Vec::new();
    }
    if let Ok(ids) = serde_json::from_str::<Vec<String>>(text) {
        return ids.into_iter().filter(|id| !id.trim().is_empty()).collect();
    }
    let parts: Vec<String> = if has_marker(text) {
        items(text)
    } else {
        text.split([',', ';', '\n']).map(str::to_owned).collect()
    };
    parts
        .iter()
        .map(|id| tidy(id))
        .filter(|id| !id.is_empty() && !is_none(id))
        .collect()
}

/// Writes ids so that [`ids`] reads the same.
pub(crate) fn write_ids(ids: &[String]) -> String {
    let joined = ids.join(", ");
    match self::ids(&joined) {
        _ if ids.is_empty() => "none".to_owned(),
        read if read == ids => joined,
        _ => serde_json::Value::from(ids).to_string(),
    }
}

/// Maximum number of ids that a report's header names one by one.
const NAMED_IDS: usize = 8;

/// Ids as in a report's header: by name or, if they are many, as one word with their number and a digest.
pub(crate) fn write_header_ids(ids: &[String]) -> String {
    if ids.len() <= NAMED_IDS {
        return write_ids(ids);
    }
    let set: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let joined: Vec<&str> = set.into_iter().collect();
    let digest = sha256(joined.join("\n"));
    format!("all-{}-{}", joined.len(), &digest[..12])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ids_of_a_header_are_one_word_that_differs_with_each() {
        let ids: Vec<String> = (1..=9).map(|number| format!("C-{number}")).collect();
        assert_eq!(write_header_ids(&ids[..8]), write_ids(&ids[..8]));
        let word = write_header_ids(&ids);
        assert_eq!(super::ids(&word).join(" "), word);
        let mut turned = ids.clone();
        turned.reverse();
        assert_eq!(write_header_ids(&turned), word);
        turned[0].push('x');
        assert_ne!(write_header_ids(&turned), word);
    }

    #[test]
    fn a_yes_or_no_is_the_word_and_nothing_more() {
        for (text, wanted) in [
            ("yes", Some(true)),
            ("YES", Some(true)),
            ("**yes**", Some(true)),
            ("`no`", Some(false)),
            ("Yes.", None),
            ("Yes, all of it", None),
            ("No - because", None),
            ("pass - no, it is wrong", None),
            ("no\nmore", None),
            ("yesterday", None),
            ("yes/no", None),
            ("yes or no", None),
            ("<yes or no>", None),
            ("yes?", None),
            ("yes, if the gate passes", None),
            ("it is yes", None),
            ("", None),
        ] {
            assert_eq!(yes_no(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn counts_are_whole_numbers() {
        for (text, wanted) in [
            ("0", Some(0)),
            ("12", Some(12)),
            ("9007199254740991", Some(MAX_COUNT)),
            ("9007199254740992", None),
            ("99999999999999999999999", None),
            ("12 (all in docs)", None),
            ("+1", None),
            ("-1", None),
            ("1.5", None),
            ("1,000", None),
            ("0-2", None),
            ("0 critical, 3 minor", None),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(count(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn none_is_pure() {
        for text in [
            "none",
            "None.",
            "(none)",
            "N/A",
            "na",
            "not applicable",
            "NONE !",
            "- none",
            "`none`",
            "none -",
            "none\n",
        ] {
            assert!(is_none(text), "{text:?}");
        }
        for text in [
            "none; tighten the docs",
            "nonesuch",
            "nap",
            "none of the tests",
            "no",
            "",
            "(none",
            "n/a yet",
        ] {
            assert!(!is_none(text), "{text:?}");
        }
    }

    #[test]
    fn routing_is_the_phrase_and_nothing_else() {
        for text in [
            "none",
            "none; proceed to auditor",
            "None - proceed to completion-auditor.",
            "none (proceed to `completion-auditor`)",
        ] {
            assert!(is_none_or_routing(text), "{text:?}");
        }
        for text in [
            "proceed to auditor",
            "none; proceed to auditor and fix the docs",
            "none; tighten the docs",
        ] {
            assert!(!is_none_or_routing(text), "{text:?}");
        }
        assert!(is_routing("Proceed to auditor."));
    }

    #[test]
    fn numbered_texts_keep_their_numbers() {
        for (text, wanted) in [
            (
                "1: mended in a.sh:1\n2: no bug, because X",
                vec![
                    (Some(1), "mended in a.sh:1"),
                    (Some(2), "no bug, because X"),
                ],
            ),
            (
                "- 1. mended\n  in two places\n- 2) left: 3 of 4",
                vec![(Some(1), "mended in two places"), (Some(2), "left: 3 of 4")],
            ),
            (
                "1. mended\n2. left",
                vec![(Some(1), "mended"), (Some(2), "left")],
            ),
            (
                "- **#1**: mended\n- the rest is as it was",
                vec![(Some(1), "mended"), (None, "the rest is as it was")],
            ),
            (
                "all of it\nis mended",
                vec![(None, "all of it"), (None, "is mended")],
            ),
            ("3.5 is rounded", vec![(None, "3.5 is rounded")]),
            ("none", vec![]),
            ("1: none", vec![]),
        ] {
            let found = split_numbered(text);
            let found: Vec<(Option<usize>, &str)> = found
                .iter()
                .map(|(number, said)| (*number, said.as_str()))
                .collect();
            assert_eq!(found, wanted, "{text:?}");
        }
    }

    #[test]
    fn commits_are_hex() {
        assert_eq!(commit("ABCDEF1"), Some("abcdef1".to_owned()));
        assert_eq!(commit("ABCDEF1 (main)"), None);
        assert_eq!(commit("abc"), None);
        assert_eq!(commit("none"), None);
        assert_eq!(commit(&"a".repeat(65)), None);
    }

    #[test]
    fn lists_are_split_at_their_marks() {
        assert_eq!(items("- a\n  more\n- b\n  - c"), ["a more", "b - c"]);
        assert_eq!(items("a\nb"), ["a", "b"]);
        assert_eq!(items("1. a\n2. b"), ["a", "b"]);
        assert!(items("- none").is_empty());
        assert!(items("none").is_empty());
    }

    #[test]
    fn ids_come_back_as_they_were_written() {
        for list in [
            vec![],
            vec!["a"],
            vec!["a", "b-2"],
            vec!["with, comma", "x"],
            vec!["none"],
            vec!["- a"],
            vec!["two words"],
        ] {
            let list: Vec<String> = list.into_iter().map(str::to_owned).collect();
            assert_eq!(ids(&write_ids(&list)), list);
        }
        assert_eq!(ids("- a\n- `b`"), ["a", "b"]);
        assert_eq!(ids("`a`, b;c"), ["a", "b", "c"]);
    }

    #[test]
    fn tidying_twice_changes_nothing() {
        for text in [
            "**`x`**",
            "\n\n a \n\n b\u{7}  \n",
            "`a` and `b`",
            "``",
            "****",
            "** a",
        ] {
            let once = tidy(text);
            assert_eq!(tidy(&once), once, "{text:?}");
        }
        assert_eq!(tidy("**`x`**"), "x");
        assert_eq!(tidy("`a` and `b`"), "`a` and `b`");
    }
}
