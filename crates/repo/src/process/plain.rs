//! What a gate does not take over from whoever called cook: open files, ignored signals, the mask of
//! modes. They reach a command past its environment, and a test can tell them apart.

use nix::libc;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Rights of new files, as nearly everybody has them.
const MASK: libc::mode_t = 0o022;
/// Highest number of a signal.
const LAST_SIGNAL: i32 = 64;

/// Starts it with standard streams alone, every signal heeded, and the usual mask.
pub(super) fn begin_plain(command: &mut Command) {
    // SAFETY: between fork and exec only functions are called that may be called there.
    unsafe { command.pre_exec(begin) };
}

fn begin() -> io::Result<()> {
    // SAFETY: none of these takes memory but the set on the stack.
    unsafe {
        libc::umask(MASK);
        for signal in 1..=LAST_SIGNAL {
            // Those that cannot be set stay as they are.
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
    close_at_exec();
    Ok(())
}

/// Every file but the three, once the program is there: until then the standard library tells of a
/// failure through one.
fn close_at_exec() {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: it sets a flag of open files.
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
    // SAFETY: a number without an open file is an error that changes nothing.
    unsafe {
        for file in 3..libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, 1 << 16) {
            libc::fcntl(file as i32, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}
