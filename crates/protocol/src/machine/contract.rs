//! The contract's files: which of them the log holds, and what takes an edited one in.

use crate::diagnostic::{Code, Finding};
use crate::model::STOP_VERIFIER_SCRIPTS;

/// That the last gate which a project passes is not made from its gates.
pub fn stale_stop_verifier() -> Finding {
    Finding::new(
        Code::StopVerifierStale,
        "the stop verifier was generated from other gates than `.agent/cook.toml` has now",
    )
    .at(STOP_VERIFIER_SCRIPTS[0])
}

/// The mission and the profile: what the log was started with.
pub const CONTRACT_TEXTS: [&str; 2] = [".agent/mission.md", ".agent/profile.json"];

/// The command that makes one of [`CONTRACT_TEXTS`], as it stands, the log's.
pub fn take_in_command(path: &str) -> &'static str {
    match path == CONTRACT_TEXTS[0] {
        true => "cook plan refocus --mission-file .agent/mission.md",
        false => "cook init",
    }
}
