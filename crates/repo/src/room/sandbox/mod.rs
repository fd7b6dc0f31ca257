//! The sandbox: with bubblewrap, a gate can write only its room and an agent only what its role may write, and all
//! their processes end with them.
//!
//! Invariant: in the arguments, mounts that grant access come before mounts that restrict it, so that a directory
//! granted to an agent never exposes a protected path.
//!
//! Sockets of the machine are hidden, because a server behind a socket is outside the sandbox, and a read-only mount
//! does not prevent connections. If bubblewrap does not work, the cause is added to its message.

use crate::disk::{self, Links};
use crate::process::{Short, capture, on_path};
pub use sandboxed_agent::{Agent, Authority, is_kept};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod sandboxed_agent;

/// Directories that are empty in the sandbox.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
/// Files that are needed to resolve host names; the private `/run` would hide them.
const RESOLVERS: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/nscd",
    "/run/NetworkManager/resolv.conf",
];
/// The time limit of a trial run.
const TRIAL: Duration = Duration::from_secs(10);
/// The maximum number of attempts to set up a sandbox for one start.
pub const STARTS: u32 = 5;

/// The bubblewrap program of this machine.
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
}

impl Bubblewrap {
    /// Finds it on this process's `PATH`; `None` if it is not installed.
    pub fn find() -> Option<Self> {
        Self::find_on(&std::env::var_os("PATH").unwrap_or_default())
    }

    /// Finds it on a search path.
    pub fn find_on(path: &OsStr) -> Option<Self> {
        let program = on_path("bwrap", path)?;
        cfg!(target_os = "linux").then_some(Self { program })
    }

    /// Starts a sandbox with the arguments that are used for gates.
    ///
    /// # Errors
    /// The message of bubblewrap, with the cause if it is known.
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
            // Without it, programs inside cannot create a user namespace of their own, as some agents do.
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

    /// The path at which a gate sees the room's files.
    pub fn neutral(top: &Path) -> PathBuf {
        Path::new(NEUTRAL).join(top.file_name().unwrap_or(OsStr::new("project")))
    }

    /// The path at which a gate sees its home directory.
    pub fn home() -> &'static Path {
        Path::new(HOME)
    }

    /// The path at which a gate sees an object directory: number 0 is that of the repository, then those of the
    /// submodules.
    pub fn objects(number: usize) -> PathBuf {
        Path::new(OBJECTS).join(number.to_string())
    }

    /// The words that precede a command to run it in the room.
    pub fn gate(&self, gate: &Gate) -> Vec<OsString> {
        let mut argv = self.common(gate.network);
        let mut bind = |how: &str, from: &Path, to: &Path| {
            argv.extend([how.into(), from.into(), to.into()]);
        };
        // Paths below the private directories are mounted before anything in them is hidden.
        for place in gate.shown.iter().filter(|place| is_private(place)) {
            bind("--ro-bind", place, place);
        }
        bind("--bind", gate.home, Path::new(HOME));
        for (number, objects) in gate.objects.iter().enumerate() {
            bind("--ro-bind", objects, &Self::objects(number));
        }
        let at = Self::neutral(gate.top);
        bind("--bind", gate.top, &at);
        for place in gate.hidden {
            if place.is_dir() && !is_private(place) {
                argv.extend(["--tmpfs".into(), place.into()]);
            }
        }
        let dir = match gate.dir {
            "" => at,
            dir => at.join(dir),
        };
        argv.extend(["--chdir".into(), dir.into(), "--".into()]);
        argv
    }
}

/// Runs `true` with these arguments.
///
/// # Errors
/// The message of bubblewrap, with the cause if it is known.
fn try_argv(mut argv: Vec<OsString>) -> Result<(), String> {
    argv.push("true".into());
    let tried = capture(&Short::new(argv, Path::new("/"), TRIAL, 64 * 1024));
    match tried {
        Ok(captured) if captured.success() => Ok(()),
        Ok(captured) => Err(explain(captured.stderr.trim())),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether the sandbox could not be set up, so that nothing ran in it. A socket that was to be hidden may have been
/// removed in the meantime: a retry with new arguments works then.
pub fn never_began(code: Option<i32>, stdout: u64, stderr: &[u8]) -> bool {
    code == Some(1) && stdout == 0 && stderr.starts_with(b"bwrap: Can't ")
}

/// Whether it lies below one of the directories that are empty in the sandbox.
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

/// The paths of a sandboxed room's files, home directory and object directories. No parent directory of them holds
/// files that a tool would read.
const NEUTRAL: &str = "/run/src";
const HOME: &str = "/run/home";
const OBJECTS: &str = "/run/objects";

/// The parameters of a sandboxed gate.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    /// The room's files.
    pub top: &'a Path,
    /// The home directory.
    pub home: &'a Path,
    /// The object directories of the user's repository and of its submodules; empty if the gate does not see them.
    pub objects: &'a [PathBuf],
    /// Directories that are hidden: the worktree, its git directory, directories that implementers can write.
    pub hidden: &'a [PathBuf],
    /// Paths below the private directories that are visible, read-only: for example a toolchain in `/tmp`.
    pub shown: &'a [PathBuf],
    /// Whether it has network access.
    pub network: bool,
    /// The working directory relative to the room's files; empty for their root.
    pub dir: &'a str,
}

/// Maximum size of the kernel's list of sockets in bytes.
const MAX_LIST: u64 = 16 << 20;

/// Variables that name a socket of the machine.
pub(super) const VARIABLES: [&str; 7] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "XDG_RUNTIME_DIR",
];

/// The paths of all Unix sockets that the kernel lists. Abstract sockets have no path; only a separate network
/// namespace hides them.
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
        // A path may contain blanks; the fields before it contain no `/`.
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

/// The system's restrictions of namespaces.
#[derive(Debug, Default, Clone, Copy)]
struct Kernel {
    /// `user.max_user_namespaces` is 0.
    none_at_all: bool,
    /// `kernel.unprivileged_userns_clone` is 0.
    none_for_users: bool,
    /// AppArmor removes the capabilities that a user namespace would give.
    apparmor: bool,
}

impl Kernel {
    fn read() -> Self {
        let is = |path: &str, value: &str| {
            disk::read_text(Path::new(path), 4096, Links::Refuse)
                .is_ok_and(|text| text.is_some_and(|text| text.trim() == value))
        };
        Self {
            none_at_all: is("/proc/sys/user/max_user_namespaces", "0"),
            none_for_users: is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
            apparmor: is(
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                "1",
            ),
        }
    }
}

/// Bubblewrap's message, with the cause if it is known.
pub(super) fn explain(said: &str) -> String {
    match cause(said, Kernel::read()) {
        Some(cause) => format!("{said} ({cause})"),
        None => said.to_owned(),
    }
}

fn cause(said: &str, kernel: Kernel) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
    // The namespace was created, but operations that it should allow are denied.
    let restricted = says(&["uid map", "RTM_NEWADDR", "Failed to make / slave"]);
    let no_namespace = says(&["new namespace", "unshare", "clone"]);
    Some(if says(&["mount proc"]) {
        "`/proc` is masked, as in many containers: start the container with `--security-opt systempaths=unconfined`"
    } else if restricted && kernel.apparmor {
        "AppArmor restricts user namespaces: give bwrap a profile that says `userns,`"
    } else if restricted {
        "the user namespace was made but does not allow anything, probably because a security module restricts it"
    } else if no_namespace && kernel.none_at_all {
        "no user namespaces: `sysctl user.max_user_namespaces` is 0"
    } else if no_namespace && kernel.none_for_users {
        "no user namespaces for ordinary users: `sysctl kernel.unprivileged_userns_clone` is 0"
    } else if no_namespace {
        "user namespaces are refused, probably by the seccomp filter of a container: start it with a profile that allows them"
    } else {
        return None;
    })
}

#[cfg(test)]
mod sockets_tests {
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

#[cfg(test)]
mod cause_tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_told_apart() {
        let open = Kernel::default();
        let apparmor = Kernel {
            apparmor: true,
            ..open
        };
        let none = Kernel {
            none_at_all: true,
            ..open
        };
        let users = Kernel {
            none_for_users: true,
            ..open
        };
        let refused = "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.";
        for (said, kernel, word) in [
            (refused, open, "seccomp"),
            (refused, users, "unprivileged_userns_clone"),
            (
                "bwrap: Creating new namespace failed: No space left on device",
                none,
                "max_user_namespaces",
            ),
            (
                "bwrap: Creating new namespace failed: Operation not permitted",
                apparmor,
                "seccomp",
            ),
            (
                "bwrap: setting up uid map: Permission denied",
                apparmor,
                "AppArmor",
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                apparmor,
                "AppArmor",
            ),
            (
                "bwrap: setting up uid map: Permission denied",
                open,
                "security module",
            ),
            (
                "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
                open,
                "masked",
            ),
        ] {
            let cause = cause(said, kernel).unwrap();
            assert!(cause.contains(word), "{said}: {cause}");
        }
        assert_eq!(cause("bwrap: Unknown option --size", open), None);
        assert_eq!(explain("bwrap: odd"), "bwrap: odd");
    }
}
