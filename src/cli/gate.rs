//! `cook gate`: runs gates now and keeps receipts.

use super::caller;
use super::context::{Answer, Context, answer};
use crate::service::Workspace;
use crate::view::GateAnswer;
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal, counted};
use cook_core::machine;
use cook_core::model::GateSpec;
use cook_store::receipt::{Gates, Receipts};

#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// Gates of `cook.toml`; none = all
    pub names: Vec<String>,
    /// The commands of this slice, beside those of `cook.toml`
    #[arg(long, value_name = "ID")]
    pub slice: Option<String>,
    /// Run even where a receipt for this tree is kept
    #[arg(long)]
    pub rerun: bool,
}

pub(super) fn gate(context: &Context, args: &GateArgs) -> Answer {
    let workspace = context.workspace()?;
    let gates = choose_gates(&workspace, args)?;
    caller::not_apart(&workspace).map_err(|mut refusal| {
        // It would run beside what is not committed there, which is why this place is apart.
        let here = gates
            .iter()
            .map(|gate| format!("to see it here, run `{}`", gate.run));
        refusal.hints.splice(0..0, here);
        refusal
    })?;
    let trust = workspace.trust()?;
    let untrusted: Vec<&GateSpec> = gates
        .iter()
        .filter(|gate| !trust.is_trusted(&gate.run))
        .collect();
    if let Some(first) = untrusted.first() {
        let trust = |gate: &&GateSpec| format!("run `cook trust {}`", machine::quoted(&gate.run));
        return Err(Refusal::new(
            Code::TrustMissing,
            format!(
                "{} of {} not trusted on this machine: `{}`",
                untrusted.len(),
                counted(gates.len() as u64, "gate"),
                first.run
            ),
        )
        .replace_hints(untrusted.iter().map(trust))
        .into());
    }
    let receipts = Receipts::of(&workspace.repo)?;
    let runner = Gates {
        repo: &workspace.repo,
        receipts: &receipts,
        clock: workspace.clock,
        live: None,
    };
    let status = workspace.repo.status()?;
    let unwatched = workspace.repo.unwatched()?;
    let head = workspace.repo.head()?;
    let mut runs = Vec::new();
    for gate in &gates {
        let known = match &head.tree {
            Some(tree) if !args.rerun && status.worktree.is_clean() && unwatched.is_empty() => {
                receipts.find(&gate.run, tree)?
            }
            _ => None,
        };
        runs.push(match known {
            Some(receipt) => machine::GateRun {
                gate: gate.clone(),
                receipt: Some(receipt),
                problem: None,
                at_basis: None,
                losses: Vec::new(),
            },
            None => runner.run_here(gate)?,
        });
    }
    let mut findings = Vec::new();
    if !status.worktree.is_clean() {
        findings.push(Finding::new(
            Code::DirtyWorktree,
            "the worktree is not clean, so these receipts prove nothing",
        ));
    }
    if let Some(first) = unwatched.first() {
        findings.push(
            Finding::new(
                Code::DirtyWorktree,
                format!(
                    "git was told not to look at {}, so these receipts prove nothing; `git update-index --no-assume-unchanged --no-skip-worktree {}` ends that",
                    counted(unwatched.len() as u64, "file"),
                    machine::quoted(first)
                ),
            )
            .at(first.clone()),
        );
    }
    answer(GateAnswer { runs, findings })
}

/// The gates that are asked for: by name, or all of `cook.toml` and the slice's own.
fn choose_gates(workspace: &Workspace, args: &GateArgs) -> Result<Vec<GateSpec>, Failure> {
    let mut gates = workspace.config()?.gate_specs();
    if !args.names.is_empty() {
        for name in &args.names {
            if !gates.iter().any(|gate| &gate.name == name) {
                let known: Vec<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
                return Err(Failure::usage(format!(
                    "unknown gate `{name}`; `.agent/cook.toml` has {}",
                    if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    }
                )));
            }
        }
        gates.retain(|gate| args.names.contains(&gate.name));
    }
    if let Some(id) = &args.slice {
        let (_, snapshot) = workspace.require()?;
        let Some(slice) = snapshot.plan.slice(id) else {
            return Err(
                Refusal::new(Code::SliceUnknown, format!("no slice `{id}` in the plan")).into(),
            );
        };
        for command in slice.verification_commands.iter().flatten() {
            if !gates.iter().any(|gate| &gate.run == command) {
                gates.push(crate::measure::plan_gate(command));
            }
        }
    }
    Ok(gates)
}
