//! `cook check`: is what was just claimed true of this commit? In any repository, without a log or a
//! mission: gates in a clean room at HEAD, what the change takes away from tests, and what is not
//! committed.
//!
//! Invariant: nothing of the repository runs that this machine does not trust, and a gate that did
//! not run is never taken for green.

mod base;
mod change;
mod gates;
mod line;
mod uncommitted;

pub(crate) use base::Base;
pub(crate) use line::Line;

use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::machine;

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ask<'a> {
    /// The commit to compare with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// The gates to run, by name; none = all.
    pub gates: &'a [String],
    /// Gates do not run once more with the change taken back.
    pub no_revert: bool,
}

/// What was looked at and found.
#[derive(Debug)]
pub(crate) struct Checked {
    /// HEAD's full id.
    pub head: String,
    /// What it is compared with.
    pub base: Base,
    /// One line for each thing that was looked at.
    pub checked: Vec<String>,
    /// What was found, worst first.
    pub lines: Vec<Line>,
}

/// What a person at a terminal sees while it takes time.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

/// Checks HEAD's commit.
///
/// # Errors
/// No commit, a base or a gate that is not known, git that does not answer, an interruption.
pub(crate) fn check(workspace: &mut Workspace, ask: &Ask, tell: Tell) -> Result<Checked, Failure> {
    let Some(head) = workspace.repo.head()?.commit else {
        let refusal = Refusal::new(Code::UnbornHead, "the repository has no commit yet");
        return Err(refusal
            .replace_hints(["commit what is to be checked, then run `cook check`"])
            .into());
    };
    let base = base::find(&workspace.repo, &head, ask.base)?;
    let proposed = workspace.propose_gates()?;
    let mut checked = Checked {
        head,
        base,
        checked: Vec::new(),
        lines: Vec::new(),
    };
    let specs = gates::choose(workspace, ask.gates)?;
    let edits = workspace.repo.edits(&checked.base.commit, &checked.head)?;
    change::look(workspace, &edits, &mut checked)?;
    uncommitted::look(&workspace.repo, &mut checked)?;
    gates::look(
        workspace,
        (ask, proposed),
        &specs,
        &edits,
        tell,
        &mut checked,
    )?;
    checked.lines.sort_by_key(Line::rank);
    checked.lines.dedup();
    Ok(checked)
}

impl Checked {
    /// Something is not true.
    pub fn passed(&self) -> bool {
        !self.lines.iter().any(|line| line.fails)
    }

    /// The command that shows what the change is; of some paths alone where there are any.
    fn diff(&self, paths: &[&str]) -> String {
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        let range = format!(
            "git diff {} {}",
            short(&self.base.commit),
            short(&self.head)
        );
        if paths.is_empty() {
            return range;
        }
        let quoted: Vec<String> = paths
            .iter()
            .map(|path| machine::quoted(path).to_string())
            .collect();
        format!("{range} -- {}", quoted.join(" "))
    }
}
