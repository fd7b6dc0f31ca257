//! `cook goal`: sets a goal that commands decide, says how far it is, drops it.

use super::caller::{self, AsUser};
use super::context::{Answer, Context, answer, note};
use super::input::free_text;
use super::{hooks, transition};
use crate::lifecycle::install::list_installed;
use crate::service::{self, Draft, Workspace};
use crate::view::GoalAnswer;
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Lines, Refusal, clean};
use cook_core::machine::ASK_GOAL;
use cook_core::model::{Event, Snapshot};
use cook_hooks::layout::Purpose;
use std::path::PathBuf;
use std::time::Duration;

/// The word that gives a goal up.
const DROP: &str = "drop";
/// Why it was dropped, in the log.
const DROPPED: &str = "dropped by hand with `cook goal drop`";

#[derive(Debug, Args)]
pub(super) struct GoalArgs {
    /// The goal in words; `drop` gives it up; without any how far it is
    #[arg(value_name = "WORDS", value_parser = free_text)]
    pub words: Option<String>,
    /// A command that is red now and green once the goal is reached; may be given several times
    #[arg(long, value_name = "CMD", value_parser = free_text)]
    pub check: Vec<String>,
    /// A file outside of the repository that is laid over where the checks run, and never shown
    #[arg(long, value_name = "FILE", requires = "check")]
    pub hidden: Vec<PathBuf>,
    /// Hold this file as it is now too, although it is none of a test's
    #[arg(long, value_name = "PATH", requires = "check")]
    pub freeze: Vec<String>,
    /// Hold this agent: install its hook of `cook hooks install AGENT --check`
    #[arg(long, value_name = "NAME", requires = "check")]
    pub agent: Option<String>,
    /// Take checks that are green now already
    #[arg(long, requires = "check")]
    pub allow_green: bool,
    /// How long each check may take
    #[arg(long, value_name = "TIME", default_value = "4m", requires = "check", value_parser = humantime::parse_duration)]
    pub time: Duration,
    /// Show what checks of hidden files print (user only)
    #[arg(long, conflicts_with = "check")]
    pub show_hidden: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn goal(context: &Context, args: &GoalArgs) -> Answer {
    match args.words.as_deref() {
        Some(words) if !args.check.is_empty() => set(context, args, words),
        Some(DROP) => drop_goal(context, args),
        Some(_) => Err(Failure::usage(
            "a goal needs a command that says whether it is reached: `--check 'COMMAND'`",
        )),
        None if !args.check.is_empty() => Err(Failure::usage(
            "say in words what the goal is: `cook goal 'WORDS' --check 'COMMAND'`",
        )),
        None => look(context, args),
    }
}

fn set(context: &Context, args: &GoalArgs, words: &str) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let mut workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    let draft = Draft {
        words,
        checks: &args.check,
        hidden: &args.hidden,
        freeze: &args.freeze,
        time: args.time,
        allows_green: args.allow_green,
    };
    context
        .screen
        .note("each check runs at HEAD, where it must be red");
    let made = service::set_goal(&workspace, &draft, actor)?;
    let mut lines = vec![format!(
        "goal: {}",
        made.applied.step.snapshot.state.mission_anchor
    )];
    lines.extend(made.lines);
    lines.extend(hold(&mut workspace, args.agent.as_deref())?);
    let findings = made.applied.findings.clone();
    let mut done = transition::transition_answer(made.applied, lines.join("; "), findings);
    done.lines = lines;
    answer(done)
}

/// Installs the hook of the agent that was named; of one without hooks, what still holds.
fn hold(workspace: &mut Workspace, agent: Option<&str>) -> Result<Vec<String>, Failure> {
    match agent {
        None => Ok(vec![
            "hold an agent by it: `cook hooks install AGENT --check`".to_owned(),
        ]),
        Some(name) if cook_hooks::Agent::parse(name).is_some() => {
            hooks::install_check(workspace, name)
        }
        Some(name) => Ok(vec![format!(
            "`{name}` takes no hooks: `{ASK_GOAL}` asks by hand, `cook hooks install git --check` holds each push, and `cook verify --from REMOTE --rerun` says it in CI"
        )]),
    }
}

fn find(workspace: &Workspace) -> Result<Snapshot, Failure> {
    let (_, snapshot) = workspace.current()?;
    snapshot
        .filter(|snapshot| snapshot.goal().is_some())
        .ok_or_else(|| Refusal::new(Code::GoalNone, "this worktree has no goal").into())
}

fn look(context: &Context, args: &GoalArgs) -> Answer {
    if args.show_hidden {
        caller::require_user(args.as_user.as_user)?;
    }
    let workspace = context.workspace()?;
    let snapshot = find(&workspace)?;
    if service::is_dropped(&snapshot) {
        return answer(GoalAnswer::of_dropped(&snapshot));
    }
    caller::not_apart(&workspace)?;
    let standing = service::look_at_goal(&workspace, snapshot)?;
    match standing.snapshot.goal() {
        Some(goal) if args.show_hidden => {
            let runs = workspace.run_hidden_checks(goal, &standing.found.commit)?;
            let texts = runs.into_iter().flat_map(|run| {
                let said = run.receipt.map(|receipt| receipt.tail).or(run.problem);
                [format!("`{}`:", run.gate.run), said.unwrap_or_default()]
            });
            let lines = texts.map(|text| clean(&text, Lines::Keep));
            note("hidden_output", lines.collect())
        }
        _ => answer(GoalAnswer::of(&standing)),
    }
}

fn drop_goal(context: &Context, args: &GoalArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    let snapshot = find(&workspace)?;
    let held = list_installed(&workspace, Purpose::Check).into_iter();
    let remove = held.map(|agent| {
        format!(
            "; `cook hooks remove {} --check` takes its hook out",
            agent.name()
        )
    });
    let words = format!(
        "the goal is dropped; its commits and its log stay{}",
        remove.collect::<String>()
    );
    let done = transition::record(
        &workspace,
        &Event::Cancelled {
            why: DROPPED.to_owned(),
        },
        actor,
        &words,
    )?;
    if let Some(goal) = snapshot.goal() {
        service::forget_hidden(&workspace, goal)?;
    }
    Ok(done)
}
