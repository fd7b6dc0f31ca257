//! `cook push`: the log to a remote, beside its branch.

use super::caller;
use super::context::{Answer, Context, answer};
use crate::service::{Public, Workspace};
use crate::signature::{Blob, Key, signing_key};
use crate::view::{Page, Show, Tone};
use crate::{service, signature, verify};
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Refusal, count_noun};
use cook_core::model::Event;
use cook_remote::{Mark, Plan, Restore, Side};
use cook_store::store::{Contents, Signed};
use serde::Serialize;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

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
        remote.note(Mark::Withheld, &branch, &plan.to)?;
    }
    let is_expected = remote.is_expected(&branch)?;
    let says_so = (named.is_some() || args.yes) && caller::agent_around().is_none();
    if !args.dry_run && !is_expected && says_so {
        remote.note(Mark::Allowed, &branch, &plan.to)?;
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

#[derive(Debug, Args)]
pub(super) struct SigningArgs {
    /// Sign with an SSH key of yours: `cook.signingkey`, else `user.signingkey`, of git's settings (user only)
    #[arg(long)]
    pub sign: bool,
    /// The key that signs: its file, or the public half of one that `ssh-agent` holds
    #[arg(long, value_name = "FILE", requires = "sign")]
    pub key: Option<PathBuf>,
}

impl SigningArgs {
    /// # Errors
    /// `signing_format`, `signing_key_missing`.
    pub fn key(&self, context: &Context, workspace: &Workspace) -> Result<Key, Failure> {
        signing_key(&workspace.repo, self.key.as_deref(), &context.dir)
    }
}

/// What a push did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PushAnswer {
    /// Its name or address.
    pub remote: String,
    /// False for a dry run, and where the remote has everything already.
    pub pushed: bool,
    /// The log's newest transition, by its commit.
    pub operation: String,
    /// Full names of the refs that moved there.
    pub refs: Vec<String>,
    /// The branch was pushed too. Where neither it nor other commits are, the repository's `pre-push`
    /// hook does not run.
    pub with_branch: bool,
    /// Commits that leave beside the branch: the log cites them, and the branch does not hold them.
    pub kept_commits: u64,
    /// The same that stay here (`--no-keep`): what rests on them alone nobody elsewhere can verify.
    pub withheld_commits: u64,
    /// Transitions that become public.
    pub transitions: u64,
    /// Bytes of their files, before compression.
    pub bytes: u64,
    /// Exchanges with agents among them.
    pub exchanges: u64,
    /// Messages of the user among them.
    pub messages: u64,
    /// Fingerprint of the key that signed the log's newest transition (`--sign`).
    pub key: Option<String>,
}

impl PushAnswer {
    pub(crate) fn from_plan(remote: String, plan: &Plan, contents: &Contents) -> Self {
        Self {
            remote,
            pushed: false,
            operation: plan.to.clone(),
            refs: Vec::new(),
            with_branch: plan.with_branch,
            kept_commits: plan.kept.commits.len() as u64,
            withheld_commits: plan.withheld,
            transitions: contents.transitions,
            bytes: contents.bytes,
            exchanges: contents.exchanges,
            messages: contents.messages,
            key: None,
        }
    }

    /// What becomes public, in a line.
    pub(crate) fn summary(&self) -> String {
        format!(
            "a push to `{}` makes public: {}, {}, {} with agents, {} of the user{}{}",
            self.remote,
            count_noun(self.transitions, "transition"),
            count_noun(self.bytes, "byte"),
            count_noun(self.exchanges, "exchange"),
            count_noun(self.messages, "message"),
            match self.with_branch {
                true => ", and the branch",
                false => "",
            },
            self.tell_kept()
                .map_or_else(String::new, |kept| format!(", and {kept}"))
        )
    }
}

impl PushAnswer {
    /// What leaves beside the branch, which nobody sees among its commits.
    fn tell_kept(&self) -> Option<String> {
        (self.kept_commits > 0).then(|| {
            format!(
                "{} that the log cites and the branch does not hold",
                count_noun(self.kept_commits, "commit")
            )
        })
    }
}

impl Show for PushAnswer {
    fn human(&self, page: &mut Page) {
        if let Some(key) = &self.key {
            page.row("signed by", key);
        }
        if !self.pushed
            && self.transitions == 0
            && self.refs.is_empty()
            && !self.with_branch
            && self.kept_commits == 0
        {
            page.line(&format!("`{}` has everything already", self.remote));
            return;
        }
        match self.pushed {
            true => page.add_toned(Tone::Good, "pushed"),
            false => page.add_toned(Tone::Warn, "not pushed (dry run)"),
        }
        page.line(&format!(
            "  {}: {}, {} ({}, {})",
            self.remote,
            count_noun(self.transitions, "transition"),
            count_noun(self.bytes, "byte"),
            count_noun(self.exchanges, "exchange"),
            count_noun(self.messages, "message")
        ));
        if let Some(kept) = self.tell_kept() {
            page.line(&format!("  {kept}"));
        }
        for name in &self.refs {
            page.line(&format!("  {name}"));
        }
        if self.withheld_commits > 0 {
            page.line(&format!(
                "  {} that the log cites and the branch does not hold: kept here, and what rests on them alone nobody elsewhere can verify; `cook push` without `--no-keep` sends them",
                count_noun(self.withheld_commits, "commit")
            ));
        }
        if self.pushed && !self.with_branch && self.kept_commits == 0 {
            page.line("  the log alone: the repository's `pre-push` hook was not run");
        }
    }
}
