//! Tests of a run, what they are read from, and what the run left.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    /// It ran and held. An expected failure is a pass.
    Passed,
    /// It was set aside, or did not run to its end for a reason of its own.
    Skipped,
    /// It ran and did not hold, or could not be set up.
    Failed,
}

/// A test of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Its worst result, where it has several; the last one where the runner tried it again.
    pub result: TestResult,
    /// The file that it stands in, relative to the root of the tree, where the source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// It failed and passed when the runner tried it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_flaky: bool,
    /// It has more than one result that was not a new try: two tests share the name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ambiguous: bool,
    /// The line of the console with its result, from 0, where a line of the console said it. Lines of
    /// the standard error are counted on behind those of the standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// What the outcomes were read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Nothing names a test: the exit code alone speaks.
    #[default]
    ExitCode,
    /// Lines of a runner that is known.
    Lines,
    /// A file that the runner wrote.
    Report,
    /// What a hook in the runner appended.
    Hook,
}

/// Every test that a run names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    /// By full name.
    pub tests: BTreeMap<String, Test>,
    /// Files or packages that did not build or load, with the compiler's or runner's line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unloaded: BTreeMap<String, String>,
    /// The best source that named one of them.
    pub source: Source,
    /// A runner said that it ran no test, and nothing names one.
    pub nothing_ran: bool,
    /// An output was cut, or ended before its end: a test that is not named may have run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// A runner that is read by its lines ran tests that it does not name, as many do of those that pass:
    /// a test that is not named may have passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omits_passed: bool,
}

/// A report file that a runner wrote in the tree during the run.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Relative to the root of the tree, with `/`.
    pub path: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// What one run of a command left.
#[derive(Debug, Clone, Copy, Default)]
pub struct Material<'a> {
    /// The root of the tree as the command saw it, or nothing: names of files are relative to it.
    pub root: &'a str,
    /// Its standard output.
    pub stdout: &'a str,
    /// Its standard error.
    pub stderr: &'a str,
    /// What hooks appended: a JSON object a line.
    pub records: &'a str,
    /// Files that runners wrote.
    pub reports: &'a [Report<'a>],
}
