//! Functions that a test's framework replaces: patches, spies with answers, mocked modules.

use super::side::{Both, Side};
use super::subject::list_subjects;
use crate::language::Language;
use crate::lex::{Kind, Token, close, inside};
use crate::suite::Suite;
use std::collections::{BTreeMap, BTreeSet};

/// Tokens of a factory that are looked at.
const LONGEST: usize = 400;

/// Words after which a function is replaced by something else.
const REPLACES: [&str; 12] = [
    "patch",
    "object",
    "setattr",
    "spyOn",
    "stub",
    "replace",
    "patch_object",
    "setitem",
    "swap",
    "when",
    "replaceProperty",
    "method",
];

/// What is replaced among these tokens: its name, what it is asked of, and the line.
pub(super) fn list_replaced<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, &'a str, usize)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = |step: usize, text: &str| tokens.get(at + step).is_some_and(|one| one.is(text));
        if token.kind == Kind::Word && REPLACES.contains(&token.text) && next(1, "(") {
            let inner: Vec<&Token> = tokens[at + 2..]
                .iter()
                .take(8)
                .take_while(|one| !one.is(")"))
                .collect();
            let Some(text) = inner
                .iter()
                .position(|one| one.kind == Kind::Text)
                .filter(|at| *at < 6)
            else {
                continue;
            };
            let whole = inside(inner[text].text);
            let (path, name) = whole.rsplit_once('.').unwrap_or(("", whole));
            let of_path = path.rsplit('.').next().unwrap_or(path);
            let of_word = inner[..text]
                .iter()
                .rev()
                .find(|one| one.kind == Kind::Word);
            let owner = of_word.map_or(of_path, |one| one.text);
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
            if is_name {
                found.push((name, owner, token.line));
            }
        }
        // `module.name = jest.fn(…)`
        let made = tokens.get(at + 1).is_some_and(|one| {
            matches!(
                one.text,
                "lambda" | "func" | "Mock" | "MagicMock" | "AsyncMock" | "mock"
            )
        }) || (next(1, "jest") || next(1, "vi") || next(1, "sinon")) && next(2, ".")
            || next(1, "(") && (next(2, ")") && next(3, "=>"));
        let asked = at > 2 && tokens[at - 2].is(".") && tokens[at - 1].kind == Kind::Word;
        if token.is("=") && made && asked {
            found.push((tokens[at - 1].text, tokens[at - 3].text, token.line));
        }
    }
    found
}

/// What the test itself calls is replaced in it, or beside it.
pub(super) fn finds_replaced(
    both: &Both,
    before: &BTreeSet<&str>,
    beside: &[(&str, &str, usize)],
) -> Option<usize> {
    let whole = |side: &Side| side.item.head.start..side.item.body.end;
    let own = list_replaced(&both.is.suite.tokens[whole(both.is)]);
    let candidates: Vec<_> = own
        .iter()
        .chain(beside)
        .filter(|(name, ..)| !before.contains(name))
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let (was, is) = (list_subjects(both.was), list_subjects(both.is));
    let called: BTreeMap<&str, BTreeSet<&str>> = list_owners(both.is);
    let hit = candidates.iter().find(|(name, owner, _)| {
        let upper = owner.starts_with(char::is_uppercase);
        let by = called.get(name);
        let same = by.is_some_and(|owners| upper || owners.contains(owner) || owners.contains(""));
        was.contains(name) && is.contains(name) && same
    });
    hit.map(|(.., line)| *line)
}

/// What each call is asked of; nothing where it stands alone.
fn list_owners<'a>(side: &Side<'a>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let tokens = side.tokens();
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for at in 0..tokens.len().saturating_sub(1) {
        if tokens[at].kind != Kind::Word || !tokens[at + 1].is("(") {
            continue;
        }
        let asked = at > 1 && tokens[at - 1].is(".");
        let owner = if asked { tokens[at - 2].text } else { "" };
        found.entry(tokens[at].text).or_default().insert(owner);
    }
    found
}

/// What is replaced outside of tests.
pub(super) fn list_beside<'a>(suite: &Suite<'a>) -> Vec<(&'a str, &'a str, usize)> {
    let mut own = Vec::new();
    for range in super::shared::list_loose(suite, true) {
        own.extend_from_slice(&suite.tokens[range]);
    }
    let mut found = list_replaced(&own);
    found.extend(list_mocked(suite));
    found
}

/// `jest.mock("../src/slug", () => ({ slug: … }))`: what the file imports from there.
fn list_mocked<'a>(suite: &Suite<'a>) -> Vec<(&'a str, &'a str, usize)> {
    let tokens = &suite.tokens;
    let mut found = Vec::new();
    if suite.language != Language::JavaScript {
        return found;
    }
    let mut imports: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (at, token) in tokens.iter().enumerate() {
        let of_import = at > 0 && matches!(tokens[at - 1].text, "from");
        let of_require =
            at > 1 && tokens[at - 1].is("(") && matches!(tokens[at - 2].text, "require" | "import");
        if token.kind == Kind::Text && (of_import || of_require) {
            let names = tokens[..at].iter().rev().take(40);
            let names = names.take_while(|one| {
                !matches!(one.text, "import" | "const" | "let" | "var" | ";")
                    || one.is("import") && of_require
            });
            let own = names
                .filter(|one| one.kind == Kind::Word)
                .map(|one| one.text);
            imports.entry(inside(token.text)).or_default().extend(own);
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        let mocks = matches!(
            token.text,
            "mock" | "doMock" | "module" | "unstable_mockModule"
        ) && at > 1
            && tokens[at - 1].is(".")
            && matches!(tokens[at - 2].text, "jest" | "vi" | "mock");
        let path = tokens
            .get(at + 2)
            .filter(|one| mocks && one.kind == Kind::Text);
        let Some(names) = path.and_then(|path| imports.get(inside(path.text))) else {
            continue;
        };
        let end = close(&tokens[..(at + LONGEST).min(tokens.len())], at + 1);
        let factory: BTreeSet<&str> = tokens[(at + 3).min(end)..end]
            .iter()
            .map(|one| one.text)
            .collect();
        for name in names.iter().take(40) {
            if factory.is_empty()
                || factory.contains(name)
                || factory.contains("default") && names.len() == 1
            {
                found.push((*name, "", token.line));
            }
        }
    }
    found
}
