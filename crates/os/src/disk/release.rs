//! The other end of a FIFO that somebody waits at.

use std::path::Path;

/// Opens a FIFO for writing and closes it, where a reader waits: it reads the end of a file then.
pub fn release_reader(path: &Path) {
    #[cfg(unix)]
    {
        use nix::libc::{O_CLOEXEC, O_NOCTTY, O_NONBLOCK};
        use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
        let is_fifo = path
            .metadata()
            .is_ok_and(|found| found.file_type().is_fifo());
        if is_fifo {
            // Without a reader this is an error.
            let mut options = std::fs::OpenOptions::new();
            options.write(true);
            let _ = options
                .custom_flags(O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                .open(path);
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Whether a call of the system with that number opens a file.
#[cfg(target_os = "linux")]
pub fn is_open_call(number: i64) -> bool {
    let opens = number == nix::libc::SYS_openat;
    #[cfg(target_arch = "x86_64")]
    let opens = opens || number == nix::libc::SYS_open;
    opens
}
