//! `cook pull`: the log from a remote, also where this clone has none yet.

use super::caller;
use super::caller::AsUser;
use super::context::{Answer, Context, answer};
use crate::view::{Page, Show, Tone};
use crate::{service, verify};
use clap::Args;
use cook_protocol::diagnostic::{Code, Failure, Finding, count_noun};
use cook_protocol::machine::quote_word;
use cook_protocol::model::is_branch_name;
use cook_repo::remote::{Manner, Pulled, Side};
use cook_repo::store::Place;
use serde::Serialize;

#[derive(Debug, Args)]
pub(super) struct PullArgs {
    /// A remote, or its address (default: `[log] remote`, else the branch's)
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Do nothing where both sides have transitions that the other lacks
    #[arg(long)]
    pub keep_mine: bool,
    /// Take the log there as it is, also where it was set back or is another one than this clone has seen
    #[arg(long, conflicts_with = "keep_mine")]
    pub accept: bool,
    #[command(flatten)]
    pub as_user: AsUser,
    /// Whose log, where no branch is checked out
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
}

pub(super) fn pull(context: &Context, args: &PullArgs) -> Answer {
    let workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    if args.accept {
        caller::require_user(args.as_user.as_user)?;
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
    // Nobody records while another log takes this one's place.
    let _lease = store.map(|store| store.lease("pull")).transpose()?;
    let named = args.remote.as_deref();
    let attended = caller::is_attended();
    let remote = service::remote(&workspace, named, &branch, Side::Fetch, attended)?;
    let head = workspace.repo.head()?.commit;
    let pulled = match args.accept {
        true => remote.pull(store, &branch, Manner::Accept)?,
        false if args.keep_mine => remote.pull(store, &branch, Manner::KeepMine)?,
        false => remote.pull(store, &branch, Manner::Usual)?,
    };
    let is_theirs = pulled.ahead_of.is_none();
    let mut done = PullAnswer::new(
        &workspace.place(),
        remote.show(),
        branch.clone(),
        pulled,
        head.as_deref(),
    );
    if !is_theirs {
        return answer(done);
    }
    // A fresh clone has a log by now. It is taken in, whatever comes of looking at it.
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

/// What a pull took in.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct PullAnswer {
    /// Its name or address.
    remote: String,
    /// Whose log it is.
    branch: String,
    /// The log's newest transition, by its commit.
    operation: String,
    /// Its number.
    seq: u64,
    /// Transitions that are new here.
    transitions: u64,
    /// There was no log here before.
    is_fresh: bool,
    /// The ref of the log that keeps transitions which the remote lacks; null where there are none.
    set_aside: Option<String>,
    /// Who signed the newest transition, of those whom the base branch lists; null where nobody did, or
    /// nobody is listed.
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
                "branch `{branch}` of `{remote}` stands at {there:.12}, and HEAD does not: `git pull --no-rebase {from} {of}`, or `cook push`; where it was rewritten there and nothing here is yours: `git fetch {from} {of}`, then `git reset --keep FETCH_HEAD`"
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
        if let Some(who) = &self.signer {
            page.row("signed by", who);
        }
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

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
