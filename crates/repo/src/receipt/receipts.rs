//! The storage of receipts and gate output, `<common git dir>/cook/receipts/` and `…/outputs/`, and the user's key.
//!
//! Files are readable by the owner only, and written completely or not at all. A receipt that cannot be read back
//! exactly is ignored: the gate can be run again, and a damaged file proves nothing.
//!
//! Neither does a receipt that this user did not create on this machine, because the git directory may come from an
//! archive. Therefore each receipt made here has a tag in a file next to it, computed with a key that is stored outside
//! of every repository. The trust list is protected in the same way.

use super::programs::words;
use crate::disk::{self, AtPath, Durable, Links, NewFile, cannot};
use crate::git::Repo;
use crate::process::Kept;
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::{hex, sha256};
use cook_protocol::model::{GateSpec, Program, Receipt, STOP_VERIFIER};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a file that only the owner can read, and creates missing directories.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| NewFile::at(path, Durable::Content).write(bytes))
        .at("write", path)
}

/// Reads a file of at most `limit` bytes; `None` if it does not exist.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    disk::read(path, limit, Links::Refuse).at("read", path)
}

/// The length of the key in bytes.
const LENGTH: usize = 32;

/// The user's key, which makes tags (HMAC-SHA-256).
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    /// Reads the user's key; `None` without a key file or a home directory.
    pub fn of_user() -> Result<Option<Self>, Failure> {
        match find_key() {
            Some(place) => read_key(&place),
            None => Ok(None),
        }
    }

    /// Reads the user's key, or creates it.
    pub fn make() -> Result<Self, Failure> {
        let place = find_key().ok_or_else(|| {
            let cause = io::Error::new(io::ErrorKind::NotFound, "no home directory: set HOME");
            cannot("find", Path::new("the user's settings"), cause)
        })?;
        if let Some(key) = read_key(&place)? {
            return Ok(key);
        }
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(io::Error::other)
            .at("make", &place)?;
        let made = place.parent().map_or(Ok(()), std::fs::create_dir_all);
        let new = NewFile::at(&place, Durable::ContentAndName).over_nothing();
        match made.and_then(|()| new.write(hex(&bytes).as_bytes())) {
            // Another process created it first.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            written => written.at("write", &place)?,
        }
        read_key(&place)?.ok_or_else(|| {
            let cause = io::Error::from(io::ErrorKind::InvalidData);
            cannot("read", &place, cause)
        })
    }

    /// The tag of some bytes.
    pub fn tag(&self, bytes: &[u8]) -> String {
        let mut mac = self.0.clone();
        mac.update(bytes);
        hex(&mac.finalize().into_bytes())
    }
}

/// Reads a key file; an invalid one counts as missing.
fn read_key(place: &Path) -> Result<Option<Key>, Failure> {
    let text = disk::read_if_plain(place, 2 * LENGTH as u64, Links::Refuse).at("read", place)?;
    let key = text.filter(|text| text.len() == 2 * LENGTH);
    Ok(key.and_then(|key| Hmac::new_from_slice(&key).ok().map(Key)))
}

/// The directory of the user's key; it belongs to cook.
pub fn key_dir() -> Option<PathBuf> {
    find_key().and_then(|key| Some(key.parent()?.to_owned()))
}

fn find_key() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let dir = if cfg!(windows) {
        named("APPDATA")
    } else if cfg!(target_os = "macos") {
        home.map(|home| home.join("Library/Application Support"))
    } else {
        named("XDG_CONFIG_HOME")
            .filter(|dir| dir.is_absolute())
            .or_else(|| home.map(|home| home.join(".config")))
    };
    dir.map(|dir| dir.join("cook").join("key"))
}

/// The maximum size of a receipt file in bytes.
const RECEIPT_LIMIT: u64 = 1024 * 1024;
/// The maximum size of a stored stream in bytes, compressed and uncompressed.
const OUTPUT_LIMIT: u64 = 4 * 1024 * 1024;
/// The maximum size of a tag in bytes.
const TAG_LIMIT: u64 = 64;
/// Marks the place in a stored stream where its middle was dropped.
const GAP: &str = "[cook: ";

/// An additional run of a gate on a tree, besides the one that counts. Its receipt is kept, so that repeated questions
/// get the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Repeated with empty caches.
    Again,
    /// With the user's environment.
    Outside,
    /// In the worktree.
    Here,
    /// With network access.
    Online,
}

/// The keys under which a receipt is indexed, besides its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundBy {
    /// None, because the run has a problem.
    Id,
    /// Its command and tree, but only as this additional run.
    Look(Look),
    /// Its command and tree.
    Tree,
    /// Its command and tree, and as the newest run of its command.
    Command,
}

/// The receipts of a repository.
#[derive(Debug)]
pub struct Receipts {
    dir: PathBuf,
    own_alone: Cell<bool>,
}

/// The stored output of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// stdout, then stderr; invalid UTF-8 is replaced.
    pub text: String,
    /// Whether a stream is missing, or its middle was dropped.
    pub partial: bool,
}

/// The ids of the receipts that this process made.
fn list_made() -> MutexGuard<'static, BTreeSet<String>> {
    static MADE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the receipt's id: the SHA-256 of its other fields as JSON with sorted keys.
pub fn seal(mut receipt: Receipt) -> Receipt {
    receipt.id = digest(&receipt);
    receipt
}

/// Whether the receipt's id is the digest of its other fields.
pub fn is_sealed(receipt: &Receipt) -> bool {
    digest(receipt) == receipt.id
}

fn digest(receipt: &Receipt) -> String {
    let mut fields: BTreeMap<String, Value> = match serde_json::to_value(receipt) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        // A receipt always serializes to an object.
        _ => BTreeMap::new(),
    };
    fields.remove("id");
    sha256(serde_json::to_vec(&fields).unwrap_or_default())
}

fn is_digest(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Receipts {
    /// Opens the receipts of a repository. Directories are created when the first receipt is stored.
    ///
    /// # Errors
    /// When `<git dir>/cook` is not cook's own directory.
    pub fn of(repo: &Repo) -> Result<Self, Failure> {
        Ok(Self {
            dir: repo.cook_dir()?,
            own_alone: Cell::new(false),
        })
    }

    /// Stores a sealed receipt, its output and the outcomes of its tests (JSON).
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn keep(
        &self,
        receipt: &Receipt,
        streams: [&Kept; 2],
        outcomes: &[u8],
        found_by: FoundBy,
    ) -> Result<(), Failure> {
        for stream in streams {
            self.keep_stream(&stream.sha256, &stream.bytes())?;
        }
        if let Some(digest) = &receipt.outcomes_sha256 {
            self.keep_stream(digest, outcomes)?;
        }
        let json = serde_json::to_vec_pretty(receipt).unwrap_or_default();
        write(&self.receipt_path(&receipt.id), &json)?;
        // Without a home directory there is no key, so the next process runs the gate again.
        if let Ok(key) = Key::make() {
            write(
                &self.tag_path(&receipt.id),
                tag(&key, &receipt.id).as_bytes(),
            )?;
        }
        if let FoundBy::Look(look) = found_by {
            let tree = receipt.tree_oid.as_deref().unwrap_or_default();
            let key = look_key(Some(look), &receipt.argv, &receipt.cwd, tree);
            self.index(&key, receipt)?;
        } else if found_by != FoundBy::Id && receipt.proves() {
            let tree = receipt.tree_oid.iter().chain(&receipt.scope_sha256);
            let in_folder = (receipt.cwd != AT_ROOT).then_some(receipt.cwd.as_str());
            let dirs = || [AT_ROOT].into_iter().chain(in_folder);
            let keys = tree.flat_map(|tree| dirs().map(|dir| tree_key(&receipt.argv, dir, tree)));
            let latest = (found_by == FoundBy::Command).then(|| command_key(&receipt.argv));
            for key in keys.chain(latest) {
                self.index(&key, receipt)?;
            }
            self.keep_program(receipt)?;
            if let (false, Some(tree)) = (receipt.has_passed(), &receipt.tree_oid) {
                self.index(&tag_key(RED, &receipt.argv, tree), receipt)?;
            }
        }
        list_made().insert(receipt.id.clone());
        Ok(())
    }

    fn keep_stream(&self, digest: &str, bytes: &[u8]) -> Result<(), Failure> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let path = self.output_path(digest);
        let packed = encoder
            .write_all(bytes)
            .and_then(|()| encoder.finish())
            .at("pack", &path)?;
        write(&path, &packed)
    }

    /// The receipt with this id, if it is undamaged.
    ///
    /// # Errors
    /// When its file cannot be opened.
    pub fn get(&self, id: &str) -> Result<Option<Receipt>, Failure> {
        if !is_digest(id) {
            return Ok(None);
        }
        let Some(bytes) = read(&self.receipt_path(id), RECEIPT_LIMIT)? else {
            return Ok(None);
        };
        let receipt: Option<Receipt> = serde_json::from_slice(&bytes).ok();
        Ok(receipt.filter(|receipt| receipt.id == id && is_sealed(receipt)))
    }

    /// The newest receipt of this command on this tree that proves something, green or red. Receipts that were not made
    /// here are ignored.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn find(&self, command: &str, tree: &str) -> Result<Option<Receipt>, Failure> {
        match words(command) {
            Ok(argv) => self.find_argv(&argv, tree),
            Err(_) => Ok(None),
        }
    }

    /// Like [`Receipts::find`], for a gate in its folder: the newest receipt on a tree, on the digest of the files that
    /// the gate depends on, or of an additional run.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn find_gate(
        &self,
        gate: &GateSpec,
        of: &str,
        look: Option<Look>,
    ) -> Result<Option<Receipt>, Failure> {
        let Ok(argv) = words(&gate.run) else {
            return Ok(None);
        };
        self.believe(&look_key(look, &argv, folder(gate), of), |receipt| {
            let parts = [&receipt.tree_oid, &receipt.scope_sha256];
            receipt.argv == argv
                && receipt.cwd == folder(gate)
                && parts.into_iter().flatten().any(|part| part == of)
                && (look.is_some() || receipt.proves())
        })
    }

    /// The receipt under a key, if it satisfies `is_that` and was made here.
    fn believe(
        &self,
        key: &str,
        is_that: impl Fn(&Receipt) -> bool,
    ) -> Result<Option<Receipt>, Failure> {
        let found = self.find_by_key(key)?.filter(is_that);
        Ok(match found {
            Some(receipt) if self.is_believed(&receipt)? => Some(receipt),
            _ => None,
        })
    }

    /// The newest run of the stop verifier at a tree.
    ///
    /// # Errors
    /// When a receipt cannot be read.
    pub fn find_stop_verifier(&self, tree: &str) -> Result<Option<Receipt>, Failure> {
        self.find_argv(&stop_verifier_argv(), tree)
    }

    fn find_argv(&self, argv: &[String], tree: &str) -> Result<Option<Receipt>, Failure> {
        self.believe(&tree_key(argv, AT_ROOT, tree), |receipt| {
            receipt.argv == argv && receipt.tree_oid.as_deref() == Some(tree) && receipt.proves()
        })
    }

    /// A red receipt of the same command at the same tree with the same preparation: one that has not been found to be
    /// chance since ([`RED`]), or one that has ([`CHANCE`]).
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub(super) fn find_red(&self, what: &str, green: &Receipt) -> Result<Option<Receipt>, Failure> {
        let Some(tree) = &green.tree_oid else {
            return Ok(None);
        };
        self.believe(&tag_key(what, &green.argv, tree), |red| {
            red.argv == green.argv
                && red.cwd == green.cwd
                && red.tree_oid == green.tree_oid
                && red.preparation_sha256 == green.preparation_sha256
                && !red.has_passed()
        })
    }

    /// Records that a red run was followed by enough green ones. It is still reported.
    pub(super) fn note_chance(&self, red: &Receipt) -> Result<(), Failure> {
        let Some(tree) = &red.tree_oid else {
            return Ok(());
        };
        self.index(&tag_key(CHANCE, &red.argv, tree), red)?;
        let path = self.index_path(&tag_key(RED, &red.argv, tree));
        disk::remove_file(&path).at("remove", &path)
    }

    /// From now on, only receipts that this process made are found by command and tree.
    pub fn believe_own_alone(&self) {
        self.own_alone.set(true);
    }

    fn is_believed(&self, receipt: &Receipt) -> Result<bool, Failure> {
        match self.own_alone.get() {
            true => Ok(self.is_own(receipt)),
            false => self.is_from_here(receipt),
        }
    }

    /// Whether this user had the receipt made on this machine. One from an archive proves nothing.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn is_from_here(&self, receipt: &Receipt) -> Result<bool, Failure> {
        if self.is_own(receipt) {
            return Ok(true);
        }
        // An unreadable tag counts as missing.
        let found = read(&self.tag_path(&receipt.id), TAG_LIMIT).unwrap_or_default();
        Ok(match (Key::of_user()?, found) {
            (Some(key), Some(found)) => found == tag(&key, &receipt.id).as_bytes(),
            _ => false,
        })
    }

    /// The newest receipt of this command on any tree that proves something, green or red.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn latest(&self, command: &str) -> Result<Option<Receipt>, Failure> {
        let Ok(argv) = words(command) else {
            return Ok(None);
        };
        let found = self.find_by_key(&command_key(&argv))?;
        Ok(found.filter(|receipt| receipt.argv == argv && receipt.proves()))
    }

    /// The program of this name in its first green receipt.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn find_program(&self, name: &str) -> Result<Option<Program>, Failure> {
        let known = self.find_by_key(&program_key(name))?;
        Ok(known.and_then(|receipt| receipt.program))
    }

    /// Stores the program of the first green run. Later runs do not replace it, so that a changed program is noticed.
    fn keep_program(&self, receipt: &Receipt) -> Result<(), Failure> {
        let Some(name) = receipt.argv.first() else {
            return Ok(());
        };
        if !receipt.has_passed() || receipt.program.is_none() || self.find_program(name)?.is_some()
        {
            return Ok(());
        }
        self.index(&program_key(name), receipt)
    }

    /// Whether this process made the receipt.
    pub fn is_own(&self, receipt: &Receipt) -> bool {
        list_made().contains(&receipt.id)
    }

    /// The stored output of a receipt's run.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn output(&self, receipt: &Receipt) -> Result<Output, Failure> {
        let mut output = Output::default();
        for digest in [&receipt.stdout_sha256, &receipt.stderr_sha256] {
            let Some(bytes) = self.stream(digest)? else {
                output.partial = true;
                continue;
            };
            // A complete stream matches its digest; in the others the middle is missing.
            output.partial |= sha256(&bytes) != *digest;
            output.text.push_str(&String::from_utf8_lossy(&bytes));
            output.text.push('\n');
        }
        Ok(output)
    }

    pub(super) fn stream(&self, digest: &str) -> Result<Option<Vec<u8>>, Failure> {
        if !is_digest(digest) {
            return Ok(None);
        }
        let Some(packed) = read(&self.output_path(digest), OUTPUT_LIMIT)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let read = ZlibDecoder::new(packed.as_slice())
            .take(OUTPUT_LIMIT)
            .read_to_end(&mut bytes);
        let whole = read.is_ok() && sha256(&bytes) == digest;
        let cut = read.is_ok() && String::from_utf8_lossy(&bytes).contains(GAP);
        Ok((whole || cut).then_some(bytes))
    }

    fn find_by_key(&self, key: &str) -> Result<Option<Receipt>, Failure> {
        match read(&self.index_path(key), 64)? {
            Some(id) => self.get(&String::from_utf8_lossy(&id)),
            None => Ok(None),
        }
    }

    fn receipt_path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("receipts/{id}.json"))
    }

    fn tag_path(&self, id: &str) -> PathBuf {
        self.dir.join("receipts/here").join(id)
    }

    fn output_path(&self, digest: &str) -> PathBuf {
        self.dir.join("outputs").join(digest)
    }

    fn index_path(&self, key: &str) -> PathBuf {
        self.dir.join("receipts/index").join(key)
    }

    /// Stores the receipt's id under a key.
    fn index(&self, key: &str, receipt: &Receipt) -> Result<(), Failure> {
        write(&self.index_path(key), receipt.id.as_bytes())
    }
}

fn tag(key: &Key, id: &str) -> String {
    key.tag(format!("receipt {id}").as_bytes())
}

fn command_key(argv: &[String]) -> String {
    sha256(argv.join("\0").as_bytes())
}

/// The kinds of index keys for red runs, before and after they were found to be chance.
pub(super) const RED: &str = "red";
pub(super) const CHANCE: &str = "chance";

fn tag_key(what: &str, argv: &[String], tree: &str) -> String {
    sha256(format!("{what}\0{}", tree_key(argv, AT_ROOT, tree)))
}

fn look_key(look: Option<Look>, argv: &[String], dir: &str, of: &str) -> String {
    let key = tree_key(argv, dir, of);
    look.map_or(key.clone(), |look| sha256(format!("{look:?}\0{key}")))
}

/// The folder in the receipt of a gate at the root.
const AT_ROOT: &str = ".";

/// A gate's folder as stored in receipts.
pub(super) fn folder(gate: &GateSpec) -> &str {
    match gate.dir.as_str() {
        "" => AT_ROOT,
        dir => dir,
    }
}

fn program_key(name: &str) -> String {
    sha256(format!("program\0{name}"))
}

/// The argument that makes the stop verifier skip the control plane, whose log is not in a clean room.
const CHECKS_ONLY: &str = "--checks";

/// The command line of the stop verifier.
pub(super) fn stop_verifier_argv() -> Vec<String> {
    let words = STOP_VERIFIER.split(' ').chain([CHECKS_ONLY]);
    words.map(str::to_owned).collect()
}

fn tree_key(argv: &[String], dir: &str, tree: &str) -> String {
    let dir = match dir {
        AT_ROOT => String::new(),
        dir => format!("\0\0{dir}"),
    };
    sha256(format!("{}\0\0{tree}{dir}", argv.join("\0")).as_bytes())
}
