//! Where the log of a branch may be, by what this clone knows. Nothing is asked of a remote.

use super::workspace::{LogSource, Workspace};
use cook_core::diagnostic::Failure;
use cook_git::Repo;
use cook_remote::{Elsewhere, Remote};
use cook_store::store::Place;

/// Where the log of the branch that is checked out may be.
///
/// # Errors
/// git, or a log, that cannot be read.
pub(super) fn elsewhere(repo: &Repo, place: &Place) -> Result<Elsewhere, Failure> {
    let branch = repo.head()?.branch.unwrap_or_default();
    Elsewhere::find(repo, place, &branch)
}

/// The newest transitions of this log that came from a remote, and which remote.
///
/// # Errors
/// As [`elsewhere`].
pub(crate) fn pulled(workspace: &Workspace) -> Result<Vec<LogSource>, Failure> {
    let Some((tip, snapshot)) = workspace.store()?.current()? else {
        return Ok(Vec::new());
    };
    let branch = snapshot.ledger.branch.unwrap_or_default();
    let found = Elsewhere::find(&workspace.repo, &workspace.place(), &branch)?;
    let names = &workspace.config()?.log.remote_ref;
    let mut sources = Vec::new();
    for (remote, commit) in found.pulled {
        // What was set aside or replaced meanwhile proves nothing here.
        if commit == tip.commit || workspace.store()?.leads_over(&tip.commit, &commit)? {
            sources.push(LogSource {
                shown: remote.clone(),
                base: tracked_base(workspace, &remote)?,
                remote,
                reference: names.log(&branch),
                tip: commit,
            });
        }
    }
    Ok(sources)
}

/// The default branch of a remote as this clone saw it last. A checkout that notes none has one of the
/// usual names.
fn tracked_base(workspace: &Workspace, remote: &str) -> Result<Option<String>, Failure> {
    let refs = workspace.repo.refs()?;
    let of = |remote: &str| {
        let names = ["HEAD", "main", "master"];
        names
            .iter()
            .find_map(|name| refs.get(&format!("refs/remotes/{remote}/{name}")).cloned())
    };
    // An address is noted by its digest: whatever remote it is of.
    let others = || Remote::list(&workspace.repo);
    Ok(match of(remote) {
        Some(base) => Some(base),
        None => others()?.iter().find_map(|remote| of(remote)),
    })
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
