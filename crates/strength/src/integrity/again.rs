//! Tests that are run again until they pass: by a wrapper of their own, by a loop that ends at the
//! first round that went well.

use super::side::{Both, Side};
use crate::language::Language;
use crate::lex::{Kind, Token, close};
use crate::suite::{Item, Sort, Suite};
use std::collections::BTreeSet;

/// Names of functions that call what they are given again where it failed.
pub(super) fn list_again<'a>(suites: &'a [Option<Suite<'a>>]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for suite in suites.iter().flatten() {
        let helpers = suite.items.iter().filter(|item| item.sort == Sort::Helper);
        for item in helpers {
            let body = &suite.tokens[item.body.clone()];
            let has = |words: &[&str]| body.iter().any(|one| words.contains(&one.text));
            let loops = has(&["for", "while", "loop", "until"]);
            let catches = has(&["except", "catch", "rescue", "recover", "catch_unwind"]);
            if loops && catches && calls_given(suite, item) {
                found.insert(item.name.as_str());
            }
        }
    }
    found
}

/// It calls one of its parameters, or of those of a function in it.
fn calls_given(suite: &Suite, item: &Item) -> bool {
    let tokens = &suite.tokens[item.head.start..item.body.end];
    let mut given = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let named = matches!(
            token.text,
            "def" | "fn" | "func" | "function" | "async" | "="
        );
        let open = (at + 1..(at + 4).min(tokens.len())).find(|at| tokens[*at].is("("));
        if let Some(open) = open.filter(|_| named) {
            let own = tokens[open..close(tokens, open)].iter();
            given.extend(own.filter(|one| one.kind == Kind::Word).map(|one| one.text));
        }
    }
    tokens.windows(3).any(|three| {
        three[1].kind == Kind::Word
            && three[2].is("(")
            && !matches!(three[0].text, "def" | "fn" | "func" | "function" | ".")
            && given.contains(three[1].text)
    })
}

impl Both<'_, '_> {
    /// The line of a wrapper that runs the whole test again.
    pub(super) fn is_wrapped(&self, again: &BTreeSet<&str>) -> Option<usize> {
        let of = |side: &Side| -> Option<usize> {
            let tokens = &side.suite.tokens;
            let decorated =
                side.item.head.clone().find(|at| {
                    again.contains(tokens[*at].text) && tokens[*at].text != side.item.name
                });
            // `it("x", again(async () => {…}))`, `retry(t, 3, func() {…})` and nothing else.
            let body = &tokens[side.item.body.clone()];
            let first = body
                .iter()
                .position(|one| !matches!(one.text, "," | "await" | "return"))?;
            let whole = again.contains(body[first].text)
                && body.get(first + 1).is_some_and(|open| open.is("("))
                && close(body, first + 1) + 3 > body.len();
            let place = decorated.or(whole.then_some(side.item.body.start + first))?;
            tokens.get(place).map(|one| one.line)
        };
        match of(self.was) {
            None => of(self.is),
            Some(_) => None,
        }
    }

    /// The line of a loop that came around what was tested, whose rounds are all alike, and that ends
    /// before the last of them.
    pub(super) fn loops_until_well(&self) -> Option<usize> {
        match find_blind_loop(self.was) {
            None => find_blind_loop(self.is),
            Some(_) => None,
        }
    }
}

fn find_blind_loop(side: &Side) -> Option<usize> {
    let tokens = side.tokens();
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(token.text, "for" | "while") || token.kind != Kind::Word {
            continue;
        }
        let Some((head, body)) = split_loop(side.suite.language, tokens, at) else {
            continue;
        };
        let counts = head.iter().any(|one| {
            matches!(one.text, "<" | "<=" | "range" | ".." | "..=") && one.kind != Kind::Text
        });
        let least = head
            .iter()
            .any(|one| one.kind == Kind::Number && one.text.len() < 4);
        let name = head
            .iter()
            .find(|one| one.kind == Kind::Word && !matches!(one.text, "let" | "var" | "range"));
        let used = name.is_some_and(|name| body.iter().any(|one| one.text == name.text));
        let leaves = body
            .iter()
            .any(|one| matches!(one.text, "break" | "return"));
        let waits = body.iter().any(|one| {
            let lower = one.text.to_lowercase();
            ["sleep", "settimeout", "wait"]
                .iter()
                .any(|word| lower.contains(word))
        });
        if counts && least && !used && leaves && !waits {
            return Some(token.line);
        }
    }
    None
}

type Part<'t, 'a> = &'t [Token<'a>];

fn split_loop<'t, 'a>(
    language: Language,
    tokens: Part<'t, 'a>,
    at: usize,
) -> Option<(Part<'t, 'a>, Part<'t, 'a>)> {
    if language == Language::Python {
        let colon = (at..tokens.len().min(at + 40)).find(|at| tokens[*at].is(":"))?;
        let inside = tokens[colon + 1..]
            .iter()
            .take_while(|one| one.column > tokens[at].column || one.line == tokens[at].line);
        let end = colon + 1 + inside.count();
        return Some((&tokens[at + 1..colon], &tokens[colon + 1..end]));
    }
    if !language.has_braces() {
        return None;
    }
    let open = (at..tokens.len().min(at + 40)).find(|at| tokens[*at].is("{"))?;
    Some((
        &tokens[at + 1..open],
        &tokens[open + 1..close(tokens, open).max(open + 1)],
    ))
}
