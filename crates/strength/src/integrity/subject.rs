//! What a test is about: the calls whose answers it looks at.

use super::merged::list_locals;
use super::side::Side;
use super::words;
use crate::language::Language;
use crate::lex::{Kind, Token, inside};
use crate::suite::Sort;
use std::collections::{BTreeMap, BTreeSet};

/// Tokens of a statement that are looked at.
const LONGEST: usize = 120;

/// Calls that say nothing of what is tested.
const COMMON: [&str; 58] = [
    "len",
    "str",
    "int",
    "float",
    "list",
    "dict",
    "set",
    "sorted",
    "tuple",
    "bool",
    "repr",
    "type",
    "String",
    "Number",
    "Object",
    "Array",
    "Boolean",
    "Some",
    "Ok",
    "Err",
    "None",
    "unwrap",
    "iter",
    "collect",
    "clone",
    "into",
    "to_string",
    "as_str",
    "if",
    "for",
    "while",
    "switch",
    "match",
    "return",
    "func",
    "function",
    "append",
    "make",
    "string",
    "float64",
    "isinstance",
    "round",
    "abs",
    "min",
    "max",
    "any",
    "all",
    "map",
    "filter",
    "join",
    "fn",
    "async",
    "await",
    "lambda",
    "and",
    "not",
    "in",
    "catch",
];

/// A call's name, and the byte where it stands.
pub(super) type Call<'a> = (&'a str, usize);

/// The calls that answer each name; of one that is answered again, the last by each call.
pub(super) type Given<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

pub(super) fn call_at<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    let token = tokens[at];
    let is_call = token.kind == Kind::Word && tokens.get(at + 1).is_some_and(|next| next.is("("));
    let own = token.text;
    let said = COMMON.contains(&own)
        || words::is_vocabulary(own)
        || words::is_named_check(own)
        || words::FAILS.contains(&own)
        || words::RAISES.contains(&own);
    (is_call && !said).then_some(own)
}

/// The same with what is given to names beside the test: in its set-up, by fixtures that it asks for.
pub(super) fn list_given_around<'a>(side: &Side<'a>) -> Given<'a> {
    let mut found = list_given(side);
    let suite = side.suite;
    for range in super::shared::list_loose(suite, true) {
        for (name, calls) in list_given_among(&suite.tokens[range]) {
            if !matches!(name, "self" | "this") {
                found.entry(name).or_insert(calls);
            }
        }
    }
    let head: BTreeSet<&str> = suite.tokens[side.item.head.clone()]
        .iter()
        .map(|one| one.text)
        .collect();
    for fixture in suite.items.iter().filter(|item| item.sort == Sort::Helper) {
        let tokens = &suite.tokens[fixture.head.start..fixture.body.end];
        let name = tokens.iter().find(|one| one.text == fixture.name);
        if let Some(name) = name.filter(|one| head.contains(one.text)) {
            let places = fixture.body.clone();
            let calls =
                places.filter_map(|at| Some((call_at(&suite.tokens, at)?, suite.tokens[at].at)));
            found.entry(name.text).or_default().extend(calls);
        }
    }
    found
}

/// What answers each name that a test gives: the calls in what it is given.
pub(super) fn list_given<'a>(side: &Side<'a>) -> Given<'a> {
    if side.suite.language == Language::Shell {
        let mut found: Given<'a> = BTreeMap::new();
        give_in_shell(side.tokens(), &mut found);
        return found;
    }
    list_given_among(side.tokens())
}

fn list_given_among<'a>(tokens: &[Token<'a>]) -> Given<'a> {
    let mut found: Given<'a> = BTreeMap::new();
    let own = list_locals(tokens);
    for (at, token) in tokens.iter().enumerate() {
        let assigns = token.is("=") || token.is(":=");
        let through = tokens.get(at + 1).is_some_and(|next| next.is("range"));
        if !assigns || through {
            continue;
        }
        let line = tokens[at].line;
        let names = tokens[..at]
            .iter()
            .rev()
            .take_while(|one| {
                one.line == line && !matches!(one.text, ";" | "{" | "}" | "=") || one.is("}")
            })
            .take(16)
            .filter(|one| own.contains(one.text) || one.kind == Kind::Word && one.text.len() > 1);
        let names: Vec<&str> = names.map(|one| one.text).collect();
        let mut depth = 0usize;
        let mut calls = Vec::new();
        for next in at + 1..(at + LONGEST).min(tokens.len()) {
            let one = tokens[next];
            match one.text {
                "(" | "[" | "{" if one.kind == Kind::Mark => depth += 1,
                ")" | "]" | "}" if one.kind == Kind::Mark => {
                    if depth == 0 {
                        break;
                    }
                    depth -= 1;
                }
                _ => {}
            }
            let ends = depth == 0
                && (one.is(";")
                    || one.line > tokens[next - 1].line && !one.is(".") && next > at + 1);
            if ends {
                break;
            }
            calls.extend(call_at(tokens, next).map(|name| (name, one.at)));
        }
        for name in names {
            found.entry(name).or_default().extend(calls.iter().copied());
        }
    }
    found
}

/// `got=$(slug "$1")`, `run slug x`: what answers `$got`, `$output`, `$status`, `$lines`.
fn give_in_shell<'a>(tokens: &[Token<'a>], found: &mut Given<'a>) {
    for (at, token) in tokens.iter().enumerate() {
        if token.is("run") {
            let command = tokens.get(at + 1).filter(|next| next.line == token.line);
            let own = command.map(|next| (last_part(inside(next.text)), next.at));
            for name in ["output", "status", "lines"] {
                found.entry(name).or_default().extend(own);
            }
            continue;
        }
        let Some((name, value)) = token.text.split_once('=') else {
            continue;
        };
        if token.kind == Kind::Word && !name.is_empty() {
            let whole = if value.is_empty() {
                tokens.get(at + 1).map_or("", |next| next.text)
            } else {
                value
            };
            let own = commands(whole).into_iter();
            found
                .entry(name)
                .or_default()
                .extend(own.map(|name| (name, token.at)));
        }
    }
}

/// What the `$( … )` in a text run.
pub(super) fn commands(text: &str) -> Vec<&str> {
    let parts = text.split("$(").skip(1);
    let firsts = parts
        .flat_map(|part| part.split('|').take(4))
        .filter_map(|part| {
            let first = part.split_whitespace().next()?;
            Some(last_part(first.trim_matches([')', '"', '\''])))
        });
    firsts.filter(|name| is_command_name(name)).collect()
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_command_name(name: &str) -> bool {
    const TOOLS: [&str; 22] = [
        "cat", "printf", "echo", "head", "tail", "sed", "awk", "grep", "cut", "tr", "wc", "sort",
        "pwd", "dirname", "basename", "mktemp", "date", "cd", "ls", "jq", "git", "find",
    ];
    name.len() > 1
        && !TOOLS.contains(&name)
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

/// The calls whose answers a test looks at.
pub(super) fn list_subjects<'a>(side: &Side<'a>) -> BTreeSet<&'a str> {
    let given = list_given(side);
    let mut found = BTreeSet::new();
    for one in &side.assertions {
        let tokens = &side.suite.tokens[one.tokens.clone()];
        let calls = list_answering(side.suite.language, tokens, &given);
        found.extend(calls.into_iter().map(|(name, _)| name));
    }
    found
}

/// The calls in some tokens, and those that answer the names in them.
pub(super) fn list_answering<'a>(
    language: Language,
    tokens: &[Token<'a>],
    given: &Given<'a>,
) -> Vec<Call<'a>> {
    let mut found = Vec::new();
    let assigned: BTreeSet<&str> = tokens
        .windows(2)
        .filter(|two| two[1].is(":="))
        .map(|two| two[0].text)
        .collect();
    for (at, token) in tokens.iter().enumerate().take(LONGEST * 4) {
        if language == Language::Shell {
            for name in commands(token.text) {
                found.push((name, token.at));
            }
            for name in token.text.split('$').skip(1).take(4) {
                let name = name.trim_start_matches(['{', '#']);
                let ends = |c: char| !(c.is_alphanumeric() || c == '_');
                let (name, _) = name.split_at(name.find(ends).unwrap_or(name.len()));
                found.extend(
                    given
                        .get(name)
                        .into_iter()
                        .flatten()
                        .map(|(name, at)| (*name, *at)),
                );
            }
            continue;
        }
        if let Some(name) = call_at(tokens, at) {
            found.push((name, token.at));
        }
        let called = tokens.get(at + 1).is_some_and(|next| next.is("("));
        let own = token.kind == Kind::Word && !called && !assigned.contains(token.text);
        let calls = given.get(token.text).into_iter().flatten();
        found.extend(calls.filter(|_| own).map(|(name, at)| (*name, *at)));
    }
    found
}
