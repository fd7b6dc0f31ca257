//! Detects from the files at the top of a repository or a folder which checks it has, and what a clean room needs to
//! run them.
//!
//! Nothing is run. Every command is built from constants of this module: file contents only decide whether a command is
//! proposed, so a hostile file cannot add words to it, except the name of an environment or an option that its CI sets,
//! which has only plain name characters. Files are read up to a size limit, and links are not followed.

mod build_tools;
mod manifests;

pub(super) use manifests::Files;
pub(crate) use manifests::{Proposed, list_folders};

use crate::prelude::*;
use build_tools::detect_in;
use cook_protocol::trials::is_among_tests;

/// The proposed settings for a repository; empty if nothing is found.
///
/// # Errors
/// A file that exists but cannot be read.
pub fn detect(root: &Path) -> Result<Proposed> {
    detect_in(&Files::new(root))
}

/// Like [`detect`], for the folders of a commit (full id) around these paths: each folder above a path, up to the
/// nearest one that has tests to run. Folders among tests are not projects of their own.
///
/// # Errors
/// A file that exists but cannot be read.
pub(crate) fn detect_around(
    repo: &Repo,
    (id, all): (&str, &BTreeMap<String, TreeEntry>),
    paths: &BTreeSet<String>,
) -> Result<BTreeMap<String, Proposed>> {
    let top = Files::of_commit(repo, id, all);
    let mut looked_at: BTreeMap<&str, Proposed> = BTreeMap::new();
    let mut chosen = BTreeMap::new();
    for path in paths {
        for dir in list_folders(path).filter(|dir| !is_among_tests(&format!("{dir}/"))) {
            if !looked_at.contains_key(dir) {
                looked_at.insert(dir, detect_in(&top.at(dir))?);
            }
            let Some(proposed) = looked_at.get(dir) else {
                continue;
            };
            if !proposed.checks.is_empty() {
                chosen.insert(dir.to_owned(), proposed.clone());
            } else if !proposed.unread.is_empty() {
                let unread = proposed.unread.clone();
                let alone = Proposed {
                    unread,
                    ..Proposed::default()
                };
                chosen.insert(dir.to_owned(), alone);
            }
            if proposed.has_test() {
                break;
            }
        }
    }
    Ok(chosen)
}
