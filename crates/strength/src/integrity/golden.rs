//! Files that hold what is expected, and that a test writes itself before it looks.

use super::side::{Both, Side};
use super::values::arguments;
use crate::language::Language;
use crate::lex::{Kind, Token, inside};
use std::collections::BTreeSet;

/// Tokens before a call in which it may be said that files are written on demand.
const NEAR: usize = 30;

/// What writes a whole file, and what reads one.
const WRITES: [&str; 8] = [
    "WriteFile",
    "write_text",
    "write_bytes",
    "writeFileSync",
    "writeFile",
    "outputFileSync",
    "write",
    "writeString",
];
const READS: [&str; 9] = [
    "ReadFile",
    "read_text",
    "read_bytes",
    "readFileSync",
    "readFile",
    "read_to_string",
    "read",
    "readString",
    "open",
];

impl Both<'_, '_> {
    /// The line where the file of what is expected is written.
    pub(super) fn writes_expected(&self) -> Option<usize> {
        if self.is.suite.language == Language::Shell {
            return self.writes_operand();
        }
        let known: BTreeSet<String> = list_paths(self.was, &WRITES)
            .into_iter()
            .map(|(path, ..)| path)
            .collect();
        let read = |side: &Side| -> BTreeSet<String> {
            let all = list_paths(side, &READS).into_iter();
            all.map(|(path, ..)| path).collect()
        };
        let (was, is) = (read(self.was), read(self.is));
        let looked_at: BTreeSet<&str> = self
            .is
            .assertions
            .iter()
            .flat_map(|one| &self.is.suite.tokens[one.tokens.clone()])
            .filter(|one| one.kind == Kind::Word)
            .map(|one| one.text)
            .collect();
        let hit = list_paths(self.is, &WRITES)
            .into_iter()
            .find(|(path, at, given)| {
                is.contains(path)
                    && !was.is_empty()
                    && !known.contains(path)
                    && given.iter().any(|word| looked_at.contains(word))
                    && !is_on_demand(self.is.tokens(), *at)
            });
        hit.map(|(_, at, _)| self.is.tokens()[at].line)
    }

    /// `cp "$out" "$golden"` before `diff "$golden" "$out"`, or one command that writes both.
    fn writes_operand(&self) -> Option<usize> {
        let pairs = list_operands(self.is.tokens());
        let (was, is) = (
            list_written(self.was.tokens()),
            list_written(self.is.tokens()),
        );
        let line = pairs.iter().find_map(|(a, b)| {
            let by = |path: &String| is.iter().find(|one| one.path == *path);
            let (first, second) = (by(a), by(b));
            let copied = [first, second]
                .into_iter()
                .flatten()
                .find(|one| one.from.as_ref().is_some_and(|from| from == a || from == b));
            let same = first.zip(second).filter(|(one, other)| {
                !matches!(one.command, "printf" | "echo" | "cat" | "sort" | "sed" | "")
                    && one.command == other.command
                    && one.rest == other.rest
            });
            let new = |one: &Written| !was.iter().any(|old| old.path == one.path);
            copied
                .or(same.map(|(one, other)| if new(one) { one } else { other }))
                .filter(|one| new(one) && !is_on_demand(self.is.tokens(), one.at))
        })?;
        self.is.tokens().get(line.at).map(|token| token.line)
    }
}

/// Files are written where somebody asks for it: `if *update {`, `UPDATE=1`.
fn is_on_demand(tokens: &[Token], at: usize) -> bool {
    const ASKS: [&str; 9] = [
        "update",
        "bless",
        "record",
        "regen",
        "overwrite",
        "rewrite",
        "env",
        "refresh",
        "accept",
    ];
    let near = &tokens[at.saturating_sub(NEAR)..at];
    let asked = near.iter().rposition(|one| one.is("if") || one.is("&&"));
    asked.is_some_and(|from| {
        let from = from.saturating_sub(4);
        near[from..].iter().any(|one| {
            let lower = one.text.to_lowercase();
            ASKS.iter().any(|word| lower.contains(word))
        })
    })
}

/// The paths that calls of such names are given, where, and the words that go with them.
fn list_paths<'a>(side: &Side<'a>, names: &[&str]) -> Vec<(String, usize, BTreeSet<&'a str>)> {
    let tokens = side.tokens();
    let mut found = Vec::new();
    for at in 0..tokens.len().saturating_sub(1) {
        let called = tokens[at].kind == Kind::Word && tokens[at + 1].is("(");
        if !called || !names.contains(&tokens[at].text) {
            continue;
        }
        let args = arguments(tokens, at + 1);
        let words = |own: &[Token<'a>]| -> BTreeSet<&'a str> {
            let words = own.iter().filter(|one| one.kind == Kind::Word);
            words.map(|one| one.text).collect()
        };
        // `path.write_text(x)` is asked of the path, `os.WriteFile(path, x)` is given it.
        let of_path = tokens[at].text.starts_with("write_")
            || tokens[at].text.starts_with("read_t")
            || tokens[at].is("read_bytes");
        let (path, given) = if of_path && at > 1 && tokens[at - 1].is(".") {
            let given = args.first().map(|arg| words(arg)).unwrap_or_default();
            (plain(receiver(tokens, at - 1)), given)
        } else {
            let given = args.get(1).map(|arg| words(arg)).unwrap_or_default();
            (
                args.first().map(|arg| plain(arg)).unwrap_or_default(),
                given,
            )
        };
        if !path.is_empty() {
            found.push((path, at, given));
        }
    }
    found
}

/// What stands before a dot: a name, or what is in parentheses.
fn receiver<'t, 'a>(tokens: &'t [Token<'a>], dot: usize) -> &'t [Token<'a>] {
    let mut depth = 0usize;
    for at in (dot.saturating_sub(NEAR)..dot).rev() {
        match tokens[at].text {
            ")" => depth += 1,
            "(" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return &tokens[at..dot];
                }
            }
            _ if depth == 0 => return &tokens[at..dot],
            _ => {}
        }
    }
    &[]
}

fn plain(tokens: &[Token]) -> String {
    let own = tokens
        .iter()
        .filter(|one| !matches!(one.text, "(" | ")" | "&" | "*"));
    own.map(|one| inside(one.text))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A file that a script writes.
struct Written<'a> {
    path: String,
    at: usize,
    /// What it is a copy of.
    from: Option<String>,
    command: &'a str,
    rest: Vec<&'a str>,
}

fn dequote(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '"' | '\'' | '{' | '}'))
        .collect()
}

/// `cmd … > path`, `cp from to`, `mv from to`.
fn list_written<'a>(tokens: &[Token<'a>]) -> Vec<Written<'a>> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let line = |one: &&Token| one.line == token.line;
        if matches!(token.text, ">" | ">|") && token.kind == Kind::Mark {
            let Some(path) = tokens.get(at + 1) else {
                continue;
            };
            let before: Vec<&Token> = tokens[..at].iter().rev().take_while(line).collect();
            let words: Vec<&str> = before.iter().rev().map(|one| one.text).collect();
            found.push(Written {
                path: dequote(path.text),
                at,
                from: None,
                command: words.first().copied().unwrap_or_default(),
                rest: words.get(1..).unwrap_or_default().to_vec(),
            });
        }
        if matches!(token.text, "cp" | "mv" | "install") && super::assertion::is_command(tokens, at)
        {
            let own = tokens[at + 1..].iter().take_while(line);
            let args: Vec<String> = own
                .take_while(|one| one.kind != Kind::Mark)
                .filter(|one| !one.text.starts_with('-'))
                .map(|one| dequote(one.text))
                .collect();
            if let [from, to] = args.as_slice() {
                found.push(Written {
                    path: to.clone(),
                    at,
                    from: Some(from.clone()),
                    command: token.text,
                    rest: Vec::new(),
                });
            }
        }
    }
    found
}

/// What `diff` and `cmp` are given.
fn list_operands(tokens: &[Token]) -> Vec<(String, String)> {
    let compares = |at: &usize| {
        matches!(tokens[*at].text, "diff" | "cmp") && super::assertion::is_command(tokens, *at)
    };
    let given = |at: usize| {
        let own = tokens[at + 1..]
            .iter()
            .take_while(|one| one.line == tokens[at].line && one.kind != Kind::Mark);
        let args: Vec<String> = own
            .filter(|one| !one.text.starts_with('-'))
            .map(|one| dequote(one.text))
            .collect();
        match args.as_slice() {
            [a, b, ..] => Some((a.clone(), b.clone())),
            _ => None,
        }
    };
    (0..tokens.len())
        .filter(compares)
        .filter_map(given)
        .collect()
}
