//! Items of languages whose blocks are told by how far lines stand in: Python, and Ruby and Elixir
//! as everybody writes them.

use super::item::{Item, Sort};
use crate::lex::{Kind, Token, close, inside};

/// Indices of tokens that begin a line where nothing is open.
pub(crate) fn line_starts(tokens: &[Token]) -> Vec<usize> {
    let mut depth = 0usize;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_first = at == 0 || super::item::last_line(&tokens[at - 1]) < token.line;
        if is_first && depth == 0 {
            found.push(at);
        }
        if token.kind == Kind::Mark {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    found
}

/// The items of Python.
pub(super) fn python(tokens: &[Token]) -> Vec<Item> {
    let starts = line_starts(tokens);
    let mut found: Vec<Item> = Vec::new();
    let mut pending: Option<usize> = None;
    for (place, &at) in starts.iter().enumerate() {
        if tokens[at].is("@") {
            pending.get_or_insert(at);
            continue;
        }
        let start = pending.take().unwrap_or(at);
        let keyword = at + usize::from(tokens[at].is("async"));
        let Some(name) = tokens
            .get(keyword + 1)
            .filter(|name| name.kind == Kind::Word)
        else {
            continue;
        };
        let is_class = tokens[keyword].is("class");
        if !is_class && !tokens[keyword].is("def") {
            continue;
        }
        let Some(colon) = colon(tokens, keyword + 2) else {
            continue;
        };
        let rest = &starts[place + 1..];
        let outside = rest
            .iter()
            .find(|next| tokens[**next].column <= tokens[at].column);
        let end = outside.copied().unwrap_or(tokens.len());
        // A function in a test is none of the runner's.
        let inner = found
            .iter()
            .any(|item| item.sort == Sort::Test && item.body.contains(&at));
        let is_test = !inner && is_test_name(name.text);
        let sort = match (is_class, is_test) {
            (true, _) => Sort::Group,
            (false, true) => Sort::Test,
            (false, false) => Sort::Helper,
        };
        found.push(Item {
            name: name.text.to_owned(),
            sort,
            line: name.line,
            head: start..colon + 1,
            body: colon + 1..end.max(colon + 1),
        });
    }
    found
}

fn colon(tokens: &[Token], from: usize) -> Option<usize> {
    let mut at = from;
    while at < tokens.len() {
        match tokens[at].text {
            ":" => return Some(at),
            "(" | "[" | "{" => at = close(tokens, at),
            _ => {}
        }
        at += 1;
    }
    None
}

fn is_test_name(name: &str) -> bool {
    name.strip_prefix("test")
        .is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_uppercase()))
}

const TESTS: [&str; 10] = [
    "it", "specify", "scenario", "test", "should", "example", "its", "fit", "xit", "xspecify",
];
const GROUPS: [&str; 9] = [
    "class",
    "module",
    "describe",
    "context",
    "feature",
    "defmodule",
    "xdescribe",
    "fdescribe",
    "xcontext",
];

/// The items of Ruby and Elixir.
pub(super) fn ruby(tokens: &[Token]) -> Vec<Item> {
    let starts = line_starts(tokens);
    let mut found = Vec::new();
    let mut pending: Option<usize> = None;
    for (place, &first) in starts.iter().enumerate() {
        if tokens[first].is("@") && tokens.get(first + 1).is_some_and(|t| t.is("tag"))
            || tokens[first].is("@tag")
        {
            pending.get_or_insert(first);
            continue;
        }
        let start = pending.take().unwrap_or(first);
        let rspec = tokens[first].is("RSpec") && first + 2 < tokens.len();
        let at = if rspec { first + 2 } else { first };
        let token = tokens[at];
        let line_end = starts.get(place + 1).copied().unwrap_or(tokens.len());
        let line = &tokens[at..line_end];
        let is_def = matches!(token.text, "def" | "defp") && line.len() > 1;
        let opens = |text: &str| line.iter().position(|token| token.is(text));
        let is_test = TESTS.contains(&token.text) && token.kind == Kind::Word;
        let is_group = GROUPS.contains(&token.text);
        if !is_def && !is_group && !(is_test && (opens("do").is_some() || opens("{").is_some())) {
            continue;
        }
        let name = find_name(line);
        let (head_end, body) = match (opens("do"), opens("{")) {
            (None, Some(brace)) if !is_group => (
                at + brace,
                at + brace + 1..close(tokens, at + brace).max(at + brace + 1),
            ),
            (found, _) => {
                let end = find_end(tokens, &starts[place + 1..], tokens[first].column);
                let head_end = found
                    .filter(|_| !is_def)
                    .map_or(find_head(tokens, at, line_end, is_def), |place| {
                        at + place + 1
                    });
                (head_end, head_end..end.max(head_end))
            }
        };
        let called = is_def && (name.starts_with("test_") || name == "test");
        let sort = match (is_group, is_test || called) {
            (true, _) => Sort::Group,
            (false, true) => Sort::Test,
            (false, false) => Sort::Helper,
        };
        let name = match name.as_str() {
            "" => tokens[body.clone()]
                .iter()
                .map(|t| t.text)
                .collect::<Vec<_>>()
                .join(" "),
            _ => name,
        };
        found.push(Item {
            name,
            sort,
            line: token.line,
            head: start..head_end,
            body,
        });
    }
    found
}

/// The first text or word behind the first word.
fn find_name(line: &[Token]) -> String {
    let behind = line.iter().skip(1).find(|token| token.kind != Kind::Mark);
    match behind {
        Some(token) if token.kind == Kind::Text => inside(token.text).to_owned(),
        Some(token) if !token.is("do") && line[1].kind != Kind::Mark => token.text.to_owned(),
        _ => String::new(),
    }
}

/// The end of a head without `do`: a definition's name and parameters, else the whole line.
fn find_head(tokens: &[Token], at: usize, line_end: usize, is_def: bool) -> usize {
    match tokens.get(at + 2) {
        Some(open) if is_def && open.is("(") => (close(tokens, at + 2) + 1).min(line_end),
        _ => line_end,
    }
}

/// The `end` that stands as far in as its begin.
fn find_end(tokens: &[Token], starts: &[usize], column: usize) -> usize {
    let end = starts.iter().find(|at| {
        let token = tokens[**at];
        token.column < column || token.column == column && token.is("end")
    });
    end.copied().unwrap_or(tokens.len())
}
