//! What this clone knows about logs on remotes without asking them.
//!
//! Also stores the list of a remote log's allowed signers, as of the remote's default branch when the log was pulled: a
//! clone may have no ref of that branch.

use crate::disk::{self, Durable, Links, NewFile};
use crate::git::{Call, Repo};
use crate::remote::remote::{Git, Mark, PULLED, Remote, Side, remote_key};
use crate::store::{Marks, Place};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{escape_branch, unescape_branch};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Shown instead of a remote's name if no remote has the recorded address any more.
pub const FORMER: &str = "a former address";

/// A remote that transitions were pulled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledFrom {
    /// The remote's name; `FORMER` if no remote has its address any more.
    pub remote: String,
    /// The newest transition.
    pub tip: String,
    /// The list of allowed signers there, if it was fetched and exists.
    pub signers: Option<Vec<u8>>,
}

/// The places where the log of a branch may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Remotes on which this clone has seen it; `FORMER` for an address that no remote has any more.
    pub seen: Vec<String>,
    /// Remotes that transitions were pulled from.
    pub pulled: Vec<PulledFrom>,
    /// Remotes that are configured.
    pub configured: Vec<String>,
}

impl Elsewhere {
    /// Every log that this clone has seen on a remote, as remote and branch. The remote is `None` if no remote has its
    /// address any more.
    ///
    /// # Errors
    /// When git or the log cannot be read.
    pub fn list_all(repo: &Repo, place: &Place) -> Result<Vec<(Option<String>, String)>, Failure> {
        let names = find_names(repo, &Remote::list(repo)?)?;
        let marks = Marks::list(place, "remotes/")?;
        let logs = marks.iter().filter_map(|mark| mark.split_once('/'));
        Ok(logs
            .map(|(key, branch)| (names.get(key).cloned(), unescape_branch(branch)))
            .collect())
    }

    /// Collects the information that this clone has stored.
    ///
    /// # Errors
    /// When git or the log cannot be read.
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
    /// Whether a push of the log there needs no confirmation: the user has pushed it there from this clone, or this
    /// clone has seen it there and git's own settings lead there. A setting alone is not enough, because the repository
    /// may come from anyone.
    ///
    /// # Errors
    /// When git or the log cannot be read.
    pub fn is_expected(&self, branch: &str) -> Result<bool, Failure> {
        for mark in [Mark::Taken, Mark::Allowed] {
            if self.recall(mark, branch)?.is_some() {
                return Ok(true);
            }
        }
        let seen = self.recall(Mark::Seen(Side::Push), branch)?;
        Ok(seen.is_some() && self.is_usual(branch)?)
    }

    /// The remote whose default branch lists the allowed signers: this remote, by its name or its address. For an
    /// unknown address, which may come from another person's branch, it is the remote that git uses by default; `None`
    /// if no remote is configured.
    ///
    /// # Errors
    /// When git does not answer.
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

    /// Whether this is the remote that git would use for this branch, by this clone's own settings.
    ///
    /// # Errors
    /// When git does not answer.
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

    /// Stores the list of allowed signers; `None` if the default branch has none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_signers(&self, list: Option<&[u8]>) -> Result<(), Failure> {
        let path = find_path(&self.place, &self.key(Side::Fetch)?);
        let kept = match list {
            Some(list) => keep(&path, list),
            None => disk::remove_file(&path),
        };
        kept.map_err(|error| fail("write", &path, &error))
    }
}

/// Maps the keys of the fetch and push addresses to the names of remotes.
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

/// The maximum size of such a list in bytes.
const MAX_LIST: u64 = 8 << 20;

/// The stored list of the remote with this key.
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
