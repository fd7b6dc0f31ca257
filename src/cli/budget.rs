//! `cook budget`: extends budgets.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::transition;
use clap::Subcommand;
use cook_core::diagnostic::Failure;
use cook_core::model::{Event, Limits, Resume, WaitingKind};

#[derive(Debug, Subcommand)]
pub(super) enum BudgetCommand {
    /// Add to a budget: `steps=20`, `attempts=2`, `cost=5.00`
    Add {
        /// What to add
        #[arg(required = true, value_name = "KEY=N")]
        budget: Vec<String>,
        #[command(flatten)]
        as_user: AsUser,
    },
}

pub(super) fn budget(context: &Context, command: &BudgetCommand) -> Answer {
    let BudgetCommand::Add { budget, as_user } = command;
    let actor = caller::require_user(as_user.as_user)?;
    let resume = Resume {
        budget: parse_budget(budget)?,
        ..Resume::default()
    };
    let workspace = context.workspace()?;
    transition::fits(&workspace, WaitingKind::Budget, "more budget")?;
    let event = Event::Resumed(resume);
    transition::record(&workspace, &event, actor, "budget extended")
}

/// `steps=20`, `attempts=2`, `cost=5.00`, `wall=2h`.
pub(super) fn parse_budget(words: &[String]) -> Result<Option<Limits>, Failure> {
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
