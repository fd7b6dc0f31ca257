//! Which key signs: the one that git signs with.

use crate::signature::Key;
use cook_core::diagnostic::{Code, Failure};
use cook_git::Repo;

/// The user's key, as git's settings name it.
///
/// # Errors
/// `signing_format` where git signs with something else, `signing_key_missing`.
pub(crate) fn signing_key(repo: &Repo) -> Result<Key, Failure> {
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
    let path = repo.root().join(&named);
    match path.is_file() {
        true => Ok(Key::File(path)),
        false => {
            let what = format!("`user.signingkey` names `{named}`, and no file is there");
            Err(Failure::state(Code::SigningKeyMissing, what))
        }
    }
}
