//! The class of a file, by its path and text.

use crate::suite::Suite;
use crate::tokens::Language;
use cook_protocol::trials::{
    fits_path, is_among_tests, is_set_up, is_test_file, is_whole_setting, split_of,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The purpose of a tracked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Code that ships.
    Source,
    /// Tests.
    Test,
    /// Files that decide whether tests run and count: CI, build and runner settings, the contract, and files that a
    /// gate's command names.
    Gate,
    /// Documentation.
    Docs,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.serialize(f)
    }
}

/// A file before and after a change; `None` if it does not exist.
#[derive(Debug, Clone, Copy)]
pub struct Edited<'a> {
    /// The path relative to the root.
    pub path: &'a str,
    /// The class of the file.
    pub class: Class,
    /// Its text at the basis.
    pub before: Option<&'a str>,
    /// Its present text.
    pub after: Option<&'a str>,
}

/// Directories of settings for CI and cook.
const GATE_DIRS: [&str; 6] = [
    ".agent",
    ".github",
    ".gitlab",
    ".circleci",
    ".ci",
    ".buildkite",
];
/// Files that configure how a project is built and tested, besides the settings of test runners.
const GATE_FILES: &str = "\
    *makefile *justfile rakefile jenkinsfile taskfile.y*ml clippy.toml rust-toolchain* \
    go.mod go.work pom.xml build.gradle* mix.exs cmakelists.txt meson.build tsconfig*.json \
    *.config.* *.mk .gitlab-ci.yml .travis.yml .pre-commit-config.yaml .eslintrc* \
    azure-pipelines.yml *codecov.yml .coveragerc lefthook.yml .npmrc .yarnrc*";
const DOCS_DIRS: [&str; 4] = ["doc", "docs", "man", "runbooks"];
const DOCS_ENDS: [&str; 7] = [".md", ".mdx", ".rst", ".adoc", ".txt", ".1", ".org"];
const DOCS_STEMS: [&str; 5] = ["readme", "changelog", "license", "contributing", "notice"];

/// The class of a path (relative, with `/` as separator). `gates` are the commands that cook runs: a file that one of
/// them names decides whether the gate passes.
pub fn classify(path: &str, gates: &[String]) -> Class {
    let lower = path.to_lowercase();
    let mut parts: Vec<&str> = lower.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let named_by_gate = gates.iter().any(|gate| {
        gate.split_whitespace()
            .map(|word| word.trim_matches(['\'', '"']).trim_start_matches("./"))
            .any(|word| word == path)
    });
    if named_by_gate
        || parts.first().is_some_and(|dir| GATE_DIRS.contains(dir))
        || parts.contains(&".cargo")
        || GATE_FILES.split(' ').any(|file| fits_path(file, name))
        || is_whole_setting(path)
        || split_of(path).is_some()
        || is_set_up(path)
    {
        return Class::Gate;
    }
    if is_among_tests(&lower) || is_test_file(path) || name.ends_with(".snap") {
        return Class::Test;
    }
    let stem = name.split('.').next().unwrap_or_default();
    if parts.first().is_some_and(|dir| DOCS_DIRS.contains(dir))
        || DOCS_ENDS.iter().any(|end| name.ends_with(end))
        || DOCS_STEMS.contains(&stem)
    {
        return Class::Docs;
    }
    Class::Source
}

/// Directories whose code never ships.
const OF_TESTS: [&str; 7] = [
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "__snapshots__",
    "testdata",
];

/// Whether the path is in a directory whose code counts as tests.
pub fn is_in_tests(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut dirs = lower.split('/');
    dirs.next_back();
    dirs.any(|dir| OF_TESTS.contains(&dir))
}

/// The class of a path with known texts: shipped code may be in a documentation directory, or have a name like that of
/// a test. Code in a test directory always counts as tests.
pub fn classify_texts(path: &str, gates: &[String], texts: [Option<&str>; 2]) -> Class {
    let class = classify(path, gates);
    let texts = texts.into_iter().flatten();
    let is_code = |text: &str| Language::of(path, text) != Language::Other;
    let is_source = match class {
        Class::Docs => texts.clone().any(is_code),
        Class::Test => {
            !is_in_tests(path)
                && texts.clone().any(is_code)
                && !texts
                    .clone()
                    .any(|text| Suite::read(path, text).has_tests())
        }
        Class::Source | Class::Gate => false,
    };
    match is_source {
        true => Class::Source,
        false => class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_class_that_a_reader_would_give_them() {
        let gates = ["sh checks/all.sh --fast".to_owned()];
        for (class, paths) in [
            (
                Class::Test,
                &[
                    "tests/cli.rs",
                    "src/a_test.go",
                    "web/x.spec.ts",
                    "test.sh",
                    "src/FooTest.java",
                    "pkg/test_x.py",
                    "a/__snapshots__/x",
                ][..],
            ),
            (
                Class::Gate,
                &[
                    "Makefile",
                    "checks/all.sh",
                    ".github/workflows/ci.yml",
                    "web/vitest.config.mts",
                    ".cargo/config.toml",
                    "package.json",
                    ".npmrc",
                    "build/rules.mk",
                    ".agent/cook.toml",
                    "tests/conftest.py",
                ],
            ),
            (
                Class::Docs,
                &["README.md", "docs/a.png", "LICENSE", "man/x.1", "NOTES.txt"],
            ),
            (
                Class::Source,
                &[
                    "src/main.rs",
                    "contest.py",
                    "latest.go",
                    "lib/spectrum.c",
                    "Audit.java",
                ],
            ),
        ] {
            for path in paths {
                assert_eq!(classify(path, &gates), class, "{path}");
            }
        }
    }

    #[test]
    fn what_ships_is_known_by_its_text_where_its_place_says_something_else() {
        let code = "def works():\n    return 1\n";
        let tests = "def test_works():\n    assert works() == 1\n";
        for (path, text, class) in [
            ("docs/calc.py", code, Class::Source),
            ("docs/a.md", code, Class::Docs),
            ("LICENSE", code, Class::Docs),
            ("app/spec.py", code, Class::Source),
            ("app/impl_test.py", code, Class::Source),
            ("app/impl_test.py", tests, Class::Test),
            ("fixtures/calc.py", code, Class::Source),
            ("fixtures/calc.json", "{}", Class::Test),
            ("tests/helper.py", code, Class::Test),
            ("noxfile.py", code, Class::Gate),
        ] {
            assert_eq!(
                classify_texts(path, &[], [None, Some(text)]),
                class,
                "{path}"
            );
        }
    }
}
