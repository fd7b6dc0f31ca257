//! Large files that git keeps a pointer to: their content lies in the local store, by digest.

use crate::disk::{self, Links};
use crate::room::plain_git::Git;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A pointer has fewer bytes.
const POINTER: usize = 1024;
/// What git-lfs calls its format, now and before.
const VERSIONS: [&str; 3] = [
    "https://git-lfs.github.com/spec/v1",
    "https://hawser.github.com/spec/v1",
    "http://git-media.io/v/2",
];

/// Which large files a clone gets, by patterns; all where there are none.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

impl Fetched {
    /// As an `.lfsconfig` says it.
    pub fn read(text: Vec<u8>, path: &OsStr) -> Result<Self, String> {
        let dir = Path::new("/");
        let read = Git { path, dir }.settings("-".as_ref(), text);
        let mut fetched = Self::default();
        for (key, value) in read.map_err(|why| format!(".lfsconfig: {why}"))? {
            match &key[..] {
                "lfs.fetchinclude" => fetched.include = patterns(&value),
                "lfs.fetchexclude" => fetched.exclude = patterns(&value),
                _ => {}
            }
        }
        Ok(fetched)
    }
}

/// Parted by commas, each without the slash that it may end with.
fn patterns(value: &[u8]) -> Vec<String> {
    let value = String::from_utf8_lossy(value);
    let parts = value.split(',').map(str::trim);
    let parts = parts.map(|part| part.strip_suffix(['/', '\\']).unwrap_or(part));
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// What a pointer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// SHA-256, hexadecimal.
    pub digest: String,
    pub size: u64,
}

impl Pointer {
    /// None when git-lfs takes it for an ordinary file: another version, other keys or another order of
    /// them, an extension, or more bytes than a pointer has.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let mut value = |key: &str| lines.next()?.strip_prefix(key)?.strip_prefix(' ');
        let (version, digest) = (value("version")?, value("oid")?.strip_prefix("sha256:")?);
        let size = value("size")?.parse().ok()?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_pointer = bytes.len() < POINTER && VERSIONS.contains(&version) && is_digest;
        (is_pointer && lines.next().is_none()).then(|| Self {
            digest: digest.to_owned(),
            size,
        })
    }

    /// Where its content lies, below the common git directory.
    pub fn place(&self, common: &Path) -> PathBuf {
        let digest = &self.digest;
        let objects = common.join("lfs").join("objects");
        objects.join(&digest[..2]).join(&digest[2..4]).join(digest)
    }

    /// Writes the content where it is as the pointer says; what is wrong otherwise.
    pub fn write(&self, common: &Path, to: &mut File) -> io::Result<Result<(), String>> {
        let digest = &self.digest;
        let opened = disk::open_regular(&self.place(common), Links::Refuse);
        let Ok(Some(from)) = opened else {
            return Ok(Err(format!(
                "the large file {digest} is not here: `git lfs fetch` brings it"
            )));
        };
        let (mut hash, mut size, mut piece) = (Sha256::new(), 0, vec![0; 256 * 1024]);
        let mut from = from.take(self.size + 1);
        loop {
            let read = from.read(&mut piece)?;
            if read == 0 {
                break;
            }
            size += read as u64;
            hash.update(&piece[..read]);
            io::Write::write_all(to, &piece[..read])?;
        }
        let is = cook_protocol::digest::hex(&hash.finalize());
        Ok(match size == self.size && is == *digest {
            true => Ok(()),
            false => Err(format!(
                "the large file {digest} here is not what its name says"
            )),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Pointer;

    #[test]
    fn only_a_whole_pointer_is_one() {
        let digest = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let text = format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 12345\n"
        );
        let pointer = Pointer::parse(text.as_bytes()).unwrap();
        assert_eq!((pointer.digest.as_str(), pointer.size), (digest, 12345));
        for odd in [
            &text[1..],
            "version https://git-lfs.github.com/spec/v1\n",
            "",
        ] {
            assert_eq!(Pointer::parse(odd.as_bytes()), None, "{odd:?}");
        }
        let (oid, size) = (format!("oid sha256:{digest}\n"), "size 12345\n");
        for odd in [
            text.replace(digest, "../../../../etc/passwd"),
            text.replace("spec/v1", "spec/v9"),
            text.replace(&format!("{oid}{size}"), &format!("{size}{oid}")),
            format!("{text}foo bar\n"),
            text.replace("oid", "ext-0-foo sha256:0\noid"),
            text.clone() + &"\n".repeat(1024),
        ] {
            assert_eq!(Pointer::parse(odd.as_bytes()), None, "{odd:?}");
        }
    }
}
