//! Which key signs: the one that was named, else that of git's settings.

use super::Key;
use cook_core::diagnostic::{Code, Failure};
use cook_git::Repo;
use std::path::{Path, PathBuf, absolute};

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
