//! The shape of the source: modules import only from those before them, the pure
//! ones touch nothing outside, every module says what it is for, and no test
//! file is forgotten.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules of `src/`, each allowed to import from those before it.
const ORDER: [&str; 27] = [
    "model",
    "diagnostic",
    "schema",
    "report",
    "change",
    "brief",
    "machine",
    "prompt",
    "clock",
    "process",
    "scripted",
    "repo",
    "store",
    "receipt",
    "anchor",
    "session",
    "agent",
    "measure",
    "tracker",
    "scaffold",
    "walk",
    "hook",
    "verify",
    "drive",
    "demo",
    "view",
    "cli",
];

/// Modules that decide from values alone.
const PURE: [&str; 8] = [
    "model",
    "diagnostic",
    "schema",
    "report",
    "change",
    "brief",
    "machine",
    "prompt",
];

/// What a pure module may not name.
const EFFECTS: [&str; 18] = [
    "std::fs",
    "std::process",
    "std::env",
    "std::time",
    "std::net",
    "std::thread",
    "std::io",
    "git2",
    "libgit2_sys",
    "duct",
    "process_wrap",
    "tempfile",
    "ulid",
    "nix",
    "signal_hook",
    "time::OffsetDateTime::now_utc",
    "time::UtcDateTime::now",
    "OffsetDateTime::now_utc",
];

/// A length of time is a value, not a clock.
const VALUES: [&str; 1] = ["std::time::Duration"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The code without comments, and with the contents of texts and characters left out.
fn code_of(source: &str) -> String {
    let source: Vec<char> = source.chars().collect();
    let at = |i: usize| source.get(i).copied().unwrap_or('\0');
    let mut code = String::new();
    let mut i = 0;
    while i < source.len() {
        match (at(i), at(i + 1)) {
            ('/', '/') => i = skip(&source, i, |i| at(i) == '\n'),
            ('/', '*') => i = end_of_comment(&source, i),
            ('r', '"' | '#') if !word(at(i.wrapping_sub(1))) && raw_text(&source, i) > 0 => {
                i = raw_text(&source, i);
            }
            ('"', _) => i = end_of_text(&source, i),
            ('\'', '\\') => i = skip(&source, i + 3, |i| at(i) == '\'') + 1,
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (c, _) => {
                code.push(c);
                i += 1;
            }
        }
    }
    code
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn skip(source: &[char], from: usize, stop: impl Fn(usize) -> bool) -> usize {
    (from..source.len())
        .find(|i| stop(*i))
        .unwrap_or(source.len())
}

fn end_of_comment(source: &[char], from: usize) -> usize {
    let mut depth = 0;
    let mut i = from;
    while i + 1 < source.len() {
        match (source[i], source[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    source.len()
}

fn end_of_text(source: &[char], from: usize) -> usize {
    let mut i = from + 1;
    while i < source.len() && source[i] != '"' {
        i += if source[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The end of the raw text that begins here; 0 when none does.
fn raw_text(source: &[char], from: usize) -> usize {
    let marks = source[from + 1..].iter().take_while(|c| **c == '#').count();
    if source.get(from + 1 + marks) != Some(&'"') {
        return 0;
    }
    let end: Vec<char> = std::iter::once('"')
        .chain(std::iter::repeat_n('#', marks))
        .collect();
    let start = from + 2 + marks;
    (start..source.len())
        .find(|i| source[*i..].starts_with(&end))
        .map_or(source.len(), |i| i + end.len())
}

/// The code without what is compiled for tests only, and the modules that are.
fn shipped(code: &str) -> (String, Vec<String>) {
    let mut kept = String::new();
    let mut test_modules = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..start]);
        let item = &rest[start + "#[cfg(test)]".len()..];
        let stop = item.find([';', '{']).unwrap_or(item.len());
        if item[stop..].starts_with('{') {
            rest = &item[stop + block_length(&item[stop..])..];
        } else {
            let name = item[..stop].trim().rsplit(' ').next().unwrap_or_default();
            test_modules.push(name.to_owned());
            rest = item.get(stop + 1..).unwrap_or_default();
        }
    }
    kept.push_str(rest);
    (kept, test_modules)
}

fn block_length(block: &str) -> usize {
    let mut depth = 0usize;
    for (i, c) in block.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    block.len()
}

/// Every path the code names, with the groups of `use` spelled out.
fn paths(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let chars: Vec<char> = code.chars().collect();
    let mut i = 0;
    while i < chars.len() {
        if word(chars[i]) && (i == 0 || !word(chars[i - 1])) {
            i = path(&chars, i, "", &mut found);
        } else {
            i += 1;
        }
    }
    found
}

/// Reads one path or `use` tree and returns where it ends.
fn path(chars: &[char], from: usize, prefix: &str, found: &mut BTreeSet<String>) -> usize {
    let blank = |mut i: usize| {
        while i < chars.len() && chars[i].is_whitespace() {
            i += 1;
        }
        i
    };
    let mut path = prefix.to_owned();
    let mut i = from;
    loop {
        let end = skip(chars, i, |i| !word(chars[i]));
        path.extend(&chars[i..end]);
        i = end;
        let next = blank(i);
        if !chars[next.min(chars.len())..].starts_with(&[':', ':']) {
            found.insert(path);
            return i;
        }
        path.push_str("::");
        i = blank(next + 2);
        match chars.get(i) {
            Some('{') => break,
            Some(c) if word(*c) => {}
            _ => {
                found.insert(path);
                return i;
            }
        }
    }
    i += 1;
    while i < chars.len() && chars[i] != '}' {
        i = match chars[i] {
            c if word(c) => self::path(chars, i, &path, found),
            _ => i + 1,
        };
    }
    i + 1
}

/// A path from the crate's root where enough `super` lead there.
fn from_root(path: &str, depth: usize) -> String {
    let up = "super::".repeat(depth);
    match path.strip_prefix(&up) {
        Some(rest) if !rest.starts_with("super") => format!("crate::{rest}"),
        _ => path.to_owned(),
    }
}

/// What the code of a module, in a file that many modules deep, names that it may not.
fn breaches(module: &str, depth: usize, source: &str) -> Vec<String> {
    let (code, _) = shipped(&code_of(source));
    let place = ORDER.iter().position(|name| *name == module).unwrap();
    let under = |path: &str, prefix: &str| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let mut breaches = Vec::new();
    for path in paths(&code) {
        let path = from_root(&path, depth);
        let later = ORDER[place + 1..]
            .iter()
            .any(|later| under(&path, &format!("crate::{later}")));
        let effect = PURE.contains(&module)
            && EFFECTS.iter().any(|effect| under(&path, effect))
            && !VALUES.iter().any(|value| under(&path, value));
        if later || effect {
            breaches.push(path);
        }
    }
    breaches
}

/// The top-level module a file belongs to.
fn module_of(file: &Path) -> String {
    let inside = file.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str();
    let first = first.to_str().unwrap();
    first.strip_suffix(".rs").unwrap_or(first).to_owned()
}

/// How many modules deep a file is: 1 for `model/mod.rs`, 2 for `model/plan.rs`.
fn depth_of(file: &Path) -> usize {
    let inside = file.strip_prefix(root().join("src")).unwrap();
    let parts = inside.components().count();
    parts - usize::from(file.file_name().unwrap() == "mod.rs")
}

/// Files that are compiled for tests only.
fn test_only_files(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for file in files {
        let (_, modules) = shipped(&code_of(&std::fs::read_to_string(file).unwrap()));
        let stem = file.file_stem().unwrap();
        let directory = match stem.to_str() {
            Some("mod" | "lib" | "main") => file.parent().unwrap().to_owned(),
            _ => file.with_extension(""),
        };
        for module in modules {
            found.insert(directory.join(format!("{module}.rs")));
            found.extend(
                files
                    .iter()
                    .filter(|file| file.starts_with(directory.join(&module)))
                    .cloned(),
            );
        }
    }
    found
}

#[test]
fn modules_import_only_from_those_before_them_and_pure_ones_touch_nothing() {
    let files = rust_files(&root().join("src"));
    let test_only = test_only_files(&files);
    let mut checked = 0;
    for file in files.iter().filter(|file| !test_only.contains(*file)) {
        let module = module_of(file);
        if module == "lib" || module == "main" {
            continue;
        }
        assert!(
            ORDER.contains(&module.as_str()),
            "`{module}` has no place in the order of modules"
        );
        let source = std::fs::read_to_string(file).unwrap();
        let breaches = breaches(&module, depth_of(file), &source);
        assert!(breaches.is_empty(), "{}: {breaches:?}", file.display());
        checked += 1;
    }
    assert!(checked > 20, "{checked} files");
}

#[test]
fn the_check_sees_what_it_must() {
    let sees = |module: &str, source: &str| breaches(module, 1, source);
    assert_eq!(
        sees("machine", "use crate::store::Log;"),
        ["crate::store::Log"]
    );
    assert_eq!(
        sees(
            "repo",
            "use crate::{\n    model::{A, B},\n    view :: {self, Ui},\n};"
        ),
        ["crate::view::Ui", "crate::view::self"]
    );
    assert_eq!(
        sees("report", "fn f() { crate::machine::apply() }"),
        ["crate::machine::apply"]
    );
    assert_eq!(
        sees("model", "use std::{fmt, fs::File};"),
        ["std::fs::File"]
    );
    assert_eq!(
        sees("model", "fn f() { std::env::var(\"A\") }"),
        ["std::env::var"]
    );
    assert_eq!(
        sees("prompt", "use std::time::{Duration, Instant};"),
        ["std::time::Instant"]
    );
    assert_eq!(
        sees("machine", "let r = git2::Repository::open(p);"),
        ["git2::Repository::open"]
    );
    assert_eq!(sees("model", "use std::fs;"), ["std::fs"]);
    assert_eq!(
        sees(
            "machine",
            "fn f<'a>(c: &'a char) { if *c == '\"' { crate::cli::main() } }"
        ),
        ["crate::cli::main"]
    );
    for (module, fine) in [
        ("store", "use crate::model::State; use std::fs;"),
        (
            "machine",
            "// crate::store\n/* std::fs /* std::env */ git2:: */ const A: &str = \"std::fs\";",
        ),
        (
            "machine",
            "const A: &str = r#\"use \"crate::store\" std::fs\"#;",
        ),
        (
            "machine",
            "fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; fn g() { if a { } } }\n",
        ),
        ("model", "use std::time::Duration; use crate::modelling;"),
        (
            "report",
            "use crate::reporting::fs; use crate::diagnostic::Code;",
        ),
    ] {
        assert_eq!(sees(module, fine), [""; 0], "{fine}");
    }
    assert_eq!(
        breaches("model", 1, "use super::store::Log;"),
        ["crate::store::Log"]
    );
    assert_eq!(
        breaches("model", 2, "use super::super::store::Log;"),
        ["crate::store::Log"]
    );
    assert_eq!(breaches("model", 2, "use super::store::Log;"), [""; 0]);
    let after = "#[cfg(test)]\nmod tests { }\nuse std::fs;";
    assert_eq!(sees("model", after), ["std::fs"]);
    assert_eq!(shipped("#[cfg(test)]\nmod explore;\nx").1, ["explore"]);
}

#[test]
fn every_module_of_the_library_has_a_place() {
    let code = code_of(&std::fs::read_to_string(root().join("src/lib.rs")).unwrap());
    let declared: Vec<&str> = code
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    assert!(declared.len() > 10, "{declared:?}");
    for module in declared {
        assert!(
            ORDER.contains(&module),
            "`{module}` has no place in the order of modules"
        );
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for directory in ["src", "tests"] {
        for file in rust_files(&root().join(directory)) {
            let source = std::fs::read_to_string(&file).unwrap();
            let first = source.lines().next().unwrap_or_default();
            let said = first.strip_prefix("//! ").unwrap_or_default().trim();
            assert!(said.len() > 5, "{} lacks a `//!` line", file.display());
        }
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let directory = root().join("tests");
    let targets = test_targets();
    let files = rust_files(&directory);
    let mut declared = BTreeSet::new();
    let mut sources = String::new();
    for file in &files {
        let source = std::fs::read_to_string(file).unwrap();
        let code = code_of(&source);
        sources += &source;
        declared.extend(code.lines().filter_map(|line| {
            let line = line.trim().trim_start_matches("pub ");
            Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
        }));
    }
    for file in &files {
        if targets.contains(file) {
            continue;
        }
        // A program that a test compiles by itself is named by its whole path.
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap();
        if sources.contains(&format!("\"{path}\"")) {
            continue;
        }
        let parent = file.parent().unwrap();
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let name = match stem {
            "mod" => parent.file_name().unwrap().to_str().unwrap(),
            other => other,
        };
        assert!(
            parent != directory && declared.contains(name),
            "{} is no test target and no module of one",
            file.display()
        );
    }
}

/// The test targets as cargo knows them.
fn test_targets() -> BTreeSet<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let targets = metadata["packages"][0]["targets"].as_array().unwrap();
    targets
        .iter()
        .filter(|target| target["kind"][0] == "test" && target["test"] == true)
        .map(|target| PathBuf::from(target["src_path"].as_str().unwrap()))
        .collect()
}
