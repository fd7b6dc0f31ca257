//! What the room was filled with, kept beside it: so that only what differs is written, and builds
//! in it stay incremental.

use std::collections::HashMap;
use std::fs::Metadata;

const MAGIC: &[u8] = b"room 1\n";

/// What the system says of a file: any change of its content changes some of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat([i64; 7]);

impl Stat {
    #[cfg(unix)]
    pub fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self([
            found.size() as i64,
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
            found.ino() as i64,
            i64::from(found.mode()),
        ])
    }

    /// No time of change is to be had here: a file whose times are put back goes unseen.
    #[cfg(not(unix))]
    pub fn of(found: &Metadata) -> Self {
        let since = |time: std::io::Result<std::time::SystemTime>| {
            time.ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |since| since.as_nanos() as i64)
        };
        let mut fields = [0; 7];
        fields[0] = found.len() as i64;
        fields[1] = since(found.modified());
        fields[2] = since(found.created());
        Self(fields)
    }
}

/// One file as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// The object's id.
    pub id: Vec<u8>,
    /// Its mode and what was made of its content.
    pub form: String,
    pub stat: Stat,
}

/// Everything that was written.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// Of all `.gitattributes`.
    pub attributes: String,
    pub files: HashMap<Vec<u8>, Written>,
}

impl Manifest {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, self.attributes.as_bytes());
        for (path, written) in &self.files {
            put(&mut bytes, path);
            put(&mut bytes, &written.id);
            put(&mut bytes, written.form.as_bytes());
            for field in written.stat.0 {
                bytes.extend(field.to_le_bytes());
            }
        }
        bytes
    }

    /// None when they are not whole: everything is written anew then.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let attributes = String::from_utf8(take(&mut rest)?.to_vec()).ok()?;
        let mut files = HashMap::new();
        while !rest.is_empty() {
            let path = take(&mut rest)?.to_vec();
            let id = take(&mut rest)?.to_vec();
            let form = String::from_utf8(take(&mut rest)?.to_vec()).ok()?;
            let mut fields = [0; 7];
            for field in &mut fields {
                let (number, more) = rest.split_first_chunk()?;
                (*field, rest) = (i64::from_le_bytes(*number), more);
            }
            let stat = Stat(fields);
            files.insert(path, Written { id, form, stat });
        }
        Some(Self { attributes, files })
    }
}

fn put(bytes: &mut Vec<u8>, field: &[u8]) {
    bytes.extend((field.len() as u32).to_le_bytes());
    bytes.extend(field);
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, more) = rest.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (field, more) = more.split_at_checked(length)?;
    *rest = more;
    Some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_short_counts_as_nothing() {
        let stat = Stat([1, -2, 3, 4, 5, 6, 7]);
        let written = Written {
            id: vec![7; 20],
            form: "file".to_owned(),
            stat,
        };
        let manifest = Manifest {
            attributes: "x".to_owned(),
            files: HashMap::from([(b"a/b".to_vec(), written.clone())]),
        };
        let bytes = manifest.to_bytes();
        assert_eq!(Manifest::parse(&bytes).unwrap().files[&b"a/b"[..]], written);
        for length in MAGIC.len() + 6..bytes.len() {
            assert!(Manifest::parse(&bytes[..length]).is_none(), "{length}");
        }
    }
}
