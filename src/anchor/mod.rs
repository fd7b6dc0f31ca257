//! Anchors: where a proof is, and what it is worth now.
//!
//! [`Anchor::parse`] is the grammar (in `model`) and knows nothing of the repository;
//! [`Sources::judge`] holds an anchor against HEAD's tree, kept receipts and trials. Nothing is read outside of
//! git's objects and cook's own files, no link is followed, and no command is run because an anchor names it.

mod judge;
mod named_test;
mod place;
mod runs;
mod sources;

pub(crate) use cook_protocol::model::Anchor;
pub(crate) use sources::{Sources, describe_failed, read_line};
