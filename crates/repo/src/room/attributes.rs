//! Conversions of file content on checkout: `eol`, `ident` and `working-tree-encoding` from the commit's own
//! `.gitattributes`, as in a clone without any settings. git itself is asked, in a repository of cook's own whose index
//! holds those files: a clone reads attributes from the index, and by other rules than in a worktree.
//!
//! Also Git LFS: the content of a pointer file is in the local LFS store, under its digest.

use crate::disk::{self, AtPath, Links};
use crate::git::Call;
use crate::room::list::{Kind, Leaf, List, Objects, place_below};
use crate::room::repository::{Git, Repository, fail_room_git};
use cook_protocol::diagnostic::Failure;
use git2::{ObjectFormat, ObjectType};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The file at the root that configures which LFS files a clone fetches.
const LARGE: &[u8] = b".lfsconfig";
const ASKED: &str =
    "check-attr --cached -z --stdin text crlf eol ident working-tree-encoding filter";
/// Maximum size of one attributes file in bytes; git itself reads no larger one.
const MAX_ATTRIBUTES: u64 = 100 << 20;
const LIMIT: u64 = 1 << 30;

/// File contents by path.
type Contents<'p> = BTreeMap<&'p [u8], Vec<u8>>;

/// A file whose content differs from its blob.
pub(crate) struct Made {
    pub bytes: Vec<u8>,
    /// The content may be an LFS pointer that a clone replaces by the file.
    pub is_large: bool,
}

/// The attributes of one commit of a repository.
pub(crate) struct Attributes<'a> {
    dir: PathBuf,
    /// The search path for git.
    path: &'a OsStr,
    /// A digest of all attributes files; empty if there are none.
    pub digest: String,
    /// The LFS files that a clone fetches.
    fetched: Fetched,
}

impl<'a> Attributes<'a> {
    /// Sets up the repository in `dir` in which git is asked.
    pub fn read(
        dir: PathBuf,
        list: &List,
        objects: &Objects,
        path: &'a OsStr,
    ) -> Result<Self, String> {
        let mut attributes = Self {
            dir,
            path,
            digest: String::new(),
            fetched: Fetched::default(),
        };
        // git reads attributes from its index, where the target of a link counts as the text of the file.
        let is_asked =
            |path: &[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes");
        let mut files = BTreeMap::new();
        let mut said = Vec::new();
        let all = list.files.iter().filter(|(path, _)| is_asked(path));
        for (path, leaf) in all.chain(list.files.iter().filter(|(path, _)| path == LARGE)) {
            objects.require_small(leaf.id, MAX_ATTRIBUTES)?;
            files.insert(&path[..], objects.read(leaf.id, ObjectType::Blob)?);
            said.extend([path, leaf.id.as_bytes()].concat());
        }
        let large = files.remove(LARGE);
        if files.is_empty() {
            return Ok(attributes);
        }
        if let Some(text) = large {
            attributes.fetched = Fetched::read(text, path)?;
        }
        attributes.digest = cook_protocol::digest::sha256(&said);
        let laid = attributes.lay_out(&files, objects.format());
        laid.map(|()| attributes).map_err(|error| error.message)
    }

    fn lay_out(
        &self,
        files: &BTreeMap<&[u8], Vec<u8>>,
        format: ObjectFormat,
    ) -> Result<(), Failure> {
        disk::remove_tree(&self.dir).at("make", &self.dir)?;
        fs::create_dir_all(self.work()).at("make", &self.dir)?;
        let format = match format {
            ObjectFormat::Sha256 => "--object-format=sha256",
            _ => "--object-format=sha1",
        };
        self.ask(Call::new("init --quiet --template=").arg(format), &[0])?;
        self.stage(files)
    }

    /// Puts files into the index, as a clone does before it writes any file.
    fn stage(&self, files: &BTreeMap<&[u8], Vec<u8>>) -> Result<(), Failure> {
        let said = |error: git2::Error| fail_room_git(error.message());
        let repo = git2::Repository::open_bare(&self.dir).map_err(said)?;
        let database = repo.odb().map_err(said)?;
        let mut lines = Vec::new();
        for (path, bytes) in files {
            let id = database.write(ObjectType::Blob, bytes).map_err(said)?;
            lines.extend([format!("100644 {id}\t").as_bytes(), path, b"\0"].concat());
        }
        let update = Call::new("update-index -z --index-info").stdin(lines);
        self.ask(update, &[0]).map(drop)
    }

    /// An empty worktree.
    fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// Returns the content of those of the `due` files whose content is converted. It uses the same git code that
    /// writes the files of a clone: `git cat-file --filters` expands `ident` differently.
    pub fn make<'p>(
        &self,
        repository: &Repository,
        due: impl Iterator<Item = &'p (Vec<u8>, Leaf)>,
    ) -> Result<BTreeMap<&'p [u8], Made>, Failure> {
        let due = due.filter(|(_, leaf)| leaf.kind != Kind::Link);
        let due: BTreeMap<&[u8], Leaf> = due.map(|(path, leaf)| (&path[..], *leaf)).collect();
        if self.digest.is_empty() || due.is_empty() {
            return Ok(BTreeMap::new());
        }
        let paths: Vec<&[u8]> = due.keys().copied().collect();
        let answer = self.ask(Call::new(ASKED).stdin(path_list(&paths)), &[0])?;
        let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
        let mut values: BTreeMap<&[u8], BTreeMap<&[u8], &[u8]>> = BTreeMap::new();
        for [path, name, value] in fields.as_chunks().0 {
            values.entry(path).or_default().insert(name, value);
        }
        let is_large = |path: &[u8]| values[path].get(&b"filter"[..]) == Some(&&b"lfs"[..]);
        let paths = paths.into_iter().filter(|path| values.contains_key(path));
        let paths: Vec<&'p [u8]> = paths.collect();
        let large: Vec<&[u8]> = paths
            .iter()
            .copied()
            .filter(|path| is_large(path))
            .collect();
        let large = self.list_fetched(large)?;
        let mut files = BTreeMap::new();
        for path in paths {
            if large.contains(path) || is_changed(&values[path]) {
                files.insert(path, repository.read_file(path, due[path])?);
            }
        }
        if files.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.stage(&files)?;
        let made = self.check_out(files.into_keys().collect())?;
        let made = made.into_iter().map(|(path, bytes)| {
            let is_large = large.contains(path);
            (path, Made { bytes, is_large })
        });
        Ok(made.collect())
    }

    /// Checks out staged files and returns their content.
    fn check_out<'p>(&self, paths: Vec<&'p [u8]>) -> Result<Contents<'p>, Failure> {
        let out = self.dir.join("out");
        let mut prefix = OsString::from("--prefix=");
        prefix.push(out.join(""));
        let call = Call::new("checkout-index --force -z --stdin").arg(prefix);
        self.ask(call.stdin(path_list(&paths)), &[0])?;
        let read = |path: &'p [u8]| {
            let place = place_below(&out, path)?;
            Ok((path, disk::read_present(&place, LIMIT, Links::Refuse)?))
        };
        let made: io::Result<Contents> = paths.into_iter().map(read).collect();
        let removed = disk::remove_tree(&out);
        let made = made.at("read", &out)?;
        removed.at("read", &out).map(|()| made)
    }

    /// Those of these LFS files that a clone fetches; the others stay pointers.
    fn list_fetched<'p>(&self, large: Vec<&'p [u8]>) -> Result<BTreeSet<&'p [u8]>, Failure> {
        let Fetched { include, exclude } = &self.fetched;
        let included = self.matching(include, &large)?;
        let excluded = self.matching(exclude, &large)?;
        let is_fetched = |path: &&[u8]| {
            (include.is_empty() || included.contains(*path)) && !excluded.contains(*path)
        };
        Ok(large.into_iter().filter(is_fetched).collect())
    }

    /// Those of these paths that match a pattern, themselves or by a parent directory.
    fn matching(&self, patterns: &[String], paths: &[&[u8]]) -> Result<BTreeSet<Vec<u8>>, Failure> {
        if patterns.is_empty() || paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let place = self.dir.join("patterns");
        // Escaped, so that no pattern is a negation or a comment.
        let lines: String = patterns
            .iter()
            .map(|pattern| match pattern.starts_with(['!', '#']) {
                true => format!("\\{pattern}\n"),
                false => format!("{pattern}\n"),
            })
            .collect();
        fs::write(&place, lines).at("write", &place)?;
        let mut setting = OsString::from("core.excludesFile=");
        setting.push(&place);
        let call = Call::new("-c").arg(setting);
        let call = call.arg("check-ignore").arg("--no-index");
        let call = call.arg("-z").arg("--stdin").stdin(path_list(paths));
        // git exits with 1 if nothing matches.
        let found = self.ask(call, &[0, 1])?;
        let found = found.split(|byte| *byte == 0);
        Ok(found.map(<[u8]>::to_vec).collect())
    }

    fn ask(&self, mut call: Call, codes: &[i32]) -> Result<Vec<u8>, Failure> {
        let here = ["--git-dir=..", "--work-tree=."].map(OsString::from);
        call.arguments.splice(..0, here);
        let (path, dir) = (self.path, &*self.work());
        Git { path, dir }.answer(call, codes)
    }
}

fn path_list(paths: &[&[u8]]) -> Vec<u8> {
    [paths.join(&0), vec![0]].concat()
}

/// Whether git converts a file with these attributes. The conversion itself is left to git.
fn is_changed(values: &BTreeMap<&[u8], &[u8]>) -> bool {
    let value = |name: &str| {
        values
            .get(name.as_bytes())
            .copied()
            .unwrap_or(b"unspecified")
    };
    let encoding = value("working-tree-encoding");
    value("ident") == b"set"
        // git rejects the other values that are not an encoding, and reports that.
        || !matches!(encoding, b"unspecified" | b"")
        || value("eol") == b"crlf" && value("text") != b"unset"
}

/// An LFS pointer is smaller than this.
const POINTER: usize = 1024;
/// The current and former URLs of the LFS pointer format.
const VERSIONS: [&str; 3] = [
    "https://git-lfs.github.com/spec/v1",
    "https://hawser.github.com/spec/v1",
    "http://git-media.io/v/2",
];

/// The LFS files that a clone fetches, by patterns; all if there are no patterns.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

impl Fetched {
    /// Reads the content of an `.lfsconfig`.
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

/// Splits a list at commas and removes a trailing slash from each pattern.
fn patterns(value: &[u8]) -> Vec<String> {
    let value = String::from_utf8_lossy(value);
    let parts = value.split(',').map(str::trim);
    let parts = parts.map(|part| part.strip_suffix(['/', '\\']).unwrap_or(part));
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The fields of an LFS pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// SHA-256 in hexadecimal.
    pub digest: String,
    pub size: u64,
}

impl Pointer {
    /// `None` if git-lfs treats the file as an ordinary one: because of another version, other keys, another order of
    /// keys, an extension, or a size above the limit for pointers.
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

    /// The path of the content below the common git directory.
    pub fn place(&self, common: &Path) -> PathBuf {
        let digest = &self.digest;
        let objects = common.join("lfs").join("objects");
        objects.join(&digest[..2]).join(&digest[2..4]).join(digest)
    }

    /// Writes the content; the inner error says why it is missing or does not match the pointer.
    pub fn write(&self, common: &Path, to: &mut File) -> io::Result<Result<(), String>> {
        let digest = &self.digest;
        let opened = disk::open_regular(&self.place(common), Links::Refuse);
        let Ok(Some(from)) = opened else {
            return Ok(Err(format!(
                "the large file {digest} is not here: `git lfs fetch` fetches it"
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
                "the content of the large file {digest} does not match its name"
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
