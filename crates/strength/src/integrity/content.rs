//! What a test is about: the words and the values in it.

use super::merged;
use super::words;
use crate::language::Language;
use crate::lex::{Kind, Token, inside};
use crate::suite::{Item, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// The words and the values in some tokens.
#[derive(Debug, Default, Clone)]
pub(super) struct Content<'a> {
    pub words: BTreeSet<&'a str>,
    pub values: BTreeSet<&'a str>,
}

impl<'a> Content<'a> {
    /// What these tokens name, but for what they name themselves.
    pub(super) fn of(language: Language, tokens: &[Token<'a>]) -> Self {
        let mut found = Self::default();
        if language == Language::Shell {
            found.add_shell(tokens);
            return found;
        }
        let own = merged::list_locals(tokens);
        for (at, token) in tokens.iter().enumerate() {
            if is_said(tokens, at) {
                continue;
            }
            match token.kind {
                Kind::Word if !own.contains(token.text) && !is_plain(token.text) => {
                    found.words.insert(token.text);
                }
                Kind::Number => {
                    found.values.insert(token.text);
                }
                // A format of Go says what went wrong.
                Kind::Text if language != Language::Go || !token.text.contains('%') => {
                    let text = inside(token.text);
                    // Of a text of many lines each is one.
                    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                    match text.contains('\n') {
                        true => found.values.extend(lines),
                        false => found.values.extend([text]),
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// In a shell the parts of a path or a text are words, however it is put together and quoted.
    fn add_shell(&mut self, tokens: &[Token<'a>]) {
        // What is said of a failure tells nothing.
        let mut says = 0;
        for token in tokens.iter().filter(|one| one.kind != Kind::Mark) {
            if matches!(token.text, "fail" | "die" | "echo" | "printf") {
                says = token.line;
            }
            if says == token.line && token.kind == Kind::Text {
                continue;
            }
            let own = token
                .text
                .split_once('=')
                .map_or(token.text, |(name, rest)| {
                    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                    if plain { rest } else { token.text }
                });
            for (place, part) in own.split('$').enumerate() {
                let name = |c: char| !(c.is_alphanumeric() || "_{".contains(c));
                let rest = match place {
                    0 => part,
                    _ => part.trim_start_matches(|c| !name(c)),
                };
                for word in rest.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                    if word.chars().all(|c| c.is_ascii_digit()) && !word.is_empty() {
                        self.values.insert(word);
                    } else if !word.is_empty() && !SHELL.contains(&word) {
                        self.words.insert(word);
                    }
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len() + self.values.len()
    }

    /// Shares of the words and values that the others hold.
    pub(super) fn measure_cover(&self, by: &[&Content]) -> (f64, f64) {
        let share = |held: usize, all: usize| match all {
            0 => 1.0,
            all => held as f64 / all as f64,
        };
        let words = self.words.iter();
        let words = words.filter(|word| by.iter().any(|other| other.words.contains(*word)));
        let values = self.values.iter();
        let values = values.filter(|value| by.iter().any(|other| other.values.contains(*value)));
        (
            share(words.count(), self.words.len()),
            share(values.count(), self.values.len()),
        )
    }
}

/// Words of languages that say nothing of what is tested.
const KEYWORDS: [&str; 46] = [
    "as", "str", "let", "const", "var", "mut", "fn", "def", "func", "function", "return", "if",
    "else", "for", "in", "of", "async", "await", "new", "void", "public", "private", "val", "fun",
    "do", "end", "pass", "range", "err", "t", "self", "this", "tt", "tc", "want", "got",
    "expected", "actual", "name", "struct", "testing", "T", "done", "Helper", "Parallel", "Fatalf",
];
/// The same of shells.
const SHELL: [&str; 26] = [
    "fail", "die", "if", "then", "fi", "else", "do", "done", "for", "in", "while", "exit", "set",
    "local", "eq", "ne", "run", "status", "output", "lines", "dev", "null", "echo", "test",
    "return", "refute",
];

fn is_plain(word: &str) -> bool {
    words::is_vocabulary(word)
        || words::RAISES.contains(&word)
        || words::is_named_check(word)
        || KEYWORDS.contains(&word)
        || word == "_"
}

/// A text that stands for itself: it says what a test is for, or what went wrong. An index says only
/// where.
pub(super) fn is_said(tokens: &[Token], at: usize) -> bool {
    let token = tokens[at];
    let before = at.checked_sub(1).map(|at| tokens[at]);
    let after = tokens.get(at + 1);
    match token.kind {
        Kind::Text => {
            let begins = before.is_none_or(|before| {
                before.is(":") || before.line < token.line && before.kind != Kind::Mark
            });
            begins
                && token.text.len() > 5
                && token.text.starts_with("\"\"\"")
                && after.is_none_or(|after| after.line > token.line)
                || is_message(tokens, at)
        }
        Kind::Number => {
            let of_word = at > 1
                && (tokens[at - 2].kind == Kind::Word || matches!(tokens[at - 2].text, ")" | "]"));
            before.is_some_and(|before| before.is("["))
                && after.is_some_and(|after| after.is("]"))
                && of_word
                && !tokens[at - 2].is("vec")
        }
        _ => false,
    }
}

/// `t.Error("…")`, `t.Fatal("…")`: what is said of a failure.
fn is_message(tokens: &[Token], at: usize) -> bool {
    if is_message_of_macro(tokens, at) {
        return true;
    }
    let Some(call) = at.checked_sub(2) else {
        return false;
    };
    tokens[at - 1].is("(")
        && matches!(
            tokens[call].text,
            "Error" | "Fatal" | "Errorf" | "Fatalf" | "Log" | "Logf"
        )
        && call > 0
        && tokens[call - 1].is(".")
}

/// `assert_eq!(a, b, "…")`
fn is_message_of_macro(tokens: &[Token], at: usize) -> bool {
    let (mut depth, mut commas) = (0usize, 0usize);
    for place in (at.saturating_sub(60)..at).rev() {
        match tokens[place].text {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            "(" => {
                let named = place > 1 && tokens[place - 1].is("!");
                let least = match named.then(|| tokens[place - 2].text) {
                    Some("assert" | "debug_assert") => 1,
                    Some("assert_eq" | "assert_ne" | "debug_assert_eq") => 2,
                    _ => return false,
                };
                return commas >= least;
            }
            "[" | "{" | ";" => return false,
            "," if depth == 0 => commas += 1,
            _ => {}
        }
    }
    false
}

/// What stands outside of tests, and how often.
#[derive(Default)]
struct Loose<'a> {
    words: BTreeMap<&'a str, usize>,
    values: BTreeMap<&'a str, usize>,
}

impl<'a> Loose<'a> {
    fn of(suite: &Suite<'a>) -> Self {
        let mut found = Self::default();
        let tests: Vec<&Item> = suite.tests().map(|(test, _)| test).collect();
        let mut next = 0;
        let mut at = 0;
        while at < suite.tokens.len() {
            while next < tests.len() && tests[next].body.end <= at {
                next += 1;
            }
            if next < tests.len() && tests[next].head.start <= at {
                at = tests[next].body.end.max(at + 1);
                continue;
            }
            let token = suite.tokens[at];
            match token.kind {
                Kind::Number | Kind::Text => {
                    *found.values.entry(inside(token.text)).or_default() += 1;
                }
                Kind::Word if suite.language != Language::Shell => {
                    *found.words.entry(token.text).or_default() += 1;
                }
                Kind::Word => {
                    let mut own = Content::default();
                    own.add_shell(&[token]);
                    for word in own.words {
                        *found.words.entry(word).or_default() += 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }
}

/// What stands outside of tests more often now than before: rows of tables, fixtures, helpers.
pub(super) fn list_fresh<'a>(before: Option<&Suite<'a>>, after: Option<&Suite<'a>>) -> Content<'a> {
    let was = before.map(Loose::of).unwrap_or_default();
    let is = after.map(Loose::of).unwrap_or_default();
    let more = |is: BTreeMap<&'a str, usize>, was: &BTreeMap<&str, usize>| {
        is.into_iter()
            .filter(|(one, count)| was.get(one).copied().unwrap_or(0) < *count)
            .map(|(one, _)| one)
            .collect()
    };
    Content {
        words: more(is.words, &was.words),
        values: more(is.values, &was.values),
    }
}
