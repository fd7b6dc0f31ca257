//! What a writing command does where the log is closed to it, and what it takes in
//! where it is not.

use super::context::{Answer, answer};
use crate::service::{self, Asked, Taker, Workspace};
use crate::view::NoteAnswer;
use cook_core::diagnostic::{Failure, Finding};
use cook_os::process::session_around;

/// The failure; inside a sandbox the request is left instead, for whoever comes next
/// outside it.
pub(super) fn or_leave(workspace: &Workspace, failure: Failure, request: Asked) -> Answer {
    if !service::is_shut_out(workspace, &failure) {
        return Err(failure);
    }
    let session = session_around().map(|(_, id)| id);
    match service::leave(workspace, session, request) {
        Ok(path) => answer(NoteAnswer {
            what: "queued",
            lines: vec![format!(
                "queued: this session may not write the log; `{path}` is taken in by the next hook or cook command outside"
            )],
            findings: Vec::new(),
            gates: Vec::new(),
        }),
        Err(_) => Err(failure),
    }
}

/// Takes in what sandboxed sessions left. What stands in the way stays for later: the
/// command that was called comes first.
pub(super) fn take_in(workspace: &Workspace) -> Vec<Finding> {
    service::take_inbox(workspace, Taker::Command)
        .unwrap_or_else(|failure| vec![Finding::new(failure.code, failure.message)])
}
