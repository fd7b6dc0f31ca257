//! Kinds of files, by their paths.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a tracked file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// What ships.
    Source,
    /// What tests it.
    Test,
    /// What decides whether tests run and count: CI, build and runner settings, the contract,
    /// files that a gate's command names.
    Gate,
    /// Prose.
    Docs,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.serialize(f)
    }
}

/// A file in both its states; none = it is not there.
#[derive(Debug, Clone, Copy)]
pub struct Edited<'a> {
    /// Relative to the root.
    pub path: &'a str,
    /// What it is for.
    pub class: Class,
    /// Its text at the basis.
    pub before: Option<&'a str>,
    /// Its text now.
    pub after: Option<&'a str>,
}

/// Directories that hold nothing but tests.
const TEST_DIRS: [&str; 10] = [
    "test",
    "tests",
    "testing",
    "spec",
    "specs",
    "__tests__",
    "__snapshots__",
    "e2e",
    "testdata",
    "fixtures",
];
/// Directories of CI settings.
const GATE_DIRS: [&str; 6] = [
    ".agent",
    ".github",
    ".gitlab",
    ".circleci",
    ".ci",
    ".buildkite",
];
/// Files that say how a project is built and tested.
const GATE_FILES: [&str; 47] = [
    "makefile",
    "gnumakefile",
    "justfile",
    "rakefile",
    "cargo.toml",
    "clippy.toml",
    "nextest.toml",
    "package.json",
    "tox.ini",
    "pytest.ini",
    "setup.cfg",
    "pyproject.toml",
    "noxfile.py",
    "conftest.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "mix.exs",
    "cmakelists.txt",
    "meson.build",
    "deno.json",
    "tsconfig.json",
    "phpunit.xml",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".pre-commit-config.yaml",
    ".eslintrc.json",
    "azure-pipelines.yml",
    "jenkinsfile",
    "taskfile.yml",
    "codecov.yml",
    ".coveragerc",
    ".rspec",
    ".mocharc.json",
    "karma.conf.js",
    "rust-toolchain.toml",
    "lefthook.yml",
    ".justfile",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "bunfig.toml",
    "taskfile.yaml",
    ".pytest.ini",
    "go.work",
    "rust-toolchain",
];
/// Beginnings of names that go on with an ending of their own.
const GATE_STEMS: [&str; 8] = [
    "jest.config.",
    "vitest.config.",
    "vite.config.",
    "playwright.config.",
    "cypress.config.",
    "babel.config.",
    "eslint.config.",
    ".mocharc.",
];
const DOCS_DIRS: [&str; 4] = ["doc", "docs", "man", "runbooks"];
const DOCS_ENDS: [&str; 7] = [".md", ".mdx", ".rst", ".adoc", ".txt", ".1", ".org"];
const DOCS_STEMS: [&str; 5] = ["readme", "changelog", "license", "contributing", "notice"];

/// The class of a path (relative, `/` between its parts). `gates` are the commands that cook
/// runs: a file that one of them names decides what counts as passed.
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
        || GATE_FILES.contains(&name)
        || name.ends_with(".mk")
        || GATE_STEMS.iter().any(|stem| name.starts_with(stem))
    {
        return Class::Gate;
    }
    if parts.iter().any(|dir| TEST_DIRS.contains(dir)) || is_test_name(path, name) {
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

/// `test_x.py`, `x_test.go`, `x.test.ts`, `x.spec.ts`, `XTest.java`, `test.sh`.
fn is_test_name(path: &str, lower: &str) -> bool {
    let (stem, _) = lower.rsplit_once('.').unwrap_or((lower, ""));
    let own = path.rsplit('/').next().unwrap_or_default();
    let camel = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
    matches!(stem, "test" | "tests" | "spec")
        || ["test_", "test-", "tests_"]
            .iter()
            .any(|start| stem.starts_with(start))
        || [
            "_test", "-test", ".test", "_tests", "_spec", ".spec", "-spec",
        ]
        .iter()
        .any(|end| stem.ends_with(end))
        || ["Test", "Tests", "Spec", "IT"]
            .iter()
            .any(|end| camel.ends_with(end) && camel.len() > end.len())
        || lower.ends_with(".bats")
        || lower.ends_with(".snap")
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
}
