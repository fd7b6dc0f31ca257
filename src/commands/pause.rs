//! `cook pause`, `resume`, `cancel` and `undo`: stop the work, continue it, end it, and take back transitions.

use super::context::*;
use super::recorded;
use crate::init;
use cook_protocol::machine::CONTRACT_TEXTS;
use cook_protocol::model::{CANCELLED_BY_HAND, Limits, PAUSED_BY_HAND, Resume, WaitingKind};

const UNHEARD: &str = "paused; your reason is not binding, because it came neither from a person at a terminal nor with `--as-user`";

#[derive(Debug, Default, Args)]
pub(super) struct PauseArgs {
    /// Reason for the pause
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub why: Option<String>,
    #[command(flatten)]
    pub by: AsUser,
}

pub(super) fn pause(context: &Context, args: &PauseArgs) -> Answer {
    let why = args.why.clone();
    let why = why.unwrap_or_else(|| PAUSED_BY_HAND.to_owned());
    let actor = context::find_pauser(args.by.as_user)?;
    // The caller may not be a person, so the text is recorded as a reason only.
    let summary = match (actor, &args.why) {
        (Actor::Role, Some(_)) => UNHEARD,
        _ => "paused",
    };
    let event = Event::Paused { why };
    recorded::record(&context.workspace()?, &event, actor, summary)
}

// `cook resume`: continues stopped work.

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// Answer the question that the work waits for (`-` reads standard input)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
    pub answer: Option<String>,
    /// Trust this command from now on (can be repeated)
    #[arg(long, value_name = "COMMAND")]
    pub trust: Vec<String>,
    /// Add budget: `steps=20`, `attempts=2` or `cost=5.00` (US dollars)
    #[arg(long, alias = "budget", value_name = "KEY=N", num_args = 1..)]
    pub add: Vec<String>,
    /// Ask the judges again, in a new stop wave
    #[arg(long)]
    pub new_wave: bool,
    /// Discard the review of the slice in work, and have it reviewed again
    #[arg(long)]
    pub review_again: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn resume(context: &Context, args: &ResumeArgs) -> Answer {
    let actor = context::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    let text = args.answer.as_deref();
    let resume = Resume {
        answer: text.map(input::read_argument).transpose()?,
        trust: args.trust.clone(),
        settings: false,
        budget: parse_budget(&args.add)?,
        new_wave: args.new_wave,
        review_again: args.review_again,
    };
    let (_, snapshot) = workspace.require()?;
    let budget_alone = Resume {
        budget: resume.budget.clone(),
        ..Resume::default()
    };
    let is_budget_alone = resume.budget.is_some() && resume == budget_alone;
    // Only the command that the state names resumes a cancelled workflow; more budget does not.
    if let Some(waiting) = &snapshot.ledger.waiting
        && is_budget_alone
        && waiting.kind == WaitingKind::Cancel
    {
        let what = format!("the work does not wait for more budget: {}", waiting.what);
        let hint = format!("run `{}`", waiting.exit);
        return Err(Refusal::new(Code::DoesNotApply, what).hint(hint).into());
    }
    let summary = match resume.answer {
        Some(_) => "answered",
        None if is_budget_alone => "budget extended",
        None => "resumed",
    };
    // All arguments are known to be valid here.
    for command in &args.trust {
        workspace.trust()?.trust(command)?;
    }
    // An answer that becomes the mission is also written to `mission.md`, after a dry run has shown that the event
    // applies.
    let mission = resume.answer.clone();
    let mission = mission.filter(|_| snapshot.mission.is_empty());
    let event = Event::Resumed(resume);
    if let Some(mission) = mission {
        service::dry_run(&workspace, &event, actor)?;
        init::write_mission(workspace.repo.root(), &mission)?;
    }
    recorded::record(&workspace, &event, actor, summary)
}

/// Parses `steps=20`, `attempts=2` and `cost=5.00`.
fn parse_budget(words: &[String]) -> Result<Option<Limits>> {
    if words.is_empty() {
        return Ok(None);
    }
    let mut limits = Limits::default();
    for word in words {
        let wrong = |why: &str| Failure::usage(format!("`{word}`: {why}"));
        let Some((key, value)) = word.split_once('=') else {
            let how = "write KEY=N, with steps, attempts or cost as KEY";
            return Err(wrong(how));
        };
        let count = || match value.parse::<u64>() {
            Ok(number @ 1..=1_000_000) => Ok(Some(number)),
            _ => Err(wrong("not a number from 1 to 1000000")),
        };
        match key {
            "steps" => limits.steps = count()?,
            "attempts" => limits.attempts_per_slice = count()?,
            "cost" => match value.parse::<f64>() {
                Ok(dollars @ 0.01..=1_000_000.0) => {
                    limits.cost_micro_usd = Some((dollars * 1_000_000.0).round() as u64);
                }
                _ => return Err(wrong("not an amount from 0.01 to 1000000")),
            },
            "wall" => {
                let anew = "each run has the whole time of `[limits] wall`, so none can be added";
                return Err(wrong(anew).replace_hints(["run `cook run` again"]));
            }
            _ => {
                let known = "unknown budget; the budgets are steps, attempts and cost";
                return Err(wrong(known));
            }
        }
    }
    Ok(Some(limits))
}

// `cook cancel`: ends the workflow.

#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// Reason for the cancellation
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub why: Option<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn cancel(context: &Context, args: &CancelArgs) -> Answer {
    let actor = context::require_user(args.as_user.as_user)?;
    let why = args.why.clone();
    let why = why.unwrap_or_else(|| CANCELLED_BY_HAND.to_owned());
    let done = "cancelled; nothing was deleted";
    let event = Event::Cancelled { why };
    recorded::record(&context.workspace()?, &event, actor, done)
}

// `cook undo`: takes back transitions for the user.

#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    /// Return to the state after this transition; `@-` undoes the newest one
    #[arg(default_value = "@-")]
    pub operation: String,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn undo(context: &Context, args: &UndoArgs) -> Answer {
    let actor = context::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    workspace.require()?;
    let store = workspace.store()?;
    let target = store.entry(&args.operation)?;
    let mut undone = Vec::new();
    let mut operations = Vec::new();
    for meta in store.entries()? {
        let meta = meta?;
        if meta.seq <= target.seq {
            break;
        }
        undone.push(meta.seq);
        operations.push(meta.commit);
    }
    if operations.is_empty() {
        let what = "that is the newest transition; nothing comes after it";
        return Err(Refusal::new(Code::UndoTooFar, what).into());
    }
    let later = later_commits(&workspace, target.snapshot.ledger.head_seen.as_deref())?;
    let taken = count_noun(operations.len(), "transition");
    let summary = format!("{taken} undone, back to #{}{later}", target.seq);
    let event = Event::Undone {
        to: Box::new(target.snapshot),
        to_seq: Count(target.seq),
        undone,
        operations,
    };
    let (_, now) = workspace.require()?;
    if let Event::Undone { to, .. } = &event
        && to.mission != now.mission
        && !workspace
            .contract_differs(Some(&now))?
            .contains(&CONTRACT_TEXTS[0].to_owned())
    {
        service::dry_run(&workspace, &event, actor)?;
        init::write_mission(workspace.repo.root(), &to.mission)?;
    }
    recorded::record(&workspace, &event, actor, &summary)
}

/// Names the commits since `since`; an undo does not change the user's repository.
fn later_commits(workspace: &Workspace, since: Option<&str>) -> Result<String> {
    let Some(since) = since else {
        return Ok(String::new());
    };
    let head = workspace.repo.head()?;
    let range = workspace.repo.range(&head, since, false)?;
    if range.commits.is_empty() {
        return Ok(String::new());
    }
    let names = range.commits.iter().rev().take(10);
    let names: Vec<String> = names.map(|commit| format!("{:.12}", commit.id)).collect();
    let later = count_noun(range.commits.len(), "later commit");
    let names = names.join(", ");
    Ok(format!("; your repository keeps its {later} ({names})"))
}
