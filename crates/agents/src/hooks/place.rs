//! From the names an agent gives to paths of the worktree. What leads outside
//! is dropped, through links too.

use cook_repo::git::path_text;
use std::path::{Component, Path, PathBuf};

/// The directory an event happened in: the one it names, as far up as it still
/// is there, else where cook was called.
pub fn directory(named: Option<&str>, called: &Path) -> PathBuf {
    let Some(named) = named else {
        return called.to_owned();
    };
    called
        .join(named)
        .ancestors()
        .find(|dir| dir.is_dir())
        .unwrap_or(called)
        .to_owned()
}

/// Relative to `root`, with `/`; none when it is not below it.
pub fn inside(root: &Path, dir: &Path, named: &str) -> Option<String> {
    let mut path = PathBuf::new();
    for part in dir.join(named).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    // The file may be gone or not be there yet; what holds it decides where it is.
    let holder = path.ancestors().skip(1).find_map(|holder| {
        let real = holder.canonicalize().ok()?;
        Some((real, path.strip_prefix(holder).ok()?.to_owned()))
    });
    let (real, rest) = holder?;
    let real = real.join(rest);
    let relative = real.strip_prefix(root).ok()?;
    let parts: Vec<String> = relative
        .components()
        .map(|part| path_text(part.as_os_str().as_encoded_bytes()))
        .collect();
    (!parts.is_empty() && parts[0] != ".git").then(|| parts.join("/"))
}
