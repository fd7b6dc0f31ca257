//! What the room was filled with, kept beside it: so that only what differs is written, and builds
//! in it stay incremental.

use std::cmp::Ordering;
use std::fs::Metadata;

const MAGIC: &[u8] = b"room 2\n";
const FIELDS: usize = 9;

/// What the system says of a file: any change of its content changes some of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stat([i64; FIELDS]);

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
            i64::from(found.uid()),
            i64::from(found.gid()),
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
        let mut fields = [0; FIELDS];
        fields[0] = found.len() as i64;
        fields[1] = since(found.modified());
        fields[2] = since(found.created());
        Self(fields)
    }

    /// Seconds and nanoseconds; like the others as git's index has it, which takes the lower half.
    pub fn mtime(&self) -> [u32; 2] {
        [self.0[1] as u32, self.0[2] as u32]
    }

    /// The time of the last change of its content, in whole seconds.
    #[cfg(unix)]
    fn seconds(&self) -> u64 {
        self.0[1].max(0) as u64
    }

    #[cfg(not(unix))]
    fn seconds(&self) -> u64 {
        self.0[1].max(0) as u64 / 1_000_000_000
    }

    pub fn ctime(&self) -> [u32; 2] {
        [self.0[3] as u32, self.0[4] as u32]
    }

    pub fn size(&self) -> u32 {
        self.0[0] as u32
    }

    pub fn inode(&self) -> u32 {
        self.0[5] as u32
    }

    /// User and group.
    pub fn owner(&self) -> [u32; 2] {
        [self.0[7] as u32, self.0[8] as u32]
    }
}

#[cfg(target_os = "linux")]
impl From<&nix::sys::stat::FileStat> for Stat {
    #[allow(clippy::unnecessary_cast)] // The types differ from machine to machine.
    fn from(found: &nix::sys::stat::FileStat) -> Self {
        Self([
            found.st_size as i64,
            found.st_mtime as i64,
            found.st_mtime_nsec as i64,
            found.st_ctime as i64,
            found.st_ctime_nsec as i64,
            found.st_ino as i64,
            i64::from(found.st_mode),
            i64::from(found.st_uid),
            i64::from(found.st_gid),
        ])
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
            let mut fields = [0; FIELDS];
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

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The newest time of a file, in whole seconds; none where there is no file.
    pub fn newest(&self) -> Option<u64> {
        let times = self.files.iter().map(|file| file.stat.seconds());
        times.max()
    }

    /// Looks files up whose paths come in order.
    pub fn in_order(&self) -> InOrder<'_> {
        InOrder { rest: &self.files }
    }
}

/// A sorted list that is asked for one path after another, each behind the one before.
pub(crate) struct InOrder<'a> {
    rest: &'a [Written<'a>],
}

impl<'a> InOrder<'a> {
    pub fn find(&mut self, path: &[u8]) -> Option<&'a Written<'a>> {
        while let Some((first, rest)) = self.rest.split_first() {
            match first.path.cmp(path) {
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

    fn encode_written(path: &[u8]) -> Written<'_> {
        Written {
            path,
            id: &[7; 20],
            form: "file",
            stat: Stat([1, -2, 3, 4, 5, 6, 7, 8, 9]),
        }
    }

    fn of(paths: &[&[u8]]) -> Vec<u8> {
        let mut draft = Draft::new("x");
        for path in paths {
            draft.add(encode_written(path));
        }
        draft.bytes().to_vec()
    }

    #[test]
    fn what_is_cut_short_or_out_of_order_counts_as_nothing() {
        let bytes = of(&[b"a/b"]);
        let manifest = Manifest::parse(&bytes).unwrap();
        assert_eq!(
            manifest.in_order().find(b"a/b"),
            Some(&encode_written(b"a/b"))
        );
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
