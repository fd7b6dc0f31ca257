//! Tests that look at a stand-in where they looked at the code, or hold the code against itself.

use super::gone::loses_value;
use super::side::{Both, Side, is_value};
use super::strength::Strength;
use super::subject::{list_answering, list_given_around, list_subjects};
use crate::class::Edited;
use crate::language::Language;
use crate::lex::{Kind, Token, close, inside};
use crate::suite::{Item, Suite};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Tokens of a stand-in that are looked at.
const LONGEST: usize = 400;

/// What tests define, by its name: in which file, and where.
pub(super) struct Defined<'a> {
    names: BTreeMap<&'a str, Vec<(usize, Range<usize>)>>,
    /// Words in the bodies.
    words: BTreeMap<&'a str, usize>,
}

impl<'a> Defined<'a> {
    pub(super) fn list(edits: &[Edited], suites: &[Option<Suite<'a>>]) -> Self {
        let mut found = Self {
            names: BTreeMap::new(),
            words: BTreeMap::new(),
        };
        for (file, suite) in suites.iter().enumerate() {
            let Some(suite) = suite else { continue };
            let whole = super::shared::is_of_tests(&edits[file]);
            if !whole && !suite.has_tests() {
                continue;
            }
            let loose = super::shared::list_loose(suite, whole);
            let among = |at: usize| {
                let place = loose.partition_point(|range| range.end <= at);
                loose.get(place).is_some_and(|range| range.contains(&at))
            };
            let tests: Vec<&Item> = suite.tests().map(|(test, _)| test).collect();
            let mut next = 0;
            let mut end = 0;
            for (at, token) in suite.tokens.iter().enumerate() {
                while let Some(test) = tests.get(next).filter(|test| test.body.start <= at) {
                    end = test.body.end.max(end);
                    next += 1;
                }
                if token.kind != Kind::Word || !(at < end || among(at)) {
                    continue;
                }
                if let Some(body) = definition(suite, at) {
                    let own = suite.tokens[body.clone()].iter().take(LONGEST);
                    for word in own.filter(|one| one.kind != Kind::Mark) {
                        *found.words.entry(word.text).or_default() += 1;
                    }
                    found
                        .names
                        .entry(token.text)
                        .or_default()
                        .push((file, body));
                }
            }
        }
        found
    }
}

/// `fn f() {…}`, `def f(): …`, `f := func() {…}`, `let f = |x| …`, `const f = () => …`, `f() {…}`.
fn definition(suite: &Suite, at: usize) -> Option<Range<usize>> {
    let tokens = &suite.tokens;
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
    let named = matches!(
        before,
        "fn" | "def" | "func" | "function" | "class" | "struct"
    );
    let next = tokens.get(at + 1)?;
    let rest = || tokens.get(at + 2);
    let assigned = next.is("=") || next.is(":=");
    let value = rest().filter(|_| assigned);
    let by_value = value.is_some_and(|value| {
        matches!(
            value.text,
            "func" | "function" | "lambda" | "|" | "||" | "move" | "async" | "("
        ) || tokens.get(at + 3).is_some_and(|arrow| arrow.is("=>"))
    });
    let shell =
        suite.language == Language::Shell && next.is("(") && rest().is_some_and(|one| one.is(")"));
    if !(named && next.kind == Kind::Mark || by_value || shell) {
        return None;
    }
    let first = tokens[at];
    let begin = at + 1;
    if matches!(suite.language, Language::Python) {
        let column = if named {
            at.checked_sub(1).map_or(0, |at| tokens[at].column)
        } else {
            first.column
        };
        let line = first.line;
        let inside = tokens[begin..].iter().take(LONGEST);
        let len = inside
            .take_while(|one| one.line == line || one.column > column)
            .count();
        return Some(begin..begin + len);
    }
    let near = &tokens[..(begin + LONGEST).min(tokens.len())];
    // Behind the parameters stands a block, or one expression.
    let mut body = begin;
    let arrow = near[begin..]
        .iter()
        .take_while(|one| !one.is(";"))
        .position(|one| one.is("=>"));
    match value {
        Some(one) if matches!(one.text, "|" | "move" | "||") => {
            let bars = near[begin..]
                .iter()
                .enumerate()
                .filter(|(_, one)| one.is("|"));
            let last = bars.map(|(at, _)| at).take(2).last();
            body = begin + last.unwrap_or(1) + 1;
        }
        Some(one) if !matches!(one.text, "func" | "function") => body = begin + arrow? + 1,
        _ => {
            let ahead = near[begin..].iter().take_while(|one| !one.is(";"));
            body += ahead.take_while(|one| !one.is("{")).count();
        }
    }
    let first = near.get(body)?;
    if first.is("{") {
        return Some(body..close(near, body) + 1);
    }
    if named || shell {
        return None;
    }
    let mut end = body;
    while let Some(one) = near.get(end) {
        let breaks = end > body && one.line > near[end - 1].line && !one.is(".");
        if one.is(";") || breaks {
            break;
        }
        end = if matches!(one.text, "(" | "[" | "{") {
            close(near, end)
        } else {
            end
        } + 1;
    }
    Some(body..end)
}

fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Both sides of a diff.
pub(super) struct StandIns<'a> {
    pub was: Defined<'a>,
    pub is: Defined<'a>,
    pub suites: &'a [Option<Suite<'a>>],
}

impl StandIns<'_> {
    /// A line where something stands in for what was looked at.
    pub(super) fn find(&self, both: &Both) -> Option<usize> {
        let real: BTreeSet<&str> = list_subjects(both.was)
            .into_iter()
            .filter(|name| !self.was.names.contains_key(name))
            .collect();
        if real.is_empty() {
            return None;
        }
        if let Some(line) = holds_against_itself(both, &real) {
            return Some(line);
        }
        let subjects = list_subjects(both.is);
        let came =
            |name: &&str| self.is.names.contains_key(name) && !self.was.names.contains_key(name);
        let new: Vec<&str> = subjects.iter().filter(|name| came(name)).copied().collect();
        if new.is_empty() {
            return None;
        }
        let there: BTreeSet<&str> = both.is.tokens().iter().map(|one| one.text).collect();
        let still = |name: &&str| {
            let is_new = new.contains(name);
            let in_test = there.contains(name) && !is_new;
            in_test
                || self.is.words.get(name).copied().unwrap_or(0)
                    > self.was.words.get(name).copied().unwrap_or(0)
        };
        if real.iter().any(still) {
            return None;
        }
        let expected = values(both.was)
            .into_iter()
            .chain(values(both.is))
            .collect::<BTreeSet<_>>();
        new.iter().find_map(|name| {
            let (file, body) = self.is.names.get(name)?.first()?;
            let suite = self.suites.get(*file)?.as_ref()?;
            let tokens = &suite.tokens[body.clone()];
            let told: Vec<&str> = tokens
                .iter()
                .filter(|one| is_value(suite.language, one) || suite.language == Language::Shell)
                .map(|one| inside(one.text))
                .collect();
            let of_shell = suite.language == Language::Shell;
            let calls = |one: &Token| {
                real.contains(one.text)
                    || of_shell && real.iter().any(|name| one.text.contains(name))
            };
            // It hands on what the code answers.
            let mut body = tokens.iter();
            if body.any(calls) {
                return None;
            }
            let answers = told
                .iter()
                .any(|value| value.len() > 1 && expected.contains(*value));
            let named_so = real.iter().any(|one| plain(one) == plain(name));
            (answers || named_so).then(|| tokens.first().map_or(both.is.item.line, |one| one.line))
        })
    }
}

impl StandIns<'_> {
    /// The line where a script writes a program of the name of the one that it tests.
    pub(super) fn find_written(&self, both: &Both) -> Option<usize> {
        if both.is.suite.language != Language::Shell {
            return None;
        }
        let (was, is) = (list_written(both.was.suite), list_written(both.is.suite));
        let subjects = list_subjects(both.was);
        let mut new = is.iter().filter(|(name, _)| !was.contains_key(*name));
        let hit = new.find(|(name, _)| subjects.contains(*name));
        hit.map(|(_, line)| *line)
    }
}

/// Values that are looked at.
fn values(side: &Side) -> Vec<String> {
    let tokens = side
        .assertions
        .iter()
        .flat_map(|one| &side.suite.tokens[one.tokens.clone()]);
    let own = tokens
        .filter(|one| is_value(side.suite.language, one) || side.suite.language == Language::Shell);
    own.map(|one| inside(one.text).to_owned()).collect()
}

/// A value was expected; now the same call answers on both sides.
fn holds_against_itself(both: &Both, real: &BTreeSet<&str>) -> Option<usize> {
    let known: BTreeSet<String> = both
        .was
        .assertions
        .iter()
        .map(|one| both.was.text(one))
        .collect();
    let language = both.is.suite.language;
    if !loses_value(both) {
        return None;
    }
    let given = list_given_around(both.is);
    let itself = both.is.assertions.iter().find(|one| {
        let tokens = &both.is.suite.tokens[one.tokens.clone()];
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let places: BTreeSet<_> = list_answering(language, tokens, &given)
            .into_iter()
            .collect();
        // `.says("a").says("b")` goes on in a chain, and is no other side.
        let chained: BTreeSet<usize> = tokens
            .windows(3)
            .filter(|three| three[0].is(")") && three[1].is("."))
            .map(|three| three[2].at)
            .collect();
        for (name, _) in places.iter().filter(|(_, at)| !chained.contains(at)) {
            *counts.entry(name).or_default() += 1;
        }
        one.strength == Strength::Exact
            && !known.contains(&both.is.text(one))
            && counts
                .iter()
                .any(|(name, count)| *count > 1 && real.contains(name))
            && counts.len() == 1
    });
    itself.map(|one| one.line)
}

/// Programs that a script of tests writes for itself where the shell finds them: `… > "$dir/slug"`.
fn list_written<'a>(suite: &Suite<'a>) -> BTreeMap<&'a str, usize> {
    let mut found = BTreeMap::new();
    let sets_path = suite.tokens.iter().any(|one| one.text.starts_with("PATH="));
    if suite.language != Language::Shell || !sets_path {
        return found;
    }
    for (at, token) in suite.tokens.iter().enumerate() {
        let to = at > 0 && (tokens_write(&suite.tokens[at - 1]) || is_link(suite, at));
        let name = inside(token.text).rsplit_once('/').map(|(_, name)| name);
        if let Some(name) = name.filter(|_| to) {
            found.insert(name, token.line);
        }
    }
    found
}

fn tokens_write(before: &Token) -> bool {
    matches!(before.text, ">" | ">|")
}

fn is_link(suite: &Suite, at: usize) -> bool {
    let near = suite.tokens[at.saturating_sub(4)..at].iter();
    let line = suite.tokens[at].line;
    near.into_iter()
        .any(|one| one.line == line && matches!(one.text, "ln" | "cp" | "install"))
}
