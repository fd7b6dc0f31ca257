//! What a clone without any settings would make of a file's bytes: `eol`, `ident` and
//! `working-tree-encoding` of the commit's own `.gitattributes`, as git understands them. git is
//! asked in a repository of cook's own, whose index holds those files: a clone reads them there, and
//! by other rules than in a worktree.

use crate::RoomError;
use crate::git::plain_git;
use crate::lfs::Fetched;
use crate::list::{Kind, Leaf, List, join};
use crate::objects::Objects;
use crate::scan::make_path_below;
use cook_os::disk::{self, Links};
use cook_os::process::{Captured, Short, capture};
use git2::{ObjectType, Oid, Repository, RepositoryInitOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const NAME: &[u8] = b".gitattributes";
/// What says, at the top, which large files a clone does not get.
const LARGE: &[u8] = b".lfsconfig";
const ASKED: [&str; 6] = [
    "text",
    "crlf",
    "eol",
    "ident",
    "working-tree-encoding",
    "filter",
];
/// Bytes of one file of attributes; git itself reads no larger one.
const MAX_ATTRIBUTES: u64 = 100 << 20;
const DEADLINE: Duration = Duration::from_secs(300);
const LIMIT: usize = 1 << 30;

/// What is made of a file's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Form {
    /// Nothing.
    #[default]
    Plain,
    /// Lines end with CR LF; where `auto`, only of what looks like text.
    Crlf { auto: bool },
    /// What git makes of it, by these attributes.
    Git(String),
    /// The content that a pointer names; what is none is made as the other attributes say.
    Lfs(Box<Form>),
}

impl Form {
    /// As the manifest holds it.
    pub fn name(&self) -> String {
        match self {
            Self::Plain => String::new(),
            Self::Crlf { auto: true } => "crlf auto".to_owned(),
            Self::Crlf { auto: false } => "crlf".to_owned(),
            Self::Git(attributes) => format!("git {attributes}"),
            Self::Lfs(form) => format!("lfs {}", form.name()),
        }
    }

    fn of(values: &BTreeMap<String, String>) -> Self {
        let form = Self::without_filter(values);
        match values.get("filter").is_some_and(|value| value == "lfs") {
            true => Self::Lfs(Box::new(form)),
            false => form,
        }
    }

    fn without_filter(values: &BTreeMap<String, String>) -> Self {
        let value = |name: &str| values.get(name).map_or("unspecified", String::as_str);
        let encoding = value("working-tree-encoding");
        // git refuses the other values that are no encoding, and says so.
        let is_encoded = !matches!(encoding, "unspecified" | "");
        if value("ident") == "set" || is_encoded {
            let all: Vec<String> = ASKED
                .iter()
                .map(|name| format!("{name}={}", value(name)))
                .collect();
            return Self::Git(all.join(" "));
        }
        // A value without a meaning counts as none.
        let text = match value("text") {
            text @ ("set" | "unset" | "auto" | "input") => text,
            _ => value("crlf"),
        };
        match (text, value("eol")) {
            ("unset", _) => Self::Plain,
            ("auto", "crlf") => Self::Crlf { auto: true },
            (_, "crlf") => Self::Crlf { auto: false },
            _ => Self::Plain,
        }
    }
}

/// The attributes of one repository's part of a commit: they hold below its root alone.
pub(crate) struct Attributes {
    dir: PathBuf,
    source: usize,
    root: Vec<u8>,
    /// Where git is found.
    path: OsString,
    /// Of all files that say them; empty where there are none.
    pub digest: String,
    /// Which large files a clone gets.
    fetched: Fetched,
}

impl Attributes {
    /// Lays out what git needs to answer, in `dir`.
    pub fn read(
        dir: PathBuf,
        list: &List,
        source: usize,
        root: &[u8],
        objects: &Objects,
        path: &OsStr,
    ) -> Result<Self, String> {
        let mut files = Vec::new();
        let mut said = Vec::new();
        for (path, leaf) in &list.files {
            // git reads them from its index, where the text of a link is one too.
            if leaf.source == source && is_attributes(path) {
                let path = below(root, path);
                said.extend([path, leaf.id.as_bytes()].concat());
                files.push((path, leaf.id));
            }
        }
        let mut fetched = Fetched::default();
        let large = list.file(&join(root, LARGE));
        if let Some(leaf) = large.filter(|leaf| leaf.source == source && !files.is_empty()) {
            objects.require_small(leaf.id, MAX_ATTRIBUTES)?;
            let text = objects.read(leaf.id, ObjectType::Blob)?;
            fetched = Fetched::read(text, path)?;
            said.extend(leaf.id.as_bytes());
        }
        let digest = match files.is_empty() {
            true => String::new(),
            false => cook_core::digest::sha256(&said),
        };
        let attributes = Self {
            dir,
            source,
            root: root.to_vec(),
            path: path.to_owned(),
            digest,
            fetched,
        };
        if !files.is_empty() {
            attributes.lay_out(&files, objects)?;
        }
        Ok(attributes)
    }

    fn lay_out(&self, files: &[(&[u8], Oid)], objects: &Objects) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        disk::remove_tree(&self.dir).map_err(failed)?;
        let mut options = RepositoryInitOptions::new();
        options
            .bare(true)
            .external_template(false)
            .object_format(objects.format());
        // git asks no attributes of a bare repository.
        let set_up = || {
            Repository::init_opts(&self.dir, &options)?;
            git2::Config::open(&self.dir.join("config"))?.set_bool("core.bare", false)
        };
        set_up().map_err(|error| error.message().to_owned())?;
        fs::create_dir_all(self.work()).map_err(failed)?;
        for (path, id) in files {
            objects.require_small(*id, MAX_ATTRIBUTES)?;
            let bytes = objects.read(*id, ObjectType::Blob)?;
            self.stage(path, &bytes)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Puts a file into the index, as a clone does before it writes any.
    fn stage(&self, path: &[u8], bytes: &[u8]) -> Result<(), RoomError> {
        let said = |error: git2::Error| RoomError::Git(error.message().to_owned());
        let repo = Repository::open_bare(&self.dir).map_err(said)?;
        let database = repo.odb().map_err(said)?;
        let id = database.write(ObjectType::Blob, bytes).map_err(said)?;
        let line = [format!("100644 {id}\t").as_bytes(), path, b"\0"].concat();
        self.git(&["update-index", "-z", "--index-info"], line)?;
        Ok(())
    }

    /// A worktree that holds nothing.
    fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// No file says any.
    pub fn is_empty(&self) -> bool {
        self.digest.is_empty()
    }

    /// What is made of those of these files that are of this part, where it is something.
    pub fn forms(&self, files: &[&(Vec<u8>, Leaf)]) -> Result<BTreeMap<Vec<u8>, Form>, RoomError> {
        if self.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut stdin = Vec::new();
        for (path, leaf) in files {
            if leaf.source == self.source && leaf.kind != Kind::Link {
                stdin.extend_from_slice(below(&self.root, path));
                stdin.push(0);
            }
        }
        if stdin.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut arguments = vec!["check-attr", "--cached", "-z", "--stdin"];
        arguments.extend(ASKED);
        let answer = self.git(&arguments, stdin)?.stdout;
        let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
        let mut values: BTreeMap<&[u8], BTreeMap<String, String>> = BTreeMap::new();
        for [path, name, value] in fields.as_chunks().0 {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            values
                .entry(path)
                .or_default()
                .insert(text(name), text(value));
        }
        let forms = values.into_iter();
        let forms = forms.map(|(path, values)| (path, Form::of(&values)));
        let mut forms: BTreeMap<&[u8], Form> =
            forms.filter(|(_, form)| *form != Form::Plain).collect();
        self.leave_pointers(&mut forms)?;
        let forms = forms.into_iter();
        Ok(forms
            .map(|(path, form)| (join(&self.root, path), form))
            .collect())
    }

    /// Large files that a clone does not fetch stay what stands for them.
    fn leave_pointers(&self, forms: &mut BTreeMap<&[u8], Form>) -> Result<(), RoomError> {
        let Fetched { include, exclude } = &self.fetched;
        if include.is_empty() && exclude.is_empty() {
            return Ok(());
        }
        let large = forms.iter().filter_map(|(path, form)| match form {
            Form::Lfs(form) => Some((*path, Form::clone(form))),
            _ => None,
        });
        let otherwise: Vec<(&[u8], Form)> = large.collect();
        let large: Vec<&[u8]> = otherwise.iter().map(|(path, _)| *path).collect();
        let included = self.matching(include, &large)?;
        let excluded = self.matching(exclude, &large)?;
        for (path, form) in otherwise {
            if !include.is_empty() && !included.contains(path) || excluded.contains(path) {
                match form {
                    Form::Plain => forms.remove(path),
                    form => forms.insert(path, form),
                };
            }
        }
        Ok(())
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
        fs::write(&place, lines).map_err(|cause| RoomError::io("write", &place, cause))?;
        let mut setting = OsString::from("core.excludesFile=");
        setting.push(&place);
        let mut arguments = vec!["-c".into(), setting];
        arguments.extend(["check-ignore", "--no-index", "-z", "--stdin"].map(OsString::from));
        let captured = self.ask(arguments, [paths.join(&0), vec![0]].concat())?;
        match captured.code {
            Some(0 | 1) => {
                let found = captured.stdout.split(|byte| *byte == 0);
                Ok(found.map(<[u8]>::to_vec).collect())
            }
            _ => Err(RoomError::Git(captured.stderr.trim().to_owned())),
        }
    }

    /// What git makes of a file's bytes: by the code that writes a clone's files, because what shows
    /// one (`git cat-file --filters`) expands other words.
    pub fn convert(&self, path: &[u8], bytes: &[u8]) -> Result<Vec<u8>, RoomError> {
        let path = below(&self.root, path);
        self.stage(path, bytes)?;
        let out = self.dir.join("out");
        let mut prefix = OsString::from("--prefix=");
        prefix.push(out.join(""));
        let named = path_argument(path)
            .ok_or_else(|| RoomError::Git("a path here is not UTF-8".to_owned()))?;
        let arguments = [
            "checkout-index".into(),
            "--force".into(),
            prefix,
            "--".into(),
            named,
        ];
        self.run(arguments.to_vec(), Vec::new())?;
        let place = make_path_below(&out, path);
        let read = place.and_then(|place| disk::read_present(&place, LIMIT as u64, Links::Refuse));
        let removed = disk::remove_tree(&out);
        let bytes = read.map_err(|cause| RoomError::io("read", &out, cause))?;
        removed.map_err(|cause| RoomError::io("remove", &out, cause))?;
        Ok(bytes)
    }

    fn git(&self, arguments: &[&str], stdin: Vec<u8>) -> Result<Captured, RoomError> {
        self.run(arguments.iter().map(OsString::from).collect(), stdin)
    }

    fn run(&self, arguments: Vec<OsString>, stdin: Vec<u8>) -> Result<Captured, RoomError> {
        let captured = self.ask(arguments, stdin)?;
        match captured.success() {
            true => Ok(captured),
            false => Err(RoomError::Git(captured.stderr.trim().to_owned())),
        }
    }

    /// What git says, and how it ends.
    fn ask(&self, arguments: Vec<OsString>, stdin: Vec<u8>) -> Result<Captured, RoomError> {
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(&self.dir);
        let work = self.work();
        let mut work_tree = OsString::from("--work-tree=");
        work_tree.push(&work);
        let mut argv = vec![OsString::from("git"), git_dir, work_tree];
        argv.extend(arguments);
        let captured = capture(&Short {
            argv,
            dir: &work,
            env: plain_git(&self.path),
            stdin,
            deadline: DEADLINE,
            limit: LIMIT,
            group: false,
        });
        captured.map_err(|error| RoomError::Git(error.to_string()))
    }
}

fn is_attributes(path: &[u8]) -> bool {
    path == NAME || path.ends_with(b"/.gitattributes")
}

#[cfg(unix)]
fn path_argument(path: &[u8]) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(path.to_vec()))
}

#[cfg(not(unix))]
fn path_argument(path: &[u8]) -> Option<OsString> {
    std::str::from_utf8(path).ok().map(OsString::from)
}

/// The bytes with CR LF at the ends of lines, by git's rules for it.
pub(crate) fn with_crlf(bytes: Vec<u8>, auto: bool) -> Vec<u8> {
    let counts = Counts::of(&bytes);
    let kept = counts.lone_lf == 0
        || auto && (counts.lone_cr > 0 || counts.crlf > 0 || counts.is_binary());
    if kept {
        return bytes;
    }
    let mut converted = Vec::with_capacity(bytes.len() + counts.lone_lf);
    let mut before = 0;
    for byte in bytes {
        if byte == b'\n' && before != b'\r' {
            converted.push(b'\r');
        }
        converted.push(byte);
        before = byte;
    }
    converted
}

/// What git counts to tell text from other content.
#[derive(Debug, Default)]
struct Counts {
    nul: usize,
    lone_cr: usize,
    lone_lf: usize,
    crlf: usize,
    printable: usize,
    other: usize,
}

impl Counts {
    fn of(bytes: &[u8]) -> Self {
        let mut counts = Self::default();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => {
                    counts.crlf += 1;
                    at += 1;
                }
                b'\r' => counts.lone_cr += 1,
                b'\n' => counts.lone_lf += 1,
                0 => {
                    counts.nul += 1;
                    counts.other += 1;
                }
                0x08 | b'\t' | 0x1b | 0x0c => counts.printable += 1,
                1..0x20 | 0x7f => counts.other += 1,
                _ => counts.printable += 1,
            }
            at += 1;
        }
        if bytes.last() == Some(&0x1a) {
            counts.other -= 1;
        }
        counts
    }

    fn is_binary(&self) -> bool {
        self.lone_cr > 0 || self.nul > 0 || self.printable / 128 < self.other
    }
}

/// A path as its own repository says it.
fn below<'a>(root: &[u8], path: &'a [u8]) -> &'a [u8] {
    match root.is_empty() {
        true => path,
        false => &path[root.len() + 1..],
    }
}
