//! Starting a program that somebody may just have written.
//!
//! Where a program's file is.

use super::ProcessError;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Starts it. A program that was written a moment ago may still be open for writing in a process that was
/// started meanwhile and has not become its own program yet; that is waited for.
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

/// Starts a child that leads a session of its own, with its output in pipes.
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

/// `execvp` would look for `./x` from the new directory, other systems from the old one.
pub(super) fn program_path(program: &OsStr, dir: &Path) -> OsString {
    let path = Path::new(program);
    if path.components().count() > 1 && path.is_relative() {
        dir.join(program).into_os_string()
    } else {
        program.to_owned()
    }
}

/// Leaves the child unreaped, so that its id stays its own until the sweep is over.
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

/// The file of a program that is called by its name alone, on a search path like `PATH`.
pub fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    list_on_path(name, path).next()
}

/// The first one, and those of the same name that it hides. Relative entries are passed over: they
/// would name a file of whatever directory cook was called in.
pub fn list_on_path(name: &str, path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(move |dir| dir.join(&name))
        .filter(|file| is_program(file))
}

/// A file that somebody may run.
#[cfg(unix)]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A file: here its name says whether it is run.
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
