//! The log of a remote, fetched to be read: nothing of it is kept here, and no file here shows it.

use super::proven::{find_done_commit, recognise};
use crate::service::{self, LogSource, Workspace};
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::{Evidence, Snapshot};
use cook_remote::{Listing, Remote, RemoteRef, Side};
use cook_store::store::Store;

/// Logs of other branches that are tried: one call of git each brings the commit.
const MAX_TRIED: usize = 64;

/// Makes the workspace look at the log that proves HEAD, of those that the remote holds: that of the
/// branch, else one by which a commit was found done that HEAD is, or is the merge of.
///
/// # Errors
/// `remote_unknown`, `remote_unreachable`, `remote_log_refused`, `log_gone`.
pub fn fetch(workspace: &mut Workspace, named: &str, branch: Option<&str>) -> Result<(), Failure> {
    let (store, source) = find(workspace, named, branch)?;
    workspace.store = store;
    workspace.log_from = Some(source);
    Ok(())
}

fn find(
    workspace: &Workspace,
    named: &str,
    branch: Option<&str>,
) -> Result<(Option<Store>, LogSource), Failure> {
    let head = workspace.repo.head()?;
    let branch = branch.or(head.branch.as_deref()).unwrap_or_default();
    let remote = service::remote(workspace, Some(named), branch, Side::Fetch, false)?;
    let listing = remote.look(branch, Side::Fetch)?;
    let base = remote.bring_default()?;
    let source = |of: &RemoteRef| LogSource {
        remote: named.to_owned(),
        shown: remote.show(),
        reference: of.name.clone(),
        tip: of.commit.clone(),
        base: base.clone(),
    };
    let nowhere = LogSource {
        remote: named.to_owned(),
        shown: remote.show(),
        reference: branch.to_owned(),
        tip: String::new(),
        base: base.clone(),
    };
    let Some(head) = head.commit else {
        return Ok((None, nowhere));
    };
    // What a shallow clone was cut off from: what was merged, and into what.
    if workspace.repo.is_shallow() {
        remote.bring(&workspace.repo.read_written_parents(&head)?)?;
    }
    let mut fallback = None;
    if let Some(log) = &listing.log {
        let store = read(&remote, log)?;
        let snapshot = store.snapshot()?;
        if let Some(done) = find_done_commit(&snapshot)
            && is_proven(workspace, &remote, &head, &done)?
        {
            bring_heads(&remote, &snapshot)?;
            return Ok((Some(store), source(log)));
        }
        fallback = Some((store, source(log)));
    }
    for (done, log) in candidates(workspace, &head, &listing)? {
        let own = fallback.as_ref();
        if let Some((store, source)) = own
            && took_back(store, &source.tip, &log.commit, &head)?
        {
            continue;
        }
        if is_proven(workspace, &remote, &head, &done)? {
            let store = read(&remote, &log)?;
            let snapshot = store.snapshot()?;
            // Whoever made the ref named it; the log says what it is about.
            if find_done_commit(&snapshot).as_deref() == Some(done.as_str()) {
                bring_heads(&remote, &snapshot)?;
                return Ok((Some(store), source(&log)));
            }
        }
    }
    match fallback {
        Some((store, source)) => {
            bring_heads(&remote, &store.snapshot()?)?;
            Ok((Some(store), source))
        }
        None if remote.has_seen(branch)? => Err(Failure::state(
            Code::LogGone,
            format!("`{}` held a log for branch `{branch}`", remote.show()),
        )),
        None => Ok((None, nowhere)),
    }
}

/// The branch's own log went on from where this commit was found done, and that is no longer so: it was
/// undone, or the log stands at this very commit.
fn took_back(own: &Store, tip: &str, done: &str, head: &str) -> Result<bool, Failure> {
    if !own.leads_over(tip, done)? {
        return Ok(false);
    }
    let snapshot = own.snapshot()?;
    let is_undone = snapshot.undone.seqs.contains(&own.resolve(done)?.seq);
    Ok(is_undone || snapshot.ledger.head_seen.as_deref() == Some(head))
}

fn read(remote: &Remote, log: &RemoteRef) -> Result<Store, Failure> {
    let mut stores = remote.read(std::slice::from_ref(log))?;
    stores
        .pop()
        .ok_or_else(|| Failure::state(Code::RemoteLogRefused, "the remote sent no log"))
}

fn is_proven(
    workspace: &Workspace,
    remote: &Remote,
    head: &str,
    done: &str,
) -> Result<bool, Failure> {
    if workspace.repo.resolve(done)?.is_none() && !remote.bring(&[done.to_owned()])?.is_empty() {
        return Ok(false);
    }
    Ok(recognise(&workspace.repo, head, done)?.is_some())
}

/// Done commits of other logs, those first that HEAD itself names.
fn candidates(
    workspace: &Workspace,
    head: &str,
    listing: &Listing,
) -> Result<Vec<(String, RemoteRef)>, Failure> {
    let repo = &workspace.repo;
    let parents = repo.read_written_parents(head)?;
    let mut ranked = Vec::new();
    for done in &listing.done {
        let is_named = done.commit == head || parents.contains(&done.commit);
        let rank = match repo.resolve(&done.commit)? {
            _ if is_named => 0,
            // What came before HEAD's parents was merged before.
            Some(known) if repo.is_ancestor(&known, head)? => continue,
            Some(_) => 1,
            None => 2,
        };
        ranked.push((rank, done.commit.clone(), done.log.clone()));
    }
    ranked.sort_by_key(|(rank, ..)| *rank);
    let ranked = ranked.into_iter().take(MAX_TRIED);
    Ok(ranked.map(|(_, commit, log)| (commit, log)).collect())
}

/// The commits that slices were accepted at, and their proof was stamped at.
fn bring_heads(remote: &Remote, snapshot: &Snapshot) -> Result<(), Failure> {
    let mut commits: Vec<String> = snapshot
        .ledger
        .slices
        .values()
        .filter_map(|ledger| ledger.accepted.as_ref())
        .flat_map(|accepted| [accepted.head.clone(), accepted.basis.clone()])
        .collect();
    let slices = snapshot.plan.candidate_slices.iter();
    let records = slices.flat_map(|slice| slice.evidence.iter().filter_map(Evidence::record));
    commits.extend(records.map(|record| record.head_sha.clone()));
    commits.sort();
    commits.dedup();
    // What is not to be had is said where it is asked for.
    remote.bring(&commits)?;
    Ok(())
}
