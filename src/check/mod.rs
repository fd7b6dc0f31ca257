//! `cook check`: is what was just claimed true of this commit? In any repository, without a log or a
//! mission: gates in a clean room at HEAD, the tests of the base on the new code, and what is not
//! committed.
//!
//! Invariant: nothing of the repository runs that this machine does not trust, and a gate that did
//! not run is never taken for green.

mod base;
mod found;
mod gates;
mod green;
mod line;
mod uncommitted;

pub(crate) use base::{Base, find as find_base};
pub(crate) use found::{Ask, ChangedPath, Checked, Tell, Truth};
pub(crate) use green::require_green;
pub(crate) use line::{FilePlace, Line};

use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Refusal};

/// Checks HEAD's commit, or the one that is named.
///
/// # Errors
/// No commit, a base or a gate that is not known, git that does not answer, an interruption.
pub(crate) fn check(workspace: &mut Workspace, ask: &Ask, tell: Tell) -> Result<Checked, Failure> {
    let here = workspace.repo.head()?.commit;
    let Some(head) = ask.commit.map(str::to_owned).or(here) else {
        let refusal = Refusal::new(Code::UnbornHead, "the repository has no commit yet");
        return Err(refusal
            .replace_hints(["commit what is to be checked, then run `cook check`"])
            .into());
    };
    let base = base::find(&workspace.repo, &head, ask.base)?;
    for commit in [&base.commit, &head] {
        workspace.repo.fetch_missing(commit, &[])?;
    }
    let proposed = workspace.propose_gates()?;
    let mut checked = Checked {
        head,
        base,
        checked: Vec::new(),
        lines: Vec::new(),
        changed: Vec::new(),
    };
    let specs = gates::choose(workspace, ask.gates, &mut checked)?;
    if ask.commit.is_none() {
        uncommitted::look(&workspace.repo, &mut checked)?;
    }
    let base_counts = ask.gates.is_empty();
    gates::look(
        workspace,
        (proposed, base_counts),
        &specs,
        tell,
        &mut checked,
    )?;
    gates::list_touched(workspace, &mut checked)?;
    checked.lines.sort_by_key(Line::rank);
    checked.lines.dedup();
    Ok(checked)
}
