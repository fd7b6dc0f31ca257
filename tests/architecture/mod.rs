//! The shape of the source: crates depend only on those before them, modules import only from
//! those before them, what decides touches nothing outside, every file says what it is for, and
//! no test file is forgotten.

mod circles;
mod names;
mod size;
mod source;

use serde_json::Value;
use source::{paths, root, rust_files, strip_comments, strip_tests, test_only_files};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The crates of the workspace, each allowed to depend on those before it.
const CRATES: [&str; 5] = [
    "cook-protocol",
    "cook-mutants",
    "cook-repo",
    "cook-agents",
    "cook-cli",
];

/// The modules of a crate's sources, each allowed to import from those before it.
struct Order {
    sources: &'static str,
    modules: &'static [&'static str],
}

/// The crate that decides from values alone.
const PURE: Order = Order {
    sources: "crates/protocol/src",
    modules: &[
        "trials",
        "digest",
        "model",
        "diagnostic",
        "question",
        "refusal",
        "schema",
        "report",
        "change",
        "brief",
        "machine",
        "prompt",
    ],
};

/// The crate that looks at texts alone.
const TEXTS: Order = Order {
    sources: "crates/mutants/src",
    modules: &[
        "catch_rate",
        "tokens",
        "suite",
        "class",
        "line_diff",
        "mutant",
        "fault",
        "planted_reports",
    ],
};

/// The crates that have modules with an order among them.
const ORDERS: [Order; 4] = [
    PURE,
    TEXTS,
    Order {
        sources: "crates/repo/src",
        modules: &[
            "clock", "disk", "thread", "process", "git", "room", "store", "receipt", "session",
            "remote",
        ],
    },
    Order {
        sources: "src",
        modules: &[
            "trial",
            "init",
            "workspace",
            "anchor",
            "measure",
            "tracker",
            "service",
            "check",
            "strength",
            "hooks",
            "signature",
            "judges",
            "verify",
            "attest",
            "run",
            "demo",
            "calibrate",
            "view",
            "commands",
        ],
    },
];

/// All that the pure crates are built from. None of them reads or writes anything by itself.
const PURE_DEPENDENCIES: [&str; 20] = [
    "cook-mutants",
    "cook-protocol",
    "humantime",
    "imara-diff",
    "jsonschema",
    "memchr",
    "petgraph",
    "quick-xml",
    "regex",
    "schemars",
    "serde",
    "serde_json",
    "serde_path_to_error",
    "sha2",
    "shell-words",
    "strsim",
    "strum",
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
        [PURE.sources, TEXTS.sources].contains(&self.sources)
    }

    /// What the code of a module, in a file that many modules deep, names that it may not.
    fn breaches(&self, module: &str, depth: usize, source: &str) -> Vec<String> {
        let (code, _) = strip_tests(&strip_comments(source));
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
    fn find_module(&self, file: &Path) -> String {
        let inside = file.strip_prefix(root().join(self.sources)).unwrap();
        let first = inside.components().next().unwrap().as_os_str();
        let first = first.to_str().unwrap();
        first.strip_suffix(".rs").unwrap_or(first).to_owned()
    }

    /// How many modules deep a file is: 1 for `model/mod.rs`, 2 for `model/plan.rs`.
    fn measure_depth(&self, file: &Path) -> usize {
        let inside = file.strip_prefix(root().join(self.sources)).unwrap();
        let parts = inside.components().count();
        parts - usize::from(file.file_name().unwrap() == "mod.rs")
    }
}

#[test]
fn modules_import_only_from_those_before_them_and_pure_ones_touch_nothing() {
    for order in &ORDERS {
        let files = rust_files(&root().join(order.sources));
        let test_only = test_only_files(&files);
        let mut checked = BTreeSet::new();
        for file in files.iter().filter(|file| !test_only.contains(*file)) {
            let module = order.find_module(file);
            if module == "lib" || module == "main" {
                continue;
            }
            assert!(
                order.modules.contains(&module.as_str()),
                "`{module}` has no place in the order of {}",
                order.sources
            );
            let source = std::fs::read_to_string(file).unwrap();
            let breaches = order.breaches(&module, order.measure_depth(file), &source);
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

/// Crates of the workspace that a crate depends on and that do not come before it. Its tests may
/// name the crate itself, to ask for a feature.
fn upward<'a>(name: &str, dependencies: &[(&str, &'a str)]) -> Vec<&'a str> {
    let place = |name: &str| CRATES.iter().position(|known| *known == name);
    let own = place(name).unwrap_or_else(|| panic!("`{name}` has no place in the order of crates"));
    dependencies
        .iter()
        .filter(|(kind, on)| (*kind, *on) != ("dev", name))
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
        if ["cook-mutants", "cook-protocol"].contains(&name) {
            assert_eq!(impure(&dependencies), [""; 0], "{name}");
        }
        known.insert(name);
    }
    assert_eq!(known, BTreeSet::from(CRATES));

    let of_git = [
        ("normal", "cook-protocol"),
        ("dev", "cook-agents"),
        ("normal", "git2"),
    ];
    assert_eq!(upward("cook-repo", &of_git), ["cook-agents"]);
    assert_eq!(upward("cook-repo", &[("normal", "cook-os2")]), ["cook-os2"]);
    assert_eq!(upward("cook-cli", &of_git), [""; 0]);
    let itself = [("dev", "cook-cli"), ("normal", "cook-cli")];
    assert_eq!(upward("cook-cli", &itself), ["cook-cli"]);
    let acting = [("normal", "serde"), ("build", "nix"), ("dev", "tempfile")];
    assert_eq!(impure(&acting), ["nix"]);
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
            "service",
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
    assert_eq!(strip_tests("#[cfg(test)]\nmod explore;\nx").1, ["explore"]);
}

#[test]
fn every_module_of_a_library_has_a_place() {
    for order in &ORDERS {
        let library = root().join(order.sources).join("lib.rs");
        let code = strip_comments(&std::fs::read_to_string(library).unwrap());
        let declared: Vec<&str> = code
            .lines()
            .filter_map(|line| {
                let line = line.trim();
                let line = line.strip_prefix("pub ").unwrap_or(line);
                line.strip_prefix("mod ")?.strip_suffix(';')
            })
            .collect();
        assert_eq!(
            BTreeSet::from_iter(declared),
            BTreeSet::from_iter(order.modules.iter().copied()),
            "{}",
            order.sources
        );
    }
}

/// The second cell of the rows of ARCHITECTURE.md's table that belong to these sources.
fn list_modules_in_page(page: &str, sources: &str) -> Vec<String> {
    let mut inside = false;
    let mut modules = Vec::new();
    let table = page.lines().skip_while(|line| !line.starts_with('|'));
    for line in table.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, owner, names, ..] = cells[..] else {
            continue;
        };
        if owner.starts_with("`cook-") {
            let folder = match owner.split('`').nth(3) {
                Some(path) => format!("{path}/src"),
                None => "src".to_owned(),
            };
            inside = folder == sources;
        }
        if inside {
            modules.extend(names.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    modules
}

#[test]
fn the_page_lists_the_modules_in_the_order_that_holds() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for order in &ORDERS {
        let listed = list_modules_in_page(&page, order.sources);
        assert_eq!(listed, order.modules, "{}", order.sources);
    }
}

/// Where files are opened that nobody else can have put there, or that a user names.
const OPENERS: [&str; 3] = [
    "crates/repo/src/disk/",
    "crates/repo/src/process/",
    "src/commands/input.rs",
];

/// What opens whatever stands at a path.
const OPENING: [&str; 3] = ["fs::read", "fs::read_to_string", "File::open"];

/// A FIFO at such a path would hang whoever opens it, a device would not end, a link would lead
/// elsewhere: `cook_repo::disk` refuses all of them.
#[test]
fn files_are_opened_by_one_module() {
    let found = calls_outside(&OPENERS, &OPENING);
    assert!(found.is_empty(), "use `cook_repo::disk`: {found:#?}");
    assert_eq!(
        list_calls(
            "use std::fs;\nfn f() { fs::read(p); HistoryFile::open(p); }",
            &OPENING
        ),
        ["fs::read"]
    );
    let tested = "fn f() { File::open(p) }\n#[cfg(test)]\nmod tests { fn g() { fs::read(p) } }";
    assert_eq!(list_calls(tested, &OPENING), ["File::open"]);
}

/// These panic where the system has no thread left for this user.
#[test]
fn threads_are_started_by_one_module() {
    let starting = [
        "std::thread::spawn",
        "std::thread::scope",
        "thread::scope",
        "scope.spawn",
        "thread::Builder::new",
        "Builder::spawn",
    ];
    let found = calls_outside(&["crates/repo/src/thread.rs"], &starting);
    assert!(found.is_empty(), "use `cook_repo::thread`: {found:#?}");
    let all = "fn f() { std::thread::spawn(g); thread::spawn(g); scope.spawn(g) }";
    assert_eq!(
        list_calls(all, &starting),
        ["std::thread::spawn", "scope.spawn"]
    );
    // `thread::spawn` is then ours.
    let imported = calls_outside(&[], &["use std::thread;"]);
    assert!(imported.is_empty(), "{imported:#?}");
}

/// Calls that shipped code makes, file by file, outside of `except`. What ends in `;` is no call
/// and is looked for as it stands.
fn calls_outside(except: &[&str], calls: &[&'static str]) -> Vec<String> {
    let mut found = Vec::new();
    for directory in ["src", "crates"] {
        let files = rust_files(&root().join(directory));
        let test_only = test_only_files(&files);
        for file in files.iter().filter(|file| !test_only.contains(*file)) {
            let path = file
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if path.contains("/tests/") || except.iter().any(|place| path.starts_with(place)) {
                continue;
            }
            let source = std::fs::read_to_string(file).unwrap();
            let made = list_calls(&source, calls);
            found.extend(made.into_iter().map(|call| format!("{path}: {call}")));
        }
    }
    found
}

/// Which of the calls shipped code makes.
fn list_calls(source: &str, calls: &[&'static str]) -> Vec<&'static str> {
    let code = strip_tests(&strip_comments(source)).0;
    let is_called = |call: &&&str| {
        let wanted = match call.ends_with(';') {
            true => (**call).to_owned(),
            false => format!("{call}("),
        };
        code.match_indices(&wanted).any(|(at, _)| {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            !before.is_alphanumeric() && before != '_'
        })
    };
    calls.iter().filter(is_called).copied().collect()
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
        let forgotten = list_forgotten(&directory, &targets);
        assert!(forgotten.is_empty(), "no test and in none: {forgotten:?}");
    }
}

/// Files of a directory of tests that are no test target and no module of one.
fn list_forgotten(directory: &Path, targets: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let files = rust_files(directory);
    let mut declared = BTreeSet::new();
    let mut sources = String::new();
    for file in &files {
        let source = std::fs::read_to_string(file).unwrap();
        let code = strip_comments(&source);
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
        declared.contains(name)
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
        .filter(|target| target["kind"][0] == "test")
        .map(|target| PathBuf::from(target["src_path"].as_str().unwrap()))
        .collect()
}
