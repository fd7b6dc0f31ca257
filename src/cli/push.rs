//! `cook push`: the log to a remote, beside its branch.

use super::caller;
use super::context::{Answer, Context, answer};
use super::sign::SigningArgs;
use crate::service::{self, Public, Workspace};
use crate::signature::{self, Blob, Key};
use crate::verify;
use crate::view::PushAnswer;
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::model::Event;
use cook_remote::{Plan, Restore, Side};
use cook_store::store::Signed;
use std::io::{BufRead, IsTerminal};

#[derive(Debug, Args)]
pub(super) struct PushArgs {
    /// A remote, or its address (default: `[log] remote`, else the branch's)
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Push a workflow for the first time without being asked
    #[arg(long)]
    pub yes: bool,
    /// Push what looks like a secret as it is
    #[arg(long, value_name = "ID")]
    pub allow_secret: Vec<String>,
    /// Push no commits that the log cites and the branch does not hold
    #[arg(long)]
    pub no_keep: bool,
    /// Put back a log that was taken away or set back there
    #[arg(long)]
    pub restore: bool,
    /// Say what would be pushed
    #[arg(long, conflicts_with = "sign")]
    pub dry_run: bool,
    #[command(flatten)]
    pub signing: SigningArgs,
}

pub(super) fn push(context: &Context, args: &PushArgs) -> Answer {
    let workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    if args.restore || args.signing.sign || args.no_keep || !args.allow_secret.is_empty() {
        caller::require_user_by("--yes", args.yes)?;
    }
    let key = match args.signing.sign {
        true => Some(args.signing.key(context, &workspace)?),
        false => None,
    };
    let (_, snapshot) = workspace.require()?;
    let branch = service::branch(&workspace, Some(&snapshot))?;
    let attended = caller::is_attended();
    let named = args.remote.as_deref();
    let remote = service::remote(&workspace, named, &branch, Side::Push, attended)?;
    let head = workspace.repo.head()?.commit;
    let restore = match args.restore {
        true => Restore::Yes,
        false => Restore::No,
    };
    let look = || -> Result<(Plan, Public, PushAnswer), Failure> {
        let mut plan = remote.plan(workspace.store()?, &branch, head.as_deref(), restore)?;
        if args.no_keep {
            plan.leave_out_kept();
        }
        let public = service::look_into(&workspace, &plan)?;
        service::check_secrets(&public, &args.allow_secret)?;
        let planned = PushAnswer::from_plan(remote.show(), &plan, &public.contents);
        Ok((plan, public, planned))
    };
    let (mut plan, public, mut done) = look()?;
    if args.no_keep && !args.dry_run {
        remote.note_withheld(&branch, &plan.to)?;
    }
    let is_expected = remote.is_expected(&branch)?;
    let says_so = (named.is_some() || args.yes) && caller::agent_around().is_none();
    if !args.dry_run && !is_expected && says_so {
        remote.note_allowed(&branch, &plan.to)?;
    }
    if args.dry_run || (plan.is_empty() && key.is_none()) {
        return answer(done);
    }
    let is_named = named.is_some() || is_expected || remote.is_usual(&branch)?;
    if plan.is_first() || !is_named {
        confirm(context, &done, &public, &plan, is_named, args.yes)?;
    }
    if let Some(key) = &key {
        let base = verify::find_signing_base(&workspace, &remote, &branch)?;
        let (signed_by, is_new) = vouch(&workspace, base.as_ref(), key, args.yes)?;
        (plan, _, done) = look()?;
        done.key = Some(signed_by);
        if plan.is_empty() {
            // With `sync = "each"` it stands there already.
            done.pushed = is_new;
            return answer(done);
        }
    }
    let sent = remote.send(&plan)?;
    done.pushed = true;
    done.refs = sent.refs;
    answer(done)
}

/// Puts the user's signature under what the log records: the key's fingerprint, and whether it is
/// new. One that stands there already and counts is enough.
fn vouch(
    workspace: &Workspace,
    base: Option<&String>,
    key: &Key,
    yes: bool,
) -> Result<(String, bool), Failure> {
    let actor = caller::require_user_by("--yes", yes)?;
    let store = workspace.store()?;
    let (tip, _) = workspace.require()?;
    if store.event(&tip.commit)? == Event::Signed
        && let Some(signed) = store.read_signed(&tip.commit)?
        && verify::check_signature(workspace, base, &signed).is_ok()
        && let Some(blob) = Blob::read(signed.signature.as_bytes())
    {
        return Ok((blob.fingerprint(), false));
    }
    let sign = |text: &[u8]| {
        let signed = Signed {
            payload: text.to_vec(),
            signature: signature::sign(key, text)?,
        };
        verify::check_signature(workspace, base, &signed)?;
        Ok(signed.signature)
    };
    let applied = service::sign(workspace, actor, &sign)?;
    let tip = applied.tip.map(|tip| tip.commit).unwrap_or_default();
    let signed = store.read_signed(&tip)?;
    let blob = signed.and_then(|signed| Blob::read(signed.signature.as_bytes()));
    blob.map(|blob| (blob.fingerprint(), true)).ok_or_else(|| {
        let what = "`ssh-keygen` made something that is not a signature";
        Failure::state(Code::SigningFailed, what)
    })
}

/// What was never public becomes so once, and somebody says yes to it.
fn confirm(
    context: &Context,
    planned: &PushAnswer,
    public: &Public,
    plan: &Plan,
    is_named: bool,
    yes: bool,
) -> Result<(), Failure> {
    let refuse = || refuse_unconfirmed(planned, is_named);
    caller::require_user(yes).map_err(|failure| match yes || caller::agent_around().is_some() {
        true => failure,
        false => refuse(),
    })?;
    if yes {
        return Ok(());
    }
    context.screen.note(&summarise(planned, is_named));
    for finding in public.secrets.values() {
        context
            .screen
            .note(&format!("allowed: {}", finding.message));
    }
    context
        .screen
        .note(match (plan.with_branch, plan.kept.is_empty()) {
            (true, _) => "Push the branch and its log? [y/N]",
            (false, false) => "Push these commits and the log? [y/N]",
            (false, true) => "Push the log? [y/N]",
        });
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes") && std::io::stdin().is_terminal()
    {
        true => Ok(()),
        false => Err(refuse()),
    }
}

fn refuse_unconfirmed(planned: &PushAnswer, is_named: bool) -> Failure {
    Refusal::new(Code::PushUnconfirmed, summarise(planned, is_named)).into()
}

/// What becomes public, and that it goes where only the settings of the repository say.
fn summarise(planned: &PushAnswer, is_named: bool) -> String {
    match is_named {
        true => planned.summary(),
        false => format!(
            "{}; nobody has pushed this log there from here yet, and only the settings name it",
            planned.summary()
        ),
    }
}
