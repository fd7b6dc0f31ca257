//! Values that were expected and stand in a test no more.

use super::content::is_said;
use super::side::{Both, Side};
use super::strength::Strength;
use crate::language::Language;
use crate::lex::{Kind, Token, close, inside};
use std::collections::BTreeSet;

/// Tokens of a value that are looked at.
const LONGEST: usize = 400;

/// A value that was expected stands nowhere in the test any more.
pub(super) fn loses_value(both: &Both) -> bool {
    let now: BTreeSet<String> = both
        .is
        .assertions
        .iter()
        .map(|one| both.is.text(one))
        .collect();
    let language = both.is.suite.language;
    let there: BTreeSet<&str> = both
        .is
        .tokens()
        .iter()
        .filter(|one| one.kind != Kind::Mark)
        .map(|one| inside(one.text))
        .collect();
    let definitions = list_expected(both.was);
    let gone = |token: &Token| {
        let of_shell = language == Language::Shell
            && token.kind == Kind::Word
            && !token.text.contains('$')
            && token.text.len() > 2;
        let value = matches!(token.kind, Kind::Text | Kind::Number) || of_shell;
        value && !inside(token.text).contains('$') && !there.contains(inside(token.text))
    };
    both.was.assertions.iter().any(|one| {
        let tokens = &both.was.suite.tokens[one.tokens.clone()];
        one.strength == Strength::Exact
            && !now.contains(&both.was.text(one))
            && (0..tokens.len()).any(|at| gone(&tokens[at]) && !is_said(tokens, at))
    }) || definitions.iter().any(gone)
}

/// Tokens by which names are made that an exact assertion holds something against.
fn list_expected<'a>(side: &Side<'a>) -> Vec<Token<'a>> {
    let tokens = side.tokens();
    let exact = side
        .assertions
        .iter()
        .filter(|one| one.strength == Strength::Exact);
    let names: BTreeSet<&str> = exact
        .flat_map(|one| &side.suite.tokens[one.tokens.clone()])
        .filter(|one| one.kind == Kind::Word)
        .map(|one| one.text)
        .collect();
    let mut found = Vec::new();
    for at in 0..tokens.len().saturating_sub(2) {
        let assigns = tokens[at + 1].is("=") || tokens[at + 1].is(":=");
        if !assigns || !names.contains(tokens[at].text) {
            continue;
        }
        let line = tokens[at].line;
        let literal = tokens[at + 2..]
            .iter()
            .take(LONGEST)
            .take_while(|one| one.line <= line + 24 && !one.is(";"));
        let literal: Vec<&Token> = literal.collect();
        let open = literal
            .iter()
            .position(|one| one.is("{") || one.is("["))
            .filter(|at| *at < 6);
        if let Some(open) = open {
            let end = close(tokens, at + 2 + open);
            found.extend_from_slice(&tokens[at + 2..end.max(at + 2)]);
        }
    }
    found
}
