//! Reading files that somebody else may have put there: only regular ones, only so much of
//! them, and without ever waiting for a writer.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// What a symlink at the last component means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The file it leads to.
    Follow,
    /// An error.
    Refuse,
}

/// Opens a regular file for reading; none when nothing is there.
///
/// # Errors
/// `InvalidInput` when it is a directory, a FIFO, a socket or a device; a link that is
/// refused; whatever else the system says.
pub fn open_regular(path: &Path, links: Links) -> io::Result<Option<File>> {
    Ok(open(path, links)?.map(|(file, _)| file))
}

/// The file, and how long it is: one look at it answers both questions.
fn open(path: &Path, links: Links) -> io::Result<Option<(File, u64)>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use nix::libc::{O_CLOEXEC, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
        use std::os::unix::fs::OpenOptionsExt;
        let follow = match links {
            Links::Follow => 0,
            Links::Refuse => O_NOFOLLOW,
        };
        options.custom_flags(O_NONBLOCK | O_NOCTTY | O_CLOEXEC | follow);
    }
    #[cfg(not(unix))]
    if links == Links::Refuse && super::look(path)?.is_some_and(|found| found.is_symlink()) {
        return Err(not_regular());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if is_no_file(&error) => return Err(not_regular()),
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    match found.is_file() {
        true => Ok(Some((file, found.len()))),
        false => Err(not_regular()),
    }
}

/// A refused link, and a socket, by the system's own numbers.
fn is_no_file(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use nix::libc::{ELOOP, ENXIO};
        matches!(error.raw_os_error(), Some(ELOOP | ENXIO))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "not a regular file")
}

/// A regular file's bytes; none when nothing is there.
///
/// # Errors
/// As [`open_regular`]; `FileTooLarge` when there are more than `limit` bytes.
pub fn read(path: &Path, limit: u64, links: Links) -> io::Result<Option<Vec<u8>>> {
    let Some((mut file, length)) = open(path, links)? else {
        return Ok(None);
    };
    let too_large = || {
        let what = format!("larger than {limit} bytes");
        Err(io::Error::new(ErrorKind::FileTooLarge, what))
    };
    if length > limit {
        return too_large();
    }
    // One byte more than there should be shows whether that was all, without asking again.
    let expected = usize::try_from(length).unwrap_or(0);
    let mut bytes = vec![0; expected.saturating_add(1)];
    let mut filled = 0;
    while filled < expected {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    // It grew, or the system does not say how long it is.
    if filled > expected || expected == 0 {
        let left = limit.saturating_add(1).saturating_sub(filled as u64);
        file.take(left).read_to_end(&mut bytes)?;
    }
    match bytes.len() as u64 > limit {
        true => too_large(),
        false => Ok(Some(bytes)),
    }
}

/// As [`read`]; none too where something else stands there: a link, a directory, a device, more than
/// `limit` bytes, what may not be read. A disk that fails is an error, and never taken for such a place.
///
/// # Errors
/// When the file cannot be read although it is one.
pub fn read_if_plain(path: &Path, limit: u64, links: Links) -> io::Result<Option<Vec<u8>>> {
    use ErrorKind::{FileTooLarge, InvalidInput, NotADirectory, PermissionDenied};
    match read(path, limit, links) {
        Err(error) => match error.kind() {
            FileTooLarge | InvalidInput | NotADirectory | PermissionDenied => Ok(None),
            _ => Err(error),
        },
        read => read,
    }
}

/// As [`read`], where nothing there is an error too.
///
/// # Errors
/// As [`read`]; `NotFound`.
pub fn read_present(path: &Path, limit: u64, links: Links) -> io::Result<Vec<u8>> {
    read(path, limit, links)?.ok_or_else(|| io::Error::from(ErrorKind::NotFound))
}

/// As [`read`], of UTF-8 text.
///
/// # Errors
/// As [`read`]; `InvalidData` when it is not UTF-8.
pub fn read_text(path: &Path, limit: u64, links: Links) -> io::Result<Option<String>> {
    let bytes = read(path, limit, links)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// The last `limit` bytes of an open file.
///
/// # Errors
/// When it cannot be read.
pub fn read_tail(file: &mut File, limit: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert_eq!(read(&path, 3, Links::Refuse).unwrap(), None);
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, 3, Links::Refuse).unwrap().unwrap(), b"abc");
        let error = read(&path, 2, Links::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let mut file = open_regular(&path, Links::Follow).unwrap().unwrap();
        assert_eq!(read_tail(&mut file, 2).unwrap(), b"bc");
        assert_eq!(read_tail(&mut file, 9).unwrap(), b"abc");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_an_error_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [dir.path(), &fifo, &socket, Path::new("/dev/zero")] {
            assert!(read(path, 9, Links::Follow).is_err(), "{path:?}");
        }
        let error = read(&fifo, 9, Links::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_only_where_that_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&path, "abc").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link, 9, Links::Follow).unwrap().unwrap(), b"abc");
        assert!(read(&link, 9, Links::Refuse).is_err());
    }
}
