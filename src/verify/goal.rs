//! Is a goal reached at this commit: what its log says of it, and with `--rerun` its checks run again.

use super::answered::Answered;
use super::criteria::{Judge, Rerun};
use super::criterion::{Criterion, ProofVerdict};
use super::outcome::Outcome;
use super::{base, proven, word};
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding, Lines, clean, count_noun};
use cook_core::model::{CheckRun, CheckVerdict, GOAL_SLICE, Goal, GoalCheck, GoalFound, Snapshot};
use cook_trials::Weight;

/// Lets the commands of a goal run that came with a log from elsewhere: somebody outside of that log names the
/// goal, or vouches for it.
///
/// # Errors
/// `goal_commands`, with the commands, where nobody does.
pub fn accept_goal(workspace: &mut Workspace, named: Option<&str>) -> Result<(), Failure> {
    let (_, snapshot) = workspace.current()?;
    let Some(goal) = snapshot.as_ref().and_then(Snapshot::goal) else {
        return match named {
            None => Ok(()),
            Some(_) => Err(Failure::usage(
                "`--goal` names a goal, and this log has none",
            )),
        };
    };
    let digest = goal.digest();
    let is_named = named.is_some_and(|named| digest.starts_with(named));
    let is_signed = match (&workspace.log_from, named) {
        (Some(source), None) => word::is_signed(workspace, source)?,
        _ => false,
    };
    if named.is_some() && !is_named {
        let what = format!("the goal of this log is {digest}, and another one is named");
        return Err(refuse_commands(goal, what));
    }
    if is_named || is_signed {
        workspace.trust_everything = true;
        return Ok(());
    }
    match &workspace.log_from {
        None => Ok(()),
        Some(source) => {
            let what = format!(
                "nothing was run: the log of `{}` names these commands, and nobody on a list of the base signed it",
                source.shown
            );
            Err(refuse_commands(goal, what))
        }
    }
}

/// The commands, and how they are let run.
fn refuse_commands(goal: &Goal, what: String) -> Failure {
    let mut failure = Failure::state(Code::GoalCommands, what);
    let commands = goal.checks.iter().map(|check| &check.run);
    failure.findings = commands
        .map(|run| Finding::new(Code::GoalCommands, clean(run, Lines::Fold)))
        .collect();
    failure.replace_hints([format!(
        "where you would run them yourself, run it again with `--goal {}`",
        goal.digest()
    )])
}

pub(super) fn answer(
    workspace: &Workspace,
    snapshot: &Snapshot,
    rerun: Rerun,
    mut outcome: Outcome,
) -> Result<Answered, Failure> {
    let is_other = |finding: &Finding| finding.code != Code::HeadMovedSinceDone;
    outcome.findings.retain(is_other);
    let standing = proven::find(workspace, snapshot, &mut outcome)?;
    if standing.done.is_none() {
        let what = clean(&snapshot.state.continuation_reason, Lines::Fold);
        outcome
            .findings
            .push(Finding::new(Code::GoalNotReached, what));
    }
    if let Some(judging) = &workspace.judging {
        base::run(workspace, judging, &mut outcome)?;
    }
    let goal = snapshot.goal();
    let criteria = match (rerun, goal, &standing.head.commit) {
        (Rerun::Head | Rerun::Slices, Some(goal), Some(head)) => ask_again(
            workspace,
            (goal, head),
            standing.done.is_some(),
            &mut outcome,
        )?,
        _ => Judge::new(workspace, snapshot, &standing.head, Rerun::No).criteria(None)?,
    };
    let is_shallow = workspace.repo.is_shallow();
    let wrong = criteria.iter();
    let wrong = wrong.filter_map(|criterion| criterion.finding(is_shallow));
    outcome.findings.extend(wrong);
    let words = clean(&snapshot.state.mission_anchor, Lines::Fold);
    let mut said = format!("{}: {words}", standing.words_of_goal());
    if let Some(goal) = goal {
        let count = count_noun(goal.checks.len() as u64, "check");
        said.push_str(&format!("; {count}, goal {}", goal.digest()));
        let green = goal.checks.iter().filter(|check| check.green_at_base);
        outcome.checked.extend(green.map(|check| {
            let run = clean(&check.run, Lines::Fold);
            format!("`{run}` was green before any work, as the user allows")
        }));
    }
    word::say(workspace, &mut said, &mut outcome)?;
    Ok(Answered {
        asks: "is the goal reached at this commit?".to_owned(),
        answer: said,
        has_log: true,
        commit: Some(standing),
        criteria,
        base: None,
        outcome: outcome.sort(),
    })
}

/// What keeps HEAD from reaching it, as `cook goal` says it.
pub(super) fn ask_at_head(
    workspace: &Workspace,
    goal: &Goal,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let Some(head) = workspace.repo.head()?.commit else {
        let what = "the repository has no commit to run the checks at";
        outcome.findings.push(Finding::new(Code::UnbornHead, what));
        return Ok(());
    };
    outcome.add_checked("the goal's checks at HEAD, in a clean room");
    let found = workspace.ask_goal(goal, &head)?;
    let open = found.list_open(goal).into_iter();
    let open = open.map(|(what, ..)| Finding::new(Code::GoalNotReached, clean(&what, Lines::Fold)));
    outcome.findings.extend(open);
    tell_lines(&found, outcome);
    Ok(())
}

/// What the tests of the base say against it.
fn tell_lines(found: &GoalFound, outcome: &mut Outcome) {
    for line in found.lines.iter().filter(|it| it.weight != Weight::Shown) {
        let what = clean(&line.what, Lines::Fold);
        let finding = Finding::new(Code::GoalNotReached, what).at(clean(&line.name, Lines::Fold));
        outcome.findings.push(finding);
    }
}

/// Each check again, in a new clean room.
fn ask_again(
    workspace: &Workspace,
    (goal, head): (&Goal, &String),
    is_recorded: bool,
    outcome: &mut Outcome,
) -> Result<Vec<Criterion>, Failure> {
    let found = workspace.ask_goal(goal, head)?;
    tell_lines(&found, outcome);
    let criteria = goal.list_criteria().into_iter();
    let runs = goal.checks.iter().zip(&found.checks);
    Ok(criteria
        .zip(runs)
        .map(|(text, (check, run))| {
            let (verdict, why) = weigh(check, run, is_recorded);
            Criterion {
                slice: GOAL_SLICE.to_owned(),
                text,
                anchor: Some(format!("cmd:{}#exit", check.run)),
                verdict,
                why,
                at: Some(head.clone()),
            }
        })
        .collect())
}

fn weigh(check: &GoalCheck, run: &CheckRun, is_recorded: bool) -> (ProofVerdict, String) {
    match run.verdict {
        CheckVerdict::Green => {
            let why = "it came out the same in a new clean room, with the frozen files laid over";
            (ProofVerdict::Reproduced, why.to_owned())
        }
        CheckVerdict::Red => (ProofVerdict::Differs, run.why.clone()),
        CheckVerdict::NotKnown if check.hidden && is_recorded => (
            ProofVerdict::Recorded,
            format!("{}: the log says that it was green", run.why),
        ),
        CheckVerdict::NotKnown => (ProofVerdict::NotReproducible, run.why.clone()),
    }
}
