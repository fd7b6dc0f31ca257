//! What a prompt says of the slice in work out of settings and worktree: attempts, the gates
//! that will decide, and whose what is uncommitted would be.

use super::workspace::Workspace;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::Facts;
use cook_protocol::model::{Place, Role, Snapshot, surface_matches};
use cook_repo::receipt::{Receipts, merge_gates};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Paths that are named of each kind.
const NAMED: usize = 20;

/// Adds the rows that this role decides on; none where no slice is in work.
pub(super) fn add_slice_rows(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    role: Role,
) -> Result<(), Failure> {
    let Some(id) = snapshot.find_slice_in_work() else {
        return Ok(());
    };
    if matches!(role, Role::Implementer | Role::Regrounder) {
        let limits = &workspace.config()?.limits();
        let allowed = limits.add_attempts(&snapshot.counters.granted);
        let spent = snapshot.counters.attempts.get(id);
        let spent = spent.map_or(0, |spent| spent.0);
        let left = allowed.saturating_sub(spent);
        let _ = writeln!(text, "attempts left at slice {id}: {left} of {allowed}");
    }
    list_vanished(text, workspace, snapshot, facts, id)?;
    match role {
        Role::Implementer => list_gates(text, workspace, snapshot, facts),
        Role::Regrounder => {
            split_dirty(text, snapshot, facts, id);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Commits that were reported for the slice and are not there any more.
fn list_vanished(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    id: &str,
) -> Result<(), Failure> {
    let (Some(ledger), Some(head)) = (snapshot.ledger.slices.get(id), &facts.head) else {
        return Ok(());
    };
    let reported = [&ledger.head, &ledger.reported].into_iter().flatten();
    let reported: BTreeSet<&String> = reported.chain(&ledger.claimed).collect();
    let mut gone = Vec::new();
    for commit in reported {
        if !workspace.repo.on_head(head, commit)? {
            gone.push(commit.as_str());
        }
    }
    if !gone.is_empty() {
        let _ = writeln!(
            text,
            "reported for slice {id} and not on HEAD any more, so nothing of it counts as committed: {}",
            gone.join(", ")
        );
    }
    Ok(())
}

/// The gates that run at the commit, whether they may, and how long they took last.
fn list_gates(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
) -> Result<(), Failure> {
    let handoff = snapshot.active.handoff.as_ref();
    let commands = handoff.and_then(|handoff| handoff.verification_commands.clone());
    let gates = merge_gates(
        workspace.config()?.gate_specs(),
        &commands.unwrap_or_default(),
    );
    let trust = workspace.trust()?;
    let receipts = Receipts::of(&workspace.repo)?;
    let tree = facts.head.as_ref().and_then(|head| head.tree.as_deref());
    for gate in gates {
        let mut about = Vec::new();
        about.push(match gate.place {
            Place::CleanRoom => "runs at your commit, in a clean checkout",
            Place::Worktree => "runs in the worktree",
        });
        if !gate.required {
            about.push("may fail");
        }
        if gate.must_fail_at_basis {
            about.push("must fail at the basis");
        }
        about.push(match trust.is_trusted(&gate.run) {
            true => "is trusted here",
            false => "is not trusted here yet, so it does not run",
        });
        let _ = write!(text, "gate `{}`: {}", gate.run, about.join(", "));
        let runs = snapshot.evidence.runs.iter().rev();
        let of_slice = runs.into_iter().find(|run| run.command == gate.run);
        let at_head = match (of_slice, tree) {
            (None, Some(tree)) => receipts.find(&gate.run, tree)?,
            _ => None,
        };
        let _ = match of_slice.or(at_head.as_ref()) {
            Some(run) => write!(text, "; took {} ms last", run.duration_ms.0),
            None => write!(text, "; has not run at this HEAD"),
        };
        text.push('\n');
    }
    Ok(())
}

/// Commands of the settings and of open slices that this machine does not trust: the work stops for them
/// until the user does.
///
/// # Errors
/// Settings or trust that cannot be read.
pub(super) fn list_untrusted(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let trust = workspace.trust()?;
    let gates = workspace.config()?.gate_specs().into_iter();
    let gates = gates.map(|gate| gate.run);
    let slices = snapshot.plan.open_slices();
    let planned = slices.flat_map(|slice| slice.verification_commands.iter().flatten().cloned());
    let untrusted: BTreeSet<String> = gates
        .chain(planned)
        .filter(|command| !trust.is_trusted(command))
        .collect();
    for command in untrusted {
        let _ = writeln!(
            text,
            "gate `{command}`: is not trusted here yet; the work stops until the user trusts it"
        );
    }
    Ok(())
}

/// What is uncommitted on the slice's surfaces, and what beside them.
fn split_dirty(text: &mut String, snapshot: &Snapshot, facts: &Facts, id: &str) {
    let Some(worktree) = facts.worktree.as_ref().filter(|tree| !tree.is_clean()) else {
        return;
    };
    let handoff = snapshot.active.handoff.as_ref();
    let surfaces = handoff.and_then(|handoff| handoff.implementation_surfaces.as_ref());
    let surfaces = surfaces.map(Vec::as_slice).unwrap_or_default();
    let is_own = |path: &&String| {
        surfaces
            .iter()
            .any(|surface| surface_matches(surface, path))
    };
    let (own, beside): (Vec<_>, Vec<_>) = worktree.dirty.iter().partition(is_own);
    let mut list = |label: &str, paths: &[&String], more: u64| {
        if paths.is_empty() {
            return;
        }
        let named: Vec<&str> = paths.iter().take(NAMED).map(|path| path.as_str()).collect();
        let more = more + (paths.len() - named.len()) as u64;
        let _ = write!(text, "{label}: {}", named.join(", "));
        let _ = match more {
            0 => writeln!(text),
            more => writeln!(text, " and {more} more (`git status` shows all)"),
        };
    };
    list(&format!("uncommitted on the surfaces of {id}"), &own, 0);
    list("uncommitted beside them", &beside, worktree.more);
}
