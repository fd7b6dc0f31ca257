//! The fingerprint of a value: SHA-256 over a tag and length-prefixed parts, so that no two
//! different splits of the same bytes meet. Published with vectors in `protocol/session-vectors.json`.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What a name of a hash begins with.
const PREFIX: &str = "sha256:";

/// `sha256:` and 64 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash(String);

impl ContentHash {
    /// SHA-256 over `tag`, then for each part its length as u64 little-endian and its bytes.
    pub(super) fn of(tag: &str, parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        digest.update(tag.as_bytes());
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let hex: String = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self(format!("{PREFIX}{hex}"))
    }

    /// The whole name, with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digits alone, as in file names.
    pub fn digits(&self) -> &str {
        &self.0[PREFIX.len()..]
    }
}

impl TryFrom<String> for ContentHash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix(PREFIX).unwrap_or_default();
        let fits = digits.len() == 64
            && digits
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if fits {
            Ok(Self(text))
        } else {
            Err(format!("`{}` is not a hash", text.escape_debug()))
        }
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.0
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
