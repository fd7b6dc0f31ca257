//! Edits of what decides whether tests run and count: CI, build and runner settings, scripts that
//! a gate names, the contract.

use crate::diagnostic::count_noun;
use cook_strength::{Class, Edited, names_check};
use std::collections::BTreeMap;

/// What keeps a check from running, or from counting, blanks left out.
const SILENCES: [&str; 26] = [
    "exit0",
    "return0",
    "collect_ignore",
    "testPathIgnorePatterns",
    "modulePathIgnorePatterns",
    "--ignore=",
    "--deselect",
    "--testPathIgnore",
    "norecursedirs",
    "autotests=false",
    "test=false",
    "doctest=false",
    "required=false",
    "place=\"worktree\"",
    "place='worktree'",
    ".IGNORE",
    "MAKEFLAGS+=-i",
    "if:false",
    "if:${{false}}",
    "\"test\":\"true\"",
    "\"test\":\"echo",
    "\"test\":\":\"",
    "@true",
    "-DskipTests",
    "maven.test.skip",
    "--no-tests",
];
/// Options that leave some tests out.
const SELECTS: [&str; 12] = [
    "-k",
    "-run",
    "--run",
    "--grep",
    "--filter",
    "--only",
    "--test-only",
    "--skip",
    "--exclude",
    "--test-name-pattern",
    "--testNamePattern",
    "--testPathPattern",
];
/// Characters of a line that are shown.
const SHOWN: usize = 100;

/// What an edit does to the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Something of them is gone or silenced.
    TakesAway,
    /// They are other ones, no fewer.
    Changes,
    /// They are all there, and more.
    Adds,
}

/// An edit of such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsEdit<'a> {
    /// The file.
    pub path: &'a str,
    /// What it does, in words that follow the path.
    pub what: String,
    /// The same in one word.
    pub effect: Effect,
}

/// Edits of settings that touch checks, by a plain rule: a line that names a check is gone and none
/// stands in its place, or a line came that keeps checks from counting. What names no check (a
/// version, a dependency) is not told.
pub fn list_settings_edits<'a>(edits: &[Edited<'a>]) -> Vec<SettingsEdit<'a>> {
    let gates = edits.iter().filter(|edit| edit.class == Class::Gate);
    gates.filter_map(|edit| look(edit, edits)).collect()
}

fn look<'a>(edit: &Edited<'a>, all: &[Edited<'a>]) -> Option<SettingsEdit<'a>> {
    let found = |what: String, effect| {
        Some(SettingsEdit {
            path: edit.path,
            what,
            effect,
        })
    };
    let Some(after) = edit.after else {
        let moved = all
            .iter()
            .any(|other| other.after.is_some() && other.after == edit.before);
        let named = checks(edit.path, edit.before?);
        return match moved || named.is_empty() {
            true => None,
            false => found("is deleted".to_owned(), Effect::TakesAway),
        };
    };
    let before = edit.before.unwrap_or("");
    let (was, is) = (checks(edit.path, before), checks(edit.path, after));
    let (gone, new) = (beyond(&was, &is), beyond(&is, &was));
    let silences = |text: &'a str| -> Vec<&'a str> {
        let lines = lines(edit.path, text);
        lines.filter(|line| is_silence(line)).collect()
    };
    let silent = beyond(&silences(after), &silences(before));
    if let Some(line) = silent.first() {
        let what = format!("keeps checks from counting: {}", cut(line));
        return found(what, Effect::TakesAway);
    }
    if let Some(line) = new
        .iter()
        .find(|new| gone.iter().any(|old| narrows(old, new)))
    {
        let what = format!("leaves tests out: {}", cut(line));
        return found(what, Effect::TakesAway);
    }
    if gone.len() > new.len() {
        let what = format!("does not say any more: {}", cut(gone[0]));
        return found(what, Effect::TakesAway);
    }
    match (new.first(), edit.before) {
        (Some(line), Some(_)) => found(
            format!(
                "is edited in {} that names a check: {}",
                count_noun(new.len() as u64, "line"),
                cut(line)
            ),
            match gone.is_empty() {
                true => Effect::Adds,
                false => Effect::Changes,
            },
        ),
        _ => None,
    }
}

/// Lines without blanks around them, and without those that are nothing but a comment.
fn lines<'a>(path: &str, text: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
    let is_code = path.ends_with(".js") || path.ends_with(".ts") || path.ends_with(".gradle");
    text.lines().map(str::trim).filter(move |line| {
        !(line.is_empty() || line.starts_with('#') || is_code && line.starts_with("//"))
    })
}

/// Lines that name a check. In a script each line is one: what it runs is what counts.
fn checks<'a>(path: &str, text: &'a str) -> Vec<&'a str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_script = name.ends_with(".sh") || !name.contains('.') && text.starts_with("#!");
    lines(path, text)
        .filter(|line| is_script || names_check(line))
        .collect()
}

fn is_silence(line: &str) -> bool {
    let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    SILENCES.iter().any(|mark| dense.contains(mark))
}

/// The new line says what the old one says and more, and of that something selects tests.
fn narrows(old: &str, new: &str) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.split_whitespace().collect(),
        new.split_whitespace().collect(),
    );
    let more = beyond(&new, &old);
    if !beyond(&old, &new).is_empty() {
        return false;
    }
    let selects = more.iter().any(|word| {
        let option = word.split('=').next().unwrap_or(word);
        SELECTS.contains(&option) && !means_another(word, &new)
    });
    // A word right behind `cargo test` is a filter.
    let filter = |words: &[&str]| {
        let at = words.windows(3).find(|w| w[0] == "cargo" && w[1] == "test");
        at.is_some_and(|w| w[2].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    selects || filter(&new) && !filter(&old)
}

/// An option that leaves no tests out, right behind the program that it is one of: `make -k` goes on
/// after an error, `vitest --run` does not wait for changes.
fn means_another(option: &str, line: &[&str]) -> bool {
    let program = match option {
        "-k" => "make",
        "--run" => "vitest",
        _ => return false,
    };
    let mut named = line.iter().enumerate().filter(|(_, word)| **word == option);
    named.all(|(at, _)| {
        let mut before = line[..at].iter().rev();
        before
            .find(|word| !word.starts_with('-'))
            .is_some_and(|word| word.rsplit('/').next() == Some(program))
    })
}

/// Lines of `these` that `others` does not hold, each as often.
fn beyond<'a>(these: &[&'a str], others: &[&str]) -> Vec<&'a str> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for line in others {
        *known.entry(line).or_default() += 1;
    }
    let mut left = these.to_vec();
    left.retain(|line| match known.get_mut(line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    left
}

fn cut(line: &str) -> &str {
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell_edit(
        path: &str,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Option<(String, Effect)> {
        let edit = Edited {
            path,
            class: Class::Gate,
            before,
            after,
        };
        let found = list_settings_edits(&[edit]);
        found.first().map(|edit| (edit.what.clone(), edit.effect))
    }

    #[test]
    fn what_takes_checks_away_is_told_from_what_edits_them() {
        for (path, before, after, takes_away) in [
            (
                "Makefile",
                "test:\n\tpytest -q\n",
                "test:\n\t@echo ok\n",
                true,
            ),
            (
                "check.sh",
                "#!/bin/sh\npython3 -m unittest\n",
                "#!/bin/sh\nexit 0\n",
                true,
            ),
            ("check.sh", "#!/bin/sh\na\nb\n", "#!/bin/sh\na\n", true),
            (
                ".github/workflows/ci.yml",
                "    - run: cargo test\n    - run: cargo clippy\n",
                "    - run: cargo test\n",
                true,
            ),
            (
                "package.json",
                "\"test\": \"jest\"\n",
                "\"test\": \"exit 0\"\n",
                true,
            ),
            ("Cargo.toml", "[lib]\n", "[lib]\ntest = false\n", true),
            (
                ".agent/cook.toml",
                "run = \"make test\"\n",
                "run = \"make test\"\nplace = \"worktree\"\n",
                true,
            ),
            (
                "Makefile",
                "test:\n\tpytest\n",
                ".IGNORE:\ntest:\n\tpytest\n",
                true,
            ),
            ("check.sh", "pytest -q\n", "pytest -q -k one\n", true),
            ("Makefile", "\tcargo test\n", "\tcargo test one\n", true),
            (
                "Makefile",
                "\tgo test ./...\n",
                "\tgo test -run=One ./...\n",
                true,
            ),
            (
                "Makefile",
                "\tcargo test\n",
                "\tcargo test --workspace\n",
                false,
            ),
            (
                "Makefile",
                "\tcargo test one\n",
                "\tcargo test one --locked\n",
                false,
            ),
            ("Makefile", "\tpytest -k one\n", "\tpytest\n", false),
            ("check.sh", "make test\n", "make -k test\n", false),
            ("check.sh", "vitest\n", "vitest --run\n", false),
            ("check.sh", "vitest\n", "vitest --run --grep=one\n", true),
            (
                "check.sh",
                "make && pytest\n",
                "make && pytest -k one\n",
                true,
            ),
            (
                "package.json",
                "\"test\": \"jest\"\n",
                "\"test\": \"jest --ci\"\n",
                false,
            ),
            (
                "Makefile",
                "test:\n\tpytest\n",
                "test:\n\tpytest\n\truff check\n",
                false,
            ),
        ] {
            let found = tell_edit(path, Some(before), Some(after));
            assert_eq!(
                found.as_ref().map(|found| found.1 == Effect::TakesAway),
                Some(takes_away),
                "{path}: {found:?}"
            );
        }
        for (after, effect) in [
            ("test:\n\tpytest\n\truff check\n", Effect::Adds),
            ("test:\n\tpytest --strict-markers\n", Effect::Changes),
        ] {
            let found = tell_edit("Makefile", Some("test:\n\tpytest\n"), Some(after));
            assert_eq!(found.map(|found| found.1), Some(effect), "{after}");
        }
        let gone = tell_edit("ci/Makefile", Some("test:\n\tpytest\n"), None);
        assert_eq!(gone, Some(("is deleted".to_owned(), Effect::TakesAway)));
    }

    #[test]
    fn a_dependency_a_version_or_a_new_file_is_not_told() {
        for (path, before, after) in [
            (
                "Cargo.toml",
                Some("version = \"1.0\"\n"),
                "version = \"1.1\"\nserde = \"1\"\nproptest = \"1\"\n",
            ),
            (
                "package.json",
                Some("\"left\": \"1\"\n"),
                "\"left\": \"2\"\n",
            ),
            ("Makefile", None, "test:\n\tpytest\n"),
            ("Makefile", Some("# test\nall:\n"), "all:\n"),
        ] {
            assert_eq!(tell_edit(path, before, Some(after)), None, "{path}");
        }
    }
}
