//! What only this user on this machine knows: a key in the user's settings, outside of every
//! repository. What is kept in a git directory and stands for the user's word bears a tag made with
//! it, so that a directory that was unpacked from somebody's archive brings no such word.

use super::ReceiptError;
use cook_core::digest::hex;
use cook_os::disk::{self, Durable, Links, NewFile};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of the key.
const LENGTH: usize = 32;

/// What of a tag can be wrong does not matter to whoever asks.
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    /// The user's key; none when there is no such file, or no home.
    pub fn of_user() -> Result<Option<Self>, ReceiptError> {
        match place() {
            Some(place) => read(&place),
            None => Ok(None),
        }
    }

    /// The user's key, made where there is none.
    pub fn make() -> Result<Self, ReceiptError> {
        let place = place().ok_or_else(|| {
            let cause = io::Error::new(io::ErrorKind::NotFound, "no home directory: set HOME");
            ReceiptError::io("find", Path::new("the user's settings"), cause)
        })?;
        if let Some(key) = read(&place)? {
            return Ok(key);
        }
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|cause| ReceiptError::io("make", &place, io::Error::other(cause)))?;
        let made = place.parent().map_or(Ok(()), std::fs::create_dir_all);
        let new = NewFile::at(&place, Durable::ContentAndName).over_nothing();
        match made.and_then(|()| new.write(hex(&bytes).as_bytes())) {
            // Somebody else was faster.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            written => written.map_err(|cause| ReceiptError::io("write", &place, cause))?,
        }
        read(&place)?.ok_or_else(|| {
            let cause = io::Error::from(io::ErrorKind::InvalidData);
            ReceiptError::io("read", &place, cause)
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
fn read(place: &Path) -> Result<Option<Key>, ReceiptError> {
    let text = disk::read_if_plain(place, 2 * LENGTH as u64, Links::Refuse)
        .map_err(|cause| ReceiptError::io("read", place, cause))?;
    let key = text.filter(|text| text.len() == 2 * LENGTH);
    Ok(key.and_then(|key| Hmac::new_from_slice(&key).ok().map(Key)))
}

fn place() -> Option<PathBuf> {
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
