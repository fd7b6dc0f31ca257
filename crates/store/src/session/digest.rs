//! A digest that a small file carries of itself: refs, notes of calls, lines of the record of
//! calls end in `,"check":"<32 digits>"}`, marks in a space and 32 digits.
//!
//! Invariant: no change of one byte makes such a file whole again, or one of the older kind,
//! which carries none and is read as it stands.

use super::hash::ContentHash;
use super::reference::Ref;
use serde::Serialize;

const KEY: &[u8] = b",\"check\":\"";
const END: &[u8] = b"\"}";
/// Half of SHA-256: against accidents, not against whoever can write the store.
const DIGITS: usize = 32;

/// What a file says, its digest taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opened {
    /// The document.
    pub(super) document: Vec<u8>,
    /// Whether it carried a digest.
    pub(super) carried: bool,
}

/// A JSON object with its digest as its last member. What is no object with members carries
/// none.
pub(super) fn closed<T: Serialize>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)?;
    if bytes.len() > 2 && bytes.ends_with(b"}") {
        bytes.pop();
        let check = digits(&[bytes.as_slice()]);
        bytes.extend_from_slice(KEY);
        bytes.extend_from_slice(check.as_bytes());
        bytes.extend_from_slice(END);
    }
    Ok(bytes)
}

/// The object again.
///
/// # Errors
/// When it is not what its digest was taken of.
pub(super) fn open(bytes: &[u8]) -> Result<Opened, String> {
    let older = || Opened {
        document: bytes.to_vec(),
        carried: false,
    };
    let Some(at) = bytes.len().checked_sub(KEY.len() + DIGITS + END.len()) else {
        return Ok(older());
    };
    let (body, tail) = bytes.split_at(at);
    let (key, rest) = tail.split_at(KEY.len());
    let (check, end) = rest.split_at(DIGITS);
    let are_digits = check
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    // One changed byte spoils one of the three: whatever has two of them had a digest.
    match [key == KEY, are_digits, end == END] {
        [true, true, true] if digits(&[body]).as_bytes() == check => {
            let mut document = body.to_vec();
            document.push(b'}');
            Ok(Opened {
                document,
                carried: true,
            })
        }
        [true, true, _] | [true, _, true] | [_, true, true] => {
            Err("it is not what its digest was taken of".to_owned())
        }
        _ => Ok(older()),
    }
}

/// A mark: the ref, and a digest of it and of where it stands.
pub(super) fn mark(place: &str, key: &str, name: Ref) -> String {
    let text = name.to_string();
    let check = digits(&[place.as_bytes(), key.as_bytes(), text.as_bytes()]);
    format!("{text} {check}")
}

/// The ref of a mark, and whether it carried a digest.
///
/// # Errors
/// When it is none, or not what its digest was taken of.
pub(super) fn marked(place: &str, key: &str, bytes: &[u8]) -> Result<(Ref, bool), String> {
    let text = String::from_utf8_lossy(bytes);
    match text.split_once(' ') {
        Some((name, _)) => {
            let name: Ref = name.parse()?;
            if mark(place, key, name).as_bytes() == bytes {
                Ok((name, true))
            } else {
                Err("it is not what its digest was taken of".to_owned())
            }
        }
        None => Ok((text.trim_end_matches('\n').parse()?, false)),
    }
}

fn digits(parts: &[&[u8]]) -> String {
    ContentHash::of("cook/check/1", parts).digits()[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::reference::Grade;
    use super::*;
    use serde_json::json;

    #[test]
    fn no_changed_byte_is_taken_for_whole_or_for_older() {
        let name = Ref::new(Grade::Series);
        let document = closed(&json!({"a": 1, "z": "text"})).unwrap_or_default();
        let noted = mark("sealed", "x", name).into_bytes();
        for place in 0..document.len().max(noted.len()) {
            for bits in 1..=255_u8 {
                if let Some(byte) = document.get(place) {
                    let mut bad = document.clone();
                    bad[place] = byte ^ bits;
                    assert!(open(&bad).is_err(), "{}", String::from_utf8_lossy(&bad));
                }
                if let Some(byte) = noted.get(place) {
                    let mut bad = noted.clone();
                    bad[place] = byte ^ bits;
                    assert!(marked("sealed", "x", &bad).is_err(), "{bad:?}");
                }
            }
        }
        assert!(open(&document).is_ok_and(|opened| opened.carried));
        assert_eq!(marked("sealed", "x", &noted), Ok((name, true)));
        // A mark of another place is none here.
        assert!(marked("sealed", "y", &noted).is_err());
        let older = br#"{"a":1}"#;
        assert!(open(older).is_ok_and(|opened| !opened.carried && opened.document == older));
        let older = format!("{name}\n");
        assert_eq!(marked("names", "x", older.as_bytes()), Ok((name, false)));
    }
}
