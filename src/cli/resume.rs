//! `cook resume`: leaves a stopped state.

use super::budget::parse_budget;
use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::transition;
use crate::scaffold;
use crate::service::{self, Workspace};
use clap::Args;
use cook_core::model::{Actor, Event, Resume};

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The answer to the question
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
    pub answer: Option<String>,
    /// A command that is now trusted
    #[arg(long, value_name = "COMMAND")]
    pub trust: Vec<String>,
    /// More budget: `steps=20`, `attempts=2`, `cost=5.00`
    #[arg(long, value_name = "KEY=N")]
    pub budget: Vec<String>,
    /// Ask the judges again
    #[arg(long)]
    pub new_wave: bool,
    /// Void the review of the slice in work
    #[arg(long)]
    pub review_again: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn resume(context: &Context, args: &ResumeArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    for command in &args.trust {
        workspace.trust()?.trust(command)?;
    }
    let resume = Resume {
        answer: args.answer.clone(),
        trust: args.trust.clone(),
        settings: false,
        budget: parse_budget(&args.budget)?,
        new_wave: args.new_wave,
        review_again: args.review_again,
    };
    leave(&workspace, resume, actor, "resumed")
}

/// Leaves a stopped state. An answer that becomes the mission is written into
/// `mission.md` too, once it is known that the command applies.
pub(super) fn leave(workspace: &Workspace, resume: Resume, actor: Actor, summary: &str) -> Answer {
    let (_, snapshot) = workspace.require()?;
    let mission = resume
        .answer
        .clone()
        .filter(|_| snapshot.mission.is_empty());
    let event = Event::Resumed(resume);
    if let Some(mission) = mission {
        service::dry_run(workspace, &event, actor)?;
        scaffold::write_mission(workspace.repo.root(), &mission)?;
    }
    transition::record(workspace, &event, actor, summary)
}
