//! Signatures of transitions: in the header of the commit, where git has its own.

use super::error::StoreError;

/// Makes a signature of the text of a commit, in its armor.
pub type Sign<'a, E> = dyn Fn(&[u8]) -> Result<String, E> + 'a;

/// What stands signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The commit without its signature.
    pub payload: Vec<u8>,
    /// The signature, in its armor.
    pub signature: String,
}

/// Characters of a commit's first line where names are SHA-256: `tree ` and 64 digits.
const LONG_FIRST_LINE: usize = 69;

/// The text of a commit with a signature of it, as git writes one.
pub(super) fn add_signature(commit: &str, signature: &str) -> Result<String, StoreError> {
    let armor = signature.trim_end();
    let (Some((head, message)), false) = (commit.split_once("\n\n"), armor.contains('\0')) else {
        return Err(StoreError::from_malformed(
            "the signature cannot stand in a commit",
        ));
    };
    let name = match head.lines().next().map(str::len) {
        Some(LONG_FIRST_LINE) => "gpgsig-sha256",
        _ => "gpgsig",
    };
    let indented = armor.replace('\n', "\n ");
    Ok(format!("{head}\n{name} {indented}\n\n{message}"))
}

/// A commit's signature, as git writes it into the header: `gpgsig`, its further lines indented.
pub(super) fn take_signature(commit: &[u8]) -> Option<Signed> {
    let mut payload = Vec::new();
    let mut signature = String::new();
    let (mut in_head, mut in_signature) = (true, false);
    for line in commit.split_inclusive(|byte| *byte == b'\n') {
        let rest = match in_head {
            true if in_signature => line.strip_prefix(b" "),
            true => ["gpgsig ", "gpgsig-sha256 "]
                .iter()
                .find_map(|name| line.strip_prefix(name.as_bytes())),
            false => None,
        };
        in_signature = rest.is_some();
        match rest {
            Some(rest) => signature.push_str(&String::from_utf8_lossy(rest)),
            None => payload.extend_from_slice(line),
        }
        in_head &= line != b"\n";
    }
    (!signature.is_empty()).then_some(Signed { payload, signature })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_taken_out_of_the_header_alone() {
        let signed = take_signature(b"tree 1\ngpgsig a\n b\n c\nauthor x\n\ngpgsig no\n").unwrap();
        assert_eq!(signed.payload, b"tree 1\nauthor x\n\ngpgsig no\n");
        assert_eq!(signed.signature, "a\nb\nc\n");
        assert_eq!(take_signature(b"tree 1\n\ngpgsig no\n"), None);
    }

    #[test]
    fn a_signature_is_taken_out_as_it_was_put_in() {
        for (tree, name) in [
            ("1".repeat(40), "gpgsig "),
            ("1".repeat(64), "gpgsig-sha256 "),
        ] {
            let commit = format!("tree {tree}\nauthor x\n\nA message\n\nof two parts\n");
            let armor = "BEGIN\n\nbody\nEND\n";
            let written = add_signature(&commit, armor).unwrap();
            assert!(
                written.lines().any(|line| line.starts_with(name)),
                "{written}"
            );
            let signed = take_signature(written.as_bytes()).unwrap();
            assert_eq!(signed.payload, commit.as_bytes());
            assert_eq!(signed.signature, armor);
        }
        assert!(add_signature("tree 1\n\nm\n", "a\0b").is_err());
    }
}
