//! What has to hold before a change of the commit says anything: every gate is green without it.

use super::base::Base;
use super::found::{Checked, Tell};
use super::gates::{choose, run_green, runnable};
use super::line::Line;
use crate::measure::Green;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal};
use cook_store::receipt::merge_gates;

/// The gates of a commit, all of them green there, and what was looked at. `proposed`: the settings
/// name none; `commands` are run beside them.
///
/// # Errors
/// `trust_missing`, `gates_not_green`; what [`super::check`] fails at.
pub(crate) fn require_green(
    workspace: &Workspace,
    (head, base): (&str, &Base),
    (proposed, commands): (bool, &[String]),
    tell: Tell,
) -> Result<(Vec<Green>, Vec<String>), Failure> {
    let mut checked = Checked {
        head: head.to_owned(),
        base: base.clone(),
        checked: Vec::new(),
        lines: Vec::new(),
        changed: Vec::new(),
    };
    let gates = merge_gates(choose(workspace, &[], &mut checked)?, commands);
    if gates.is_empty() {
        let what = "no gate is known here, so nothing could notice a defect";
        return Err(Refusal::new(Code::GatesNotGreen, what)
            .replace_hints([
                "run `cook init`, or name the repository's test in `[gates]` of `.agent/cook.toml`",
            ])
            .into());
    }
    let may_run = runnable(workspace, &gates, &mut checked)?.unwrap_or_default();
    let wanting = |line: &&Line| {
        matches!(
            line.code,
            Code::GateUntrusted | Code::ProgramAbsent | Code::GateRed | Code::GateNeedsUncommitted
        )
    };
    if may_run.len() == gates.len() && checked.lines.is_empty() {
        let greens = run_green(workspace, (&may_run, proposed), tell, &mut checked)?;
        if greens.len() == gates.len() {
            return Ok((greens, checked.checked));
        }
    }
    let lines: Vec<&Line> = checked.lines.iter().filter(wanting).collect();
    let code = match lines.iter().any(|line| line.code == Code::GateUntrusted) {
        true => Code::TrustMissing,
        false => Code::GatesNotGreen,
    };
    let what = lines
        .first()
        .map_or("a gate did not run", |line| &line.message);
    Err(Refusal::new(code, what)
        .with(
            lines
                .iter()
                .map(|line| Finding::new(line.code, line.message.clone()))
                .collect(),
        )
        .replace_hints(lines.iter().map(|line| format!("run `{}`", line.show)))
        .into())
}
