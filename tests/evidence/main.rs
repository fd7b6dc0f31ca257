//! What proves a criterion, and what becomes of it on real histories: the tables of
//! `protocol/completion.md#acceptance-criteria`, row by row.
#![allow(clippy::unwrap_used)]

mod in_work;
mod job;
mod odd;
mod random;
#[path = "../support/mod.rs"]
mod support;
mod tested;
mod text;
mod verified;
