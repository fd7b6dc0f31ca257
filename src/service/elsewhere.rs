//! Where the log of a branch may be, by what this clone knows. Nothing is asked of a remote.

use cook_protocol::diagnostic::Failure;
use cook_repo::git::Repo;
use cook_repo::remote::Elsewhere;
use cook_repo::store::Place;

/// Where the log of the branch that is checked out may be.
///
/// # Errors
/// git, or a log, that cannot be read.
pub(super) fn elsewhere(repo: &Repo, place: &Place) -> Result<Elsewhere, Failure> {
    let branch = repo.head()?.branch.unwrap_or_default();
    Elsewhere::find(repo, place, &branch)
}

/// What brings that log here.
///
/// # Errors
/// As [`elsewhere`].
pub(super) fn pull_hints(repo: &Repo, place: &Place) -> Result<Vec<String>, Failure> {
    let found = elsewhere(repo, place)?;
    Ok(match (found.seen.first(), found.configured.is_empty()) {
        (Some(_), _) => vec!["take the log in: `cook pull`".to_owned()],
        (None, false) => {
            vec!["where a remote holds the log of this branch: `cook pull`".to_owned()]
        }
        (None, true) => Vec::new(),
    })
}
