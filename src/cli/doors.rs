//! The user's own commands: pause, resume, cancel, answer, refocus, criteria, budget.

use super::args::{
    AnswerArgs, BudgetArgs, BudgetCommand, CancelArgs, CriteriaArgs, CriteriaCommand, RefocusArgs,
    ResumeArgs, WhyArgs,
};
use super::record::transition_answer;
use super::{Answer, Context, answer, caller, input, queued};
use crate::scaffold;
use crate::walk::{self, Workspace};
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::model::{Actor, Event, Limits, Resume, WaitingKind};
use std::path::Path;

/// Records one event of the user's and answers with who is due.
pub(super) fn act(workspace: &Workspace, event: &Event, actor: Actor, summary: &str) -> Answer {
    workspace.require()?;
    let mut findings = match event {
        // It was made from the tip as it stands.
        Event::Undone { .. } => Vec::new(),
        _ => queued::take_in(workspace),
    };
    let applied = walk::transition(workspace, event, actor)?;
    findings.extend(applied.findings.clone());
    findings.extend(super::issue::follow(workspace, &applied.step.snapshot));
    answer(transition_answer(applied, summary.to_owned(), findings))
}

pub(super) fn pause(context: &Context, args: &WhyArgs) -> Answer {
    let why = args
        .why
        .clone()
        .unwrap_or_else(|| "paused by hand".to_owned());
    let actor = caller::pauser()?;
    act(
        &context.workspace()?,
        &Event::Paused { why },
        actor,
        "paused",
    )
}

pub(super) fn resume(context: &Context, args: &ResumeArgs) -> Answer {
    let actor = caller::user_door(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    for command in &args.trust {
        workspace.trust()?.trust(command)?;
    }
    let resume = Resume {
        answer: args.answer.clone(),
        trust: args.trust.clone(),
        settings: false,
        budget: budget_of(&args.budget)?,
        new_wave: args.new_wave,
        review_again: args.review_again,
    };
    leave(&workspace, resume, actor, "resumed")
}

/// Leaves a stopped state. An answer that becomes the mission is written into
/// `mission.md` too, once it is known that the door opens.
fn leave(workspace: &Workspace, resume: Resume, actor: Actor, summary: &str) -> Answer {
    let (_, snapshot) = workspace.require()?;
    let mission = resume
        .answer
        .clone()
        .filter(|_| snapshot.mission.is_empty());
    let event = Event::Resumed(resume);
    if let Some(mission) = mission {
        walk::dry_run(workspace, &event, actor)?;
        scaffold::write_mission(workspace.repo.root(), &mission)?;
    }
    act(workspace, &event, actor, summary)
}

pub(super) fn answer_question(context: &Context, args: &AnswerArgs) -> Answer {
    let actor = caller::user_door(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    let text = if args.text == "-" {
        input::read_text(None)?
    } else {
        args.text.clone()
    };
    fits(&workspace, WaitingKind::Question, "an answer")?;
    let resume = Resume {
        answer: Some(text),
        ..Resume::default()
    };
    leave(&workspace, resume, actor, "answered")
}

pub(super) fn cancel(context: &Context, args: &CancelArgs) -> Answer {
    let actor = caller::user_door(args.as_user.as_user)?;
    let why = args
        .why
        .clone()
        .unwrap_or_else(|| "cancelled by hand".to_owned());
    act(
        &context.workspace()?,
        &Event::Cancelled { why },
        actor,
        "cancelled; nothing was deleted",
    )
}

pub(super) fn refocus(context: &Context, args: &RefocusArgs) -> Answer {
    let actor = caller::user_door(args.as_user.as_user)?;
    let mission = mission_text(args.mission.as_deref(), args.mission_file.as_deref())?
        .ok_or_else(|| Failure::usage("the mission is missing"))?;
    let workspace = context.workspace()?;
    let event = Event::Refocused {
        mission: mission.clone(),
    };
    workspace.require()?;
    walk::dry_run(&workspace, &event, actor)?;
    scaffold::write_mission(workspace.repo.root(), &mission)?;
    act(
        &workspace,
        &event,
        actor,
        "new mission; the old plan stays in the log",
    )
}

/// The mission as given on the command line.
pub(super) fn mission_text(
    text: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<String>, Failure> {
    let mission = match (text, file) {
        (Some(text), _) => Some(text.to_owned()),
        (None, Some(file)) => Some(input::read_text(Some(file))?),
        (None, None) => None,
    };
    match mission {
        Some(text) if text.trim().is_empty() => Err(Failure::usage("the mission is empty")),
        other => Ok(other),
    }
}

pub(super) fn criteria(context: &Context, args: &CriteriaArgs) -> Answer {
    let CriteriaCommand::Amend(args) = &args.command;
    let actor = caller::user_door(args.as_user.as_user)?;
    let event = Event::CriterionAmended {
        slice_id: args.slice.clone(),
        number: args.number,
        text: args.text.clone(),
        reason: args.reason.clone(),
    };
    act(
        &context.workspace()?,
        &event,
        actor,
        "criterion amended; its evidence and reviews are void",
    )
}

pub(super) fn budget(context: &Context, args: &BudgetArgs) -> Answer {
    let BudgetCommand::Add(args) = &args.command;
    let actor = caller::user_door(args.as_user.as_user)?;
    let resume = Resume {
        budget: budget_of(&args.budget)?,
        ..Resume::default()
    };
    let workspace = context.workspace()?;
    fits(&workspace, WaitingKind::Budget, "more budget")?;
    act(
        &workspace,
        &Event::Resumed(resume),
        actor,
        "budget extended",
    )
}

/// A stopped workflow is left by the door that its state names, so that more
/// budget does not bring a cancelled one back.
fn fits(workspace: &Workspace, brought: WaitingKind, what: &str) -> Result<(), Failure> {
    let (_, snapshot) = workspace.require()?;
    match &snapshot.ledger.waiting {
        Some(waiting) if waiting.kind != brought => Err(Failure::from(
            Refusal::new(
                Code::DoorClosed,
                format!("the work does not wait for {what}: {}", waiting.what),
            )
            .hint(format!("run `{}`", waiting.exit)),
        )),
        _ => Ok(()),
    }
}

/// `steps=20`, `attempts=2`, `cost=5.00`, `wall=2h`.
fn budget_of(words: &[String]) -> Result<Option<Limits>, Failure> {
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

/// After `cook trust`: writes down that it was given, and leaves the state that waited for
/// it when nothing else is missing. None without a log, where there is nothing to write to.
pub(super) fn record_trust(
    workspace: &Workspace,
    actor: Actor,
    commands: &[String],
    settings: bool,
    mut said: Vec<String>,
) -> Result<Option<Answer>, Failure> {
    let (_, Some(before)) = workspace.current()? else {
        return Ok(None);
    };
    let resume = Resume {
        trust: commands.to_vec(),
        settings,
        ..Resume::default()
    };
    let applied = walk::transition(workspace, &Event::Resumed(resume), actor)?;
    if before.state.continuation_policy != applied.step.snapshot.state.continuation_policy {
        said.push("resumed".to_owned());
    }
    let findings = applied.findings.clone();
    Ok(Some(answer(transition_answer(
        applied,
        said.join("; "),
        findings,
    ))))
}

/// The refusal of a door that needs a log.
pub(super) fn closed(message: &str) -> Failure {
    Refusal::new(Code::DoorClosed, message).into()
}
