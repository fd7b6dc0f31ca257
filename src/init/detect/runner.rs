//! Targets of make and just, for repositories whose build tool brings no test.

use super::check::{Check, Proposed};
use super::files::Files;
use crate::init::error::Error;

pub(super) fn detect(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
    let justfiles = ["justfile", "Justfile", ".justfile"];
    if let Some(source) = files.first(&justfiles) {
        let text = files.text(source)?.unwrap_or_default();
        if let Some(run) = choose(&text, recipe, ["just check", "just test"]) {
            found.add(Check::new("just", "test", source, run));
            found.add_caches(&build_directories(files));
            return Ok(());
        }
    }
    // The order in which make itself looks.
    if let Some(source) = files.first(&["GNUmakefile", "makefile", "Makefile"]) {
        let text = files.text(source)?.unwrap_or_default();
        if let Some(run) = choose(&text, target, ["make check", "make test"]) {
            found.add(Check::new("make", "test", source, run));
            found.add_caches(&build_directories(files));
        }
    }
    Ok(())
}

/// Where recipes put what they make: of the usual names those that git is told to leave out.
fn build_directories(files: &Files<'_>) -> Vec<&'static str> {
    const USUAL: [&str; 7] = ["build", "_build", ".build", "out", "obj", "dist", "bin"];
    let asked = USUAL.map(|name| format!("{name}/"));
    let ignored = files.list_ignored(&asked.each_ref().map(String::as_str));
    let pairs = USUAL.into_iter().zip(&asked);
    let dirs = pairs.filter(|(_, asked)| ignored.contains(*asked));
    dirs.map(|(name, _)| name).collect()
}

/// `test` where it is defined, else `check`.
fn choose(
    text: &str,
    defines: fn(&str, &str) -> bool,
    [check, test]: [&'static str; 2],
) -> Option<&'static str> {
    let defined = |name| text.lines().any(|line| defines(line, name));
    if defined("test") {
        Some(test)
    } else {
        defined("check").then_some(check)
    }
}

/// `test: deps`, `lint test:`, `test::`, and not `test := value`.
fn target(line: &str, name: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else {
        return false;
    };
    let assigns = rest.trim_start_matches(':').starts_with('=');
    !line.starts_with(char::is_whitespace)
        && !assigns
        && targets.split_whitespace().any(|target| target == name)
}

/// `test:`, `@test: deps`, and with parameters only when none has to be given.
fn recipe(line: &str, name: &str) -> bool {
    let line = line.strip_prefix('@').unwrap_or(line);
    let Some((head, rest)) = line.split_once(':') else {
        return false;
    };
    let mut words = head.split_whitespace();
    let named = words.next() == Some(name) && head.starts_with(name);
    let optional = |word: &str| word.starts_with('*') || word.contains('=');
    named && !rest.starts_with('=') && words.all(optional)
}
