//! Transitions that reach the remote by themselves (`[log] sync`).

use super::applied::Applied;
use super::carriage;
use super::workspace::Workspace;
use cook_protocol::diagnostic::{Code, Failure, Finding, Refusal};
use cook_protocol::model::{Snapshot, Sync};
use cook_repo::remote::{Kept, Manner, Offer, Remote, Side};
use cook_repo::store::{Committed, Sign, Staged, Store, Tip};
use std::time::Duration;

/// How often a transition is decided again when somebody else was first.
const TRIES: u32 = 8;
/// How long is waited before the second try, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The remote that a transition must be taken by.
pub(super) struct CommitPoint<'w> {
    workspace: &'w Workspace,
    remote: Remote<'w>,
    branch: String,
    head: Option<String>,
}

impl<'w> CommitPoint<'w> {
    /// None where transitions are recorded here first.
    pub(super) fn of(workspace: &'w Workspace) -> Result<Option<Self>, Failure> {
        let (Sync::Each, Some(_)) = (manner(workspace), &workspace.store) else {
            return Ok(None);
        };
        let (_, snapshot) = workspace.current()?;
        let here = workspace.repo.head()?;
        // The log is its branch's also while another one is checked out.
        let branch = match snapshot.and_then(|snapshot| snapshot.ledger.branch) {
            Some(branch) => branch,
            None => carriage::branch(workspace, None)?,
        };
        let is_here = here.branch.as_deref() == Some(branch.as_str());
        let remote = carriage::remote(workspace, None, &branch, Side::Push, workspace.attended)?;
        remote.require_expected(&branch)?;
        Ok(Some(Self {
            workspace,
            remote,
            branch,
            head: here.commit.filter(|_| is_here),
        }))
    }

    /// Records a staged transition once the remote took it.
    pub(super) fn commit(
        &self,
        staged: Staged<'_>,
        sign: Option<&Sign<'_>>,
        before: Option<&Tip>,
        after: &Snapshot,
    ) -> Result<Committed, Failure> {
        let Some(before) = before else {
            return staged.commit(sign, |_| Ok(()));
        };
        let store = self.workspace.store()?;
        let may_leave = |kept: &Kept| carriage::check_kept(self.workspace, kept);
        let mut left = Vec::new();
        let mut committed = staged.commit(sign, |tip| {
            carriage::check_new(self.workspace, &before.commit, &tip.commit)?;
            let offer = self.offer(store, before, tip, after);
            let taken = self.remote.offer(&offer, &may_leave)?;
            left = taken.ok_or_else(|| self.report_beaten())?;
            Ok(())
        })?;
        let settled = self.remote.settle(
            &self.offer(store, before, &committed.tip, after),
            &may_leave,
        );
        committed.findings.extend(left);
        committed.findings.extend(
            settled
                .unwrap_or_else(|failure| vec![Finding::new(Code::PushPending, failure.message)]),
        );
        Ok(committed)
    }

    fn offer<'a>(
        &'a self,
        store: &'a Store,
        before: &'a Tip,
        tip: &'a Tip,
        after: &'a Snapshot,
    ) -> Offer<'a> {
        Offer {
            store,
            branch: &self.branch,
            from: &before.commit,
            to: &tip.commit,
            head: self.head.as_deref(),
            snapshot: after,
        }
    }

    fn report_beaten(&self) -> Failure {
        let what = format!("`{}` holds what is not here", self.remote.show());
        Refusal::new(Code::RemoteAhead, what).into()
    }

    /// Why the remote takes nothing although its log is before this one.
    fn explain(&self) -> Result<Failure, Failure> {
        let store = self.workspace.store()?;
        self.remote
            .explain(store, &self.branch, self.head.as_deref())
    }

    /// Takes in what others recorded; false where there is nothing, so that the branch is in the
    /// way and not its log.
    fn catch_up(&self) -> Result<bool, Failure> {
        let store = self.workspace.store()?;
        Ok(self
            .remote
            .pull(Some(store), &self.branch, Manner::Usual)?
            .transitions
            > 0)
    }
}

/// What is going to be recorded can be: where the remote must take it, it has the log already.
///
/// # Errors
/// `push_unconfirmed`, and a remote that is not known.
pub(crate) fn check_commit_point(workspace: &Workspace) -> Result<(), Failure> {
    CommitPoint::of(workspace).map(drop)
}

/// Decides again for as long as others are first.
pub(super) fn until_taken(
    point: &CommitPoint<'_>,
    mut attempt: impl FnMut() -> Result<Applied, Failure>,
) -> Result<Applied, Failure> {
    let mut wait = FIRST_WAIT;
    for _ in 1..TRIES {
        match attempt() {
            Err(failure) if failure.code == Code::RemoteAhead => {
                if !point.catch_up()? {
                    return Err(point.explain()?);
                }
                std::thread::sleep(jitter(wait));
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            Err(failure) if failure.code == Code::StaleFacts => {}
            outcome => return outcome,
        }
    }
    attempt().map_err(|failure| match failure.code {
        Code::RemoteAhead => Refusal::new(
            Code::StaleFacts,
            format!(
                "others were first at `{}` {TRIES} times; nothing was recorded",
                point.remote.show()
            ),
        )
        .into(),
        _ => failure,
    })
}

/// Between half of it and all of it, so that clones that met do not meet again.
fn jitter(wait: Duration) -> Duration {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    let part = nanos
        .wrapping_mul(2_654_435_761)
        .wrapping_add(std::process::id())
        % 1_000;
    wait / 2 + wait * part / 2_000
}

/// When transitions reach the remote. Settings that cannot be read stop whoever decides by them.
fn manner(workspace: &Workspace) -> Sync {
    match workspace.config() {
        Ok(config) if !workspace.pushes_later => config.log.sync,
        _ => Sync::Manual,
    }
}

/// After a transition that stands: the remote gets it as far as it takes it.
pub(super) fn push_after(workspace: &Workspace, applied: &mut Applied) {
    // The first transition makes the log.
    if manner(workspace) != Sync::Push || workspace.store.is_none() {
        return;
    }
    if let Err(failure) = carriage::push_known(workspace, None) {
        let what = format!("{} ({})", failure.message, failure.code);
        applied.findings.push(Finding::new(Code::PushPending, what));
    }
}
