//! `cook resume`: leaves a stopped state.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::{input, transition};
use crate::scaffold;
use crate::service::{self, Workspace};
use clap::Args;
use cook_core::diagnostic::Failure;
use cook_core::model::{Actor, Event, Limits, Resume, WaitingKind};

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The answer to the question (`-` = standard input)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
    pub answer: Option<String>,
    /// A command that is now trusted
    #[arg(long, value_name = "COMMAND")]
    pub trust: Vec<String>,
    /// More budget: `steps=20`, `attempts=2`, `cost=5.00`
    #[arg(long, alias = "budget", value_name = "KEY=N", num_args = 1..)]
    pub add: Vec<String>,
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
    let resume = Resume {
        answer: args
            .answer
            .as_deref()
            .map(input::read_argument)
            .transpose()?,
        trust: args.trust.clone(),
        settings: false,
        budget: parse_budget(&args.add)?,
        new_wave: args.new_wave,
        review_again: args.review_again,
    };
    let (_, snapshot) = workspace.require()?;
    let waiting = snapshot.ledger.waiting.as_ref().map(|waiting| waiting.kind);
    let is_budget_alone = resume.budget.is_some()
        && resume
            == Resume {
                budget: resume.budget.clone(),
                ..Resume::default()
            };
    // More budget brings no cancelled work back.
    if is_budget_alone && waiting == Some(WaitingKind::Cancel) {
        transition::fits(&workspace, WaitingKind::Budget, "more budget")?;
    }
    let summary = match resume.answer {
        Some(_) => "answered",
        None if is_budget_alone => "budget extended",
        None => "resumed",
    };
    // Once all of the command line is known to be right.
    for command in &args.trust {
        workspace.trust()?.trust(command)?;
    }
    leave(&workspace, resume, actor, summary)
}

/// Leaves a stopped state. An answer that becomes the mission is written into
/// `mission.md` too, once it is known that the command applies.
fn leave(workspace: &Workspace, resume: Resume, actor: Actor, summary: &str) -> Answer {
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

/// `steps=20`, `attempts=2`, `cost=5.00`, `wall=2h`.
fn parse_budget(words: &[String]) -> Result<Option<Limits>, Failure> {
    if words.is_empty() {
        return Ok(None);
    }
    let mut limits = Limits::default();
    for word in words {
        let wrong = |why: &str| Failure::usage(format!("`{word}`: {why}"));
        let Some((key, value)) = word.split_once('=') else {
            return Err(wrong(
                "write KEY=N, with steps, attempts, cost or wall as KEY",
            ));
        };
        let count = || {
            value
                .parse::<u64>()
                .ok()
                .filter(|number| *number > 0 && *number <= 1_000_000)
                .ok_or_else(|| wrong("not a number from 1 to 1000000"))
        };
        match key {
            "steps" => limits.steps = Some(count()?),
            "attempts" => limits.attempts_per_slice = Some(count()?),
            "cost" => {
                let dollars: f64 = value
                    .parse()
                    .ok()
                    .filter(|dollars: &f64| {
                        dollars.is_finite() && (0.01..=1_000_000.0).contains(dollars)
                    })
                    .ok_or_else(|| wrong("not an amount from 0.01 to 1000000"))?;
                limits.cost_micro_usd = Some((dollars * 1_000_000.0).round() as u64);
            }
            "wall" => {
                humantime::parse_duration(value)
                    .map_err(|_| wrong("not a time span such as 2h"))?;
                limits.wall = Some(value.to_owned());
            }
            _ => {
                return Err(wrong(
                    "unknown budget; steps, attempts, cost and wall exist",
                ));
            }
        }
    }
    Ok(Some(limits))
}
