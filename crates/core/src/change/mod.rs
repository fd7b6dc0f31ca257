//! What a slice's diff is about: which kind of file each path is, and what became of the tests
//! in it (a slice must not pass by weakening what would stop it).
//!
//! Tests are compared by their names and bodies (`cook-strength`). That cannot be exact:
//! what is found is shown to reviewers and judges and refuses no report. `cook check`, which a person asks,
//! fails on what takes tests away.

mod contract;
mod loss;
mod settings;

pub use contract::{Contract, ContractFile, Difference, Part, Strength, compare, compare_criteria};
pub use loss::{Loss, LossKind, collect_losses, losses};
pub use settings::{Effect, SettingsEdit, list_settings_edits};
