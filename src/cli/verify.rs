//! `cook verify`: recomputes everything.

use super::caller;
use super::context::{Answer, Context, answer};
use crate::service::{self, Workspace};
use crate::verify::{self, Outcome};
use crate::view::VerifyAnswer;
use clap::{Args, ValueEnum};
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::model::{Caches, Event, STOP_VERIFIER};

/// What `cook verify` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyScope {
    /// Contract, documents, histories, log
    ControlPlane,
    /// The stop verifier, and the votes when they are due
    Stop,
    /// Everything
    All,
}

/// How `cook verify` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyFormat {
    /// For people
    Human,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// What to look at
    #[arg(value_enum, default_value_t = VerifyScope::All)]
    pub scope: VerifyScope,
    /// Findings that need a re-ground fail too, and a worktree that is not clean
    #[arg(long)]
    pub strict: bool,
    /// Run gates again in a new clean room instead of believing receipts
    #[arg(long)]
    pub rerun: bool,
    /// Trust the stop verifier and the gates of this repository for this run (for CI)
    #[arg(long)]
    pub trust_repo: bool,
    /// human or json
    #[arg(long, value_enum, default_value_t = VerifyFormat::Human)]
    pub format: VerifyFormat,
}

/// Where judges wait for the gates, or a re-ground for gates that are red, what they say now goes
/// into the log.
fn write_down(workspace: &Workspace) -> Result<(), Failure> {
    let (_, Some(snapshot)) = workspace.current()? else {
        return Ok(());
    };
    let (dispatch, _) = service::dispatch_now(workspace, Some(&snapshot))?;
    let is_red = |finding: &Finding| finding.code == Code::RoomRed;
    let waits = dispatch.waits_for_gates() || dispatch.findings.iter().any(is_red);
    if waits && workspace.trust()?.is_trusted(STOP_VERIFIER) && !workspace.from_apart {
        service::transition(workspace, &Event::Verified, caller::anybody())?;
    }
    Ok(())
}

pub(super) fn verify(context: &Context, args: &VerifyArgs) -> Answer {
    let mut workspace = context.workspace()?;
    if args.rerun {
        workspace.caches = Caches::Empty;
    }
    workspace.trust_everything = args.trust_repo;
    let (scope, outcome) = match args.scope {
        VerifyScope::ControlPlane => ("control-plane", verify::control_plane(&workspace)?),
        VerifyScope::Stop => {
            write_down(&workspace)?;
            ("stop", verify::stop(&workspace)?)
        }
        VerifyScope::All => {
            let mut outcome = verify::control_plane(&workspace)?;
            // Votes and proofs of a damaged log are nobody's word.
            if !outcome.found(Code::LogDamaged) {
                outcome.append(verify::stop(&workspace)?);
                verify::check_released(&workspace, &mut outcome)?;
            }
            ("all", outcome.sorted())
        }
    };
    let Outcome { checked, findings } = outcome;
    answer(VerifyAnswer {
        scope,
        strict: args.strict,
        checked,
        findings,
    })
}
