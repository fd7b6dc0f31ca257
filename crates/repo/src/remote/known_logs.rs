//! What this clone knows of logs elsewhere without asking anybody.
//!
//! Who may sign the log of a remote, as its default branch said when the log was pulled: a clone may have
//! no ref of that branch.

use crate::disk::{self, Durable, Links, NewFile};
use crate::git::{Call, Repo};
use crate::remote::remote::{Git, Mark, PULLED, Remote, Side, remote_key};
use crate::store::{Marks, Place};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{escape_branch, unescape_branch};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Where this clone has seen a log, and no remote is now.
pub const FORMER: &str = "a former address";

/// A remote that transitions were pulled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledFrom {
    /// Its name; `FORMER` where its address is none's now.
    pub remote: String,
    /// The newest transition.
    pub tip: String,
    /// Who may sign there, where that was asked and somebody is listed.
    pub signers: Option<Vec<u8>>,
}

/// Where the log of a branch may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Remotes on which this clone has seen it; `FORMER` where its address is none's now.
    pub seen: Vec<String>,
    /// Remotes that transitions were pulled from.
    pub pulled: Vec<PulledFrom>,
    /// Remotes that are configured.
    pub configured: Vec<String>,
}

impl Elsewhere {
    /// Every log that this clone has seen elsewhere: the remote and the branch. The remote is none where its
    /// address is none's now.
    ///
    /// # Errors
    /// git, or a log, that cannot be read.
    pub fn list_all(repo: &Repo, place: &Place) -> Result<Vec<(Option<String>, String)>, Failure> {
        let names = find_names(repo, &Remote::list(repo)?)?;
        let marks = Marks::list(place, "remotes/")?;
        let logs = marks.iter().filter_map(|mark| mark.split_once('/'));
        Ok(logs
            .map(|(key, branch)| (names.get(key).cloned(), unescape_branch(branch)))
            .collect())
    }

    /// Looks at this clone alone.
    ///
    /// # Errors
    /// git, or a log, that cannot be read.
    pub fn find(repo: &Repo, place: &Place, branch: &str) -> Result<Self, Failure> {
        let end = format!("/{}", escape_branch(branch));
        let configured = Remote::list(repo)?;
        let list = |kind: &str| -> Result<Vec<String>, Failure> {
            let marks = Marks::list(place, kind)?;
            let keys = marks.iter().filter_map(|mark| mark.strip_suffix(&end));
            Ok(keys.map(str::to_owned).collect())
        };
        let seen = list("remotes/")?;
        let pulled = list(&format!("{PULLED}/"))?;
        let names = match seen.is_empty() && pulled.is_empty() {
            true => BTreeMap::new(),
            false => find_names(repo, &configured)?,
        };
        let name = |key: &String| names.get(key).cloned().unwrap_or_else(|| FORMER.to_owned());
        let mut from = Vec::new();
        for key in pulled {
            if let Some(tip) = Marks::read(place, &format!("{PULLED}/{key}{end}"))? {
                from.push(PulledFrom {
                    remote: name(&key),
                    tip,
                    signers: read_signers(place, &key)?,
                });
            }
        }
        Ok(Self {
            pulled: from,
            seen: seen.iter().map(name).collect(),
            configured,
        })
    }
}

impl Remote<'_> {
    /// Whether a push of the log there needs nobody's yes: the user pushed it there from this clone, or
    /// this clone has seen it there and git by itself goes there. A setting in the repository may come
    /// from anybody.
    ///
    /// # Errors
    /// git, or a log, that cannot be read.
    pub fn is_expected(&self, branch: &str) -> Result<bool, Failure> {
        for mark in [Mark::Taken, Mark::Allowed] {
            if self.recall(mark, branch)?.is_some() {
                return Ok(true);
            }
        }
        let seen = self.recall(Mark::Seen(Side::Push), branch)?;
        Ok(seen.is_some() && self.is_usual(branch)?)
    }

    /// The remote whose default branch says who may sign: this one, by its name or its address. Of another
    /// address, which may have come with somebody's branch, that of the remote where git goes by itself;
    /// none where none is configured.
    ///
    /// # Errors
    /// git that does not answer.
    pub fn find_lister(&self, branch: &str) -> Result<Option<String>, Failure> {
        let configured = Remote::list(self.repo)?;
        let is_known = |name: &String| configured.contains(name);
        if let Some(named) = Some(self.name().to_owned()).filter(is_known) {
            return Ok(Some(named));
        }
        let names = find_names(self.repo, &configured)?;
        if let Some(name) = names.get(&self.key(Side::Fetch)?) {
            return Ok(Some(name.clone()));
        }
        let usual = self.find_usual(branch, Side::Fetch).filter(is_known);
        Ok(usual.or_else(|| configured.into_iter().next()))
    }

    /// Whether it is where git would go for that branch, by this clone's own settings.
    ///
    /// # Errors
    /// git that does not answer.
    pub fn is_usual(&self, branch: &str) -> Result<bool, Failure> {
        let own = self.key(Side::Push)?;
        for side in [Side::Push, Side::Fetch] {
            let Some(usual) = self.find_usual(branch, side) else {
                continue;
            };
            if usual == self.name() {
                return Ok(true);
            }
            let call = Call::new("remote get-url --push").arg(&usual);
            let captured = self.git.run(call)?;
            let address = String::from_utf8_lossy(&captured.stdout).into_owned();
            if captured.success() && remote_key(address.trim_end(), self.repo.root()) == own {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps the list of who may sign; none where the default branch has none.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep_signers(&self, list: Option<&[u8]>) -> Result<(), Failure> {
        let path = find_path(&self.place, &self.key(Side::Fetch)?);
        let kept = match list {
            Some(list) => keep(&path, list),
            None => disk::remove_file(&path),
        };
        kept.map_err(|error| fail("write", &path, &error))
    }
}

/// Remotes by the keys of the addresses that they are fetched from and pushed to.
fn find_names(repo: &Repo, remotes: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let git = Git::new(repo.root(), false);
    let mut names = BTreeMap::new();
    for remote in remotes {
        for side in ["remote get-url", "remote get-url --push"] {
            let call = Call::new(side).arg(remote);
            let what = format!("git does not say where `{remote}` is");
            let address = git.answer(call, &what)?;
            let key = remote_key(address.trim_end(), repo.root());
            names.entry(key).or_insert_with(|| remote.clone());
        }
    }
    Ok(names)
}

/// Bytes of such a list.
const MAX_LIST: u64 = 8 << 20;

/// The list that was kept of the remote of that key.
pub(crate) fn read_signers(place: &Place, key: &str) -> Result<Option<Vec<u8>>, Failure> {
    let path = find_path(place, key);
    disk::read(&path, MAX_LIST, Links::Refuse).map_err(|error| fail("read", &path, &error))
}

fn keep(path: &Path, list: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    NewFile::at(path, Durable::ContentAndName).write(list)
}

fn find_path(place: &Place, key: &str) -> PathBuf {
    place.cook_dir().join("signers").join(key)
}

fn fail(what: &str, path: &Path, error: &io::Error) -> Failure {
    let what = format!("cannot {what} `{}`: {error}", path.display());
    Failure::state(Code::LogUnsafe, what)
}
