//! The clean room: a directory that holds one commit's files and nothing else, so that what is
//! run there says something about the commit and not about somebody's worktree.
//!
//! Invariants: objects are read from their files alone, each is hashed and compared with its name,
//! and no configuration, hook, ref or filter of the user's repository is looked at; a file of the
//! room is made anew and never written through a link; what stands there that is neither of the
//! commit nor a named cache is removed; no program that the repository names is started.

mod attributes;
mod cloned_history;
mod environment;
mod error;
mod filling;
mod git_dir;
mod index;
mod lfs;
mod list;
mod object_reader;
mod plain_git;
mod repository;
mod room;
mod room_contents;
mod rooms;
mod sandbox;
mod scan;
mod step_files;
mod submodule;

pub use environment::{Environment, Surroundings, is_of_runner, search_path, tools};
pub use error::RoomError;
pub use room::Room;
pub use room_contents::{Filled, Lacking, Source};
pub use rooms::{keep_within, rooms_dir};
pub use sandbox::{Agent, Authority, Bubblewrap, Gate, STARTS, is_kept, never_began};
pub use step_files::RunnerFiles;
