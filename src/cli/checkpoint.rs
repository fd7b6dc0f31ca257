//! `cook brief checkpoint`: keeps a line about what was done and what comes next.

use super::brief_change::{self, BriefAuthorArgs};
use super::context::{Answer, Context, answer};
use super::input::free_text;
use super::recover::find_torn_line;
use super::{input, queued};
use crate::lifecycle;
use crate::service;
use crate::view::CheckpointAnswer;
use clap::Args;
use cook_core::diagnostic::Finding;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// What was done, what comes next (`-` = standard input)
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub text: String,
    /// Take this artifact in as the whole next brief first; when it is refused, nothing is kept
    #[arg(long, value_name = "FILE")]
    pub brief: Option<PathBuf>,
}

pub(super) fn checkpoint(context: &Context, args: &CheckpointArgs) -> Answer {
    let text = input::read_argument(&args.text)?;
    if let Some(file) = &args.brief {
        brief_change::import(context, Some(file), None, &BriefAuthorArgs::default())?;
    }
    let workspace = context.workspace()?;
    let mut findings = queued::take_in(&workspace);
    let (entry, behind) = match lifecycle::checkpoint(&workspace, &text) {
        Ok(kept) => kept,
        Err(failure) => {
            let request = service::Asked::Checkpoint { text, item: None };
            return queued::or_leave(&workspace, failure, request);
        }
    };
    findings.extend(behind);
    if workspace.store.is_some()
        && let Err(failure) = service::follow_brief(&workspace)
    {
        findings.push(Finding::new(failure.code, failure.message));
    }
    findings.extend(find_torn_line(&workspace)?);
    answer(CheckpointAnswer { entry, findings })
}
