//! Lines of an output that a text stands for. Pure.

use super::sources::Said;
use super::told::read_line;
use cook_core::diagnostic::without_tags;
use cook_trials::TestResult;
use std::collections::BTreeSet;

/// Characters a text needs to stand for the beginning of a line.
const BEGINNING: usize = 8;

/// The lines, counted from 0, that say this; else those that begin so; else those that say the same of
/// the same test, with another time or another count behind it.
pub(super) fn find_lines(said: &Said, text: &str) -> Vec<usize> {
    let found = find_shown(said, text, str::to_owned);
    // A prompt shows tags with other brackets.
    let found = match found.is_empty() && text.contains('‹') {
        true => find_shown(said, text, without_tags),
        false => found,
    };
    match (found.is_empty(), read_line(text)) {
        (true, named @ Some((_, TestResult::Passed))) => {
            select(said, |line| read_line(line) == named)
        }
        _ => found,
    }
}

fn find_shown(said: &Said, text: &str, as_shown: fn(&str) -> String) -> Vec<usize> {
    let whole = select(said, |line| as_shown(line) == text);
    if !whole.is_empty() || text.chars().count() < BEGINNING {
        return whole;
    }
    // A beginning leaves out that the test was set aside.
    let is_aside = |line: &str| read_line(line).is_some_and(|(_, how)| how == TestResult::Skipped);
    select(said, |line| {
        as_shown(line).starts_with(text) && !is_aside(line)
    })
}

fn select(said: &Said, is_it: impl Fn(&str) -> bool) -> Vec<usize> {
    let lines = said.lines.iter().enumerate();
    let found = lines.filter(|(_, line)| is_it(line));
    found.map(|(at, _)| at).collect()
}

/// The tests, by their full names, that these lines are the results of.
pub(super) fn list_named<'t>(said: &'t Said, text: &str) -> BTreeSet<&'t str> {
    let lines = find_lines(said, text);
    let tests = said.tests.iter();
    let named = tests.filter(|told| told.line.is_some_and(|at| lines.contains(&at)));
    named.map(|told| told.name.as_str()).collect()
}
