//! Who is due, by what the repository is now.

use crate::measure::GateRuns;
use crate::measure::{World, read_rules};
use crate::prelude::*;
use crate::workspace::{Workspace, elsewhere};
use cook_protocol::machine::{Found, Trace, Worktree};
use cook_protocol::model::RoomCheck;
use cook_repo::run_again;
use shell_words::quote;

/// Names the mandatory role from what the repository is now.
///
/// # Errors
/// Unreadable state, or git that does not answer.
pub fn dispatch_now(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
) -> Result<(Dispatch, Facts)> {
    if let Some(snapshot) = snapshot {
        require_true_end(workspace, snapshot)?;
    }
    dispatch_told(workspace, snapshot)
}

/// The same, where the log is held against its events anyway.
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

/// The role is due; before there is a log no one's turn is missed.
///
/// # Errors
/// `not_your_turn`, with who is due instead; as [`dispatch_now`].
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

/// A log that is elsewhere is taken in; one that is begun here would stand in its way.
fn name_remotes(workspace: &Workspace, dispatch: &mut Dispatch) -> Result<()> {
    let elsewhere = elsewhere(&workspace.repo, &workspace.place())?;
    if let Some(remote) = elsewhere.seen.first() {
        dispatch.action = "take the log in".to_owned();
        dispatch.reason = format!("this clone has seen the log of this branch on `{remote}`");
        dispatch.blocking_command = Some("cook pull".to_owned());
    } else if !elsewhere.configured.is_empty() && dispatch.rule == Rule::Recover {
        // The contract came with the clone: most likely the log stands where that came from.
        dispatch.action = "take the log in, or start it where no remote holds one".to_owned();
        dispatch.reason += "; where no remote holds the log of this branch, `cook init` starts it";
        dispatch.blocking_command = Some("cook pull".to_owned());
    }
    Ok(())
}

/// The same with what each rule saw. Settings that cannot be read do not keep anybody from being told who
/// is due; they stop whoever decides by them.
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

/// Facts for the stop verifier alone, for `cook verify stop`.
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

/// What the required gates say of HEAD in a clean room; none on an unborn branch. What done slices rest on is
/// run as well, so that it is known before judges are asked.
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
/// When nobody measured it.
pub fn find_head(facts: &Facts) -> Result<Head> {
    facts
        .head
        .clone()
        .ok_or_else(|| Failure::state(Code::FactMissing, "HEAD was not measured"))
}

// Whether what stands in the log follows from what stood there before: what somebody else wrote is
// run again before it is believed.

/// The log's tip goes on from that transition.
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

/// What the first transition after `since` claims that its event does not produce.
///
/// # Errors
/// A log that cannot be read, or does not hold that transition.
pub fn find_made_up(workspace: &Workspace, since: &str) -> Result<Option<String>> {
    let report = workspace.store()?.replay_after(Some(since), run_again)?;
    Ok(report.findings.into_iter().next().map(|one| one.message))
}

/// An end of the project that stands in the log is one that its last transition brought about.
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

/// Holds what the log calls done against the repository. No gate is run for it.
///
/// # Errors
/// Unreadable state, or git that does not answer.
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

/// The plan that a report finds, by which slices can be selected.
///
/// # Errors
/// Unreadable state, or git that does not answer.
pub fn find_plan(workspace: &Workspace, snapshot: &Snapshot) -> Result<Plan> {
    Ok(find(workspace, snapshot)?.snapshot.plan)
}

/// The same with what stands against a selection beside the plan.
///
/// # Errors
/// As [`find_plan`].
pub fn find(workspace: &Workspace, snapshot: &Snapshot) -> Result<Found> {
    let (due, facts) = dispatch_now(workspace, Some(snapshot))?;
    let snapshot = &*machine::follow(snapshot, &facts);
    find_state(workspace, snapshot, &due, &facts)
}

/// The plan that a report finds, where HEAD moved since somebody looked at it.
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
    // Where the settings cannot be read, nothing is held against them.
    if head == snapshot.ledger.mark.as_ref() || workspace.config_problem().is_some() {
        return Ok(None);
    }
    let snapshot = &*machine::follow(snapshot, facts);
    Ok(Some(
        find_state(workspace, snapshot, due, facts)?.snapshot.plan,
    ))
}

// What is not committed while a role is due: whoever works or judges next to it has to know, and
// whoever hands a report in has to know how it is taken.

/// Paths that are named.
const NAMED: usize = 20;

/// The worktree, where something of it is not committed.
///
/// # Errors
/// git that does not answer.
pub fn find_uncommitted(workspace: &Workspace, facts: &Facts) -> Result<Option<Worktree>> {
    let worktree = match &facts.worktree {
        Some(worktree) => worktree.clone(),
        None => workspace.repo.recent_status()?.worktree,
    };
    Ok(Some(worktree).filter(|worktree| !worktree.is_clean()))
}

/// Something came since the last transition that is not committed: a report of a role that may
/// change nothing is taken with a ticket alone.
pub fn needs_ticket(snapshot: &Snapshot, worktree: &Worktree) -> bool {
    let seen = snapshot.ledger.status_seen.as_ref();
    seen.is_some_and(|seen| *seen != worktree.digest)
}

/// What the role that is due has to know of it, where no rule says it already.
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

// Why the last report of a role was not taken.

/// How many transitions are looked through for the last report of a role.
const LOOK_BACK: usize = 50;

/// Why the last session of the role came to nothing, as the log has it; none where its last report
/// was taken. A run that ended since then makes no difference.
///
/// # Errors
/// An unreadable log.
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
            // An older log has the codes alone.
            Event::Refused { codes, why, .. } if why.is_empty() => Some(codes.join(", ")),
            Event::Refused { why, .. } => Some(why),
            _ => None,
        });
    }
    Ok(None)
}
