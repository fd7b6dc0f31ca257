//! What `cook init` puts into a repository, and what it finds there: the contract
//! files, the `.gitignore` block, proposed gates and verify scripts made from what
//! the repository is, the mission, and older layouts.
//!
//! Invariants: what a person wrote is never overwritten; a second run changes no
//! byte; nothing that a file of the repository says becomes part of a command, but a plain
//! name that its CI gives a tool; no link is followed out of the repository.

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
