//! Measures whether evidence would notice a defect: plants defects in the changed lines of a diff, reads the reports of
//! other mutation tools, and computes how often judges notice planted faults.
//!
//! Pure: texts in, values out, without files, processes, clock or randomness. All work is bounded.

mod catch_rate;
mod class;
mod fault;
mod line_diff;
mod mutant;
mod planted_reports;
mod suite;
mod tokens;

pub use catch_rate::{Answer, Interval, Joint, Record, Share, joint};
pub use class::{Class, Edited, classify, classify_texts, is_in_tests};
pub use fault::{Fault, FaultKind, faults};
pub use line_diff::{Touch, list_differences, list_touched_tests};
pub use mutant::{
    Mutant, Operator, Planting, Subject, plant, subject, with_comment, without_change,
};
pub use planted_reports::{Outcome, Tally, Tried, Unread, read_cargo_mutants, read_elements};
pub use tokens::Language;

/// Whether the documentation in a text contains examples that a test runner may run.
pub fn has_examples(path: &str, text: &str) -> bool {
    !suite::Suite::read(path, text).example_lines().is_empty()
}

/// Whether a text contains a test in the form of its language's common frameworks, or an example that `cargo test` runs.
pub fn has_tests(path: &str, text: &str) -> bool {
    let suite = suite::Suite::read(path, text);
    suite.has_tests() || suite.language == Language::Rust && !suite.example_lines().is_empty()
}
