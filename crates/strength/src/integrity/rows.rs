//! Rows of tables that tests go through: what is a row, and what it holds.

use crate::language::Language;
use crate::lex::{Kind, Token, inside};
use crate::suite::Suite;
use std::collections::BTreeSet;

/// Tokens between a name and the table that it is given.
const NEAR: usize = 60;
/// Tokens of a row that are read.
const LONGEST: usize = 400;

/// A row, as it stands in a text.
#[derive(Debug)]
pub(super) struct Row {
    pub at: usize,
    pub line: usize,
    /// What it holds, in order.
    pub cells: Vec<String>,
}

impl Row {
    pub(super) fn key(&self) -> String {
        self.cells.join("\u{1}")
    }
}

/// Words before what is gone through.
const THROUGH: [&str; 3] = ["in", "of", "range"];
/// Calls and methods that go through what they are given, or are asked of.
const EACH: [&str; 14] = [
    "each",
    "forEach",
    "iter",
    "into_iter",
    "items",
    "entries",
    "parametrize",
    "expand",
    "enumerate",
    "zip",
    "data",
    "values",
    "cases",
    "product",
];
/// Attributes of Rust that are a row each.
const ATTRIBUTES: [&str; 4] = ["case", "test_case", "values", "parameterized"];

/// The rows of every table in a text.
pub(super) fn list_rows(suite: &Suite) -> Vec<Row> {
    let tokens = &suite.tokens;
    let ends = close_all(tokens);
    let through = list_names(tokens, &ends);
    let mut found = Vec::new();
    let mut opened = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if suite.language == Language::Shell {
            rows_of_shell(tokens, at, &mut found);
            continue;
        }
        let is_next = |text: &str| tokens.get(at + 1).is_some_and(|next| next.is(text));
        if token.kind == Kind::Word && EACH.contains(&token.text) {
            if is_next("(") {
                let table = first_open(tokens, at + 2, ends[at + 1]);
                let lists = tables_among(tokens, &ends, at + 1, table);
                opened.extend(lists);
            }
            if let Some(text) = tokens.get(at + 1).filter(|next| next.text.starts_with('`')) {
                rows_of_text(text, at + 1, 1, &mut found);
            }
        }
        let made = token.kind == Kind::Word && through.contains(token.text) && is_made(tokens, at);
        if THROUGH.contains(&token.text) && token.kind == Kind::Word || made {
            opened.extend(find_table(suite.language, tokens, &ends, at, made));
        }
        if token.is("[") {
            let asked = tokens.get(ends[at] + 1).is_some_and(|next| next.is("."))
                && tokens
                    .get(ends[at] + 2)
                    .is_some_and(|next| EACH.contains(&next.text));
            let of_attribute = at > 0 && tokens[at - 1].is("#");
            if asked {
                opened.insert(at);
            } else if of_attribute {
                rows_of_attribute(tokens, &ends, at, &mut found);
            }
        }
    }
    for open in opened {
        for element in split(tokens, &ends, open) {
            push(tokens, element, &mut found);
        }
    }
    found.sort_by_key(|row| row.at);
    found
}

/// Where each bracket closes; what opens none, at itself.
fn close_all(tokens: &[Token]) -> Vec<usize> {
    let mut ends: Vec<usize> = (0..tokens.len()).collect();
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Mark {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => open.push(at),
            ")" | "]" | "}" => {
                if let Some(begin) = open.pop() {
                    ends[begin] = at;
                }
            }
            _ => {}
        }
    }
    ends
}

/// Names of what is gone through somewhere.
fn list_names<'a>(tokens: &[Token<'a>], ends: &[usize]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Word {
            continue;
        }
        let mut next = at + 1;
        if THROUGH.contains(&token.text) {
            while tokens
                .get(next)
                .is_some_and(|one| matches!(one.text, "&" | "*" | "("))
            {
                next += 1;
            }
            found.extend(
                tokens
                    .get(next)
                    .filter(|one| one.kind == Kind::Word)
                    .map(|one| one.text),
            );
        }
        if EACH.contains(&token.text) {
            if at > 1 && tokens[at - 1].is(".") && tokens[at - 2].kind == Kind::Word {
                found.insert(tokens[at - 2].text);
            }
            if tokens.get(next).is_some_and(|one| one.is("(")) {
                let inner = tokens[next + 1..ends[next].max(next + 1)].iter().take(8);
                found.extend(
                    inner
                        .filter(|one| one.kind == Kind::Word)
                        .map(|one| one.text),
                );
            }
        }
    }
    found
}

/// The name is given its value here.
fn is_made(tokens: &[Token], at: usize) -> bool {
    let declared = at > 0
        && matches!(
            tokens[at - 1].text,
            "const" | "let" | "var" | "static" | "mut" | "val" | "readonly"
        );
    let first = at == 0 || tokens[at - 1].line < tokens[at].line;
    let given = tokens
        .get(at + 1)
        .is_some_and(|next| matches!(next.text, "=" | ":="));
    declared || first && given || given && at > 0 && matches!(tokens[at - 1].text, ";" | "{")
}

/// The bracket of the table that is gone through here, or that a name is given here.
fn find_table(
    language: Language,
    tokens: &[Token],
    ends: &[usize],
    at: usize,
    made: bool,
) -> Option<usize> {
    let mut next = at + 1;
    if made {
        let near = (next + NEAR).min(tokens.len());
        next = (next..near)
            .take_while(|at| !tokens[*at].is(";"))
            .find(|at| tokens[*at].is("=") || tokens[*at].is(":="))?
            + 1;
    }
    for _ in 0..NEAR {
        let token = tokens.get(next)?;
        match token.text {
            "[" if language == Language::Go => next = ends[next] + 1,
            "{" if language == Language::Go => {
                if tokens[next - 1].is("struct") || tokens[next - 1].is("interface") {
                    next = ends[next] + 1;
                    continue;
                }
                let before_loop = tokens.get(ends[next] + 1).is_some_and(|one| one.is("{"));
                return (made || before_loop).then_some(next);
            }
            // `in row["key"]` goes through what stands there, not through a table.
            "[" if next > at + 1 && tokens[next - 1].kind == Kind::Word && !made => return None,
            "[" => return Some(next),
            "{" if made || language == Language::Python || tokens[next - 1].is("(") => {
                return Some(next);
            }
            "(" if language == Language::Python && tokens[next - 1].kind != Kind::Word
                || tokens[next - 1].is("in")
                || tokens[next - 1].is("=") && language == Language::Python =>
            {
                return Some(next);
            }
            "(" | "&" | "*" | "!" | "." | "::" => next += 1,
            _ if token.kind == Kind::Word && !matches!(token.text, "func" | "function" | "fn") => {
                next += 1
            }
            _ => return None,
        }
    }
    None
}

fn first_open(tokens: &[Token], from: usize, to: usize) -> Option<usize> {
    (from..to)
        .take(NEAR)
        .find(|at| tokens[*at].is("[") || tokens[*at].is("{"))
}

/// Lists that a call is given; where it is given rows themselves, its own parenthesis.
fn tables_among(tokens: &[Token], ends: &[usize], open: usize, first: Option<usize>) -> Vec<usize> {
    let own = split(tokens, ends, open);
    let begins = |text: &str| own.iter().filter(|one| tokens[one.start].is(text)).count();
    if begins("(") > 1 || begins("[") > 1 {
        return vec![open];
    }
    let lists = own
        .iter()
        .map(|one| one.start)
        .filter(|at| tokens[*at].is("[") || tokens[*at].is("("));
    let mut found: Vec<usize> = lists.collect();
    if found.is_empty() {
        found.extend(first);
    }
    found
}

/// What stands between the commas of a bracket.
fn split(tokens: &[Token], ends: &[usize], open: usize) -> Vec<std::ops::Range<usize>> {
    let end = ends[open];
    let mut found = Vec::new();
    let mut from = open + 1;
    let mut at = open + 1;
    while at < end {
        if tokens[at].is(",") || tokens[at].is(";") {
            if from < at {
                found.push(from..at);
            }
            from = at + 1;
        }
        at = ends[at].max(at) + 1;
    }
    if from < end {
        found.push(from..end);
    }
    found
}

fn push(tokens: &[Token], range: std::ops::Range<usize>, found: &mut Vec<Row>) {
    let mut cells = Vec::new();
    for at in range.clone().take(LONGEST) {
        let token = tokens[at];
        let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
        match token.kind {
            Kind::Number => {
                let sign = if before == "-" { "-" } else { "" };
                cells.push(format!("{sign}{}", token.text.replace('_', "")));
            }
            Kind::Text => cells.push(inside(token.text).to_owned()),
            Kind::Word => {
                let next = tokens.get(at + 1).map_or("", |next| next.text);
                let names = matches!(next, ":" | "(" | "{" | "::" | "." | "=" | "!");
                if !names {
                    cells.push(token.text.to_owned());
                }
            }
            _ => {}
        }
    }
    if !cells.is_empty() {
        found.push(Row {
            at: range.start,
            line: tokens[range.start].line,
            cells,
        });
    }
}

/// `#[case("1", true)]`, `#[test_case(1 => 2; "name")]`.
fn rows_of_attribute(tokens: &[Token], ends: &[usize], open: usize, found: &mut Vec<Row>) {
    let near = (open + 1..ends[open]).take(8);
    let mut named = false;
    for at in near {
        named |= ATTRIBUTES.contains(&tokens[at].text);
        if tokens[at].is("(") {
            if named {
                push(tokens, at..ends[at], found);
            }
            return;
        }
    }
}

/// Lines of a text, from a certain one on, with cells between bars or commas.
fn rows_of_text(text: &Token, at: usize, skip: usize, found: &mut Vec<Row>) {
    let lines = inside(text.text).lines().enumerate();
    let mark = if text.text.contains('|') { '|' } else { ',' };
    let lines = lines.filter(|(_, line)| !line.trim().is_empty()).skip(skip);
    for (number, line) in lines {
        let cells = line.split(mark);
        let cells: Vec<String> = cells
            .map(|cell| {
                cell.trim()
                    .trim_matches(['$', '{', '}', '"', '\''])
                    .to_owned()
            })
            .collect();
        found.push(Row {
            at,
            line: text.line + number,
            cells,
        });
    }
}

/// Lines of a here-document that are read, words that a loop goes through.
fn rows_of_shell(tokens: &[Token], at: usize, found: &mut Vec<Row>) {
    let token = tokens[at];
    let is_here = token.kind == Kind::Text && !token.text.starts_with(['"', '\'', '`', '$']);
    if is_here {
        let reads = tokens[at.saturating_sub(600)..at]
            .iter()
            .any(|one| one.is("read"));
        if reads {
            rows_of_text(&token, at, 0, found);
            // Its end is a line of its own.
            found.pop();
        }
        return;
    }
    if token.is("in") && at > 1 && tokens[at - 2].is("for") {
        let words = tokens[at + 1..]
            .iter()
            .take_while(|one| one.line == token.line && !one.is(";"));
        for (step, word) in words.enumerate() {
            if word.text.contains(['$', '*']) {
                continue;
            }
            found.push(Row {
                at: at + 1 + step,
                line: word.line,
                cells: vec![inside(word.text).to_owned()],
            });
        }
    }
}
