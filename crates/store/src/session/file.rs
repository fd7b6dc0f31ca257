//! The store on disk, beside the log in the git directory: `objects/<aa>/<digits>.json`,
//! `refs/<ref>.json`, `naming/<digits>/<ref>`, `sealed/<ref>`, `names/<name>`, `log.jsonl`.
//!
//! Invariants: files are written under a temporary name, synced and renamed, and their
//! directory is synced; nothing but `names/` is ever replaced, and what is damaged and mended
//! stays beside it as `*.damaged`; nothing is followed through a symlink at its last
//! component; no name of the user's can leave its directory. All but objects, which their
//! names prove, and the empty files of `naming/` carry a digest of themselves.

use super::digest;
use super::error::Fault;
use super::hash::ContentHash;
use super::reference::Ref;
use super::store::{InFlight, SessionStore, missing};
use super::stored::{Entry, Object};
use cook_os::disk::{open_no_follow, sync_dir};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest object that is read: an exchange is capped far below it when it is written.
pub(super) const MAX_OBJECT: u64 = 64 << 20;

/// Most bytes that a window can be said to hold: sums of them never run over.
pub(super) const MAX_SAID: u64 = 1 << 53;

/// What is kept of a note that cannot be read.
const MAX_NOTE: usize = 2_000;

/// Longest name a user may give, in bytes.
const MAX_LABEL: usize = 100;

/// Sessions in a directory.
#[derive(Debug, Clone)]
pub struct FileStore {
    root: PathBuf,
}

impl FileStore {
    /// The store in this directory, which is made when the first value is kept.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn object_file(&self, hash: &ContentHash) -> PathBuf {
        let digits = hash.digits();
        self.root
            .join("objects")
            .join(&digits[..2])
            .join(format!("{}.json", &digits[2..]))
    }

    fn ref_file(&self, name: Ref) -> PathBuf {
        self.root.join("refs").join(format!("{name}.json"))
    }

    /// Hashes of all objects, in no order.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub fn objects(&self) -> Result<Vec<ContentHash>, Fault> {
        let mut hashes = Vec::new();
        for shard in found(&self.root.join("objects"))? {
            if !shard.is_dir {
                continue;
            }
            for file in found(&self.root.join("objects").join(&shard.name))? {
                hashes.extend(object_hash(&shard.name, &file.name));
            }
        }
        Ok(hashes)
    }

    /// Names of the user's with what they stand for, sorted.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn labels(&self) -> Result<Vec<(String, Ref)>, Fault> {
        let mut labels = Vec::new();
        for label in list(&self.root.join("names"))? {
            if let Some(name) = self.labelled(&label)? {
                labels.push((label, name));
            }
        }
        labels.sort();
        Ok(labels)
    }

    fn write_once(&self, target: &Path, bytes: &[u8]) -> Result<(), Fault> {
        match std::fs::symlink_metadata(target) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.replace(target, bytes).map_err(Fault::Store)
            }
            Err(error) => Err(Fault::Store(error)),
        }
    }

    /// Puts a damaged file beside its place; where.
    fn set_aside(&self, path: &Path) -> Result<PathBuf, Fault> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for number in 0..u32::MAX {
            let number = match number {
                0 => String::new(),
                number => format!(".{number}"),
            };
            let aside = path.with_file_name(format!("{name}{number}.damaged"));
            if std::fs::symlink_metadata(&aside).is_err() {
                std::fs::rename(path, &aside).map_err(Fault::Store)?;
                return Ok(aside);
            }
        }
        Err(Fault::Store(io::ErrorKind::AlreadyExists.into()))
    }

    /// As [`SessionStore::put`]; a damaged one is set aside, and where is said.
    pub(super) fn put_whole(
        &self,
        object: &Object,
    ) -> Result<(ContentHash, Option<PathBuf>), Fault> {
        let hash = object.hash();
        if self.get(&hash).is_ok() {
            return Ok((hash, None));
        }
        let bytes = json(object)?;
        if bytes.len() as u64 > MAX_OBJECT {
            return Err(too_large());
        }
        let target = self.object_file(&hash);
        // One that is damaged is mended by whoever has it whole.
        let aside = match std::fs::symlink_metadata(&target) {
            Ok(_) => Some(self.set_aside(&target)?),
            Err(_) => None,
        };
        self.replace(&target, &bytes).map_err(Fault::Store)?;
        Ok((hash, aside))
    }

    fn replace(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let dir = target.parent().unwrap_or(&self.root);
        make_dir(&self.root, dir)?;
        let mut file = tempfile::Builder::new()
            .prefix(".cook-")
            .suffix(".tmp")
            .tempfile_in(dir)?;
        file.write_all(bytes)?;
        file.as_file().sync_data()?;
        file.persist(target).map_err(|error| error.error)?;
        sync_dir(dir)
    }
}

impl SessionStore for FileStore {
    fn put(&self, object: &Object) -> Result<ContentHash, Fault> {
        self.put_whole(object).map(|(hash, _)| hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Object, Fault> {
        let path = self.object_file(hash);
        let bytes = bytes(&path)?.ok_or_else(|| missing(hash))?;
        let object: Object = parsed(&path, &bytes)?;
        let content = object.hash();
        if content != *hash {
            return Err(Fault::ObjectCorrupt {
                what: hash.to_string(),
                why: format!("its content hashes to {content}"),
            });
        }
        if json(&object)? != bytes {
            return Err(Fault::ObjectCorrupt {
                what: hash.to_string(),
                why: "it is not written as objects are".to_owned(),
            });
        }
        Ok(object)
    }

    fn name(&self, entry: &Entry) -> Result<(), Fault> {
        self.write_once(&self.ref_file(entry.name), &closed(entry)?)?;
        let index = self.root.join("naming").join(entry.hash.digits());
        self.write_once(&index.join(entry.name.to_string()), b"")
    }

    fn entry(&self, name: Ref) -> Result<Option<Entry>, Fault> {
        Ok(self.document(name)?.map(|(entry, _)| entry))
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, Fault> {
        let mut refs: Vec<Ref> = list(&self.root.join("refs"))?
            .iter()
            .filter_map(|file| file.strip_suffix(".json"))
            .filter(|name| name.starts_with(prefix))
            .filter_map(|name| name.parse().ok())
            .collect();
        refs.sort_unstable();
        Ok(refs)
    }

    fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, Fault> {
        let mut refs: Vec<Ref> = list(&self.root.join("naming").join(hash.digits()))?
            .iter()
            .filter_map(|name| name.parse().ok())
            .collect();
        refs.sort_unstable();
        Ok(refs)
    }

    fn seal(&self, episode: Ref, series: Ref) -> Result<(), Fault> {
        let file = self.root.join("sealed").join(episode.to_string());
        let mark = digest::mark("sealed", &episode.to_string(), series);
        self.write_once(&file, mark.as_bytes())
    }

    fn sealed(&self, episode: Ref) -> Result<Option<Ref>, Fault> {
        let mark = self.mark("sealed", &episode.to_string())?;
        Ok(mark.map(|(series, _)| series))
    }

    fn label(&self, label: &str, name: Ref) -> Result<(), Fault> {
        let file = self.root.join("names").join(checked(label)?);
        let mark = digest::mark("names", label, name);
        self.replace(&file, mark.as_bytes()).map_err(Fault::Store)
    }

    fn labelled(&self, label: &str) -> Result<Option<Ref>, Fault> {
        match checked(label) {
            Ok(label) => Ok(self.mark("names", label)?.map(|(name, _)| name)),
            Err(_) => Ok(None),
        }
    }

    fn record(&self, line: &Value) -> Result<(), Fault> {
        let append = || -> io::Result<()> {
            make_dir(&self.root, &self.root)?;
            let mut options = OpenOptions::new();
            options.append(true).read(true).create(true);
            let mut file = open_no_follow(&mut options, &self.root.join("log.jsonl"))?;
            // Whoever else writes a line has written all of it before its end is looked at.
            file.lock()?;
            let mut bytes = digest::closed(line)?;
            bytes.push(b'\n');
            let length = file.metadata()?.len();
            if length > 0 && is_torn(&mut file)? {
                bytes.insert(0, b'\n');
            }
            file.write_all(&bytes)?;
            file.sync_data()?;
            match length {
                0 => sync_dir(&self.root),
                _ => Ok(()),
            }
        };
        append().map_err(Fault::Store)
    }

    fn begin(&self, name: Ref, what: &Value) -> Result<InFlight, Fault> {
        let dir = self.root.join("inflight");
        let path = dir.join(format!("{name}.json"));
        let write = || -> io::Result<std::fs::File> {
            make_dir(&self.root, &dir)?;
            let mut file = tempfile::Builder::new()
                .prefix(".cook-")
                .suffix(".tmp")
                .tempfile_in(&dir)?;
            // Locked before it can be seen: whoever finds it unlocked knows that its
            // process is gone.
            file.as_file().lock()?;
            file.write_all(&digest::closed(what)?)?;
            file.as_file().sync_data()?;
            let file = file.persist_noclobber(&path).map_err(|error| error.error)?;
            sync_dir(&dir)?;
            Ok(file)
        };
        let guard = self.guard().map_err(Fault::Store)?;
        guard.lock_shared().map_err(Fault::Store)?;
        write()
            .map(|file| InFlight::of(file, guard, path.clone()))
            .map_err(Fault::Store)
    }
}

/// A call whose process was killed.
#[derive(Debug)]
pub struct Interrupted {
    /// The name its exchange would have had: the mark of its processes.
    pub name: Ref,
    /// What was noted of it; none when the note cannot be read.
    pub what: Option<Value>,
    /// The beginning of a note that cannot be read, or why it could not.
    damaged: String,
    /// Held, so that nobody else takes it up at the same time.
    file: std::fs::File,
}

impl FileStore {
    /// The file that calls hold shared, and clearing holds alone.
    fn guard(&self) -> io::Result<std::fs::File> {
        make_dir(&self.root, &self.root)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        open_no_follow(&mut options, &self.root.join("guard"))
    }

    /// Keeps calls from being begun.
    pub(super) fn alone(&self) -> Result<std::fs::File, Fault> {
        let guard = self.guard().map_err(Fault::Store)?;
        match guard.try_lock() {
            Ok(()) => Ok(guard),
            Err(std::fs::TryLockError::WouldBlock) => Err(Fault::Store(io::Error::new(
                io::ErrorKind::WouldBlock,
                "a call is being made",
            ))),
            Err(std::fs::TryLockError::Error(error)) => Err(Fault::Store(error)),
        }
    }

    /// Lets go of a ref and of what was kept of its call.
    pub(super) fn forget(&self, name: Ref) -> Result<(), Fault> {
        if let Some(entry) = self.entry(name).ok().flatten() {
            let index = self.root.join("naming").join(entry.hash.digits());
            remove(&index.join(name.to_string()))?;
            let _ = std::fs::remove_dir(index);
        }
        remove(&self.root.join("sealed").join(name.to_string()))?;
        let attempt = self.root.join("attempts").join(name.to_string());
        if attempt.is_dir() {
            std::fs::remove_dir_all(attempt).map_err(Fault::Store)?;
        }
        remove(&self.ref_file(name))
    }

    /// Removes an object that is older than that; whether it was.
    pub(super) fn discard(&self, hash: &ContentHash, age: Duration) -> Result<bool, Fault> {
        let file = self.object_file(hash);
        let changed = file.metadata().and_then(|found| found.modified());
        let old = changed
            .map_err(Fault::Store)?
            .elapsed()
            .is_ok_and(|since| since >= age);
        if old {
            remove(&file)?;
        }
        Ok(old)
    }

    /// The lines of the record of calls, oldest first; one that is torn or is not what was
    /// written is left out, and `verify` is what names it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn lines(&self) -> Result<Vec<Value>, Fault> {
        let mut lines = Vec::new();
        self.each_line(|line| lines.extend(line.value.map(|(value, _)| value)))?;
        Ok(lines)
    }

    /// Hands out each line of the record of calls, also those that cannot be read.
    pub(super) fn each_line(&self, mut see: impl FnMut(Line)) -> Result<(), Fault> {
        let path = self.root.join("log.jsonl");
        let mut options = OpenOptions::new();
        options.read(true);
        let file = match open_no_follow(&mut options, &path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Fault::Store(error)),
        };
        let mut reader = io::BufReader::new(file);
        for number in 1.. {
            let mut text = Vec::new();
            let length = reader.read_until(b'\n', &mut text).map_err(Fault::Store)?;
            if length == 0 {
                break;
            }
            let ended = text.last() == Some(&b'\n');
            if ended {
                text.pop();
            }
            see(Line {
                number,
                ended,
                value: line_value(&text),
            });
        }
        Ok(())
    }

    /// Whether a ref was let go of by clearing.
    ///
    /// # Errors
    /// When the record of calls cannot be read.
    pub fn expired(&self, text: &str) -> Result<bool, Fault> {
        let names = |line: &Value| {
            let expired = line.get("expired").and_then(Value::as_array);
            expired.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(text)))
        };
        Ok(self.lines()?.iter().any(names))
    }

    /// Calls that were begun and whose process is gone.
    ///
    /// # Errors
    /// When a directory or file cannot be read.
    pub fn interrupted(&self) -> Result<Vec<Interrupted>, Fault> {
        let mut found = Vec::new();
        for file in list(&self.root.join("inflight"))? {
            let name = file
                .strip_suffix(".json")
                .and_then(|name| name.parse().ok());
            let Some(name) = name else { continue };
            let path = self.root.join("inflight").join(&file);
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            let Ok(file) = open_no_follow(&mut options, &path) else {
                continue;
            };
            if file.try_lock().is_err() || !path.exists() {
                continue;
            }
            let (what, damaged) = match noted(&path) {
                Ok(what) => (Some(what), String::new()),
                Err(why) => (None, why),
            };
            found.push(Interrupted {
                name,
                what,
                damaged,
                file,
            });
        }
        found.sort_by_key(|call| call.name);
        Ok(found)
    }

    /// Writes an interrupted call into the record of calls, one whose note is damaged with
    /// what is left of the note.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn settle(&self, call: Interrupted, at: &str) -> Result<(), Fault> {
        let (mut line, message) = match call.what {
            Some(what) => (what, "cook was ended before the answer"),
            None => (
                serde_json::json!({"note": call.damaged}),
                "cook was ended before the answer, and what it had noted of the call is damaged",
            ),
        };
        if let Some(line) = line.as_object_mut() {
            line.insert("schema_version".to_owned(), 1.into());
            line.insert("at".to_owned(), at.into());
            line.insert("exchange".to_owned(), call.name.to_string().into());
            line.insert("error".to_owned(), "interrupted".into());
            line.insert("message".to_owned(), message.into());
        }
        self.record(&line)?;
        let path = self
            .root
            .join("inflight")
            .join(format!("{}.json", call.name));
        std::fs::remove_file(path).map_err(Fault::Store)?;
        drop(call.file);
        Ok(())
    }
}

/// A line of the record of calls.
pub(super) struct Line {
    /// Its place, from 1.
    pub(super) number: u64,
    /// Whether a line end follows.
    pub(super) ended: bool,
    /// What it says and whether it carried a digest; why it cannot be read.
    pub(super) value: Result<(Value, bool), String>,
}

/// How the name of a ref of a copy is taken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Not at all.
    Free,
    /// By what the copy says.
    Same,
    /// By a damaged document, which the copy mends.
    Damaged,
    /// By something else.
    Other,
}

/// What checking, clearing and taking in copies need to see of the files.
impl FileStore {
    /// What a ref file says, and whether it carried a digest.
    pub(super) fn document(&self, name: Ref) -> Result<Option<(Entry, bool)>, Fault> {
        let path = self.ref_file(name);
        let Some(bytes) = bytes(&path)? else {
            return Ok(None);
        };
        let opened = digest::open(&bytes).map_err(|why| corrupt(&path, why))?;
        let entry: Entry = parsed(&path, &opened.document)?;
        let damaged = |why| Fault::ObjectCorrupt {
            what: name.to_string(),
            why,
        };
        if entry.name != name {
            return Err(damaged(format!("its file is that of {}", entry.name)));
        }
        if entry.bytes > MAX_SAID || entry.length > MAX_SAID {
            return Err(damaged("nothing is that large".to_owned()));
        }
        Ok(Some((entry, opened.carried)))
    }

    /// The ref of a mark in `sealed/` or `names/`, and whether it carried a digest.
    pub(super) fn mark(&self, place: &str, key: &str) -> Result<Option<(Ref, bool)>, Fault> {
        let path = self.root.join(place).join(key);
        let Some(bytes) = bytes(&path)? else {
            return Ok(None);
        };
        digest::marked(place, key, &bytes)
            .map(Some)
            .map_err(|why| corrupt(&path, why))
    }

    /// What lies in one of the store's directories.
    pub(super) fn lying_in(&self, place: &str) -> Result<Vec<Found>, Fault> {
        found(&self.root.join(place))
    }

    /// Names of the user's, readable or not.
    pub(super) fn label_names(&self) -> Result<Vec<String>, Fault> {
        let mut labels = list(&self.root.join("names"))?;
        labels.retain(|label| checked(label).is_ok());
        labels.sort();
        Ok(labels)
    }

    /// Windows that bear a mark, readable or not.
    pub(super) fn marked_windows(&self) -> Result<Vec<Ref>, Fault> {
        let mut names: Vec<Ref> = list(&self.root.join("sealed"))?
            .iter()
            .filter_map(|name| name.parse().ok())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The whole index from hashes to refs.
    pub(super) fn index(&self) -> Result<Vec<(ContentHash, Ref)>, Fault> {
        let mut index = Vec::new();
        for digits in list(&self.root.join("naming"))? {
            let Ok(hash) = ContentHash::try_from(format!("sha256:{digits}")) else {
                continue;
            };
            // One that is no directory is a stray.
            let names = self.naming(&hash).unwrap_or_default();
            index.extend(names.into_iter().map(|name| (hash.clone(), name)));
        }
        Ok(index)
    }

    /// Writes the index's entry of a ref again; whether it was gone.
    pub(super) fn index_again(&self, entry: &Entry) -> Result<bool, Fault> {
        let index = self.root.join("naming").join(entry.hash.digits());
        let gone = std::fs::symlink_metadata(index.join(entry.name.to_string())).is_err();
        self.write_once(&index.join(entry.name.to_string()), b"")?;
        Ok(gone)
    }

    /// Takes an entry out of the index.
    pub(super) fn unindex(&self, hash: &ContentHash, name: Ref) -> Result<(), Fault> {
        let index = self.root.join("naming").join(hash.digits());
        remove(&index.join(name.to_string()))?;
        let _ = std::fs::remove_dir(index);
        Ok(())
    }

    /// Removes what was kept of a call's output.
    pub(super) fn drop_attempt(&self, name: &str) -> Result<(), Fault> {
        std::fs::remove_dir_all(self.root.join("attempts").join(name)).map_err(Fault::Store)
    }

    /// Whether a note of a call can be read.
    ///
    /// # Errors
    /// What is left of it.
    pub(super) fn note(&self, name: &str) -> Result<(), String> {
        let path = self.root.join("inflight").join(name);
        // One that goes while it is looked at was that of a call that has ended.
        match noted(&path) {
            Err(left) if path.exists() => Err(left),
            _ => Ok(()),
        }
    }

    /// How the name of a copy's ref is taken. What the index says of a damaged one has to
    /// agree: only what it named is put in its place.
    pub(super) fn taken(
        &self,
        copy: &Entry,
        same: impl Fn(&Entry) -> bool,
    ) -> Result<Taken, Fault> {
        match self.document(copy.name) {
            Ok(None) => return Ok(Taken::Free),
            Ok(Some((there, carried))) if there.hash == copy.hash && (carried || same(&there)) => {
                return Ok(Taken::Same);
            }
            Ok(Some((_, true))) => return Ok(Taken::Other),
            Ok(Some((_, false))) | Err(_) => {}
        }
        let mut named = self.index()?;
        named.retain(|(_, name)| *name == copy.name);
        let proved = named.is_empty() || named.iter().any(|(hash, _)| *hash == copy.hash);
        Ok(if proved { Taken::Damaged } else { Taken::Other })
    }

    /// Sets a damaged ref aside and writes it as a copy says; where it lies now.
    pub(super) fn mend(&self, copy: &Entry) -> Result<PathBuf, Fault> {
        let aside = self.set_aside(&self.ref_file(copy.name))?;
        self.name(copy)?;
        Ok(aside)
    }
}

fn remove(path: &Path) -> Result<(), Fault> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Fault::Store(error)),
        _ => Ok(()),
    }
}

/// A name of the user's: letters, digits, `.`, `_`, `-`, not first a dot, and no ref.
fn checked(label: &str) -> Result<&str, Fault> {
    let fits = !label.is_empty()
        && label.len() <= MAX_LABEL
        && !label.starts_with('.')
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if fits && label.parse::<Ref>().is_err() {
        return Ok(label);
    }
    Err(Fault::Store(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "`{}` is no name: letters, digits, `.`, `_` and `-`, at most {MAX_LABEL}",
            label.escape_debug()
        ),
    )))
}

fn json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(value).map_err(|error| Fault::Store(error.into()))
}

/// The same with a digest of itself.
fn closed<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Fault> {
    digest::closed(value).map_err(|error| Fault::Store(error.into()))
}

fn parsed<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(bytes).map_err(|error| corrupt(path, error.to_string()))
}

fn corrupt(path: &Path, why: String) -> Fault {
    let name = path.file_name().unwrap_or_default();
    Fault::ObjectCorrupt {
        what: name.to_string_lossy().into_owned(),
        why,
    }
}

fn too_large() -> Fault {
    Fault::Store(io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("more than {MAX_OBJECT} bytes"),
    ))
}

/// The note of a call; else its beginning, or why there is none.
fn noted(path: &Path) -> Result<Value, String> {
    let bytes = match bytes(path) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(fault) => return Err(fault.to_string()),
    };
    let note = digest::open(&bytes)
        .ok()
        .and_then(|opened| serde_json::from_slice::<Value>(&opened.document).ok())
        .filter(Value::is_object);
    note.ok_or_else(|| {
        let text = String::from_utf8_lossy(&bytes);
        text.chars().take(MAX_NOTE).collect()
    })
}

/// What a line says, and whether it carried a digest.
fn line_value(text: &[u8]) -> Result<(Value, bool), String> {
    let opened = digest::open(text)?;
    let value: Value =
        serde_json::from_slice(&opened.document).map_err(|error| error.to_string())?;
    match value.is_object() {
        true => Ok((value, opened.carried)),
        false => Err("it is no object".to_owned()),
    }
}

/// Whether the last line has no end.
fn is_torn(file: &mut std::fs::File) -> io::Result<bool> {
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn bytes(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {}
        // A pipe would keep whoever opens it waiting.
        Ok(_) => return Err(corrupt(path, "it is no regular file".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Fault::Store(error)),
    }
    let mut options = OpenOptions::new();
    options.read(true);
    let file = open_no_follow(&mut options, path).map_err(Fault::Store)?;
    let mut bytes = Vec::new();
    file.take(MAX_OBJECT + 1)
        .read_to_end(&mut bytes)
        .map_err(Fault::Store)?;
    if bytes.len() as u64 > MAX_OBJECT {
        return Err(too_large());
    }
    Ok(Some(bytes))
}

/// What lies in a directory.
pub(super) struct Found {
    /// Its name, as far as it is text.
    pub(super) name: String,
    /// A directory, not a link to one.
    pub(super) is_dir: bool,
    /// A regular file, not a link to one.
    pub(super) is_file: bool,
    /// In bytes.
    pub(super) length: u64,
}

/// What lies in a directory; nothing when it is not there.
fn found(dir: &Path) -> Result<Vec<Found>, Fault> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Fault::Store(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Fault::Store)?;
        // One that goes while it is looked at is not there.
        let Ok(data) = entry.metadata() else { continue };
        found.push(Found {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_dir: data.is_dir(),
            is_file: data.is_file(),
            length: data.len(),
        });
    }
    Ok(found)
}

/// Names in a directory; none when it is not there.
fn list(dir: &Path) -> Result<Vec<String>, Fault> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Fault::Store(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Fault::Store)?;
        names.extend(entry.file_name().into_string());
    }
    Ok(names)
}

/// The hash that an object's file is named by.
fn object_hash(shard: &str, file: &str) -> Option<ContentHash> {
    let digits = file.strip_suffix(".json")?;
    if shard.len() != 2 {
        return None;
    }
    ContentHash::try_from(format!("sha256:{shard}{digits}")).ok()
}

/// Makes the directories down to `dir`, readable by their owner only, each entry synced.
fn make_dir(root: &Path, dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent()
        && dir != root
    {
        make_dir(root, parent)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(dir == root);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match builder.create(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => dir.parent().map_or(Ok(()), sync_dir),
    }
}
