//! Assertions that look at a part of what they looked at whole.

use super::assertion::Assertion;
use super::side::{Side, is_value};
use super::strength::Strength;
use super::subject::{list_answering, list_given};
use crate::lex::{Kind, Token, inside};
use std::collections::{BTreeMap, BTreeSet};

/// Assertions that are held against each other.
const CANDIDATES: usize = 60;

/// Words that ask how large something is, or what sort of thing.
const SIZES: [&str; 12] = [
    "len",
    "length",
    "size",
    "count",
    "type",
    "typeof",
    "keys",
    "bool",
    "Len",
    "toHaveLength",
    "hasSize",
    "id",
];

/// The line of an assertion that came and looks at less of the same.
pub(super) fn narrower(
    was: &Side,
    gone: &[&Assertion],
    is: &Side,
    came: &[&Assertion],
    fresh: &BTreeSet<&str>,
) -> Option<usize> {
    if came.is_empty() || came.len() > gone.len() || gone.len() > CANDIDATES {
        return None;
    }
    let there: BTreeSet<&str> = is.tokens().iter().map(|one| inside(one.text)).collect();
    for old in gone.iter().filter(|one| one.strength == Strength::Exact) {
        let before = &was.suite.tokens[old.tokens.clone()];
        for new in came.iter().filter(|one| one.strength == Strength::Exact) {
            let after = &is.suite.tokens[new.tokens.clone()];
            let (held, holds) = (values(was, before), values(is, after));
            let sized = count(after, |one| SIZES.contains(&one.text))
                > count(before, |one| SIZES.contains(&one.text));
            let of_sort = after
                .iter()
                .any(|one| matches!(one.text, "type" | "typeof"));
            let deeper =
                sized || count_parts(after) > count_parts(before) || asks_part(before, after);
            let lost = held
                .iter()
                .any(|value| !there.contains(value) && !fresh.contains(value));
            let nothing_new =
                sized || !holds.is_empty() && holds.iter().all(|value| held.contains(value));
            let part = deeper
                && lost
                && nothing_new
                && (holds.len() < held.len() || of_sort && holds.len() <= held.len())
                && (shares_word(before, after) || sized && shares_call(was, before, is, after));
            if part || held.is_empty() && holds.is_empty() && of_parts(before, after) {
                return Some(new.line);
            }
        }
    }
    None
}

fn count(tokens: &[Token], is_one: impl Fn(&Token) -> bool) -> usize {
    tokens.iter().filter(|one| is_one(one)).count()
}

/// How often something is asked for a part: `a.b`, `a["b"]`.
fn count_parts(tokens: &[Token]) -> usize {
    let of_value = |before: &Token| before.kind == Kind::Word || matches!(before.text, ")" | "]");
    let asks = tokens
        .windows(2)
        .filter(|two| matches!(two[1].text, "." | "?.") || two[1].is("[") && of_value(&two[0]));
    asks.count()
}

fn values<'t>(side: &Side, tokens: &[Token<'t>]) -> BTreeSet<&'t str> {
    let own = tokens
        .iter()
        .filter(|one| is_value(side.suite.language, one));
    own.map(|one| inside(one.text)).collect()
}

/// Words of what is looked at stand in both.
fn shares_word(before: &[Token], after: &[Token]) -> bool {
    let words = |tokens: &[Token]| -> BTreeSet<String> {
        let own = tokens
            .iter()
            .filter(|one| one.kind == Kind::Word && !super::words::is_vocabulary(one.text));
        own.map(|one| one.text.to_owned()).collect()
    };
    !words(before).is_disjoint(&words(after))
}

/// What is looked at was answered by the same call, whatever the test calls it.
fn shares_call(was: &Side, before: &[Token], is: &Side, after: &[Token]) -> bool {
    let calls = |side: &Side, tokens: &[Token]| -> BTreeSet<String> {
        let given = list_given(side);
        let found = list_answering(side.suite.language, tokens, &given);
        found.into_iter().map(|(name, _)| name.to_owned()).collect()
    };
    !calls(was, before).is_disjoint(&calls(is, after))
}

/// Of one word a part is asked that was looked at whole: `cfg`, and `cfg.name` now.
fn asks_part(before: &[Token], after: &[Token]) -> bool {
    let (was, is) = (list_uses(before), list_uses(after));
    was.iter().any(|(word, (whole, asked))| {
        *whole && !asked && is.get(word).is_some_and(|(whole, asked)| !whole && *asked)
    })
}

/// Two that were held against each other whole are so in one member only.
fn of_parts(before: &[Token], after: &[Token]) -> bool {
    let (was, is) = (list_uses(before), list_uses(after));
    let narrowed = was.iter().filter(|(word, (whole, _))| {
        *whole && is.get(*word).is_some_and(|(whole, asked)| !whole && *asked)
    });
    narrowed.count() > 1
}

/// How each word stands: whole, or asked for a part.
fn list_uses(tokens: &[Token]) -> BTreeMap<String, (bool, bool)> {
    let mut found: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for (at, token) in tokens.iter().enumerate() {
        let of_other = at > 0 && matches!(tokens[at - 1].text, "." | "?.");
        if token.kind != Kind::Word || of_other {
            continue;
        }
        let next = tokens.get(at + 1).map_or("", |next| next.text);
        let sized = at > 1 && tokens[at - 1].is("(") && SIZES.contains(&tokens[at - 2].text);
        let called = tokens.get(at + 3).is_some_and(|three| three.is("("));
        let asked = matches!(next, "." | "?.") && !called || next == "[" || sized;
        let one = found.entry(token.text.to_owned()).or_default();
        if asked {
            one.1 = true;
        } else if next != "(" {
            one.0 = true;
        }
    }
    found
}
