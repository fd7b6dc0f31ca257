//! What a commit's contract asks for, compared with what another one's does, field by field.
//!
//! A field that is not in a table here would be compared by nobody: a test reads the fields from the
//! types themselves and fails when one is missing.

mod compare;
mod criteria;
mod difference;
mod fields;
mod file;
mod settings;
mod texts;

pub use compare::compare;
pub use criteria::compare_criteria;
pub use difference::{Difference, Strength};
pub use file::{Contract, ContractFile, Part};
