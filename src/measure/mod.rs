//! Measures exactly the facts that a decision asks for: [`World::measure`] answers a
//! [`Question`](cook_protocol::question::Question). Gates run here, before any lock is taken; a command that is not
//! trusted on this machine is never run.

mod anchors;
mod decisions;
mod gates;
mod goal_checks;
mod measured_facts;
mod planted;
mod world;

pub(crate) use anchors::{Claim, Reran};
pub use decisions::GateRuns;
pub(crate) use gates::{
    NAMELESS, Red, are_nameless, list_missing_in_worktree, list_packages, missing,
};
pub(crate) use goal_checks::{MAX_HIDDEN, read_settings, spec_of};
pub(crate) use measured_facts::{read_rules, read_settings_at};
pub(crate) use planted::{
    Field, Green, Planted, Reverted, Survivor, list_unread, plant_defects, tell_unread, texts,
    why_not,
};
pub use world::World;
pub(crate) use world::deciding;
