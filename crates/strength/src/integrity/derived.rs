//! Expected values that are made from what they are held against, or that the code is asked for.

use super::gone::loses_value;
use super::merged::list_locals;
use super::side::{Both, Side};
use super::strength::Strength;
use super::subject::list_subjects;
use crate::lex::{Kind, Token, close};
use std::collections::{BTreeMap, BTreeSet};

/// Tokens of a statement that are looked at.
const LONGEST: usize = 120;

impl Both<'_, '_> {
    /// The line where what is expected is made from what is looked at.
    pub(super) fn expects_itself(&self) -> Option<usize> {
        let (was, is) = (list_definitions(self.was), list_definitions(self.is));
        if is.is_empty() || !loses_value(self) {
            return None;
        }
        let subjects = list_subjects(self.was);
        let answered = |name: &str| {
            is.get(name)
                .is_some_and(|words| words.iter().any(|word| subjects.contains(word)))
        };
        let made_from = |of: &BTreeMap<&str, BTreeSet<&str>>, name: &str, other: &str| {
            of.get(name).is_some_and(|words| words.contains(other))
        };
        let hit = self.is.assertions.iter().find(|one| {
            let own = &self.is.suite.tokens[one.tokens.clone()];
            let names: BTreeSet<&str> = own
                .iter()
                .filter(|token| is.contains_key(token.text))
                .map(|token| token.text)
                .collect();
            let derives = |name: &&str| {
                names.iter().any(|other| {
                    other != name
                        && made_from(&is, name, other)
                        && !made_from(&was, name, other)
                        && answered(other)
                })
            };
            one.strength == Strength::Exact && names.iter().any(derives)
        });
        hit.map(|one| one.line)
    }

    /// The line that takes for granted what the code answers: `assume(decode(x) == y)`.
    pub(super) fn assumes_answer(&self) -> Option<usize> {
        let (was, is) = (list_assumed(self.was), list_assumed(self.is));
        if is.len() <= was.len() {
            return None;
        }
        let subjects = list_subjects(self.was);
        let given = list_definitions(self.is);
        let answers = |word: &&str| {
            subjects.contains(word)
                || given
                    .get(*word)
                    .is_some_and(|words| words.iter().any(|one| subjects.contains(one)))
        };
        let hit = is.iter().find(|(_, words)| words.iter().any(answers));
        hit.map(|(line, _)| *line)
    }
}

/// The words by which each name of a test is made.
fn list_definitions<'a>(side: &Side<'a>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let tokens = side.tokens();
    let own = list_locals(tokens);
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (at, token) in tokens.iter().enumerate() {
        let through = tokens.get(at + 1).is_some_and(|next| next.is("range"));
        if !(token.is("=") || token.is(":=")) || through {
            continue;
        }
        let names = tokens[..at]
            .iter()
            .rev()
            .take_while(|one| one.line == token.line && !matches!(one.text, ";" | "{" | "}" | "="))
            .take(8)
            .filter(|one| own.contains(one.text));
        let names: Vec<&str> = names.map(|one| one.text).collect();
        let mut words = BTreeSet::new();
        let mut next = at + 1;
        while next < tokens.len().min(at + LONGEST) {
            let one = tokens[next];
            let breaks = next > at + 1 && one.line > tokens[next - 1].line && !one.is(".");
            if one.is(";") || breaks {
                break;
            }
            let end = match one.text {
                "(" | "[" | "{" if one.kind == Kind::Mark => close(tokens, next),
                _ => next,
            };
            let own = tokens[next..=end.min(tokens.len() - 1)].iter();
            words.extend(own.filter(|one| one.kind == Kind::Word).map(|one| one.text));
            next = end + 1;
        }
        for name in names {
            found.entry(name).or_default().extend(words.iter().copied());
        }
    }
    found
}

/// What a test takes for granted of values that are made up for it: the lines, and the words.
fn list_assumed<'a>(side: &Side<'a>) -> Vec<(usize, BTreeSet<&'a str>)> {
    let tokens = side.tokens();
    let assumes = |at: &usize| {
        let next = tokens.get(at + 1);
        let called = next.is_some_and(|next| matches!(next.text, "(" | "!"));
        let of_check = tokens[*at].is("pre") && *at > 1 && tokens[at - 2].is("fc");
        called && (of_check || matches!(tokens[*at].text, "assume" | "prop_assume" | "assumeThat"))
    };
    let words = |at: usize| -> BTreeSet<&'a str> {
        let open = at + 1 + usize::from(tokens[at + 1].is("!"));
        let own: &[Token] = match tokens.get(open) {
            Some(one) if one.is("(") => &tokens[open..close(tokens, open)],
            _ => &[],
        };
        let words = own.iter().filter(|one| one.kind == Kind::Word);
        words.map(|one| one.text).collect()
    };
    (0..tokens.len())
        .filter(assumes)
        .map(|at| (tokens[at].line, words(at)))
        .collect()
}
