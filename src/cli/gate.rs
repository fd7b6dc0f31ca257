//! `cook gate`: runs gates now and keeps receipts.

use super::caller;
use super::context::{Answer, Context, answer};
use crate::measure;
use crate::scaffold::OF_FOLDER;
use crate::service::Workspace;
use crate::view::GateAnswer;
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal, count_noun};
use cook_core::machine;
use cook_core::model::{Caches, GateSpec};
use cook_git::Repo;
use cook_os::thread;
use cook_store::receipt::{Gates, Receipts, plan_gate};

#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// Gates of `cook.toml`; none = all
    pub names: Vec<String>,
    /// The commands of this slice, beside those of `cook.toml`
    #[arg(long, value_name = "ID")]
    pub slice: Option<String>,
    /// Run HEAD's commit in a clean room, as what counts is run, instead of the worktree
    #[arg(long)]
    pub clean: bool,
    /// Run even where a receipt is kept, with nothing of earlier runs
    #[arg(long, requires = "clean")]
    pub fresh: bool,
}

pub(super) fn gate(context: &Context, args: &GateArgs) -> Answer {
    let mut workspace = context.workspace()?;
    let folders = args
        .names
        .iter()
        .filter_map(|name| name.rsplit_once(OF_FOLDER));
    let folders: Vec<&str> = folders.map(|(dir, _)| dir).collect();
    workspace.propose_gates_in(&folders)?;
    let gates = choose_gates(&workspace, args)?;
    caller::not_apart(&workspace).map_err(|mut refusal| {
        // It would run beside what is not committed there, which is why this place is apart.
        let here = gates
            .iter()
            .map(|gate| format!("to see it here, run `{}`", gate.run));
        refusal.hints.splice(0..0, here);
        refusal
    })?;
    require_trust(&workspace, &gates, args.clean)?;
    if args.clean {
        if args.fresh {
            workspace.caches = Caches::Empty;
        }
        // In a large worktree git takes as long as the room does.
        let root = workspace.repo.root().to_owned();
        let (status, runs) = thread::both(
            move || Repo::discover(&root)?.status(),
            || workspace.run_gates(&gates),
        );
        let (status, runs) = (status?, runs?);
        let runs = runs.into_iter().map(|run| {
            let missing = measure::missing(&workspace.repo, workspace.config()?, (&run).into())?;
            Ok((run, missing))
        });
        let runs = runs.collect::<Result<Vec<_>, Failure>>()?;
        let mut findings = Vec::new();
        if !status.worktree.is_clean() {
            findings.push(Finding::new(
                Code::DirtyWorktree,
                "the worktree is not clean: the clean room held HEAD's commit, without what is not committed",
            ));
        }
        return answer(GateAnswer { runs, findings });
    }
    let receipts = Receipts::of(&workspace.repo)?;
    let config = workspace.config()?;
    let trust = workspace.trust()?;
    let runner = Gates {
        repo: &workspace.repo,
        receipts: &receipts,
        clock: workspace.clock,
        settings: &config.clean_room,
        agents: &config.agents,
        sandbox: config.sandbox.mode,
        trust: &trust,
        live: None,
        patience: None,
    };
    let runs = gates.iter().map(|gate| {
        let run = runner.run_here(gate)?;
        let missing = measure::list_missing_in_worktree(&workspace.repo, config, &run);
        Ok((run, missing))
    });
    answer(GateAnswer {
        runs: runs.collect::<Result<Vec<_>, Failure>>()?,
        findings: Vec::new(),
    })
}

/// Nothing of the repository runs that this machine was not told to trust.
fn require_trust(workspace: &Workspace, gates: &[GateSpec], clean: bool) -> Result<(), Failure> {
    let trust = workspace.trust()?;
    let setup = workspace.config()?.clean_room.setup();
    let setup = setup.filter(|_| clean).map(|command| command.to_string());
    let commands: Vec<String> = gates
        .iter()
        .map(|gate| gate.run.clone())
        .chain(setup)
        .collect();
    let untrusted: Vec<&String> = commands
        .iter()
        .filter(|command| !trust.is_trusted(command))
        .collect();
    let Some(first) = untrusted.first() else {
        return Ok(());
    };
    let hint = |command: &&String| format!("run `cook trust {}`", machine::quote_word(command));
    Err(Refusal::new(
        Code::TrustMissing,
        format!(
            "{} of {} not trusted on this machine: `{first}`",
            untrusted.len(),
            count_noun(commands.len() as u64, "command"),
        ),
    )
    .replace_hints(untrusted.iter().map(hint))
    .into())
}

/// The gates that are asked for: by name, or all of `cook.toml` and the slice's own.
fn choose_gates(workspace: &Workspace, args: &GateArgs) -> Result<Vec<GateSpec>, Failure> {
    let mut gates = workspace.config()?.gate_specs();
    if let (_, Some(snapshot)) = workspace.current()?
        && let Some(goal) = snapshot.goal()
    {
        let shown = goal.checks.iter().filter(|check| !check.hidden);
        gates.extend(shown.map(|check| plan_gate(&check.run)));
    }
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
            let what = format!("no slice `{id}` in the plan");
            return Err(Failure::unknown(Code::SliceUnknown, what));
        };
        for command in slice.verification_commands.iter().flatten() {
            if !gates.iter().any(|gate| &gate.run == command) {
                gates.push(plan_gate(command));
            }
        }
    }
    Ok(gates)
}
