//! Is a goal reached at this commit: what its log says of it, and with `--rerun` its checks run again.

use super::criterion_proof::{Criterion, Judge, ProofVerdict, Rerun};
use super::verification::Answered;
use super::verify_outcome::Outcome;
use super::{log_signature, proven, stop_verifier};
use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure, Finding, Lines, clean, count_noun};
use cook_protocol::model::{
    CheckRun, CheckVerdict, GOAL_SLICE, Goal, GoalCheck, GoalFound, Snapshot,
};
use cook_protocol::trials::Weight;

/// Lets the commands of a goal run that came with a log from elsewhere: somebody outside of that log names the
/// goal, or vouches for it.
///
/// # Errors
/// `goal_commands`, with the commands, where nobody does.
pub fn accept_goal(workspace: &mut Workspace, named: Option<&str>) -> Result<(), Failure> {
    let (_, snapshot) = workspace.current()?;
    let Some(goal) = snapshot.as_ref().and_then(Snapshot::goal) else {
        let what = "`--goal` names a goal, and this log has none";
        return named.map_or(Ok(()), |_| Err(Failure::usage(what)));
    };
    let digest = goal.digest();
    let is_accepted = match (named, &workspace.log_from) {
        (Some(named), _) if !digest.starts_with(named) => {
            let what = format!("the goal of this log is {digest}, and another one is named");
            return Err(refuse_commands(goal, what));
        }
        (Some(_), _) => true,
        (None, None) => false,
        (None, Some(source)) if log_signature::is_signed(workspace, source)? => true,
        (None, Some(source)) => {
            let what = format!(
                "nothing was run: the log of `{}` names these commands, and nobody on a list of the base signed it",
                source.shown
            );
            return Err(refuse_commands(goal, what));
        }
    };
    workspace.trust_everything |= is_accepted;
    Ok(())
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
    outcome.forget(Code::HeadMovedSinceDone);
    let standing = proven::find(workspace, snapshot, &mut outcome)?;
    if standing.done.is_none() {
        let what = clean(&snapshot.state.continuation_reason, Lines::Fold);
        outcome.find(Code::GoalNotReached, what);
    }
    if let Some(judging) = &workspace.judging {
        stop_verifier::run_judging(workspace, judging, &mut outcome)?;
    }
    let goal = snapshot.goal();
    let criteria = match (rerun, goal, &standing.head.commit) {
        (Rerun::Head | Rerun::Slices, Some(goal), Some(head)) => {
            let is_recorded = standing.done.is_some();
            ask_again(workspace, (goal, head), is_recorded, &mut outcome)?
        }
        _ => Judge::new(workspace, snapshot, &standing.head, Rerun::No).criteria(None)?,
    };
    let how = standing.words(
        "the commit that reached the goal,",
        "the goal is not reached",
    );
    let words = clean(&snapshot.state.mission_anchor, Lines::Fold);
    let mut answer = format!("{how}: {words}");
    if let Some(goal) = goal {
        let count = count_noun(goal.checks.len() as u64, "check");
        answer.push_str(&format!("; {count}, goal {}", goal.digest()));
        for check in goal.checks.iter().filter(|check| check.green_at_base) {
            let run = clean(&check.run, Lines::Fold);
            outcome.add_checked(format!(
                "`{run}` was green before any work, as the user allows"
            ));
        }
    }
    let answered = Answered {
        commit: Some(standing),
        criteria,
        ..Answered::new("is the goal reached at this commit?", &answer, outcome)
    };
    answered.finish(workspace)
}

/// What keeps HEAD from reaching it, as `cook goal` says it.
pub(super) fn ask_at_head(
    workspace: &Workspace,
    goal: &Goal,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let Some(head) = workspace.repo.head()?.commit else {
        let what = "the repository has no commit to run the checks at";
        outcome.find(Code::UnbornHead, what);
        return Ok(());
    };
    outcome.add_checked("the goal's checks at HEAD, in a clean room");
    let found = workspace.ask_goal(goal, &head)?;
    for (what, ..) in found.list_open(goal) {
        outcome.find(Code::GoalNotReached, clean(&what, Lines::Fold));
    }
    tell_lines(&found, outcome);
    Ok(())
}

/// What the tests of the base say against it.
fn tell_lines(found: &GoalFound, outcome: &mut Outcome) {
    for line in found.lines.iter().filter(|it| it.weight != Weight::Shown) {
        let [what, name] = [&line.what, &line.name].map(|text| clean(text, Lines::Fold));
        outcome.find_at(Code::GoalNotReached, what, &name);
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
    let runs = goal.checks.iter().zip(&found.checks);
    let criteria = goal.list_criteria().into_iter().zip(runs);
    let criteria = criteria.map(|(text, (check, run))| {
        let (verdict, why) = weigh(check, run, is_recorded);
        Criterion {
            slice: GOAL_SLICE.to_owned(),
            text,
            anchor: Some(format!("cmd:{}#exit", check.run)),
            verdict,
            why,
            at: Some(head.clone()),
        }
    });
    Ok(criteria.collect())
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
