//! What is said of a diff.

use serde::{Deserialize, Serialize};

/// How a test, or what runs tests, got weaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is not there any more, under no other name.
    Lost,
    /// It is there and does not run, or not everywhere.
    Skipped,
    /// Nothing is left in it.
    Emptied,
    /// It asserted something, and does not any more.
    Assertionless,
    /// It would notice less.
    Weakened,
    /// It is tried again until it passes.
    Retried,
    /// It waits for a time.
    SleepPadded,
    /// An error in it goes unseen.
    ErrorSwallowing,
    /// A command that fails goes unseen.
    ExitSwallowing,
}

/// One weakening.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Remark {
    /// How it got weaker.
    pub kind: Kind,
    /// The file: of a lost test the one where it was.
    pub path: String,
    /// From 1: in the text of now; of what is lost in the text of before.
    pub line: usize,
    /// The test's name with those of its groups, or the file's.
    pub name: String,
    /// The line, or what is different.
    pub what: String,
}

/// A test that has another name now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Renamed {
    pub path: String,
    pub from: String,
    pub to: String,
}

/// What became of the tests of a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Weakenings {
    /// By path and line.
    pub remarks: Vec<Remark>,
    /// Tests that are there under another name.
    pub renamed: Vec<Renamed>,
}

/// Characters of a line that are shown.
const SHOWN: usize = 120;

pub(crate) fn cut(line: &str) -> &str {
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

/// A line of a text, from 1, as it is shown.
pub(super) fn show_line(text: Option<&str>, line: usize) -> String {
    let found = text.and_then(|text| text.lines().nth(line.saturating_sub(1)));
    cut(found.unwrap_or_default().trim()).to_owned()
}
