//! What tests take of the machine that they run on: temporary directories and signals.

use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;

/// A temporary directory: in memory where the system has room there and lets programs run. What is flushed
/// is flushed by the same calls; only nobody waits for a disk, of which no test asks anything.
pub fn room() -> TempDir {
    if has_memory() {
        tempfile::tempdir_in(MEMORY).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

const MEMORY: &str = "/dev/shm";

/// Room for every test at a time; a container often has 64 MiB and no right to run.
#[cfg(target_os = "linux")]
fn has_memory() -> bool {
    use nix::sys::statvfs::{FsFlags, statvfs};
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        statvfs(MEMORY).is_ok_and(|memory| {
            let free = memory.blocks_available() * memory.fragment_size();
            free >= 1 << 30 && !memory.flags().contains(FsFlags::ST_NOEXEC)
        })
    });
    *ANSWER
}

#[cfg(not(target_os = "linux"))]
fn has_memory() -> bool {
    false
}

/// Heeds every signal from the terminal, whatever whoever started the tests has ignored: `nohup` ignores
/// SIGHUP, a shell's background job SIGINT and SIGQUIT, and a child inherits that.
#[cfg(unix)]
pub fn with_default_signals(command: &mut Command) -> &mut Command {
    use nix::sys::signal::{SigHandler, Signal, signal};
    let reset = || {
        for name in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
            // SAFETY: no handler is installed.
            unsafe { signal(name, SigHandler::SigDfl) }?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it calls `signal` alone, which may be called there.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, reset) }
}
