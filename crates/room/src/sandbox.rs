//! A room that the kernel keeps: bubblewrap lets what runs there write the room and nothing else,
//! and ends all of its processes with it.

use cook_os::disk::{self, Links};
use cook_os::process::{ProcessError, Short, capture, on_path};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a sandboxed room shows its files, its home and the objects of its history: nothing lies
/// above them that a tool would read.
const NEUTRAL: &str = "/run/src";
const HOME: &str = "/run/home";
const OBJECTS: &str = "/run/objects";
/// Files that name servers are found by; a private `/run` would hide them.
const RESOLVERS: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/nscd",
    "/run/NetworkManager/resolv.conf",
];
/// How long a trial may take.
const TRIAL: Duration = Duration::from_secs(10);

/// bubblewrap on this machine, as this user.
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
}

/// What runs in a sandboxed room.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    /// The room's files.
    pub top: &'a Path,
    /// Its home.
    pub home: &'a Path,
    /// The objects of the user's repository.
    pub objects: &'a Path,
    /// What is not there at all: the worktree, its git directory, what implementers write.
    pub hidden: &'a [PathBuf],
    /// What is shown below the private directories, read-only: toolchains in `/tmp`, say.
    pub shown: &'a [PathBuf],
    /// It reaches the network.
    pub network: bool,
}

impl Bubblewrap {
    /// Where it is; none when it is not installed.
    pub fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = on_path("bwrap", &path)?;
        cfg!(target_os = "linux").then_some(Self { program })
    }

    /// Tries the real arguments as this user.
    ///
    /// # Errors
    /// What bubblewrap said, and what is behind it where that is known.
    pub fn try_out(&self) -> Result<(), String> {
        let mut argv = self.common(false);
        argv.extend(["--", "true"].map(OsString::from));
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
            Ok(captured) => Err(explain(captured.stderr.trim())),
            Err(error @ ProcessError::Deadline { .. }) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Where a gate sees the room's files.
    pub fn neutral(top: &Path) -> PathBuf {
        Path::new(NEUTRAL).join(top.file_name().unwrap_or(OsStr::new("project")))
    }

    /// Where a gate sees its home.
    pub fn home() -> &'static Path {
        Path::new(HOME)
    }

    /// Where a gate sees the objects of its history.
    pub fn objects() -> &'static Path {
        Path::new(OBJECTS)
    }

    /// What a command is started by, so that it runs in the room: this, then its own words.
    pub fn gate(&self, gate: &Gate) -> Vec<OsString> {
        let mut argv = self.common(gate.network);
        let mut bind = |how: &str, from: &Path, to: &Path| {
            argv.extend([how.into(), from.into(), to.into()]);
        };
        // What lies in a private directory comes back before anything of it is hidden.
        for place in gate.shown {
            if PRIVATE.iter().any(|dir| place.starts_with(dir)) {
                bind("--ro-bind", place, place);
            }
        }
        bind("--bind", gate.home, Path::new(HOME));
        bind("--ro-bind", gate.objects, Path::new(OBJECTS));
        let at = Self::neutral(gate.top);
        bind("--bind", gate.top, &at);
        for place in gate.hidden {
            if place.is_dir() && !PRIVATE.iter().any(|dir| place.starts_with(dir)) {
                argv.extend(["--tmpfs".into(), place.into()]);
            }
        }
        argv.extend(["--chdir".into(), at.into(), "--".into()]);
        argv
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

/// Directories that are empty inside.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

/// What bubblewrap said, with the cause where it is a known one.
fn explain(said: &str) -> String {
    let read = |path: &str| disk::read_text(Path::new(path), 4096, Links::Refuse);
    let is = |path: &str, value: &str| {
        read(path).is_ok_and(|text| text.is_some_and(|text| text.trim() == value))
    };
    let cause = if is("/proc/sys/user/max_user_namespaces", "0") {
        "no user namespaces: `user.max_user_namespaces` is 0"
    } else if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "no user namespaces for ordinary users: `kernel.unprivileged_userns_clone` is 0"
    } else if is(
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
    ) {
        "AppArmor restricts user namespaces: it needs a profile for bwrap"
    } else if said.contains("proc") {
        "`/proc` is masked here, as in many containers"
    } else {
        "user namespaces are refused, perhaps by a seccomp filter"
    };
    format!("{said} ({cause})")
}
