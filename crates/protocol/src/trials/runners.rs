//! Test runners as data, and the side of a trial that a path belongs to.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

// Where runners have their tests and settings, and how a runner is told which files to run.

/// A call of a runner that can be told which files to run.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Its first words.
    pub words: &'static [&'static str],
    pub by: By,
    /// Suffixes of the files that it may run.
    pub ends: &'static [&'static str],
    /// Words without a value that may stay in the call.
    pub flags: &'static [&'static str],
}

/// How a call names the files to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By their paths.
    Paths,
    /// By the directories of Go packages.
    GoPackages,
    /// By Cargo targets.
    CargoTests,
}

const PYTHON: &[&str] = &[".py"];
const SCRIPTS: &[&str] = &[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"];
const PYTEST_FLAGS: &[&str] = &[
    "-q", "-qq", "-v", "-vv", "-x", "-s", "-l", "-ra", "-rA", "-rf", "-W",
];
const JS_FLAGS: &[&str] = &[
    "run",
    "--run",
    "--ci",
    "--coverage",
    "--silent",
    "--verbose",
];

type Words = &'static [&'static str];

const fn call(words: Words, by: By, ends: Words, flags: Words) -> Call {
    Call {
        words,
        by,
        ends,
        flags,
    }
}

pub const CALLS: [Call; 15] = [
    call(&["pytest"], By::Paths, PYTHON, PYTEST_FLAGS),
    call(&["py.test"], By::Paths, PYTHON, PYTEST_FLAGS),
    call(&["python", "-m", "pytest"], By::Paths, PYTHON, PYTEST_FLAGS),
    call(&["jest"], By::Paths, SCRIPTS, JS_FLAGS),
    call(&["vitest", "run"], By::Paths, SCRIPTS, JS_FLAGS),
    call(&["mocha"], By::Paths, SCRIPTS, &[]),
    call(&["node", "--test"], By::Paths, SCRIPTS, &[]),
    call(&["bun", "test"], By::Paths, SCRIPTS, &[]),
    call(
        &["deno", "test"],
        By::Paths,
        SCRIPTS,
        &["-A", "--allow-all"],
    ),
    call(&["cargo", "test"], By::CargoTests, &[".rs"], &[]),
    call(&["cargo", "nextest", "run"], By::CargoTests, &[".rs"], &[]),
    call(
        &["go", "test"],
        By::GoPackages,
        &[".go"],
        &["-v", "-race", "-cover"],
    ),
    call(&["rspec"], By::Paths, &[".rb"], &[]),
    call(&["bats"], By::Paths, &[".bats"], &["-r", "--tap"]),
    call(&["prove"], By::Paths, &[".t"], &["-v", "-l", "-lv"]),
];

/// Name patterns of test files, by the suffixes of their languages.
pub const TESTS: [(&[&str], &[&str]); 9] = [
    (PYTHON, &["test_*", "*_test.*", "tests.*"]),
    (SCRIPTS, &["*.test.*", "*.spec.*", "*_test.*", "*-test.*"]),
    (
        &[".rs"],
        &["test.rs", "tests.rs", "*_test.rs", "*_tests.rs"],
    ),
    (&[".go"], &["*_test.go"]),
    (&[".rb"], &["*_spec.rb", "*_test.rb", "test_*"]),
    (
        &[".java", ".kt", ".cs", ".swift"],
        &["*Test.*", "*Tests.*", "*IT.*"],
    ),
    (&[".scala", ".groovy"], &["*Spec.*"]),
    (&[".php"], &["*Test.php"]),
    (&[".bats", ".t"], &["*"]),
];

/// Name patterns for languages whose files may be data of tests in another language.
pub const OTHER_TESTS: [&str; 18] = [
    "*_test.exs",
    "*_test.c",
    "*_test.cc",
    "*_test.cpp",
    "test_*.c",
    "test_*.cc",
    "test_*.cpp",
    "*_test.dart",
    "*_test.lua",
    "*_spec.lua",
    "test_*.sh",
    "*_test.sh",
    "test.sh",
    "test.js",
    "test.mjs",
    "test.cjs",
    "test.ts",
    "tests.*",
];

/// Files that consist of settings of a runner. One with a slash must be in that directory.
pub const SETTINGS: [&str; 24] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "noxfile.py",
    "jest.config.*",
    "vitest.config.*",
    "vitest.workspace.*",
    "vite.config.*",
    ".mocharc.*",
    "ava.config.*",
    ".taprc",
    "playwright.config.*",
    "karma.conf.*",
    ".cargo/config.toml",
    ".cargo/config",
    ".config/nextest.toml",
    ".rspec",
    "phpunit.xml",
    "phpunit.xml.dist",
    "phpunit.dist.xml",
    ".proverc",
    ".busted",
];

/// Files at the top of a tree that replace a runner.
pub const SHADOWS: [&str; 7] = [
    "pytest.py",
    "pytest/*",
    "_pytest/*",
    "unittest.py",
    "unittest/*",
    "sitecustomize.py",
    "usercustomize.py",
];

/// Programs that may precede a runner without changing its call.
pub const WRAPPERS: &[&[&str]] = &[
    &["npx"],
    &["bundle", "exec"],
    &["uv", "run"],
    &["poetry", "run"],
    &["pnpm", "exec"],
    &["yarn"],
];

/// Whether a text matches a pattern, in which `*` stands for any characters.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

// The side of a trial that a path belongs to: the code of one commit, or the tests of another.

/// The side of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The code that is tested, and everything that is not known to be something else.
    Code,
    /// Tests, their set-up, data and expected output, and settings of runners.
    Test,
    /// Code and tests in one file, which is split.
    Both,
}

/// Directories that hold tests and what they need.
const DIRECTORIES: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "t",
    "__tests__",
    "__snapshots__",
    "__mocks__",
    "__fixtures__",
    "fixtures",
    "golden",
    "goldens",
    "testdata",
    "testutil",
    "testutils",
    "e2e",
];

/// The only set-up file that may be among code.
const SET_UP: &str = "conftest.py";

/// What is known of a tree beyond its paths.
#[derive(Debug, Default, Clone)]
pub struct Known {
    /// The patterns of `[tests] paths` in the base's settings.
    pub paths: Vec<String>,
    /// Paths among the tests that code imports, includes or requires.
    pub imported: BTreeSet<String>,
    /// Scripts that a gate calls, and files that a runner's settings name.
    pub named: BTreeSet<String>,
}

/// The side of a relative path with `/`. `is_printed` means that a run named it as holding tests.
pub fn side_of(path: &str, known: &Known, is_printed: bool) -> Side {
    if known.imported.contains(path) {
        return Side::Code;
    }
    let is_set = known.paths.iter().any(|pattern| fits_path(pattern, path));
    if is_set || known.named.contains(path) || is_test_file(path) || is_among_tests(path) {
        return Side::Test;
    }
    if is_whole_setting(path) || is_set_up(path) {
        return Side::Test;
    }
    match is_printed {
        true if splits(path) => Side::Both,
        true => Side::Test,
        false => Side::Code,
    }
}

/// Whether the file holds tests, by its name.
pub fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let fits = |patterns: &[&str]| patterns.iter().any(|pattern| fits(pattern, name));
    let mut known = TESTS.iter();
    fits(&OTHER_TESTS)
        || known
            .any(|(ends, patterns)| ends.iter().any(|end| name.ends_with(end)) && fits(patterns))
}

/// Whether the file is among tests, by its directories.
pub fn is_among_tests(path: &str) -> bool {
    let mut dirs = path.split('/');
    dirs.next_back();
    dirs.any(|dir| DIRECTORIES.contains(&dir))
}

/// Whether the file's language allows tests in the file that they test.
pub fn splits(path: &str) -> bool {
    const ENDS: [&str; 9] = [
        ".rs", ".js", ".ts", ".jsx", ".tsx", ".mjs", ".mts", ".zig", ".d",
    ];
    ENDS.iter().any(|end| path.ends_with(end))
}

/// Whether the file consists of settings of a runner.
pub fn is_whole_setting(path: &str) -> bool {
    let path = format!("/{path}");
    let name = path.rsplit('/').next().unwrap_or_default();
    SETTINGS.iter().any(|setting| match setting.contains('/') {
        true => path.ends_with(&format!("/{setting}")),
        false => fits(setting, name),
    })
}

/// Whether the file, by its name, is set-up that a runner loads by itself.
pub fn is_set_up(path: &str) -> bool {
    path.rsplit('/').next() == Some(SET_UP)
}

/// Whether the file would replace a runner.
pub fn shadows_runner(path: &str) -> bool {
    SHADOWS.iter().any(|pattern| fits(pattern, path))
}

/// Whether a pattern of the settings matches a path: it is the path or a directory above it, or matches by `*`.
pub fn fits_path(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    if pattern.contains('*') {
        return fits(pattern, path);
    }
    path == pattern
        || path
            .strip_prefix(pattern)
            .is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests_of_runners {
    use super::fits;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text, expected) in [
            ("test_*.py", "test_a.py", true),
            ("test_*.py", "test_.py", true),
            ("test_*.py", "tests.py", false),
            ("*.t", "a.t", true),
            ("a*a", "a", false),
            ("tests.py", "tests.py", true),
            ("tests.py", "tests.pyc", false),
            ("a/*/b*", "a/x/bc", true),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}

#[cfg(test)]
mod tests_of_sides {
    use super::*;

    #[test]
    fn sides_are_told_by_path() {
        let mut known = Known::default();
        known.imported.insert("tests/product.py".to_owned());
        let printed = ["src/lib.rs", "checks/all.py"];
        known.named.insert("check.sh".to_owned());
        known.paths.push("qa/".to_owned());
        for (path, side) in [
            ("src/calc.py", Side::Code),
            ("tests/test_calc.py", Side::Test),
            ("tests/golden/vif.csv", Side::Test),
            ("tests/product.py", Side::Code),
            ("src/calc_test.go", Side::Test),
            ("src/lib.rs", Side::Both),
            ("checks/all.py", Side::Test),
            ("check.sh", Side::Test),
            ("qa/a.txt", Side::Test),
            ("pytest.ini", Side::Test),
            (".cargo/config.toml", Side::Test),
            ("a/.cargo/config.toml", Side::Test),
            ("pyproject.toml", Side::Code),
            ("Cargo.lock", Side::Code),
            ("src/latest.rs", Side::Code),
            ("contest.py", Side::Code),
        ] {
            assert_eq!(
                side_of(path, &known, printed.contains(&path)),
                side,
                "{path}"
            );
        }
        assert!(shadows_runner("unittest/__init__.py"));
        assert!(!shadows_runner("app/unittest.py"));
    }
}
