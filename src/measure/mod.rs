//! Measuring exactly what a decision asks for.
//!
//! [`measure`] turns a [`FactSet`](cook_protocol::machine::FactSet) into [`Facts`](cook_protocol::machine::Facts). Gates run here, before any
//! lock is taken; a command that is not trusted on this machine is never run.
//! What a gate may have changed (HEAD, the worktree) is measured after it.

mod anchors;
mod gates;
mod goal_checks;
mod measured_facts;
mod planted;
mod world;

pub(crate) use anchors::{Claim, Reran};
pub(crate) use gates::{Red, list_missing_in_worktree, list_packages, missing};
pub(crate) use goal_checks::{MAX_HIDDEN, read_settings, spec_of};
pub use measured_facts::measure;
pub(crate) use measured_facts::read_settings_at;
pub(crate) use planted::{
    Field, Green, Planted, Reverted, Survivor, list_unread, plant_defects, tell_unread, texts,
    why_not,
};
pub use world::World;
pub(crate) use world::{deciding, gate_commands, wants_gates};
