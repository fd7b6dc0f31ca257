//! `ssh-keygen`, which checks signatures by a list of allowed signers, and makes them; which key signs.

use super::NAMESPACE;
use cook_protocol::diagnostic::{Code, Failure};
use cook_repo::disk::TemporaryDir;
use cook_repo::git::Repo;
use cook_repo::process::{Captured, ProcessError, Short, capture};
use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);
/// Somebody may have to type a passphrase, or touch a key.
const PATIENCE: Duration = Duration::from_secs(180);
const LIMIT: usize = 64 << 10;

/// Whose signature it is, by a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signer {
    /// Somebody on the list signed exactly this.
    Listed(String),
    /// It is on the list, and may not sign now: why.
    OutOfTime(String),
    /// Somebody on the list signed something else.
    OfSomethingElse,
    /// It is on the list, for other purposes.
    ForSomethingElse,
    /// Nobody on the list did.
    Nobody,
}

/// Who of the list signed the payload. The signature is in the armored form.
///
/// # Errors
/// `ssh_keygen_missing`; a temporary directory that cannot be written.
pub(crate) fn find_signer(list: &[u8], signature: &str, payload: &[u8]) -> Result<Signer, Failure> {
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

/// What `ssh-keygen` says of a signature that it refuses.
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

fn ask(dir: &Path, what: &str, more: &[&str], stdin: &[u8]) -> Result<Captured, Failure> {
    let words = ["ssh-keygen", "-Y", what, "-s", "sig", "-f", "list"];
    let argv = words.iter().chain(more).map(OsString::from).collect();
    run(dir, argv, stdin, DEADLINE)
}

/// The key that signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// A file of it; of a public one, the agent holds the private half.
    File(PathBuf),
    /// The public half itself; the agent holds the private one.
    InAgent(String),
}

/// A signature of the payload, armored.
///
/// # Errors
/// `ssh_keygen_missing`, `signing_failed`.
pub(crate) fn sign(key: &Key, payload: &[u8]) -> Result<String, Failure> {
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

fn run(
    dir: &Path,
    argv: Vec<OsString>,
    stdin: &[u8],
    deadline: Duration,
) -> Result<Captured, Failure> {
    let captured = capture(&Short {
        argv,
        dir,
        env: vec![("LC_ALL", "C".into())],
        stdin: stdin.to_vec(),
        deadline,
        limit: LIMIT,
        group: false,
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

/// A key for cook alone; SSH whatever git signs with.
const OWN: &str = "cook.signingkey";
/// The key that git signs with.
const GITS: &str = "user.signingkey";

/// The user's key: the file that was named, as seen from a directory, else what git's settings name.
///
/// # Errors
/// `signing_format` where only git's own key is named and git signs with something else,
/// `signing_key_missing`.
pub(crate) fn signing_key(repo: &Repo, named: Option<&Path>, dir: &Path) -> Result<Key, Failure> {
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

/// A relative path is one from the top of the worktree, where git looks, else from where the command
/// was typed.
fn of_setting(repo: &Repo, dir: &Path, setting: &str, named: &str) -> Result<Key, Failure> {
    // git takes both forms for the key itself.
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

/// The first of the places that holds a file.
fn find_key<const N: usize>(places: [PathBuf; N], shown: &str) -> Result<Key, Failure> {
    match places.iter().find(|path| path.is_file()) {
        // `ssh-keygen` works elsewhere.
        Some(path) => Ok(Key::File(absolute(path).unwrap_or_else(|_| path.clone()))),
        None => {
            let what = format!("{shown} is no file: `{}`", places[0].display());
            Err(Failure::state(Code::SigningKeyMissing, what))
        }
    }
}

/// `~/` as a shell reads it, for `--key=~/FILE`, where most leave it as it is.
fn from_home(named: &Path) -> PathBuf {
    match (named.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => named.to_owned(),
    }
}
