//! Tests that another of the same name behind them takes the place of.

use super::remark::{Kind, Remark, show_line};
use crate::class::Edited;
use crate::language::Language;
use crate::suite::{Item, Sort, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// Tests that were run before and stand now behind a name that is given anew.
pub(super) fn list_shadowed(
    edits: &[Edited],
    before: &[Option<Suite>],
    after: &[Option<Suite>],
) -> Vec<Remark> {
    let mut found = Vec::new();
    for (file, edit) in edits.iter().enumerate() {
        let Some(is) = &after[file] else { continue };
        let known: BTreeSet<String> = before[file]
            .as_ref()
            .map(|was| list_twice(was).into_iter().map(|(name, _)| name).collect())
            .unwrap_or_default();
        for (name, line) in list_twice(is) {
            if !known.contains(&name) {
                found.push(Remark {
                    kind: Kind::Lost,
                    path: edit.path.to_owned(),
                    line,
                    name,
                    what: show_line(edit.after, line),
                });
            }
        }
    }
    found
}

/// Tests that are not the last of their names, and those of classes that are not, with their lines.
fn list_twice(suite: &Suite) -> Vec<(String, usize)> {
    // Elsewhere a second one is an error, or runs too.
    if !matches!(suite.language, Language::Python | Language::Ruby) {
        return Vec::new();
    }
    let mut last: BTreeMap<(String, &str, bool), &Item> = BTreeMap::new();
    let mut hidden: Vec<&Item> = Vec::new();
    let mut around: Vec<&Item> = Vec::new();
    for item in &suite.items {
        around.retain(|outer| item.head.start < outer.body.end);
        let is_class = item.sort == Sort::Group;
        let within: Vec<&str> = around.iter().map(|outer| outer.name.as_str()).collect();
        // What a condition chooses between is one.
        let column = suite
            .tokens
            .get(item.head.start)
            .map_or(0, |one| one.column);
        let free = around
            .last()
            .map_or(column == 0, |outer| outer.sort == Sort::Group);
        let named = suite.language == Language::Python || !is_class;
        if free && named && (is_class || item.sort == Sort::Test) {
            let key = (within.join(" "), item.name.as_str(), is_class);
            hidden.extend(last.insert(key, item));
        }
        around.push(item);
    }
    let tests = suite.items.iter().filter(|item| item.sort == Sort::Test);
    let gone = tests.filter(|test| {
        hidden
            .iter()
            .any(|item| item.head.start <= test.head.start && test.body.end <= item.body.end)
    });
    gone.map(|test| (test.name.clone(), test.line)).collect()
}
