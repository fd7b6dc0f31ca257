//! Tests that went into others: merged, split, or made rows of a table.

use super::case::{Case, join};
use super::content::Content;
use crate::lex::Kind;
use crate::suite::{Sort, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// Tests that one is sought in.
const CANDIDATES: usize = 400;
/// Tests that one may have been split into.
const PARTS: usize = 8;

/// What tests of now hold that they did not hold before, each with its file.
pub(super) fn list_added<'a>(
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
        // A row of a table in a text holds several.
        let marks = |c: char| c.is_whitespace() || "${}[]()'\"".contains(c);
        values.extend(
            head.values
                .iter()
                .flat_map(|text| text.split([',', '|', '\n']))
                .map(|text| text.trim_matches(marks)),
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

/// All that it held stands in tests that came or grew, or in what these were given.
pub(super) fn is_absorbed(case: &Case, pool: &[(usize, Content)], fresh: &[Content]) -> bool {
    let own = &case.content;
    if own.len() < 2 {
        return false;
    }
    let enough = |(of_words, of_values): (f64, f64)| {
        of_words >= 0.65 && of_values >= 0.85 && (!own.values.is_empty() || of_words >= 0.9)
            || of_words >= 0.5 && of_values >= 1.0 && own.values.len() > 1
    };
    let of = |here: bool| {
        let near = pool
            .iter()
            .filter(move |(file, _)| (*file == case.file) == here);
        near.take(CANDIDATES)
    };
    let whole = |(file, content): &(usize, Content)| {
        let (of_words, of_values) = own.measure_cover(&[content]);
        // Only values count of what stands beside.
        let (_, with_fresh) = own.measure_cover(&[content, &fresh[*file]]);
        enough((of_words, of_values)) || of_words >= 0.65 && enough((of_words, with_fresh))
    };
    if of(true).chain(of(false)).any(whole) {
        return true;
    }
    let part = |(_, content): &&(usize, Content)| {
        let (of_words, of_values) = own.measure_cover(&[content]);
        of_words >= 0.2 || !own.values.is_empty() && of_values >= 0.2
    };
    let parts: Vec<&(usize, Content)> = of(true).filter(part).take(PARTS + 1).collect();
    if !(2..=PARTS).contains(&parts.len()) {
        return false;
    }
    let files: BTreeSet<usize> = parts.iter().map(|(file, _)| *file).collect();
    let mut all: Vec<&Content> = parts.iter().map(|(_, content)| content).collect();
    all.extend(files.iter().map(|file| &fresh[*file]));
    enough(own.measure_cover(&all))
}

/// Bodies of functions beside tests that nothing calls: a test that lost its name, or its mark.
pub(super) fn list_idle<'a>(after: &[Case<'a>]) -> BTreeSet<String> {
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

/// A macro of Rust that makes tests: its rows are what they hold.
pub(super) fn makes_tests(suite: &Suite) -> bool {
    let marks = |item: &crate::suite::Item| {
        let body = &suite.tokens[item.body.clone()];
        body.windows(3)
            .any(|three| three[0].is("#") && three[1].is("[") && three[2].is("test"))
    };
    suite
        .items
        .iter()
        .any(|item| item.sort == Sort::Helper && marks(item))
}
