//! On which side of a trial a path stands: the code of one commit, or the tests of another.

use crate::trials::runners::{OTHER_TESTS, SETTINGS, SHADOWS, TESTS, fits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// What is tested, and whatever is not known to be anything else.
    Code,
    /// What tests it: tests, their set-up, data and expected output, and settings of runners.
    Test,
    /// Code and tests in one file, which are taken apart.
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

/// The one file of set-up that has its place beside code.
const SET_UP: &str = "conftest.py";

/// What is known of a tree beside the names of its paths.
#[derive(Debug, Default, Clone)]
pub struct Known {
    /// Patterns of the settings of the base, `[tests] paths`.
    pub paths: Vec<String>,
    /// Paths that lie among tests and that code imports, includes or requires.
    pub imported: BTreeSet<String>,
    /// Scripts that a gate calls, and files that settings of a runner name.
    pub named: BTreeSet<String>,
}

/// The side of a path (relative, with `/`); `is_printed`: a run named it as holding tests.
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

/// By its name, a file that holds tests.
pub fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let fits = |patterns: &[&str]| patterns.iter().any(|pattern| fits(pattern, name));
    let mut known = TESTS.iter();
    fits(&OTHER_TESTS)
        || known
            .any(|(ends, patterns)| ends.iter().any(|end| name.ends_with(end)) && fits(patterns))
}

/// By its directories, a file that lies among tests.
pub fn is_among_tests(path: &str) -> bool {
    let mut dirs = path.split('/');
    dirs.next_back();
    dirs.any(|dir| DIRECTORIES.contains(&dir))
}

/// A language in which tests stand in the file that they test.
pub fn splits(path: &str) -> bool {
    const ENDS: [&str; 9] = [
        ".rs", ".js", ".ts", ".jsx", ".tsx", ".mjs", ".mts", ".zig", ".d",
    ];
    ENDS.iter().any(|end| path.ends_with(end))
}

/// Whether a file is settings of a runner as a whole.
pub fn is_whole_setting(path: &str) -> bool {
    let path = format!("/{path}");
    let name = path.rsplit('/').next().unwrap_or_default();
    SETTINGS.iter().any(|setting| match setting.contains('/') {
        true => path.ends_with(&format!("/{setting}")),
        false => fits(setting, name),
    })
}

/// By its name, set-up that a runner takes in by itself.
pub fn is_set_up(path: &str) -> bool {
    path.rsplit('/').next() == Some(SET_UP)
}

/// A file that would take the place of a runner's own.
pub fn shadows_runner(path: &str) -> bool {
    SHADOWS.iter().any(|pattern| fits(pattern, path))
}

/// Whether a pattern of settings names a path: the path itself, a directory above it, or with `*`.
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
mod tests {
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
