//! Decides what a long job of coding agents needs next, from documents in memory.

pub mod brief;
pub mod change;
pub mod diagnostic;
pub mod machine;
pub mod model;
pub mod prompt;
pub mod report;
pub mod schema;
