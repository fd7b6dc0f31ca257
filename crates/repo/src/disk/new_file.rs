//! Files that appear whole or not at all: written under another name, then renamed.
//!
//! Appending lines to a file to which others append at the same time.

use super::{open_no_follow, sync_dir};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// What is guaranteed to survive a power failure once the file is in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// Nothing: the system writes it out when it chooses.
    Nothing,
    /// The content; the name may still refer to the old file.
    Content,
    /// The content under its name.
    ContentAndName,
}

/// Prefix and suffix of a file's name until it is complete.
const UNFINISHED: (&str, &str) = (".cook-", ".tmp");

/// Whether a name is that of an unfinished file, as a killed writer leaves it. Such files are meaningless.
pub fn is_unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1)
}

/// Permissions of the file, on systems with permission bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only the owner may read and write it.
    Private,
    /// These bits, reduced by the umask.
    Masked(u32),
    /// Like `Masked`, but a file that is replaced passes its permissions on.
    Kept(u32),
    /// Exactly these bits.
    Exact(u32),
}

/// A file to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'a> {
    target: &'a Path,
    durable: Durable,
    mode: Mode,
    scratch: Option<&'a Path>,
    prefix: &'a str,
    replaces: bool,
}

impl<'a> NewFile<'a> {
    /// A private file that replaces an existing one.
    pub fn at(target: &'a Path, durable: Durable) -> Self {
        Self {
            target,
            durable,
            mode: Mode::Private,
            scratch: None,
            prefix: UNFINISHED.0,
            replaces: true,
        }
    }

    /// Sets the permissions.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the directory in which it is written before it is renamed; it must be on the same file system.
    #[must_use]
    pub fn scratch(self, dir: &'a Path) -> Self {
        Self {
            scratch: Some(dir),
            ..self
        }
    }

    /// Sets the prefix of its temporary name, for names that other programs know.
    #[must_use]
    pub fn prefix(self, prefix: &'a str) -> Self {
        Self { prefix, ..self }
    }

    /// Refuses to replace an existing file, with `AlreadyExists`.
    #[must_use]
    pub fn over_nothing(self) -> Self {
        Self {
            replaces: false,
            ..self
        }
    }

    /// Writes the file with this content.
    ///
    /// # Errors
    /// If the system refuses; the target is then unchanged.
    pub fn write(self, bytes: &[u8]) -> io::Result<()> {
        let mut draft = self.begin()?;
        draft.write_all(bytes)?;
        draft.finish().map(drop)
    }

    /// Begins the file, to be written piece by piece.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begin(self) -> io::Result<Draft<'a>> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(self.prefix).suffix(UNFINISHED.1);
        #[cfg(unix)]
        if let Mode::Masked(bits) | Mode::Kept(bits) = self.mode {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(bits));
        }
        let file = builder.tempfile_in(self.scratch.unwrap_or_else(|| self.dir()))?;
        Ok(Draft { file, new: self })
    }

    fn dir(&self) -> &'a Path {
        match self.target.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        }
    }
}

/// A file that is not renamed to its target yet; if dropped, it is deleted.
#[derive(Debug)]
pub struct Draft<'a> {
    file: NamedTempFile,
    new: NewFile<'a>,
}

impl Draft<'_> {
    /// The open file.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Renames it to its target.
    ///
    /// # Errors
    /// If the system refuses; the target is then unchanged.
    pub fn finish(self) -> io::Result<File> {
        let Self { file, new } = self;
        set_mode(file.as_file(), new.mode, new.target)?;
        if new.durable != Durable::Nothing {
            file.as_file().sync_all()?;
        }
        let named = match new.replaces {
            true => file.persist(new.target),
            false => file.persist_noclobber(new.target),
        };
        let file = named.map_err(|error| error.error)?;
        if new.durable == Durable::ContentAndName {
            sync_dir(new.dir())?;
        }
        Ok(file)
    }
}

impl Write for Draft<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

fn set_mode(file: &File, mode: Mode, target: &Path) -> io::Result<()> {
    match mode {
        Mode::Private | Mode::Masked(_) => Ok(()),
        Mode::Kept(_) => match std::fs::metadata(target) {
            Ok(found) => file.set_permissions(found.permissions()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        },
        #[cfg(unix)]
        Mode::Exact(bits) => {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(std::fs::Permissions::from_mode(bits))
        }
        #[cfg(not(unix))]
        Mode::Exact(_) => Ok(()),
    }
}

/// Opens a file for reading and appending, creating it if necessary; never through a symlink.
///
/// # Errors
/// When the system refuses.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    open_no_follow(
        OpenOptions::new().read(true).append(true).create(true),
        path,
    )
}

/// Appends a line with its line feed in a single write, so that lines of other writers cannot mix with it.
///
/// # Errors
/// When the system refuses.
pub fn append_line(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}

/// Replaces a file that has other hard links, as in a copied directory, by a copy of its own, so that appended lines do
/// not show up in the others.
///
/// # Errors
/// When the system refuses.
#[cfg_attr(not(unix), allow(unused_variables))]
pub fn unshare(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let is_shared = |found: std::fs::Metadata| found.is_file() && found.nlink() > 1;
        if std::fs::symlink_metadata(path).is_ok_and(is_shared) {
            let bytes = std::fs::read(path)?;
            return NewFile::at(path, Durable::Content).write(&bytes).map(drop);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let new = NewFile::at(&path, Durable::ContentAndName);
        let mut draft = new.begin().unwrap();
        draft.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(draft);
        assert!(names(dir.path()).is_empty());
        new.write(b"one").unwrap();
        let error = new.over_nothing().write(b"two").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        new.write(b"three").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn its_mode_is_the_one_asked_for() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let bits = |mode| {
            let new = NewFile::at(&path, Durable::Nothing).mode(mode);
            new.write(b"").unwrap();
            path.metadata().unwrap().permissions().mode() & 0o777
        };
        assert_eq!(bits(Mode::Private), 0o600);
        assert_eq!(bits(Mode::Exact(0o751)), 0o751);
        assert_eq!(bits(Mode::Kept(0o600)), 0o751);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bits(Mode::Kept(0o400)), 0o400);
        assert_eq!(bits(Mode::Masked(0o500)), 0o500);
    }
}
