//! What the branch changes in files by which the base's gates find what they run.
//!
//! Such a file is work as well, so lines that decide nothing there are let through: a dependency, a rule
//! that no gate reaches. Everything else waits for a person.

use super::runners::Ways;
use super::targets;
use super::values;
use cook_core::change::{Contract, ContractFile, Difference, Part, Strength};
use cook_core::diagnostic::{Lines, clean};
use std::collections::BTreeSet;

/// Characters of a line that are shown.
const SHOWN: usize = 100;

/// Files in which the branch (from `fork` to `head`) changes what the gates of the base run, beside those
/// that were told already.
pub(super) fn list_differences(
    base: &Contract,
    commands: &[String],
    fork: &Contract,
    head: &Contract,
    told: &[Difference],
) -> Vec<Difference> {
    let ways = Ways::follow(base, commands);
    let paths: BTreeSet<&String> = fork.files.keys().chain(head.files.keys()).collect();
    let mut found = Vec::new();
    for path in paths {
        let (was, is) = (fork.files.get(path), head.files.get(path));
        let is_same = was
            .zip(is)
            .is_some_and(|(was, is)| (&was.mode, &was.id) == (&is.mode, &is.id));
        let is_of_checks = was.or(is).is_some_and(|file| file.part == Part::Checks);
        let is_told = told.iter().any(|one| one.file == *path && one.is_weaker());
        if is_same || is_told || !is_of_checks || !ways.lead_to(path) {
            continue;
        }
        if let Some(what) = describe(path, was, is, &ways) {
            found.push(Difference {
                file: path.clone(),
                field: String::new(),
                strength: Strength::NotComparable,
                what,
                is_judge: false,
            });
        }
    }
    found
}

fn describe(
    path: &str,
    was: Option<&ContractFile>,
    is: Option<&ContractFile>,
    ways: &Ways,
) -> Option<String> {
    let Some(is) = is else {
        return Some("is removed, and a gate of the base goes by it".to_owned());
    };
    let text = |file: &ContractFile| {
        let bytes = file.bytes.as_deref()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let Some(after) = text(is) else {
        return Some("is no file that can be read, and a gate of the base goes by it".to_owned());
    };
    let before = was.and_then(text);
    let line = find_line(path, before.as_deref(), &after, ways)?;
    let line = clean(line.trim(), Lines::Fold);
    let shown = match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_string(),
    };
    Some(match was {
        Some(_) => format!("is edited where it says what a gate of the base runs: {shown}"),
        None => format!("is new, and says what a gate of the base runs: {shown}"),
    })
}

/// What is first of what changed and decides; none where all of it decides nothing.
fn find_line(path: &str, before: Option<&str>, after: &str, ways: &Ways) -> Option<String> {
    let lower = path.to_lowercase();
    let old = before.unwrap_or("");
    match lower.rsplit('/').next().unwrap_or(&lower) {
        "package.json" => values::find_in_package(old, after, path, ways),
        "cargo.toml" => values::find_in_cargo(old, after),
        "pyproject.toml" => values::find_in_pyproject(old, after),
        "conftest.py" => find_hook(old, after),
        "go.mod" | "go.work" => find_changed(&list_go_lines(old), &list_go_lines(after)),
        name if before.is_some()
            && (name.contains("makefile")
                || name.contains("justfile")
                || name.ends_with(".mk")) =>
        {
            targets::find_edit(path, old, after, ways)
        }
        _ if before.is_none() => Some(lines(after).first().map_or("", |line| line).to_owned()),
        _ => find_changed(&lines(old), &lines(after)),
    }
}

/// Lines without blanks around them and without comments.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
        .collect()
}

/// The first line that is another one, or the first that is gone.
fn find_changed(was: &[&str], is: &[&str]) -> Option<String> {
    let at = was.iter().zip(is).position(|(was, is)| was != is);
    let at = at.unwrap_or(was.len().min(is.len()));
    is.get(at).or(was.get(at)).map(|line| (*line).to_owned())
}

/// Fixtures are work; hooks and what leaves tests out decide.
fn find_hook(before: &str, after: &str) -> Option<String> {
    const DECIDES: [&str; 6] = [
        "pytest_",
        "collect_ignore",
        "exit",
        "skip",
        "xfail",
        "deselect",
    ];
    let (was, is) = (lines(before), lines(after));
    // What a hook does stands in lines that do not name it.
    if [before, after]
        .iter()
        .any(|text| text.contains("def pytest_"))
    {
        return find_changed(&was, &is);
    }
    let beyond = |these: &[&str], others: &[&str]| {
        let decides = |line: &&&str| {
            !others.contains(*line) && DECIDES.iter().any(|word| line.contains(word))
        };
        these.iter().find(decides).map(|line| (*line).to_owned())
    };
    beyond(&is, &was).or_else(|| beyond(&was, &is))
}

/// Lines of a `go.mod` that say more than which modules, in which versions, are required.
fn list_go_lines(text: &str) -> Vec<&str> {
    let mut in_requirements = false;
    let lines = text.lines().map(str::trim);
    let own = lines.filter(|line| {
        if in_requirements {
            in_requirements = *line != ")";
            return false;
        }
        in_requirements = line.starts_with("require") && line.ends_with('(');
        let plain = ["require ", "module ", "go ", "//"];
        !(in_requirements || line.is_empty() || plain.iter().any(|word| line.starts_with(word)))
    });
    own.collect()
}
