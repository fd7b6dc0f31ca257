//! Whether the sandbox is in force.

use cook_core::diagnostic::{Code, Failure};
use cook_core::model::SandboxMode;
use cook_room::Bubblewrap;
use std::ffi::OsStr;
use std::sync::OnceLock;

/// bubblewrap, where it is wanted and works; the one that the user trusted.
pub(super) fn find_sandbox(mode: SandboxMode, path: &OsStr) -> Result<Option<Bubblewrap>, Failure> {
    static TRIED: OnceLock<Result<Bubblewrap, String>> = OnceLock::new();
    if mode == SandboxMode::Off {
        return Ok(None);
    }
    let tried = TRIED.get_or_init(|| {
        let found = Bubblewrap::find_on(path)
            .ok_or("bubblewrap (`bwrap`) is not on the PATH that this machine's user trusted")?;
        found.try_out().map(|()| found)
    });
    match (tried, mode) {
        (Ok(sandbox), _) => Ok(Some(sandbox.clone())),
        (Err(why), SandboxMode::Required) => {
            Err(Failure::state(Code::SandboxUnavailable, why.clone()))
        }
        (Err(_), _) => Ok(None),
    }
}
