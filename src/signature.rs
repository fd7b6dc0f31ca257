//! SSH signatures: making them, and finding the signer in a list of allowed signers. `ssh-keygen` does both.

use crate::prelude::*;
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, PAD};
use cook_repo::disk::TemporaryDir;
use cook_repo::process::Captured;
use sha2::{Digest, Sha256};
use std::path::absolute;

/// The namespace of cook's signatures; git's own have `git`.
pub(crate) const NAMESPACE: &str = "cook";

const DEADLINE: Duration = Duration::from_secs(30);
/// The user may have to type a passphrase or touch a key.
const PATIENCE: Duration = Duration::from_secs(180);
const LIMIT: usize = 64 << 10;

/// The signer according to a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signer {
    /// A listed signer signed exactly this payload.
    Listed(String),
    /// The signer is listed, but not for the present time; the reason.
    OutOfTime(String),
    /// A listed signer signed another payload.
    OfSomethingElse,
    /// The signer is listed for other namespaces.
    ForSomethingElse,
    /// The signer is not listed.
    Nobody,
}

/// The signer of the payload according to the list. The signature is in the armored form.
///
/// # Errors
/// `ssh_keygen_missing`; a temporary directory that cannot be written.
pub(crate) fn find_signer(list: &[u8], signature: &str, payload: &[u8]) -> Result<Signer> {
    let dir = TemporaryDir::make().map_err(|error| unwritable(&error))?;
    for (name, bytes) in [("list", list), ("sig", signature.as_bytes())] {
        std::fs::write(dir.path().join(name), bytes).map_err(|error| unwritable(&error))?;
    }
    let found = ask(dir.path(), "find-principals", &[], &[])?;
    let listed = String::from_utf8_lossy(&found.stdout).into_owned();
    let mut answer = judge(&found.stderr);
    for who in listed.lines() {
        let verified = ask(dir.path(), "verify", &["-n", NAMESPACE, "-I", who], payload)?;
        if verified.success() {
            return Ok(Signer::Listed(who.to_owned()));
        }
        answer = judge(&verified.stderr);
    }
    Ok(answer)
}

/// Interprets the message of `ssh-keygen` about a signature that it refuses.
fn judge(said: &str) -> Signer {
    for line in said.lines() {
        if line.contains("key has expired") || line.contains("key is not yet valid") {
            let why = line.split_once(": ").map_or(line, |(_, why)| why);
            return Signer::OutOfTime(why.to_owned());
        }
    }
    if said.contains("not permitted for use in signature namespace") {
        return Signer::ForSomethingElse;
    }
    match said.contains("incorrect signature") {
        true => Signer::OfSomethingElse,
        false => Signer::Nobody,
    }
}

fn ask(dir: &Path, what: &str, more: &[&str], stdin: &[u8]) -> Result<Captured> {
    let words = ["ssh-keygen", "-Y", what, "-s", "sig", "-f", "list"];
    let argv = words.iter().chain(more).map(OsString::from).collect();
    run(dir, argv, stdin, DEADLINE)
}

/// The key that signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// A key file; if it is a public key, the SSH agent holds the private one.
    File(PathBuf),
    /// The public key itself; the SSH agent holds the private one.
    InAgent(String),
}

/// A signature of the payload, in the armored form.
///
/// # Errors
/// `ssh_keygen_missing`, `signing_failed`.
pub(crate) fn sign(key: &Key, payload: &[u8]) -> Result<String> {
    let dir = TemporaryDir::make().map_err(|error| unwritable(&error))?;
    let mut argv: Vec<OsString> = ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE]
        .map(OsString::from)
        .into();
    match key {
        Key::File(path) => argv.extend(["-f".into(), path.into()]),
        Key::InAgent(key) => {
            let file = dir.path().join("key.pub");
            std::fs::write(&file, format!("{key}\n")).map_err(|error| unwritable(&error))?;
            argv.extend(["-U".into(), "-f".into(), file.into()]);
        }
    }
    let signed = run(dir.path(), argv, payload, PATIENCE)?;
    let text = String::from_utf8_lossy(&signed.stdout).into_owned();
    if signed.success() && !text.is_empty() {
        return Ok(text);
    }
    let said = signed.stderr.lines().rfind(|line| !line.trim().is_empty());
    let what = format!(
        "`ssh-keygen` did not sign: {}",
        said.unwrap_or("it said nothing")
    );
    Err(Failure::state(Code::SigningFailed, what))
}

fn run(dir: &Path, argv: Vec<OsString>, stdin: &[u8], deadline: Duration) -> Result<Captured> {
    let captured = capture(&Short {
        env: vec![("LC_ALL", "C".into())],
        stdin: stdin.to_vec(),
        group: false,
        ..Short::new(argv, dir, deadline, LIMIT)
    });
    captured.map_err(|error| match error {
        ProcessError::NotFound(_) | ProcessError::NotExecutable(_) => {
            Failure::state(Code::SshKeygenMissing, error.to_string())
        }
        other => Failure::state(Code::SigningFailed, other.to_string()),
    })
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::state(Code::NotWritable, "a directory for a signature").with_cause(error)
}

/// A key only for cook; SSH, whatever format git signs with.
const OWN: &str = "cook.signingkey";
/// The key that git signs with.
const GITS: &str = "user.signingkey";

/// The user's key: the named file, relative to `dir`, or else the key in git's settings.
///
/// # Errors
/// `signing_format` if only git's own key is configured and git signs in another format; `signing_key_missing`.
pub(crate) fn signing_key(repo: &Repo, named: Option<&Path>, dir: &Path) -> Result<Key> {
    if let Some(named) = named {
        return find_key(
            [dir.join(from_home(named))],
            &format!("`{}`", named.display()),
        );
    }
    if let Some(named) = repo.setting(OWN)? {
        return of_setting(repo, dir, OWN, &named);
    }
    let format = repo.setting("gpg.format")?;
    let format = format.as_deref().unwrap_or("openpgp");
    if format != "ssh" {
        let what = format!("`gpg.format` is `{format}`, and only `ssh` signs here");
        return Err(Failure::state(Code::SigningFormat, what));
    }
    match repo.setting(GITS)? {
        Some(named) => of_setting(repo, dir, GITS, &named),
        None => {
            let what = format!("neither `{OWN}` nor `{GITS}` is set");
            Err(Failure::state(Code::SigningKeyMissing, what))
        }
    }
}

/// A relative path is resolved from the top of the worktree, as git does, or else from the current directory.
fn of_setting(repo: &Repo, dir: &Path, setting: &str, named: &str) -> Result<Key> {
    // git accepts both forms of a literal key.
    if let Some(key) = named.strip_prefix("key::") {
        return Ok(Key::InAgent(key.to_owned()));
    }
    if named.starts_with("ssh-") {
        return Ok(Key::InAgent(named.to_owned()));
    }
    let path = from_home(Path::new(named));
    let shown = format!("`{named}`, which `{setting}` names,");
    find_key([repo.root().join(&path), dir.join(&path)], &shown)
}

/// The first of the paths that is a file.
fn find_key<const N: usize>(places: [PathBuf; N], shown: &str) -> Result<Key> {
    match places.iter().find(|path| path.is_file()) {
        // `ssh-keygen` runs in another directory.
        Some(path) => Ok(Key::File(absolute(path).unwrap_or_else(|_| path.clone()))),
        None => {
            let what = format!("{shown} is no file: `{}`", places[0].display());
            Err(Failure::state(Code::SigningKeyMissing, what))
        }
    }
}

/// Expands `~/` for `--key=~/FILE`, which most shells leave as it is.
fn from_home(named: &Path) -> PathBuf {
    match (named.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => named.to_owned(),
    }
}

const MAGIC: &[u8] = b"SSHSIG";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
/// Number of characters in a line of the armored form, as in `ssh-keygen`.
const WIDTH: usize = 70;

/// Encodes bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    GeneralPurpose::new(&STANDARD, PAD).encode(bytes)
}

/// Decodes standard or URL-safe base64; `None` if the text is neither.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let standard = GeneralPurpose::new(&STANDARD, PAD).decode(text);
    standard
        .or_else(|_| GeneralPurpose::new(&URL_SAFE, PAD).decode(text))
        .ok()
}

/// The armored form, which `ssh-keygen` reads.
pub(crate) fn to_armor(blob: &[u8]) -> String {
    let mut text = format!("{BEGIN}\n");
    for (at, sign) in encode(blob).chars().enumerate() {
        if at > 0 && at % WIDTH == 0 {
            text.push('\n');
        }
        text.push(sign);
    }
    text.push_str(&format!("\n{END}\n"));
    text
}

/// The contents of a signature, which are unverified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    /// The whole signature in binary form.
    pub bytes: Vec<u8>,
    /// The public key.
    key: Vec<u8>,
    /// The namespace.
    pub namespace: String,
}

impl Blob {
    /// Reads the binary or the armored form.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(MAGIC) {
            return Self::read_binary(bytes.to_vec());
        }
        let text = std::str::from_utf8(bytes).ok()?.trim();
        let inner = text.strip_prefix(BEGIN)?.strip_suffix(END)?;
        let inner: String = inner.split_ascii_whitespace().collect();
        Self::read_binary(decode(&inner)?)
    }

    fn read_binary(bytes: Vec<u8>) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&[0, 0, 0, 1])?;
        let key = take(&mut rest)?.to_vec();
        let namespace = String::from_utf8(take(&mut rest)?.to_vec()).ok()?;
        let (_reserved, _hash, _signature) = (take(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
        rest.is_empty().then_some(Self {
            key,
            namespace,
            bytes,
        })
    }

    /// The key's fingerprint, as `ssh-keygen -l` writes it.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(&self.key);
        let text = GeneralPurpose::new(&STANDARD, NO_PAD).encode(digest);
        format!("SHA256:{text}")
    }
}

/// A string in SSH's format: its length in four bytes, then its bytes.
fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (string, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(namespace: &str) -> Vec<u8> {
        let mut bytes = [MAGIC, &[0, 0, 0, 1]].concat();
        for part in ["a key", namespace, "", "sha512", "a signature"] {
            bytes.extend(u32::try_from(part.len()).unwrap().to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes
    }

    #[test]
    fn both_forms_are_read_and_nothing_behind_them() {
        let bytes = blob("cook");
        let read = Blob::read(&bytes).unwrap();
        assert_eq!(read.namespace, "cook");
        assert_eq!(Blob::read(to_armor(&bytes).as_bytes()), Some(read));
        for end in 0..bytes.len() {
            assert_eq!(Blob::read(&bytes[..end]), None, "cut at {end}");
        }
        assert_eq!(Blob::read(&[&bytes[..], b"x"].concat()), None);
        let mut long = bytes.clone();
        long[10] = 0xff;
        assert_eq!(Blob::read(&long), None);
    }

    #[test]
    fn base64_is_of_either_alphabet_and_never_loose() {
        let bytes = [0xfb, 0xff, 0xfe, 1];
        assert_eq!(encode(&bytes), "+//+AQ==");
        for text in ["+//+AQ==", "-__-AQ=="] {
            assert_eq!(decode(text).unwrap(), bytes);
        }
        for text in [
            "+//+AQ",
            "+//+AQ==\n",
            "+__+AQ==",
            "+//+AR==",
            "+//+A===",
            " ",
        ] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }
}
