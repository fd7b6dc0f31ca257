//! What a diff takes away from tests, by the name of each: tests that are gone, set aside, emptied,
//! that assert less, are tried again, wait, or swallow errors; scripts whose exit code goes unseen.
//!
//! A test is compared with the test that it became. What moves, is renamed, merged, split or said in
//! other words is no loss. The precision and recall of that are measured by
//! `crates/strength/tests/integrity/main.rs`.

mod absorbed;
mod again;
mod around;
mod assertion;
mod bare;
mod both;
mod case;
mod collected;
mod commands;
mod compare;
mod constants;
mod content;
mod derived;
mod extent;
mod golden;
mod gone;
mod ignored;
mod less;
mod listed;
mod marks;
mod merged;
mod narrow;
mod outside;
mod pair;
mod remark;
mod replaced;
mod retired;
mod room;
mod rows;
mod scripts;
mod shadowed;
mod shared;
mod side;
mod status;
mod strength;
mod stub;
mod subject;
mod swallow;
mod tables;
mod values;
mod words;

pub use commands::{is_harmless, names_check};
pub(crate) use remark::cut;
pub use remark::{Kind, Remark, Renamed, Weakenings};

use crate::class::{Class, Edited};
use crate::language::Language;
use crate::suite::Suite;
use std::collections::{BTreeMap, BTreeSet};

/// What these edits take away from the tests.
pub fn weakenings(edits: &[Edited]) -> Weakenings {
    let before = read_side(edits, |edit| edit.before);
    let after = read_side(edits, |edit| edit.after);
    let mut found = compare::compare(edits, &before, &after);
    for edit in edits {
        found.remarks.extend(of_script(edit));
    }
    found
        .remarks
        .extend(list_deleted_files(edits, &before, &after));
    found.remarks.extend(listed::list_unnamed(edits));
    drop_polling(edits, &mut found.remarks);
    found
        .remarks
        .sort_by(|a, b| (&a.path, a.line, a.kind).cmp(&(&b.path, b.line, b.kind)));
    found
        .remarks
        .dedup_by(|a, b| (&a.path, a.line, a.kind) == (&b.path, b.line, b.kind));
    found
}

/// Where a fixed wait gave way to a loop that looks again, the loop's own wait pads nothing.
fn drop_polling(edits: &[Edited], remarks: &mut Vec<Remark>) {
    let of_time = |one: &Remark| matches!(one.kind, Kind::SleepPadded | Kind::Retried);
    if !remarks.iter().any(of_time) {
        return;
    }
    let fixed = |path: &str, text: Option<&str>| {
        let polling = around::list_polling(text);
        let lines = marks::code_lines(path, text.unwrap_or_default());
        let waits = lines.iter().enumerate();
        waits
            .filter(|(at, line)| marks::is_sleep(line) && !polling.contains(&(at + 1)))
            .count()
    };
    let was: usize = edits.iter().map(|edit| fixed(edit.path, edit.before)).sum();
    let is: usize = edits.iter().map(|edit| fixed(edit.path, edit.after)).sum();
    if is >= was {
        return;
    }
    let polling: BTreeMap<&str, _> = edits
        .iter()
        .map(|edit| (edit.path, around::list_polling(edit.after)))
        .collect();
    let polls = |one: &Remark| {
        polling
            .get(one.path.as_str())
            .is_some_and(|lines| lines.contains(&one.line))
    };
    remarks.retain(|one| !(of_time(one) && polls(one)));
}

fn read_side<'a>(
    edits: &[Edited<'a>],
    side: impl Fn(&Edited<'a>) -> Option<&'a str>,
) -> Vec<Option<Suite<'a>>> {
    let prose = |edit: &&Edited| edit.class != Class::Docs;
    let one = |edit: &Edited<'a>| {
        Some(edit)
            .filter(prose)
            .and_then(|edit| Some(Suite::read(edit.path, side(edit)?)))
    };
    edits.iter().map(one).collect()
}

/// Exit codes, tries and waits of what runs tests.
fn of_script(edit: &Edited) -> Vec<Remark> {
    let Some(after) = edit.after else {
        return Vec::new();
    };
    if let Some((line, what)) = scripts::find_lost_end(edit) {
        return vec![Remark {
            kind: Kind::ExitSwallowing,
            path: edit.path.to_owned(),
            line,
            name: edit.path.to_owned(),
            what: cut(&what).to_owned(),
        }];
    }
    // Where tests have names, their runner gives the exit code.
    let by_name = |text: Option<&str>| {
        let named = |text| Suite::read(edit.path, text).has_tests();
        Language::of(edit.path, after) != Language::Shell && text.is_some_and(named)
    };
    let is_script = match edit.class {
        Class::Gate => true,
        Class::Test => !by_name(edit.before) && !by_name(edit.after),
        Class::Source | Class::Docs => false,
    };
    if !is_script {
        return Vec::new();
    }
    let before = edit.before.unwrap_or_default();
    let remark = |kind, (line, what): (usize, String)| Remark {
        kind,
        path: edit.path.to_owned(),
        line,
        name: edit.path.to_owned(),
        what: cut(&what).to_owned(),
    };
    let swallows = scripts::new_swallows(edit.path, before, after);
    let mut found: Vec<Remark> = swallows
        .into_iter()
        .map(|one| {
            let of_test = edit.class == Class::Test
                && Language::of(edit.path, after) == Language::Shell
                && !scripts::is_runner(edit.path, before);
            let kind = match of_test {
                true => Kind::ErrorSwallowing,
                false => Kind::ExitSwallowing,
            };
            remark(kind, one)
        })
        .collect();
    // Settings of a runner are about tests, wherever in them it stands.
    let settings = edit.path.contains(".config.") || edit.path.ends_with("rc.json");
    let is_retry: fn(&str) -> bool = match settings {
        true => marks::is_retry_setting,
        false => marks::is_retry,
    };
    // Tests say it themselves, where they stand.
    if edit.class == Class::Gate && edit.before.is_some() {
        for (kind, is_one) in [
            (Kind::Retried, is_retry),
            (Kind::SleepPadded, marks::is_sleep),
        ] {
            // A loop that looks for something else than a check's end tries no test again.
            let loops = around::list_harmless_loops(after);
            let mut new = new_lines(edit.path, before, after, is_one);
            new.retain(|(line, _)| !loops.contains(line));
            found.extend(new.into_iter().map(|one| remark(kind, one)));
        }
    }
    found
}

/// Lines of now that are such and were not there as often, with their numbers.
fn new_lines(
    path: &str,
    before: &str,
    after: &str,
    is_one: impl Fn(&str) -> bool,
) -> Vec<(usize, String)> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for line in marks::code_lines(path, before) {
        *known.entry(line).or_default() += 1;
    }
    let lines = marks::code_lines(path, after).into_iter().enumerate();
    let fresh =
        lines
            .filter(|(_, line)| is_one(line))
            .filter(|(_, line)| match known.get_mut(line) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    false
                }
                _ => true,
            });
    let whole: Vec<&str> = after.lines().collect();
    fresh
        .map(|(at, _)| {
            (
                at + 1,
                whole.get(at).map_or("", |line| line.trim()).to_owned(),
            )
        })
        .collect()
}

/// Files of tests that hold none by a name, and are gone.
fn list_deleted_files(
    edits: &[Edited],
    before: &[Option<Suite>],
    after: &[Option<Suite>],
) -> Vec<Remark> {
    let gone = edits.iter().zip(before).filter(|(edit, suite)| {
        edit.class == Class::Test
            && edit.after.is_none()
            && !suite.as_ref().is_some_and(Suite::has_tests)
            && !edits.iter().any(|other| {
                other.after.is_some()
                    && (other.after == edit.before || is_same_name(edit.path, other))
            })
            && !is_snapshot_of_changed(edit.path, edits)
            && !suite
                .as_ref()
                .is_some_and(|suite| is_ported(suite, edits, before, after))
    });
    gone.map(|(edit, _)| Remark {
        kind: Kind::Lost,
        path: edit.path.to_owned(),
        line: 1,
        name: edit.path.to_owned(),
        what: "the file is deleted".to_owned(),
    })
    .collect()
}

/// A snapshot whose tests changed with it: these are looked at themselves.
fn is_snapshot_of_changed(path: &str, edits: &[Edited]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(stem) = name.strip_suffix(".snap") else {
        return false;
    };
    // `a.test.js.snap` of jest, `crate__module__name.snap` of insta.
    edits.iter().any(|edit| {
        let own = edit.path.rsplit('/').next().unwrap_or(edit.path);
        let part = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
        let rewritten = edit
            .before
            .zip(edit.after)
            .is_some_and(|(was, is)| was != is);
        rewritten && (own == stem || stem.split("__").any(|word| word == part))
    })
}

/// What a script ran and expected stands in tests that came.
fn is_ported(
    was: &Suite,
    edits: &[Edited],
    before: &[Option<Suite>],
    after: &[Option<Suite>],
) -> bool {
    let own = list_telling(was);
    let came = edits.iter().zip(before.iter().zip(after));
    own.len() > 2
        && came.into_iter().any(|(_, (before, after))| {
            let Some(suite) = after.as_ref().filter(|suite| suite.has_tests()) else {
                return false;
            };
            let mut there = list_telling(suite);
            if let Some(before) = before {
                let known = list_telling(before);
                there.retain(|word| !known.contains(word));
            }
            own.intersection(&there).count() * 10 >= own.len() * 5
        })
}

/// Parts of the words in a text, but for what a script only says.
fn list_telling<'a>(suite: &Suite<'a>) -> BTreeSet<&'a str> {
    const PLAIN: [&str; 12] = [
        "bin", "bash", "then", "dev", "null", "done", "exit", "printf", "local", "tmp", "mktemp",
        "status",
    ];
    let mut says = 0;
    let mut found = BTreeSet::new();
    for token in &suite.tokens {
        if matches!(token.text, "echo" | "exit" | "set" | "trap") {
            says = token.line;
        }
        if says != token.line && token.kind != crate::lex::Kind::Mark {
            let parts = token
                .text
                .split(|c: char| !(c.is_alphanumeric() || c == '_'));
            found.extend(parts.filter(|word| word.len() > 2 && !PLAIN.contains(word)));
        }
    }
    found
}

/// A new file of the same name elsewhere.
fn is_same_name(path: &str, other: &Edited) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    other.before.is_none() && name(other.path) == name(path)
}

#[cfg(test)]
mod tests;
