//! Whether what stands in the log follows from what stood there before: what somebody else wrote is
//! run again before it is believed.

use super::workspace::Workspace;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{Policy, Snapshot};
use cook_repo::run_again;
use shell_words::quote;

/// The log's tip goes on from that transition.
///
/// # Errors
/// A log that cannot be read.
pub fn follows(workspace: &Workspace, since: &str) -> Result<bool, Failure> {
    for meta in workspace.store()?.entries()? {
        if meta?.commit == since {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the first transition after `since` claims that its event does not produce.
///
/// # Errors
/// A log that cannot be read, or does not hold that transition.
pub fn find_made_up(workspace: &Workspace, since: &str) -> Result<Option<String>, Failure> {
    let report = workspace.store()?.replay_after(Some(since), run_again)?;
    Ok(report.findings.into_iter().next().map(|one| one.message))
}

/// An end of the project that stands in the log is one that its last transition brought about.
pub(super) fn require_true_end(workspace: &Workspace, snapshot: &Snapshot) -> Result<(), Failure> {
    if snapshot.state.continuation_policy != Policy::Done || workspace.log_from.is_some() {
        return Ok(());
    }
    let store = workspace.store()?;
    let mut entries = store.entries()?;
    let (Some(tip), Some(before)) = (entries.next().transpose()?, entries.next().transpose()?)
    else {
        return Ok(());
    };
    let Some(what) = find_made_up(workspace, &before.commit)? else {
        return Ok(());
    };
    let log = workspace.place().log_dir();
    let mut failure = Failure::state(
        Code::LogNotDerivable,
        format!("the log calls the project done, and nothing in it brought that about: {what}"),
    );
    failure.hints = vec![
        "`cook verify control-plane` runs the whole log again".to_owned(),
        format!(
            "`git --git-dir={} update-ref {} {} {}` takes that transition away",
            quote(&log.to_string_lossy()),
            store.branch(),
            before.commit,
            tip.commit
        ),
    ];
    Err(failure)
}
