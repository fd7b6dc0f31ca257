//! Reads the results of tests by name from a command's output, and compares trials that run the tests of one
//! commit on the code of another.
//!
//! Pure: texts in, values out. No file, process, clock or randomness.

mod cross;
pub mod outcomes;
pub mod runner_hooks;
mod runners;
mod settings;
mod test_files;

pub use cross::{
    Became, Crossed, Declaration, NamedTest, TrialLine, Weight, Word, cross, read_declarations,
};
pub use outcomes::{Material, Outcomes, Report, Source, Test, TestResult};
pub use runners::{
    Known, Side, fits_path, is_among_tests, is_set_up, is_test_file, is_whole_setting,
    shadows_runner, side_of, splits,
};
pub use settings::{Split, close_scripts, close_targets, first_target, list_variables, split_of};
pub use test_files::{Chosen, Tree, limit_to_files};
