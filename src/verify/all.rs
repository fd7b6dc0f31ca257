//! Is this commit proven done: everything recomputed, and each criterion's proof looked up or run again.

use super::answered::Answered;
use super::control_plane::{sound, state};
use super::criteria::{Judge, Rerun};
use super::no_log::log_missing;
use super::outcome::Outcome;
use super::proof::add_strengths;
use super::proven::{CommitStanding, Proven};
use super::{base, goal, proven, stop, ticks, word};
use crate::scaffold::SETTINGS;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding, count_noun};
use cook_core::machine::{Head, short};
use cook_core::model::{Phase, SliceStatus, Snapshot};

/// Recomputes everything, and asks of HEAD whether it is the commit that was found done. `strict` = gates
/// count where they ran on this very commit: they can read its message as well.
///
/// # Errors
/// Git that does not answer, a log that cannot be read.
pub fn all(workspace: &Workspace, rerun: Rerun, strict: bool) -> Result<Answered, Failure> {
    let mut outcome = state(workspace)?;
    let asks = "is this commit proven done?";
    let Some(snapshot) = sound(workspace, &outcome)? else {
        if !outcome.has_found(Code::LogDamaged) {
            outcome.findings.push(log_missing(workspace));
            run_gates(workspace, &mut outcome)?;
        }
        return Ok(Answered::without_log(asks, outcome));
    };
    if snapshot.goal().is_some() {
        return goal::answer(workspace, &snapshot, rerun, outcome);
    }
    // Whether HEAD is the proven one is asked here.
    let is_other = |finding: &Finding| finding.code != Code::HeadMovedSinceDone;
    outcome.findings.retain(is_other);
    let standing = proven::find(workspace, &snapshot, &mut outcome)?;
    if standing.done.is_none() {
        outcome.findings.push(not_done(&snapshot));
    }
    let not_run = match (&standing.how, rerun) {
        (_, Rerun::Slices | Rerun::Head) | (None | Some(Proven::Itself), Rerun::No) => None,
        (Some(Proven::Merged(_)), Rerun::No) => {
            Some("the commit's tree is new: gates count only where they ran on it")
        }
        (Some(Proven::SameTree), Rerun::No) => strict.then_some(
            "the commit is another than the one that was judged: with its tree alone `--strict` counts gates only where they ran on it",
        ),
    };
    match not_run {
        Some(what) => outcome.findings.push(Finding::new(Code::NotRerun, what)),
        None => run_gates(workspace, &mut outcome)?,
    }
    base::hold(workspace, &snapshot, &mut outcome)?;
    let required = base::judges(workspace, &snapshot);
    match &standing.done {
        Some(done) => {
            let at = Head {
                commit: Some(done.clone()),
                tree: None,
                branch: None,
            };
            stop::list_votes_at(&snapshot, &at, "the done commit", required, &mut outcome);
            stop::tell_judges(workspace, &snapshot, &at, &mut outcome)?;
        }
        None if snapshot.state.current_phase == Phase::StopWave => {
            stop::list_votes_at(
                &snapshot,
                &standing.head,
                "this HEAD",
                required,
                &mut outcome,
            );
        }
        None => {}
    }
    if standing.done.is_none() {
        stop::tell_judges(workspace, &snapshot, &standing.head, &mut outcome)?;
    }
    let rerun = match rerun {
        // A new tree is not its slices'.
        Rerun::Slices if standing.is_new_tree() => Rerun::Head,
        rerun => rerun,
    };
    let judge = Judge::new(workspace, &snapshot, &standing.head, rerun);
    let criteria = judge.criteria(None)?;
    add_strengths(&snapshot, &mut outcome);
    ticks::count(&judge, &snapshot, &criteria, &mut outcome)?;
    let is_shallow = workspace.repo.is_shallow();
    let wrong = criteria.iter();
    let wrong = wrong.filter_map(|criterion| criterion.finding(is_shallow));
    outcome.findings.extend(wrong);
    let tally = snapshot.plan.tally_proofs();
    let mut answer = format!("{}; {}", standing.words(), tally.describe());
    let has_gates = !workspace.config()?.gate_specs().is_empty();
    let mut ledgers = snapshot.ledger.slices.values();
    let has_run = ledgers.any(|slice| !slice.receipts.is_empty());
    if tally.by_command == 0 && !has_gates && !has_run && !snapshot.profile.text_proof_alone {
        outcome.findings.push(Finding::new(
            Code::NoCommandRan,
            format!("no command ran: there is no gate, and {}", tally.describe()),
        ));
    }
    tell_cancelled(&snapshot, &mut outcome);
    if workspace.judging.is_none() {
        answer.push_str(&describe_gates(workspace, &standing, &mut outcome)?);
    }
    if let Some(assurance) = snapshot.describe_assurance() {
        answer.push_str(&format!("; assurance {assurance}"));
    }
    word::say(workspace, &mut answer, &mut outcome)?;
    Ok(Answered {
        asks: asks.to_owned(),
        answer,
        has_log: true,
        commit: Some(standing),
        criteria,
        base: None,
        outcome: outcome.sort(),
    })
}

/// Slices that nobody built, each with its reason.
fn tell_cancelled(snapshot: &Snapshot, outcome: &mut Outcome) {
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
) -> Result<String, Failure> {
    let repo = &workspace.repo;
    let (Some(head), Some(done)) = (&standing.head.commit, &standing.done) else {
        return Ok(String::new());
    };
    let at_head = repo.tree_entry(head, SETTINGS)?.map(|entry| entry.id);
    let blob = at_head.as_deref().map_or("none there", short);
    outcome.add_checked(format!("the gates of `{SETTINGS}` at HEAD: {blob}"));
    if standing.how.is_none() || repo.resolve(done)?.is_none() {
        return Ok(String::new());
    }
    let at_done = repo.tree_entry(done, SETTINGS)?.map(|entry| entry.id);
    if at_head == at_done {
        return Ok(String::new());
    }
    Ok(format!(
        "; it rests on the gates of `{SETTINGS}` as HEAD has it, which is another than at the done commit: `--base` says whose contract decides"
    ))
}

/// The stop verifier, or the gates of the contract that decides in its place.
fn run_gates(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    match &workspace.judging {
        Some(judging) => base::run(workspace, judging, outcome),
        None => stop::run(workspace, outcome),
    }
}

/// What is open.
fn not_done(snapshot: &Snapshot) -> Finding {
    let open: Vec<String> = snapshot
        .plan
        .open_slices()
        .map(|slice| format!("`{}`", slice.slice_id))
        .collect();
    let mut what = format!(
        "the project is not done: {}",
        snapshot.state.continuation_reason
    );
    if !open.is_empty() {
        let count = count_noun(open.len() as u64, "slice");
        what = format!("{what}; {count} open: {}", open.join(", "));
    }
    Finding::new(Code::NotDone, what)
}

impl Answered {
    /// Nothing of the question could be looked at.
    pub(super) fn without_log(asks: &str, outcome: Outcome) -> Self {
        let answer = match outcome.has_found(Code::LogDamaged) {
            true => "not answered: the log is damaged",
            false => "not answered: there is no log here",
        };
        Self {
            asks: asks.to_owned(),
            answer: answer.to_owned(),
            has_log: false,
            commit: None,
            criteria: Vec::new(),
            base: None,
            outcome: outcome.sort(),
        }
    }
}
