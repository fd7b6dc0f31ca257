//! What cook asks of a repository's objects and refs, whoever answers: libgit2,
//! which is fast, or the `git` program, which opens everything.

use super::RepoError;
use cook_core::machine::Head;
use cook_core::model::TreeEntry;

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

/// Ids here are full, lower-case and known to name commits, unless said otherwise.
pub(super) trait History {
    /// A blob's content by its id; none when it is not here, or too large.
    fn blob(&self, id: &str) -> Result<Option<Vec<u8>>, RepoError>;
    fn head(&self) -> Result<Head, RepoError>;
    /// `hex` is 4 to 64 hexadecimal digits; none when no commit, or more than one, begins so.
    fn resolve(&self, hex: &str) -> Result<Option<String>, RepoError>;
    fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, RepoError>;
    fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, RepoError>;
    /// The newest `limit` commits of `from..to`, newest first, children before parents.
    fn list(&self, from: Option<&str>, to: &str, limit: usize) -> Result<Vec<Listed>, RepoError>;
    fn tree(&self, commit: &str) -> Result<String, RepoError>;
    /// First parent; none for a root.
    fn parent(&self, commit: &str) -> Result<Option<String>, RepoError>;
    /// All parents, the first one first.
    fn parents(&self, commit: &str) -> Result<Vec<String>, RepoError>;
    /// Differences between two commits' trees (none = the empty tree), sorted by path.
    fn changes(&self, from: Option<&str>, to: &str) -> Result<Vec<Change>, RepoError>;
    fn entry(&self, commit: &str, path: &str) -> Result<Entry, RepoError>;
    /// What stands at a path that is no directory; none when nothing does.
    fn tree_entry(&self, commit: &str, path: &str) -> Result<Option<TreeEntry>, RepoError>;
}

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
