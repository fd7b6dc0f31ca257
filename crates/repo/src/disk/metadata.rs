//! What stands at a path, and the path itself rather than what a link there leads to.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// `symlink_metadata`, with absence as `None`. Any other error stays an error:
/// one that is read as absence would restart a log.
///
/// # Errors
/// When the path cannot be looked at.
pub fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A real directory: a link to one is none.
pub fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Whether what was found belongs to the user that runs this.
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

/// Opens without following a symlink at the last component.
///
/// # Errors
/// When the system refuses, also because a link is there.
pub fn open_no_follow(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC);
    }
    options.open(path)
}

/// Makes a directory's entries durable.
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
