//! Errors that go unseen in a test, and ends before what it asserts.

use crate::language::Language;
use crate::lex::{Kind, Token, between, close};
use crate::suite::{Suite, line_starts};

/// Lines of these tokens in which an error goes unseen.
pub(super) fn list_swallowed(suite: &Suite, range: &std::ops::Range<usize>) -> Vec<usize> {
    let tokens = &suite.tokens[..range.end];
    let mut found = Vec::new();
    if suite.language == Language::Python || suite.language == Language::Ruby {
        found.extend(in_blocks(suite.language, tokens, range.start));
    }
    for at in range.clone() {
        let next =
            |step: usize, text: &str| tokens.get(at + step).is_some_and(|token| token.is(text));
        let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
        let token = tokens[at];
        let is_one = match suite.language {
            Language::Rust => {
                token.is("let") && next(1, "_") && next(2, "=") && begins(tokens, at)
                    || token.is("ok")
                        && before == "."
                        && next(1, "(")
                        && next(2, ")")
                        && next(3, ";")
                    || token.is("catch_unwind") && next(1, "(")
                    || token.is("if")
                        && next(1, "let")
                        && (next(2, "Ok") || next(2, "Some"))
                        && is_alone(tokens, at)
                    || token.is("unwrap_or_default") && next(1, "(")
                    || (token.is("Err") || token.is("None")) && arm_is_quiet(tokens, at)
                    || token.is("else") && next(1, "{") && else_is_quiet(tokens, at)
                    || token.is("unwrap_or_else") && next(1, "(") && {
                        let end = close(tokens, at + 1);
                        prints(&tokens[at + 2..end.max(at + 2)])
                    }
            }
            Language::Go => {
                token.is("_") && next(1, "=") && (begins(tokens, at))
                    || token.is("recover") && next(1, "(")
                    || token.is("if") && go_returns_quietly(tokens, at)
                    || token.is("if") && go_asks_only_without_error(tokens, at)
                    || token.is("_")
                        && (next(1, ":=") || next(1, "="))
                        && before == ","
                        && begins_call(tokens, at + 2)
            }
            Language::Python => token.is("suppress") && next(1, "("),
            Language::Ruby => {
                token.is("rescue") && (next(1, "nil") || next(1, "false")) && !begins(tokens, at)
            }
            Language::Swift => token.is("try") && next(1, "?"),
            Language::JavaScript if token.is("catch") && before == "." => {
                catches_quietly(tokens, at + 1)
            }
            _ if suite.language.has_braces() => {
                token.is("catch") && before == "}" && catch_is_quiet(tokens, at)
            }
            _ => false,
        };
        if is_one {
            found.push(token.line);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn begins(tokens: &[Token], at: usize) -> bool {
    at == 0
        || tokens[at - 1].line < tokens[at].line
        || matches!(tokens[at - 1].text, ";" | "{" | "}")
}

/// A call stands here, where an error could come from.
fn begins_call(tokens: &[Token], at: usize) -> bool {
    let Some(first) = tokens.get(at) else {
        return false;
    };
    let line = tokens[at..]
        .iter()
        .take_while(|token| token.line == first.line);
    first.kind == Kind::Word && !first.is("range") && line.into_iter().any(|token| token.is("("))
}

/// `if let Ok(x) = … {…}` with nothing for the other case.
fn is_alone(tokens: &[Token], at: usize) -> bool {
    let open = (at..tokens.len()).find(|at| tokens[*at].is("{"));
    open.is_some_and(|open| {
        !tokens
            .get(close(tokens, open) + 1)
            .is_some_and(|next| next.is("else"))
    })
}

/// It says something and fails nothing.
fn prints(tokens: &[Token]) -> bool {
    const SAYS: [&str; 9] = [
        "println", "eprintln", "print", "eprint", "dbg", "log", "tracing", "warn", "info",
    ];
    tokens.iter().any(|token| SAYS.contains(&token.text)) && is_quiet(tokens)
}

/// Nothing in it fails, looks at something or hands an error on.
fn is_quiet(tokens: &[Token]) -> bool {
    let hands_on = |at: usize| {
        let next = tokens.get(at + 1);
        tokens[at].is("?")
            || tokens[at].is("return")
                && next.is_some_and(|next| !matches!(next.text, ";" | "," | "}" | "Ok"))
    };
    !(0..tokens.len()).any(hands_on)
        && !tokens.iter().any(|token| {
            token.kind == Kind::Word
                && (matches!(
                    token.text,
                    "panic" | "unreachable" | "todo" | "exit" | "abort" | "fail"
                ) || token.text.starts_with("assert")
                    || token.text.starts_with("prop_assert"))
        })
}

/// `Err(e) => eprintln!(…)`, `Err(_) => {}`, `Err(_) => return`, `None => ()`.
fn arm_is_quiet(tokens: &[Token], at: usize) -> bool {
    let mut next = at + 1;
    if tokens.get(next).is_some_and(|token| token.is("(")) {
        next = close(tokens, next) + 1;
    }
    if !tokens.get(next).is_some_and(|token| token.is("=>")) {
        return false;
    }
    let begin = next + 1;
    let mut end = begin;
    while end < tokens.len() && !matches!(tokens[end].text, "," | "}" | ")") {
        if matches!(tokens[end].text, "(" | "[" | "{") {
            end = close(tokens, end);
            if tokens[end].is("}") {
                end += 1;
                break;
            }
        }
        end += 1;
    }
    let body = &tokens[begin.min(end)..end.min(tokens.len())];
    let leaves = body.iter().all(|token| {
        matches!(
            token.text,
            "{" | "}" | "(" | ")" | ";" | "return" | "continue" | "Ok"
        )
    });
    !body.is_empty() && (leaves || prints(body))
}

/// `let Ok(x) = … else { return }`, `if let Ok(x) = … {…} else { eprintln!(…) }`.
fn else_is_quiet(tokens: &[Token], at: usize) -> bool {
    let body = &tokens[between(tokens, at + 1)];
    let near = tokens[at.saturating_sub(400)..at].iter().rev();
    let of_let = near
        .take_while(|token| !token.is("let"))
        .filter(|token| token.is("fn"))
        .count()
        == 0;
    let leaves = !body.is_empty()
        && body
            .iter()
            .all(|token| matches!(token.text, "(" | ")" | ";" | "return" | "continue" | "Ok"));
    let of_error = tokens[at.saturating_sub(400)..at]
        .iter()
        .rev()
        .take_while(|token| !token.is("fn"))
        .any(|token| matches!(token.text, "Ok" | "Some"));
    of_let && of_error && (leaves || prints(body))
}

/// `if err != nil { return }`, or one that only logs.
fn go_returns_quietly(tokens: &[Token], at: usize) -> bool {
    let line = tokens[at].line;
    let header: Vec<&Token> = tokens[at..]
        .iter()
        .take_while(|token| token.line == line && !token.is("{"))
        .collect();
    let of_error = header.iter().any(|token| token.is("err"))
        && header.iter().any(|token| token.is("!="))
        && header.iter().any(|token| token.is("nil"));
    let open = at + header.len();
    if !of_error || !tokens.get(open).is_some_and(|token| token.is("{")) {
        return false;
    }
    let body = &tokens[between(tokens, open)];
    let says = |token: &Token| {
        ["Log", "Print", "Fprint"]
            .iter()
            .any(|start| token.text.starts_with(start))
    };
    !body.iter().any(|token| {
        token.kind == Kind::Word
            && ["Err", "Fatal", "Fail", "panic", "Exit", "Equal", "Skip"]
                .iter()
                .any(|start| token.text.starts_with(start))
    }) && !body
        .iter()
        .any(|token| token.is("err") && !body.iter().any(says))
}

/// `if err == nil && got != want {`: with an error nothing fails.
fn go_asks_only_without_error(tokens: &[Token], at: usize) -> bool {
    let line = tokens[at].line;
    let header: Vec<&str> = tokens[at..]
        .iter()
        .take_while(|token| token.line == line && !token.is("{"))
        .map(|token| token.text)
        .collect();
    header
        .windows(4)
        .any(|four| four[0] == "err" && four[1..] == ["==", "nil", "&&"])
}

/// A block of a `catch` that fails nothing, where nothing would have failed without the error.
fn catch_is_quiet(tokens: &[Token], at: usize) -> bool {
    let mut open = at + 1;
    if tokens.get(open).is_some_and(|token| token.is("(")) {
        open = close(tokens, open) + 1;
    }
    if !tokens.get(open).is_some_and(|token| token.is("{")) {
        return false;
    }
    let body = &tokens[between(tokens, open)];
    let mut depth = 0usize;
    let mut begin = at - 1;
    for place in (0..at).rev() {
        match tokens[place].text {
            "}" => depth += 1,
            "{" => {
                depth -= 1;
                if depth == 0 {
                    begin = place;
                    break;
                }
            }
            _ => {}
        }
    }
    let fails = |token: &Token| {
        token.kind == Kind::Word
            && (matches!(token.text, "fail" | "throw" | "XCTFail" | "reject" | "done")
                || token.text == "AssertionError")
    };
    let looks = |token: &Token| {
        fails(token)
            || token.kind == Kind::Word && super::words::is_named_check(token.text)
            || matches!(token.text, "return" | "=" | "push" | "add" | "t")
    };
    let bare = |place: usize| {
        body[place].is("return")
            && body
                .get(place + 1)
                .is_none_or(|next| matches!(next.text, ";" | "}") || next.line > body[place].line)
    };
    !(0..body.len()).any(|place| looks(&body[place]) && !bare(place))
        && !tokens[begin..at].iter().any(fails)
}

/// `.catch(() => {})`, `.catch(() => null)`.
fn catches_quietly(tokens: &[Token], open: usize) -> bool {
    if !tokens.get(open).is_some_and(|token| token.is("(")) {
        return false;
    }
    let body = &tokens[between(tokens, open)];
    let Some(arrow) = body.iter().position(|token| token.is("=>")) else {
        return body.len() == 1 && body[0].is("noop");
    };
    let rest = &body[arrow + 1..];
    rest.iter().all(|token| {
        matches!(
            token.text,
            "{" | "}" | "null" | "undefined" | "(" | ")" | ";"
        )
    }) || rest.iter().any(|token| token.is("console"))
}

/// `except …: pass` of Python, `rescue` with nothing in it of Ruby.
fn in_blocks(language: Language, tokens: &[Token], from: usize) -> Vec<usize> {
    let starts: Vec<usize> = line_starts(&tokens[from..])
        .into_iter()
        .map(|at| from + at)
        .collect();
    let keyword = if language == Language::Python {
        "except"
    } else {
        "rescue"
    };
    let mut found = Vec::new();
    for (place, &at) in starts
        .iter()
        .enumerate()
        .filter(|(_, at)| tokens[**at].is(keyword))
    {
        let column = tokens[at].column;
        let rest = &starts[place + 1..];
        let inner: Vec<usize> = rest
            .iter()
            .copied()
            .take_while(|next| tokens[*next].column > column)
            .collect();
        let end = rest.get(inner.len()).copied().unwrap_or(tokens.len());
        let begin = match language {
            Language::Python => (at..end)
                .find(|at| tokens[*at].is(":"))
                .map_or(end, |at| at + 1),
            _ => inner.first().copied().unwrap_or(end),
        };
        let quiet = |token: &Token| {
            token.kind != Kind::Word
                || matches!(
                    token.text,
                    "pass"
                        | "continue"
                        | "nil"
                        | "print"
                        | "puts"
                        | "logging"
                        | "log"
                        | "e"
                        | "exc"
                        | "err"
                        | "f"
                        | "warning"
                        | "debug"
                        | "info"
                        | "logger"
                        | "message"
                        | "return"
                        | "warn"
                        | "error"
                        | "exception"
                        | "sys"
                        | "stderr"
                        | "stdout"
                        | "write"
                        | "traceback"
                        | "print_exc"
                        | "pprint"
                        | "str"
                        | "repr"
                        | "p"
                )
        };
        let body = &tokens[begin.min(end)..end];
        let try_fails = tokens[from..at]
            .iter()
            .rev()
            .take(40)
            .any(|token| matches!(token.text, "fail" | "AssertionError" | "flunk"));
        let follows_else = tokens.get(end).is_some_and(|next| next.is("else"));
        if body.iter().all(quiet) && !try_fails && !follows_else {
            found.push(tokens[at].line);
        }
    }
    found
}

/// A test ends here before what it asserts: a `return` among its own statements.
pub(super) fn early_return(
    suite: &Suite,
    range: &std::ops::Range<usize>,
    first_assertion: usize,
) -> Option<usize> {
    let tokens = &suite.tokens;
    let mut depth = 0usize;
    for at in range.start..first_assertion.min(range.end) {
        let token = tokens[at];
        match token.text {
            "(" | "[" | "{" if token.kind == Kind::Mark => depth += 1,
            ")" | "]" | "}" if token.kind == Kind::Mark => depth = depth.saturating_sub(1),
            _ => {}
        }
        let bare = tokens.get(at + 1).is_none_or(|next| {
            next.is(";") || next.line > token.line || next.is("}") || next.text == "0"
        });
        if token.is("return") && bare && (depth <= 2) {
            return Some(token.line);
        }
    }
    None
}
