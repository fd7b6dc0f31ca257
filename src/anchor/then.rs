//! A file as it was when something in it was anchored, and where its text went since.

use super::answer::Placed;
use super::sources::{Sources, Text};
use super::text::split;
use cook_core::diagnostic::Failure;
use cook_core::machine::short;
use cook_core::model::{Stamp, Verdict};
use cook_git::{ChangeKind, Found, find_lines, find_moved, may_move};

/// A file as it was when something in it was anchored.
pub(super) struct Then {
    pub(super) lines: Vec<String>,
    /// The commit it was in; none when that commit is not here any more.
    pub(super) commit: Option<String>,
}

impl Then {
    pub(super) fn describe(&self) -> String {
        match &self.commit {
            Some(commit) => format!("commit {}", short(commit)),
            None => "it was stamped".to_owned(),
        }
    }
}

impl Sources<'_> {
    /// A file as it was at a stamp: from its commit, or from its blob when a rewritten or
    /// shallow history no longer has the commit.
    pub(super) fn read_then(&self, stamp: &Stamp, path: &str) -> Result<Option<Then>, Failure> {
        let commit = match &stamp.head {
            Some(head) => self.find_commit(head)?,
            None => None,
        };
        if let Some(commit) = commit
            && let Some(then) = self.at_commit(&commit, path)?
        {
            return Ok(Some(then));
        }
        let bytes = match &stamp.blob {
            Some(blob) => self.repo.blob(blob)?,
            None => None,
        };
        Ok(bytes.filter(|bytes| !bytes.contains(&0)).map(|bytes| Then {
            lines: split(&bytes),
            commit: None,
        }))
    }

    pub(super) fn at_commit(&self, commit: &str, path: &str) -> Result<Option<Then>, Failure> {
        Ok(match &*self.text(commit, path)? {
            Text::Lines(lines) => Some(Then {
                lines: lines.clone(),
                commit: Some(commit.to_owned()),
            }),
            _ => None,
        })
    }

    /// The new name of a file that git sees as renamed.
    pub(super) fn find_renamed(
        &self,
        from: &str,
        to: &str,
        path: &str,
    ) -> Result<Option<String>, Failure> {
        self.repo.find_renamed(from, to, path)
    }

    /// Where else the block turned up since the stamp. A program that writes a file quotes, and prose
    /// quotes code; and where the other file held it before it left this one, nobody can say that it went there.
    pub(super) fn elsewhere(
        &self,
        stamp: &str,
        head: &str,
        path: &str,
        block: &[String],
    ) -> Result<Found, Failure> {
        let changes = self.changes(stamp, head)?;
        let others = changes
            .iter()
            .filter(|change| change.kind != ChangeKind::Deleted && change.path != path)
            .filter(|change| may_move(path, &change.path))
            .map(|change| change.path.as_str());
        let found = find_moved(others, |other, is_now| {
            let text = self.text(if is_now { head } else { stamp }, other)?;
            Ok(match &*text {
                Text::Lines(lines) => find_lines(lines, block),
                _ => Vec::new(),
            })
        })?;
        let Found::One(other, at) = found else {
            return Ok(found);
        };
        if self.is_generated(&other)? {
            return Ok(Found::None);
        }
        let lines: Vec<&[u8]> = block.iter().map(String::as_bytes).collect();
        let way = self.repo.list_way(stamp, head)?;
        Ok(
            match self.repo.has_stood_before(&way, path, &other, &lines)? {
                true => Found::Several,
                false => Found::One(other, at),
            },
        )
    }
}

pub(super) fn report_moved(path: &str, at: usize, block: &[String]) -> Placed {
    let why = format!("the text stands at `{path}` line {} now", at + 1);
    Placed::at(Verdict::Moved, why, path, at + 1, block)
}
