//! Tests that are gone.

use crate::class::{Class, Edited};
use crate::lines;
use crate::suite::{Sort, Suite};
use std::collections::BTreeSet;

/// Tests of one file, and lines of a script of tests.
const MOST: usize = 12;

/// The text without one of its tests, once for each: a function where there are any, else a line that the
/// change brought to a script of tests.
pub(super) fn without_a_test(edit: &Edited, text: &str, changed: &BTreeSet<usize>) -> Vec<String> {
    let all = lines::split(text);
    let suite = Suite::read(edit.path, text);
    let mut found = Vec::new();
    for item in suite.items.iter().filter(|item| item.sort == Sort::Test) {
        let lines = suite.lines(item);
        let (from, to) = (
            lines.start.saturating_sub(1),
            (lines.end - 1).min(all.len()),
        );
        // What the change has nothing to do with is no fault of its.
        if from < to && (from..to).any(|at| changed.contains(&at)) {
            found.push([&all[..from], &all[to..]].concat().concat());
        }
    }
    if found.is_empty() && edit.class == Class::Test && !suite.has_tests() {
        for at in changed.iter().filter(|at| is_command(&all, **at)) {
            found.push([&all[..*at], &all[at + 1..]].concat().concat());
        }
    }
    found.truncate(MOST);
    found
}

/// The line is one whole command that holds a text, as `check "adds" 3 add 1 2` does.
fn is_command(all: &[&str], at: usize) -> bool {
    let Some(line) = all.get(at).map(|line| line.trim_end()) else {
        return false;
    };
    let begins = line.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = ["\\", "{", "(", "then", "do", ";;", "|", "&&"];
    begins
        && line.contains(['"', '\''])
        && !goes_on.iter().any(|end| line.ends_with(end))
        && !["exit", "cd ", "set ", "source"]
            .iter()
            .any(|word| line.starts_with(word))
}
