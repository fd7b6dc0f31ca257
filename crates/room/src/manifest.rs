//! What the room was filled with, kept beside it: so that only what differs is written, and builds
//! in it stay incremental.

use std::cmp::Ordering;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    pub path: &'a [u8],
    /// The object's id.
    pub id: &'a [u8],
    /// Its mode and what was made of its content.
    pub form: &'a str,
    pub stat: Stat,
}

/// Everything that was written, by path.
#[derive(Debug, Default)]
pub(crate) struct Manifest<'a> {
    /// Of all `.gitattributes`.
    pub attributes: &'a str,
    files: Vec<Written<'a>>,
}

impl<'a> Manifest<'a> {
    /// None when they are not whole: everything is written anew then.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let attributes = std::str::from_utf8(take(&mut rest)?).ok()?;
        let mut files: Vec<Written> = Vec::new();
        while !rest.is_empty() {
            let path = take(&mut rest)?;
            let id = take(&mut rest)?;
            let form = std::str::from_utf8(take(&mut rest)?).ok()?;
            let mut fields = [0; 7];
            for field in &mut fields {
                let (number, more) = rest.split_first_chunk()?;
                (*field, rest) = (i64::from_le_bytes(*number), more);
            }
            if files.last().is_some_and(|last| last.path >= path) {
                return None;
            }
            let stat = Stat(fields);
            files.push(Written {
                path,
                id,
                form,
                stat,
            });
        }
        Some(Self { attributes, files })
    }

    /// Looks files up whose paths come in order.
    pub fn in_order(&self) -> InOrder<'_, Written<'a>> {
        InOrder { rest: &self.files }
    }
}

/// What has a path that it is sorted by.
pub(crate) trait ByPath {
    fn path(&self) -> &[u8];
}

impl ByPath for Written<'_> {
    fn path(&self) -> &[u8] {
        self.path
    }
}

impl ByPath for (Vec<u8>, Stat) {
    fn path(&self) -> &[u8] {
        &self.0
    }
}

/// A sorted list that is asked for one path after another, each behind the one before.
pub(crate) struct InOrder<'a, T> {
    pub rest: &'a [T],
}

impl<'a, T: ByPath> InOrder<'a, T> {
    pub fn find(&mut self, path: &[u8]) -> Option<&'a T> {
        while let Some((first, rest)) = self.rest.split_first() {
            match first.path().cmp(path) {
                Ordering::Less => self.rest = rest,
                Ordering::Equal => return Some(first),
                Ordering::Greater => return None,
            }
        }
        None
    }
}

/// A manifest that is written; files come by path.
pub(crate) struct Draft(Vec<u8>);

impl Draft {
    pub fn new(attributes: &str) -> Self {
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, attributes.as_bytes());
        Self(bytes)
    }

    pub fn add(&mut self, written: Written) {
        put(&mut self.0, written.path);
        put(&mut self.0, written.id);
        put(&mut self.0, written.form.as_bytes());
        for field in written.stat.0 {
            self.0.extend(field.to_le_bytes());
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
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

    fn written(path: &[u8]) -> Written<'_> {
        Written {
            path,
            id: &[7; 20],
            form: "file",
            stat: Stat([1, -2, 3, 4, 5, 6, 7]),
        }
    }

    fn of(paths: &[&[u8]]) -> Vec<u8> {
        let mut draft = Draft::new("x");
        for path in paths {
            draft.add(written(path));
        }
        draft.bytes().to_vec()
    }

    #[test]
    fn what_is_cut_short_or_out_of_order_counts_as_nothing() {
        let bytes = of(&[b"a/b"]);
        let manifest = Manifest::parse(&bytes).unwrap();
        assert_eq!(manifest.in_order().find(b"a/b"), Some(&written(b"a/b")));
        for length in MAGIC.len() + 6..bytes.len() {
            assert!(Manifest::parse(&bytes[..length]).is_none(), "{length}");
        }
        assert!(Manifest::parse(&of(&[b"b", b"a"])).is_none());
        assert!(Manifest::parse(&of(&[b"a", b"a"])).is_none());
    }

    #[test]
    fn each_path_is_found_in_its_turn() {
        let bytes = of(&[b"a", b"c", b"d"]);
        let manifest = Manifest::parse(&bytes).unwrap();
        let mut files = manifest.in_order();
        let found = [&b"a"[..], b"b", b"d", b"e"].map(|path| files.find(path).is_some());
        assert_eq!(found, [true, false, true, false]);
    }
}
