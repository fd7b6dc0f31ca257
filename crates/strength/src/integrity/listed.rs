//! Tests that what runs them does not name any more, or is told to leave out.

use super::commands::names_check;
use super::remark::{Kind, Remark, show_line};
use crate::class::{Class, Edited};
use std::collections::{BTreeMap, BTreeSet};

/// Lines of a file that are looked at.
const LONGEST: usize = 4_000;

/// What leaves tests out of a run.
const LEAVES_OUT: [&str; 16] = [
    "--ignore",
    "--ignore-glob",
    "--deselect",
    "--skip",
    "-skip",
    "-short",
    "--exclude",
    "--testPathIgnorePatterns",
    "testPathIgnorePatterns",
    "--filter-out",
    "norecursedirs",
    "-DskipTests",
    "-Dmaven.test.skip",
    "collect_ignore",
    "collect_ignore_glob",
    "--exclude-tags",
];

/// A list in a file: its name or command, and where it stands.
struct List<'t> {
    line: usize,
    words: Vec<&'t str>,
    /// It is about tests.
    tests: bool,
}

/// Files that run tests and name fewer of them, or leave some out.
pub(super) fn list_unnamed(edits: &[Edited]) -> Vec<Remark> {
    let mut found = Vec::new();
    let kept: BTreeSet<&str> = edits
        .iter()
        .filter(|edit| runs_tests(edit))
        .flat_map(|edit| edit.after.unwrap_or_default().split(is_end))
        .collect();
    for edit in edits.iter().filter(|edit| runs_tests(edit)) {
        let (Some(before), Some(after)) = (edit.before, edit.after) else {
            continue;
        };
        if before == after {
            continue;
        }
        let remark = |kind, line| Remark {
            kind,
            path: edit.path.to_owned(),
            line,
            name: edit.path.to_owned(),
            what: show_line(Some(after), line),
        };
        let lists = read_lists(after);
        for (key, was) in read_lists(before) {
            let Some(is) = lists.get(&key).filter(|is| was.tests && is.tests) else {
                continue;
            };
            let of_command = key.0.starts_with('$');
            let gone = |word: &&&str| {
                (!of_command || word.contains(['/', '.', '_']))
                    && !kept.contains(**word) && names_tests(word) && !is_covered(word, &is.words)
                    // Its tests are gone too, and told so themselves.
                    && !edits.iter().any(|other| {
                        other.after.is_none() && other.path.contains(word.trim_matches('/'))
                    })
            };
            let stays = was.words.iter().any(|word| is.words.contains(word));
            let lost = was.words.iter().filter(gone).count();
            let fresh = |word: &&&str| names_tests(word) && !was.words.contains(*word);
            let came = is.words.iter().filter(fresh).count();
            if stays && lost > came {
                found.push(remark(Kind::Lost, is.line));
            }
        }
        let known: BTreeSet<(&str, &str)> = list_left_out(before).iter().map(|one| one.0).collect();
        for (what, line) in list_left_out(after) {
            if !known.contains(&what) {
                found.push(remark(Kind::Skipped, line));
            }
        }
    }
    found
}

/// Settings, scripts and build files; of code only what runs as a script.
fn runs_tests(edit: &Edited) -> bool {
    let script = [".sh", ".bash", ".mk"]
        .iter()
        .any(|end| edit.path.ends_with(end));
    let code = [".py", ".js", ".ts", ".mjs", ".cjs", ".mts", ".rs", ".go"]
        .iter()
        .any(|end| edit.path.ends_with(end));
    match edit.class {
        Class::Gate => !code,
        Class::Test => script,
        Class::Source | Class::Docs => false,
    }
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || "\"'`,:;()[]{}=|&<>".contains(c)
}

/// A path or a name; no option, number or version.
fn names_tests(word: &str) -> bool {
    word.len() > 2
        && word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '.' | '/' | '_'))
        && !word.contains(['$', '*', '@', ':'])
        && word.chars().any(char::is_alphabetic)
}

/// One of the words is a directory above it, or all there is.
fn is_covered(word: &str, by: &[&str]) -> bool {
    by.iter().any(|other| {
        let other = other.trim_end_matches("...").trim_end_matches(['/', '*']);
        let own = word.trim_start_matches("./");
        matches!(other, "." | "")
            || own
                .strip_prefix(other.trim_start_matches("./"))
                .is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Lists by what they are called: `SUITES = a b`, `for t in a b; do`, `suite: [a, b]`, `pytest a b`.
fn read_lists(text: &str) -> BTreeMap<(String, usize), List<'_>> {
    let mut found: BTreeMap<(String, usize), List> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut open: Option<(String, usize)> = None;
    for (at, line) in text.lines().enumerate().take(LONGEST) {
        let own = line.trim();
        if own.is_empty() || own.starts_with('#') || own.starts_with("//") {
            continue;
        }
        // The rest of a list that goes on: `- a` below its name, or behind a backslash.
        let item = own
            .strip_prefix("- ")
            .filter(|rest| !rest.contains(": ") && !rest.ends_with(':'));
        let goes_on = at > 0
            && text
                .lines()
                .nth(at - 1)
                .is_some_and(|above| above.trim_end().ends_with('\\'));
        if let Some(list) = open.as_ref().filter(|_| item.is_some() || goes_on) {
            if let Some(list) = found.get_mut(list) {
                list.words.extend(
                    item.unwrap_or(own)
                        .split(is_end)
                        .filter(|word| !word.is_empty()),
                );
            }
            continue;
        }
        open = None;
        let Some((key, rest)) = split_list(own) else {
            continue;
        };
        let place = counts.entry(key.clone()).or_default();
        let whole = (key.clone(), *place);
        *place += 1;
        let words = rest
            .split(is_end)
            .filter(|word| !word.is_empty() && *word != "\\");
        found.insert(
            whole.clone(),
            List {
                line: at + 1,
                words: words.collect(),
                tests: names_check(&split_words(own)) || is_used_for_tests(text, &key),
            },
        );
        open = Some(whole);
    }
    found
}

fn split_list(own: &str) -> Option<(String, &str)> {
    let own = own.trim_start_matches("- ").trim_start_matches("run: ");
    if let Some(rest) = own.strip_prefix("for ") {
        let (name, rest) = rest.split_once(" in ")?;
        return Some((
            format!("for {name}"),
            rest.split("; do").next().unwrap_or(rest),
        ));
    }
    let name = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    for mark in [":=", "+=", "?=", "=", ":"] {
        if let Some((key, rest)) = own.split_once(mark)
            && name(key.trim())
        {
            return Some((key.trim().to_owned(), rest));
        }
    }
    // A command and the paths that it is given.
    let own = own
        .split(['|', '&', ';', '>'])
        .next()
        .unwrap_or(own)
        .trim_end();
    let words = own.split_whitespace().take(4);
    let begin: Vec<&str> = words
        .take_while(|word| !word.contains(['/', '.', '-']))
        .collect();
    let (first, rest) = own.split_at(own.find(char::is_whitespace)?);
    let paths = rest
        .split_whitespace()
        .filter(|word| word.contains(['/', '.', '_']));
    let named = names_check(&split_words(own)) && paths.count() > 0;
    named.then(|| (format!("$ {}", begin.first().unwrap_or(&first)), rest))
}

fn split_words(line: &str) -> String {
    line.replace(['_', '-', '/', '.'], " ").to_lowercase()
}

/// A line that is about tests uses the name.
fn is_used_for_tests(text: &str, key: &str) -> bool {
    let name = key.trim_start_matches("for ");
    let uses = |line: &str| {
        ["$(", "${", "$", "matrix."].iter().any(|begin| {
            line.match_indices(begin).any(|(at, _)| {
                let rest = &line[at + begin.len()..];
                rest.strip_prefix(name).is_some_and(|rest| {
                    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                })
            })
        })
    };
    let mut lines = text.lines().take(LONGEST);
    let direct = lines.any(|line| uses(line) && names_check(&split_words(line)));
    // A make target for each: `$(SUITES):` and below it what they run.
    direct
        || text
            .lines()
            .zip(text.lines().skip(1))
            .take(LONGEST)
            .any(|(line, next)| {
                uses(line) && line.contains("):") && names_check(&split_words(next))
            })
}

/// What is left out, with the line: the option, and what it is given.
fn list_left_out(text: &str) -> Vec<((&str, &str), usize)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate().take(LONGEST) {
        let own = line.trim();
        let lower = own.to_lowercase();
        let of_tests = ["test", "addopts", "jest", "nextest", "mvn"]
            .iter()
            .any(|word| lower.contains(word))
            || own.starts_with('-')
            || own.starts_with("norecursedirs");
        if own.starts_with('#') || !of_tests {
            continue;
        }
        let mut words = own
            .split(|c: char| c.is_whitespace() || "\"'=,[]()".contains(c))
            .filter(|word| !word.is_empty())
            .peekable();
        while let Some(word) = words.next() {
            let next = words.peek().copied().unwrap_or_default();
            let denies = matches!(word, "-k" | "-m") && next == "not";
            if LEAVES_OUT.contains(&word) || denies {
                found.push(((word, next), at + 1));
            }
        }
    }
    found
}
