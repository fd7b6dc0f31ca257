//! A remote's log that is fetched only to be read: it is not stored in this clone.

use super::control_plane::check_log;
use super::criterion_proof::Outcome;
use super::git_facts::list_accepted;
use super::verification::{find_done_commit, recognise};
use crate::prelude::*;
use crate::service;
use crate::workspace::{LogSource, Workspace};
use cook_repo::remote::{Listing, Mark, Remote, RemoteRef, Side, blame, list_cited};

/// Maximum number of logs of other branches that are tried: each takes one call of git to fetch the commit.
const MAX_TRIED: usize = 64;

/// Makes the workspace use the remote's log that proves HEAD: the log of the branch or else one whose done commit is
/// HEAD or is merged by it. If the log of that work later took the conclusion back, the later log is used.
///
/// # Errors
/// `remote_unknown`, `remote_unreachable`, `remote_log_refused`, `log_gone`, `remote_log_rewound`.
pub fn fetch(workspace: &mut Workspace, named: &str, branch: Option<&str>) -> Result<()> {
    let (store, source) = find(workspace, named, branch)?;
    workspace.store = store;
    workspace.log_from = Some(source);
    Ok(())
}

/// Fetches the history that a shallow clone lacks: both sides of the merge, the origin of the base's contract, and the
/// commits of transitions.
///
/// # Errors
/// As [`fetch`].
pub fn bring_history(workspace: &mut Workspace, named: &str, branch: Option<&str>) -> Result<()> {
    if !workspace.repo.is_shallow() {
        return Ok(());
    }
    let head = workspace.repo.head()?;
    let branch = branch.or(head.branch.as_deref()).unwrap_or_default();
    if let Some(commit) = &head.commit {
        let remote = service::remote(workspace, Some(named), branch, Side::Fetch, false)?;
        remote.bring_history(commit)?;
        // libgit2 caches commits without their parents.
        workspace.repo = Repo::discover(workspace.repo.root())?;
    }
    Ok(())
}

/// Fetches the commits that a pulled log depends on and, for a partial clone, their files: from then on the log is
/// verified here without fetching.
///
/// # Errors
/// As [`fetch`].
pub fn bring_files(mut workspace: Workspace, from: &Remote, branch: &str) -> Result<()> {
    let (Some(tip), Some(snapshot)) = workspace.current()? else {
        return Ok(());
    };
    // A shallow clone lacks history, and the user decides how much of it is fetched.
    if workspace.repo.is_shallow() {
        return Ok(());
    }
    bring_heads(from, &snapshot)?;
    if workspace.repo.promisor()?.is_none() {
        return Ok(());
    }
    workspace.log_from = Some(LogSource {
        remote: from.name().to_owned(),
        shown: from.show(),
        reference: branch.to_owned(),
        tip: tip.commit,
        ..LogSource::default()
    });
    // Only fetches; contradictions are reported when the log is verified.
    check_log(&workspace, &mut Outcome::default())
}

/// Adds to a failure the remote whose log could not be read, or the hint that a partial clone lacks objects.
pub fn blame_source(workspace: &Workspace, failure: Failure) -> Failure {
    let failure = match failure.code {
        Code::GitFailed if matches!(workspace.repo.promisor(), Ok(Some(_))) => failure.replace_hints([
            "this clone is partial, and git lacks the object: `cook verify --from REMOTE` fetches it, `git fetch --refetch --no-filter` fetches everything",
        ]),
        _ => failure,
    };
    match &workspace.log_from {
        Some(source) => blame(failure, &source.shown),
        None => failure,
    }
}

fn find(
    workspace: &Workspace,
    named: &str,
    branch: Option<&str>,
) -> Result<(Option<Store>, LogSource)> {
    let head = workspace.repo.head()?;
    let branch = branch.or(head.branch.as_deref()).unwrap_or_default();
    let remote = service::remote(workspace, Some(named), branch, Side::Fetch, false)?;
    let listing = remote.look(branch, Side::Fetch)?;
    let base = remote.bring_default()?;
    let nowhere = LogSource {
        remote: named.to_owned(),
        shown: remote.show(),
        reference: branch.to_owned(),
        base,
        ..LogSource::default()
    };
    let source = |of: &RemoteRef| LogSource {
        reference: of.name.clone(),
        tip: of.commit.clone(),
        ..nowhere.clone()
    };
    let Some(head) = head.commit else {
        return Ok((None, nowhere));
    };
    let seen_here = workspace.store.as_ref();
    let mut fallback = None;
    if let Some(log) = &listing.log {
        let store = read(&remote, log)?;
        remote.refuse_set_back(branch, &listing, Some(&store), seen_here)?;
        let snapshot = read_snapshot(&remote, &store)?;
        if let Some(done) = find_done_commit(&snapshot)
            && is_proven(workspace, &remote, &head, &done)?
        {
            bring_heads(&remote, &snapshot)?;
            return Ok((Some(store), source(log)));
        }
        fallback = Some((store, source(log)));
    } else {
        remote.refuse_set_back(branch, &listing, None, seen_here)?;
    }
    for (done, log) in candidates(workspace, &head, &listing)? {
        if !is_proven(workspace, &remote, &head, &done)? {
            continue;
        }
        let store = read(&remote, &log)?;
        let snapshot = read_snapshot(&remote, &store)?;
        // The ref's name was chosen by whoever pushed it; the log itself says which commit it is about.
        if find_done_commit(&snapshot).as_deref() != Some(done.as_str()) {
            continue;
        }
        if let Some((went_on, at)) = find_taken_back(&remote, &snapshot, &log, seen_here)? {
            fallback.get_or_insert_with(|| (went_on, source(&at)));
            continue;
        }
        bring_heads(&remote, &snapshot)?;
        return Ok((Some(store), source(&log)));
    }
    match fallback {
        Some((store, source)) => {
            bring_heads(&remote, &read_snapshot(&remote, &store)?)?;
            Ok((Some(store), source))
        }
        None if !branch.is_empty() && remote.recall(Mark::Seen(Side::Fetch), branch)?.is_some() => {
            Err(remote.report_gone(branch))
        }
        None => Ok((None, nowhere)),
    }
}

/// The log of the branch in which a commit was found done, if it continued and took that back.
fn find_taken_back(
    remote: &Remote,
    of_done: &Snapshot,
    done: &RemoteRef,
    seen_here: Option<&Store>,
) -> Result<Option<(Store, RemoteRef)>> {
    let Some(branch) = of_done.ledger.branch.as_deref() else {
        return Ok(None);
    };
    let listing = remote.look(branch, Side::Fetch)?;
    let Some(log) = &listing.log else {
        remote.refuse_set_back(branch, &listing, None, seen_here)?;
        return Ok(None);
    };
    let store = read(remote, log)?;
    remote.refuse_set_back(branch, &listing, Some(&store), seen_here)?;
    let is_back = took_back(&store, &log.commit, of_done, done, &listing)?;
    Ok(is_back.then(|| (store, log.clone())))
}

/// Whether a log that continued after a done commit took the conclusion back: by undoing any of the transitions before
/// it, or by another mission or a cancellation, unless a later commit was found done.
fn took_back(
    store: &Store,
    tip: &str,
    of_done: &Snapshot,
    done: &RemoteRef,
    listing: &Listing,
) -> Result<bool> {
    if !store.leads_over(tip, &done.commit)? {
        return Ok(false);
    }
    let at = store.resolve(&done.commit)?.seq;
    let void = |seq: &u64| *seq <= at && !of_done.undone.seqs.contains(seq);
    if store.snapshot()?.undone.seqs.iter().any(void) {
        return Ok(true);
    }
    let mut ended = false;
    for meta in store.entries()? {
        let meta = meta?;
        if meta.seq <= at {
            break;
        }
        ended |= matches!(meta.event.as_str(), "refocused" | "cancelled");
    }
    if !ended {
        return Ok(false);
    }
    for later in listing.done.iter().map(|done| &done.log.commit) {
        if store.leads_over(later, &done.commit)?
            && (later == tip || store.leads_over(tip, later)?)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn read(remote: &Remote, log: &RemoteRef) -> Result<Store> {
    let mut stores = remote.read(std::slice::from_ref(log))?;
    stores
        .pop()
        .ok_or_else(|| Failure::state(Code::RemoteLogRefused, "the remote sent no log"))
}

fn read_snapshot(remote: &Remote, store: &Store) -> Result<Snapshot> {
    store
        .snapshot()
        .map_err(|error| blame(error, &remote.show()))
}

fn is_proven(workspace: &Workspace, remote: &Remote, head: &str, done: &str) -> Result<bool> {
    if workspace.repo.resolve(done)?.is_none() && !remote.bring(&[done.to_owned()])?.is_empty() {
        return Ok(false);
    }
    Ok(recognise(&workspace.repo, head, done)?.is_some())
}

/// Done commits of other logs; those that are HEAD or its parents come first.
fn candidates(
    workspace: &Workspace,
    head: &str,
    listing: &Listing,
) -> Result<Vec<(String, RemoteRef)>> {
    let repo = &workspace.repo;
    let parents = repo.read_written_parents(head)?;
    let mut ranked = Vec::new();
    for done in &listing.done {
        let is_named = done.commit == head || parents.contains(&done.commit);
        let rank = match repo.resolve(&done.commit)? {
            _ if is_named => 0,
            // A commit that is already part of HEAD's history was merged earlier.
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

/// Fetches the commits that done slices rest on.
fn bring_heads(remote: &Remote, snapshot: &Snapshot) -> Result<()> {
    let mut commits = list_accepted(snapshot);
    commits.extend(list_cited(snapshot));
    let commits: Vec<String> = commits.into_iter().collect();
    // Commits that cannot be fetched are reported where they are needed.
    remote.bring(&commits)?;
    Ok(())
}
