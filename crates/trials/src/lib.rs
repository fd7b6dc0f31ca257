//! What a command says of the tests of a tree, by name, and what crossing the tests of one commit
//! with the code of another says of a change.
//!
//! Pure: texts in, values out. No file, process, clock or randomness.

pub mod hooks;
pub mod outcomes;

pub use outcomes::{Material, Outcomes, Report, Source, Test, TestResult};
