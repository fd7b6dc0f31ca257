//! Objects that are files of their own, as git writes them.

use cook_os::disk::{self, Durable, Mode, NewFile};
use git2::{ObjectType, Oid};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

/// No object of a log is larger, before compression.
const MAX_OBJECT: u64 = 1 << 30;

/// Names of the objects below a directory, as its files are called.
pub(super) fn list_loose(objects: &Path) -> Vec<String> {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names = Vec::new();
    for fan_out in entries(objects).filter(|entry| entry.file_name().len() == 2) {
        for file in entries(&fan_out.path()) {
            let (begin, rest) = (fan_out.file_name(), file.file_name());
            names.push(format!("{}{}", begin.display(), rest.display()));
        }
    }
    names
}

/// A loose object; `None` when there is no such file.
pub(super) fn read_loose(objects: &Path, id: Oid) -> io::Result<Option<(ObjectType, Vec<u8>)>> {
    open_loose(objects, id)?.map(inflate).transpose()
}

/// Writes a loose object as git does: under a temporary name, synced, then renamed, and
/// the directory it lies in synced.
pub(super) fn write_loose(
    objects: &Path,
    id: Oid,
    kind: ObjectType,
    bytes: &[u8],
) -> io::Result<()> {
    let path = loose_path(objects, id);
    let dir = path.parent().unwrap_or(objects);
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let new = NewFile::at(&path, Durable::ContentAndName)
        .mode(Mode::Masked(0o444))
        // The name that git's own cleaning knows.
        .prefix("tmp_obj_");
    let mut stream = flate2::write::ZlibEncoder::new(new.begin()?, flate2::Compression::fast());
    write!(stream, "{} {}\0", kind.str(), bytes.len())?;
    stream.write_all(bytes)?;
    stream.finish()?.finish().map(drop)
}

pub(super) fn open_loose(objects: &Path, id: Oid) -> io::Result<Option<File>> {
    match disk::open_no_follow(OpenOptions::new().read(true), &loose_path(objects, id)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn loose_path(objects: &Path, id: Oid) -> PathBuf {
    let hex = id.to_string();
    objects.join(&hex[..2]).join(&hex[2..])
}

pub(super) type Inflated<R> = io::BufReader<flate2::read::ZlibDecoder<R>>;

pub(super) fn stream<R: Read>(file: R) -> Inflated<R> {
    io::BufReader::with_capacity(4096, flate2::read::ZlibDecoder::new(file))
}

fn make_malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Type and size, as the object itself says.
pub(super) fn read_header(stream: &mut impl BufRead) -> io::Result<(ObjectType, u64)> {
    let mut head = Vec::new();
    stream.take(64).read_until(0, &mut head)?;
    head.strip_suffix(b"\0")
        .and_then(|head| std::str::from_utf8(head).ok())
        .and_then(|head| head.split_once(' '))
        .and_then(|(kind, size)| Some((ObjectType::from_str(kind)?, size.parse().ok()?)))
        .ok_or_else(|| make_malformed("its header is malformed"))
}

fn inflate(file: impl Read) -> io::Result<(ObjectType, Vec<u8>)> {
    let mut stream = stream(file);
    let (kind, size) = read_header(&mut stream)?;
    if size > MAX_OBJECT {
        return Err(make_malformed("it is larger than cook reads"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(1 << 20)).unwrap_or(0));
    stream.take(size + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size {
        return Err(make_malformed("it is not as long as it says"));
    }
    Ok((kind, bytes))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut writer =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn objects_cut_short_or_lying_are_errors() {
        let good = deflate(b"blob 5\0hello");
        let (kind, bytes) = inflate(&good[..]).unwrap();
        assert_eq!((kind, bytes.as_slice()), (ObjectType::Blob, &b"hello"[..]));
        for length in 0..good.len() {
            assert!(inflate(&good[..length]).is_err(), "{length}");
        }
        for bad in [
            &b"blob 6\0hello"[..],
            b"blob 4\0hello",
            b"blob 99999999999999\0hello",
            b"blob -1\0",
            b"snake 5\0hello",
            b"blob",
            b"",
        ] {
            assert!(inflate(&deflate(bad)[..]).is_err(), "{bad:?}");
        }
        assert!(inflate(&b"not compressed"[..]).is_err());
    }
}
