//! Contract, documents, histories, log, plan evidence: what is checked without running a gate.

use super::criterion_proof::check_proof;
use super::git_facts::Again;
use super::verification::Answered;
use super::verify_outcome::Outcome;
use super::{cited_sessions, proven, worktree_documents};
use crate::service::{self, Workspace};
use cook_protocol::diagnostic::{Code, Failure, Finding, count_noun};
use cook_protocol::machine::short;
use cook_protocol::model::{Event, Role, Snapshot};
use cook_repo::run_again;
use cook_repo::store::Store;
use std::collections::BTreeMap;

/// Paths of a dirty worktree that are named.
const NAMED: usize = 5;

/// Is the state sound: contract, documents, histories, log, plan evidence.
///
/// # Errors
/// Git that does not answer, a log that cannot be read.
pub fn control_plane(workspace: &Workspace) -> Result<Answered, Failure> {
    let mut outcome = check_state(workspace)?;
    if let Some(snapshot) = outcome.sound_log(workspace)? {
        check_proof(workspace, &snapshot, &mut outcome)?;
        // A log that was fetched is about HEAD also where HEAD is what became of its done commit.
        if workspace.log_from.is_some()
            && proven::find(workspace, &snapshot, &mut Outcome::default())?
                .how
                .is_some()
        {
            outcome.forget(Code::HeadMovedSinceDone);
        }
    } else if workspace.log_from.is_some() && !outcome.has_found(Code::LogDamaged) {
        outcome.miss_log(workspace);
    }
    let answer = match (&workspace.store, &workspace.log_from) {
        (Some(_), None) => "contract, documents, log and histories were compared",
        (Some(_), Some(_)) => "contract, log and histories were compared",
        (None, Some(_)) => "there is no log there: the contract alone was looked at",
        (None, None) => "there is no log here: the contract alone was looked at",
    };
    Ok(Answered {
        // The contract alone is a question of its own where no log was named.
        has_log: workspace.store.is_some() || workspace.log_from.is_none(),
        ..Answered::new("is the state sound?", answer, outcome.sort())
    })
}

/// Contract, documents, histories, log.
pub(super) fn check_state(workspace: &Workspace) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    outcome.findings.extend(workspace.config_problem().cloned());
    check_worktree(workspace, &mut outcome)?;
    // Of a log that was just fetched git has named each object by what it holds, and the chain was
    // followed to its end.
    let own = workspace.store.as_ref();
    let own = own.filter(|_| workspace.log_from.is_none());
    if let Some(reach) = own.map(Store::reach).transpose()? {
        let count = count_noun(reach.objects, "object");
        outcome.add_checked(format!("{count} that the log leads to"));
        outcome.findings.extend(reach.findings);
        if !reach.is_whole {
            // Whatever is derived from the log cannot be derived again.
            let snapshot = match reach.stands {
                true => workspace.current()?.1,
                false => None,
            };
            worktree_documents::check_contract(workspace, snapshot.as_ref(), &mut outcome)?;
            return Ok(outcome);
        }
    }
    let (_, snapshot) = workspace.current()?;
    // A goal has no contract, and its documents lie in the git dir.
    let is_goal = snapshot.as_ref().is_some_and(|it| it.goal().is_some());
    if !is_goal {
        worktree_documents::check_contract(workspace, snapshot.as_ref(), &mut outcome)?;
    }
    let Some(snapshot) = snapshot else {
        worktree_documents::check_without_log(workspace, &mut outcome)?;
        return Ok(outcome);
    };
    if workspace.log_from.is_none() && !is_goal {
        worktree_documents::check(workspace, &snapshot, &mut outcome)?;
    }
    check_log(workspace, &mut outcome)?;
    cited_sessions::check(workspace, &mut outcome)?;
    check_dispatch(workspace, &snapshot, &mut outcome)?;
    Ok(outcome)
}

/// What is verified is a commit: a worktree that differs from it is another thing.
pub(super) fn check_worktree(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let status = workspace.repo.read_status_anew()?.worktree;
    if !status.is_clean() {
        let dirty = status.name_dirty(NAMED);
        let what = format!("the worktree is not clean: {dirty}");
        outcome.find(Code::DirtyWorktree, what);
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
        outcome.find(Code::DirtyWorktree, what);
    }
    outcome.add_checked("the worktree against HEAD");
    Ok(())
}

/// Runs every event again and compares what comes out with what the log holds.
pub(super) fn check_log(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut again = Again::new(workspace)?;
    let mut failed = None;
    let mut untrue = Vec::new();
    let mut builders = BTreeMap::new();
    let mut seq = 0;
    let report = workspace.store()?.replay(|before, event, facts, actor| {
        seq += 1;
        let produced = run_again(before, event, facts, actor)?;
        let mut find = |code, what| {
            untrue.push(Finding::new(code, what).at(format!("transition {seq}")));
        };
        if let Some((role, built)) = find_builder(&mut builders, seq, event) {
            let what = format!("the {role} is the session that did the work (transition {built})");
            find(Code::JudgeNotIndependent, what);
        }
        match again.contradiction(seq, before, event, facts) {
            Ok(None) => {}
            Ok(Some(what)) => find(
                Code::FactsContradicted,
                format!("git says otherwise: {what}"),
            ),
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

/// Where one that reviews or judges is a session that did the work: its role, and the transition that first
/// says so. `builders`: the sessions that implemented until here.
fn find_builder(
    builders: &mut BTreeMap<String, u64>,
    seq: u64,
    event: &Event,
) -> Option<(Role, u64)> {
    let role = event.role()?;
    let session = event.submission()?.session.as_ref()?;
    if role == Role::Implementer {
        builders.entry(session.clone()).or_insert(seq);
    }
    let built = builders.get(session).filter(|_| role.is_independent())?;
    Some((role, *built))
}

/// What `dispatch` says now against what was written down, and what it noticed.
fn check_dispatch(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let (dispatch, _) = service::dispatch_told(workspace, Some(snapshot))?;
    // Single files are reported by the checks that read them.
    let is_of_all = |finding: &Finding| {
        !matches!(
            finding.code,
            Code::EditedOutside | Code::ContractUntracked | Code::DirtyWorktree
        )
    };
    let found = dispatch.findings.into_iter().filter(is_of_all);
    outcome.findings.extend(found);
    let stored = snapshot.state.next_mandatory_role.0;
    if stored != dispatch.role {
        let name = |role: Option<Role>| role.map_or("nobody", |role| role.id());
        let what = format!(
            "{} is written down as next, and rule {} names {}",
            name(stored),
            dispatch.rule,
            name(dispatch.role)
        );
        outcome.find(Code::DispatchDiffers, what);
    }
    let scripted = snapshot.ledger.scripted_commands.0;
    if scripted > 0 {
        let commands = service::list_scripted_commands(workspace, snapshot)?;
        let what = service::describe_scripted(scripted, &commands);
        outcome.find(Code::ScriptedCommand, what);
    }
    // Slices that were in work and then cancelled as there already: nobody had to accept what was built.
    let slices = snapshot.plan.candidate_slices.iter();
    for slice in slices.filter(|slice| slice.is_satisfied()) {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id);
        if let Some(basis) = ledger.and_then(|ledger| ledger.basis.as_deref()) {
            let what = format!(
                "it was in work since {}, and then cancelled as there already: no review was asked of what was built",
                short(basis)
            );
            outcome.find_at(Code::SliceCancelled, what, &slice.slice_id);
        }
    }
    if workspace.repo.head()?.commit.is_none() {
        outcome.find(Code::UnbornHead, "the repository has no commit yet");
    }
    outcome.add_checked(format!("dispatch: rule {}", dispatch.rule));
    Ok(())
}
