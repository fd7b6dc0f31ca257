//! Gates: running them, trusting them, and the receipts that prove what they said.
//!
//! Invariants: a gate runs without a shell; only trusted commands are run by
//! whoever asks [`Trust`] first; a receipt's id is the digest of everything else
//! in it, so a changed one is recognised; files appear whole or not at all.

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
