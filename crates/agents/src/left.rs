//! What a cook left behind that was killed while an agent worked.

use cook_os::clock::Clock;
use cook_os::process::{INVOCATION_VARIABLE, WORKFLOW_VARIABLE, end_marked};
use cook_store::session::{GitStore, SessionError};

/// Ends whatever a run of that workflow left at work, also when nothing is known of its calls
/// any more. Nobody else may drive it: whoever calls this holds the lease, or knows that
/// nobody does. True when there was anything.
pub fn end_left(workflow: &str) -> bool {
    end_marked(WORKFLOW_VARIABLE, workflow) > 0
}

/// Ends the agents of calls whose cook is gone, and writes those calls down as interrupted.
///
/// # Errors
/// When the store cannot be read or written.
pub fn settle_left(store: &GitStore, clock: &Clock) -> Result<(), SessionError> {
    for call in store.interrupted()? {
        end_marked(INVOCATION_VARIABLE, &call.name.to_string());
        store.settle(call, &clock.now())?;
    }
    Ok(())
}
