//! The clean room: a directory that holds one commit's files and nothing else, so that what is
//! run there says something about the commit and not about somebody's worktree.
//!
//! Invariants: objects are read from their files alone, each is hashed and compared with its name,
//! and no configuration, hook, ref or filter of the user's repository is looked at; a file of the
//! room is made anew and never written through a link; what stands there that is neither of the
//! commit nor a named cache is removed; no program that the repository names is started.

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
