//! `cook push` and `cook pull`: send the log to a git remote, beside its branch, and fetch it from one.

use super::context::*;
use crate::service::Public;
use crate::signature::{self, Blob, Key, signing_key};
use crate::verify;
use cook_protocol::model::is_branch_name;
use cook_repo::remote::{Manner, Mark, Plan, Pulled, Restore, Side};
use cook_repo::store::{Contents, Place, Signed};

#[derive(Debug, Args)]
pub(super) struct PushArgs {
    /// Name or address of the remote [default: from `cook.toml`, else the remote of the branch]
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Do not ask before the first push of a workflow, and let a script use the user-only options
    #[arg(long)]
    pub yes: bool,
    /// Push this text although it looks like a secret; the refusal prints the ID (user only, can be repeated)
    #[arg(long, value_name = "ID")]
    pub allow_secret: Vec<String>,
    /// Do not push commits that the log cites but the branch does not contain (user only)
    #[arg(long)]
    pub no_keep: bool,
    /// Restore a log that was removed or set back on the remote (user only)
    #[arg(long)]
    pub restore: bool,
    /// Show what would be pushed, but push nothing
    #[arg(long, conflicts_with = "sign")]
    pub dry_run: bool,
    #[command(flatten)]
    pub signing: SigningArgs,
}

pub(super) fn push(context: &Context, args: &PushArgs) -> Answer {
    let workspace = context.workspace()?;
    context::not_apart(&workspace)?;
    if args.restore || args.signing.sign || args.no_keep || !args.allow_secret.is_empty() {
        context::require_user_by("--yes", args.yes)?;
    }
    let signing = &args.signing;
    let key = signing.sign.then(|| signing.key(context, &workspace));
    let key = key.transpose()?;
    let (_, snapshot) = workspace.require()?;
    let branch = service::branch(&workspace, Some(&snapshot))?;
    let attended = context::is_attended();
    let named = args.remote.as_deref();
    let remote = service::remote(&workspace, named, &branch, Side::Push, attended)?;
    let head = workspace.repo.head()?.commit;
    let restore = if args.restore {
        Restore::Yes
    } else {
        Restore::No
    };
    let look = || -> Result<(Plan, Public, PushAnswer)> {
        let mut plan = remote.plan(workspace.store()?, &branch, head.as_deref(), restore)?;
        if args.no_keep {
            plan.leave_out_kept();
        }
        let public = service::look_into(&workspace, &plan)?;
        service::check_secrets(&public, &args.allow_secret)?;
        let planned = PushAnswer::new(remote.show(), &plan, &public.contents);
        Ok((plan, public, planned))
    };
    let (mut plan, public, mut done) = look()?;
    if args.no_keep && !args.dry_run {
        remote.note(Mark::Withheld, &branch, &plan.to)?;
    }
    let is_expected = remote.is_expected(&branch)?;
    let says_so = (named.is_some() || args.yes) && context::agent_around().is_none();
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
            // With `sync = "each"` the signature was already pushed when it was recorded.
            done.pushed = is_new;
            return answer(done);
        }
    }
    let sent = remote.send(&plan)?;
    done.pushed = true;
    done.refs = sent.refs;
    answer(done)
}

/// Signs the log's content with the user's key, unless a valid signature is already there. Returns the key's
/// fingerprint and whether the signature is new.
fn vouch(
    workspace: &Workspace,
    base: Option<&String>,
    key: &Key,
    yes: bool,
) -> Result<(String, bool)> {
    let actor = context::require_user_by("--yes", yes)?;
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

/// Asks the user before a log becomes public for the first time.
fn confirm(
    context: &Context,
    planned: &PushAnswer,
    public: &Public,
    plan: &Plan,
    is_named: bool,
    yes: bool,
) -> Result<()> {
    let mut summary = planned.summary();
    if !is_named {
        summary.push_str(
            "; this clone has not pushed its log there before, and only the settings name this remote",
        );
    }
    let refused = || Failure::from(Refusal::new(Code::PushUnconfirmed, summary.clone()));
    context::require_user(yes).map_err(|failure| {
        match yes || context::agent_around().is_some() {
            true => failure,
            false => refused(),
        }
    })?;
    if yes {
        return Ok(());
    }
    let allowed = public.secrets.values();
    let allowed = allowed.map(|finding| format!("\nallowed: {}", finding.message));
    let what = match (plan.with_branch, plan.kept.is_empty()) {
        (true, _) => "the branch and its log",
        (false, false) => "these commits and the log",
        (false, true) => "the log",
    };
    let allowed: String = allowed.collect();
    let question = format!("{summary}{allowed}\nPush {what}? [y/N]");
    match context.screen.agrees(&question) {
        true => Ok(()),
        false => Err(refused()),
    }
}

#[derive(Debug, Args)]
pub(super) struct SigningArgs {
    /// Sign with your SSH key: --key, else git's `cook.signingkey`, else its `user.signingkey` (user only)
    #[arg(long)]
    pub sign: bool,
    /// With --sign, use the key in this file, or the key in `ssh-agent` whose public half this is
    #[arg(long, value_name = "FILE", requires = "sign")]
    pub key: Option<PathBuf>,
}

impl SigningArgs {
    /// # Errors
    /// `signing_format`, `signing_key_missing`.
    pub fn key(&self, context: &Context, workspace: &Workspace) -> Result<Key> {
        signing_key(&workspace.repo, self.key.as_deref(), &context.dir)
    }
}

/// The result of a push; for a dry run, the expected result.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct PushAnswer {
    /// Name or address of the remote.
    remote: String,
    /// Whether anything was pushed: false for a dry run, or if the remote has everything.
    pushed: bool,
    /// Commit of the newest transition in the log.
    operation: String,
    /// Full names of the refs that moved on the remote.
    refs: Vec<String>,
    /// Whether the branch was pushed too. If neither it nor other commits were, the repository's `pre-push`
    /// hook did not run.
    with_branch: bool,
    /// Number of pushed commits that the log cites but the branch does not contain.
    kept_commits: u64,
    /// Number of such commits that were not pushed (`--no-keep`); others cannot verify proof that rests on them alone.
    withheld_commits: u64,
    /// Number of transitions that the remote did not have.
    transitions: u64,
    /// Size of the files of these transitions in bytes, before compression.
    bytes: u64,
    /// Number of exchanges with agents in these transitions.
    exchanges: u64,
    /// Number of messages of the user in these transitions.
    messages: u64,
    /// Fingerprint of the key that signed the log's newest transition (`--sign`); null without a signature.
    key: Option<String>,
}

impl PushAnswer {
    fn new(remote: String, plan: &Plan, contents: &Contents) -> Self {
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

    /// The numbers of transitions, bytes, exchanges and messages, with their nouns.
    fn count(&self) -> [String; 4] {
        [
            count_noun(self.transitions, "transition"),
            count_noun(self.bytes, "byte"),
            count_noun(self.exchanges, "exchange"),
            count_noun(self.messages, "message"),
        ]
    }

    /// What the push makes public, on one line.
    fn summary(&self) -> String {
        let [transitions, bytes, exchanges, messages] = self.count();
        let mut text = format!(
            "a push to `{}` makes public: {transitions}, {bytes}, {exchanges} with agents, {messages} of the user",
            self.remote
        );
        if self.with_branch {
            text.push_str(", and the branch");
        }
        if let Some(kept) = self.tell_kept() {
            text.push_str(&format!(", and {kept}"));
        }
        text
    }

    /// Names pushed commits that are not part of the branch, and that a reader would not expect.
    fn tell_kept(&self) -> Option<String> {
        let commits = count_noun(self.kept_commits, "commit");
        let text = format!("{commits} that the log cites and the branch does not hold");
        (self.kept_commits > 0).then_some(text)
    }
}

impl Show for PushAnswer {
    fn human(&self, page: &mut Page) {
        page.row_of("signed by", self.key.as_ref());
        let is_alone = !self.with_branch && self.kept_commits == 0;
        if !self.pushed && self.transitions == 0 && self.refs.is_empty() && is_alone {
            page.line(&format!("`{}` has everything already", self.remote));
            return;
        }
        match self.pushed {
            true => page.add_toned(Tone::Good, "pushed"),
            false => page.add_toned(Tone::Warn, "not pushed (dry run)"),
        }
        let [transitions, bytes, exchanges, messages] = self.count();
        let remote = &self.remote;
        page.line(&format!(
            "  {remote}: {transitions}, {bytes} ({exchanges}, {messages})"
        ));
        if let Some(kept) = self.tell_kept() {
            page.line(&format!("  {kept}"));
        }
        page.list("  ", &self.refs);
        if self.withheld_commits > 0 {
            let commits = count_noun(self.withheld_commits, "commit");
            page.line(&format!("  {commits} that the log cites and the branch does not contain stay here, so proofs that rest on them cannot be verified elsewhere; `cook push` without `--no-keep` sends them"));
        }
        if self.pushed && is_alone {
            page.line("  only the log was pushed: the repository's `pre-push` hook did not run");
        }
    }
}

// `cook pull`: fetches the log from a remote, even if this clone has none yet.

#[derive(Debug, Args)]
pub(super) struct PullArgs {
    /// Name or address of the remote [default: from `cook.toml`, else the remote of the branch]
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Change nothing if both logs have transitions that the other lacks
    #[arg(long)]
    pub keep_mine: bool,
    /// Take the remote's log even if it was set back or replaced since this clone last saw it (user only)
    #[arg(long, conflicts_with = "keep_mine")]
    pub accept: bool,
    #[command(flatten)]
    pub as_user: AsUser,
    /// Pull the log of this branch, if no branch is checked out
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
}

pub(super) fn pull(context: &Context, args: &PullArgs) -> Answer {
    let workspace = context.workspace()?;
    context::not_apart(&workspace)?;
    if args.accept {
        context::require_user(args.as_user.as_user)?;
    }
    let (_, snapshot) = workspace.current()?;
    let branch = match (&args.branch, workspace.repo.head()?.branch) {
        (Some(named), _) if !is_branch_name(named) => {
            let what = format!("`{named}` cannot be the name of a branch");
            return Err(Failure::usage(what));
        }
        (Some(named), None) => named.clone(),
        (Some(named), Some(here)) if *named != here => {
            let what = format!("`--branch` names `{named}`, and `{here}` is checked out");
            return Err(Failure::usage(what));
        }
        _ => service::branch(&workspace, snapshot.as_ref())?,
    };
    let store = workspace.store.as_ref();
    // Prevents other recording while the log is replaced.
    let _lease = store.map(|store| store.lease("pull")).transpose()?;
    let named = args.remote.as_deref();
    let attended = context::is_attended();
    let remote = service::remote(&workspace, named, &branch, Side::Fetch, attended)?;
    let head = workspace.repo.head()?.commit;
    let pulled = match args.accept {
        true => remote.pull(store, &branch, Manner::Accept)?,
        false if args.keep_mine => remote.pull(store, &branch, Manner::KeepMine)?,
        false => remote.pull(store, &branch, Manner::Usual)?,
    };
    let is_theirs = pulled.ahead_of.is_none();
    let (from, of, head) = (remote.show(), branch.clone(), head.as_deref());
    let mut done = PullAnswer::new(&workspace.place(), from, of, pulled, head);
    if !is_theirs {
        return answer(done);
    }
    // A fresh clone has a log now. The log stays even if the checks below fail.
    let looked = context.workspace();
    match looked.and_then(|now| verify::tell_signer(&now, &remote, &branch)) {
        Ok((signer, unsigned)) => {
            done.signer = signer;
            done.findings.extend(unsigned);
        }
        Err(failure) => done.miss("who signed it cannot be read", failure),
    }
    let brought = context.workspace();
    if let Err(failure) = brought.and_then(|now| verify::bring_files(now, &remote, &branch)) {
        done.miss("files that it rests on could not be fetched", failure);
    }
    answer(done)
}

/// The result of a pull.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct PullAnswer {
    /// Name or address of the remote.
    remote: String,
    /// Branch of the log.
    branch: String,
    /// Commit of the newest transition in the log.
    operation: String,
    /// Number of the newest transition in the log.
    seq: u64,
    /// Number of transitions that this clone did not have.
    transitions: u64,
    /// Whether this clone had no log before.
    is_fresh: bool,
    /// Ref in the log that keeps transitions which the remote lacks; null if there are none.
    set_aside: Option<String>,
    /// Signer of the newest transition, if the base branch lists them; null otherwise.
    signer: Option<String>,
    findings: Vec<Finding>,
}

impl PullAnswer {
    fn miss(&mut self, what: &str, failure: Failure) {
        let what = format!("it is pulled, and {what}: {}", failure.message);
        self.findings.push(Finding::new(failure.code, what));
    }

    fn new(
        place: &Place,
        remote: String,
        branch: String,
        pulled: Pulled,
        head: Option<&str>,
    ) -> Self {
        let mut findings = pulled.findings;
        let set_aside = pulled.set_aside.map(|aside| {
            let log = quote_word(&place.log_dir().display().to_string());
            let transitions = count_noun(aside.transitions, "transition");
            let name = &aside.name;
            let what = format!("{transitions} of this clone that `{remote}` lacks are kept: `git --git-dir={log} log {name}`");
            findings.push(Finding::new(Code::TransitionsSetAside, what));
            aside.name
        });
        let (from, of) = (shell_words::quote(&remote), shell_words::quote(&branch));
        if let Some(there) = pulled.branch.filter(|there| Some(there.as_str()) != head) {
            let what = format!(
                "branch `{branch}` of `{remote}` is at {there:.12}, and HEAD is elsewhere: run `git pull --no-rebase {from} {of}`, or `cook push`; if the branch was rewritten there and you do not need the commits here: `git fetch {from} {of}`, then `git reset --keep FETCH_HEAD`"
            );
            findings.push(Finding::new(Code::BranchElsewhere, what));
        }
        Self {
            remote,
            branch,
            operation: pulled.tip.commit,
            seq: pulled.tip.seq,
            transitions: pulled.transitions,
            is_fresh: pulled.is_fresh,
            set_aside,
            signer: None,
            findings,
        }
    }
}

impl Show for PullAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        page.row_of("signed by", self.signer.as_ref());
        let (branch, remote, seq) = (&self.branch, &self.remote, self.seq);
        if self.transitions == 0 && self.set_aside.is_none() {
            let text = format!("the log of `{branch}` is up to date with `{remote}` (#{seq})");
            page.line(&text);
            return;
        }
        page.add_toned(Tone::Good, &format!("pulled #{seq}"));
        let transitions = count_noun(self.transitions, "transition");
        page.line(&format!(
            "  {transitions} from `{remote}` for branch `{branch}`"
        ));
        if self.is_fresh {
            page.line("  this clone has the log now: `cook status` shows where the work stands");
        }
    }
}
