//! Reading and writing files in a user's repository: no link is followed, reads are limited in size, and a write is a
//! temporary file in `.agent/tmp/` and a rename.

use crate::prelude::*;
use std::fs;
use std::io::ErrorKind;

/// The control plane's directory, relative to the worktree.
const AGENT: &str = ".agent";

/// The root of a worktree, for access to paths below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'a> {
    root: &'a Path,
}

/// The permissions of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not executable.
    Data,
    /// Executable, as far as the umask allows.
    Script,
}

impl<'a> Tree<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Whether the path is a regular file.
    pub(super) fn has_file(&self, path: &str) -> Result<bool> {
        stands(
            &self.at(path),
            path,
            fs::FileType::is_file,
            "not a plain file",
        )
    }

    /// Whether the path is a directory.
    pub(super) fn has_directory(&self, path: &str) -> Result<bool> {
        is_directory(&self.at(path), path)
    }

    /// The bytes of a file of at most `cap` bytes; `None` if it does not exist.
    pub(super) fn bytes(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>> {
        if !self.has_file(path)? {
            return Ok(None);
        }
        disk::read(&self.at(path), cap, Links::Refuse).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => too_large(path, cap),
            _ => unreadable(path).with_cause(&error),
        })
    }

    /// As [`Tree::bytes`], as text.
    pub(super) fn text(&self, path: &str, cap: u64) -> Result<Option<String>> {
        let text = self.bytes(path, cap)?.map(String::from_utf8).transpose();
        text.map_err(|_| {
            Failure::state(Code::InputUnreadable, format!("`{path}` is not UTF-8 text"))
        })
    }

    /// Creates `.agent/` and `.agent/tmp/` if they are missing.
    pub(super) fn make_agent_directories(&self) -> Result<()> {
        for path in [AGENT.to_owned(), format!("{AGENT}/tmp")] {
            if !self.has_directory(&path)? {
                fs::create_dir(self.at(&path)).map_err(|error| unwritable(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes a file atomically. An existing file keeps its permissions.
    pub(super) fn write(&self, path: &str, bytes: &[u8], mode: Mode) -> Result<()> {
        // Fails if the path is not a regular file.
        self.has_file(path)?;
        let bits = match mode {
            Mode::Data => 0o666,
            Mode::Script => 0o777,
        };
        NewFile::at(&self.at(path), Durable::Content)
            .mode(disk::Mode::Kept(bits))
            .scratch(&self.at(&format!("{AGENT}/tmp")))
            .write(bytes)
            .map_err(|error| unwritable(path, &error))
    }

    /// Makes the file executable for everybody who may read it. Returns whether that changed it.
    pub(super) fn make_runnable(&self, path: &str) -> Result<bool> {
        runnable(&self.at(path)).map_err(|error| unwritable(path, &error))
    }
}

pub(super) fn unwritable(path: &str, error: &std::io::Error) -> Failure {
    Failure::state(Code::NotWritable, format!("`{path}` cannot be written")).with_cause(error)
}

fn unreadable(path: &str) -> Failure {
    Failure::state(Code::InputUnreadable, format!("`{path}` cannot be read"))
}

pub(super) fn too_large(path: &str, cap: u64) -> Failure {
    let what = format!("`{path}` is larger than {cap} bytes");
    Failure::state(Code::InputTooLarge, what)
}

/// Whether the path has the given type; a link or a file of another type is an error.
fn stands(
    path: &Path,
    shown: &str,
    is_kind: fn(&fs::FileType) -> bool,
    otherwise: &'static str,
) -> Result<bool> {
    let what = match fs::symlink_metadata(path) {
        Ok(found) if is_kind(&found.file_type()) => return Ok(true),
        Ok(found) if found.is_symlink() => "a symbolic link",
        Ok(_) => otherwise,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(unreadable(shown).with_cause(&error)),
    };
    let what = format!("`{shown}` is {what}");
    Err(Failure::state(Code::AgentDirUnsafe, what))
}

/// Whether the path is a directory; anything else at that path is an error.
pub(super) fn is_directory(path: &Path, shown: &str) -> Result<bool> {
    stands(path, shown, fs::FileType::is_dir, "no directory")
}

#[cfg(unix)]
fn runnable(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let bits = fs::metadata(path)?.permissions().mode();
    let wanted = bits | ((bits & 0o444) >> 2);
    if wanted != bits {
        fs::set_permissions(path, fs::Permissions::from_mode(wanted))?;
    }
    Ok(wanted != bits)
}

#[cfg(not(unix))]
fn runnable(_path: &Path) -> std::io::Result<bool> {
    Ok(false)
}

// Text files of the user that cook writes on request: `CONTINUE.md` and the agent guide. Never outside the worktree,
// never through a link, and atomically.

/// Maximum size of such a file in bytes.
pub(super) const MAX: u64 = 4 << 20;

fn unsafe_path(path: &str, what: &str) -> Failure {
    Refusal::new(Code::PathUnsafe, format!("`{path}` is {what}")).into()
}

/// A link in the path is reported as an unsafe path, and not as a problem of `.agent/`.
fn failure(failure: Failure) -> Failure {
    match failure.code {
        Code::AgentDirUnsafe => Refusal::new(Code::PathUnsafe, failure.message).into(),
        _ => failure,
    }
}

/// Checks that cook may write the path.
fn check(root: &Path, path: &str) -> Result<()> {
    let refuse = |what| unsafe_path(path, what);
    let parts: Vec<&str> = path.split('/').collect();
    let plain =
        |part: &&str| !matches!(*part, "" | "." | "..") && !part.contains(['\\', '\0', ':']);
    if !parts.iter().all(plain) || path.chars().any(char::is_control) {
        return Err(refuse("not a plain path inside the worktree"));
    }
    let own = |part: &str| {
        [".git", ".agent"]
            .iter()
            .any(|own| part.eq_ignore_ascii_case(own))
    };
    if parts.iter().any(|part| own(part)) {
        return Err(refuse("git's or cook's own"));
    }
    let mut directory = String::new();
    for part in &parts[..parts.len() - 1] {
        directory.push_str(part);
        if !is_directory(&root.join(&directory), &directory).map_err(failure)? {
            return Err(refuse("in a directory that is not there"));
        }
        directory.push('/');
    }
    Ok(())
}

/// The file's text; `None` if it does not exist.
///
/// # Errors
/// A path that leaves the worktree or goes through a link, or a file that is not text.
pub fn read_text_file(root: &Path, path: &str) -> Result<Option<String>> {
    check(root, path)?;
    Tree::new(root).text(path, MAX).map_err(failure)
}

/// Writes the text. An existing file keeps its permissions.
///
/// # Errors
/// As [`read_text_file`], and a file that cannot be written.
pub fn write_text_file(root: &Path, path: &str, text: &str) -> Result<()> {
    check(root, path)?;
    let tree = Tree::new(root);
    tree.make_agent_directories()?;
    tree.write(path, text.as_bytes(), Mode::Data)
        .map_err(failure)
}
