//! The files of receipts and trust: the owner's alone, whole or not at all; and a key that only this user on
//! this machine knows, outside of every repository. What is kept in a git directory and stands for the user's
//! word bears a tag made with it, so that a directory that was unpacked from somebody's archive brings no such word.
//!
//! Where receipts and the output of gates are kept: `<common git dir>/cook/receipts/`
//! and `…/outputs/`.
//!
//! A receipt that cannot be read back word for word counts as none: the gate can
//! always be run again, and nothing is proved by a damaged file. Neither is anything by one that
//! this user did not have made on this machine: an archive can hold it. What was made here bears a
//! tag in a file beside it.

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

/// Writes a file that only the owner may read, its directories where they are missing.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| NewFile::at(path, Durable::Content).write(bytes))
        .at("write", path)
}

/// Reads a file of at most `limit` bytes; none when there is none.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    disk::read(path, limit, Links::Refuse).at("read", path)
}

/// Bytes of the key.
const LENGTH: usize = 32;

/// What of a tag can be wrong does not matter to whoever asks.
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    /// The user's key; none when there is no such file, or no home.
    pub fn of_user() -> Result<Option<Self>, Failure> {
        match find_key() {
            Some(place) => read_key(&place),
            None => Ok(None),
        }
    }

    /// The user's key, made where there is none.
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
            // Somebody else was faster.
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

/// A file that holds no key counts as none: a word that cannot be checked is no word.
fn read_key(place: &Path) -> Result<Option<Key>, Failure> {
    let text = disk::read_if_plain(place, 2 * LENGTH as u64, Links::Refuse).at("read", place)?;
    let key = text.filter(|text| text.len() == 2 * LENGTH);
    Ok(key.and_then(|key| Hmac::new_from_slice(&key).ok().map(Key)))
}

/// Where the key is that marks receipts as this user's: a directory of cook's own.
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

/// Bytes of a receipt file that are read.
const RECEIPT_LIMIT: u64 = 1024 * 1024;
/// Bytes of a kept stream, compressed and not.
const OUTPUT_LIMIT: u64 = 4 * 1024 * 1024;
/// Bytes of a tag.
const TAG_LIMIT: u64 = 64;
/// What stands in a kept stream where its middle was let go.
const GAP: &str = "[cook: ";

/// A look at a gate on a tree beside the one that counts. It is kept, so that whoever asks twice is told the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Once more, from empty caches.
    Again,
    /// With the user's environment.
    Outside,
    /// In the worktree.
    Here,
    /// With the network.
    Online,
}

/// By what a receipt is found later, beside its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundBy {
    /// By nothing else: something is wrong with the run.
    Id,
    /// By its command and tree, as another look at them, and as nothing else.
    Look(Look),
    /// By its command and tree.
    Tree,
    /// By these, and as the newest run of its command.
    Command,
}

/// The receipts of a repository.
#[derive(Debug)]
pub struct Receipts {
    dir: PathBuf,
    own_alone: Cell<bool>,
}

/// What is kept of a gate's output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// stdout, then stderr; what is not UTF-8 is replaced.
    pub text: String,
    /// The middle of a stream was not kept, or a stream is not there any more.
    pub partial: bool,
}

/// The ids of receipts that this process made.
fn list_made() -> MutexGuard<'static, BTreeSet<String>> {
    static MADE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The receipt with its id: the SHA-256 of its other fields as JSON with sorted keys.
pub fn seal(mut receipt: Receipt) -> Receipt {
    receipt.id = digest(&receipt);
    receipt
}

/// Whether the receipt's id is the digest of all the rest.
pub fn is_sealed(receipt: &Receipt) -> bool {
    digest(receipt) == receipt.id
}

fn digest(receipt: &Receipt) -> String {
    let mut fields: BTreeMap<String, Value> = match serde_json::to_value(receipt) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        // A receipt always is an object.
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
    /// The receipts of a repository. Nothing is made until one is kept.
    ///
    /// # Errors
    /// When `<git dir>/cook` is not a directory of cook's own.
    pub fn of(repo: &Repo) -> Result<Self, Failure> {
        Ok(Self {
            dir: repo.cook_dir()?,
            own_alone: Cell::new(false),
        })
    }

    /// Keeps a sealed receipt, its output and what it says of tests (JSON).
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
        // Without a home there is no key; the next process runs the gate again then.
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

    /// The receipt with that id.
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

    /// The newest receipt of that command on that tree that proves something, green or red; none
    /// that was not made here.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn find(&self, command: &str, tree: &str) -> Result<Option<Receipt>, Failure> {
        match words(command) {
            Ok(argv) => self.find_argv(&argv, tree),
            Err(_) => Ok(None),
        }
    }

    /// The same of a gate, in its folder: its newest run on a tree, or on what it says something about of one, by
    /// the digest of that; or another look at it.
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

    /// What a key leads to, where it is that and was made here.
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
    /// Unreadable receipts.
    pub fn find_stop_verifier(&self, tree: &str) -> Result<Option<Receipt>, Failure> {
        self.find_argv(&stop_verifier_argv(), tree)
    }

    fn find_argv(&self, argv: &[String], tree: &str) -> Result<Option<Receipt>, Failure> {
        self.believe(&tree_key(argv, AT_ROOT, tree), |receipt| {
            receipt.argv == argv && receipt.tree_oid.as_deref() == Some(tree) && receipt.proves()
        })
    }

    /// A red run of that command at that tree, set up as this one was: one that was not found to be chance since
    /// ([`RED`]), or one that was ([`CHANCE`]).
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

    /// Enough green runs came after that red one; it is still told of.
    pub(super) fn note_chance(&self, red: &Receipt) -> Result<(), Failure> {
        let Some(tree) = &red.tree_oid else {
            return Ok(());
        };
        self.index(&tag_key(CHANCE, &red.argv, tree), red)?;
        let path = self.index_path(&tag_key(RED, &red.argv, tree));
        disk::remove_file(&path).at("remove", &path)
    }

    /// From now on only what this process made is found by its command and tree.
    pub fn believe_own_alone(&self) {
        self.own_alone.set(true);
    }

    fn is_believed(&self, receipt: &Receipt) -> Result<bool, Failure> {
        match self.own_alone.get() {
            true => Ok(self.is_own(receipt)),
            false => self.is_from_here(receipt),
        }
    }

    /// True when this user had it made on this machine; one from an archive is somebody's word.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn is_from_here(&self, receipt: &Receipt) -> Result<bool, Failure> {
        if self.is_own(receipt) {
            return Ok(true);
        }
        // A tag that cannot be read is none.
        let found = read(&self.tag_path(&receipt.id), TAG_LIMIT).unwrap_or_default();
        Ok(match (Key::of_user()?, found) {
            (Some(key), Some(found)) => found == tag(&key, &receipt.id).as_bytes(),
            _ => false,
        })
    }

    /// The newest receipt of that command on any tree that proves something, green or red.
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

    /// The program of that name at the first green receipt that it has.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn find_program(&self, name: &str) -> Result<Option<Program>, Failure> {
        let known = self.find_by_key(&program_key(name))?;
        Ok(known.and_then(|receipt| receipt.program))
    }

    /// The first that was green stays the known one: a second run must not make another program
    /// the usual one.
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

    /// True when this process made that receipt.
    pub fn is_own(&self, receipt: &Receipt) -> bool {
        list_made().contains(&receipt.id)
    }

    /// The kept output of a receipt.
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
            // Whole streams are told by their digest; the others lack their middle.
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

    /// Lets a key lead to a receipt.
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

/// What red runs are found by, those that were found to be chance beside the others.
pub(super) const RED: &str = "red";
pub(super) const CHANCE: &str = "chance";

fn tag_key(what: &str, argv: &[String], tree: &str) -> String {
    sha256(format!("{what}\0{}", tree_key(argv, AT_ROOT, tree)))
}

fn look_key(look: Option<Look>, argv: &[String], dir: &str, of: &str) -> String {
    let key = tree_key(argv, dir, of);
    look.map_or(key.clone(), |look| sha256(format!("{look:?}\0{key}")))
}

/// The folder of a receipt at the root.
const AT_ROOT: &str = ".";

/// A gate's folder, as receipts name it.
pub(super) fn folder(gate: &GateSpec) -> &str {
    match gate.dir.as_str() {
        "" => AT_ROOT,
        dir => dir,
    }
}

fn program_key(name: &str) -> String {
    sha256(format!("program\0{name}"))
}

/// Lets the stop verifier leave the control plane out, whose log no clean room has.
const CHECKS_ONLY: &str = "--checks";

/// How the stop verifier is started.
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
