//! The stop verifier or the gates of the contract that decides, and the votes when the phase asks for them.

use super::verify_outcome::Outcome;
use crate::check::Line;
use crate::init::SETTINGS;
use crate::judges::find_verdicts;
use crate::measure::{self, Red};
use crate::service::{self, Judging, Workspace};
use cook_protocol::diagnostic::{Code, Failure, Finding, Lines, clean, count_noun};
use cook_protocol::machine::{Head, list_votes};
use cook_protocol::model::{Caches, Config, Phase, STOP_VERIFIER, Snapshot};
use cook_protocol::trials::Weight;

const VERIFIER: &str = ".agent/verify_completion_stop.sh";

/// Whether the scripts of the repository may run; a finding where they may not.
fn is_trusted(workspace: &Workspace, outcome: &mut Outcome) -> Result<bool, Failure> {
    let is_trusted = workspace.trust()?.is_trusted(STOP_VERIFIER);
    if !is_trusted {
        let what =
            format!("`{STOP_VERIFIER}` was not run: this machine does not trust its scripts");
        outcome.find_at(Code::StopVerifierUntrusted, what, VERIFIER);
    }
    Ok(is_trusted)
}

/// Why a command is red, with what it lacks.
fn explain_red(
    workspace: &Workspace,
    config: &Config,
    red: Red,
    lines: usize,
) -> Result<String, Failure> {
    let mut why = match (red.problem, red.receipt) {
        (Some(problem), _) => problem.to_owned(),
        (None, Some(receipt)) => {
            let tail: Vec<&str> = receipt.tail.lines().collect();
            let last = tail[tail.len().saturating_sub(lines)..].join("; ");
            format!("{}: {last}", receipt.ending())
        }
        (None, None) => "it did not run".to_owned(),
    };
    for hint in measure::missing(&workspace.repo, config, red)? {
        why.push_str(&format!("; missing: {hint}"));
    }
    Ok(why)
}

pub(super) fn run(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    if !is_trusted(workspace, outcome)? {
        return Ok(());
    }
    // A script that runs the gates and nothing else says no more than they do: their receipts count.
    let red = if workspace.caches == Caches::Kept || workspace.has_generated_verifier()? {
        let Some(room) = service::check_room(workspace)? else {
            let what = "the repository has no commit to run the gates at";
            outcome.find_at(Code::UnbornHead, what, SETTINGS);
            return Ok(());
        };
        outcome.add_checked("the required gates at HEAD, in a clean room");
        note(&room.remarks, outcome);
        room.red
    } else {
        let run = service::run_stop_verifier(workspace)?;
        outcome.add_checked("bash .agent/verify_completion_stop.sh, at HEAD in a new clean room");
        note(&run.remarks, outcome);
        if run.has_passed() {
            return Ok(());
        }
        let red = Red {
            gate: None,
            receipt: run.receipt.as_ref(),
            problem: run.problem.as_deref(),
        };
        vec![explain_red(workspace, workspace.config()?, red, 5)?]
    };
    for why in red {
        let what = format!("the stop verifier does not pass: {why}");
        outcome.find_at(Code::StopVerifierFailed, what, VERIFIER);
    }
    Ok(())
}

/// Runs the gates of the contract that decides; what is red is a finding.
pub(super) fn run_judging(
    workspace: &Workspace,
    judging: &Judging,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let Some(head) = workspace.repo.head()?.commit else {
        let what = "the repository has no commit to run the gates at";
        outcome.find_at(Code::UnbornHead, what, SETTINGS);
        return Ok(());
    };
    if judging.has_own_verifier {
        is_trusted(workspace, outcome)?;
    }
    let runs = workspace.run_judging_gates(judging, &head)?;
    let count = count_noun(runs.len() as u64, "gate");
    let from = match judging.files.is_empty() {
        true => "",
        false => ", with its files under `.agent/`",
    };
    outcome.add_checked(format!(
        "{count} at HEAD in a clean room, as the contract that decides has them{from}"
    ));
    for run in runs.iter().filter(|run| !run.has_passed()) {
        let why = explain_red(workspace, &judging.config, run.into(), 3)?;
        let name = &run.gate.name;
        let what = format!("the gate `{name}` of the contract that decides does not pass: {why}");
        outcome.find_at(Code::StopVerifierFailed, what, SETTINGS);
    }
    // What the gates go through (a Makefile, a runner's settings, tests) is work as well, so that it is
    // held by what the base's tests say of HEAD's code.
    let tried = workspace.try_change(&judging.base, &head, &runs, &|_| {})?;
    outcome.checked.extend(tried.looked_at);
    for line in tried.lines.into_iter().map(Line::from) {
        let place = line.file.as_ref().map_or(SETTINGS, |file| &file.path);
        let what = format!("{}; next: {}", line.message, line.show);
        match line.weight {
            Weight::Refuses => outcome.find_at(line.code, what, place),
            Weight::NotKnown => outcome.add_checked(format!("not known: {}", line.message)),
            Weight::Shown => {}
        }
    }
    Ok(())
}

/// What reviewers and judges are told of as well.
fn note(remarks: &[String], outcome: &mut Outcome) {
    for what in remarks {
        outcome.find(Code::GateSurroundings, what);
    }
}

pub(super) fn check_votes(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let phase = snapshot.state.current_phase;
    if !matches!(phase, Phase::StopWave | Phase::Done) {
        return Ok(());
    }
    let head = workspace.repo.head()?;
    let (dispatch, _) = service::dispatch_told(workspace, Some(snapshot))?;
    let is_told = |finding: &Finding| {
        matches!(
            finding.code,
            Code::HeadMovedSinceDone | Code::ProofBroken | Code::ProofUnguarded
        )
    };
    let told = dispatch.findings.into_iter().filter(is_told);
    outcome.findings.extend(told);
    if phase == Phase::Done && head.commit != snapshot.ledger.head_seen {
        return Ok(());
    }
    let required = snapshot.profile.required_stop_judges.0;
    list_votes_at(snapshot, &head, "this HEAD", required, outcome);
    tell_judges(workspace, snapshot, &head, outcome)
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
    let (yes, no): (Vec<_>, Vec<_>) = list_votes(snapshot, at).partition(|vote| vote.can_stop);
    let (yes, no) = (yes.len() as u64, no.len() as u64);
    let wave = snapshot.state.current_stop_wave_id.0;
    outcome.add_checked(format!(
        "votes at {named} in wave {wave}: {yes} yes, {no} no, {required} required"
    ));
    if no > 0 {
        let what = format!("{} of this wave said no", count_noun(no, "judge"));
        outcome.find(Code::VotesMissing, what);
    } else if yes < required {
        let what = format!("{yes} of {required} votes are in at {named}");
        outcome.find(Code::VotesMissing, what);
    }
}
