//! Gates: running them, trusting their commands, and keeping receipts of their results.
//!
//! Invariants: a gate runs without a shell; callers that ask [`Trust`] first run only trusted commands; a receipt's id
//! is the digest of its other fields, so a changed receipt is detected; files are written completely or not at all.

mod gate_run;
mod programs;
mod receipts;
mod run_place;
mod trial_rooms;
mod trusted;

pub use gate_run::{merge_gates, plan_gate};
pub use programs::words;
pub use receipts::{Look, Output, Receipts, is_sealed, key_dir, seal};
pub use run_place::{Agents, Gates, Tell};
pub use trial_rooms::{TakenBack, TrialRoom, TrialRun};
pub use trusted::Trust;
