//! What a hook in a runner appends: a JSON object a line.

use super::TestResult;
use serde::{Deserialize, Serialize};

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
