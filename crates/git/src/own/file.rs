//! A file's text as it is followed.

use super::moved::may_move;
use crate::history::{Entry, MAX_FILE};
use crate::lines::split_lines;
use crate::{Repo, RepoError};
use cook_core::diagnostic::Failure;
use cook_core::machine::MAX_COMMITS;
use cook_core::model::TreeEntry;
use std::ops::Range;

/// Bytes of a text whose lines are followed; a larger file counts as a whole.
const MAX_TEXT: usize = MAX_FILE as usize;
/// Renamed files that are each looked for in every commit on the way; more are believed to be renamed.
const MAX_MOVED: usize = 200;

/// A file's text, or nothing.
#[derive(Debug, Clone, Default)]
pub struct Text(Vec<u8>);

impl Text {
    /// Of these bytes; none for what is no text or too large to be followed.
    pub fn of(bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() <= MAX_TEXT && !bytes.contains(&0)).then_some(Self(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same lines without white space: what a formatter leaves as it is.
    pub(super) fn squeeze_all(&self) -> Vec<u8> {
        let mut squeezed = Vec::with_capacity(self.0.len());
        for line in self.lines() {
            squeezed.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
            squeezed.push(b'\n');
        }
        squeezed
    }

    pub(super) fn lines(&self) -> Vec<&[u8]> {
        split_lines(&self.0)
    }
}

impl Repo {
    /// What stands at a path, of whatever kind.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn tree_entry(&self, commit: &str, path: &str) -> Result<Option<TreeEntry>, Failure> {
        Ok(self.ask(|history| history.tree_entry(commit, path))?)
    }

    /// A file's text: empty where nothing stands there, none where it is no text.
    pub(super) fn read_text_at(&self, commit: &str, path: &str) -> Result<Option<Text>, Failure> {
        Ok(match self.entry(commit, path)? {
            Entry::Nothing => Some(Text::default()),
            Entry::File { bytes, .. } => Text::of(bytes),
            _ => None,
        })
    }

    /// The same where lines are looked for: what is of bytes that are no text has none.
    pub(super) fn read_lines_at(&self, commit: &str, path: &str) -> Result<Option<Text>, Failure> {
        Ok(match self.entry(commit, path)? {
            Entry::Nothing => Some(Text::default()),
            Entry::File { bytes, .. } if bytes.len() > MAX_TEXT => None,
            Entry::File { bytes, .. } => Some(Text::of(bytes).unwrap_or_default()),
            _ => None,
        })
    }

    /// A blob's text; none when it is not here, or no text.
    pub(super) fn read_text(&self, entry: Option<&TreeEntry>) -> Result<Option<Text>, Failure> {
        match entry {
            None => Ok(Some(Text::default())),
            Some(entry) => Ok(self.blob(&entry.id)?.and_then(Text::of)),
        }
    }

    /// The new name of a file that git sees as renamed between two commits.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn find_renamed(
        &self,
        from: &str,
        to: &str,
        path: &str,
    ) -> Result<Option<String>, Failure> {
        let renames = self.list_moved(from, to)?.into_iter();
        let mut named = renames.filter(|(_, old)| old == path);
        Ok(named.next().map(|(new, _)| new))
    }

    /// New paths of files that were renamed on the way, each with its old one. Code that was set aside was not,
    /// and a file that stood beside the old one before that one went is another file, however alike they are.
    pub(super) fn list_moved(
        &self,
        from: &str,
        to: &str,
    ) -> Result<Vec<(String, String)>, RepoError> {
        let mut renames = self.renames(from, to)?;
        renames.retain(|(new, old)| may_move(old, new));
        if renames.is_empty() || renames.len() > MAX_MOVED {
            return Ok(renames);
        }
        let on_the_way = self.ask(|history| history.list(Some(from), to, MAX_COMMITS))?;
        for commit in on_the_way {
            let mut moved = Vec::new();
            for (new, old) in renames {
                let stands = |path: &str| self.ask(|history| history.tree_entry(&commit.id, path));
                if stands(&new)?.is_none() || stands(&old)?.is_none() {
                    moved.push((new, old));
                }
            }
            renames = moved;
        }
        Ok(renames)
    }

    /// New paths of renamed files, each with its old one.
    pub(super) fn renames(&self, from: &str, to: &str) -> Result<Vec<(String, String)>, RepoError> {
        self.program.renames(from, to)
    }
}

/// Everything but white space.
pub(super) fn squeeze_lines<'a>(lines: &'a [&[u8]]) -> impl Iterator<Item = &'a u8> {
    let bytes = lines.iter().flat_map(|line| line.iter());
    bytes.filter(|byte| !byte.is_ascii_whitespace())
}

/// Two ranges have a line in common.
pub(super) fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}
