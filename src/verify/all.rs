//! Is this commit proven done: everything recomputed, and each criterion's proof looked up or run again.

use super::control_plane::{check_state, check_worktree};
use super::criterion_proof::{Judge, Rerun};
use super::proven::{CommitStanding, Proven, head_at};
use super::proven_slice::describe_strength;
use super::verification::Answered;
use super::verify_outcome::Outcome;
use super::{base, imported_ticks, proven, reached_goal, stop_verifier};
use crate::init::SETTINGS;
use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure, count_noun};
use cook_protocol::machine::short;
use cook_protocol::model::{Phase, SliceStatus, Snapshot};

/// Recomputes everything, and asks of HEAD whether it is the commit that was found done. `strict` = gates
/// count where they ran on this very commit: they can read its message as well.
///
/// # Errors
/// Git that does not answer, a log that cannot be read.
pub fn all(workspace: &Workspace, rerun: Rerun, strict: bool) -> Result<Answered, Failure> {
    let mut outcome = check_state(workspace)?;
    let asks = "is this commit proven done?";
    let Some(snapshot) = outcome.sound_log(workspace)? else {
        if !outcome.has_found(Code::LogDamaged) {
            run_gates(workspace, &mut outcome)?;
        }
        return Ok(Answered::new(asks, "", outcome).without_log(workspace));
    };
    if snapshot.goal().is_some() {
        return reached_goal::answer(workspace, &snapshot, rerun, outcome);
    }
    // Whether HEAD is the proven one is asked here.
    outcome.forget(Code::HeadMovedSinceDone);
    let standing = proven::find(workspace, &snapshot, &mut outcome)?;
    if standing.done.is_none() {
        outcome.find(Code::NotDone, describe_open(&snapshot));
    }
    let not_run = match (&standing.how, rerun) {
        (Some(Proven::MergedFrom), Rerun::No) => {
            Some("the commit's tree is new: gates count only where they ran on it")
        }
        (Some(Proven::SameTree), Rerun::No) if strict => Some(
            "the commit is another than the one that was judged: with its tree alone `--strict` counts gates only where they ran on it",
        ),
        _ => None,
    };
    match not_run {
        Some(what) => outcome.find(Code::NotRerun, what),
        None => run_gates(workspace, &mut outcome)?,
    }
    base::hold(workspace, &snapshot, &mut outcome)?;
    let at = match &standing.done {
        Some(done) => head_at(done),
        None => standing.head.clone(),
    };
    if standing.done.is_some() || snapshot.state.current_phase == Phase::StopWave {
        let named = match standing.done {
            Some(_) => "the done commit",
            None => "this HEAD",
        };
        let required = base::count_judges(workspace, &snapshot);
        stop_verifier::list_votes_at(&snapshot, &at, named, required, &mut outcome);
    }
    stop_verifier::tell_judges(workspace, &snapshot, &at, &mut outcome)?;
    let rerun = match rerun {
        // A new tree is not its slices'.
        Rerun::Slices if standing.is_new_tree() => Rerun::Head,
        rerun => rerun,
    };
    let judge = Judge::new(workspace, &snapshot, &standing.head, rerun);
    let criteria = judge.criteria(None)?;
    for (id, ledger) in &snapshot.ledger.slices {
        if let (Some(_), Some(note)) = (&ledger.accepted, &ledger.strength) {
            outcome.add_checked(describe_strength(id, note));
        }
    }
    imported_ticks::count(&judge, &snapshot, &criteria, &mut outcome)?;
    let tally = snapshot.plan.tally_proofs();
    let words = standing.words("the done commit", "the work is not done");
    let mut answer = format!("{words}; {}", tally.describe());
    let has_gates = !workspace.config()?.gate_specs().is_empty();
    let mut ledgers = snapshot.ledger.slices.values();
    let has_run = ledgers.any(|slice| !slice.receipts.is_empty());
    if tally.by_command == 0 && !has_gates && !has_run && !snapshot.profile.text_proof_alone {
        let what = format!("no command ran: there is no gate, and {}", tally.describe());
        outcome.find(Code::NoCommandRan, what);
    }
    list_cancelled(&snapshot, &mut outcome);
    if workspace.judging.is_none() {
        answer.push_str(describe_gates(workspace, &standing, &mut outcome)?);
    }
    if let Some(assurance) = snapshot.describe_assurance() {
        answer.push_str(&format!("; assurance {assurance}"));
    }
    let answered = Answered {
        commit: Some(standing),
        criteria,
        ..Answered::new(asks, &answer, outcome)
    };
    answered.finish(workspace)
}

/// Slices that nobody built, each with its reason.
fn list_cancelled(snapshot: &Snapshot, outcome: &mut Outcome) {
    let slices = snapshot.plan.candidate_slices.iter();
    for slice in slices.filter(|slice| slice.status == SliceStatus::Cancelled) {
        let id = &slice.slice_id;
        let code = Code::SliceCancelled.id();
        let mut remarks = snapshot.ledger.remarks.iter();
        let remark = remarks.find(|remark| remark.slice_id == *id && remark.code == code);
        let why = remark.map_or("cancelled", |remark| remark.what.as_str());
        outcome.add_checked(format!("slice {id}: {why}"));
    }
}

/// Whose gates speak for HEAD, where no base decides: what was merged into may ask for less than what was
/// judged.
fn describe_gates(
    workspace: &Workspace,
    standing: &CommitStanding,
    outcome: &mut Outcome,
) -> Result<&'static str, Failure> {
    let repo = &workspace.repo;
    let (Some(head), Some(done)) = (&standing.head.commit, &standing.done) else {
        return Ok("");
    };
    let at_head = repo.tree_entry(head, SETTINGS)?.map(|entry| entry.id);
    let blob = at_head.as_deref().map_or("none there", short);
    outcome.add_checked(format!("the gates of `{SETTINGS}` at HEAD: {blob}"));
    let is_known = standing.how.is_some() && repo.resolve(done)?.is_some();
    if !is_known || at_head == repo.tree_entry(done, SETTINGS)?.map(|entry| entry.id) {
        return Ok("");
    }
    Ok(
        "; it rests on the gates of `.agent/cook.toml` as HEAD has it, which is another than at the done commit: `--base` says whose contract decides",
    )
}

/// The stop verifier, or the gates of the contract that decides in its place.
fn run_gates(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    match &workspace.judging {
        Some(judging) => stop_verifier::run_judging(workspace, judging, outcome),
        None => stop_verifier::run(workspace, outcome),
    }
}

/// What is open.
fn describe_open(snapshot: &Snapshot) -> String {
    let reason = &snapshot.state.continuation_reason;
    let what = format!("the project is not done: {reason}");
    let open = snapshot.plan.open_slices();
    let open: Vec<String> = open.map(|slice| format!("`{}`", slice.slice_id)).collect();
    match open.len() as u64 {
        0 => what,
        count => format!(
            "{what}; {} open: {}",
            count_noun(count, "slice"),
            open.join(", ")
        ),
    }
}

/// Runs `bash .agent/verify_completion_stop.sh` and looks at the votes.
///
/// # Errors
/// Git that does not answer, a log that cannot be read.
pub fn stop(workspace: &Workspace) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    check_worktree(workspace, &mut outcome)?;
    let (_, snapshot) = workspace.current()?;
    if let Some(goal) = snapshot.as_ref().and_then(Snapshot::goal) {
        reached_goal::ask_at_head(workspace, goal, &mut outcome)?;
        return Ok(outcome.sort());
    }
    stop_verifier::run(workspace, &mut outcome)?;
    match &snapshot {
        Some(snapshot) => stop_verifier::check_votes(workspace, snapshot, &mut outcome)?,
        None => outcome.miss_log(workspace),
    }
    Ok(outcome.sort())
}
