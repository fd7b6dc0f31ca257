//! What a remote holds, by `git ls-remote`.

use crate::remote::remote::{Remote, Side};
use crate::remote::user_git::Call;
use cook_protocol::diagnostic::Failure;

/// A ref of a remote and what it points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteRef {
    /// Its full name there.
    pub name: String,
    /// The object's full id.
    pub commit: String,
}

/// The log by which a commit was found done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The commit of the user's history.
    pub commit: String,
    /// The log's tip.
    pub log: RemoteRef,
}

/// What a remote holds for one branch, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The log of the branch.
    pub log: Option<RemoteRef>,
    /// The branch itself.
    pub branch: Option<RemoteRef>,
    /// Commits that the log cites.
    pub keep: Option<RemoteRef>,
    /// Every commit that was found done.
    pub done: Vec<Done>,
    /// Logs that ended without being done, by their first transition.
    pub old: Vec<RemoteRef>,
}

impl Listing {
    /// Logs that were kept when another workflow took their place.
    pub(crate) fn list_kept(&self) -> impl Iterator<Item = &RemoteRef> {
        self.old
            .iter()
            .chain(self.done.iter().map(|done| &done.log))
    }
}

impl Remote<'_> {
    /// Asks the remote what it holds for a branch.
    ///
    /// # Errors
    /// `remote_unreachable`, with git's own words.
    pub fn look(&self, branch: &str, side: Side) -> Result<Listing, Failure> {
        let names = &self.names;
        let (log, keep) = (names.log(branch), names.keep(branch));
        let head = format!("refs/heads/{branch}");
        let (done, old) = (names.name_done(""), names.old(""));
        let call = Call::new("ls-remote --refs")
            .with_cap()
            .word(self.address(side)?)
            .word(&log)
            .word(&keep)
            .word(&head)
            .word(format!("{done}*"))
            .word(format!("{old}*"));
        let what = format!("`{}` did not say what it holds", self.show());
        let answer = self.git.answer(call, &what)?;
        let mut listing = Listing::default();
        // A pattern also fits the end of longer names.
        for (commit, name) in answer.lines().filter_map(|line| line.split_once('\t')) {
            if !is_id(commit) {
                continue;
            }
            let found = RemoteRef {
                name: name.to_owned(),
                commit: commit.to_owned(),
            };
            if name == log {
                listing.log = Some(found);
            } else if name == keep {
                listing.keep = Some(found);
            } else if name == head {
                listing.branch = Some(found);
            } else if let Some(commit) = name.strip_prefix(&done).filter(|id| is_id(id)) {
                listing.done.push(Done {
                    commit: commit.to_owned(),
                    log: found,
                });
            } else if name.strip_prefix(&old).is_some_and(is_id) {
                listing.old.push(found);
            }
        }
        Ok(listing)
    }

    /// Brings the commit at which the remote's default branch stands; none where the remote names no
    /// such branch, or does not give the commit.
    ///
    /// # Errors
    /// `remote_unreachable`, with git's own words.
    pub fn bring_default(&self) -> Result<Option<String>, Failure> {
        let call = Call::new("ls-remote")
            .with_cap()
            .word(self.address(Side::Fetch)?)
            .word("HEAD");
        let what = format!("`{}` did not say what it holds", self.show());
        let answer = self.git.answer(call, &what)?;
        let mut lines = answer.lines().filter_map(|line| line.split_once('\t'));
        let found = lines.find(|(commit, name)| *name == "HEAD" && is_id(commit));
        let Some((commit, _)) = found else {
            return Ok(None);
        };
        let commit = commit.to_owned();
        let is_lacking = !self.bring(std::slice::from_ref(&commit))?.is_empty();
        Ok((!is_lacking).then_some(commit))
    }
}

/// A full object id.
pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
