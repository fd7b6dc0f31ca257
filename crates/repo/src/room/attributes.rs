//! What a clone without any settings would make of a file's bytes: `eol`, `ident` and
//! `working-tree-encoding` of the commit's own `.gitattributes`, as git understands them. git is
//! asked in a repository of cook's own, whose index holds those files: a clone reads them there, and
//! by other rules than in a worktree.

use crate::disk::{self, Links};
use crate::room::RoomError;
use crate::room::error::AtPath;
use crate::room::lfs::Fetched;
use crate::room::list::{Kind, Leaf, List};
use crate::room::object_reader::Objects;
use crate::room::plain_git::Git;
use crate::room::repository::Repository;
use crate::room::scan::make_path_below;
use git2::{ObjectFormat, ObjectType};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

/// What says, at the top, which large files a clone does not get.
const LARGE: &[u8] = b".lfsconfig";
const ASKED: &str =
    "check-attr --cached -z --stdin text crlf eol ident working-tree-encoding filter";
/// Bytes of one file of attributes; git itself reads no larger one.
const MAX_ATTRIBUTES: u64 = 100 << 20;
const LIMIT: u64 = 1 << 30;

/// Bytes of files by their paths.
type Contents<'p> = BTreeMap<&'p [u8], Vec<u8>>;

/// A file that is not its object's bytes.
pub(crate) struct Made {
    pub bytes: Vec<u8>,
    /// They may be a pointer whose content a clone gets.
    pub is_large: bool,
}

/// The attributes of one repository's commit.
pub(crate) struct Attributes<'a> {
    dir: PathBuf,
    /// Where git is found.
    path: &'a OsStr,
    /// Of all files that say them; empty where there are none.
    pub digest: String,
    /// Which large files a clone gets.
    fetched: Fetched,
}

impl<'a> Attributes<'a> {
    /// Lays out what git needs to answer, in `dir`.
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
        // git reads them from its index, where the text of a link is one too.
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
        laid.map(|()| attributes).map_err(|error| error.to_string())
    }

    fn lay_out(
        &self,
        files: &BTreeMap<&[u8], Vec<u8>>,
        format: ObjectFormat,
    ) -> Result<(), RoomError> {
        let failed = |cause| RoomError::io("make", &self.dir, cause);
        disk::remove_tree(&self.dir).map_err(failed)?;
        fs::create_dir_all(self.work()).map_err(failed)?;
        let format = match format {
            ObjectFormat::Sha256 => "--object-format=sha256",
            _ => "--object-format=sha1",
        };
        self.ask("init --quiet --template=", &[&format], Vec::new())?;
        self.stage(files)
    }

    /// Puts files into the index, as a clone does before it writes any.
    fn stage(&self, files: &BTreeMap<&[u8], Vec<u8>>) -> Result<(), RoomError> {
        let said = |error: git2::Error| RoomError::Git(error.message().to_owned());
        let repo = git2::Repository::open_bare(&self.dir).map_err(said)?;
        let database = repo.odb().map_err(said)?;
        let mut lines = Vec::new();
        for (path, bytes) in files {
            let id = database.write(ObjectType::Blob, bytes).map_err(said)?;
            lines.extend([format!("100644 {id}\t").as_bytes(), path, b"\0"].concat());
        }
        self.ask("update-index -z --index-info", &[], lines)?;
        Ok(())
    }

    /// A worktree that holds nothing.
    fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// What is made of those of these files of which something is made, by the code that writes a clone's
    /// files: what shows one (`git cat-file --filters`) expands other words.
    pub fn make<'p>(
        &self,
        repository: &Repository,
        due: impl Iterator<Item = &'p (Vec<u8>, Leaf)>,
    ) -> Result<BTreeMap<&'p [u8], Made>, RoomError> {
        let due = due.filter(|(_, leaf)| leaf.kind != Kind::Link);
        let due: BTreeMap<&[u8], Leaf> = due.map(|(path, leaf)| (&path[..], *leaf)).collect();
        if self.digest.is_empty() || due.is_empty() {
            return Ok(BTreeMap::new());
        }
        let paths: Vec<&[u8]> = due.keys().copied().collect();
        let answer = self.ask(ASKED, &[], [paths.join(&0), vec![0]].concat())?;
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

    /// Staged files as git writes them.
    fn check_out<'p>(&self, paths: Vec<&'p [u8]>) -> Result<Contents<'p>, RoomError> {
        let out = self.dir.join("out");
        let failed = |cause| RoomError::io("read", &out, cause);
        let mut prefix = OsString::from("--prefix=");
        prefix.push(out.join(""));
        self.ask(
            "checkout-index --force -z --stdin",
            &[&prefix],
            [paths.join(&0), vec![0]].concat(),
        )?;
        let read = |path: &'p [u8]| {
            let place = make_path_below(&out, path)?;
            Ok((path, disk::read_present(&place, LIMIT, Links::Refuse)?))
        };
        let made: std::io::Result<Contents> = paths.into_iter().map(read).collect();
        let removed = disk::remove_tree(&out);
        let made = made.map_err(failed)?;
        removed.map_err(failed)?;
        Ok(made)
    }

    /// Those of these large files that a clone fetches; the others stay what stands for them.
    fn list_fetched<'p>(&self, large: Vec<&'p [u8]>) -> Result<BTreeSet<&'p [u8]>, RoomError> {
        let Fetched { include, exclude } = &self.fetched;
        let included = self.matching(include, &large)?;
        let excluded = self.matching(exclude, &large)?;
        let is_fetched = |path: &&[u8]| {
            (include.is_empty() || included.contains(*path)) && !excluded.contains(*path)
        };
        Ok(large.into_iter().filter(is_fetched).collect())
    }

    /// Those of these paths that a pattern names, or a directory above them.
    fn matching(
        &self,
        patterns: &[String],
        paths: &[&[u8]],
    ) -> Result<BTreeSet<Vec<u8>>, RoomError> {
        if patterns.is_empty() || paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let place = self.dir.join("patterns");
        // Each as it is: none of them takes another one back, or is a comment.
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
        let more: [&dyn AsRef<OsStr>; 5] =
            [&setting, &"check-ignore", &"--no-index", &"-z", &"--stdin"];
        // Without a match git ends with 1.
        let found = self.ask_any("-c", &more, [paths.join(&0), vec![0]].concat(), &[0, 1])?;
        let found = found.split(|byte| *byte == 0);
        Ok(found.map(<[u8]>::to_vec).collect())
    }

    fn ask(
        &self,
        line: &str,
        more: &[&dyn AsRef<OsStr>],
        stdin: Vec<u8>,
    ) -> Result<Vec<u8>, RoomError> {
        self.ask_any(line, more, stdin, &[0])
    }

    fn ask_any(
        &self,
        line: &str,
        more: &[&dyn AsRef<OsStr>],
        stdin: Vec<u8>,
        codes: &[i32],
    ) -> Result<Vec<u8>, RoomError> {
        let git = Git {
            path: self.path,
            dir: &self.work(),
        };
        git.answer(
            &format!("--git-dir=.. --work-tree=. {line}"),
            more,
            stdin,
            codes,
        )
    }
}

/// git makes something of a file with these attributes: by its own rules, which it knows best.
fn is_changed(values: &BTreeMap<&[u8], &[u8]>) -> bool {
    let value = |name: &str| {
        values
            .get(name.as_bytes())
            .copied()
            .unwrap_or(b"unspecified")
    };
    let encoding = value("working-tree-encoding");
    value("ident") == b"set"
        // git refuses the other values that are no encoding, and says so.
        || !matches!(encoding, b"unspecified" | b"")
        || value("eol") == b"crlf" && value("text") != b"unset"
}
