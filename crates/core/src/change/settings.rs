//! Edits of what decides whether tests run and count: CI, build and runner settings, scripts that
//! a gate names, the contract.

use crate::diagnostic::count_noun;
use cook_strength::{Class, Edited, is_harmless, names_check};
use std::collections::BTreeMap;

/// What keeps a check from running, or from counting, blanks left out.
const SILENCES: [&str; 41] = [
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
    "--collect-only",
    "passWithNoTests:true",
    "\"passWithNoTests\":true",
    "--passWithNoTests",
    "testMatch:[]",
    "\"testMatch\":[]",
    "continue-on-error:true",
    "allow_failure:true",
    "ignore_outcome=true",
    "ignoreFailures=true",
    "test.failure.ignore",
    "items.clear()",
    "items[:]=[]",
    "exitstatus=0",
    "script-shell=",
];
/// Commands that say nothing and pass.
const PASSES: [&str; 4] = ["true", ":", "/bin/true", "/usr/bin/true"];
/// What makes of a shell that a `Makefile` names one.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "pwsh"];
/// Options that leave some tests out.
const SELECTS: [&str; 13] = [
    "-k",
    "-run",
    "--run",
    "--grep",
    "--filter",
    "--only",
    "--test-only",
    "--no-run",
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
    let silent = beyond(
        &list_silences(edit.path, after),
        &list_silences(edit.path, before),
    );
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
    let is_code = is_code(path);
    text.lines().map(str::trim).filter(move |line| {
        !(line.is_empty() || line.starts_with('#') || is_code && line.starts_with("//"))
    })
}

fn is_code(path: &str) -> bool {
    [".js", ".ts", ".gradle"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Lines that name a check. In a script each line is one: what it runs is what counts.
fn checks<'a>(path: &str, text: &'a str) -> Vec<&'a str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_script = name.ends_with(".sh") || !name.contains('.') && text.starts_with("#!");
    lines(path, text)
        .filter(|line| is_script || names_check(line))
        .collect()
}

/// Lines that keep a check from running, or from counting.
fn list_silences<'a>(path: &str, text: &'a str) -> Vec<&'a str> {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_code = is_code(path);
    let has_recipes = name.ends_with("makefile") || name.ends_with(".mk");
    let takes_dash = has_recipes || name.ends_with("justfile") || name == "tox.ini";
    let of_cargo = path.split('/').any(|part| part == ".cargo");
    let mut goes_on = false;
    let mut found = Vec::new();
    for whole in text.lines() {
        let is_rest = std::mem::replace(&mut goes_on, whole.ends_with('\\'));
        let Some(line) = lines(path, whole).next() else {
            continue;
        };
        let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let is_silent = SILENCES.iter().any(|mark| dense.contains(mark))
            || !is_code && passes_anyway(line)
            || takes_dash && !is_rest && ignores_failure(line)
            || has_recipes && names_no_shell(&dense)
            || of_cargo && dense.starts_with("runner=");
        if is_silent {
            found.push(line);
        }
    }
    found
}

/// `CHECK || true`, `true || CHECK`, `CHECK; true`.
fn passes_anyway(line: &str) -> bool {
    let quotes = ['"', '\'', ',', ')', ']', '}', ' '];
    let runs_check =
        |command: &str| (names_check(command) || command.contains(".sh")) && !is_harmless(command);
    for (at, _) in line.match_indices("||") {
        let (command, rest) = (&line[..at], line[at + 2..].trim_start());
        let word = rest.split([' ', ';', '"', '\'', ',', ')', '}', '`']).next();
        let says_so = matches!(word, Some("echo" | "printf"))
            && !["exit", "return", "false"]
                .iter()
                .any(|word| rest.contains(word));
        let passes = says_so || word.is_some_and(|word| PASSES.contains(&word));
        if passes && runs_check(command) {
            return true;
        }
        let before = command.rsplit(['"', '\'', ';', '&', '{', '(']).next();
        let before = before
            .unwrap_or(command)
            .trim()
            .trim_start_matches(['@', '-']);
        let before = before.rsplit(": ").next().unwrap_or(before).trim();
        if PASSES.contains(&before) && names_check(rest) {
            return true;
        }
    }
    let (command, last) = line
        .trim_end_matches(quotes)
        .rsplit_once(';')
        .unwrap_or_default();
    PASSES.contains(&last.trim()) && runs_check(command)
}

/// `-COMMAND` in a recipe: whatever comes of it, it goes on.
fn ignores_failure(line: &str) -> bool {
    let command = line
        .split_once('=')
        .map_or(line, |(key, value)| match key.trim() {
            "commands" => value.trim(),
            _ => line,
        });
    let Some(command) = command.trim_start_matches('@').strip_prefix('-') else {
        return false;
    };
    let command = command.trim_start_matches('@');
    let word = command.split_whitespace().next().unwrap_or_default();
    let is_command =
        word.len() > 1 && word.starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '$');
    is_command && !matches!(word, "include" | "load") && !is_harmless(command)
}

/// What a `Makefile` gives its commands to is no shell.
fn names_no_shell(dense: &str) -> bool {
    let own = ["export", "override"]
        .iter()
        .fold(dense, |line, word| line.strip_prefix(word).unwrap_or(line));
    let Some(value) = own.strip_prefix("SHELL") else {
        return false;
    };
    let Some((mark, shell)) = value.split_once('=') else {
        return false;
    };
    let shell = shell.rsplit('/').next().unwrap_or(shell);
    let of_env = shell.strip_prefix("env").unwrap_or(shell);
    matches!(mark, "" | ":" | "::" | "?" | "+")
        && !SHELLS.iter().any(|known| of_env.starts_with(known))
}

/// In a document a command stands between quotes, which are not of its words.
fn list_words(line: &str) -> Vec<&str> {
    let signs = ['"', '\'', ',', '[', ']', '{', '}', '(', ')'];
    let words = line.split_whitespace().map(|word| word.trim_matches(signs));
    words.filter(|word| !word.is_empty()).collect()
}

/// The new line says what the old one says and more, and of that something selects tests.
fn narrows(old: &str, new: &str) -> bool {
    let (old, new) = (list_words(old), list_words(new));
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
            ("Makefile", "t:\n\tpytest\n", "t:\n\tpytest || true\n", true),
            ("Makefile", "t:\n\tpytest\n", "t:\n\ttrue || pytest\n", true),
            ("Makefile", "t:\n\tsh t.sh\n", "t:\n\tsh t.sh; true\n", true),
            ("Makefile", "t:\n\tpytest\n", "t:\n\t@-pytest\n", true),
            (
                "Makefile",
                "t:\n\tpytest\n",
                "SHELL := /bin/true\nt:\n\tpytest\n",
                true,
            ),
            ("justfile", "t:\n  pytest\n", "t:\n  -pytest\n", true),
            (
                "tox.ini",
                "commands = pytest\n",
                "commands = -pytest\n",
                true,
            ),
            (
                "package.json",
                "\"test\": \"jest\"\n",
                "\"test\": \"jest || true\"\n",
                true,
            ),
            (
                "package.json",
                "\"test\": \"jest\"\n",
                "\"test\": \"true || jest\"\n",
                true,
            ),
            (".npmrc", "", "script-shell=/bin/true\n", true),
            (
                "pytest.ini",
                "addopts = -q\n",
                "addopts = -q --collect-only\n",
                true,
            ),
            (
                ".cargo/config.toml",
                "jobs = 2\n",
                "jobs = 2\nrunner = \"true\"\n",
                true,
            ),
            (
                "conftest.py",
                "",
                "def pytest_collection_modifyitems(items): items.clear()\n",
                true,
            ),
            (
                ".github/workflows/t.yml",
                "- run: cargo test\n",
                "- run: cargo test || true\n",
                true,
            ),
            (
                ".github/workflows/t.yml",
                "- run: cargo test\n",
                "- run: cargo test\n  continue-on-error: true\n",
                true,
            ),
            (
                ".github/workflows/t.yml",
                "- run: cargo test\n",
                "- run: cargo test\n- run: cargo test || exit 1\n",
                false,
            ),
            (
                "Makefile",
                "t:\n\tcargo test\n",
                "t:\n\tcargo test --no-run\n",
                true,
            ),
            ("check.sh", "pytest -q\n", "pytest -q -k one\n", true),
            ("Makefile", "\tcargo test\n", "\tcargo test one\n", true),
            (
                "package.json",
                "{\"scripts\": {\"test\": \"node --test\"}}\n",
                "{\"scripts\": {\"test\": \"node --test --test-name-pattern=one\"}}\n",
                true,
            ),
            (
                "package.json",
                "    \"test\": \"jest\",\n",
                "    \"test\": \"jest --testNamePattern=one\",\n",
                true,
            ),
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
    fn what_touches_no_check_is_not_told() {
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
            (
                "Makefile",
                Some("t:\n\tpytest\n"),
                "SHELL = /bin/bash\nt:\n\tpytest\n",
            ),
            (
                "Makefile",
                Some("t:\n\tpytest\n"),
                "t:\n\tpytest\n\t-rm -r out\n",
            ),
            (
                "Makefile",
                Some("t:\n\tgo test \\\n\t-v\n"),
                "t:\n\tgo test \\\n\t-race\n",
            ),
            (
                "Makefile",
                Some("t:\n\tpytest\n"),
                "t:\n\trm out || true\n\tpytest\n",
            ),
            ("tox.ini", Some("deps =\n"), "deps =\n  -r dev.txt\n"),
        ] {
            assert_eq!(tell_edit(path, before, Some(after)), None, "{path}");
        }
    }
}
