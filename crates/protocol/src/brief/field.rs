//! One field of a brief: one line of text that can forge neither a heading nor a
//! second bullet.

use crate::model::{MAX_FIELD_CHARS, is_hidden};

/// Where an artifact breaks its contract, and which rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {rule}")]
pub struct FieldError {
    /// The field, such as `brief.established[3].basis`; empty for the whole input.
    pub path: String,
    /// The rule: a lowercase fragment.
    pub rule: String,
}

impl FieldError {
    pub(super) fn new(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            rule: rule.into(),
        }
    }
}

/// White space is Unicode's `White_Space` and the byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// The field as it is kept: the lines joined, one leading bullet off each, white
/// space collapsed, hidden characters taken out last.
///
/// # Errors
/// A breach without a path: nothing is left, or it is too long.
pub fn normalise(text: &str) -> Result<String, FieldError> {
    let lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .map(|line| without_bullet(line).trim_matches(is_blank))
        .filter(|line| !line.is_empty());
    let joined = lines.collect::<Vec<_>>().join(" ");
    let words = joined.split(is_blank).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    let kept: String = line.chars().filter(|c| !is_hidden(*c)).collect();
    // What hid between two blanks leaves nothing to say.
    if kept.chars().all(is_blank) {
        return Err(FieldError::new("", "holds no text"));
    }
    if kept.chars().count() > MAX_FIELD_CHARS {
        let rule = format!("is longer than {MAX_FIELD_CHARS} characters");
        return Err(FieldError::new("", rule));
    }
    Ok(kept)
}

/// The text as it comes back however often it is written out and read again: what is
/// stored must be told from nothing else by a bullet or a blank that one reading takes
/// off. A text that is not a field stays as it is, to be refused.
pub(super) fn settle(text: &str) -> String {
    let mut text = text.to_owned();
    while let Ok(next) = normalise(&text) {
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Optional white space, one `-` or `*`, then white space.
fn without_bullet(line: &str) -> &str {
    let rest = line.trim_start_matches(is_blank);
    match rest.strip_prefix(['-', '*']) {
        Some(after) if after.starts_with(is_blank) => after,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_one() {
        for (given, kept) in [
            ("a", "a"),
            ("  - a\r\n * b\n\n-c\n--d\n- - e", "a b -c --d - e"),
            ("a\u{a0}\u{2003}\u{feff}b\tc\u{2028}d\re", "a b c d e"),
            ("## Task\n## Next", "## Task ## Next"),
            (
                "a\u{1b}[31m\u{202e}b\u{200b}c\u{e0041}\u{7f}\u{9b}",
                "a[31mbc",
            ),
            ("a \u{200b} b", "a  b"),
            ("-\u{200b} a", "- a"),
            ("— source: x", "— source: x"),
        ] {
            assert_eq!(normalise(given).as_deref(), Ok(kept), "{given:?}");
        }
    }

    #[test]
    fn nothing_is_rejected() {
        for given in [
            "",
            " \n\t",
            "\u{feff}",
            "\u{200b}",
            "- \n* ",
            "\u{200b} \u{200b}",
        ] {
            assert_eq!(
                normalise(given).unwrap_err().rule,
                "holds no text",
                "{given:?}"
            );
        }
        assert!(normalise(&"é".repeat(MAX_FIELD_CHARS)).is_ok());
        assert!(normalise(&"é".repeat(MAX_FIELD_CHARS + 1)).is_err());
    }
}
