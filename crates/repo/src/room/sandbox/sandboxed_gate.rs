//! A gate in its room.

use super::{Bubblewrap, is_private};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where a sandboxed room shows its files, its home and the objects of its history: nothing lies
/// above them that a tool would read.
const NEUTRAL: &str = "/run/src";
const HOME: &str = "/run/home";
const OBJECTS: &str = "/run/objects";

/// What runs in a sandboxed room.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    /// The room's files.
    pub top: &'a Path,
    /// Its home.
    pub home: &'a Path,
    /// The objects of the user's repository, and of its submodules; none = it does not see them.
    pub objects: &'a [PathBuf],
    /// What is not there at all: the worktree, its git directory, what implementers write.
    pub hidden: &'a [PathBuf],
    /// What is shown below the private directories, read-only: toolchains in `/tmp`, say.
    pub shown: &'a [PathBuf],
    /// It reaches the network.
    pub network: bool,
    /// The folder of the room's files that it runs in; nothing = their root.
    pub dir: &'a str,
}

impl Bubblewrap {
    /// Where a gate sees the room's files.
    pub fn neutral(top: &Path) -> PathBuf {
        Path::new(NEUTRAL).join(top.file_name().unwrap_or(OsStr::new("project")))
    }

    /// Where a gate sees its home.
    pub fn home() -> &'static Path {
        Path::new(HOME)
    }

    /// Where a gate sees the objects of its history, which is 0, and of each submodule.
    pub fn objects(number: usize) -> PathBuf {
        Path::new(OBJECTS).join(number.to_string())
    }

    /// What a command is started by, so that it runs in the room: this, then its own words.
    pub fn gate(&self, gate: &Gate) -> Vec<OsString> {
        let mut argv = self.common(gate.network);
        let mut bind = |how: &str, from: &Path, to: &Path| {
            argv.extend([how.into(), from.into(), to.into()]);
        };
        // What lies in a private directory comes back before anything of it is hidden.
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
