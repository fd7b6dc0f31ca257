//! What was said in the session that a report came out of. The log keeps it with the
//! transition, so that whoever has the log can make the record from it again.

use serde::{Deserialize, Serialize};

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// The exchange's content hash, as sessions write it.
    pub hash: String,
    /// `say`, `act`, `recap` or `repair`.
    pub kind: String,
    /// The request.
    pub input: String,
    /// The answer.
    pub output: String,
}

/// The exchange that a report was taken from, and what stood before it in its window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedExchange {
    /// Its ref, `ex_…`, as the record names it.
    pub exchange: String,
    /// Oldest first; the last one is the report's.
    pub said: Vec<Said>,
}

/// Which exchanges a citation is made of, by hash: the file that bears the ref's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The ref.
    pub exchange: String,
    /// Oldest first; the last one is the report's.
    pub said: Vec<String>,
}
