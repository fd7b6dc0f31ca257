//! Contract, documents, histories, log, plan evidence: what is checked without running a gate.

use super::facts::Again;
use super::independence::Independence;
use super::no_log::log_missing;
use super::outcome::Outcome;
use super::{cited, contract, documents, proof, proven};
use crate::service::{self, Workspace};
use cook_core::diagnostic::{Code, Failure, Finding, count_noun};
use cook_core::machine::short;
use cook_core::model::Snapshot;
use cook_store::run_again;
use cook_store::store::Store;

/// Contract, documents, histories, log, plan evidence.
///
/// # Errors
/// Git that does not answer, a log that cannot be read.
pub fn control_plane(workspace: &Workspace) -> Result<Outcome, Failure> {
    let mut outcome = state(workspace)?;
    if let Some(snapshot) = sound(workspace, &outcome)? {
        proof::check(workspace, &snapshot, &mut outcome)?;
        // A log that was fetched is about HEAD also where HEAD is what became of its done commit.
        let is_proven = workspace.log_from.is_some()
            && proven::find(workspace, &snapshot, &mut Outcome::default())?
                .how
                .is_some();
        if is_proven {
            let is_other = |finding: &Finding| finding.code != Code::HeadMovedSinceDone;
            outcome.findings.retain(is_other);
        }
    } else if workspace.log_from.is_some() && !outcome.has_found(Code::LogDamaged) {
        outcome.findings.push(log_missing(workspace));
    }
    Ok(outcome.sort())
}

/// What the log says, where it can be believed: votes and proofs of a damaged one are nobody's word.
pub(super) fn sound(workspace: &Workspace, outcome: &Outcome) -> Result<Option<Snapshot>, Failure> {
    match outcome.has_found(Code::LogDamaged) {
        true => Ok(None),
        false => Ok(workspace.current()?.1),
    }
}

/// Contract, documents, histories, log.
///
/// # Errors
/// Git that does not answer, a log that cannot be read.
pub(super) fn state(workspace: &Workspace) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    outcome.findings.extend(workspace.config_problem().cloned());
    worktree(workspace, &mut outcome)?;
    // Of a log that was just fetched git has named each object by what it holds, and the chain was
    // followed to its end.
    let own = workspace.store.as_ref();
    let own = own.filter(|_| workspace.log_from.is_none());
    if let Some(reach) = own.map(Store::reach).transpose()? {
        outcome.add_checked(format!(
            "{} that the log leads to",
            count_noun(reach.objects, "object")
        ));
        outcome.findings.extend(reach.findings);
        if !reach.is_whole {
            // Whatever is derived from the log cannot be derived again.
            let snapshot = match reach.stands {
                true => workspace.current()?.1,
                false => None,
            };
            contract::check(workspace, snapshot.as_ref(), &mut outcome)?;
            return Ok(outcome.sort());
        }
    }
    let (_, snapshot) = workspace.current()?;
    // A goal has no contract, and its documents lie in the git dir.
    let is_goal = snapshot.as_ref().is_some_and(|it| it.goal().is_some());
    if !is_goal {
        contract::check(workspace, snapshot.as_ref(), &mut outcome)?;
    }
    let Some(snapshot) = snapshot else {
        documents::check_without_log(workspace, &mut outcome)?;
        return Ok(outcome.sort());
    };
    if workspace.log_from.is_none() && !is_goal {
        documents::check(workspace, &snapshot, &mut outcome)?;
    }
    log(workspace, &mut outcome)?;
    cited::check(workspace, &mut outcome)?;
    standing(workspace, &snapshot, &mut outcome)?;
    Ok(outcome.sort())
}

/// What is verified is a commit: a worktree that differs from it is another thing.
pub(super) fn worktree(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let status = workspace.repo.read_status_anew()?.worktree;
    if !status.is_clean() {
        outcome.findings.push(Finding::new(
            Code::DirtyWorktree,
            format!("the worktree is not clean: {}", status.name_dirty(NAMED)),
        ));
    }
    let unwatched = workspace.repo.list_unwatched()?;
    if let Some(first) = unwatched.first() {
        let more = match unwatched.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = format!(
            "git was told not to look at {first}{more}: a clean status says nothing of it; `git update-index --no-assume-unchanged --no-skip-worktree` lets it look"
        );
        let finding = Finding::new(Code::DirtyWorktree, what);
        outcome.findings.push(finding);
    }
    outcome.add_checked("the worktree against HEAD");
    Ok(())
}

/// Paths of a dirty worktree that are named.
const NAMED: usize = 5;

/// Runs every event again and compares what comes out with what the log holds.
pub(super) fn log(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut again = Again::new(workspace)?;
    let mut failed = None;
    let mut untrue = Vec::new();
    let mut independence = Independence::default();
    let mut seq = 0;
    let report = workspace.store()?.replay(|before, event, facts, actor| {
        seq += 1;
        let produced = run_again(before, event, facts, actor)?;
        untrue.extend(independence.breach(seq, event).map(|what| {
            Finding::new(Code::JudgeNotIndependent, what).at(format!("transition {seq}"))
        }));
        match again.contradiction(seq, before, event, facts) {
            Ok(what) => untrue.extend(what.map(|what| {
                let what = format!("git says otherwise: {what}");
                Finding::new(Code::FactsContradicted, what).at(format!("transition {seq}"))
            })),
            Err(failure) => failed = failed.take().or(Some(failure)),
        }
        Ok(produced)
    })?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    outcome.add_checked(format!(
        "{} run again, {} compared; git asked again about {}",
        count_noun(report.transitions, "transition"),
        count_noun(report.records, "record"),
        again.compared
    ));
    outcome.findings.extend(report.findings);
    outcome.findings.extend(untrue);
    outcome.findings.extend(again.tell_unasked());
    if workspace.log_from.is_none() {
        outcome.findings.extend(workspace.store()?.trail_finding()?);
    }
    Ok(())
}

/// Slices that were in work and then cancelled as there already: nobody had to accept what was built.
fn find_unreviewed(snapshot: &Snapshot) -> Vec<Finding> {
    let slices = snapshot.plan.candidate_slices.iter();
    let satisfied = slices.filter(|slice| slice.is_satisfied());
    let found = satisfied.filter_map(|slice| {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id)?;
        let basis = ledger.basis.as_deref()?;
        let what = format!(
            "it was in work since {}, and then cancelled as there already: no review was asked of what was built",
            short(basis)
        );
        Some(Finding::new(Code::SliceCancelled, what).at(slice.slice_id.clone()))
    });
    found.collect()
}

/// What `dispatch` says now against what was written down, and what it noticed.
fn standing(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let (dispatch, _) = service::dispatch_told(workspace, Some(snapshot))?;
    // Single files are reported by the checks that read them.
    outcome.findings.extend(
        dispatch
            .findings
            .iter()
            .filter(|finding| {
                !matches!(
                    finding.code,
                    Code::EditedOutside | Code::ContractUntracked | Code::DirtyWorktree
                )
            })
            .cloned(),
    );
    let stored = &snapshot.state;
    if stored.next_mandatory_role.0 != dispatch.role {
        let name = |role: Option<cook_core::model::Role>| role.map_or("nobody", |role| role.id());
        outcome.findings.push(Finding::new(
            Code::DispatchDiffers,
            format!(
                "{} is written down as next, and rule {} names {}",
                name(stored.next_mandatory_role.0),
                dispatch.rule,
                name(dispatch.role)
            ),
        ));
    }
    let scripted = snapshot.ledger.scripted_commands.0;
    if scripted > 0 {
        let commands = service::list_scripted_commands(workspace, snapshot)?;
        let what = service::describe_scripted(scripted, &commands);
        outcome
            .findings
            .push(Finding::new(Code::ScriptedCommand, what));
    }
    outcome.findings.extend(find_unreviewed(snapshot));
    if workspace.repo.head()?.commit.is_none() {
        outcome.findings.push(Finding::new(
            Code::UnbornHead,
            "the repository has no commit yet",
        ));
    }
    outcome.add_checked(format!("dispatch: rule {}", dispatch.rule));
    Ok(())
}
