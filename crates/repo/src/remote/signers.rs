//! Who may sign the log of a remote, as its default branch said when the log was pulled: a clone may have
//! no ref of that branch.

use crate::disk::{self, Durable, Links, NewFile};
use crate::remote::remote::{Remote, Side};
use crate::store::Place;
use cook_protocol::diagnostic::{Code, Failure};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of such a list.
const MAX_LIST: u64 = 8 << 20;

impl Remote<'_> {
    /// Keeps the list of who may sign; none where the default branch has none.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep_signers(&self, list: Option<&[u8]>) -> Result<(), Failure> {
        let path = find_path(&self.place, &self.key(Side::Fetch)?);
        let kept = match list {
            Some(list) => keep(&path, list),
            None => match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        };
        kept.map_err(|error| fail("write", &path, &error))
    }
}

/// The list that was kept of the remote of that key.
pub(crate) fn read_signers(place: &Place, key: &str) -> Result<Option<Vec<u8>>, Failure> {
    let path = find_path(place, key);
    disk::read(&path, MAX_LIST, Links::Refuse).map_err(|error| fail("read", &path, &error))
}

fn keep(path: &Path, list: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    NewFile::at(path, Durable::ContentAndName).write(list)
}

fn find_path(place: &Place, key: &str) -> PathBuf {
    place.cook_dir().join("signers").join(key)
}

fn fail(what: &str, path: &Path, error: &io::Error) -> Failure {
    let what = format!("cannot {what} `{}`: {error}", path.display());
    Failure::state(Code::LogUnsafe, what)
}
