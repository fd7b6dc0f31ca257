//! What a repository is, told from the files at the top of it, or of a folder: its checks, and what a clean
//! room needs before they can run.
//!
//! Nothing is run. Every command is put together from constants of this module: what a file says
//! only decides whether the command is proposed, so a hostile file can add no word to one, but for the
//! name of an environment or an option, of letters and digits, that its CI sets. Files
//! are read up to a cap; links are not followed.

mod build_tools;
mod manifests;

pub(super) use manifests::Files;
pub(crate) use manifests::{Proposed, list_folders};

use crate::prelude::*;
use build_tools::detect_in;
use cook_protocol::trials::is_among_tests;

/// What the settings of a repository could be; nothing in an empty one.
///
/// # Errors
/// When a file that is there cannot be read.
pub fn detect(root: &Path) -> Result<Proposed> {
    detect_in(&Files::new(root))
}

/// The same of each folder of a commit (full id) that these paths belong to: up from each of them to the nearest
/// one that has tests to run. What lies among tests is no project of its own.
///
/// # Errors
/// When a file that is there cannot be read.
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
