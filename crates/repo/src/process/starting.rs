//! Locates programs and starts them, including programs that were written a moment ago.

use super::ProcessError;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Starts a child, and retries for a while if the program file is busy. Another thread may have forked while the file
/// was open for writing, and that copy of the file stays open until the forked process calls exec.
pub(super) fn start_child<T>(mut spawn: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..TRIES {
        match spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(PAUSE);
            }
            started => return started,
        }
    }
    spawn()
}

/// Starts a child as the leader of a new session, with stdout and stderr in pipes.
pub(super) fn start_session(
    mut child: Command,
    program: &OsStr,
) -> Result<Box<dyn ChildWrapper>, ProcessError> {
    child.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut wrapped = CommandWrap::from(child);
    #[cfg(unix)]
    wrapped.wrap(process_wrap::std::ProcessSession);
    start_child(|| wrapped.spawn()).map_err(|cause| ProcessError::start(program, cause))
}

/// A relative path is resolved in `dir`: `execvp` would do so too, but other systems resolve it in the current
/// directory.
pub(super) fn program_path(program: &OsStr, dir: &Path) -> OsString {
    let path = Path::new(program);
    if path.components().count() > 1 && path.is_relative() {
        dir.join(program).into_os_string()
    } else {
        program.to_owned()
    }
}

/// Whether the child has exited. It stays unreaped, so that its process id is not reused until all its processes have
/// been ended.
#[cfg(target_os = "linux")]
pub(super) fn has_exited(child: &mut dyn ChildWrapper) -> bool {
    use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
    let Ok(pid) = i32::try_from(child.id()) else {
        return true;
    };
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    !matches!(
        waitid(Id::Pid(nix::unistd::Pid::from_raw(pid)), flags),
        Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::EINTR)
    )
}

#[cfg(not(target_os = "linux"))]
pub(super) fn has_exited(child: &mut dyn ChildWrapper) -> bool {
    !matches!(child.inner_mut().try_wait(), Ok(None))
}

/// Finds the file of a program that is called by its bare name, on a search path such as `PATH`.
pub fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    list_on_path(name, path).next()
}

/// All files of that name on the search path: the one that is called, then those that it shadows. Relative entries are
/// skipped: they would be resolved in the directory in which cook was called.
pub fn list_on_path(name: &str, path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(move |dir| dir.join(&name))
        .filter(|file| is_program(file))
}

/// Whether the path is a file that is executable for anyone.
#[cfg(unix)]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether the path is a file: on this system the name decides whether it can be executed.
#[cfg(not(unix))]
pub fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_held_open_is_tried_again_and_nothing_else_is() {
        let mut tries = 0;
        let started = start_child(|| {
            tries += 1;
            match tries {
                3 => Ok(tries),
                _ => Err(Error::from(ErrorKind::ExecutableFileBusy)),
            }
        });
        assert_eq!(started.unwrap(), 3);
        let mut tries = 0;
        let refused = start_child(|| -> Result<(), Error> {
            tries += 1;
            Err(Error::from(ErrorKind::NotFound))
        });
        assert_eq!(
            (refused.unwrap_err().kind(), tries),
            (ErrorKind::NotFound, 1)
        );
    }
}
