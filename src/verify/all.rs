//! Whether a commit is proven done: everything is recomputed, and each criterion's proof is looked up or run again.

use super::base;
use super::control_plane::{check_state, check_worktree};
use super::criterion_proof::{Criterion, Judge, Outcome, ProofVerdict, Rerun, count_ticks};
use super::verification::{Answered, CommitStanding, Proven, find_standing, head_at, is_signed};
use crate::check::Line;
use crate::init::SETTINGS;
use crate::judges::find_verdicts;
use crate::measure::{self, Red};
use crate::prelude::*;
use crate::service;
use crate::workspace::{Judging, Workspace};
use cook_protocol::machine::{current_audit, current_review, describe_typed_votes, list_votes};
use cook_protocol::model::{
    Accepted, CheckRun, GOAL_SLICE, Goal, GoalCheck, GoalFound, Phase, ProofTally, StrengthNote,
};
use cook_protocol::trials::Weight;

/// Recomputes everything, and checks whether HEAD is the commit that was found done. If `strict`, gates count only if
/// they ran on this very commit, because they can read its message as well.
///
/// # Errors
/// A failing git, or a log that cannot be read.
pub fn all(workspace: &Workspace, rerun: Rerun, strict: bool) -> Result<Answered> {
    let mut outcome = check_state(workspace)?;
    let asks = "is this commit proven done?";
    let Some(snapshot) = outcome.sound_log(workspace)? else {
        if !outcome.has_found(Code::LogDamaged) {
            run_gates(workspace, &mut outcome)?;
        }
        return Ok(Answered::new(asks, "", outcome).without_log(workspace));
    };
    if snapshot.goal().is_some() {
        return answer_goal(workspace, &snapshot, rerun, outcome);
    }
    // Checked below, where HEAD is compared with the proven commit.
    outcome.forget(Code::HeadMovedSinceDone);
    let standing = find_standing(workspace, &snapshot, &mut outcome)?;
    if standing.done.is_none() {
        outcome.find(Code::NotDone, describe_open(&snapshot));
    }
    let not_run = match (&standing.how, rerun) {
        (Some(Proven::MergedFrom), Rerun::No) => {
            Some("the commit's tree is new, so gates count only if they ran on it")
        }
        (Some(Proven::SameTree), Rerun::No) if strict => Some(
            "this is not the commit that was judged, only one with the same tree, so `--strict` counts gates only if they ran on it",
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
        list_votes_at(&snapshot, &at, named, required, &mut outcome);
    }
    tell_judges(workspace, &snapshot, &at, &mut outcome)?;
    let rerun = match rerun {
        // A new tree is not that of any slice.
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
    let not_new = Code::ProofNotNew.id();
    let remarks = snapshot.ledger.remarks.iter();
    for remark in remarks.filter(|remark| remark.code == not_new) {
        let what = format!("slice {}: {}", remark.slice_id, remark.what);
        outcome.findings.push(Finding::new(Code::ProofNotNew, what));
    }
    count_ticks(&judge, &snapshot, &criteria, &mut outcome)?;
    let tally = snapshot.plan.tally_proofs();
    let words = standing.words("the done commit", "the work is not done");
    let proved = match standing.done.is_none() && tally == ProofTally::default() {
        true => "no criterion is proved yet".to_owned(),
        false => tally.describe(),
    };
    let mut answer = format!("{words}; {proved}");
    let has_gates = !workspace.config()?.gate_specs().is_empty();
    let mut ledgers = snapshot.ledger.slices.values();
    let has_run = ledgers.any(|slice| !slice.receipts.is_empty());
    if tally.by_command == 0 && !has_gates && !has_run && !snapshot.profile.text_proof_alone {
        let what = format!("no command ran: there is no gate, and {proved}");
        outcome.find(Code::NoCommandRan, what);
    }
    list_cancelled(&snapshot, &mut outcome);
    if workspace.judging.is_none() {
        answer.push_str(describe_gates(workspace, &standing, &mut outcome)?);
    }
    if let Some(votes) = describe_typed_votes(&snapshot, &at) {
        answer.push_str(&format!("; {votes}"));
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

/// Lists cancelled slices, each with its reason.
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

/// Adds whose gates were used at HEAD if there is no base: HEAD's gates may require less than those of the done commit.
fn describe_gates(
    workspace: &Workspace,
    standing: &CommitStanding,
    outcome: &mut Outcome,
) -> Result<&'static str> {
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
        "; this rests on the gates of HEAD's `.agent/cook.toml`, which differs from the done commit's: `--base` names the contract that decides",
    )
}

/// Runs the stop verifier or, with a base, the gates of the contract that decides.
fn run_gates(workspace: &Workspace, outcome: &mut Outcome) -> Result<()> {
    match &workspace.judging {
        Some(judging) => run_judging(workspace, judging, outcome),
        None => run(workspace, outcome),
    }
}

/// Describes what is open.
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

/// Runs `bash .agent/verify_completion_stop.sh` and checks the votes.
///
/// # Errors
/// A failing git, or a log that cannot be read.
pub fn stop(workspace: &Workspace) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    check_worktree(workspace, &mut outcome)?;
    let (_, snapshot) = workspace.current()?;
    if let Some(goal) = snapshot.as_ref().and_then(Snapshot::goal) {
        ask_at_head(workspace, goal, &mut outcome)?;
        return Ok(outcome.sort());
    }
    run(workspace, &mut outcome)?;
    match &snapshot {
        Some(snapshot) => check_votes(workspace, snapshot, &mut outcome)?,
        None => outcome.miss_log(workspace),
    }
    Ok(outcome.sort())
}

// Running the stop verifier or the gates of the contract that decides, and checking the votes if the phase requires
// them.

const VERIFIER: &str = ".agent/verify_completion_stop.sh";

/// Whether the scripts of the repository may run; adds a finding if not.
fn is_trusted(workspace: &Workspace, outcome: &mut Outcome) -> Result<bool> {
    let is_trusted = workspace.trust()?.is_trusted(STOP_VERIFIER);
    if !is_trusted {
        let what =
            format!("`{STOP_VERIFIER}` was not run: this machine does not trust its scripts");
        outcome.find_at(Code::StopVerifierUntrusted, what, VERIFIER);
    }
    Ok(is_trusted)
}

/// Why a command is red, and what it lacks.
fn explain_red(workspace: &Workspace, config: &Config, red: Red, lines: usize) -> Result<String> {
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

pub(super) fn run(workspace: &Workspace, outcome: &mut Outcome) -> Result<()> {
    if workspace
        .repo
        .contract_missing()?
        .iter()
        .any(|path| path == VERIFIER)
    {
        let what = format!("`{VERIFIER}` is not in the worktree");
        outcome.find_at(Code::ContractMissing, what, VERIFIER);
        return Ok(());
    }
    if !is_trusted(workspace, outcome)? {
        return Ok(());
    }
    // A generated script only runs the gates, so their receipts count instead.
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

/// Runs the gates of the contract that decides; each red one becomes a finding.
pub(super) fn run_judging(
    workspace: &Workspace,
    judging: &Judging,
    outcome: &mut Outcome,
) -> Result<()> {
    let Some(head) = workspace.repo.head()?.commit else {
        let what = "the repository has no commit to run the gates at";
        outcome.find_at(Code::UnbornHead, what, SETTINGS);
        return Ok(());
    };
    if judging.has_own_verifier {
        is_trusted(workspace, outcome)?;
    }
    let runs = workspace.run_judging_gates(judging, &head)?;
    let count = count_noun(runs.len(), "gate");
    let from = match judging.files.is_empty() {
        true => "",
        false => ", with its files under `.agent/`",
    };
    outcome.add_checked(format!(
        "{count} of the deciding contract at HEAD, in a clean room{from}"
    ));
    for run in runs.iter().filter(|run| !run.has_passed()) {
        let why = explain_red(workspace, &judging.config, run.into(), 3)?;
        let name = &run.gate.name;
        let what = format!("the gate `{name}` of the contract that decides does not pass: {why}");
        outcome.find_at(Code::StopVerifierFailed, what, SETTINGS);
    }
    // A branch also changes the files that gates run through, such as a Makefile, a runner's settings and tests. So the
    // tests of the base are run on HEAD's code as well.
    let tried = workspace
        .world()?
        .try_change(&judging.base, &head, &runs, &|_| {})?;
    outcome.checked.extend(tried.looked_at);
    for line in tried.lines.into_iter().map(Line::from) {
        let place = line.file.as_ref().map_or(SETTINGS, |file| &file.path);
        let what = format!("{}; next: {}", line.message, line.show);
        match line.weight {
            Weight::Refuses => outcome.find_at(line.code, what, place),
            Weight::NotKnown => outcome.add_checked(format!("not known: {}", line.message)),
            // A person must judge a change that a commit declares.
            Weight::Shown if line.declared.is_some() => outcome.add_checked(line.message),
            Weight::Shown => {}
        }
    }
    Ok(())
}

/// Adds the remarks that reviewers and judges see as well.
fn note(remarks: &[String], outcome: &mut Outcome) {
    for what in remarks {
        outcome.find(Code::GateSurroundings, what);
    }
}

pub(super) fn check_votes(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<()> {
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
    let required = snapshot.count_required_judges();
    list_votes_at(snapshot, &head, "this HEAD", required, outcome);
    tell_judges(workspace, snapshot, &head, outcome)
}

/// Adds who gave the verdicts, and what is known of them.
fn tell_judges(
    workspace: &Workspace,
    snapshot: &Snapshot,
    at: &Head,
    outcome: &mut Outcome,
) -> Result<()> {
    for judged in find_verdicts(workspace, snapshot, at)? {
        outcome.add_checked(clean(&judged.words(), Lines::Fold));
    }
    Ok(())
}

/// Adds the votes of the wave at that commit.
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

// Whether a slice is proven: its review, audit, receipts and criteria, at its head.

/// Recomputes the log, and checks one slice at the commit at which it was accepted.
///
/// # Errors
/// `slice_unknown`; a failing git, or a log that cannot be read.
pub fn slice(workspace: &Workspace, id: &str, rerun: Rerun) -> Result<Answered> {
    let outcome = check_state(workspace)?;
    let snapshot = outcome.sound_log(workspace)?;
    let asks = format!("is slice `{id}` proven?");
    let mut answered = Answered::new(asks, "it is not done", outcome);
    let Some(snapshot) = snapshot else {
        return Ok(answered.without_log(workspace));
    };
    let Some(slice) = snapshot.plan.slice(id) else {
        let what = format!("the plan has no slice `{id}`");
        return Err(Failure::unknown(Code::SliceUnknown, what));
    };
    // A goal has one slice, which is not reviewed.
    if snapshot.goal().is_some() {
        return answer_goal(workspace, &snapshot, rerun, answered.outcome);
    }
    let ledger = snapshot.ledger.slices.get(id);
    let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
    let Some(accepted) = accepted.filter(|_| slice.status == SliceStatus::Done) else {
        let why = match slice.status {
            SliceStatus::Done => "it came in as done, and no acceptance is on record".to_owned(),
            status => format!("it is {}", status.id().replace('_', " ")),
        };
        answered.outcome.find_at(Code::SliceNotProven, why, id);
        return answered.finish(workspace);
    };
    answered.answer = format!("at its head `{}`", short(&accepted.head));
    check_acceptance(workspace, slice, accepted, &mut answered.outcome)?;
    match workspace.repo.resolve(&accepted.head)? {
        Some(commit) => {
            let at = Head {
                tree: Some(workspace.repo.find_tree(&commit)?),
                commit: Some(commit),
                branch: None,
            };
            let judge = Judge::new(workspace, &snapshot, &at, rerun);
            answered.criteria = judge.criteria(Some(id))?;
        }
        None => {
            let code = match workspace.repo.is_shallow() {
                true => Code::HistoryShallow,
                false => Code::ProofBroken,
            };
            let what = format!("its head {} is not in this clone", short(&accepted.head));
            answered.outcome.find_at(code, what, id);
        }
    }
    answered.finish(workspace)
}

/// Checks the review, the audit and the receipts with which the slice was accepted.
fn check_acceptance(
    workspace: &Workspace,
    slice: &Slice,
    accepted: &Accepted,
    outcome: &mut Outcome,
) -> Result<()> {
    let store = workspace.store()?;
    let seq = accepted.seq.0.saturating_sub(1);
    let before: Snapshot = store.entry(&seq.to_string())?.snapshot;
    let id = slice.slice_id.as_str();
    let mut lacking = |what: String| outcome.find_at(Code::SliceNotProven, what, id);
    match current_review(&before) {
        Some(review) if !review.rejects() => {}
        Some(_) => lacking("the review of its head did not find it acceptable".to_owned()),
        None => lacking("no review of its head is on record".to_owned()),
    }
    let audit = current_audit(&before);
    if audit.is_none() && before.assurance().is_strict() {
        lacking("no audit of its head is on record".to_owned());
    }
    let ledger = before.ledger.slices.get(id);
    let ids = ledger.map_or(&[][..], |ledger| &ledger.receipts);
    let tree = ledger.and_then(|ledger| ledger.head_tree.as_deref());
    let kept = store.receipts()?;
    for id in ids {
        match kept.get(id) {
            Some(receipt) if receipt.has_passed() && receipt.tree_oid.as_deref() == tree => {}
            Some(receipt) if receipt.has_passed() => {
                lacking(format!("the receipt {} is of another tree", short(id)));
            }
            Some(receipt) => lacking(format!("`{}` {}", receipt.command, receipt.ending())),
            None => lacking(format!("the log does not hold the receipt {}", short(id))),
        }
    }
    if let Some(note) = ledger.and_then(|ledger| ledger.strength.as_deref()) {
        outcome.add_checked(describe_strength(id, note));
    }
    if let Some(assurance) = before.describe_assurance() {
        outcome.add_checked(format!(
            "assurance under which it was accepted: {assurance}"
        ));
    }
    let audit = audit.map_or("", |_| ", the audit");
    let receipts = count_noun(ids.len(), "receipt");
    outcome.add_checked(format!(
        "the review{audit} and {receipts} that it was accepted with"
    ));
    Ok(())
}

/// Describes the result of planted defects that the log holds for the gates of a slice.
pub(super) fn describe_strength(id: &str, note: &StrengthNote) -> String {
    let mut told = format!("strength of the gates over `{id}`: {}", note.tell());
    for waiver in &note.waived {
        told.push_str(&format!("; waived `{}`: {}", waiver.id, waiver.why));
    }
    told
}

// Whether a goal is reached at this commit: according to its log, and with `--rerun` by running its checks again.

/// Lets the commands of a goal from a fetched log run if the user names the goal or a listed signer has signed the log.
///
/// # Errors
/// `goal_commands`, with the commands, if neither is so.
pub fn accept_goal(workspace: &mut Workspace, named: Option<&str>) -> Result<()> {
    let (_, snapshot) = workspace.current()?;
    let Some(goal) = snapshot.as_ref().and_then(Snapshot::goal) else {
        let what = "`--goal` names a goal, and this log has none";
        return named.map_or(Ok(()), |_| Err(Failure::usage(what)));
    };
    let digest = goal.digest();
    let is_accepted = match (named, &workspace.log_from) {
        (Some(named), _) if !digest.starts_with(named) => {
            let what = format!("the goal of this log is {digest}, but `--goal` names another");
            return Err(refuse_commands(goal, what));
        }
        (Some(_), _) => true,
        (None, None) => false,
        (None, Some(source)) if is_signed(workspace, source)? => true,
        (None, Some(source)) => {
            let what = format!(
                "nothing was run: the log of `{}` names these commands, and it is not signed by anyone on the base's list",
                source.shown
            );
            return Err(refuse_commands(goal, what));
        }
    };
    workspace.trust_everything |= is_accepted;
    Ok(())
}

/// A failure that lists the commands and explains how to allow them.
fn refuse_commands(goal: &Goal, what: String) -> Failure {
    let mut failure = Failure::state(Code::GoalCommands, what);
    let commands = goal.checks.iter().map(|check| &check.run);
    failure.findings = commands
        .map(|run| Finding::new(Code::GoalCommands, clean(run, Lines::Fold)))
        .collect();
    failure.replace_hints([format!(
        "if you would run these commands yourself, run it again with `--goal {}`",
        goal.digest()
    )])
}

fn answer_goal(
    workspace: &Workspace,
    snapshot: &Snapshot,
    rerun: Rerun,
    mut outcome: Outcome,
) -> Result<Answered> {
    outcome.forget(Code::HeadMovedSinceDone);
    let standing = find_standing(workspace, snapshot, &mut outcome)?;
    if standing.done.is_none() {
        let what = clean(&snapshot.state.continuation_reason, Lines::Fold);
        outcome.find(Code::GoalNotReached, what);
    }
    if let Some(judging) = &workspace.judging {
        run_judging(workspace, judging, &mut outcome)?;
    }
    let goal = snapshot.goal();
    let criteria = match (rerun, goal, &standing.head.commit) {
        (Rerun::Head | Rerun::Slices, Some(goal), Some(head)) => {
            let is_recorded = standing.done.is_some();
            ask_again(workspace, (goal, head), is_recorded, &mut outcome)?
        }
        _ => Judge::new(workspace, snapshot, &standing.head, Rerun::No).criteria(None)?,
    };
    let reached = "the commit that reached the goal,";
    let how = standing.words(reached, "the goal is not reached");
    let words = clean(&snapshot.state.mission_anchor, Lines::Fold);
    let mut answer = format!("{how}: {words}");
    if let Some(goal) = goal {
        let count = count_noun(goal.checks.len(), "check");
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

/// Checks the goal at HEAD and adds what is open, in the words of `cook goal`.
pub(super) fn ask_at_head(workspace: &Workspace, goal: &Goal, outcome: &mut Outcome) -> Result<()> {
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

/// Adds the results of the base's tests that count against it.
fn tell_lines(found: &GoalFound, outcome: &mut Outcome) {
    for line in found.lines.iter().filter(|it| it.weight != Weight::Shown) {
        let [what, name] = [&line.what, &line.name].map(|text| clean(text, Lines::Fold));
        outcome.find_at(Code::GoalNotReached, what, &name);
    }
}

/// Runs each check again, in a new clean room.
fn ask_again(
    workspace: &Workspace,
    (goal, head): (&Goal, &String),
    is_recorded: bool,
    outcome: &mut Outcome,
) -> Result<Vec<Criterion>> {
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
