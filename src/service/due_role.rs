//! Which role is due in the present state of the repository.

use crate::measure::GateRuns;
use crate::measure::{World, read_rules};
use crate::prelude::*;
use crate::workspace::{Workspace, elsewhere};
use cook_protocol::machine::{Found, Trace, Worktree};
use cook_protocol::model::RoomCheck;
use cook_repo::run_again;
use shell_words::quote;

/// Names the mandatory role from the present state of the repository.
///
/// # Errors
/// Unreadable state, or a failing git.
pub fn dispatch_now(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
) -> Result<(Dispatch, Facts)> {
    if let Some(snapshot) = snapshot {
        require_true_end(workspace, snapshot)?;
    }
    dispatch_told(workspace, snapshot)
}

/// Like [`dispatch_now`], for callers that replay the log anyway: does not check a recorded end of the project.
///
/// # Errors
/// As [`dispatch_now`].
pub fn dispatch_told(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
) -> Result<(Dispatch, Facts)> {
    let ((mut dispatch, _), facts) = explain_now(workspace, snapshot)?;
    dispatch
        .findings
        .extend(workspace.config_problem().cloned());
    if snapshot.is_none() {
        name_remotes(workspace, &mut dispatch)?;
    }
    Ok((dispatch, facts))
}

/// Checks that the role is due. Passes if there is no log yet.
///
/// # Errors
/// `not_your_turn`, with the role that is due; as [`dispatch_now`].
pub fn require_turn(workspace: &Workspace, role: Role) -> Result<()> {
    let (_, snapshot) = workspace.current()?;
    let Some(snapshot) = snapshot.filter(|_| role != Role::Bootstrapper) else {
        return Ok(());
    };
    let (due, _) = dispatch_now(workspace, Some(&snapshot))?;
    match due.role == Some(role) {
        true => Ok(()),
        false => Err(machine::not_your_turn(role, &due).into()),
    }
}

/// Proposes to pull a log that a remote holds: a log that is started here would conflict with it.
fn name_remotes(workspace: &Workspace, dispatch: &mut Dispatch) -> Result<()> {
    let elsewhere = elsewhere(&workspace.repo, &workspace.place())?;
    if let Some(remote) = elsewhere.seen.first() {
        dispatch.action = "take the log in".to_owned();
        dispatch.reason = format!("this clone has seen the log of this branch on `{remote}`");
        dispatch.blocking_command = Some("cook pull".to_owned());
    } else if !elsewhere.configured.is_empty() && dispatch.rule == Rule::Recover {
        // The contract came with the clone, so the log is most likely at the clone's source.
        dispatch.action = "take the log in, or start it where no remote holds one".to_owned();
        dispatch.reason += "; where no remote holds the log of this branch, `cook init` starts it";
        dispatch.blocking_command = Some("cook pull".to_owned());
    }
    Ok(())
}

/// Like [`dispatch_now`], with the facts that each rule saw. Settings that cannot be read do not hide which role is
/// due; they stop the commands that decide by them.
///
/// # Errors
/// As [`dispatch_now`].
pub fn explain_now(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
) -> Result<((Dispatch, Vec<Trace>), Facts)> {
    let mut facts = Facts {
        config: workspace.config().ok().map(read_rules),
        ..Facts::default()
    };
    let is_broken = workspace.config_problem().is_some();
    let measure = |world: &World, question: &Question, facts: &mut Facts| match is_broken {
        true if question.reads_settings() => Ok(()),
        _ => world.measure(question, facts),
    };
    let explained =
        workspace.decide_by(snapshot, &mut facts, GateRuns::Kept, measure, |facts| {
            machine::explain(snapshot, facts)
        })?;
    Ok((explained, facts))
}

/// Runs the stop verifier alone, for `cook verify stop`.
///
/// # Errors
/// As [`transition`].
pub fn run_stop_verifier(workspace: &Workspace) -> Result<machine::StopVerifierRun> {
    let question = Question::StopVerifier(workspace.caches);
    let facts = workspace.measure(None, question, GateRuns::Allowed)?;
    facts
        .stop_verifier
        .ok_or_else(|| Failure::state(Code::FactMissing, "the stop verifier was not run"))
}

/// Runs the required gates at HEAD in a clean room; `None` on an unborn branch. Also runs the proof of done slices, so
/// that its result is known before judges are asked.
///
/// # Errors
/// As [`transition`].
pub fn check_room(workspace: &Workspace) -> Result<Option<RoomCheck>> {
    let (_, snapshot) = workspace.current()?;
    let world = World::new(workspace, workspace.config()?, snapshot.as_ref());
    let room = world.room()?;
    let standing = snapshot.as_ref().and_then(machine::ask_standing);
    if let Some(Question::Standing { seen, anchors }) = standing {
        world.standing(&seen, &anchors, true)?;
    }
    Ok(room)
}

/// HEAD as it was measured.
///
/// # Errors
/// `fact_missing` if it was not measured.
pub fn find_head(facts: &Facts) -> Result<Head> {
    facts
        .head
        .clone()
        .ok_or_else(|| Failure::state(Code::FactMissing, "HEAD was not measured"))
}

// Checks that the log follows from its own events: transitions that another writer recorded are replayed before they
// are believed.

/// Whether the log's tip descends from the transition `since`.
///
/// # Errors
/// A log that cannot be read.
pub fn follows(workspace: &Workspace, since: &str) -> Result<bool> {
    for meta in workspace.store()?.entries()? {
        if meta?.commit == since {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first claim of the transitions after `since` that their events do not produce.
///
/// # Errors
/// A log that cannot be read or does not hold `since`.
pub fn find_made_up(workspace: &Workspace, since: &str) -> Result<Option<String>> {
    let report = workspace.store()?.replay_after(Some(since), run_again)?;
    Ok(report.findings.into_iter().next().map(|one| one.message))
}

/// Checks by a replay that the last transition really led to the end that the log records.
pub(super) fn require_true_end(workspace: &Workspace, snapshot: &Snapshot) -> Result<()> {
    if snapshot.state.continuation_policy != Policy::Done || workspace.log_from.is_some() {
        return Ok(());
    }
    let store = workspace.store()?;
    let mut entries = store.entries()?;
    let (Some(tip), Some(before)) = (entries.next().transpose()?, entries.next().transpose()?)
    else {
        return Ok(());
    };
    let Some(what) = find_made_up(workspace, &before.commit)? else {
        return Ok(());
    };
    let log = workspace.place().log_dir();
    let mut failure = Failure::state(
        Code::LogNotDerivable,
        format!("the log marks the project done, but its events do not lead to that: {what}"),
    );
    failure.hints = vec![
        "`cook verify control-plane` runs the whole log again".to_owned(),
        format!(
            "`git --git-dir={} update-ref {} {} {}` removes that transition",
            quote(&log.to_string_lossy()),
            store.branch(),
            before.commit,
            tip.commit
        ),
    ];
    Err(failure)
}

// The state as a report finds it in this repository: what a role is shown, and what can be selected.

/// Compares the slices that the log calls done with the repository. No gate is run.
///
/// # Errors
/// Unreadable state, or a failing git.
pub(super) fn find_state(
    workspace: &Workspace,
    snapshot: &Snapshot,
    due: &Dispatch,
    facts: &Facts,
) -> Result<Found> {
    let mut facts = facts.clone();
    workspace.decide(Some(snapshot), &mut facts, GateRuns::Kept, |facts| {
        machine::find_state(snapshot, facts, due)
    })
}

/// The plan as a report finds it; it decides which slices can be selected.
///
/// # Errors
/// Unreadable state, or a failing git.
pub fn find_plan(workspace: &Workspace, snapshot: &Snapshot) -> Result<Plan> {
    Ok(find(workspace, snapshot)?.snapshot.plan)
}

/// Like [`find_plan`], with the other obstacles to a selection.
///
/// # Errors
/// As [`find_plan`].
pub fn find(workspace: &Workspace, snapshot: &Snapshot) -> Result<Found> {
    let (due, facts) = dispatch_now(workspace, Some(snapshot))?;
    let snapshot = &*machine::follow(snapshot, &facts);
    find_state(workspace, snapshot, &due, &facts)
}

/// The plan as a report finds it; `None` if HEAD did not move since the log last recorded it.
///
/// # Errors
/// As [`find_plan`].
pub fn find_where_moved(
    workspace: &Workspace,
    snapshot: &Snapshot,
    due: &Dispatch,
    facts: &Facts,
) -> Result<Option<Plan>> {
    let head = facts.head.as_ref().and_then(|head| head.commit.as_ref());
    // Without readable settings the state cannot be compared with the repository.
    if head == snapshot.ledger.mark.as_ref() || workspace.config_problem().is_some() {
        return Ok(None);
    }
    let snapshot = &*machine::follow(snapshot, facts);
    Ok(Some(
        find_state(workspace, snapshot, due, facts)?.snapshot.plan,
    ))
}

// Uncommitted changes while a role is due: the role that works or judges next to them has to know of them, and how they
// affect the acceptance of its report.

/// Maximum number of paths that are named.
const NAMED: usize = 20;

/// The worktree, if it has uncommitted changes.
///
/// # Errors
/// A failing git.
pub fn find_uncommitted(workspace: &Workspace, facts: &Facts) -> Result<Option<Worktree>> {
    let worktree = match &facts.worktree {
        Some(worktree) => worktree.clone(),
        None => workspace.repo.recent_status()?.worktree,
    };
    Ok(Some(worktree).filter(|worktree| !worktree.is_clean()))
}

/// Whether the uncommitted changes differ from those at the last transition. If so, the report of a role that may
/// change nothing is accepted only with a ticket.
pub fn needs_ticket(snapshot: &Snapshot, worktree: &Worktree) -> bool {
    let seen = snapshot.ledger.status_seen.as_ref();
    seen.is_some_and(|seen| *seen != worktree.digest)
}

/// What the due role must know of the uncommitted changes, unless a rule already says it.
pub fn tell_uncommitted(
    snapshot: &Snapshot,
    dispatch: &Dispatch,
    worktree: &Worktree,
) -> Option<Finding> {
    let is_named = |finding: &Finding| finding.code == Code::DirtyWorktree;
    let is_told = dispatch.findings.iter().any(is_named);
    let paths = worktree.name_dirty(NAMED);
    let what = match dispatch.role? {
        Role::Bootstrapper => return None,
        Role::Regrounder if is_told => return None,
        Role::Regrounder => format!(
            "the worktree is not clean: {paths}; a slice can be selected or accepted only after the user commits or removes these changes"
        ),
        Role::Implementer => format!(
            "not committed: {paths}; commit the changes on the slice's surfaces with the slice, or it is reopened; leave the other changes as they are"
        ),
        Role::Reviewer | Role::Auditor | Role::StopJudge => {
            let named = match is_told {
                true => None,
                false => Some(format!("not committed, so not what you judge: {paths}")),
            };
            let moved = needs_ticket(snapshot, worktree).then(|| {
                "the worktree changed since the last transition: a report is accepted only with the ticket that `cook next` prints now".to_owned()
            });
            let parts: Vec<String> = named.into_iter().chain(moved).collect();
            match parts.is_empty() {
                true => return None,
                false => parts.join("; "),
            }
        }
    };
    Some(Finding::new(Code::DirtyWorktree, what))
}

// Why the last report of a role was not accepted.

/// Maximum number of transitions that are searched for the last report of a role.
const LOOK_BACK: usize = 50;

/// Why the last session of the role failed, according to the log; `None` if its last report was accepted. A run that
/// ended since then makes no difference.
///
/// # Errors
/// A log that cannot be read.
pub fn last_refusal(workspace: &Workspace, role: Role) -> Result<Option<String>> {
    let store = workspace.store()?;
    for meta in store.entries()?.take(LOOK_BACK) {
        let event = store.event(&meta?.commit)?;
        if matches!(event, Event::Refocused { .. }) {
            break;
        }
        if event.role() != Some(role) {
            continue;
        }
        return Ok(match event {
            // Logs of earlier builds hold only the codes.
            Event::Refused { codes, why, .. } if why.is_empty() => Some(codes.join(", ")),
            Event::Refused { why, .. } => Some(why),
            _ => None,
        });
    }
    Ok(None)
}
