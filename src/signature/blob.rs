//! The binary form of an SSH signature (OpenSSH's PROTOCOL.sshsig), and the text forms around it.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, PAD};
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"SSHSIG";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
/// Characters of a line of the armored form, as `ssh-keygen` writes it.
const WIDTH: usize = 70;

/// Bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    GeneralPurpose::new(&STANDARD, PAD).encode(bytes)
}

/// The bytes of standard or URL-safe base64; none where it is neither.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let standard = GeneralPurpose::new(&STANDARD, PAD).decode(text);
    standard
        .or_else(|_| GeneralPurpose::new(&URL_SAFE, PAD).decode(text))
        .ok()
}

/// The armored form, which `ssh-keygen` reads.
pub(crate) fn to_armor(blob: &[u8]) -> String {
    let mut text = format!("{BEGIN}\n");
    for (at, sign) in encode(blob).chars().enumerate() {
        if at > 0 && at % WIDTH == 0 {
            text.push('\n');
        }
        text.push(sign);
    }
    text.push_str(&format!("\n{END}\n"));
    text
}

/// What a signature says of itself. Nothing of it is true before it was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    /// All of it.
    pub bytes: Vec<u8>,
    /// The public key.
    key: Vec<u8>,
    /// What it is for.
    pub namespace: String,
}

impl Blob {
    /// Reads the binary form, or the armored one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(MAGIC) {
            return Self::read_binary(bytes.to_vec());
        }
        let text = std::str::from_utf8(bytes).ok()?.trim();
        let inner = text.strip_prefix(BEGIN)?.strip_suffix(END)?;
        let inner: String = inner.split_ascii_whitespace().collect();
        Self::read_binary(decode(&inner)?)
    }

    fn read_binary(bytes: Vec<u8>) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&[0, 0, 0, 1])?;
        let key = take(&mut rest)?.to_vec();
        let namespace = String::from_utf8(take(&mut rest)?.to_vec()).ok()?;
        let (_reserved, _hash, _signature) = (take(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
        rest.is_empty().then_some(Self {
            key,
            namespace,
            bytes,
        })
    }

    /// The key's fingerprint, as `ssh-keygen -l` writes it.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(&self.key);
        let text = GeneralPurpose::new(&STANDARD, NO_PAD).encode(digest);
        format!("SHA256:{text}")
    }
}

/// A string of SSH's: its length in four bytes, then so many.
fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (string, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(namespace: &str) -> Vec<u8> {
        let mut bytes = [MAGIC, &[0, 0, 0, 1]].concat();
        for part in ["a key", namespace, "", "sha512", "a signature"] {
            bytes.extend(u32::try_from(part.len()).unwrap().to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes
    }

    #[test]
    fn both_forms_are_read_and_nothing_behind_them() {
        let bytes = blob("cook");
        let read = Blob::read(&bytes).unwrap();
        assert_eq!(read.namespace, "cook");
        assert_eq!(Blob::read(to_armor(&bytes).as_bytes()), Some(read));
        for end in 0..bytes.len() {
            assert_eq!(Blob::read(&bytes[..end]), None, "cut at {end}");
        }
        assert_eq!(Blob::read(&[&bytes[..], b"x"].concat()), None);
        let mut long = bytes.clone();
        long[10] = 0xff;
        assert_eq!(Blob::read(&long), None);
    }

    #[test]
    fn base64_is_of_either_alphabet_and_never_loose() {
        let bytes = [0xfb, 0xff, 0xfe, 1];
        assert_eq!(encode(&bytes), "+//+AQ==");
        for text in ["+//+AQ==", "-__-AQ=="] {
            assert_eq!(decode(text).unwrap(), bytes);
        }
        for text in [
            "+//+AQ",
            "+//+AQ==\n",
            "+__+AQ==",
            "+//+AR==",
            "+//+A===",
            " ",
        ] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }
}
