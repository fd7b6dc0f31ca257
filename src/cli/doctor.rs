//! `cook doctor`: is the set-up sound, and which settings are in force.

use super::agents::agents;
use super::context::{Answer, Context, answer, note};
use super::fsck::fsck;
use super::rescue::{RescueCommand, rescue};
use super::{caller, trust};
use crate::view::{PromptAnswer, VerifyAnswer};
use crate::{drive, lifecycle};
use clap::{Args, Subcommand};
use cook_core::diagnostic::{Code, Finding, count_noun};
use cook_core::machine;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct DoctorArgs {
    #[command(subcommand)]
    pub command: Option<DoctorCommand>,
    /// Print every setting in force
    #[arg(long)]
    pub config: bool,
    /// Have each agent that is here answer once
    #[arg(long, conflicts_with = "config")]
    pub probe: bool,
    /// With --probe: this agent only
    #[arg(long, value_name = "NAME", requires = "probe")]
    pub agent: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum DoctorCommand {
    /// Check the log's objects and the view
    Fsck,
    /// Look at what was set aside, and put it back
    #[command(subcommand)]
    Rescue(RescueCommand),
    /// List the agents that can be asked: installed, version, what they can
    Agents,
}

pub(super) fn doctor(context: &Context, args: &DoctorArgs) -> Answer {
    match &args.command {
        None => check_setup(context, args),
        Some(DoctorCommand::Fsck) => fsck(context),
        Some(DoctorCommand::Rescue(command)) => rescue(context, command),
        Some(DoctorCommand::Agents) => agents(context),
    }
}

fn check_setup(context: &Context, args: &DoctorArgs) -> Answer {
    let workspace = context.workspace()?;
    if args.config {
        let config = workspace.config()?;
        if context.screen.json {
            return note(
                "config",
                config.effective().lines().map(str::to_owned).collect(),
            );
        }
        return answer(PromptAnswer(format!(
            "# every setting in force; `.agent/cook.toml` overrides a default\n{}",
            config.effective()
        )));
    }
    let mut findings: Vec<Finding> = workspace.config_problem().cloned().into_iter().collect();
    let mut checked = vec![format!("repository {}", workspace.repo.root().display())];
    if !workspace.repo.is_open_in_libgit2() {
        checked.push("libgit2 cannot open this repository; the git program answers".to_owned());
    }
    match workspace.current()? {
        (Some(tip), Some(snapshot)) => {
            checked.push(format!(
                "log at #{}, {}",
                tip.seq, snapshot.state.contract_status
            ));
        }
        _ => findings.push(Finding::new(
            Code::LogMissing,
            "there is no log for this worktree",
        )),
    }
    if let Ok(config) = workspace.config() {
        let given = workspace.trust()?;
        if given.is_foreign() {
            let what = "the list of trusted commands was made by another user or on another machine: it came with the git directory";
            findings.push(Finding::new(Code::TrustForeign, what));
        }
        let gates = config.gate_specs();
        checked.push(format!(
            "{} in `.agent/cook.toml`",
            count_noun(gates.len() as u64, "gate")
        ));
        for (name, command) in trust::commands(config) {
            if !given.is_trusted(&command) {
                let what = format!("`{command}` is not trusted on this machine");
                findings.push(Finding::new(Code::GateUntrusted, what).at(name.clone()));
            }
            findings.extend(trust::absent(&given, &name, &command));
        }
        if workspace.is_stop_verifier_stale()? {
            findings.push(machine::stale_stop_verifier());
        }
    }
    if workspace.config().is_ok() {
        findings.extend(drive::unfit(&workspace)?);
        match drive::Keeping::of(&workspace) {
            Ok(keeping) => {
                checked.push(format!("sandbox {}", keeping.summary()));
                checked.extend(keeping.describe());
                findings.extend(keeping.warning());
            }
            Err(failure) => {
                findings.push(Finding::new(failure.code, failure.message).at("sandbox.mode"))
            }
        }
    }
    findings.extend(lifecycle::install::unseen(&workspace));
    if args.probe {
        caller::not_nested()?;
        let (heard, silent) = drive::probe(&workspace, args.agent.as_deref())?;
        checked.extend(heard);
        findings.extend(silent);
    }
    if let Some(marker) = caller::agent_around() {
        checked.push(format!(
            "an agent is around this process ({marker}): commands that are yours alone are refused here"
        ));
    }
    answer(VerifyAnswer {
        scope: "doctor",
        checked,
        findings,
        ..VerifyAnswer::default()
    })
}
