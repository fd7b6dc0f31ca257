//! Items of shells: functions, and the tests of bats.

use super::blocks::line_starts;
use super::item::{Item, Sort};
use crate::lex::{Kind, Token, inside};

/// The items of a text.
pub(super) fn items(tokens: &[Token]) -> Vec<Item> {
    let starts = line_starts(tokens);
    let mut found = Vec::new();
    for (place, &at) in starts.iter().enumerate() {
        let Some((name, brace, is_bats)) = head(tokens, at) else {
            continue;
        };
        let first = tokens[at];
        let closes = |token: &Token| token.is("}");
        let same_line = tokens[brace..]
            .iter()
            .take_while(|token| token.line == first.line)
            .position(closes);
        let end = match same_line {
            Some(place) => brace + place,
            None => {
                let rest = starts[place + 1..].iter();
                let mut ends =
                    rest.filter(|at| closes(&tokens[**at]) && tokens[**at].column <= first.column);
                ends.next().copied().unwrap_or(tokens.len())
            }
        };
        let is_test = is_bats || name.starts_with("test_") || name.starts_with("test-") || {
            let rest = name.strip_prefix("test");
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase()))
        };
        found.push(Item {
            name,
            sort: if is_test { Sort::Test } else { Sort::Helper },
            line: first.line,
            head: at..brace,
            body: brace + 1..end.max(brace + 1),
        });
    }
    found
}

/// `name() {`, `function name {`, `@test "name" {`: the name, the brace, and whether it is bats'.
fn head(tokens: &[Token], at: usize) -> Option<(String, usize, bool)> {
    let first = tokens.get(at).filter(|token| token.kind == Kind::Word)?;
    let brace_at = |from: usize| {
        let limit = (from + 3).min(tokens.len());
        (from..limit).find(|at| tokens[*at].is("{"))
    };
    if first.is("@test") {
        let name = tokens.get(at + 1)?;
        return Some((inside(name.text).to_owned(), brace_at(at + 2)?, true));
    }
    if first.is("function") {
        let name = tokens.get(at + 1)?;
        return Some((name.text.to_owned(), brace_at(at + 2)?, false));
    }
    let called = tokens.get(at + 1)?.is("(") && tokens.get(at + 2)?.is(")");
    called.then(|| Some((first.text.to_owned(), brace_at(at + 3)?, false)))?
}
