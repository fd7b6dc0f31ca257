//! Removing a directory tree that a program filled as it pleased.

use std::path::Path;

/// Removes a tree, also one that holds read-only directories; no symlink is followed.
/// That it is gone already is success.
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
