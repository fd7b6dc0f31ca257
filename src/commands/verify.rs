//! `cook verify`: recomputes everything.

use super::prelude::*;
use crate::verify::{self, Answered, CommitStanding, Compared, Outcome, Rerun};
use crate::view::{Format, VerifyAnswer};
use clap::ValueEnum;
use cook_protocol::model::{Caches, Event, STOP_VERIFIER};
use std::path::PathBuf;

/// What `cook verify` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyScope {
    /// Is the state sound: contract, documents, histories, log
    ControlPlane,
    /// The stop verifier, and the votes when they are due
    Stop,
    /// Is this commit proven done: everything
    All,
    /// Is this slice proven: its review, audit, receipts and criteria
    Slice,
}

/// Whose log is asked, what runs again, and what fails.
#[derive(Debug, Clone, Args)]
pub(super) struct ProofArgs {
    /// Findings that need a re-ground fail too, a worktree that is not clean, proof that can be neither
    /// looked up nor run, and a commit that has only the tree of the one that was judged, without `--rerun`
    #[arg(long)]
    pub strict: bool,
    /// Run the gates again at HEAD in a new clean room, and the accepted tests that are others now, instead of
    /// believing receipts
    #[arg(long)]
    pub rerun: bool,
    /// With `--rerun`: run them at each slice's head too
    #[arg(long, requires = "rerun")]
    pub history: bool,
    /// Read the log of a remote, or of an address, instead of the one that is here
    #[arg(long, value_name = "REMOTE")]
    pub from: Option<String>,
    /// Whose log, with `--from` (default: the branch that is checked out)
    #[arg(long, value_name = "BRANCH", requires = "from")]
    pub branch: Option<String>,
    /// Judge by the contract of this commit, and hold the one that is here against it
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Somebody outside of the tree accepted the contract that is here, by its digest (its first 32
    /// digits at least)
    #[arg(long, value_name = "DIGEST", requires = "base", value_parser = digest)]
    pub accept_contract: Option<String>,
    /// With `--rerun`: this goal, by its digest, is the one whose commands may run
    #[arg(long, value_name = "DIGEST", requires = "rerun", value_parser = digest)]
    pub goal: Option<String>,
    /// With `--rerun`: the hidden files of a goal lie in this directory
    #[arg(long, value_name = "DIR", requires = "rerun")]
    pub hidden: Option<PathBuf>,
    /// Trust the stop verifier and the gates of this repository for this run (for CI)
    #[arg(long)]
    pub trust_repo: bool,
}

impl ProofArgs {
    fn rerun(&self) -> Rerun {
        match (self.rerun, self.history) {
            (false, _) => Rerun::No,
            (true, false) => Rerun::Head,
            (true, true) => Rerun::Slices,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// What to ask
    #[arg(value_enum, default_value_t = VerifyScope::All)]
    pub scope: VerifyScope,
    /// The slice, for `verify slice`
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    #[command(flatten)]
    pub proof: ProofArgs,
    /// How to answer (default: human)
    #[arg(long, value_enum)]
    pub format: Option<Format>,
}

/// Digits of a digest that tell a contract from every other that somebody could make.
const LEAST_DIGITS: usize = 32;

fn digest(text: &str) -> Result<String, String> {
    let is_digest = (LEAST_DIGITS..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_digest {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!(
            "it must be {LEAST_DIGITS} to 64 hexadecimal digits: `cook verify` names the digest"
        )),
    }
}

/// Where judges wait for the gates, or a re-ground for gates that are red, what they say now goes
/// into the log.
fn write_down(workspace: &Workspace) -> Result<(), Failure> {
    let (_, Some(snapshot)) = workspace.current()? else {
        return Ok(());
    };
    let (dispatch, _) = service::dispatch_told(workspace, Some(&snapshot))?;
    let is_red = |finding: &Finding| finding.code == Code::RoomRed;
    let waits = dispatch.waits_for_gates() || dispatch.findings.iter().any(is_red);
    if waits && workspace.trust()?.is_trusted(STOP_VERIFIER) && !workspace.from_apart {
        service::transition(workspace, &Event::Verified, context::anybody())?;
    }
    Ok(())
}

pub(super) fn verify(context: &Context, args: &VerifyArgs) -> Answer {
    let id = match (args.scope, &args.id) {
        (VerifyScope::Slice, None) => {
            return Err(Failure::usage(
                "which slice? `cook verify slice ID`".to_owned(),
            ));
        }
        (VerifyScope::Slice, Some(id)) => id.as_str(),
        (_, Some(id)) => {
            let what = format!("`{id}` means nothing here; a slice is asked about by `slice {id}`");
            return Err(Failure::usage(what));
        }
        (_, None) => "",
    };
    let (_, looked) = ask(context, &args.proof, args.scope, id)?;
    answer(looked)
}

/// The worktree with the log that is asked about, and what is found.
pub(super) fn ask(
    context: &Context,
    args: &ProofArgs,
    scope: VerifyScope,
    id: &str,
) -> Result<(Workspace, VerifyAnswer), Failure> {
    if scope == VerifyScope::Stop && (args.from.is_some() || args.base.is_some()) {
        return Err(Failure::usage(
            "`verify stop` asks about the log and the contract that are here",
        ));
    }
    let mut workspace = context.workspace()?;
    if args.rerun {
        workspace.caches = Caches::Empty;
    }
    workspace.trust_everything = args.trust_repo;
    if let Some(from) = &args.from {
        verify::bring_history(&mut workspace, from, args.branch.as_deref())?;
    }
    let mut compared = None;
    if let Some(base) = &args.base {
        let ask = verify::Ask {
            base,
            from: args.from.as_deref(),
            accepted: args.accept_contract.as_deref(),
        };
        let found = verify::judge_by(&mut workspace, ask)?;
        if found.alone && scope == VerifyScope::All {
            let found = of_contract_alone(&workspace, found)?;
            return Ok((workspace, VerifyAnswer::of("all", args.strict, found)));
        }
        compared = Some(found);
    }
    if let Some(from) = &args.from {
        verify::fetch(&mut workspace, from, args.branch.as_deref())?;
    }
    if args.rerun {
        workspace.hidden = args.hidden.as_ref().map(|dir| context.dir.join(dir));
        verify::accept_goal(&mut workspace, args.goal.as_deref())?;
    }
    let look = || look(&workspace, args, scope, id, compared);
    let guarded = context::guard(look);
    let (mut looked, written) =
        guarded.map_err(|failure| verify::blame_source(&workspace, failure))?;
    looked.findings.extend(written);
    Ok((workspace, looked))
}

/// Nothing was asked of the work: the contract alone is changed, and a person decides on it.
fn of_contract_alone(workspace: &Workspace, mut compared: Compared) -> Result<Answered, Failure> {
    let outcome = std::mem::take(&mut compared.outcome).sort();
    let standing = CommitStanding::new(workspace.repo.head()?, None, None);
    let answer = compared.words();
    Ok(Answered {
        commit: Some(standing),
        base: Some(compared),
        ..Answered::new("is this commit proven done?", &answer, outcome)
    })
}

fn look(
    workspace: &Workspace,
    args: &ProofArgs,
    scope: VerifyScope,
    id: &str,
    compared: Option<Compared>,
) -> Result<VerifyAnswer, Failure> {
    let (scope, found) = match scope {
        VerifyScope::ControlPlane => ("control-plane", verify::control_plane(workspace)?),
        VerifyScope::Stop => {
            write_down(workspace)?;
            let Outcome { checked, findings } = verify::stop(workspace)?;
            return Ok(VerifyAnswer {
                scope: "stop",
                strict: args.strict,
                checked,
                findings,
                ..VerifyAnswer::default()
            });
        }
        VerifyScope::All => ("all", verify::all(workspace, args.rerun(), args.strict)?),
        VerifyScope::Slice => ("slice", verify::slice(workspace, id, args.rerun())?),
    };
    let found = match compared {
        Some(compared) => found.with_base(compared),
        None => found,
    };
    Ok(VerifyAnswer::of(scope, args.strict, found))
}
