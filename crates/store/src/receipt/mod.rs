//! Gates: running them, trusting them, and the receipts that prove what they said.
//!
//! Invariants: a gate runs without a shell; only trusted commands are run by
//! whoever asks [`Trust`] first; a receipt's id is the digest of everything else
//! in it, so a changed one is recognised; files appear whole or not at all.

mod downloads;
mod error;
mod files;
mod flaky;
mod gate;
mod hooked;
mod in_force;
mod kept;
mod outcomes;
mod outside;
mod place;
mod programs;
mod stop_verifier;
mod taken_back;
mod trial;
mod trust;
mod user;
mod words;

pub use error::ReceiptError;
pub use gate::{Gates, merge_gates, plan_gate};
pub use kept::{Look, Output, Receipts, is_sealed, seal};
pub use place::Agents;
pub use taken_back::TakenBack;
pub use trial::{TrialRoom, TrialRun};
pub use trust::Trust;
pub use words::words;
