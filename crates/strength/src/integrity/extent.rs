//! The tokens that belong to an assertion.

use crate::language::Language;
use crate::lex::{Kind, Token, close};
use std::ops::Range;

/// The tokens of the assertion that begins at a token.
pub(super) fn extent(
    language: Language,
    tokens: &[Token],
    starts: &[usize],
    at: usize,
    range: &Range<usize>,
) -> Range<usize> {
    use Language::*;
    match language {
        Python | Ruby | Elixir => {
            let place = starts.partition_point(|start| *start <= at);
            let from = place
                .checked_sub(1)
                .map_or(range.start, |place| starts[place])
                .max(range.start);
            let to = starts
                .get(place)
                .copied()
                .unwrap_or(range.end)
                .min(range.end);
            from..to.max(at + 1)
        }
        Shell => at..command_end(tokens, at, range.end),
        Rust if matches!(tokens[at].text, "unwrap_err" | "expect_err") => {
            let line = tokens[at].line;
            let from = (range.start..at)
                .rev()
                .take_while(|at| tokens[*at].line == line)
                .last();
            from.unwrap_or(at)..call_extent(tokens, at, range.end).end
        }
        Go if at > 1 && tokens[at - 1].is(".") && tokens[at - 2].text.len() <= 2 => {
            let from = go_condition(tokens, at, range.start).unwrap_or(at);
            from..call_extent(tokens, at, range.end).end
        }
        Kotlin | Swift | JavaScript | CSharp
            if !tokens
                .get(at + 1)
                .is_some_and(|t| matches!(t.text, "(" | "." | "<" | "{"))
                || matches!(tokens[at].text, "should" | "Should") =>
        {
            // `x shouldBe y`, `x.should.equal(y)`, `throw …`: the whole line.
            let line = tokens[at].line;
            let from = (range.start..at)
                .rev()
                .take_while(|at| tokens[*at].line == line)
                .last();
            let to = (at..range.end)
                .take_while(|at| tokens[*at].line == line)
                .last();
            from.unwrap_or(at)..to.unwrap_or(at) + 1
        }
        _ => call_extent(tokens, at, range.end),
    }
}

/// `name!(…)`, `name(…).more(…)`, `name.more(…)`, `name<T>(…)`.
pub(super) fn call_extent(tokens: &[Token], at: usize, limit: usize) -> Range<usize> {
    let mut end = at + 1;
    while end < limit {
        let token = tokens[end];
        if matches!(token.text, "(" | "[" | "{") && token.kind == Kind::Mark {
            if token.is("{") && !tokens[end - 1].is("!") && !tokens[end - 1].is(")") && end > at + 1
            {
                break;
            }
            if token.is("{") && tokens[end - 1].is(")") && token.line > tokens[end - 1].line {
                break;
            }
            end = close(&tokens[..limit], end) + 1;
        } else if matches!(token.text, "." | "!" | "?." | "::" | "->") && end + 1 < limit {
            end += 1;
            if tokens[end].kind == Kind::Word {
                end += 1;
            }
        } else if token.is("<") {
            let close = (end..limit.min(end + 12)).find(|at| tokens[*at].is(">"));
            let Some(close) = close else { break };
            end = close + 1;
        } else {
            break;
        }
    }
    at..end.min(limit)
}

fn command_end(tokens: &[Token], at: usize, limit: usize) -> usize {
    let line = tokens[at].line;
    let ends = |token: &Token| {
        token.line > line
            || matches!(token.text, ";" | "&&" | "||" | "|") && token.kind == Kind::Mark
    };
    (at + 1..limit)
        .find(|at| ends(&tokens[*at]))
        .unwrap_or(limit)
}

/// The `if` whose block a failing call of Go's stands in.
fn go_condition(tokens: &[Token], at: usize, from: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut brace = None;
    for place in (from..at).rev() {
        match tokens[place].text {
            "}" => depth += 1,
            "{" if depth == 0 => {
                brace = Some(place);
                break;
            }
            "{" => depth -= 1,
            _ => {}
        }
    }
    let brace = brace?;
    let line = tokens[brace].line;
    (from..brace)
        .rev()
        .take_while(|at| tokens[*at].line == line)
        .find(|at| tokens[*at].is("if"))
}
