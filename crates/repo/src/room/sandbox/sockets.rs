//! Sockets of the machine: whoever answers there is outside the sandbox and does what it is
//! asked. A read-only directory does not keep anybody from them.

use crate::disk::{self, Links};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Bytes of the kernel's list, at most.
const MAX_LIST: u64 = 16 << 20;

/// Variables that lead to a socket of the machine.
pub(super) const VARIABLES: [&str; 7] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "XDG_RUNTIME_DIR",
];

/// Where programs listen now, as the kernel lists them. Those without a path are not of a
/// directory, and nothing but a network of its own hides them.
pub(super) fn list_sockets() -> BTreeSet<PathBuf> {
    let list = disk::read(Path::new("/proc/net/unix"), MAX_LIST, Links::Refuse);
    let list = list.ok().flatten().unwrap_or_default();
    paths(&String::from_utf8_lossy(&list))
        .filter(|path| is_socket(path))
        .filter_map(|path| path.canonicalize().ok())
        .collect()
}

/// `Num RefCount Protocol Flags Type St Inode Path`
fn paths(list: &str) -> impl Iterator<Item = PathBuf> {
    list.lines().skip(1).filter_map(|line| {
        // A path may hold blanks; what stands before it has no `/`.
        line.split_ascii_whitespace()
            .nth(7)
            .filter(|path| path.starts_with('/'))?;
        Some(PathBuf::from(&line[line.find('/')?..]))
    })
}

#[cfg(unix)]
pub(super) fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.symlink_metadata()
        .is_ok_and(|found| found.file_type().is_socket())
}

#[cfg(not(unix))]
pub(super) fn is_socket(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_list_is_read() {
        let list = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/docker.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 23456\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 34567 @abstract\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 45678 /home/me/a b.sock\n";
        let found: Vec<PathBuf> = paths(list).collect();
        assert_eq!(
            found,
            [
                Path::new("/run/docker.sock"),
                Path::new("/home/me/a b.sock")
            ]
        );
    }
}
