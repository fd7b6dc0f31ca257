//! A defect that was planted and tried, whoever planted it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a report that are read.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// Defects of a report that are taken.
pub(super) const MOST_TRIED: usize = 100_000;
/// Bytes of a word of a report that are kept.
const MOST_WORD: usize = 4_096;

/// What became of a planted defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A gate noticed it, or did not end with it.
    Killed,
    /// Every gate passed with it.
    Survived,
    /// It does not build: nobody could have noticed.
    Unbuildable,
}

/// A defect and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Tried {
    pub id: String,
    pub path: String,
    /// From 1.
    pub line: usize,
    /// What it does, in the tool's words.
    pub what: String,
    pub outcome: Outcome,
    /// The change that it is, where the report holds it.
    pub diff: Option<String>,
    /// The file that holds the change, beside the report.
    #[serde(skip)]
    pub diff_file: Option<String>,
}

/// How many there are of each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Tally {
    pub killed: usize,
    pub survived: usize,
    pub unbuildable: usize,
}

impl Tally {
    /// Counts outcomes.
    pub fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Killed => tally.killed += 1,
                Outcome::Survived => tally.survived += 1,
                Outcome::Unbuildable => tally.unbuildable += 1,
            }
        }
        tally
    }

    /// Defects that could be noticed.
    pub fn count_planted(self) -> usize {
        self.killed + self.survived
    }

    /// The share that was noticed; none where nothing could be.
    pub fn strength(self) -> Option<f64> {
        (self.count_planted() > 0).then(|| self.killed as f64 / self.count_planted() as f64)
    }
}

/// Why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It is larger than what is read.
    #[error("the report has {0} bytes, and at most {MOST_BYTES} are read")]
    TooLarge(usize),
    /// It is not JSON.
    #[error("the report is not valid JSON: {0}")]
    NotJson(String),
    /// It is JSON, and not this tool's.
    #[error("the report is not one of {tool}: {what}")]
    Shape {
        /// The tool whose report was expected.
        tool: &'static str,
        /// What is missing or unknown.
        what: String,
    },
}

impl Unread {
    /// A word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) => "report_too_large",
            Self::NotJson(_) => "report_not_json",
            Self::Shape { .. } => "report_unknown",
        }
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<Value, Unread> {
    if bytes.len() > MOST_BYTES {
        return Err(Unread::TooLarge(bytes.len()));
    }
    serde_json::from_slice(bytes).map_err(|error| Unread::NotJson(error.to_string()))
}

/// A text of the report, cut.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    let whole = value.get(key)?.as_str()?;
    let mut end = whole.len().min(MOST_WORD);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    Some(&whole[..end])
}

pub(super) fn number(value: &Value, path: &[&str]) -> Option<usize> {
    let found = path.iter().try_fold(value, |value, key| value.get(key))?;
    usize::try_from(found.as_u64()?).ok()
}

/// A path of a report, relative and with `/`; none = it leads out of the repository.
pub(super) fn relative(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let leaves = path.starts_with('/')
        || path.get(1..2) == Some(":")
        || path.split('/').any(|part| part == "..");
    (!path.is_empty() && !leaves).then(|| path.to_owned())
}
