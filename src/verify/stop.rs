//! The stop verifier, and the votes when the phase asks for them.

use super::no_log::log_missing;
use super::outcome::Outcome;
use super::{control_plane, goal};
use crate::judges::find_verdicts;
use crate::measure::{self, Red};
use crate::service::{self, Workspace};
use cook_core::diagnostic::{Code, Failure, Finding, Lines, clean, count_noun};
use cook_core::machine::{Head, list_votes};
use cook_core::model::{Caches, Phase, STOP_VERIFIER, Snapshot};

/// Runs `bash .agent/verify_completion_stop.sh` and looks at the votes.
///
/// # Errors
/// Git that does not answer, a log that cannot be read.
pub fn stop(workspace: &Workspace) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    control_plane::worktree(workspace, &mut outcome)?;
    if let (_, Some(snapshot)) = workspace.current()?
        && let Some(asked) = snapshot.goal()
    {
        goal::ask_at_head(workspace, asked, &mut outcome)?;
        return Ok(outcome.sort());
    }
    run(workspace, &mut outcome)?;
    votes(workspace, &mut outcome)?;
    Ok(outcome.sort())
}

pub(super) fn run(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    if !workspace.trust()?.is_trusted(STOP_VERIFIER) {
        outcome.find(
            Code::StopVerifierUntrusted,
            format!("`{STOP_VERIFIER}` was not run: this machine does not trust its scripts"),
            ".agent/verify_completion_stop.sh",
        );
        return Ok(());
    }
    // A script that runs the gates and nothing else says no more than they do.
    if workspace.caches == Caches::Kept || workspace.has_generated_verifier()? {
        return room(workspace, outcome);
    }
    let run = service::run_stop_verifier(workspace)?;
    outcome.add_checked("bash .agent/verify_completion_stop.sh, at HEAD in a new clean room");
    note(&run.remarks, outcome);
    if run.has_passed() {
        return Ok(());
    }
    let why = match (&run.problem, &run.receipt) {
        (Some(problem), _) => problem.clone(),
        (None, Some(receipt)) => {
            let lines: Vec<&str> = receipt.tail.lines().collect();
            lines[lines.len().saturating_sub(5)..].join("; ")
        }
        (None, None) => "it did not run".to_owned(),
    };
    let red = Red {
        gate: None,
        receipt: run.receipt.as_ref(),
        problem: run.problem.as_deref(),
    };
    let missing = measure::missing(&workspace.repo, workspace.config()?, red)?;
    let missing: String = missing
        .iter()
        .map(|hint| format!("; missing: {hint}"))
        .collect();
    outcome.find(
        Code::StopVerifierFailed,
        format!("the stop verifier does not pass: {why}{missing}"),
        ".agent/verify_completion_stop.sh",
    );
    Ok(())
}

/// The same gates by their receipts, where they were run on this tree before.
fn room(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let Some(room) = service::check_room(workspace)? else {
        outcome.find(
            Code::UnbornHead,
            "the repository has no commit to run the gates at",
            ".agent/cook.toml",
        );
        return Ok(());
    };
    outcome.add_checked("the required gates at HEAD, in a clean room");
    note(&room.remarks, outcome);
    for red in &room.red {
        outcome.find(
            Code::StopVerifierFailed,
            format!("the stop verifier does not pass: {red}"),
            ".agent/verify_completion_stop.sh",
        );
    }
    Ok(())
}

/// What reviewers and judges are told of as well.
fn note(remarks: &[String], outcome: &mut Outcome) {
    let told = remarks.iter();
    let told = told.map(|what| Finding::new(Code::GateSurroundings, what));
    outcome.findings.extend(told);
}

fn votes(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let (_, Some(snapshot)) = workspace.current()? else {
        outcome.findings.push(log_missing(workspace));
        return Ok(());
    };
    let due = matches!(snapshot.state.current_phase, Phase::StopWave | Phase::Done);
    if !due {
        return Ok(());
    }
    let head = workspace.repo.head()?;
    let (dispatch, _) = service::dispatch_told(workspace, Some(&snapshot))?;
    let is_told = |finding: &Finding| {
        matches!(
            finding.code,
            Code::HeadMovedSinceDone | Code::ProofBroken | Code::ProofUnguarded
        )
    };
    outcome
        .findings
        .extend(dispatch.findings.into_iter().filter(is_told));
    if snapshot.state.current_phase == Phase::Done && head.commit != snapshot.ledger.head_seen {
        return Ok(());
    }
    let required = snapshot.profile.required_stop_judges.0;
    list_votes_at(&snapshot, &head, "this HEAD", required, outcome);
    tell_judges(workspace, &snapshot, &head, outcome)
}

/// Whose word the verdicts are, and what is known of them.
pub(super) fn tell_judges(
    workspace: &Workspace,
    snapshot: &Snapshot,
    at: &Head,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    for judged in find_verdicts(workspace, snapshot, at)? {
        outcome.add_checked(clean(&judged.words(), Lines::Fold));
    }
    Ok(())
}

/// The votes of the wave at that commit.
pub(super) fn list_votes_at(
    snapshot: &Snapshot,
    at: &Head,
    named: &str,
    required: u64,
    outcome: &mut Outcome,
) {
    let count = |yes: bool| {
        list_votes(snapshot, at)
            .filter(|vote| vote.can_stop == yes)
            .count()
    };
    let (yes, no) = (count(true) as u64, count(false) as u64);
    outcome.add_checked(format!(
        "votes at {named} in wave {}: {yes} yes, {no} no, {required} required",
        snapshot.state.current_stop_wave_id.0
    ));
    if no > 0 {
        outcome.findings.push(Finding::new(
            Code::VotesMissing,
            format!("{} of this wave said no", count_noun(no, "judge")),
        ));
    } else if yes < required {
        outcome.findings.push(Finding::new(
            Code::VotesMissing,
            format!("{yes} of {required} votes are in at {named}"),
        ));
    }
}
