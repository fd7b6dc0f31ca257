//! `cook pull`: the log from a remote, also where this clone has none yet.

use super::caller;
use super::caller::AsUser;
use super::context::{Answer, Context, answer};
use crate::view::{Page, Show, Tone};
use crate::{service, verify};
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Finding, count_noun};
use cook_core::machine::quote_word;
use cook_core::model::is_branch_name;
use cook_remote::{Pulled, Side};
use cook_store::store::Place;
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
    if let Some(named) = args.branch.as_ref().filter(|named| !is_branch_name(named)) {
        return Err(Failure::usage(format!(
            "`{named}` cannot be the name of a branch"
        )));
    }
    let branch = match (&args.branch, workspace.repo.head()?.branch) {
        (Some(named), None) => named.clone(),
        (Some(named), Some(here)) if *named != here => {
            return Err(Failure::usage(format!(
                "`--branch` names `{named}`, and `{here}` is checked out"
            )));
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
        true => remote.accept(store, &branch)?,
        false => remote.pull(store, &branch, args.keep_mine)?,
    };
    let is_theirs = pulled.ahead_of.is_none();
    let mut told = PullAnswer::of(
        &workspace.place(),
        remote.show(),
        branch.clone(),
        pulled,
        head.as_deref(),
    );
    if is_theirs {
        // A fresh clone has a log by now. It is taken in, whatever comes of looking at it.
        let looked = context.workspace();
        let looked = looked.and_then(|now| verify::tell_signer(&now, &remote, &branch));
        match looked {
            Ok((signer, unsigned)) => {
                told.signer = signer;
                told.findings.extend(unsigned);
            }
            Err(failure) => told.findings.push(Finding::new(
                failure.code,
                format!(
                    "it is pulled, and who signed it cannot be read: {}",
                    failure.message
                ),
            )),
        }
        let brought = context.workspace();
        let brought = brought.and_then(|now| verify::bring_files(now, &remote, &branch));
        if let Err(failure) = brought {
            let what = format!(
                "it is pulled, and files that it rests on could not be fetched: {}",
                failure.message
            );
            told.findings.push(Finding::new(failure.code, what));
        }
    }
    answer(told)
}

/// What a pull took in.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PullAnswer {
    /// Its name or address.
    pub remote: String,
    /// Whose log it is.
    pub branch: String,
    /// The log's newest transition, by its commit.
    pub operation: String,
    /// Its number.
    pub seq: u64,
    /// Transitions that are new here.
    pub transitions: u64,
    /// There was no log here before.
    pub is_fresh: bool,
    /// The ref of the log that keeps transitions which the remote lacks; null where there are none.
    pub set_aside: Option<String>,
    /// Who signed the newest transition, of those whom the base branch lists; null where nobody did, or
    /// nobody is listed.
    pub signer: Option<String>,
    pub findings: Vec<Finding>,
}

impl PullAnswer {
    pub(crate) fn of(
        place: &Place,
        remote: String,
        branch: String,
        pulled: Pulled,
        head: Option<&str>,
    ) -> Self {
        let mut findings = pulled.findings;
        let set_aside = pulled.set_aside.map(|aside| {
            let log = quote_word(&place.log_dir().display().to_string());
            findings.push(Finding::new(
                Code::TransitionsSetAside,
                format!(
                    "{} of this clone that `{remote}` lacks are kept: `git --git-dir={log} log {}`",
                    count_noun(aside.transitions, "transition"),
                    aside.name
                ),
            ));
            aside.name
        });
        let (from, of) = (shell_words::quote(&remote), shell_words::quote(&branch));
        if let Some(there) = pulled.branch.filter(|there| Some(there.as_str()) != head) {
            findings.push(Finding::new(
                Code::BranchElsewhere,
                format!(
                    "branch `{branch}` of `{remote}` stands at {}, and HEAD does not: `git pull --no-rebase {from} {of}`, or `cook push`; where it was rewritten there and nothing here is yours: `git fetch {from} {of}`, then `git reset --keep FETCH_HEAD`",
                    there.get(..12).unwrap_or(&there),
                ),
            ));
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
        if self.transitions == 0 && self.set_aside.is_none() {
            page.line(&format!(
                "the log of `{}` is up to date with `{}` (#{})",
                self.branch, self.remote, self.seq
            ));
            return;
        }
        page.add_toned(Tone::Good, &format!("pulled #{}", self.seq));
        page.line(&format!(
            "  {} from `{}` for branch `{}`",
            count_noun(self.transitions, "transition"),
            self.remote,
            self.branch
        ));
        if self.is_fresh {
            page.line("  this clone has the log now: `cook status` shows where the work stands");
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
