//! Starting a program that somebody may just have written.

use super::ProcessError;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
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
