//! Files: written so that they appear whole, read with a limit and never through what is no
//! regular file, appended to line by line, and locked.

mod append;
mod link;
mod lock;
mod look;
mod read;
mod remove;
mod temporary;
mod write;

pub use append::{append_line, open_to_append, unshare};
pub use link::link;
pub use lock::{Held, hold_directory, is_at, open_lock, remove_lock, take_lock};
pub use look::{is_directory, is_own, look, open_no_follow, sync_dir};
pub use read::{Links, open_regular, read, read_if_plain, read_present, read_tail, read_text};
pub use remove::remove_tree;
pub use temporary::TemporaryDir;
pub use write::{Draft, Durable, Mode, NewFile, is_unfinished};
