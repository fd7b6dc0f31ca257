//! What keeps the settings of a repository from starting programs when cook asks git: nothing
//! that a clone brings or an agent planted runs unasked.
//!
//! Settings with one name are overridden at every call. Filters and merge drivers have names of
//! the repository's choosing, so its settings are read first. What the user set for all
//! repositories is the user's.

use super::RepoError;
use super::index_entries::native;
use super::special::{find_common_dir, find_git_dir};
use crate::disk::{self, Links};
use memchr::memmem;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Settings that every call of git gets.
pub(super) const ALWAYS: [&str; 12] = [
    // A git dir among the files of a commit brings settings of whoever wrote it.
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.editor=:",
    "core.pager=cat",
    "core.alternateRefsCommand=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "gpg.program=false",
    "diff.external=",
    "status.submoduleSummary=false",
];

/// What `git lfs install` writes. It changes nothing but content, unless the repository
/// extends it.
const LFS: [&str; 6] = [
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
    "true",
];

/// What git does itself with two sides that both changed.
const MERGE: &str = "git merge-file -q --marker-size=%L %A %O %B";

/// Submodules in submodules that are looked into, and how many in all.
const DEPTH: usize = 8;
const MOST: usize = 2_000;

/// The mode of a submodule's entry, as the index holds it.
const SUBMODULE: [u8; 4] = [0, 0, 0xe0, 0];

/// Largest settings file, and index, that is looked into.
const MAX_SETTINGS: u64 = 4 << 20;
const MAX_INDEX: u64 = 1 << 30;

/// Calls that look at what files hold, or write it.
const TOUCHING: [&str; 9] = [
    "status",
    "stash",
    "reset",
    "update-index",
    "worktree",
    "diff",
    "checkout",
    "read-tree",
    "add",
];

/// Whether such a call may start a program that has a name of the repository's choosing.
pub(super) fn touches_files(arguments: &[OsString]) -> bool {
    let is_touching = |word: &OsString| TOUCHING.iter().any(|touching| word == touching);
    arguments.iter().any(is_touching)
}

/// Asks git something in a directory: what it lists, each with a zero byte at its end.
pub(super) type Ask<'a> = &'a dyn Fn(&Path, &str) -> Result<Vec<Vec<u8>>, RepoError>;

/// Settings that end what this repository, and each submodule that git looks into for it,
/// would have git run.
pub(super) fn overrides(dir: &Path, ask: Ask) -> Result<Vec<OsString>, RepoError> {
    let mut found = Found::default();
    read(dir, ask, 0, &mut found)?;
    found.overrides()
}

#[derive(Default)]
struct Found {
    /// Filters, and the values they have in the repositories' own settings.
    filters: BTreeMap<String, BTreeSet<String>>,
    mergers: BTreeSet<String>,
    extends_lfs: bool,
    repositories: usize,
}

impl Found {
    fn take(&mut self, key: &str, value: &str) {
        let Some((section, rest)) = key.split_once('.') else {
            return;
        };
        let Some((name, what)) = rest.rsplit_once('.') else {
            return;
        };
        match (section, what) {
            ("filter", "clean" | "smudge" | "process" | "required") => {
                let values = self.filters.entry(name.to_owned()).or_default();
                values.insert(value.to_owned());
            }
            ("merge", "driver") => {
                self.mergers.insert(name.to_owned());
            }
            ("lfs", "clean" | "smudge") => self.extends_lfs = true,
            _ => {}
        }
    }

    fn overrides(mut self) -> Result<Vec<OsString>, RepoError> {
        let is_lfs = |values: &BTreeSet<String>| values.iter().all(|one| LFS.contains(&&**one));
        self.filters
            .retain(|name, values| name != "lfs" || !is_lfs(values));
        if self.extends_lfs {
            self.filters.entry("lfs".to_owned()).or_default();
        }
        let mut settings = Vec::new();
        for name in self.filters.keys() {
            for (what, value) in [
                ("clean", ""),
                ("smudge", ""),
                ("process", ""),
                ("required", "false"),
            ] {
                settings.push((format!("filter.{name}.{what}"), value));
            }
        }
        for name in &self.mergers {
            settings.push((format!("merge.{name}.driver"), MERGE));
        }
        if let Some((key, _)) = settings.iter().find(|(key, _)| key.contains('=')) {
            let why = format!(
                "the repository sets `{}`, which cannot be overridden; remove it from its settings",
                key.escape_debug()
            );
            return Err(RepoError::Answer(why));
        }
        Ok(settings
            .into_iter()
            .flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")])
            .map(OsString::from)
            .collect())
    }
}

fn read(dir: &Path, ask: Ask, depth: usize, found: &mut Found) -> Result<(), RepoError> {
    found.repositories += 1;
    if found.repositories > MOST {
        let why = format!("the repository has more than {MOST} submodules");
        return Err(RepoError::Answer(why));
    }
    let Some(git_dir) = find_git_dir(dir) else {
        return Ok(());
    };
    if may_name_programs(&git_dir) {
        let entries = ask(dir, "config --list --show-scope --includes -z")?;
        let (pairs, _) = entries.as_chunks::<2>();
        for [scope, entry] in pairs {
            if !matches!(&scope[..], b"local" | b"worktree") {
                continue;
            }
            let entry = String::from_utf8_lossy(entry);
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            found.take(key, value);
        }
    }
    if depth < DEPTH && may_hold_submodules(&git_dir) {
        for inner in submodules(dir, ask)? {
            read(&inner, ask, depth + 1, found)?;
        }
    }
    Ok(())
}

/// Submodules that are there.
fn submodules(dir: &Path, ask: Ask) -> Result<Vec<PathBuf>, RepoError> {
    let entries = ask(dir, "ls-files --stage -z")?;
    let paths = entries
        .iter()
        .filter(|entry| entry.starts_with(b"160000 "))
        .filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
    let dirs = paths.filter_map(|path| native(path).map(|path| dir.join(path)));
    Ok(dirs
        .filter(|dir| dir.join(".git").symlink_metadata().is_ok())
        .collect())
}

/// A look at the settings' text, so that git is asked only where it may have something to say.
fn may_name_programs(git_dir: &Path) -> bool {
    let common = find_common_dir(git_dir);
    [common.join("config"), git_dir.join("config.worktree")]
        .iter()
        .any(|file| match disk::read(file, MAX_SETTINGS, Links::Follow) {
            Ok(None) => false,
            Ok(Some(bytes)) => {
                let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
                let sections = ["filter", "merge", "lfs", "include"];
                sections.iter().any(|section| text.contains(section))
            }
            Err(_) => true,
        })
}

/// A look at the bytes, so that an index of a hundred thousand files is not listed for nothing.
fn may_hold_submodules(git_dir: &Path) -> bool {
    let is_shared = |name: &OsString| name.to_string_lossy().starts_with("sharedindex.");
    let is_split = std::fs::read_dir(git_dir)
        .is_ok_and(|names| names.flatten().any(|entry| is_shared(&entry.file_name())));
    is_split
        || match disk::read(&git_dir.join("index"), MAX_INDEX, Links::Follow) {
            Ok(bytes) => bytes.is_some_and(|bytes| memmem::find(&bytes, &SUBMODULE).is_some()),
            Err(_) => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(settings: &[(&str, &str)]) -> Result<Vec<String>, RepoError> {
        let mut found = Found::default();
        for (key, value) in settings {
            found.take(key, value);
        }
        let words = found.overrides()?.into_iter();
        Ok(words.map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn only_what_lfs_itself_installs_stays() {
        let lfs = [
            ("filter.lfs.clean", "git-lfs clean -- %f"),
            ("filter.lfs.required", "true"),
            ("lfs.url", "https://example.org"),
        ];
        assert_eq!(overrides(&lfs).unwrap(), [""; 0]);
        let extended = [&lfs[..], &[("lfs.extension.x.clean", "evil")]].concat();
        assert!(
            overrides(&extended)
                .unwrap()
                .contains(&"filter.lfs.clean=".to_owned())
        );
        let other = overrides(&[("filter.lfs.clean", "evil"), ("merge.a.b.driver", "evil")]);
        let other = other.unwrap();
        assert!(
            other.contains(&"filter.lfs.process=".to_owned()),
            "{other:?}"
        );
        assert!(
            other.contains(&format!("merge.a.b.driver={MERGE}")),
            "{other:?}"
        );
        assert!(overrides(&[("filter.a=b.clean", "evil")]).is_err());
    }
}
