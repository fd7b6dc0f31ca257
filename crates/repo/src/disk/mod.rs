//! File access: files that appear whole, reads with a size limit and only of regular files, lines appended, locks.

mod file_lock;
mod file_system;
mod new_file;
mod temporary;

pub use file_lock::{hold_directory, is_at, open_lock, remove_lock, take_lock};
pub use file_system::{
    AtPath, Links, cannot, is_directory, is_own, link, list_files_below, list_names, look,
    native_path, open_no_follow, open_regular, permission_bits, read, read_if_plain, read_present,
    read_tail, read_text, remove_file, remove_tree, sync_dir,
};
pub use new_file::{
    Draft, Durable, Mode, NewFile, append_line, is_unfinished, open_to_append, unshare,
};
pub use temporary::TemporaryDir;
