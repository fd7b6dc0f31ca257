//! File system access: metadata of a path itself rather than of a link's target; symlinks; removal of directory trees
//! with arbitrary content.
//!
//! Reading files that others may have put there: only regular files, only up to a size limit, and without ever waiting
//! for a writer.

use cook_protocol::diagnostic::{Code, Failure};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// `symlink_metadata`, with `None` for absence. Any other error stays an error: if one were taken for absence, a new
/// log would be started.
///
/// # Errors
/// If the path cannot be examined.
pub fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The failure that an action on a file failed.
pub fn cannot(action: &str, path: &Path, cause: io::Error) -> Failure {
    let code = match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Code::NoSpace,
        _ => Code::NotWritable,
    };
    Failure::state(code, format!("cannot {action} `{}`", path.display())).with_cause(&cause)
}

/// Adds the attempted action and the path to an error of the system.
pub trait AtPath<T> {
    /// Converts the error into a failure that names both.
    ///
    /// # Errors
    /// The same error, converted.
    fn at(self, action: &str, path: &Path) -> Result<T, Failure>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, action: &str, path: &Path) -> Result<T, Failure> {
        self.map_err(|cause| cannot(action, path, cause))
    }
}

/// A path from its form in git; `None` if the system cannot represent it.
pub fn native_path(path: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    return Some(PathBuf::from(
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path),
    ));
    #[cfg(not(unix))]
    return std::str::from_utf8(path).ok().map(PathBuf::from);
}

/// Removes a file, if it exists.
///
/// # Errors
/// When it cannot be removed.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The names in a directory, sorted; empty if there is no directory. Names that are not UTF-8 are left out.
///
/// # Errors
/// When it cannot be read.
pub fn list_names(dir: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let names: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name())).collect();
    let texts = names?
        .into_iter()
        .filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> = texts.collect();
    names.sort();
    Ok(names)
}

/// All non-directories below a directory, including symlinks; skips what cannot be read.
pub fn list_files_below(dir: &Path) -> Vec<PathBuf> {
    let (mut files, mut due) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = due.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => due.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
    }
    files
}

/// Whether the path is a real directory; a symlink to one is not.
pub fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// The mode, including permission bits; 0 on systems without them.
pub fn permission_bits(found: &Metadata) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&found.permissions());
    #[cfg(not(unix))]
    {
        let _ = found;
        0
    }
}

/// Whether the file belongs to the effective user of this process.
pub fn is_own(found: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        found.uid() == nix::unistd::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        true
    }
}

/// Opens a file without following a symlink at the last component.
///
/// # Errors
/// If the system refuses, for instance because the path is a symlink.
pub fn open_no_follow(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC);
    }
    options.open(path)
}

/// Makes the entries of a directory durable.
///
/// # Errors
/// When the system refuses.
#[cfg(unix)]
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Directories cannot be synced here; a file's own sync covers its entry.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn sync_dir(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates a symlink at `at` to a file or directory.
///
/// # Errors
/// If something exists there, or the user may not create symlinks.
pub fn link(to: &Path, at: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(to, at);
    #[cfg(windows)]
    return match to.is_dir() {
        true => std::os::windows::fs::symlink_dir(to, at),
        false => std::os::windows::fs::symlink_file(to, at),
    };
}

/// Removes a tree, even with read-only directories in it; follows no symlink. Succeeds if it does not exist.
///
/// # Errors
/// When the system refuses.
pub fn remove_tree(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            std::fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
fn open_up(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn open_up(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// The treatment of a symlink at the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Its target is opened.
    Follow,
    /// It is an error.
    Refuse,
}

/// Opens a regular file for reading; `None` if nothing is there.
///
/// # Errors
/// `InvalidInput` if it is a directory, a FIFO, a socket, a device or a refused symlink; otherwise the system's error.
pub fn open_regular(path: &Path, links: Links) -> io::Result<Option<File>> {
    Ok(open(path, links)?.map(|(file, _)| file))
}

/// The file and its length, from a single metadata call.
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

/// Whether the system refused a symlink or a socket, by its error number.
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

/// The content of a regular file; `None` if nothing is there.
///
/// # Errors
/// As [`open_regular`]; `FileTooLarge` if there are more than `limit` bytes.
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
    // One byte of extra room shows whether the file ends where expected, without another call.
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
    // The file grew, or the system does not report its length.
    if filled > expected || expected == 0 {
        let left = limit.saturating_add(1).saturating_sub(filled as u64);
        file.take(left).read_to_end(&mut bytes)?;
    }
    match bytes.len() as u64 > limit {
        true => too_large(),
        false => Ok(Some(bytes)),
    }
}

/// Like [`read`], but also returns `None` if the path is a link that is refused, a directory, a device, larger than
/// `limit` bytes or not permitted to be read. A disk error is still an error.
///
/// # Errors
/// If a regular file cannot be read.
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

/// Like [`read`], but absence is an error.
///
/// # Errors
/// As [`read`]; `NotFound`.
pub fn read_present(path: &Path, limit: u64, links: Links) -> io::Result<Vec<u8>> {
    read(path, limit, links)?.ok_or_else(|| io::Error::from(ErrorKind::NotFound))
}

/// Like [`read`], for UTF-8 text.
///
/// # Errors
/// As [`read`]; `InvalidData` if it is not UTF-8.
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
