//! What stands in files of tests and in no test: groups that are set aside, hooks that wait.

use super::around;
use super::marks;
use super::remark::{Kind, Remark, show_line};
use crate::class::{Class, Edited};
use crate::suite::{Item, Sort, Suite};
use std::collections::BTreeMap;

/// What stands in files of tests and in no test: groups set aside, hooks that wait.
pub(super) fn outside(
    edits: &[Edited],
    before: &[Option<Suite>],
    after: &[Option<Suite>],
    lines: &[Vec<Vec<String>>; 2],
    found: &mut Vec<Remark>,
) {
    type Says = fn(&str) -> bool;
    let kinds: [(Kind, Says); 3] = [
        (Kind::Skipped, marks::is_skip),
        (Kind::Retried, marks::is_retry),
        (Kind::SleepPadded, marks::is_sleep),
    ];
    for (kind, is_one) in kinds {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (file, suite) in before.iter().enumerate() {
            for (_, line) in
                loose_lines(suite.as_ref(), &lines[0][file]).filter(|(_, line)| is_one(line))
            {
                *known.entry(line).or_default() += 1;
            }
        }
        for (file, suite) in after.iter().enumerate() {
            let Some(suite) = suite else { continue };
            let of_tests = edits[file].class == Class::Test || suite.has_tests();
            // A helper that came may wait; one that is there and waits now is the tests' own.
            let counts = kind == Kind::Skipped || edits[file].before.is_some();
            // What sets tests up may set them aside.
            let sets_up = kind == Kind::Skipped && super::shared::is_of_tests(&edits[file]);
            if !(of_tests || sets_up) || !counts || edits[file].class == Class::Gate && !sets_up {
                continue;
            }
            // Beside tests stands what they test.
            let of_tests = |line: usize, text: &str| match kind {
                // Of a condition only what it lets tests depend on.
                Kind::Skipped if text.starts_with("#[cfg(") => is_head_of_tests(suite, line),
                Kind::Skipped => true,
                _ => edits[file].class == Class::Test || is_among_tests(suite, line),
            };
            let marked = |suite: Option<&Suite>, lines| {
                loose_lines(suite, lines)
                    .filter(|(_, text)| is_one(text))
                    .count()
            };
            // It may have become narrower, or say why.
            let as_many = marked(before[file].as_ref(), &lines[0][file])
                >= marked(Some(suite), &lines[1][file]);
            if kind == Kind::Skipped && as_many {
                continue;
            }
            for (line, text) in loose_lines(Some(suite), &lines[1][file])
                .filter(|(line, text)| is_one(text) && of_tests(*line, text))
            {
                let by_choice = edits[file].class == Class::Gate
                    && (around::is_conditional(edits[file].before.and(edits[file].after), line)
                        && !picks_by_name(&lines[1][file], line)
                        || chooses(&lines[1][file]));
                match known.get_mut(text) {
                    Some(left) if *left > 0 => *left -= 1,
                    _ if by_choice => {}
                    _ => found.push(Remark {
                        kind,
                        path: edits[file].path.to_owned(),
                        line,
                        name: find_group(suite, line)
                            .unwrap_or_else(|| edits[file].path.to_owned()),
                        what: show_line(edits[file].after, line),
                    }),
                }
            }
        }
    }
}

/// Tests say by a mark of theirs that they want it.
fn chooses(lines: &[String]) -> bool {
    const ASKS: [&str; 5] = [
        "keywords",
        "get_closest_marker",
        "iter_markers",
        "getoption",
        "sys.platform",
    ];
    lines
        .iter()
        .any(|line| ASKS.iter().any(|word| line.contains(word)))
}

/// The condition above a line asks which test it is.
fn picks_by_name(lines: &[String], line: usize) -> bool {
    const NAMES: [&str; 6] = [
        ".name",
        ".originalname",
        ".nodeid",
        ".fspath",
        ".path",
        ".location",
    ];
    let above = lines[..line.saturating_sub(1).min(lines.len())]
        .iter()
        .rev();
    let mut asked = above
        .take(6)
        .filter(|text| text.starts_with("if ") || text.starts_with("elif "));
    asked
        .next()
        .is_some_and(|text| NAMES.iter().any(|name| text.contains(name)))
}

/// Lines that belong to no test.
fn loose_lines<'l>(
    suite: Option<&Suite>,
    lines: &'l [String],
) -> impl Iterator<Item = (usize, &'l str)> {
    let mut inside = vec![suite.is_none(); lines.len() + 2];
    if let Some(suite) = suite {
        for item in suite.items.iter().filter(|item| item.sort == Sort::Test) {
            for line in suite.lines(item) {
                if let Some(place) = inside.get_mut(line) {
                    *place = true;
                }
            }
        }
    }
    let numbered = lines
        .iter()
        .enumerate()
        .map(|(at, line)| (at + 1, line.as_str()));
    numbered.filter(move |(line, _)| !inside[*line])
}

/// The line stands before a group that holds tests.
fn is_head_of_tests(suite: &Suite, line: usize) -> bool {
    let groups = suite.items.iter().filter(|item| item.sort == Sort::Group);
    let before = |group: &&Item| suite.lines(group).contains(&line) && line < group.line;
    let holds = |group: &Item| {
        suite
            .tests()
            .any(|(test, _)| group.body.contains(&test.head.start))
    };
    groups.filter(before).any(holds)
}

/// The line stands in a group that holds tests.
fn is_among_tests(suite: &Suite, line: usize) -> bool {
    let groups = suite
        .items
        .iter()
        .filter(|item| item.sort == Sort::Group && suite.lines(item).contains(&line));
    let holds = |group: &Item| {
        suite
            .tests()
            .any(|(test, _)| group.body.contains(&test.head.start))
    };
    groups.into_iter().any(holds)
}

/// The innermost group whose head or body holds the line.
fn find_group(suite: &Suite, line: usize) -> Option<String> {
    let mut groups = suite
        .items
        .iter()
        .filter(|item| item.sort == Sort::Group && suite.lines(item).contains(&line));
    groups.next_back().map(|item| item.name.clone())
}
