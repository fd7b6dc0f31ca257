//! What `cook init` writes into a repository and finds there: the contract files, the `.gitignore` block, proposed
//! gates, verify scripts, the mission, plans of other tools, and older layouts.
//!
//! Invariants: text that a person wrote is never overwritten. A second run changes no byte. File contents of the
//! repository never become part of a command, except a plain name that its CI passes to a tool. No link is followed out
//! of the repository.

mod contract_files;
mod detect;
pub mod import;
pub mod plans;
mod text_files;

pub(crate) use contract_files::{
    Contract, OF_FOLDER, SETTINGS, propose_for, propose_settings, setup_settings,
};
pub use contract_files::{
    FileOutcome, TRACKED, control_plane_script, find_mission, project_name, stop_script,
    stop_verifier_is_stale, with_block, write_contract, write_mission, write_profile,
};
pub use detect::detect;
pub(crate) use detect::{Proposed, detect_around, list_folders};
pub(crate) use text_files::{read_text_file, write_text_file};
