//! The shape of the source: crates depend only on those before them, modules import only from
//! those before them, what decides touches nothing outside, every file says what it is for, and
//! no test file is forgotten.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The crates of the workspace, each allowed to depend on those before it.
const CRATES: [&str; 7] = [
    "cook-core",
    "cook-os",
    "cook-git",
    "cook-store",
    "cook-agents",
    "cook-hooks",
    "cook-cli",
];

/// The modules of a crate's sources, each allowed to import from those before it.
struct Order {
    sources: &'static str,
    modules: &'static [&'static str],
}

/// The crate that decides from values alone.
const PURE: Order = Order {
    sources: "crates/core/src",
    modules: &[
        "model",
        "diagnostic",
        "schema",
        "report",
        "change",
        "brief",
        "machine",
        "prompt",
    ],
};

/// The crates that have modules with an order among them.
const ORDERS: [Order; 4] = [
    PURE,
    Order {
        sources: "crates/os/src",
        modules: &["clock", "process"],
    },
    Order {
        sources: "crates/store/src",
        modules: &["store", "receipt", "session"],
    },
    Order {
        sources: "src",
        modules: &[
            "anchor",
            "measure",
            "tracker",
            "scaffold",
            "walk",
            "lifecycle",
            "verify",
            "drive",
            "demo",
            "view",
            "cli",
        ],
    },
];

/// All that the pure crate is built from. None of them reads or writes anything by itself.
const PURE_DEPENDENCIES: [&str; 13] = [
    "humantime",
    "jsonschema",
    "memchr",
    "petgraph",
    "serde",
    "serde_json",
    "serde_path_to_error",
    "sha2",
    "shell-words",
    "strsim",
    "thiserror",
    "time",
    "toml",
];

/// What the pure crate may not name.
const EFFECTS: [&str; 10] = [
    "std::fs",
    "std::process",
    "std::env",
    "std::time",
    "std::net",
    "std::thread",
    "std::io",
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

impl Order {
    fn is_pure(&self) -> bool {
        self.sources == PURE.sources
    }

    /// What the code of a module, in a file that many modules deep, names that it may not.
    fn breaches(&self, module: &str, depth: usize, source: &str) -> Vec<String> {
        let (code, _) = shipped(&code_of(source));
        let place = self.modules.iter().position(|name| *name == module);
        let under = |path: &str, prefix: &str| {
            path.strip_prefix(prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let mut breaches = Vec::new();
        for path in paths(&code) {
            let path = from_root(&path, depth);
            let later = self.modules[place.unwrap() + 1..]
                .iter()
                .any(|later| under(&path, &format!("crate::{later}")));
            let effect = self.is_pure()
                && EFFECTS.iter().any(|effect| under(&path, effect))
                && !VALUES.iter().any(|value| under(&path, value));
            if later || effect {
                breaches.push(path);
            }
        }
        breaches
    }

    /// The top-level module a file belongs to.
    fn module_of(&self, file: &Path) -> String {
        let inside = file.strip_prefix(root().join(self.sources)).unwrap();
        let first = inside.components().next().unwrap().as_os_str();
        let first = first.to_str().unwrap();
        first.strip_suffix(".rs").unwrap_or(first).to_owned()
    }

    /// How many modules deep a file is: 1 for `model/mod.rs`, 2 for `model/plan.rs`.
    fn depth_of(&self, file: &Path) -> usize {
        let inside = file.strip_prefix(root().join(self.sources)).unwrap();
        let parts = inside.components().count();
        parts - usize::from(file.file_name().unwrap() == "mod.rs")
    }
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
    for order in &ORDERS {
        let files = rust_files(&root().join(order.sources));
        let test_only = test_only_files(&files);
        let mut checked = BTreeSet::new();
        for file in files.iter().filter(|file| !test_only.contains(*file)) {
            let module = order.module_of(file);
            if module == "lib" || module == "main" {
                continue;
            }
            assert!(
                order.modules.contains(&module.as_str()),
                "`{module}` has no place in the order of {}",
                order.sources
            );
            let source = std::fs::read_to_string(file).unwrap();
            let breaches = order.breaches(&module, order.depth_of(file), &source);
            assert!(breaches.is_empty(), "{}: {breaches:?}", file.display());
            checked.insert(module);
        }
        assert_eq!(checked.len(), order.modules.len(), "{checked:?}");
    }
}

/// What every kind of dependency of a package names, by the kind: `normal`, `dev`, `build`.
fn dependencies(package: &Value) -> Vec<(&str, &str)> {
    let entries = package["dependencies"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            let kind = entry["kind"].as_str().unwrap_or("normal");
            (kind, entry["name"].as_str().unwrap())
        })
        .collect()
}

/// Crates of the workspace that a crate depends on and that do not come before it.
fn upward<'a>(name: &str, dependencies: &[(&str, &'a str)]) -> Vec<&'a str> {
    let place = |name: &str| CRATES.iter().position(|known| *known == name);
    let own = place(name).unwrap_or_else(|| panic!("`{name}` has no place in the order of crates"));
    dependencies
        .iter()
        .map(|(_, name)| *name)
        .filter(|name| name.starts_with("cook-"))
        .filter(|name| place(name).is_none_or(|place| place >= own))
        .collect()
}

/// What the pure crate is built from and may not be. What only its tests use does not count.
fn impure<'a>(dependencies: &[(&str, &'a str)]) -> Vec<&'a str> {
    let built = dependencies.iter().filter(|(kind, _)| *kind != "dev");
    built
        .map(|(_, name)| *name)
        .filter(|name| !PURE_DEPENDENCIES.contains(name))
        .collect()
}

#[test]
fn crates_depend_only_on_those_before_them_and_the_pure_one_on_nothing_that_acts() {
    let mut known = BTreeSet::new();
    for package in METADATA["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let dependencies = dependencies(package);
        assert_eq!(upward(name, &dependencies), [""; 0], "{name}");
        if name == "cook-core" {
            assert_eq!(impure(&dependencies), [""; 0], "{name}");
        }
        known.insert(name);
    }
    assert_eq!(known, BTreeSet::from(CRATES));

    let of_git = [
        ("normal", "cook-core"),
        ("dev", "cook-store"),
        ("normal", "git2"),
    ];
    assert_eq!(upward("cook-git", &of_git), ["cook-store"]);
    assert_eq!(upward("cook-os", &[("normal", "cook-os2")]), ["cook-os2"]);
    assert_eq!(upward("cook-cli", &of_git), [""; 0]);
    let acting = [("normal", "serde"), ("build", "duct"), ("dev", "tempfile")];
    assert_eq!(impure(&acting), ["duct"]);
}

#[test]
fn the_check_sees_what_it_must() {
    let [core, .., root] = &ORDERS;
    let sees = |module: &str, source: &str| core.breaches(module, 1, source);
    assert_eq!(
        sees("machine", "use crate::prompt::Log;"),
        ["crate::prompt::Log"]
    );
    assert_eq!(
        root.breaches(
            "walk",
            1,
            "use crate::{\n    anchor::{A, B},\n    view :: {self, Ui},\n}; use std::fs;"
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
        sees("machine", "let now = time::OffsetDateTime::now_utc();"),
        ["time::OffsetDateTime::now_utc"]
    );
    assert_eq!(sees("model", "use std::fs;"), ["std::fs"]);
    assert_eq!(
        sees(
            "machine",
            "fn f<'a>(c: &'a char) { if *c == '\"' { crate::prompt::main() } }"
        ),
        ["crate::prompt::main"]
    );
    for (module, fine) in [
        ("prompt", "use crate::model::State; use std::fmt;"),
        (
            "machine",
            "// crate::prompt\n/* std::fs /* std::env */ git2:: */ const A: &str = \"std::fs\";",
        ),
        (
            "machine",
            "const A: &str = r#\"use \"crate::prompt\" std::fs\"#;",
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
        core.breaches("model", 1, "use super::report::Log;"),
        ["crate::report::Log"]
    );
    assert_eq!(
        core.breaches("model", 2, "use super::super::report::Log;"),
        ["crate::report::Log"]
    );
    let beside = "use super::report::Log;";
    assert_eq!(core.breaches("model", 2, beside), [""; 0]);
    let after = "#[cfg(test)]\nmod tests { }\nuse std::fs;";
    assert_eq!(sees("model", after), ["std::fs"]);
    assert_eq!(shipped("#[cfg(test)]\nmod explore;\nx").1, ["explore"]);
}

#[test]
fn every_module_of_a_library_has_a_place() {
    for order in &ORDERS {
        let library = root().join(order.sources).join("lib.rs");
        let code = code_of(&std::fs::read_to_string(library).unwrap());
        let declared: Vec<&str> = code
            .lines()
            .filter_map(|line| line.trim().strip_prefix("pub mod ")?.strip_suffix(';'))
            .collect();
        assert_eq!(
            BTreeSet::from_iter(declared),
            BTreeSet::from_iter(order.modules.iter().copied()),
            "{}",
            order.sources
        );
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for directory in ["src", "crates", "tests"] {
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
    let targets = test_targets();
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let tests = crates.map(|entry| entry.unwrap().path().join("tests"));
    let directories = [root().join("tests")].into_iter();
    for directory in directories.chain(tests).filter(|path| path.is_dir()) {
        let forgotten = forgotten(&directory, &targets);
        assert!(forgotten.is_empty(), "no test and in none: {forgotten:?}");
    }
}

/// Files of a directory of tests that are no test target and no module of one.
fn forgotten(directory: &Path, targets: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let files = rust_files(directory);
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
    let known = |file: &PathBuf| {
        // A program that a test compiles by itself is named by its whole path.
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap();
        if targets.contains(file) || sources.contains(&format!("\"{path}\"")) {
            return true;
        }
        let parent = file.parent().unwrap();
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let name = match stem {
            "mod" => parent.file_name().unwrap().to_str().unwrap(),
            other => other,
        };
        parent != directory && declared.contains(name)
    };
    files.into_iter().filter(|file| !known(file)).collect()
}

/// The workspace as cargo knows it.
static METADATA: LazyLock<Value> = LazyLock::new(|| {
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
    serde_json::from_slice(&output.stdout).unwrap()
});

/// The test targets of every crate.
fn test_targets() -> BTreeSet<PathBuf> {
    let packages = METADATA["packages"].as_array().unwrap();
    packages
        .iter()
        .flat_map(|package| package["targets"].as_array().unwrap())
        .filter(|target| target["kind"][0] == "test" && target["test"] == true)
        .map(|target| PathBuf::from(target["src_path"].as_str().unwrap()))
        .collect()
}
