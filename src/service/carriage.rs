//! Pushing the log to a remote, and what is known of logs on remotes.

use crate::prelude::*;
use crate::workspace::{LogSource, Workspace, elsewhere};
use cook_agents::SecretSearch;
use cook_protocol::digest::hex;
use cook_repo::remote::{Elsewhere, Kept, Mark, Plan, Remote, Restore, Side};
use cook_repo::store::Contents;
use sha2::{Digest, Sha256};

/// The remote named by the caller, else the one from the settings, else git's default.
///
/// # Errors
/// `remote_unknown`, or settings that cannot be read.
pub(crate) fn remote<'w>(
    workspace: &'w Workspace,
    named: Option<&str>,
    branch: &str,
    side: Side,
    attended: bool,
) -> Result<Remote<'w>> {
    let log = &workspace.config()?.log;
    Remote::open(
        &workspace.repo,
        workspace.place(),
        log.remote_ref.clone(),
        named.or(log.remote.as_deref()),
        Some(branch),
        side,
        attended,
    )
}

/// The branch that the log belongs to: the workflow's branch, which must be checked out.
///
/// # Errors
/// `branch_missing`.
pub(crate) fn branch(workspace: &Workspace, snapshot: Option<&Snapshot>) -> Result<String> {
    let here = workspace.repo.head()?.branch;
    let of_log = snapshot.and_then(|snapshot| snapshot.ledger.branch.clone());
    match (of_log, here) {
        (Some(of_log), Some(here)) if of_log != here => Err(Failure::state(
            Code::BranchMissing,
            format!("branch `{here}` is checked out, and the workflow runs on `{of_log}`"),
        )
        .replace_hints([
            format!("run `git switch {}`", shell_words::quote(&of_log)),
            "or let it run on this one: `cook plan adopt --branch`".to_owned(),
        ])),
        (_, Some(here)) => Ok(here),
        (_, None) => Err(Failure::state(
            Code::BranchMissing,
            "HEAD is detached: no branch is checked out",
        )),
    }
}

/// Pushes what the remote lacks of a workflow that it already holds, without asking. Returns the refs that moved on the
/// remote.
///
/// # Errors
/// `push_unconfirmed` if the remote does not hold the workflow, or if only the settings name it and this clone has not
/// pushed there; `secret_found`; any failure of the push.
pub(crate) fn push_known(workspace: &Workspace, named: Option<&str>) -> Result<Vec<String>> {
    let store = workspace.store()?;
    let branch = branch(workspace, Some(&store.snapshot()?))?;
    let remote = remote(workspace, named, &branch, Side::Push, workspace.attended)?;
    if named.is_none() && !remote.is_expected(&branch)? {
        let what = format!(
            "this clone has not pushed its log to `{}` before, and the command does not name that remote",
            remote.show()
        );
        let hint = "look at where it goes: `cook push --dry-run`, then run `cook push --yes`";
        return Err(Refusal::new(Code::PushUnconfirmed, what)
            .replace_hints([hint])
            .into());
    }
    let head = workspace.repo.head()?.commit;
    let mut plan = remote.plan(store, &branch, head.as_deref(), Restore::No)?;
    if remote.recall(Mark::Withheld, &branch)?.is_some()
        && check_kept(workspace, &plan.kept).is_err()
    {
        plan.leave_out_kept();
    }
    if plan.is_empty() {
        return Ok(Vec::new());
    }
    if plan.is_first() {
        let what = format!(
            "`{}` has no log of this workflow yet, and a first push asks",
            remote.show()
        );
        return Err(Refusal::new(Code::PushUnconfirmed, what).into());
    }
    check_secrets(&look_into(workspace, &plan)?, &[])?;
    Ok(remote.send(&plan)?.refs)
}

/// What a push makes public, and which parts look like a secret.
#[derive(Debug, Default)]
pub(crate) struct Public {
    pub contents: Contents,
    /// Number of commits outside the branch.
    pub kept: u64,
    /// Findings by the id of the possible secret.
    pub secrets: BTreeMap<String, Finding>,
}

impl Public {
    fn note_secrets(&mut self, found: Vec<String>, place: impl Fn() -> String) {
        for secret in found {
            let digest = hex(&Sha256::digest(secret.as_bytes()));
            let id = digest.get(..ID).unwrap_or(&digest).to_owned();
            let length = secret.chars().count();
            let begin: String = secret.chars().take(SHOWN.min(length / 4)).collect();
            let what = format!("{id}: `{begin}…`, {length} characters");
            let finding = Finding::new(Code::SecretFound, what).at(place());
            self.secrets.insert(id, finding);
        }
    }
}

/// Digits of the id of a possible secret.
const ID: usize = 12;
/// Maximum number of characters of a possible secret that are shown.
const SHOWN: usize = 4;

/// Examines everything that a push would make public.
///
/// # Errors
/// A log that cannot be read.
pub(crate) fn look_into(workspace: &Workspace, plan: &Plan) -> Result<Public> {
    let store = workspace.store()?;
    let known = plan.from.as_deref().filter(|_| !plan.is_first());
    // If the remote's log is not an ancestor of this one, the whole log is pushed.
    let known = match known {
        Some(known) if plan.to == known || store.leads_over(&plan.to, known)? => Some(known),
        _ => None,
    };
    let mut public = look_between(store, known, &plan.to)?;
    look_into_kept(workspace, &plan.kept, &mut public)?;
    Ok(public)
}

/// Examines commits that are pushed in addition to the branch. The branch's own commits are not examined: their author
/// pushes them, with plain git as well.
fn look_into_kept(workspace: &Workspace, kept: &Kept, public: &mut Public) -> Result<()> {
    let short = |commit: &str| commit.get(..ID).unwrap_or(commit).to_owned();
    let mut search = SecretSearch::begin();
    for (commit, message) in &kept.commits {
        public.note_secrets(search.find(message), || {
            format!("commit {}, its message", short(commit))
        });
    }
    for file in &kept.files {
        // A directory has no content, and a file larger than 8 MiB is not read.
        if let Some(bytes) = workspace.repo.blob(&file.id)? {
            public.note_secrets(search.find(&String::from_utf8_lossy(&bytes)), || {
                let path = clean(&file.path, Lines::Fold);
                format!("commit {}, {path}", short(&file.commit))
            });
        }
    }
    public.kept = kept.commits.len() as u64;
    Ok(())
}

/// Checks that commits outside the branch hold no secret, so that they may be pushed.
///
/// # Errors
/// One line with the place of each possible secret and the command that continues.
pub(super) fn check_kept(workspace: &Workspace, kept: &Kept) -> Result<()> {
    let mut public = Public::default();
    look_into_kept(workspace, kept, &mut public)?;
    check_secrets(&public, &[]).map_err(|mut failure| {
        let places = failure.findings.iter().filter_map(|one| one.place.clone());
        let places: Vec<String> = places.collect();
        failure.message = format!(
            "they seem to hold a secret ({}); `cook push` explains how to continue",
            places.join("; ")
        );
        failure
    })
}

/// Checks that the transitions after `known` up to `to` hold no secret.
///
/// # Errors
/// `secret_found`. It cannot be allowed here, because the transition that holds it is not recorded yet.
pub(super) fn check_new(workspace: &Workspace, known: &str, to: &str) -> Result<()> {
    let public = look_between(workspace.store()?, Some(known), to)?;
    check_secrets(&public, &[]).map_err(|failure| {
        failure.replace_hints(["remove it from the report, then run the command again"])
    })
}

fn look_between(store: &Store, known: Option<&str>, to: &str) -> Result<Public> {
    let mut found = Public::default();
    let mut search = SecretSearch::begin();
    let contents = store.look_into_contents_after(known, to, |meta, file, bytes| {
        found.note_secrets(search.find(&String::from_utf8_lossy(bytes)), || {
            format!("transition {}, {file}", meta.seq)
        });
    })?;
    Ok(Public { contents, ..found })
}

/// Checks that each possible secret was allowed by its id.
///
/// # Errors
/// `secret_found`.
pub(crate) fn check_secrets(public: &Public, allowed: &[String]) -> Result<()> {
    let left = public
        .secrets
        .iter()
        .filter(|(id, _)| !allowed.contains(id));
    let findings: Vec<Finding> = left.map(|(_, finding)| finding.clone()).collect();
    if findings.is_empty() {
        return Ok(());
    }
    let mut hints = vec![Code::SecretFound.hint().to_owned()];
    let ids: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding.message.get(..ID))
        .collect();
    hints.push(format!(
        "if it is not a secret: `cook push --allow-secret {}`",
        ids.join(" --allow-secret ")
    ));
    if public.kept > 0 {
        hints.push(
            "if only a commit outside the branch holds it: `cook push --no-keep` keeps such commits here"
                .to_owned(),
        );
    }
    Err(Refusal::new(
        Code::SecretFound,
        "nothing was pushed: the push seems to contain a secret",
    )
    .replace_hints(hints)
    .with(findings)
    .into())
}

/// Whether any remote is configured.
///
/// # Errors
/// A failing git.
pub(crate) fn has_remotes(workspace: &Workspace) -> Result<bool> {
    Ok(!Remote::list(&workspace.repo)?.is_empty())
}

/// The remote whose log a plain `git fetch` has brought, if the settings keep logs among the branches.
fn find_tracked<'r>(workspace: &Workspace, remotes: &'r [String]) -> Result<Option<&'r String>> {
    let branch = workspace.repo.head()?.branch.unwrap_or_default();
    let log = workspace.config()?.log.remote_ref.log(&branch);
    let Some(name) = log.strip_prefix("refs/heads/") else {
        return Ok(None);
    };
    let refs = workspace.repo.refs()?;
    let is_here = |remote: &&String| refs.contains_key(&format!("refs/remotes/{remote}/{name}"));
    Ok(remotes.iter().find(is_here))
}

/// Checks that no log of this worktree's branch was seen on a remote: a log that is started here would conflict with
/// it.
///
/// # Errors
/// `remote_ahead`, with the command that takes the remote's log in.
pub(crate) fn check_unseen(workspace: &Workspace) -> Result<()> {
    let found = elsewhere(&workspace.repo, &workspace.place())?;
    let tracked = find_tracked(workspace, &found.configured)?;
    match found.seen.first().or(tracked) {
        None => Ok(()),
        Some(remote) => Err(Refusal::new(
            Code::RemoteAhead,
            format!("this clone has seen a log of this branch on `{remote}`"),
        )
        .replace_hints([
            "take it in: `cook pull`".to_owned(),
            "or begin another one: `cook init --log new`".to_owned(),
        ])
        .into()),
    }
}

// Parts of this log that came from a remote.

/// For each remote, the newest transition of this log that came from it.
///
/// # Errors
/// A log or repository that cannot be read.
pub(crate) fn list_pulled(workspace: &Workspace) -> Result<Vec<LogSource>> {
    let Some((tip, snapshot)) = workspace.store()?.current()? else {
        return Ok(Vec::new());
    };
    let branch = snapshot.ledger.branch.unwrap_or_default();
    let found = Elsewhere::find(&workspace.repo, &workspace.place(), &branch)?;
    let names = &workspace.config()?.log.remote_ref;
    let mut sources = Vec::new();
    for from in found.pulled {
        let (remote, commit) = (from.remote, from.tip);
        // A tip that was set aside or replaced since then proves nothing about this log.
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

/// The default branch that lists the signers, if this clone tracks it: that of the remote itself or, if this clone has
/// no remote of that name, that of any remote.
fn find_default(workspace: &Workspace, remote: &str) -> Result<Option<String>> {
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

/// The default branch of a remote, if this clone tracks it.
///
/// # Errors
/// A repository that cannot be read.
pub(crate) fn find_tracked_default(workspace: &Workspace, remote: &str) -> Result<Option<String>> {
    let name = format!("refs/remotes/{remote}/HEAD");
    let at = workspace.repo.refs()?.remove(&name);
    // A branch named `HEAD` is not the remote's symbolic `HEAD`.
    match at {
        Some(at) if workspace.repo.is_symbolic(&name)? => Ok(Some(at)),
        _ => Ok(None),
    }
}

/// The default branch of a remote as this clone last saw it. If the clone does not record one, a branch with one of the
/// usual names.
///
/// # Errors
/// A repository that cannot be read.
pub(crate) fn find_tracked_base(workspace: &Workspace, remote: &str) -> Result<Option<String>> {
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
    // An address is recorded only by its digest, so its remote is not known: any remote counts.
    let others = || Remote::list(&workspace.repo);
    Ok(match of(remote) {
        Some(base) => Some(base),
        None => others()?.iter().find_map(|remote| of(remote)),
    })
}
