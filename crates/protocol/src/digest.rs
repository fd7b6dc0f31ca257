//! Hexadecimal SHA-256 digests.

use sha2::{Digest, Sha256};

/// Formats bytes as lowercase hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of several parts, each preceded by its length, in lowercase hexadecimal.
pub fn sha256_of_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.as_ref().len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex(&digest.finalize())
}

/// Returns the SHA-256 of bytes, in lowercase hexadecimal.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_everywhere() {
        assert_eq!(hex(&[0, 1, 0xab, 0xff]), "0001abff");
        assert_eq!(
            sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
