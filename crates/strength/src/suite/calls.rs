//! Items of JavaScript, where a test is a call with a name and a function.

use super::item::{Item, Sort, is_own_word};
use crate::lex::{Kind, Token, between, close, inside};

const TESTS: [&str; 7] = ["it", "test", "specify", "fit", "xit", "xtest", "xspecify"];
const GROUPS: [&str; 7] = [
    "describe",
    "context",
    "suite",
    "fdescribe",
    "xdescribe",
    "xcontext",
    "feature",
];

/// The items of a text.
pub(super) fn items(tokens: &[Token]) -> Vec<Item> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        found.extend(call(tokens, at).or_else(|| function(tokens, at)));
    }
    found
}

/// `it('adds', …)`, `describe.each(…)('name', …)`, `Deno.test(…)`.
fn call(tokens: &[Token], at: usize) -> Option<Item> {
    let of_deno =
        at >= 2 && tokens[at].is("test") && tokens[at - 1].is(".") && tokens[at - 2].is("Deno");
    let is_any = |names: &[&str]| names.iter().any(|name| is_own_word(tokens, at, name));
    let sort = if is_any(&TESTS) || of_deno {
        Sort::Test
    } else if is_any(&GROUPS) {
        Sort::Group
    } else {
        return None;
    };
    let mut open = at + 1;
    loop {
        let token = tokens.get(open)?;
        if token.is(".") {
            open += 2;
        } else if token.kind == Kind::Text && token.text.starts_with('`') {
            open += 1;
        } else if token.is("(") {
            let named = tokens.get(open + 1)?;
            let is_each = at + 1 < open && is_options(tokens, open);
            if named.kind == Kind::Text && !is_each {
                break;
            }
            // The arguments of `each`, `skipIf` and their like.
            let end = close(tokens, open);
            if at + 1 == open || !tokens.get(end + 1)?.is("(") {
                return None;
            }
            open = end + 1;
        } else {
            return None;
        }
    }
    let name = tokens.get(open + 1)?;
    Some(Item {
        name: inside(name.text).to_owned(),
        sort,
        line: tokens[at].line,
        head: at..open + 2,
        body: open + 2..close(tokens, open).max(open + 2),
    })
}

/// A call whose answer is called: it says how, not what.
fn is_options(tokens: &[Token], open: usize) -> bool {
    tokens
        .get(close(tokens, open) + 1)
        .is_some_and(|next| next.is("("))
}

/// `function name(…) {…}`, `const name = (…) => {…}`.
fn function(tokens: &[Token], at: usize) -> Option<Item> {
    let (named, mut next) = match tokens[at].text {
        "function" => (at + 1, at + 2),
        "const" | "let" | "var" if tokens.get(at + 2)?.is("=") => (at + 1, at + 3),
        _ => return None,
    };
    let name = tokens.get(named).filter(|name| name.kind == Kind::Word)?;
    while ["async", "function", "*"]
        .iter()
        .any(|word| tokens.get(next).is_some_and(|t| t.is(word)))
    {
        next += 1;
    }
    if tokens.get(next)?.is("(") {
        next = close(tokens, next) + 1;
    } else if tokens.get(next + 1)?.is("=>") {
        next += 1;
    } else if !tokens[next].is("<") {
        return None;
    }
    // A type may stand between.
    let limit = (next + 12).min(tokens.len());
    let arrow = (next..limit).find(|at| tokens[*at].is("=>") || tokens[*at].is("{"))?;
    if tokens[named + 1].is("=") && !tokens[arrow].is("=>") {
        return None;
    }
    let begin = if tokens[arrow].is("=>") {
        arrow + 1
    } else {
        arrow
    };
    let (body, head_end) = match tokens.get(begin)?.text {
        "{" => (between(tokens, begin), begin),
        _ => {
            let line = tokens[begin].line;
            let mut end = begin;
            while end < tokens.len()
                && (tokens[end].line == line || tokens[end].is("."))
                && !tokens[end].is(";")
            {
                if matches!(tokens[end].text, "(" | "[" | "{") {
                    end = close(tokens, end);
                }
                end += 1;
            }
            (begin..end, begin)
        }
    };
    Some(Item {
        name: name.text.to_owned(),
        sort: Sort::Helper,
        line: name.line,
        head: at..head_end,
        body,
    })
}
