//! What an event did.

use cook_protocol::diagnostic::Finding;
use cook_protocol::machine::{self, Step};
use cook_repo::store::Tip;

/// What an event did.
#[derive(Debug)]
pub struct Applied {
    /// The log commit; none for a dry run.
    pub tip: Option<Tip>,
    /// The event's name.
    pub event: &'static str,
    /// The accepted step.
    pub step: Step,
    /// HEAD it was taken at.
    pub head: machine::Head,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}
