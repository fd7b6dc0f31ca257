//! The files of receipts and trust: the owner's alone, whole or not at all; and a key that only this user on
//! this machine knows, outside of every repository. What is kept in a git directory and stands for the user's
//! word bears a tag made with it, so that a directory that was unpacked from somebody's archive brings no such word.

use crate::disk::{self, Durable, Links, NewFile};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::digest::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io;
use std::path::{Path, PathBuf};

/// What the disk said of a file.
pub fn cannot(action: &str, path: &Path, cause: io::Error) -> Failure {
    Failure::state(
        Code::NotWritable,
        format!("cannot {action} `{}`", path.display()),
    )
    .with_cause(&cause)
}

/// Writes a file that only the owner may read, its directories where they are missing.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| NewFile::at(path, Durable::Content).write(bytes))
        .map_err(|cause| cannot("write", path, cause))
}

/// Reads a file of at most `limit` bytes; none when there is none.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    disk::read(path, limit, Links::Refuse).map_err(|cause| cannot("read", path, cause))
}

/// Removes a file, where there is one.
pub(super) fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(cannot("remove", path, cause))
        }
        _ => Ok(()),
    }
}

/// Bytes of the key.
const LENGTH: usize = 32;

/// What of a tag can be wrong does not matter to whoever asks.
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    /// The user's key; none when there is no such file, or no home.
    pub fn of_user() -> Result<Option<Self>, Failure> {
        match find_key() {
            Some(place) => read_key(&place),
            None => Ok(None),
        }
    }

    /// The user's key, made where there is none.
    pub fn make() -> Result<Self, Failure> {
        let place = find_key().ok_or_else(|| {
            let cause = io::Error::new(io::ErrorKind::NotFound, "no home directory: set HOME");
            cannot("find", Path::new("the user's settings"), cause)
        })?;
        if let Some(key) = read_key(&place)? {
            return Ok(key);
        }
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|cause| cannot("make", &place, io::Error::other(cause)))?;
        let made = place.parent().map_or(Ok(()), std::fs::create_dir_all);
        let new = NewFile::at(&place, Durable::ContentAndName).over_nothing();
        match made.and_then(|()| new.write(hex(&bytes).as_bytes())) {
            // Somebody else was faster.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            written => written.map_err(|cause| cannot("write", &place, cause))?,
        }
        read_key(&place)?.ok_or_else(|| {
            let cause = io::Error::from(io::ErrorKind::InvalidData);
            cannot("read", &place, cause)
        })
    }

    /// The tag of some bytes.
    pub fn tag(&self, bytes: &[u8]) -> String {
        let mut mac = self.0.clone();
        mac.update(bytes);
        hex(&mac.finalize().into_bytes())
    }
}

/// A file that holds no key counts as none: a word that cannot be checked is no word.
fn read_key(place: &Path) -> Result<Option<Key>, Failure> {
    let text = disk::read_if_plain(place, 2 * LENGTH as u64, Links::Refuse)
        .map_err(|cause| cannot("read", place, cause))?;
    let key = text.filter(|text| text.len() == 2 * LENGTH);
    Ok(key.and_then(|key| Hmac::new_from_slice(&key).ok().map(Key)))
}

fn find_key() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let dir = if cfg!(windows) {
        named("APPDATA")
    } else if cfg!(target_os = "macos") {
        home.map(|home| home.join("Library/Application Support"))
    } else {
        named("XDG_CONFIG_HOME")
            .filter(|dir| dir.is_absolute())
            .or_else(|| home.map(|home| home.join(".config")))
    };
    dir.map(|dir| dir.join("cook").join("key"))
}
