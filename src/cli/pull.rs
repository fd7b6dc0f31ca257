//! `cook pull`: the log from a remote, also where this clone has none yet.

use super::caller::{self, AsUser};
use super::context::{Answer, Context, answer};
use crate::service;
use crate::verify;
use crate::view::PullAnswer;
use clap::Args;
use cook_core::diagnostic::{Failure, Finding};
use cook_core::model::is_branch_name;
use cook_remote::Side;

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
