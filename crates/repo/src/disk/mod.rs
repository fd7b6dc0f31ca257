//! Files: written so that they appear whole, read with a limit and never through what is no
//! regular file, appended to line by line, and locked.

mod append;
mod file_lock;
mod file_reader;
mod link;
mod metadata;
mod new_file;
mod remove;
mod temporary;

pub use append::{append_line, open_to_append, unshare};
pub use file_lock::{hold_directory, is_at, open_lock, remove_lock, take_lock};
pub use file_reader::{
    Links, open_regular, read, read_if_plain, read_present, read_tail, read_text,
};
pub use link::link;
pub use metadata::{is_directory, is_own, look, open_no_follow, sync_dir};
pub use new_file::{Draft, Durable, Mode, NewFile, is_unfinished};
pub use remove::remove_tree;
pub use temporary::TemporaryDir;
