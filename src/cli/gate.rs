//! `cook gate`: runs gates now and keeps receipts.

use super::caller;
use super::context::{Answer, Context, answer};
use crate::anchor::describe_failed;
use crate::measure;
use crate::scaffold::OF_FOLDER;
use crate::service::Workspace;
use crate::view::{Exit, Page, Show, Tone};
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal, count_noun};
use cook_core::machine;
use cook_core::machine::GateRun;
use cook_core::model::{Caches, GateSpec, Receipt};
use cook_git::Repo;
use cook_os::thread;
use cook_store::receipt::{Gates, Receipts, plan_gate};
use serde::{Serialize, Serializer};

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

/// Gates that were run, or whose receipt was found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct GatesRun<'a> {
    gates: Vec<Gate<'a>>,
    findings: &'a [Finding],
}

/// One gate's run.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Gate<'a> {
    name: &'a str,
    run: &'a str,
    required: bool,
    passed: bool,
    /// Why it could not be run.
    problem: Option<&'a str>,
    receipt: Option<&'a Receipt>,
    /// What a reader should know of it.
    remarks: &'a [String],
    /// What it did not have in the clean room, and the setting that gives it.
    missing: &'a [String],
    /// The run at the basis, for gates that must fail there.
    at_basis: Option<&'a Receipt>,
}

/// Gates that were run.
#[derive(Debug)]
pub struct GateAnswer {
    /// Each gate's run, and what it did not have where it is red.
    pub runs: Vec<(GateRun, Vec<String>)>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Serialize for GateAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = self.runs.iter();
        GatesRun {
            gates: runs
                .map(|(run, missing)| Gate {
                    name: &run.gate.name,
                    run: &run.gate.run,
                    required: run.gate.required,
                    passed: run.has_passed(),
                    problem: run.problem.as_deref(),
                    receipt: run.receipt.as_ref(),
                    remarks: &run.remarks,
                    missing,
                    at_basis: run.at_basis.as_ref(),
                })
                .collect(),
            findings: &self.findings,
        }
        .serialize(serializer)
    }
}

impl Show for GateAnswer {
    fn human(&self, page: &mut Page) {
        if self.runs.is_empty() {
            page.line("no gates: `.agent/cook.toml` names none");
        }
        for (run, missing) in &self.runs {
            let (tone, word) = if run.has_passed() {
                (Tone::Good, "green")
            } else {
                (Tone::Bad, "red  ")
            };
            page.add_toned(tone, word);
            let took = run.receipt.as_ref().map_or(String::new(), |receipt| {
                format!("  {} ms", receipt.duration_ms.0)
            });
            page.line(&format!("  {}  {}{took}", run.gate.name, run.gate.run));
            if let Some(receipt) = &run.receipt {
                page.line(&format!("       receipt:{}", receipt.id));
                if !receipt.proves() {
                    page.line("       ran in the worktree, so it proves nothing");
                }
            }
            if run
                .receipt
                .as_ref()
                .is_some_and(|receipt| receipt.exit_code.is_none())
            {
                let limit = std::time::Duration::from_millis(run.gate.timeout_ms);
                page.line(&format!(
                    "       ended by a signal, or by its timeout of {}",
                    humantime::format_duration(limit)
                ));
            }
            for remark in &run.remarks {
                page.line(&format!("       {remark}"));
            }
            if let Some(problem) = &run.problem {
                page.line(&format!("       {problem}"));
            } else if !run.has_passed()
                && let Some(receipt) = &run.receipt
            {
                for failed in describe_failed(&receipt.tail) {
                    page.line(&format!("       {failed}"));
                }
                let lines: Vec<&str> = receipt.tail.lines().collect();
                for line in &lines[lines.len().saturating_sub(8)..] {
                    page.line(&format!("       | {line}"));
                }
            }
            for hint in missing {
                page.add_toned(Tone::Dim, "       missing: ");
                page.line(hint);
            }
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn exit(&self) -> Exit {
        let red = self
            .runs
            .iter()
            .any(|(run, _)| run.gate.required && !run.has_passed());
        if red { Exit::CheckFailed } else { Exit::Ok }
    }
}
