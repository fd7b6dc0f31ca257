//! The clean room: a directory that holds one commit's files and nothing else, so that a result depends on the commit
//! and not on anyone's worktree.
//!
//! Invariants: objects are read directly from their files, and each is hashed and compared with its name; no
//! configuration, hook, ref or filter of the user's repository has an effect; a file in the room is created anew and
//! never written through a link; everything in the room that belongs neither to the commit nor to a named cache is
//! removed; no program that the repository names is started.

mod attributes;
mod contents;
mod environment;
mod filling;
mod list;
mod repository;
mod rooms;
mod sandbox;
mod submodule;

pub use contents::{Filled, Lacking, Source};
pub use environment::{Environment, RunnerFiles, Surroundings, is_of_runner, search_path, tools};
pub(crate) use list::parse_tree;
pub use rooms::{Room, keep_within, remove_rooms_of, rooms_dir};
pub use sandbox::{Agent, Authority, Bubblewrap, Gate, STARTS, is_kept, never_began};
