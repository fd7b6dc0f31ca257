//! Which test of before is which test of now: by name, by body, by what it holds.

use super::words;
use crate::language::Language;
use crate::lex::{Kind, Token, inside};
use crate::suite::{Item, Sort, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// Candidates that one test is compared with by what it holds.
const CANDIDATES: usize = 400;

/// A test, and where it stands.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// Which file of the diff.
    pub file: usize,
    pub item: &'a Item,
    pub suite: &'a Suite<'a>,
    pub within: String,
    pub body: String,
    content: Content<'a>,
}

/// What a test is about: the words and the values in it.
#[derive(Debug, Default)]
struct Content<'a> {
    words: BTreeSet<&'a str>,
    values: BTreeSet<&'a str>,
}

impl<'a> Content<'a> {
    fn of(language: Language, tokens: &[Token<'a>]) -> Self {
        let mut found = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            if is_said(tokens, at) {
                continue;
            }
            match token.kind {
                Kind::Word
                    if !words::is_vocabulary(token.text) && !KEYWORDS.contains(&token.text) =>
                {
                    found.words.insert(token.text);
                }
                Kind::Number => {
                    found.values.insert(token.text);
                }
                // A format of Go says what went wrong.
                Kind::Text if language != Language::Go || !token.text.contains('%') => {
                    let text = inside(token.text);
                    found.values.insert(text);
                }
                _ => {}
            }
        }
        found
    }

    /// Shares of the words and values that the others hold.
    fn measure_cover(&self, by: &[&Content]) -> (f64, f64) {
        let words = self
            .words
            .iter()
            .filter(|word| by.iter().any(|other| other.words.contains(*word)));
        let values = self
            .values
            .iter()
            .filter(|value| by.iter().any(|other| other.values.contains(*value)));
        let share = |held: usize, all: usize| {
            if all == 0 {
                1.0
            } else {
                held as f64 / all as f64
            }
        };
        (
            share(words.count(), self.words.len()),
            share(values.count(), self.values.len()),
        )
    }
}

/// Words of languages that say nothing of what is tested.
const KEYWORDS: [&str; 40] = [
    "let", "const", "var", "mut", "fn", "def", "func", "function", "return", "if", "else", "for",
    "in", "of", "async", "await", "new", "void", "public", "private", "val", "fun", "do", "end",
    "pass", "range", "err", "t", "self", "this", "tt", "tc", "want", "got", "expected", "actual",
    "name", "struct", "testing", "T",
];

/// A text that stands for itself: it says what a test is for. An index says only where.
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

/// Values that stand outside of tests: providers of data, tables, fixtures.
fn loose_values<'a>(suite: &Suite<'a>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
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
        if matches!(token.kind, Kind::Number | Kind::Text) {
            *counts.entry(inside(token.text)).or_default() += 1;
        }
        at += 1;
    }
    counts
}

/// The tests of the files' texts.
pub(super) fn cases<'a>(suites: &'a [Option<Suite<'a>>]) -> Vec<Case<'a>> {
    let mut found = Vec::new();
    for (file, suite) in suites.iter().enumerate() {
        let Some(suite) = suite else { continue };
        for (item, within) in suite.tests() {
            let tokens = &suite.tokens[item.body.clone()];
            found.push(Case {
                file,
                item,
                suite,
                within,
                body: join(tokens),
                content: Content::of(suite.language, tokens),
            });
        }
    }
    found
}

/// What became of the tests of before.
pub(super) struct Pairs {
    /// Test of before, test of now.
    pub same: Vec<(usize, usize)>,
    /// Tests of before that are not there any more.
    pub lost: Vec<usize>,
    /// Tests of now that nothing of before became.
    pub new: Vec<usize>,
}

/// Values that stand outside of tests more often now than before: rows of tables, fixtures.
pub(super) fn fresh_values<'a>(
    before: Option<&Suite<'a>>,
    after: Option<&Suite<'a>>,
) -> BTreeSet<&'a str> {
    let was = before.map(loose_values).unwrap_or_default();
    let is = after.map(loose_values).unwrap_or_default();
    let more = is
        .into_iter()
        .filter(|(value, count)| was.get(value).copied().unwrap_or(0) < *count);
    more.map(|(value, _)| value).collect()
}

/// Finds for each test of before the one of now that it became; `fresh` are by file the values that
/// came outside of tests.
pub(super) fn pair<'a>(
    before: &[Case<'a>],
    after: &[Case<'a>],
    fresh: &[BTreeSet<&'a str>],
) -> Pairs {
    let mut to: Vec<Option<usize>> = vec![None; before.len()];
    let mut taken = vec![false; after.len()];
    type Key<'k> = fn(&'k Case<'k>) -> (Option<usize>, &'k str, &'k str);
    let keys: [(Key, bool); 5] = [
        (
            |case| (Some(case.file), &case.within, &case.item.name),
            true,
        ),
        (|case| (Some(case.file), "", &case.item.name), true),
        (|case| (Some(case.file), "", &case.body), false),
        (|case| (None, &case.item.name, &case.body), false),
        (|case| (None, "", &case.body), false),
    ];
    for (key, by_name) in keys {
        let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for at in (0..after.len()).rev().filter(|at| !taken[*at]) {
            places.entry(key(&after[at])).or_default().push(at);
        }
        for (old, case) in before.iter().enumerate() {
            let telling = by_name || case.content.words.len() + case.content.values.len() > 1;
            if to[old].is_some() || !telling {
                continue;
            }
            if let Some(new) = places.get_mut(&key(case)).and_then(Vec::pop) {
                to[old] = Some(new);
                taken[new] = true;
            }
        }
    }
    by_content(before, after, &mut to, &mut taken);
    let mut pool = list_added(before, after, &to);
    for (file, content) in &mut pool {
        content.values.extend(&fresh[*file]);
    }
    let idle = list_idle(after);
    let lost = (0..before.len()).filter(|old| {
        let case = &before[*old];
        to[*old].is_none() && (idle.contains(case.body.as_str()) || !is_absorbed(case, &pool))
    });
    Pairs {
        lost: lost.collect(),
        same: to
            .iter()
            .enumerate()
            .filter_map(|(old, new)| Some((old, (*new)?)))
            .collect(),
        new: (0..after.len()).filter(|new| !taken[*new]).collect(),
    }
}

/// Bodies of functions beside tests that nothing calls: a test that lost its name, or its mark.
fn list_idle<'a>(after: &[Case<'a>]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut read: Option<usize> = None;
    for case in after {
        if read.replace(case.file) == Some(case.file) {
            continue;
        }
        let suite = case.suite;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for token in suite.tokens.iter().filter(|one| one.kind == Kind::Word) {
            *counts.entry(token.text).or_default() += 1;
        }
        let helpers = suite.items.iter().filter(|item| item.sort == Sort::Helper);
        for helper in helpers.filter(|item| counts.get(item.name.as_str()) == Some(&1)) {
            found.insert(join(&suite.tokens[helper.body.clone()]));
        }
    }
    found
}

fn join(tokens: &[Token]) -> String {
    let texts = tokens.iter().map(|token| token.text);
    let told: Vec<&str> = texts.filter(|text| !matches!(*text, ";" | ",")).collect();
    told.join(" ")
}

/// A test that has another name, or another file, and holds nearly all that the old one held.
fn by_content(before: &[Case], after: &[Case], to: &mut [Option<usize>], taken: &mut [bool]) {
    for (old, case) in before.iter().enumerate() {
        if to[old].is_some() {
            continue;
        }
        let mut best: Option<(f64, usize)> = None;
        // Of the same name first, then those of its file.
        let near = |new: &usize| {
            let other = &after[*new];
            (other.file == case.file, other.item.name == case.item.name)
        };
        let free = |here: bool, named: bool| {
            let taken = &*taken;
            (0..after.len()).filter(move |new| !taken[*new] && near(new) == (here, named))
        };
        let order = free(false, true)
            .take(CANDIDATES)
            .chain(free(true, false).take(CANDIDATES))
            .chain(free(false, false).take(CANDIDATES));
        let order: Vec<usize> = order.collect();
        for new in order {
            let other = &after[new];
            let (of_words, of_values) = case.content.measure_cover(&[&other.content]);
            let named_so = other.item.name == case.item.name;
            let is_one = if named_so {
                of_words >= 0.4 && of_values >= 0.4
            } else {
                let few = case.content.words.len() + case.content.values.len() < 3;
                of_words >= 0.7 && of_values >= 0.75 && !few
                    || of_words >= 0.5 && of_values >= 1.0 && case.content.values.len() > 1
                    || case.content.values.len() > 2 && case.content.values == other.content.values
            };
            let score = of_words + of_values + if named_so { 1.0 } else { 0.0 };
            if is_one && best.is_none_or(|(most, _)| score > most) {
                best = Some((score, new));
            }
        }
        if let Some((_, new)) = best {
            to[old] = Some(new);
            taken[new] = true;
        }
    }
}

/// What tests of now hold that they did not hold before.
fn list_added<'a>(
    before: &[Case<'a>],
    after: &[Case<'a>],
    to: &[Option<usize>],
) -> Vec<(usize, Content<'a>)> {
    let mut was: BTreeMap<usize, (&Content, BTreeSet<&str>)> = BTreeMap::new();
    for (old, new) in to.iter().enumerate() {
        if let Some(new) = new {
            let case = &before[old];
            let head = &case.suite.tokens[case.item.head.clone()];
            let mut words = Content::of(case.suite.language, head).words;
            words.insert(&after[*new].item.name);
            was.insert(*new, (&case.content, words));
        }
    }
    let mut found = Vec::new();
    for (at, case) in after.iter().enumerate() {
        let head = Content::of(
            case.suite.language,
            &case.suite.tokens[case.item.head.clone()],
        );
        let old = was.get(&at);
        let mut values = case.content.values.clone();
        // A row of `@CsvSource` holds several.
        values.extend(
            head.values
                .iter()
                .flat_map(|text| text.split([',', '|', '\n']))
                .map(|text| text.trim_matches(|c: char| c.is_whitespace() || "${}'\"".contains(c))),
        );
        values.extend(head.values);
        if let Some((old, _)) = old {
            values.retain(|value| !old.values.contains(value));
        }
        let mut words = case.content.words.clone();
        words.extend(head.words);
        let grew = old.is_none()
            || !values.is_empty()
            || words.iter().any(|word| {
                !old.is_some_and(|(old, head)| old.words.contains(word) || head.contains(word))
            });
        if grew {
            found.push((case.file, Content { words, values }));
        }
    }
    found
}

/// All that it held stands in tests that came or grew: it was merged, or split.
fn is_absorbed(case: &Case, pool: &[(usize, Content)]) -> bool {
    if case.content.words.len() + case.content.values.len() < 2 {
        return false;
    }
    let enough = |(of_words, of_values): (f64, f64)| {
        of_words >= 0.65
            && of_values >= 0.85
            && (!case.content.values.is_empty() || of_words >= 0.9)
    };
    let of = |here: bool| {
        pool.iter()
            .filter(move |(file, _)| (*file == case.file) == here)
            .map(|(_, content)| content)
            .take(CANDIDATES)
    };
    if of(true)
        .chain(of(false))
        .any(|content| enough(case.content.measure_cover(&[content])))
    {
        return true;
    }
    let parts: Vec<&Content> = of(true)
        .filter(|content| case.content.measure_cover(&[content]).0 >= 0.3)
        .collect();
    (2..=4).contains(&parts.len()) && enough(case.content.measure_cover(&parts))
}
