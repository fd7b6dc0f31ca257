//! Anchors: the place of a proof, and the present verdict on it.
//!
//! [`Anchor::parse`] is the grammar (in `model`) and does not read the repository; [`Sources::judge`] checks an anchor
//! against HEAD's tree, kept receipts and trials. Only git's objects and cook's own files are read, no link is
//! followed, and no command is run because an anchor names it.

mod judge;
mod named_test;
mod place;
mod runs;
mod sources;

pub(crate) use cook_protocol::model::Anchor;
pub(crate) use sources::{Sources, describe_failed, read_line};
