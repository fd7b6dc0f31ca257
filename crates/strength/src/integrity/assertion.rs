//! What a test asserts: where, and how much each assertion would notice.

use super::extent::{call_extent, extent};
use super::strength::{Strength, fails, strength};
use super::words;
use crate::language::Language;
use crate::lex::{Kind, Token, close};
use crate::suite::{Suite, line_starts};
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assertion {
    pub line: usize,
    pub strength: Strength,
    pub tokens: Range<usize>,
    /// Assertions that a call of a helper stands for.
    pub weight: usize,
    /// Conditions that it stands under.
    pub guards: usize,
}

/// Helpers that assert, by name: how much, and how many times.
pub(super) type Helpers = BTreeMap<String, (Strength, usize)>;

/// Rounds in which helpers that call asserting helpers are found.
const ROUNDS: usize = 3;

/// Helpers of these texts that assert, by themselves or through others.
pub(super) fn asserting_helpers<'a>(
    suites: impl Iterator<Item = &'a Suite<'a>> + Clone,
) -> Helpers {
    let mut found = Helpers::new();
    for _ in 0..ROUNDS {
        let mut next = Helpers::new();
        for suite in suites.clone() {
            let helpers = suite
                .items
                .iter()
                .filter(|item| item.sort == crate::suite::Sort::Helper);
            for helper in helpers {
                let inside = assertions(suite, &helper.body, &found);
                let weight: usize = inside.iter().map(|one| one.weight).sum();
                let most = inside.iter().map(|one| one.strength).max();
                if let Some(strength) = most.filter(|most| *most > Strength::Idle) {
                    next.insert(helper.name.clone(), (strength, weight.max(1)));
                }
            }
        }
        let settled = next == found;
        found = next;
        if settled {
            break;
        }
    }
    found
}

/// The assertions among some tokens of a text.
pub(super) fn assertions(suite: &Suite, range: &Range<usize>, helpers: &Helpers) -> Vec<Assertion> {
    let tokens = &suite.tokens;
    let guards = guards(suite, range);
    let catches = tokens[range.clone()]
        .iter()
        .any(|token| matches!(token.text, "catch" | "except" | "rescue"));
    let mut found: Vec<Assertion> = Vec::new();
    let starts = match suite.language {
        Language::Python | Language::Ruby | Language::Elixir => starts_in(tokens, range),
        _ => Vec::new(),
    };
    let mut at = range.start;
    while at < range.end {
        let helper = helpers
            .get(tokens[at].text)
            .filter(|_| tokens[at].kind == Kind::Word && is_called(suite.language, tokens, at));
        let is_own = begins(suite.language, tokens, at);
        if !is_own && helper.is_none() {
            at += 1;
            continue;
        }
        let extent = match helper {
            Some(_) if !is_own => call_extent(tokens, at, range.end),
            _ => extent(suite.language, tokens, &starts, at, range),
        };
        let strength = match helper {
            Some(_) if is_given_constant(tokens, &extent) => Strength::Truth,
            Some((strength, _)) => *strength,
            // What fails where an error was expected looks at a kind of error.
            None if suite.language == Language::JavaScript && goes_unawaited(tokens, &extent) => {
                Strength::Idle
            }
            None if catches && fails(&tokens[extent.clone()]) => Strength::Partial,
            None => strength(suite.language, tokens, &extent),
        };
        found.push(Assertion {
            line: tokens[at].line,
            strength,
            weight: helper.map_or(1, |(_, weight)| *weight),
            guards: guards.iter().filter(|guard| guard.contains(&at)).count(),
            tokens: extent.clone(),
        });
        at = extent.end.max(at + 1);
    }
    found
}

/// Tokens of a range that begin a line where nothing is open.
fn starts_in(tokens: &[Token], range: &Range<usize>) -> Vec<usize> {
    let starts = line_starts(&tokens[range.clone()]).into_iter();
    starts.map(|at| range.start + at).collect()
}

fn is_called(language: Language, tokens: &[Token], at: usize) -> bool {
    match language {
        Language::Shell => is_command(tokens, at),
        Language::Ruby | Language::Elixir => true,
        Language::Rust if tokens.get(at + 1).is_some_and(|next| next.is("!")) => true,
        _ => tokens
            .get(at + 1)
            .is_some_and(|next| next.is("(") || next.is("<") || next.is("::")),
    }
}

/// A word that a shell runs.
pub(super) fn is_command(tokens: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| tokens[at]) else {
        return true;
    };
    crate::suite::last_line(&before) < tokens[at].line && !before.text.ends_with('\\')
        || matches!(
            before.text,
            ";" | "&&"
                | "||"
                | "|"
                | "then"
                | "do"
                | "else"
                | "!"
                | "if"
                | "elif"
                | "{"
                | "("
                | "while"
                | "run"
        )
}

/// An assertion begins with this token.
fn begins(language: Language, tokens: &[Token], at: usize) -> bool {
    use Language::*;
    let token = tokens[at];
    if token.kind != Kind::Word && !(language == Shell && token.is("[")) {
        return false;
    }
    let word = token.text;
    let next = |text: &str| tokens.get(at + 1).is_some_and(|next| next.is(text));
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
    match language {
        Rust => {
            let of_error = matches!(word, "unwrap_err" | "expect_err") && next("(");
            let is_macro = next("!")
                && (words::RUST_MACROS
                    .iter()
                    .any(|start| word.starts_with(start)));
            of_error
                || is_macro
                || next("(") && words::is_named_check(word) && word != "expect" && before != "fn"
        }
        Python => {
            word == "assert"
                || matches!(
                    word,
                    "raises" | "warns" | "deprecated_call" | "fail" | "fails"
                ) && next("(")
                || word == "AssertionError" && before == "raise"
                || next("(") && words::is_named_check(word) && before != "def"
        }
        JavaScript => {
            let asked = before == "t"
                || before == "." && at > 1 && matches!(tokens[at - 2].text, "t" | "assert" | "is");
            word == "should" && before == "."
                || word == "assert" && (next("(") || next("."))
                || next("(")
                    && (words::is_named_check(word) || word == "fail")
                    && before != "function"
                    && !(word == "expect" && before != "." && lacks_matcher(tokens, at + 1))
                || asked && next("(") && words::TAP.contains(&word)
                || word == "throw"
        }
        Go => {
            let of_test = before == "."
                && at > 1
                && matches!(tokens[at - 2].text, "t" | "b" | "tb" | "f" | "T");
            let fails = of_test
                && ["Error", "Fatal", "Fail"]
                    .iter()
                    .any(|start| word.starts_with(start));
            fails
                || matches!(word, "require" | "assert" | "is" | "qt" | "c")
                    && next(".")
                    && before != "."
                || next("(") && words::is_named_check(word) && before != "func" && before != "."
                || word == "panic" && next("(")
        }
        Shell => {
            let exits = matches!(word, "exit" | "return")
                && tokens
                    .get(at + 1)
                    .is_some_and(|code| code.text != "0" && code.line == token.line);
            is_command(tokens, at)
                && (matches!(
                    word,
                    "[" | "[[" | "test" | "grep" | "egrep" | "diff" | "cmp" | "fail" | "die"
                ) || exits
                    || words::is_named_check(word))
        }
        Ruby => {
            words::is_named_check(word) && word != "require" && before != "def"
                || ["must_", "wont_", "refute"]
                    .iter()
                    .any(|start| word.starts_with(start))
                    && before != "def"
                || matches!(word, "is_expected" | "flunk")
        }
        Elixir => {
            ["assert", "refute"]
                .iter()
                .any(|start| word.starts_with(start))
                || word == "flunk"
        }
        C => {
            next("(")
                && (words::C_MACROS.iter().any(|start| word.starts_with(start))
                    || words::is_named_check(word))
        }
        _ => {
            let infix = (word.starts_with("should") || word == "Should") && before != "fun";
            infix
                || (next("(") || next(".") || next("<") || next("{"))
                    && (words::is_named_check(word)
                        || word == "fail"
                        || word == "XCTFail"
                        || word == "Assert")
                    && !matches!(before, "fun" | "void" | "new" | "import")
        }
    }
}

/// `check(user, True)`: whether it is so, is all that the helper is asked.
fn is_given_constant(tokens: &[Token], extent: &Range<usize>) -> bool {
    let own = &tokens[extent.clone()];
    let last = own.len().checked_sub(2).map(|at| own[at]);
    own.last().is_some_and(|end| end.is(")"))
        && last.is_some_and(|last| words::CONSTANTS.contains(&last.text))
}

/// `expect(x);`, `expect(x).toBeTruthy;`: nothing is asked of it.
fn lacks_matcher(tokens: &[Token], open: usize) -> bool {
    let mut at = close(tokens, open) + 1;
    let mut last = "";
    while tokens
        .get(at)
        .is_some_and(|next| matches!(next.text, "." | "?."))
    {
        last = tokens.get(at + 1).map_or("", |next| next.text);
        at += 2;
        if tokens.get(at).is_some_and(|next| next.is("(")) {
            return false;
        }
    }
    let is_call = |rest: &str| rest.starts_with(|c: char| c.is_uppercase());
    matches!(last, "" | "not" | "resolves" | "rejects")
        || last.strip_prefix("to").is_some_and(is_call)
}

/// `expect(f()).rejects.toThrow()` that nobody waits for: it fails no test.
fn goes_unawaited(tokens: &[Token], extent: &Range<usize>) -> bool {
    let own = &tokens[extent.clone()];
    let later = own
        .iter()
        .any(|token| matches!(token.text, "rejects" | "resolves"))
        || own
            .iter()
            .any(|token| matches!(token.text, "throwsAsync" | "rejectedWith"));
    let first = extent.start.checked_sub(1).map(|at| tokens[at]);
    let begins = first.is_none_or(|before| {
        matches!(before.text, ";" | "{" | "}")
            || before.line < tokens[extent.start].line
                && !matches!(
                    before.text,
                    "(" | "[" | "," | "=>" | "return" | "await" | "="
                )
    });
    later && begins
}

/// Blocks that run only under a condition, and nothing else in their place.
fn guards(suite: &Suite, range: &Range<usize>) -> Vec<Range<usize>> {
    let tokens = &suite.tokens;
    let mut found = Vec::new();
    if suite.language == Language::Python {
        let starts = starts_in(tokens, range);
        for (place, &at) in starts
            .iter()
            .enumerate()
            .filter(|(_, at)| tokens[**at].is("if"))
        {
            let rest = &starts[place + 1..];
            let after = rest
                .iter()
                .find(|next| tokens[**next].column <= tokens[at].column)
                .copied();
            let else_follows = after.is_some_and(|next| {
                tokens[next].column == tokens[at].column
                    && matches!(tokens[next].text, "else" | "elif")
            });
            if !else_follows {
                found.push(at..after.unwrap_or(range.end));
            }
        }
    } else if suite.language.has_braces() {
        for at in range.clone().filter(|at| tokens[*at].is("if")) {
            let mut open = at + 1;
            while open < range.end && !tokens[open].is("{") && !tokens[open].is(";") {
                if matches!(tokens[open].text, "(" | "[") {
                    open = close(&tokens[..range.end], open);
                }
                open += 1;
            }
            if open >= range.end || !tokens[open].is("{") {
                continue;
            }
            let end = close(&tokens[..range.end], open);
            let else_follows = tokens.get(end + 1).is_some_and(|next| next.is("else"));
            if !else_follows {
                found.push(open..end);
            }
        }
    }
    found
}

/// The tokens of an assertion, as one text.
pub(super) fn text(tokens: &[Token], range: &Range<usize>) -> String {
    let words: Vec<&str> = tokens[range.clone()]
        .iter()
        .map(|token| token.text)
        .collect();
    words.join(" ")
}
