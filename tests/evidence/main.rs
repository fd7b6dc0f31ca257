//! What proves a criterion, and what becomes of it on real histories: for each situation of
//! `protocol/completion.md#evidence-through-history` what an honest re-ground says is taken, and what
//! a dishonest one says is refused.
#![allow(clippy::unwrap_used)]

mod accepting;
mod again;
mod beside;
mod bodies;
mod chance;
mod contract;
mod events;
mod following;
mod found;
mod hand;
mod job;
mod moved;
mod odd;
mod quoted;
mod random;
mod rebound;
mod renames;
mod reviewed;
mod rows;
mod runs;
mod shown;
mod states;
mod suites;
#[path = "../support/mod.rs"]
mod support;
mod taken_back;
