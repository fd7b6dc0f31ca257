//! `cook plan refocus`: changes the mission.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::{input, transition};
use crate::scaffold;
use crate::service;
use clap::Args;
use cook_core::diagnostic::Failure;
use cook_core::machine::CONTRACT_TEXTS;
use cook_core::model::Event;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct RefocusArgs {
    /// The whole new mission
    #[arg(long, value_name = "TEXT", required_unless_present = "mission_file", allow_hyphen_values = true, value_parser = free_text)]
    pub mission: Option<String>,
    /// Read it from a file (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "mission")]
    pub mission_file: Option<PathBuf>,
    /// Commit the new `.agent/mission.md`, and nothing else
    #[arg(long)]
    pub commit: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn refocus(context: &Context, args: &RefocusArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let mission = input::mission_text(args.mission.as_deref(), args.mission_file.as_deref())?
        .ok_or_else(|| Failure::usage("the mission is missing"))?;
    let workspace = context.workspace()?;
    let event = Event::Refocused {
        mission: mission.clone(),
    };
    workspace.require()?;
    service::dry_run(&workspace, &event, actor)?;
    scaffold::write_mission(workspace.repo.root(), &mission)?;
    let mut summary = "new mission; the old plan stays in the log".to_owned();
    if args.commit {
        let made = workspace
            .repo
            .commit_paths(&[CONTRACT_TEXTS[0]], "Change the mission")?;
        if let Some(commit) = made {
            let short = commit.get(..12).unwrap_or(&commit);
            summary.push_str(&format!("; committed as {short}"));
        }
    }
    transition::record(&workspace, &event, actor, &summary)
}
