//! What of this log came from a remote.

use super::workspace::{LogSource, Workspace};
use cook_protocol::diagnostic::Failure;
use cook_repo::remote::{Elsewhere, Remote};

/// The newest transitions of this log that came from a remote, and which remote.
///
/// # Errors
/// When the log or the repository cannot be read.
pub(crate) fn list_pulled(workspace: &Workspace) -> Result<Vec<LogSource>, Failure> {
    let Some((tip, snapshot)) = workspace.store()?.current()? else {
        return Ok(Vec::new());
    };
    let branch = snapshot.ledger.branch.unwrap_or_default();
    let found = Elsewhere::find(&workspace.repo, &workspace.place(), &branch)?;
    let names = &workspace.config()?.log.remote_ref;
    let mut sources = Vec::new();
    for from in found.pulled {
        let (remote, commit) = (from.remote, from.tip);
        // What was set aside or replaced meanwhile proves nothing here.
        if commit == tip.commit || workspace.store()?.leads_over(&tip.commit, &commit)? {
            sources.push(LogSource {
                shown: remote.clone(),
                base: match from.signers {
                    Some(_) => find_default(workspace, &remote)?,
                    None => find_tracked_base(workspace, &remote)?,
                },
                signers: from.signers,
                remote,
                reference: names.log(&branch),
                tip: commit,
            });
        }
    }
    Ok(sources)
}

/// The default branch that says who may sign, where this clone tracks it: the remote's own, or of what is no
/// remote of this clone any other's.
fn find_default(workspace: &Workspace, remote: &str) -> Result<Option<String>, Failure> {
    let configured = Remote::list(&workspace.repo)?;
    let known = match configured.iter().any(|name| name == remote) {
        true => vec![remote.to_owned()],
        false => configured,
    };
    for name in known {
        if let Some(base) = find_tracked_default(workspace, &name)? {
            return Ok(Some(base));
        }
    }
    Ok(None)
}

/// The default branch of a remote, where this clone tracks it.
///
/// # Errors
/// When the repository cannot be read.
pub(crate) fn find_tracked_default(
    workspace: &Workspace,
    remote: &str,
) -> Result<Option<String>, Failure> {
    let name = format!("refs/remotes/{remote}/HEAD");
    let at = workspace.repo.refs()?.remove(&name);
    // A branch that somebody named so is not what the remote's `HEAD` names.
    match at {
        Some(at) if workspace.repo.is_symbolic(&name)? => Ok(Some(at)),
        _ => Ok(None),
    }
}

/// The default branch of a remote as this clone saw it last. A checkout that notes none has one of the
/// usual names.
///
/// # Errors
/// When the repository cannot be read.
pub(crate) fn find_tracked_base(
    workspace: &Workspace,
    remote: &str,
) -> Result<Option<String>, Failure> {
    if let Some(base) = find_tracked_default(workspace, remote)? {
        return Ok(Some(base));
    }
    let refs = workspace.repo.refs()?;
    let of = |remote: &str| {
        let names = ["main", "master"];
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
