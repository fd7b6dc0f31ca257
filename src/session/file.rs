//! The store on disk, beside the log in the git directory: `objects/<aa>/<digits>.json`,
//! `refs/<ref>.json`, `naming/<digits>/<ref>`, `sealed/<ref>`, `names/<name>`, `log.jsonl`.
//!
//! Invariants: files are written under a temporary name, synced and renamed, and their
//! directory is synced; nothing but `names/` is ever replaced; nothing is followed through a
//! symlink at its last component; no name of the user's can leave its directory.

use super::error::Fault;
use super::hash::ContentHash;
use super::reference::Ref;
use super::store::{InFlight, SessionStore, missing};
use super::stored::{Entry, Object};
use crate::store::files::{open_no_follow, sync_dir};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest object that is read: an exchange is capped far below it when it is written.
const MAX_OBJECT: u64 = 64 << 20;

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
        for shard in list(&self.root.join("objects"))? {
            for file in list(&self.root.join("objects").join(&shard))? {
                let digits = format!("{shard}{}", file.trim_end_matches(".json"));
                if let Ok(hash) = ContentHash::try_from(format!("sha256:{digits}")) {
                    hashes.push(hash);
                }
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
        let hash = object.hash();
        // One that is damaged is mended by whoever has it whole.
        if self.get(&hash).is_err() {
            self.replace(&self.object_file(&hash), &json(object)?)
                .map_err(Fault::Store)?;
        }
        Ok(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Object, Fault> {
        let object: Object = read(&self.object_file(hash))?.ok_or_else(|| missing(hash))?;
        let content = object.hash();
        if content != *hash {
            return Err(Fault::ObjectCorrupt {
                what: hash.to_string(),
                why: format!("its content hashes to {content}"),
            });
        }
        Ok(object)
    }

    fn name(&self, entry: &Entry) -> Result<(), Fault> {
        self.write_once(&self.ref_file(entry.name), &json(entry)?)?;
        let index = self.root.join("naming").join(entry.hash.digits());
        self.write_once(&index.join(entry.name.to_string()), b"")
    }

    fn entry(&self, name: Ref) -> Result<Option<Entry>, Fault> {
        let entry: Option<Entry> = read(&self.ref_file(name))?;
        match entry {
            Some(entry) if entry.name != name => Err(Fault::ObjectCorrupt {
                what: name.to_string(),
                why: format!("its file is that of {}", entry.name),
            }),
            entry => Ok(entry),
        }
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
        self.write_once(&file, series.to_string().as_bytes())
    }

    fn sealed(&self, episode: Ref) -> Result<Option<Ref>, Fault> {
        read_ref(&self.root.join("sealed").join(episode.to_string()))
    }

    fn label(&self, label: &str, name: Ref) -> Result<(), Fault> {
        let file = self.root.join("names").join(checked(label)?);
        self.replace(&file, name.to_string().as_bytes())
            .map_err(Fault::Store)
    }

    fn labelled(&self, label: &str) -> Result<Option<Ref>, Fault> {
        match checked(label) {
            Ok(label) => read_ref(&self.root.join("names").join(label)),
            Err(_) => Ok(None),
        }
    }

    fn record(&self, line: &Value) -> Result<(), Fault> {
        let append = || -> io::Result<()> {
            make_dir(&self.root, &self.root)?;
            let mut options = OpenOptions::new();
            options.append(true).create(true);
            let mut file = open_no_follow(&mut options, &self.root.join("log.jsonl"))?;
            let mut bytes = serde_json::to_vec(line)?;
            bytes.push(b'\n');
            file.write_all(&bytes)?;
            file.sync_data()
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
            serde_json::to_writer(&mut file, what)?;
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
    /// What was noted of it.
    pub what: Value,
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

    /// The lines of the record of calls, oldest first; one that is torn is left out.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn lines(&self) -> Result<Vec<Value>, Fault> {
        let path = self.root.join("log.jsonl");
        let mut options = OpenOptions::new();
        options.read(true);
        let file = match open_no_follow(&mut options, &path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Fault::Store(error)),
        };
        let mut lines = Vec::new();
        for line in io::BufRead::split(io::BufReader::new(file), b'\n') {
            let line = line.map_err(Fault::Store)?;
            lines.extend(serde_json::from_slice(&line));
        }
        Ok(lines)
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
            let what = read(&path)?.unwrap_or_default();
            found.push(Interrupted { name, what, file });
        }
        found.sort_by_key(|call| call.name);
        Ok(found)
    }

    /// Calls that are being made now, with what was noted of them.
    ///
    /// # Errors
    /// When a directory or file cannot be read.
    pub fn in_flight(&self) -> Result<Vec<(Ref, Value)>, Fault> {
        let mut found = Vec::new();
        for file in list(&self.root.join("inflight"))? {
            let name = file
                .strip_suffix(".json")
                .and_then(|name| name.parse().ok());
            let Some(name) = name else { continue };
            let what: Option<Value> = read(&self.root.join("inflight").join(&file))?;
            found.extend(what.map(|what| (name, what)));
        }
        Ok(found)
    }

    /// Writes an interrupted call into the record of calls.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn settle(&self, call: Interrupted, at: &str) -> Result<(), Fault> {
        let mut line = call.what;
        if let Some(line) = line.as_object_mut() {
            line.insert("schema_version".to_owned(), 1.into());
            line.insert("at".to_owned(), at.into());
            line.insert("exchange".to_owned(), call.name.to_string().into());
            line.insert("error".to_owned(), "interrupted".into());
            line.insert(
                "message".to_owned(),
                "cook was ended before the answer".into(),
            );
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

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Fault> {
    let Some(bytes) = bytes(path)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Fault::ObjectCorrupt {
            what: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            why: error.to_string(),
        })
}

fn read_ref(path: &Path) -> Result<Option<Ref>, Fault> {
    let Some(bytes) = bytes(path)? else {
        return Ok(None);
    };
    String::from_utf8_lossy(&bytes)
        .trim()
        .parse()
        .map(Some)
        .map_err(|why| Fault::ObjectCorrupt {
            what: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            why,
        })
}

fn bytes(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let mut options = OpenOptions::new();
    options.read(true);
    let file = match open_no_follow(&mut options, path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Fault::Store(error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_OBJECT + 1)
        .read_to_end(&mut bytes)
        .map_err(Fault::Store)?;
    if bytes.len() as u64 > MAX_OBJECT {
        let limit = io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {MAX_OBJECT} bytes"),
        );
        return Err(Fault::Store(limit));
    }
    Ok(Some(bytes))
}

/// File names of a directory; none when it is not there.
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
