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
pub(crate) use found::{Ask, ChangedPath, Checked, Runs, Tell, Truth};
pub(crate) use gates::describe_place;
pub(crate) use green::require_green;
pub(crate) use line::{FilePlace, Line};

use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_trials::Weight;

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
    let mut checked = Checked {
        head,
        base,
        checked: Vec::new(),
        lines: Vec::new(),
        changed: Vec::new(),
    };
    if ask.commit.is_none() {
        uncommitted::look(&workspace.repo, &mut checked)?;
    }
    match ask.runs {
        Runs::Nothing => {
            let what = "no gate was run, as it was asked for";
            let line = Line::new(Code::NoGates, Weight::NotKnown, what, "cook check");
            checked.lines.push(line);
        }
        _ => gates::look(workspace, ask, tell, &mut checked)?,
    }
    gates::list_touched(workspace, &mut checked)?;
    checked.lines.sort_by_key(Line::rank);
    checked.lines.dedup();
    Ok(checked)
}
