//! Small file operations that the log and the view share: durable, and never through a symlink.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// `symlink_metadata`, with absence as `None`. Any other error stays an error:
/// one that is read as absence would restart a log.
pub(crate) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a directory's entries durable.
#[cfg(unix)]
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Directories cannot be synced here; a file's own sync covers its entry.
#[cfg(not(unix))]
pub(crate) fn sync_dir(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens without following a symlink at the last component.
pub fn open_no_follow(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC);
    }
    options.open(path)
}

/// A regular file's bytes, at most `cap` of them. `Ok(None)` when it is absent.
pub(crate) fn read_capped(path: &Path, cap: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open_no_follow(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    if length > cap {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{length} bytes, at most {cap} are read"),
        ));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(cap + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > cap {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {cap} bytes"),
        ));
    }
    Ok(Some(bytes))
}

/// Replaces `target` by a synced temporary file from `scratch` (same file system).
/// The directory entry is not synced: see [`sync_dir`].
pub(crate) fn replace(scratch: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = named_temp(scratch)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file that will become one people and other tools read.
pub(crate) fn named_temp(scratch: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("cook-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o644));
    }
    builder.tempfile_in(scratch)
}
