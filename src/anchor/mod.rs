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
mod gone;
mod held;
mod judge;
mod lines;
mod named;
mod place;
mod receipts;
mod reviewed;
mod section;
mod sources;
mod stamp;
mod survival;
mod symbol;
mod text;
mod then;
mod told;
mod work;

pub(crate) use cook_core::model::Anchor;
pub(crate) use sources::Sources;
pub(crate) use told::{describe_failed, read_line};
pub(crate) use work::find_basis;
