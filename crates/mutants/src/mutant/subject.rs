//! Whether a diff holds code in which a defect could be planted.

use super::sites::IMPORTS;
use crate::class::{Class, Edited};
use crate::language::Language;
use crate::tokens::{self, Kind, Token};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a diff is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// It brings code, or other code.
    Code,
    /// No file of source: documents, tests, settings.
    NoSource,
    /// Comments and blanks.
    Comments,
    /// Code that stands elsewhere now.
    Moves,
    /// Code is gone and none came.
    Deletions,
}

impl Subject {
    /// Taking it back would be noticed by a test of it.
    pub fn is_code(self) -> bool {
        self == Self::Code
    }
}

/// What these edits are about.
pub fn subject(edits: &[Edited]) -> Subject {
    let sources: Vec<&Edited> = edits
        .iter()
        .filter(|edit| edit.class == Class::Source && edit.before != edit.after)
        .collect();
    if sources.is_empty() {
        return Subject::NoSource;
    }
    let mut balance: BTreeMap<String, i64> = BTreeMap::new();
    let mut changed = false;
    for edit in sources {
        let lines_of = |text: Option<&str>| code_lines(edit.path, text.unwrap_or_default());
        let (before, after) = (lines_of(edit.before), lines_of(edit.after));
        changed |= before != after;
        for (lines, step) in [(before, -1), (after, 1)] {
            for line in lines {
                *balance.entry(line).or_default() += step;
            }
        }
    }
    if balance.values().any(|count| *count > 0) {
        Subject::Code
    } else if balance.values().any(|count| *count < 0) {
        Subject::Deletions
    } else if changed {
        Subject::Moves
    } else {
        Subject::Comments
    }
}

/// A text's lines of code, without comments, blanks, and what only says where others stand.
pub(super) fn code_lines(path: &str, text: &str) -> Vec<String> {
    let language = Language::of(path, text);
    let tokens = tokens::code(language, text);
    let mut found: Vec<(usize, String)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if is_docstring(language, &tokens, at) {
            continue;
        }
        match found.last_mut() {
            Some((line, words)) if *line == token.line => {
                words.push(' ');
                words.push_str(token.text);
            }
            _ => found.push((token.line, token.text.to_owned())),
        }
    }
    let lines = found.into_iter().map(|(_, words)| words);
    let names_a_place = |line: &String| {
        let mut words = line
            .split(' ')
            .skip_while(|word| matches!(*word, "pub" | "#"));
        let first = words.next().unwrap_or_default();
        IMPORTS.contains(&first) && !line.contains('{')
    };
    lines.filter(|line| !names_a_place(line)).collect()
}

fn is_docstring(language: Language, tokens: &[Token], at: usize) -> bool {
    let token = tokens[at];
    let alone = |other: Option<&Token>| other.is_none_or(|other| other.line != token.line);
    language == Language::Python
        && token.kind == Kind::Text
        && alone(at.checked_sub(1).and_then(|at| tokens.get(at)))
        && tokens.get(at + 1).is_none_or(|next| next.line > token.line)
        && at.checked_sub(1).is_none_or(|at| tokens[at].is(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(edits: &[(&str, Option<&str>, Option<&str>)]) -> Subject {
        let edits: Vec<Edited> = edits
            .iter()
            .map(|(path, before, after)| Edited {
                path,
                class: crate::classify(path, &[]),
                before: *before,
                after: *after,
            })
            .collect();
        subject(&edits)
    }

    #[test]
    fn only_code_that_came_is_code() {
        let one = "fn a() -> u8 {\n    1\n}\n";
        let two = "fn b() -> u8 {\n    2\n}\n";
        let both = format!("{one}{two}");
        let turned = format!("{two}{one}");
        for (edits, expected) in [
            (&[("src/a.rs", Some(one), Some(&*both))][..], Subject::Code),
            (&[("src/a.rs", None, Some(one))], Subject::Code),
            (
                &[(
                    "src/a.rs",
                    Some("fn a() { f(1) }\n"),
                    Some("fn a() { f(2) }\n"),
                )],
                Subject::Code,
            ),
            (&[("README.md", Some("a"), Some("b"))], Subject::NoSource),
            (&[("tests/a.rs", Some(one), Some(two))], Subject::NoSource),
            (&[("Cargo.toml", Some("a"), Some("b"))], Subject::NoSource),
            (
                &[(
                    "src/a.rs",
                    Some(one),
                    Some("// why\nfn a() -> u8 {\n    1 // one\n}\n"),
                )],
                Subject::Comments,
            ),
            (
                &[(
                    "a.py",
                    Some("def a():\n    \"\"\"Old.\"\"\"\n    return 1\n"),
                    Some("def a():\n    \"\"\"New.\"\"\"\n    return 1\n"),
                )],
                Subject::Comments,
            ),
            (&[("src/a.rs", Some(&*both), Some(one))], Subject::Deletions),
            (&[("src/a.rs", Some(one), None)], Subject::Deletions),
            (
                &[("src/a.rs", Some(&*both), Some(&*turned))],
                Subject::Moves,
            ),
            (
                &[
                    ("src/a.rs", Some(&*both), Some(one)),
                    ("src/b.rs", None, Some(two)),
                    ("src/lib.rs", Some("mod a;\n"), Some("mod a;\nmod b;\n")),
                ],
                Subject::Moves,
            ),
            (&[("data.unknown", Some("a"), Some("b"))], Subject::Code),
            (&[], Subject::NoSource),
        ] {
            assert_eq!(of(edits), expected, "{edits:?}");
        }
    }
}
