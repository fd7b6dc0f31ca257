//! The texts of files in two commits.

use super::{Change, ChangeKind, Entry, Repo};
use cook_protocol::diagnostic::Failure;

/// Files whose texts are read.
pub const MAX_EDITS: usize = 3_000;
/// Bytes of a text that is looked at; larger files are only named.
pub const MAX_TEXT: usize = 1024 * 1024;
/// Bytes of all of them.
const MAX_TEXTS: usize = 64 << 20;

/// A file that differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Its path, and what became of it.
    pub change: Change,
    /// Text before and after, none where the file was not there; nothing at all for what is no
    /// text, or too much of it.
    pub texts: Option<(Option<String>, Option<String>)>,
}

impl Repo {
    /// The texts of what differs between two commits (full ids), sorted by path. Beyond the
    /// first [`MAX_EDITS`], and 64 MiB of text, the paths alone.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn edits(&self, from: &str, to: &str) -> Result<Vec<Edit>, Failure> {
        let mut edits = Vec::new();
        let mut bytes = 0;
        for change in self.changes(Some(from), to)? {
            let texts = if edits.len() < MAX_EDITS && bytes < MAX_TEXTS {
                let before = match change.kind {
                    ChangeKind::Added => Some(None),
                    _ => self.text(from, &change.path)?,
                };
                let after = match change.kind {
                    ChangeKind::Deleted => Some(None),
                    _ => self.text(to, &change.path)?,
                };
                let texts = [&before, &after].into_iter().flatten().flatten();
                bytes += texts.map(String::len).sum::<usize>();
                before.zip(after)
            } else {
                None
            };
            edits.push(Edit { change, texts });
        }
        Ok(edits)
    }

    /// A file's text; none for what is not text.
    fn text(&self, commit: &str, path: &str) -> Result<Option<Option<String>>, Failure> {
        Ok(match self.entry(commit, path)? {
            Entry::File { bytes, .. } if bytes.len() <= MAX_TEXT && !bytes.contains(&0) => {
                String::from_utf8(bytes).ok().map(Some)
            }
            _ => None,
        })
    }
}
