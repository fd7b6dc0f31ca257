//! Opens the tracker of a worktree.

use super::actor::Actor;
use super::beads::Beads;
use super::call::Bounds;
use super::error::TrackerError;
use super::find::find;
use super::interface::Tracker;
use cook_core::model::TrackerKind;
use std::path::Path;

/// The tracker of a worktree, asked whether it answers. None: cook's own plan, because
/// the settings say so or, with `auto`, because there is no other here.
///
/// # Errors
/// `Absent` when the settings name a tracker that is not here, `Unavailable` when it
/// is here and does not answer.
pub fn open(kind: TrackerKind, root: &Path, bounds: Bounds) -> Result<Option<Beads>, TrackerError> {
    let path = std::env::var_os("PATH");
    let Some(found) = find(kind, root, path.as_deref())? else {
        return Ok(None);
    };
    let beads = Beads::new(&found, root, Actor::of(root), bounds);
    match beads.detect() {
        Err(TrackerError::Absent { .. }) if kind == TrackerKind::Auto => Ok(None),
        answer => answer.map(|()| Some(beads)),
    }
}
