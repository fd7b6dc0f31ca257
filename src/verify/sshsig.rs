//! What an armored SSH signature says of itself: the key, and what it is for.

/// The first bytes of a signature (OpenSSH's PROTOCOL.sshsig).
const MAGIC: &[u8] = b"SSHSIG";

/// The key that signed, as it claims, and the namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claimed {
    /// The public key's blob.
    pub key: Vec<u8>,
    /// What it signed for.
    pub namespace: String,
}

/// Reads it; none where it is no signature of this kind.
pub(super) fn read(armored: &str) -> Option<Claimed> {
    let body = armored.split_once("-----BEGIN SSH SIGNATURE-----")?.1;
    let body = body.split_once("-----END SSH SIGNATURE-----")?.0;
    let bytes = decode(&body.split_whitespace().collect::<String>())?;
    let rest = bytes.strip_prefix(MAGIC)?.get(4..)?;
    let (key, rest) = take(rest)?;
    let (namespace, _) = take(rest)?;
    Some(Claimed {
        key: key.to_vec(),
        namespace: String::from_utf8_lossy(namespace).into_owned(),
    })
}

/// A string with its length before it.
fn take(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let rest = &bytes[4..];
    Some((rest.get(..length)?, rest.get(length..)?))
}

/// Base64 with its padding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

/// Why a key does not count by a list that `ssh-keygen` did not take it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unlisted {
    /// No line has it.
    Unknown,
    /// A line has it for other namespaces.
    Namespace,
    /// A line has it for another time.
    Time,
    /// A line has it, so that something else is wrong.
    Listed,
}

/// Looks for the key in the list.
pub(super) fn look_up(list: &str, key: &[u8], namespace: &str) -> Unlisted {
    let has = |line: &&str| {
        !line.trim_start().starts_with('#')
            && line
                .split_whitespace()
                .any(|word| decode(word).as_deref() == Some(key))
    };
    let mut why = Unlisted::Unknown;
    for line in list.lines().filter(has) {
        let spaces = option(line, "namespaces=");
        let is_for = |spaces: &str| {
            let mut all = spaces.split(',').map(str::trim);
            all.any(|one| one == namespace || one.contains(['*', '?']))
        };
        if spaces.is_some_and(|spaces| !is_for(spaces)) {
            why = Unlisted::Namespace;
        } else if option(line, "valid-before=")
            .or(option(line, "valid-after="))
            .is_some()
        {
            return Unlisted::Time;
        } else {
            return Unlisted::Listed;
        }
    }
    why
}

/// The value of an option of a line, without its quotes.
fn option<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let value = line.split_once(name)?.1;
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split([',', ' ', '\t']).next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_and_other_text_is_not() {
        assert_eq!(decode("aGVsbG8=").as_deref(), Some(&b"hello"[..]));
        assert_eq!(decode("aGk=").as_deref(), Some(&b"hi"[..]));
        assert_eq!(decode("").as_deref(), Some(&b""[..]));
        for text in ["a", "a===", "aGV*", "one@example.org"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_is_found_with_what_its_line_says() {
        let key = decode("AAAAC3Nz").unwrap();
        let of = |line: &str| look_up(&format!("# AAAAC3Nz\n{line}\n"), &key, "cook");
        assert_eq!(of("a ssh-ed25519 BBBBC3Nz"), Unlisted::Unknown);
        assert_eq!(of("a ssh-ed25519 AAAAC3Nz"), Unlisted::Listed);
        assert_eq!(
            of("a namespaces=\"git\" ssh-ed25519 AAAAC3Nz"),
            Unlisted::Namespace
        );
        assert_eq!(
            of("a namespaces=\"git,cook\" ssh-ed25519 AAAAC3Nz"),
            Unlisted::Listed
        );
        let dated = "a namespaces=\"cook\",valid-before=\"20200101\" ssh-ed25519 AAAAC3Nz";
        assert_eq!(of(dated), Unlisted::Time);
    }

    #[test]
    fn what_is_no_signature_says_nothing() {
        let armor = |body: &str| {
            format!("-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n")
        };
        for text in [
            "",
            "-----BEGIN SSH SIGNATURE-----",
            &armor(""),
            &armor("U1NIU0lH"),
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        // SSHSIG, version 1, a key that is longer than what follows.
        assert_eq!(read(&armor("U1NIU0lHAAAAAf////8=")), None);
        // The same with the key `k` for `n`.
        let claimed = read(&armor("U1NIU0lHAAAAAQAAAAFrAAAAAW4=")).unwrap();
        assert_eq!(
            (claimed.key, claimed.namespace.as_str()),
            (b"k".to_vec(), "n")
        );
    }
}
