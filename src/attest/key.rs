//! Which key signs: the one that git signs with.

use crate::signature::Key;
use cook_core::diagnostic::{Code, Failure};
use cook_git::Repo;
use std::path::Path;

/// The user's key, as git's settings name it. A relative path is one from the top of the worktree, where
/// git looks, else from `dir`, where the command was typed.
///
/// # Errors
/// `signing_format` where git signs with something else, `signing_key_missing`.
pub(crate) fn signing_key(repo: &Repo, dir: &Path) -> Result<Key, Failure> {
    let format = repo.setting("gpg.format")?;
    let format = format.as_deref().unwrap_or("openpgp");
    if format != "ssh" {
        let what = format!("`gpg.format` is `{format}`, and only `ssh` signs here");
        return Err(Failure::state(Code::SigningFormat, what));
    }
    let Some(named) = repo.setting("user.signingkey")? else {
        let what = "`user.signingkey` is not set";
        return Err(Failure::state(Code::SigningKeyMissing, what));
    };
    // git takes both forms for the key itself.
    if let Some(key) = named.strip_prefix("key::") {
        return Ok(Key::InAgent(key.to_owned()));
    }
    if named.starts_with("ssh-") {
        return Ok(Key::InAgent(named));
    }
    let places = [repo.root().join(&named), dir.join(&named)];
    match places.iter().find(|path| path.is_file()) {
        Some(path) => Ok(Key::File(path.clone())),
        None => {
            let at = places[0].display();
            let what = format!("`user.signingkey` names `{named}`, and no file is at `{at}`");
            Err(Failure::state(Code::SigningKeyMissing, what))
        }
    }
}
