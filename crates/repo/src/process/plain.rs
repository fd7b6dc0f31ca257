//! Resets what a gate would inherit from cook's caller besides the environment: open files, ignored signals and the
//! umask. A test could behave differently because of them.

use nix::libc;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The usual umask.
const MASK: libc::mode_t = 0o022;
/// The highest signal number.
const LAST_SIGNAL: i32 = 64;

/// Starts the command with only the three standard streams open, default signal handlers, and the usual umask.
pub(super) fn begin_plain(command: &mut Command) {
    // SAFETY: `begin` calls only functions that are allowed between fork and exec.
    unsafe { command.pre_exec(begin) };
}

fn begin() -> io::Result<()> {
    // SAFETY: the only pointer that is passed points to the signal set on the stack.
    unsafe {
        libc::umask(MASK);
        for signal in 1..=LAST_SIGNAL {
            // Signals whose handler cannot be set are left alone.
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
    close_at_exec();
    Ok(())
}

/// Marks every file except the standard streams close-on-exec. They must not be closed earlier, because the standard
/// library reports a failed exec through one of them.
fn close_at_exec() {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the call only sets a flag of open files.
        let done = unsafe {
            libc::syscall(
                libc::SYS_close_range,
                3u32,
                u32::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        };
        if done == 0 {
            return;
        }
    }
    // SAFETY: for a number that is not an open file, the call fails and changes nothing.
    unsafe {
        for file in 3..libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, 1 << 16) {
            libc::fcntl(file as i32, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}
