//! Whether evidence would notice a defect: what a diff takes away from tests, by their names; defects
//! that are planted in what a diff changed; what other tools planted; how often judges notice.
//!
//! Pure: texts in, values out. No file, process, clock or randomness, and every effort is bounded.

mod calibrate;
mod class;
mod fault;
mod integrity;
mod language;
mod lex;
mod lines;
mod mutant;
mod report;
mod shipped;
mod suite;

pub use calibrate::{Answer, Interval, Joint, Record, Share, joint};
pub use class::{Class, Edited, classify};
pub use fault::{Fault, FaultKind, faults};
pub use integrity::{Kind, Remark, Renamed, Weakenings, is_harmless, names_check, weakenings};
pub use language::Language;
pub use mutant::{
    Mutant, Operator, Planting, Subject, plant, subject, with_comment, without_change,
};
pub use report::{Outcome, Tally, Tried, Unread, read_cargo_mutants, read_elements};
pub use shipped::{classify_texts, is_in_tests};

/// How many tests a text holds.
pub fn count_tests(path: &str, text: &str) -> usize {
    suite::Suite::read(path, text).tests().count()
}
