//! What is compared in an assertion.

use super::words::{CONSTANTS, EXACT, EXACT_STARTS};
use crate::lex::{Kind, Token, between, close};

/// One side of an equality is a constant, or nothing but how many there are is held against 0.
pub(super) fn compares_with_constant(own: &[Token], equalities: &[&str]) -> bool {
    let is_constant = |token: &Token| CONSTANTS.contains(&token.text);
    let counts = own.iter().any(|token| {
        matches!(
            token.text,
            "len" | "length" | "size" | "count" | "Len" | "toHaveLength" | "hasSize" | "isEmpty"
        )
    });
    let is_nothing = |token: &Token| is_constant(token) || counts && token.text == "0";
    for (at, token) in own.iter().enumerate() {
        if equalities.contains(&token.text) && token.kind != Kind::Text {
            let after = own.get(at + 1).map(|next| {
                if next.is("not") {
                    own.get(at + 2).unwrap_or(next)
                } else {
                    next
                }
            });
            let before = at.checked_sub(1).map(|at| &own[at]);
            return after.is_some_and(is_nothing) || before.is_some_and(is_constant);
        }
    }
    for (at, token) in own.iter().enumerate() {
        let exact = EXACT.contains(&token.text)
            || EXACT_STARTS
                .iter()
                .any(|start| token.text.starts_with(start));
        if token.kind != Kind::Word || !exact {
            continue;
        }
        let mut open = at + 1;
        if own.get(open).is_some_and(|next| next.is("!")) {
            open += 1;
        }
        return match own.get(open) {
            Some(next) if next.is("(") => {
                let args = arguments(own, open);
                args.iter()
                    .take(2)
                    .any(|arg| arg.len() == 1 && is_nothing(&arg[0]))
            }
            Some(next) => {
                is_nothing(next)
                    || list_arguments_without(own, open)
                        .iter()
                        .take(2)
                        .any(|arg| arg.len() == 1 && is_nothing(&arg[0]))
            }
            None => false,
        };
    }
    false
}

/// A text or a pattern that everything fits: `""`, `/.*/`, `"(?s).+"`.
pub(super) fn fits_any(token: &Token) -> bool {
    if token.kind != Kind::Text || token.text.len() > 24 {
        return false;
    }
    let own = crate::lex::inside(token.text).trim_matches('/');
    let own = own.trim_end_matches(['/', 's', 'm', 'i', 'u', 'g']);
    let own = own
        .trim_start_matches("(?s)")
        .trim_start_matches("(?i)")
        .trim_matches(['^', '$', '(', ')']);
    matches!(
        own,
        "" | ".*" | ".+" | "." | ".*?" | ".+?" | "[\\s\\S]*" | "[\\s\\S]+" | ".|\\n"
    )
}

/// The two sides that are compared, where both are to be seen.
pub(super) fn sides(own: &[Token]) -> Option<(String, String)> {
    let joined = |tokens: &[Token]| {
        tokens
            .iter()
            .map(|token| token.text)
            .collect::<Vec<_>>()
            .join(" ")
    };
    if let Some(at) = own.iter().position(|token| {
        token.is("assert_eq")
            || token.is("assertEqual")
            || token.is("assertEquals")
            || token.is("assert_equal")
            || token.is("Equal")
            || token.is("strictEqual")
            || token.is("deepEqual")
    }) {
        let open = at + 1 + usize::from(own.get(at + 1)?.is("!"));
        let args = if own.get(open)?.is("(") {
            arguments(own, open)
        } else {
            list_arguments_without(own, open)
        };
        let args: Vec<&&[Token]> = args.iter().filter(|arg| joined(arg) != "t").collect();
        return Some((joined(args.first()?), joined(args.get(1)?)));
    }
    if own.first()?.is("assert") {
        let at = own.iter().position(|token| token.is("=="))?;
        let end = own
            .iter()
            .position(|token| token.is(","))
            .unwrap_or(own.len());
        return (at < end).then(|| (joined(&own[1..at]), joined(&own[at + 1..end])));
    }
    if own.first()?.is("expect") && own.get(1)?.is("(") {
        let end = close(own, 1);
        let open = (end..own.len()).find(|at| own[*at].is("("))?;
        return Some((
            joined(&own[between(own, 1)]),
            joined(&own[between(own, open)]),
        ));
    }
    None
}

/// The arguments in a parenthesis.
pub(super) fn arguments<'a, 'b>(own: &'b [Token<'a>], open: usize) -> Vec<&'b [Token<'a>]> {
    split_commas(&own[between(own, open)])
}

fn list_arguments_without<'a, 'b>(own: &'b [Token<'a>], from: usize) -> Vec<&'b [Token<'a>]> {
    split_commas(&own[from.min(own.len())..])
}

fn split_commas<'a, 'b>(tokens: &'b [Token<'a>]) -> Vec<&'b [Token<'a>]> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            _ if token.kind != Kind::Mark => {}
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                found.push(&tokens[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if from < tokens.len() {
        found.push(&tokens[from..]);
    }
    found
}
