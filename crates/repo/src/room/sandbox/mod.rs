//! What the kernel keeps: bubblewrap lets a gate write its room and an agent what its role may,
//! and ends all of their processes with them.
//!
//! Invariant: what is given comes before what is taken away again, so that no directory of an
//! agent's opens what is protected.

mod cause;
mod sandboxed_agent;
mod sandboxed_gate;
mod sockets;

pub use sandboxed_agent::{Agent, Authority, is_kept};
pub use sandboxed_gate::Gate;

use crate::process::{ProcessError, Short, capture, on_path};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Directories that are empty inside.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
/// Files that name servers are found by; a private `/run` would hide them.
const RESOLVERS: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/nscd",
    "/run/NetworkManager/resolv.conf",
];
/// How long a trial may take.
const TRIAL: Duration = Duration::from_secs(10);
/// How often a sandbox is set up for one start at most.
pub const STARTS: u32 = 5;

/// bubblewrap on this machine, as this user.
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
}

impl Bubblewrap {
    /// Where this process finds it; none when it is not installed.
    pub fn find() -> Option<Self> {
        Self::find_on(&std::env::var_os("PATH").unwrap_or_default())
    }

    /// Where it is on a search path.
    pub fn find_on(path: &OsStr) -> Option<Self> {
        let program = on_path("bwrap", path)?;
        cfg!(target_os = "linux").then_some(Self { program })
    }

    /// Tries the real arguments as this user.
    ///
    /// # Errors
    /// What bubblewrap said, and what is behind it where that is known.
    pub fn try_out(&self) -> Result<(), String> {
        let mut argv = self.common(false);
        argv.push("--".into());
        try_argv(argv)
    }

    /// The program's file.
    pub fn program(&self) -> &Path {
        &self.program
    }

    fn common(&self, network: bool) -> Vec<OsString> {
        let mut argv: Vec<OsString> = vec![self.program.clone().into()];
        let mut add = |words: &[&str]| argv.extend(words.iter().map(OsString::from));
        add(&[
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
        ]);
        add(&[
            "--unshare-cgroup-try",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
        ]);
        if is_root() {
            // Else nothing inside can make a user namespace of its own, as some agents do.
            add(&["--cap-add", "CAP_SETFCAP"]);
        }
        if !network {
            add(&["--unshare-net"]);
        }
        add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
        for dir in PRIVATE {
            add(&["--tmpfs", dir]);
        }
        for place in RESOLVERS {
            add(&["--ro-bind-try", place, place]);
        }
        argv
    }
}

/// Starts nothing but `true` with these arguments.
///
/// # Errors
/// What bubblewrap said, and what is behind it where that is known.
fn try_argv(mut argv: Vec<OsString>) -> Result<(), String> {
    argv.push("true".into());
    let tried = capture(&Short {
        argv,
        dir: Path::new("/"),
        env: Vec::new(),
        stdin: Vec::new(),
        deadline: TRIAL,
        limit: 64 * 1024,
        group: true,
    });
    match tried {
        Ok(captured) if captured.success() => Ok(()),
        Ok(captured) => Err(cause::explain(captured.stderr.trim())),
        Err(error @ ProcessError::Deadline { .. }) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// The sandbox was not set up, and nothing was started in it. A socket that was to be hidden may
/// have gone in between: with new arguments it works.
pub fn never_began(code: Option<i32>, stdout: u64, stderr: &[u8]) -> bool {
    code == Some(1) && stdout == 0 && stderr.starts_with(b"bwrap: Can't ")
}

/// It lies in a directory that is empty inside.
fn is_private(place: &Path) -> bool {
    PRIVATE
        .iter()
        .any(|dir| place != Path::new(dir) && place.starts_with(dir))
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}
