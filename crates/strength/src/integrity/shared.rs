//! What tests share: functions that look at something for them, and scripts that are one test.

use crate::class::{Class, Edited};
use crate::language::Language;
use crate::suite::{Item, Sort, Suite};
use std::collections::BTreeMap;

/// A function of a file.
pub(super) type Place<'a> = (usize, &'a Item);

/// Functions that tests share, each with what it became.
pub(super) fn pair_helpers<'a>(
    edits: &[Edited],
    before: &'a [Option<Suite<'a>>],
    after: &'a [Option<Suite<'a>>],
) -> Vec<(Place<'a>, Place<'a>)> {
    let mut places: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for (file, suite) in after.iter().enumerate() {
        for item in list_shared(&edits[file], suite.as_ref()) {
            places.entry(&item.name).or_default().push((file, item));
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut own = Vec::new();
    for (file, suite) in before.iter().enumerate() {
        for item in list_shared(&edits[file], suite.as_ref()) {
            *counts.entry(&item.name).or_default() += 1;
            own.push((file, item));
        }
    }
    let mut found = Vec::new();
    for (file, item) in own {
        let Some(there) = places.get(item.name.as_str()) else {
            continue;
        };
        if counts.get(item.name.as_str()) == Some(&1)
            && let [one] = there[..]
        {
            found.push(((file, item), one));
            continue;
        }
        let mut here = there.iter().take(16).filter(|(other, _)| *other == file);
        if let (Some(one), None) = (here.next(), here.next()) {
            found.push(((file, item), *one));
        }
    }
    found
}

/// A file that tests are set up by.
pub(super) fn is_of_tests(edit: &Edited) -> bool {
    let name = edit.path.rsplit('/').next().unwrap_or_default();
    match edit.class {
        Class::Test => true,
        Class::Gate => name.starts_with("conftest."),
        Class::Source => edit.path.to_lowercase().contains("test"),
        Class::Docs => false,
    }
}

/// Functions that tests call and that stand in none.
fn list_shared<'a>(edit: &Edited, suite: Option<&'a Suite<'a>>) -> Vec<&'a Item> {
    let Some(suite) = suite else {
        return Vec::new();
    };
    let whole = is_of_tests(edit);
    if !whole && !suite.has_tests() {
        return Vec::new();
    }
    let tests: Vec<&Item> = suite.tests().map(|(test, _)| test).collect();
    let holds = |group: &Item| {
        let at = tests.partition_point(|test| test.head.start < group.body.start);
        tests
            .get(at)
            .is_some_and(|test| test.body.end <= group.body.end)
    };
    let groups: Vec<&Item> = suite
        .items
        .iter()
        .filter(|item| item.sort == Sort::Group && holds(item))
        .collect();
    let mut found = Vec::new();
    let (mut next, mut end) = (0, 0);
    let (mut group, mut group_end) = (0, 0);
    for item in &suite.items {
        while let Some(test) = tests
            .get(next)
            .filter(|test| test.head.start <= item.head.start)
        {
            end = test.body.end.max(end);
            next += 1;
        }
        while let Some(one) = groups
            .get(group)
            .filter(|one| one.head.start <= item.head.start)
        {
            group_end = one.body.end.max(group_end);
            group += 1;
        }
        let of_test = item.head.start < end;
        let among = item.head.start < group_end;
        if item.sort == Sort::Helper && !of_test && (whole || among) {
            found.push(item);
        }
    }
    found
}

/// The tests of a text, and the groups that hold one.
fn list_groups<'a>(suite: &'a Suite<'a>) -> (Vec<&'a Item>, Vec<&'a Item>) {
    let of = |sort: Sort| suite.items.iter().filter(move |item| item.sort == sort);
    let tests: Vec<&Item> = of(Sort::Test).collect();
    let holds = |group: &&Item| {
        let at = tests.partition_point(|test| test.head.start < group.body.start);
        tests
            .get(at)
            .is_some_and(|test| test.body.end <= group.body.end)
    };
    let groups = of(Sort::Group).filter(holds).collect();
    (tests, groups)
}

/// Tokens that belong to no test: of a whole file, or of the groups in it that hold tests.
pub(super) fn list_loose(suite: &Suite, whole: bool) -> Vec<std::ops::Range<usize>> {
    let (tests, groups) = list_groups(suite);
    let mut around: Vec<std::ops::Range<usize>> = Vec::new();
    if whole {
        around.push(0..suite.tokens.len());
    } else {
        for group in groups {
            if around
                .last()
                .is_none_or(|last| last.end <= group.head.start)
            {
                around.push(group.body.clone());
            }
        }
    }
    let mut found = Vec::new();
    let mut next = 0;
    for outer in around {
        let mut from = outer.start;
        while let Some(test) = tests.get(next).filter(|test| test.head.start < outer.end) {
            next += 1;
            if test.head.start < from {
                continue;
            }
            found.push(from..test.head.start);
            from = test.body.end.max(from);
        }
        found.push(from..outer.end.max(from));
    }
    found
}

/// Scripts that are one test each: the file, and the whole of it on both sides.
pub(super) fn list_scripts(
    edits: &[Edited],
    before: &[Option<Suite>],
    after: &[Option<Suite>],
) -> Vec<(usize, Item, Item)> {
    let whole = |path: &str, suite: &Suite| Item {
        name: path.to_owned(),
        sort: Sort::Test,
        line: 1,
        head: 0..0,
        body: 0..suite.tokens.len(),
    };
    let is_one = |suite: &Suite| suite.language == Language::Shell && !suite.has_tests();
    let mut found = Vec::new();
    for (file, edit) in edits.iter().enumerate() {
        let (Some(was), Some(is)) = (&before[file], &after[file]) else {
            continue;
        };
        if edit.class == Class::Test && is_one(was) && is_one(is) {
            found.push((file, whole(edit.path, was), whole(edit.path, is)));
        }
    }
    found
}
