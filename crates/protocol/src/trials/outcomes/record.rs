//! What a hook in a runner appends: a JSON object a line.

use super::found::{Again, Found};
use super::types::TestResult;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One line of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Record {
    /// A test and how it went. One that is named again with a higher `attempt` was tried again.
    Test {
        runner: String,
        name: String,
        #[serde(default)]
        file: Option<String>,
        result: TestResult,
        #[serde(default)]
        message: Option<String>,
        #[serde(default)]
        attempt: u32,
    },
    /// A file that did not load.
    Unloaded {
        runner: String,
        unloaded: String,
        message: String,
    },
    /// The runner came to its end, and ran so many tests.
    End { runner: String, ran: u64 },
}

/// Names of runners that hooks and the readers of lines share.
const RUNNERS: [&str; 10] = [
    "pytest",
    "unittest",
    "rspec",
    "minitest",
    "node",
    "mocha",
    "jest",
    "vitest",
    "playwright",
    "tap",
];

/// Reads the records of all hooks.
pub(super) fn read(records: &str, found: &mut Found) {
    let mut open: BTreeSet<&'static str> = BTreeSet::new();
    let mut ended: BTreeSet<&'static str> = BTreeSet::new();
    for line in records.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(Record::Test {
                runner,
                name,
                file,
                result,
                message,
                attempt,
            }) => {
                let again = match attempt {
                    0 => Again::No,
                    attempt => Again::Attempt(attempt),
                };
                let runner = find_runner(&runner);
                let at = found.tell(runner, &name, result, again);
                if let Some(file) = file {
                    found.place(at, &file);
                }
                found.explain(at, &message.unwrap_or_default());
                open.insert(runner);
            }
            Ok(Record::Unloaded {
                runner,
                unloaded,
                message,
            }) => {
                found.unload(&unloaded, &message);
                found.count(find_runner(&runner), 0, false);
            }
            Ok(Record::End { runner, ran }) => {
                found.count(find_runner(&runner), ran, false);
                ended.insert(find_runner(&runner));
            }
            // The run was ended while it was written.
            Err(_) => found.is_partial = true,
        }
    }
    found.is_partial |= !open.is_subset(&ended);
}

fn find_runner(name: &str) -> &'static str {
    let name = name.split(':').next().unwrap_or(name);
    let name = if name == "prove" { "tap" } else { name };
    let known = RUNNERS.into_iter().find(|known| *known == name);
    known.unwrap_or("another")
}
