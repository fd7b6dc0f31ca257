//! Numbers that have names: tolerances and bounds that stand beside a test.

use crate::lex::{Kind, Token};
use crate::suite::Suite;
use std::collections::BTreeMap;

/// A number by each name that is given one and no other.
pub(super) type Constants<'a> = BTreeMap<&'a str, Option<f64>>;

/// A number as it stands, with what may hang on it: `1_000`, `1e-3f64`, `5ms`.
pub(super) fn read_number(text: &str) -> Option<f64> {
    let plain = text.replace('_', "");
    let own = ["f64", "f32", "f", "L", "d"]
        .iter()
        .find_map(|end| plain.strip_suffix(end))
        .unwrap_or(&plain);
    own.parse::<f64>().ok()
}

/// `EPS = 1e-3`, `const EPS: f64 = 1e-3`, `eps := 1e-3`, `tol: float = 1e-3`, `EPS=3` of a shell.
pub(super) fn list_constants<'a>(tokens: &[Token<'a>]) -> Constants<'a> {
    let mut found = Constants::new();
    let mut note = |name: &'a str, value: Option<f64>| {
        found
            .entry(name)
            .and_modify(|known| {
                if *known != value {
                    *known = None;
                }
            })
            .or_insert(value);
    };
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Word {
            if let Some((name, value)) = token.text.split_once('=')
                && !name.is_empty()
                && let Some(value) = read_number(value)
            {
                note(name, Some(value));
            }
            continue;
        }
        if !(token.is("=") || token.is(":=")) {
            continue;
        }
        let value = tokens
            .get(at + 1)
            .filter(|value| value.kind == Kind::Number)
            .filter(|_| ends_value(tokens, at + 2))
            .and_then(|value| read_number(value.text));
        if let Some(name) = find_name(tokens, at) {
            note(name, value);
        }
    }
    found
}

/// Nothing more belongs to the value.
fn ends_value(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_none_or(|next| {
        matches!(next.text, ";" | "," | ")" | "}") || next.line > tokens[at - 1].line
    })
}

/// The name before `=`, and before its type.
fn find_name<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    let before = at.checked_sub(1)?;
    let typed = before > 1 && tokens[before - 1].is(":");
    let go_typed = before > 1
        && tokens[before].kind == Kind::Word
        && tokens[before - 1].kind == Kind::Word
        && matches!(tokens[before - 2].text, "const" | "var");
    let place = if typed {
        before - 2
    } else if go_typed {
        before - 1
    } else {
        before
    };
    let name = tokens.get(place)?;
    (name.kind == Kind::Word).then_some(name.text)
}

/// Of what stands outside of tests.
pub(super) fn list_loose<'a>(suite: &Suite<'a>) -> Constants<'a> {
    list_constants(&suite.list_untested())
}

/// The tokens with numbers in place of the names that stand for one.
pub(super) fn resolve<'t>(
    tokens: &[Token<'t>],
    own: &Constants,
    loose: &Constants,
) -> Vec<(&'t str, Option<f64>)> {
    let number = |at: usize, token: &Token<'t>| match token.kind {
        Kind::Number => read_number(token.text),
        Kind::Word => {
            let asked = at > 0 && matches!(tokens[at - 1].text, "." | "?.");
            let name = token.text.trim_start_matches('$').trim_matches(['{', '}']);
            let named = own.get(name).or_else(|| loose.get(name)).copied().flatten();
            named.filter(|_| !asked)
        }
        Kind::Text => {
            let name = crate::lex::inside(token.text);
            let name = name.strip_prefix('$')?.trim_matches(['{', '}']);
            own.get(name).or_else(|| loose.get(name)).copied().flatten()
        }
        _ => None,
    };
    tokens
        .iter()
        .enumerate()
        .map(|(at, token)| (token.text, number(at, token)))
        .collect()
}
