//! `cook verify`: recomputes everything.

use super::context::{Answer, Context, answer};
use crate::verify::{self, Outcome};
use crate::view::VerifyAnswer;
use clap::{Args, ValueEnum};

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
    /// Findings that need a re-ground fail too
    #[arg(long)]
    pub strict: bool,
    /// Run gates again instead of believing receipts
    #[arg(long)]
    pub rerun: bool,
    /// Trust the stop verifier and the gates of this repository for this run (for CI)
    #[arg(long)]
    pub trust_repo: bool,
    /// human or json
    #[arg(long, value_enum, default_value_t = VerifyFormat::Human)]
    pub format: VerifyFormat,
}

pub(super) fn verify(context: &Context, args: &VerifyArgs) -> Answer {
    let mut workspace = context.workspace()?;
    workspace.rerun = args.rerun;
    workspace.trust_everything = args.trust_repo;
    let (scope, outcome) = match args.scope {
        VerifyScope::ControlPlane => ("control-plane", verify::control_plane(&workspace)?),
        VerifyScope::Stop => ("stop", verify::stop(&workspace)?),
        VerifyScope::All => {
            let mut outcome = verify::control_plane(&workspace)?;
            outcome.append(verify::stop(&workspace)?);
            verify::check_released(&workspace, &mut outcome)?;
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
