//! Commands of the user's that a script gave in their place.

use super::workspace::Workspace;
use cook_protocol::diagnostic::{Failure, count_noun};
use cook_protocol::model::{Snapshot, USER_COMMANDS};

/// How many transitions are looked through for those that a script made.
const LOOK_BACK: usize = 1_000;

/// Sequence and event of user-only commands that were run with `--as-user`, newest
/// first, as far back as the log can be read. It is read only when there is one.
///
/// # Errors
/// An unreadable log.
pub fn list_scripted_commands(
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<Vec<(u64, String)>, Failure> {
    let opened = snapshot.ledger.scripted_commands.0;
    let mut found = Vec::new();
    if opened == 0 {
        return Ok(found);
    }
    for meta in workspace.store()?.entries()?.take(LOOK_BACK) {
        // Those that cannot be read are counted all the same; `cook verify` names them.
        let Ok(meta) = meta else { break };
        if meta.actor == "script" && USER_COMMANDS.contains(&meta.event.as_str()) {
            found.push((meta.seq, meta.event));
        }
        if found.len() as u64 == opened {
            break;
        }
    }
    Ok(found)
}

/// Who reads this decides how much a user's word is worth that a script spoke.
pub fn describe_scripted(opened: u64, commands: &[(u64, String)]) -> String {
    const SHOWN: usize = 10;
    let mut named: Vec<String> = commands
        .iter()
        .take(SHOWN)
        .map(|(seq, event)| format!("#{seq} {event}"))
        .collect();
    if opened > named.len() as u64 {
        named.push("…".to_owned());
    }
    format!(
        "{} run with --as-user: {}",
        count_noun(opened, "user-only command"),
        named.join(", ")
    )
}
