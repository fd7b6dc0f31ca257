//! Anchors: where a proof is, and what it is worth now.
//!
//! [`Anchor::parse`] is the grammar (in `model`) and knows nothing of the repository;
//! [`Sources::judge`] holds an anchor against HEAD's tree, its history and kept
//! receipts. Nothing is read outside git's objects and cook's own files, no link
//! is followed, and no command is run.

mod alike;
mod answer;
mod bodies;
mod body;
mod forms;
mod gone;
mod held;
mod judge;
mod junit;
mod lines;
mod named;
mod output;
mod place;
mod receipts;
mod reviewed;
mod section;
mod sources;
mod stamp;
mod suites;
mod survival;
mod symbol;
mod tap;
mod text;
mod then;
mod work;

pub(crate) use cook_core::model::Anchor;
pub(crate) use forms::{TestOutcome, of_line};
pub(crate) use output::{describe_failed, test_outcomes};
pub(crate) use sources::Sources;
pub(crate) use work::find_basis;
