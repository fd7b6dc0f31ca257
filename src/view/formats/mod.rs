//! The formats of [`Results`] beside people's text and JSON, a file for each. Each is held to its
//! published schema by `tests/verify/formats.rs`.

mod github;
mod junit_format;
pub(crate) mod markdown;
mod sarif;

use super::Results;
use super::page::json_text;
use clap::ValueEnum;
pub(super) use github::{harmless, write_down};

/// How a command answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Human,
    /// For programs: the same as --json
    Json,
    /// Commands of a GitHub workflow, its job summary and outputs
    Github,
    /// A table for a pull request
    Markdown,
    /// JUnit XML: a suite for each slice, a case for each criterion
    Junit,
    /// SARIF 2.1.0: a rule for each code
    Sarif,
}

impl Format {
    /// A result in it; none where the answer's own text is asked for.
    pub(super) fn render(self, results: &Results) -> Option<String> {
        match self {
            Self::Human | Self::Json => None,
            Self::Github => Some(github::commands(results)),
            Self::Markdown => Some(markdown::markdown(results)),
            Self::Junit => Some(junit_format::junit(results)),
            Self::Sarif => Some(json_text(&sarif::sarif(results))),
        }
    }
}
