//! What a cook left behind that was killed while an agent worked.

use cook_core::diagnostic::Failure;
use cook_core::digest::sha256;
use cook_os::clock::Clock;
use cook_os::process::{INVOCATION_VARIABLE, WORKFLOW_VARIABLE, end_marked};
use cook_store::session::GitStore;
use std::path::Path;

/// What marks the processes of a workflow's agents: its log's id, and where that log is, because a
/// copy of a repository has the same id and work of its own.
pub fn workflow_mark(workflow: &str, cook_dir: &Path) -> String {
    let place = sha256(cook_dir.as_os_str().as_encoded_bytes());
    format!("{workflow}-{}", &place[..16])
}

/// Ends whatever a run of that workflow left at work, also when nothing is known of its calls
/// any more. Nobody else may drive it: whoever calls this holds the lease, or knows that
/// nobody does. True when there was anything.
pub fn end_left(workflow: &str, cook_dir: &Path) -> bool {
    end_marked(WORKFLOW_VARIABLE, &workflow_mark(workflow, cook_dir)) > 0
}

/// Ends the agents of calls whose cook is gone, and writes those calls down as interrupted.
///
/// # Errors
/// When the store cannot be read or written.
pub fn settle_left(store: &GitStore, clock: &Clock) -> Result<(), Failure> {
    for call in store.list_interrupted()? {
        end_marked(INVOCATION_VARIABLE, &call.name.to_string());
        store.settle(call, &clock.now())?;
    }
    Ok(())
}
