//! A question about work whose log is not there.

use crate::service::Workspace;
use cook_core::diagnostic::{Code, Finding};

/// Nothing can be said of slices and votes without the log that holds them.
pub(super) fn log_missing(workspace: &Workspace) -> Finding {
    let what = "so no report, proof or vote can be recomputed";
    if let Some(source) = &workspace.log_from {
        let (remote, branch) = (&source.shown, &source.reference);
        let held = match branch.as_str() {
            "" => "of a commit that this one is (no branch is checked out: `--branch BRANCH` names one)".to_owned(),
            branch => format!("for branch `{branch}`, and none of a commit that this one is"),
        };
        let why = format!(
            "`{remote}` holds no log {held}, {what}; `cook push` in the clone where the work was done puts it there"
        );
        return Finding::new(Code::LogMissing, why);
    }
    let why = match workspace.store {
        Some(_) => "the log of this repository holds nothing for this worktree",
        None => "there is no log in this clone",
    };
    Finding::new(Code::LogMissing, format!("{why}, {what}"))
}
