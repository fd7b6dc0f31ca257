//! Reports of tools that plant defects, read into one shape: `cargo mutants` and every tool that writes
//! the schema of mutation-testing-elements, Stryker among them.

mod cargo;
mod elements;
mod tried;

pub use cargo::read_cargo_mutants;
pub use elements::read_elements;
pub use tried::{Outcome, Tally, Tried, Unread};

#[cfg(test)]
mod tests;
