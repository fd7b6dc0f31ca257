//! What a transition owes the issue tracker, given to it.

use crate::service::Workspace;
use crate::tracker::{
    Bounds, Memory, MemoryError, Outage, Tracker, TrackerAction, TrackerError, list_owed, open,
    settle,
};
use cook_core::diagnostic::{Code, Finding};
use cook_core::model::Snapshot;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for one call, and for all, of what follows a report.
const FOLLOW_CALL: Duration = Duration::from_secs(5);
const FOLLOW_ALL: Duration = Duration::from_secs(15);

/// Gives the tracker what the plan owes it: claims of selected slices' issues, closes
/// of accepted ones. Never keeps a report from being taken: what fails is a finding
/// and is tried again with the next report.
pub(super) fn follow(workspace: &Workspace, snapshot: &Snapshot) -> Vec<Finding> {
    let actions = list_owed(&snapshot.plan);
    if actions.is_empty() {
        // What was settled before an undo is owed anew when it comes again.
        let forgotten = Memory::forget_settled(workspace.repo.git_dir());
        let behind = |error: MemoryError| Finding::new(Code::TrackerBehind, error.to_string());
        return forgotten.err().map(behind).into_iter().collect();
    }
    let kind = match workspace.config() {
        Ok(config) => config.tracker(),
        Err(failure) => return failure.findings,
    };
    let bounds = Bounds::beside(FOLLOW_CALL, Instant::now() + FOLLOW_ALL);
    match open(kind, workspace.repo.root(), bounds) {
        Ok(None) => Vec::new(),
        Ok(Some(beads)) => give(&beads, workspace.repo.git_dir(), &actions),
        Err(error) => {
            note_outage(workspace, &error);
            vec![error.finding()]
        }
    }
}

fn give(
    tracker: &dyn Tracker,
    git_dir: &Path,
    actions: &std::collections::BTreeSet<TrackerAction>,
) -> Vec<Finding> {
    let settled =
        Memory::hold(git_dir).and_then(|mut memory| settle(tracker, &mut memory, actions));
    match settled {
        Ok(report) => report.owed.iter().map(|(_, why)| why.finding()).collect(),
        Err(error) => vec![Finding::new(Code::TrackerBehind, error.to_string())],
    }
}

/// Best effort: an outage that cannot be noted is met again by the next caller.
pub(super) fn note_outage(workspace: &Workspace, error: &TrackerError) {
    if !error.is_outage() {
        return;
    }
    if let Ok(mut memory) = Memory::hold(workspace.repo.git_dir()) {
        let _ = memory.note_outage(Some(Outage {
            why: error.to_string(),
            since: workspace.clock.now(),
        }));
    }
}
