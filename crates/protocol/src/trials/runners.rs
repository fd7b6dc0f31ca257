//! Test runners as data: where their tests and settings stand, and how one is told which files to run.

/// A call of a runner that can be told which files to run.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Its first words.
    pub words: &'static [&'static str],
    pub by: By,
    /// Ends of the files that it may run.
    pub ends: &'static [&'static str],
    /// Words that take no value and may stay.
    pub flags: &'static [&'static str],
}

/// What names the files of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Their paths.
    Paths,
    /// Directories of packages of Go.
    GoPackages,
    /// Targets of Cargo.
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

/// Names of files of tests, by the ends of their languages.
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

/// The same of languages whose files may be data to tests of another.
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

/// Files that are settings of a runner as a whole; one with a slash lies in that directory.
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

/// Files that take a runner's place where they stand at the top.
pub const SHADOWS: [&str; 7] = [
    "pytest.py",
    "pytest/*",
    "_pytest/*",
    "unittest.py",
    "unittest/*",
    "sitecustomize.py",
    "usercustomize.py",
];

/// Programs behind which a runner is called as if they were not there.
pub const WRAPPERS: &[&[&str]] = &[
    &["npx"],
    &["bundle", "exec"],
    &["uv", "run"],
    &["poetry", "run"],
    &["pnpm", "exec"],
    &["yarn"],
];

/// Whether a text is what a pattern says, in which `*` stands for any characters.
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

#[cfg(test)]
mod tests {
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
