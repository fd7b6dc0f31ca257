//! Why the last report of a role was not taken.

use super::workspace::Workspace;
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::{Event, Role};

/// How many transitions are looked through for the last report of a role.
const LOOK_BACK: usize = 50;

/// Why the last session of the role came to nothing, as the log has it; none where its last report
/// was taken. A run that ended since then makes no difference.
///
/// # Errors
/// An unreadable log.
pub fn last_refusal(workspace: &Workspace, role: Role) -> Result<Option<String>, Failure> {
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
