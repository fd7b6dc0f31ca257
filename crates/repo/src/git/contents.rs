//! What a repository holds: commits, what differs between two, what stands at a path.

/// A commit in a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) id: String,
    /// Who wrote it, as the commit has it.
    pub(super) author: String,
    pub(super) message: String,
}

/// What became of a path between two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// A path that differs between two trees. Paths that are not UTF-8 carry `\xNN`
/// for each byte that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Relative to the root.
    pub path: String,
    /// What became of it.
    pub kind: ChangeKind,
}

/// What stands at a path in a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Nothing,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A submodule.
    Submodule,
    /// A file larger than [`MAX_FILE`].
    Huge(u64),
    /// A file's content and its object id.
    File {
        /// The content.
        bytes: Vec<u8>,
        /// Blob id.
        oid: String,
    },
}

/// Bytes of a file that are read out of a tree.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// A path of bytes as text: what is not UTF-8 becomes `\xNN`.
pub fn path_text(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}
