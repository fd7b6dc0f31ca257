//! What leaves beside a branch: commits of the user's that the log cites and the branch does not hold,
//! and what they bring that the remote lacks.

use crate::remote::remote::Remote;
use crate::remote::remote_listing::is_id;
use crate::remote::user_git::Call;
use cook_protocol::diagnostic::Failure;

/// A file of such a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// The first commit that brings it.
    pub commit: String,
    /// Its path there.
    pub path: String,
    /// The id of what it holds; a directory has one too.
    pub id: String,
}

/// Commits of the user's that leave without their branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Their ids and messages, authors included.
    pub commits: Vec<(String, String)>,
    /// What they bring.
    pub files: Vec<KeptFile>,
}

impl Kept {
    /// None leave.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }
}

impl Remote<'_> {
    /// What comes along with commits where those others are there already. `adjust` lets git find
    /// the objects.
    pub(crate) fn list_leaving(
        &self,
        commits: &[&String],
        there: &[&str],
        adjust: &impl Fn(Call) -> Call,
    ) -> Result<Kept, Failure> {
        let what = "git does not say which commits would be kept";
        // A push sends what stands behind a replaced object.
        let mut call =
            Call::new("--no-replace-objects rev-list --reverse --objects --in-commit-order");
        for commit in commits {
            call = call.word(commit.as_str());
        }
        call = call.word("--not");
        for commit in there {
            call = call.word(*commit);
        }
        let mut kept = Kept::default();
        let mut ids = Vec::new();
        for line in self.git.answer(adjust(call), what)?.lines() {
            match line.split_once(' ') {
                None if is_id(line) => ids.push(line.to_owned()),
                Some((id, path)) if !path.is_empty() => kept.files.push(KeptFile {
                    commit: ids.last().cloned().unwrap_or_default(),
                    path: path.to_owned(),
                    id: id.to_owned(),
                }),
                _ => {}
            }
        }
        if ids.is_empty() {
            return Ok(kept);
        }
        let mut call = Call::new(
            "--no-replace-objects log --no-walk=unsorted -s -z --no-show-signature --no-notes",
        )
        .word("--format=%H%n%an <%ae>%n%cn <%ce>%n%B");
        for id in &ids {
            call = call.word(id.as_str());
        }
        for message in self.git.answer(adjust(call), what)?.split('\0') {
            if let Some((id, text)) = message.split_once('\n') {
                kept.commits.push((id.to_owned(), text.to_owned()));
            }
        }
        Ok(kept)
    }
}
