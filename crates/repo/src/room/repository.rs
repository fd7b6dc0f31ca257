//! The repository that a commit is taken from, and the history that a room gets of it. The git program is one that the
//! user trusted, and it runs without anyone's settings. The `.git` of a room is written here, and any reason why a
//! clone would fail is reported.

use crate::disk::{self, AtPath, Durable, Links, Mode, NewFile, cannot};
use crate::git::Call;
use crate::process::{Captured, Short, capture};
use crate::room::contents::Source;
use crate::room::list::{Leaf, List, Objects, refuse_name};
use cook_protocol::diagnostic::{Code, Failure};
use git2::{ObjectFormat, ObjectType, Oid, Reference};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For one walk or copy of the whole history: a million objects may take more than a minute.
const DEADLINE: Duration = Duration::from_secs(60 * 60);
/// Maximum size of git's output in bytes.
const LIMIT: usize = 1 << 30;

/// The environment of git.
const ENVIRONMENT: [(&str, &str); 17] = [
    ("HOME", "/dev/null"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    // git itself knows where its own programs are.
    ("GIT_EXEC_PATH", ""),
    // Commit graphs and multi-pack indexes hold data that nothing has verified.
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.commitGraph"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.multiPackIndex"),
    ("GIT_CONFIG_VALUE_1", "false"),
    // git's default attributes file is in the user's configuration directory.
    ("XDG_CONFIG_HOME", "/dev/null"),
];

/// Runs git in a directory, in the environment above.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Git<'a> {
    /// The search path for programs.
    pub path: &'a OsStr,
    pub dir: &'a Path,
}

impl Git<'_> {
    /// Runs git and returns its output and exit code.
    pub fn ask(&self, call: Call) -> Result<Captured, Failure> {
        let own = ENVIRONMENT.map(|(name, value)| (name, OsString::from(value)));
        let mut env = own.to_vec();
        env.push(("PATH", self.path.to_owned()));
        env.extend(call.env);
        let captured = capture(&Short {
            argv: [vec!["git".into()], call.arguments].concat(),
            dir: self.dir,
            env,
            stdin: call.stdin,
            deadline: DEADLINE,
            limit: LIMIT,
            group: false,
        });
        captured.map_err(|error| fail_room_git(&error.to_string()))
    }

    /// Runs git and returns its stdout; any exit code that is not in `codes` is a failure.
    pub fn answer(&self, call: Call, codes: &[i32]) -> Result<Vec<u8>, Failure> {
        let captured = self.ask(call)?;
        match captured.code.is_some_and(|code| codes.contains(&code)) {
            true => Ok(captured.stdout),
            false => Err(fail_room_git(&complaint(&captured))),
        }
    }

    /// Reads keys and values from a configuration file in order: a later value overrides an earlier one. With the file
    /// `-`, git reads `text` from stdin; a missing file is empty.
    pub fn settings(
        &self,
        file: &OsStr,
        text: impl Into<Vec<u8>>,
    ) -> Result<Vec<(String, Vec<u8>)>, String> {
        let call = Call::new("config --no-includes -z --file").arg(file);
        let call = call.arg("--get-regexp").arg(".").stdin(text);
        let answer = self.answer(call, &[0, 1]).map_err(|error| error.message)?;
        let lines = answer.split(|byte| *byte == 0);
        let found = lines.filter_map(|line| {
            let end = line.iter().position(|byte| *byte == b'\n')?;
            let key = String::from_utf8_lossy(&line[..end]).into_owned();
            Some((key, line[end + 1..].to_vec()))
        });
        Ok(found.collect())
    }
}

pub(crate) fn fail_room_git(said: &str) -> Failure {
    Failure::state(Code::GitFailed, format!("git did not answer: {said}"))
}

/// git's error messages, without its hints and progress output.
pub(crate) fn complaint(captured: &Captured) -> String {
    let lines = captured.stderr.lines().map(str::trim);
    let is_wrong = |line: &&str| line.contains("fatal:") || line.contains("error:");
    let wrong: Vec<&str> = lines.filter(is_wrong).take(3).collect();
    match wrong.is_empty() {
        true => captured.stderr.trim().to_owned(),
        false => wrong.join("; "),
    }
}

/// Splits a configuration key of this section into its subsection and its variable.
pub(crate) fn within<'k>(key: &'k str, section: &str) -> Option<(&'k str, &'k str)> {
    key.strip_prefix(section)?
        .strip_prefix('.')?
        .rsplit_once('.')
}

/// Maximum size of a `shallow` file in bytes.
const MAX_SHALLOW: u64 = 64 << 20;

/// A repository and the contents of one of its commits.
pub(crate) struct Repository<'a> {
    /// The common git directory.
    pub git_dir: PathBuf,
    pub objects: Objects,
    /// The full commit id.
    pub commit: String,
    pub tree: Oid,
    pub list: List,
    /// The path at which programs in the room see its objects; `None` if that is the real path.
    pub objects_at: Option<PathBuf>,
    /// Names and ids of the refs.
    pub refs: &'a [(String, String)],
    /// Directories that git in the room ignores.
    pub caches: &'a [String],
    /// Whether the room's `.git` holds what a clone would hold, and reaches no other object.
    pub alone: bool,
    /// The origin of the history.
    pub from: TakenFrom,
    /// The search path for git.
    pub path: &'a OsStr,
}

/// The origin of the history in a room.
pub(crate) enum TakenFrom {
    /// The user's repository, cloned through the worktree's git directory.
    Clone(PathBuf),
    /// A submodule that is cloned from this local path.
    Place(PathBuf),
    /// A submodule that is cloned from a remote, which is not contacted: the local objects are used.
    Here,
    /// As `Here`, but a clone gets only the commit and not its ancestors.
    Cut,
}

impl<'a> Repository<'a> {
    /// Opens the user's repository.
    pub fn of(source: &Source<'a>, caches: &'a [String]) -> Result<Self, Failure> {
        if source.common.to_str().is_none() {
            return Err(refuse_name(source.common));
        }
        let read = Self::read(source.common, source.commit, source);
        let read = read.map_err(|why| refuse_commit(source.commit, &why))?;
        Ok(Self {
            objects_at: source.objects_at.map(|at| at(0)),
            refs: source.refs,
            caches,
            from: TakenFrom::Clone(source.git_dir.to_owned()),
            ..read
        })
    }

    /// Reads the contents of the commit; the error says what is wrong with it.
    pub fn read(git_dir: &Path, commit: &str, source: &Source<'a>) -> Result<Self, String> {
        let format = match source.commit.len() {
            64 => ObjectFormat::Sha256,
            _ => ObjectFormat::Sha1,
        };
        let opened = Objects::open(&git_dir.join("objects"), format);
        let objects = opened.map_err(|error| error.message)?;
        let tree = objects.find_tree(objects.id(commit)?)?;
        Ok(Self {
            list: List::read(&objects, tree)?,
            git_dir: git_dir.to_owned(),
            objects,
            commit: commit.to_owned(),
            tree,
            objects_at: None,
            refs: &[],
            caches: &[],
            alone: source.alone,
            from: TakenFrom::Here,
            path: source.path,
        })
    }

    /// Its object directory.
    pub fn here(&self) -> PathBuf {
        self.git_dir.join("objects")
    }

    /// The content of one of its files.
    pub fn read_file(&self, path: &[u8], leaf: Leaf) -> Result<Vec<u8>, Failure> {
        let read = self.objects.read(leaf.id, ObjectType::Blob);
        let path = String::from_utf8_lossy(path);
        read.map_err(|why| self.not_reproducible(format!("`{path}`: {why}")))
    }

    /// The content of the `shallow` file: commits whose parents a shallow clone does not have, one per line.
    pub fn read_shallow(&self) -> Result<Option<String>, Failure> {
        let place = match &self.from {
            TakenFrom::Cut => return Ok(Some(format!("{}\n", self.commit))),
            // With `alone`, everything is fetched from `place`, so the history ends where it ends there.
            TakenFrom::Place(place) if self.alone => find_git_dir(place),
            _ => None,
        };
        let place = place.as_deref().unwrap_or(&self.git_dir).join("shallow");
        let read = disk::read_text(&place, MAX_SHALLOW, Links::Refuse);
        read.at("read", &place)
    }

    /// Runs git in a directory, with the program that the user trusted.
    pub fn git<'g>(&'g self, dir: &'g Path) -> Git<'g> {
        Git {
            path: self.path,
            dir,
        }
    }

    /// The failure that the commit differs from what a clone gets, and why.
    pub fn not_reproducible(&self, why: impl AsRef<str>) -> Failure {
        refuse_commit(&self.commit, why.as_ref())
    }

    /// Runs git in a git directory; if it fails, the commit cannot be reproduced in a clone.
    fn ask(&self, dir: &Path, mut call: Call, what: &str) -> Result<Vec<u8>, Failure> {
        call.arguments.insert(0, "--git-dir=.".into());
        let captured = self.git(dir).ask(call)?;
        let said = complaint(&captured);
        match captured.success() {
            true => Ok(captured.stdout),
            false if says_full(&said) => {
                let full = std::io::ErrorKind::StorageFull.into();
                Err(cannot("copy the history to", dir, full))
            }
            false => Err(self.not_reproducible(format!("{what}: {said}"))),
        }
    }
}

/// Whether git reports that the file system is full; it repeats the system's error message.
fn says_full(said: &str) -> bool {
    let full = std::io::Error::from_raw_os_error(ENOSPC).to_string();
    let (words, _) = full.split_once(" (os error").unwrap_or((&full, ""));
    cfg!(unix) && said.contains(words)
}

fn refuse_commit(commit: &str, why: &str) -> Failure {
    let what = format!("commit {commit} cannot be checked out: {why}");
    Failure::state(Code::NotReproducible, what)
}

/// The git directory of the repository at a local path, found as git does.
pub(crate) fn find_git_dir(place: &Path) -> Option<PathBuf> {
    let mut suffixed = place.as_os_str().to_owned();
    suffixed.push(".git");
    let places = [place.join(".git"), place.to_owned(), suffixed.into()];
    places.into_iter().find(|dir| dir.join("objects").is_dir())
}

/// Maximum size of a control file in bytes.
const MAX_FILE: u64 = 64 << 20;
/// The entries of a room's `.git`, including those that git itself adds.
const NAMES: &str = "HEAD config index info logs objects packed-refs refs shallow";

/// Writes the `.git` of a room from scratch.
pub(crate) fn write(repository: &Repository, dir: &Path) -> Result<(), Failure> {
    remove(dir)?;
    for (name, text) in control_files(repository)? {
        write_file(&dir.join(name), text.as_bytes())?;
    }
    for name in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        let place = dir.join(name);
        fs::create_dir_all(&place).at("make", &place)?;
    }
    match repository.alone {
        true => hold(repository, dir),
        false => Ok(()),
    }
}

/// Writes a file, and creates its parent directories.
pub(crate) fn write_file(place: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let made = place.parent().map_or(Ok(()), fs::create_dir_all);
    let new = NewFile::at(place, Durable::Nothing).mode(Mode::Masked(0o644));
    let written = made.and_then(|()| new.write(bytes));
    written.at("write", place)
}

/// Removes a file or directory.
pub(crate) fn remove(place: &Path) -> Result<(), Failure> {
    disk::remove_tree(place)
        .or_else(|_| fs::remove_file(place))
        .at("remove", place)
}

fn control_files(repository: &Repository) -> Result<Vec<(&'static str, String)>, Failure> {
    let format = match repository.commit.len() {
        64 => "sha256",
        _ => "sha1",
    };
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tlogallrefupdates = false\n\tcommitGraph = false\n\tmultiPackIndex = false\n[extensions]\n\tobjectformat = {format}\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n[submodule]\n\tactive = .\n"
    );
    let caches = repository.caches.iter();
    let caches = caches.map(|cache| format!("{}/\n", cache.trim_end_matches('/')));
    let tags = repository.refs.iter();
    let tags = tags.filter(|(name, _)| name.starts_with("refs/tags/"));
    let tags = tags.map(|(name, id)| format!("{id} {name}\n"));
    let mut files = vec![
        ("HEAD", format!("{}\n", repository.commit)),
        ("config", config),
        ("info/exclude", caches.collect()),
        ("packed-refs", tags.collect()),
    ];
    if !repository.alone {
        let objects = repository.objects_at.clone();
        let objects = objects.unwrap_or_else(|| repository.here());
        files.push((
            "objects/info/alternates",
            format!("{}\n", objects.display()),
        ));
    }
    let shallow = repository.read_shallow()?;
    files.extend(shallow.map(|text| ("shallow", text)));
    Ok(files)
}

/// Whether the `.git` is up to date, and nothing was added to it except git's index and objects. If it is kept, builds
/// that check the timestamps of its files run again only when the commit changed.
pub(crate) fn is_as_written(repository: &Repository, dir: &Path) -> Result<bool, Failure> {
    let Some(names) = fs::read_dir(dir).ok().filter(|_| disk::is_directory(dir)) else {
        return Ok(false);
    };
    let is_known = |entry: fs::DirEntry| NAMES.split(' ').any(|name| entry.file_name() == name);
    let is_empty = |name: &str| {
        let entries = fs::read_dir(dir.join(name));
        entries.is_ok_and(|mut entries| entries.next().is_none())
    };
    let is_same = |(name, text): &(&str, String)| {
        let there = disk::read(&dir.join(name), MAX_FILE, Links::Refuse);
        there.is_ok_and(|there| there.as_deref() == Some(text.as_bytes()))
    };
    Ok(names.flatten().all(is_known)
        && is_empty("refs/heads")
        && is_empty("refs/tags")
        && control_files(repository)?.iter().all(is_same))
}

/// The error code for "no space left on device", the same on every Unix.
const ENOSPC: i32 = 28;

/// The command that serves a clone: git with the settings of the repository, which decide what is sent and start no
/// program. It contacts no remote. Ownership of the repository was checked earlier.
const SENDER: &str =
    "--upload-pack=GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 git -c 'safe.directory=*' upload-pack";

type Refs = [(String, String)];

/// Copies the history into a git directory, or reports why a clone would fail.
pub(crate) fn hold(repository: &Repository, dir: &Path) -> Result<(), Failure> {
    match &repository.from {
        // The local objects are all that is needed.
        TakenFrom::Cut => copy(repository, dir),
        TakenFrom::Here => {
            copy(repository, dir)?;
            require_whole(repository, dir)
        }
        TakenFrom::Place(place) => {
            receive(repository, dir, place, &list_sent(repository, dir, place)?)
        }
        TakenFrom::Clone(place) => {
            check_refs(repository, dir)?;
            let sent = list_sent(repository, dir, place)?;
            check_sender(repository, &sent)?;
            receive(repository, dir, place, &sent)
        }
    }
}

/// The ids at which the history starts: the commit and these refs, one per line.
fn tips(repository: &Repository, refs: &Refs) -> String {
    let ids: BTreeSet<&str> = refs
        .iter()
        .map(|(_, id)| &**id)
        .chain([&*repository.commit])
        .collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    ids.join("\n") + "\n"
}

fn is_tag(name: &str) -> bool {
    name.starts_with("refs/tags/")
}

/// Fetches the history as a clone does, with all branches and tags, so that anything missing is found. This costs one
/// copy of the objects for each room.
fn receive(repository: &Repository, dir: &Path, place: &Path, sent: &Refs) -> Result<(), Failure> {
    let what = "its history (all branches and tags) cannot be cloned";
    let fetch = Call::new(
        "fetch-pack --quiet --keep --no-progress --stdin --check-self-contained-and-connected",
    );
    let fetch = fetch.arg(SENDER).arg(place).stdin(tips(repository, sent));
    repository.ask(dir, fetch, what)?;
    // The fetched objects are complete in themselves, but the sender may have omitted a requested one.
    let all = Call::new("rev-list --no-walk --quiet --stdin");
    let all = all.stdin(tips(repository, sent));
    repository.ask(dir, all, what).map(drop)
}

/// Copies the local objects of a submodule. The remote that a clone would fetch from is not contacted.
fn copy(repository: &Repository, dir: &Path) -> Result<(), Failure> {
    let what = "its history cannot be read";
    let pack = Call::new(
        "pack-objects --quiet --revs --missing=allow-any --no-use-bitmap-index objects/pack/pack",
    );
    let pack = pack.lend(&[repository.here()]).stdin(tips(repository, &[]));
    let name = repository.ask(dir, pack, what)?;
    let pack = format!(
        "objects/pack/pack-{}.pack",
        String::from_utf8_lossy(&name).trim()
    );
    // `pack-objects` copies objects without verifying their content.
    repository
        .ask(dir, Call::new("verify-pack").arg(pack), what)
        .map(drop)
}

/// Checks that the local history is not shallow, because a clone would get all of it.
fn require_whole(repository: &Repository, dir: &Path) -> Result<(), Failure> {
    let Some(cut) = repository.read_shallow()? else {
        return Ok(());
    };
    let listed = repository
        .git(dir)
        .ask(Call::new("--git-dir=. rev-list").arg(&repository.commit))?;
    let text = String::from_utf8_lossy(&listed.stdout);
    let is_cut = |commit: &str| cut.lines().any(|line| line.trim() == commit);
    match listed.success() && !text.lines().any(is_cut) {
        true => Ok(()),
        false => Err(repository.not_reproducible(
            "the history of this submodule is cut off here, and a clone has all of it: `git fetch --unshallow` in it brings the rest",
        )),
    }
}

/// Checks that every branch, tag and stash is complete: all objects reachable from them but not from the commit exist.
fn check_refs(repository: &Repository, dir: &Path) -> Result<(), Failure> {
    let ids: Vec<&str> = repository.refs.iter().map(|(_, id)| id.as_str()).collect();
    let lines = format!("{}\n^{}", ids.join("\n"), repository.commit);
    let walk = Call::new("rev-list --objects --stdin --quiet").stdin(lines);
    let what = "a branch, tag or stash is incomplete, so the repository cannot be cloned";
    let walk = walk.lend(&[repository.here()]);
    repository.ask(dir, walk, what).map(drop)
}

/// Names and ids of the refs that a clone gets, after a check that none of them makes the clone fail.
fn list_sent(
    repository: &Repository,
    dir: &Path,
    place: &Path,
) -> Result<Vec<(String, String)>, Failure> {
    let list = Call::new("ls-remote --quiet").arg(SENDER).arg(place);
    let listed = repository.ask(dir, list, "the repository cannot be cloned")?;
    let text = String::from_utf8_lossy(&listed);
    let listed = text.lines().filter_map(|line| line.split_once('\t'));
    // A clone ignores refs with invalid names.
    let is_taken = |name: &str| {
        name == "HEAD"
            || (is_tag(name) || name.starts_with("refs/heads/")) && Reference::is_valid_name(name)
    };
    let sent: Vec<(String, String)> = listed
        .filter(|(_, name)| is_taken(name))
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect();
    let is_null = |id: &str| id.bytes().all(|byte| byte == b'0');
    if let Some((name, _)) = sent.iter().find(|(_, id)| is_null(id)) {
        return Err(repository.not_reproducible(format!(
            "`{name}` does not name an object, so the repository cannot be cloned: remove it"
        )));
    }
    if let Some((above, name)) = find_in_the_way(&sent) {
        return Err(repository.not_reproducible(format!(
            "`{above}` and `{name}` cannot both exist in a clone: remove one of them"
        )));
    }
    Ok(sent)
}

/// Finds a ref whose name is a directory of another one: packed refs can hold both, but a clone cannot.
fn find_in_the_way(refs: &Refs) -> Option<(&str, &str)> {
    let names: BTreeSet<&str> = refs.iter().map(|(name, _)| &**name).collect();
    names.iter().find_map(|name| {
        let mut above = name.match_indices('/').map(|(at, _)| &name[..at]);
        Some((above.find(|above| names.contains(above))?, *name))
    })
}

/// Checks that a clone gets HEAD and every tag of the room.
fn check_sender(repository: &Repository, sent: &Refs) -> Result<(), Failure> {
    let names = repository.refs.iter().map(|(name, _)| &**name);
    let shown = ["HEAD"]
        .into_iter()
        .chain(names.filter(|name| is_tag(name)));
    let mut hidden = shown.filter(|name| !sent.iter().any(|(other, _)| other == name));
    match hidden.next() {
        None => Ok(()),
        Some(name) => Err(repository.not_reproducible(format!(
            "a clone would not get `{name}`: the repository's settings hide it (`transfer.hideRefs`, `uploadpack.hideRefs`)"
        ))),
    }
}
