//! Which remote is meant, and where it is.

use crate::remote::user_git::{Call, Git};

use crate::git::Repo;
use crate::store::{Marks, Place};
use cook_protocol::diagnostic::{Code, Failure, Lines, clean, redact};
use cook_protocol::digest::hex;
use cook_protocol::model::{LogRefs, escape_branch};
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long another writer of the log is waited for.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Marks of what came from a remote.
pub(crate) const PULLED: &str = "pulled";

/// Which way the log goes: a remote may be fetched from one address and pushed to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// From there.
    Fetch,
    /// To there.
    Push,
}

/// What a clone remembers of a log elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The newest transition that it has seen there.
    Seen(Side),
    /// The newest that came from there and was not its own.
    Pulled,
    /// A push of its log was taken there.
    Taken,
    /// The user named it for pushes of this log, or said yes to them.
    Allowed,
    /// The user let commits stay here that the log cites and the branch does not hold: that counts for pushes
    /// that ask nobody, too.
    Withheld,
}

/// A remote of a repository.
#[derive(Debug)]
pub struct Remote<'r> {
    pub(crate) repo: &'r Repo,
    pub(crate) place: Place,
    pub(crate) git: Git,
    pub(crate) names: LogRefs,
    /// A remote's name, or an address.
    name: String,
    settings: Settings,
    push_address: OnceCell<String>,
}

impl<'r> Remote<'r> {
    /// The remote of that name or address; else the one that git would take for that branch.
    ///
    /// # Errors
    /// `remote_unknown`.
    pub fn open(
        repo: &'r Repo,
        place: Place,
        names: LogRefs,
        named: Option<&str>,
        branch: Option<&str>,
        side: Side,
        attended: bool,
    ) -> Result<Self, Failure> {
        let git = Git::new(repo.root(), attended);
        let settings = Settings::read(&git)?;
        let name = match named {
            Some(name) => settings.check(name, repo.root())?,
            None => settings.usual(branch, side)?,
        };
        Ok(Self {
            repo,
            place,
            git,
            names,
            name,
            settings,
            push_address: OnceCell::new(),
        })
    }

    /// Names of the remotes that are configured.
    ///
    /// # Errors
    /// git that does not answer.
    pub fn list(repo: &Repo) -> Result<Vec<String>, Failure> {
        let settings = Settings::read(&Git::new(repo.root(), false))?;
        Ok(settings.remotes().map(str::to_owned).collect())
    }

    /// Its name or address, harmless to show.
    pub fn show(&self) -> String {
        redact(&clean(&self.name, Lines::Fold))
    }

    /// The same as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its address to fetch from, as git has it.
    ///
    /// # Errors
    /// git that does not answer.
    pub fn fetch_address(&self) -> Result<String, Failure> {
        if !self.settings.remotes().any(|name| name == self.name) {
            return Ok(self.name.clone());
        }
        let call = Call::new("remote get-url").word(&self.name);
        let what = format!("git does not say where `{}` is", self.show());
        Ok(self.git.answer(call, &what)?.trim_end().to_owned())
    }

    /// What git is to be given to reach it.
    pub(crate) fn address(&self, side: Side) -> Result<&str, Failure> {
        // git itself applies `pushInsteadOf` to an address.
        let is_named = self.settings.remotes().any(|name| name == self.name);
        if side == Side::Fetch || !is_named || !self.settings.pushes_elsewhere(&self.name) {
            return Ok(&self.name);
        }
        if let Some(known) = self.push_address.get() {
            return Ok(known);
        }
        let call = Call::new("remote get-url --push --all").word(&self.name);
        let what = format!("git does not say where `{}` is", self.show());
        let answer = self.git.answer(call, &what)?;
        let mut lines = answer.lines();
        match (lines.next(), lines.next()) {
            (Some(only), None) => Ok(self.push_address.get_or_init(|| only.to_owned())),
            _ => Err(Failure::state(
                Code::RemoteUnknown,
                format!(
                    "`{}` has several push addresses, and a push to several is not one push",
                    self.show()
                ),
            )
            .replace_hints([format!(
                "name one of them: `git remote get-url --push --all {}`",
                self.show()
            )])),
        }
    }

    /// A push there would delete what this clone does not have.
    pub(crate) fn is_mirror(&self) -> bool {
        let key = format!("remote.{}.mirror", self.name);
        let value = self.settings.last(&key);
        value.is_some_and(|value| !matches!(value, "false" | "no" | "off" | "0"))
    }

    /// Where this clone notes something of a log there. It goes by the address: a remote may be
    /// renamed, and another one be given its name.
    fn place_of(&self, mark: Mark, branch: &str) -> Result<String, Failure> {
        let (kind, side) = match mark {
            Mark::Seen(side) => ("remotes", side),
            Mark::Pulled => (PULLED, Side::Fetch),
            Mark::Taken => ("taken", Side::Push),
            Mark::Allowed => ("allowed", Side::Push),
            Mark::Withheld => ("withheld", Side::Push),
        };
        let key = self.key(side)?;
        Ok(format!("{kind}/{key}/{}", escape_branch(branch)))
    }

    /// What this clone noted of a log there: a transition of it.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn recall(&self, mark: Mark, branch: &str) -> Result<Option<String>, Failure> {
        Marks::read(&self.place, &self.place_of(mark, branch)?)
    }

    /// Notes it.
    ///
    /// # Errors
    /// A log that cannot be written.
    pub fn note(&self, mark: Mark, branch: &str, tip: &str) -> Result<(), Failure> {
        let name = self.place_of(mark, branch)?;
        Marks::set(&self.place, &name, tip, LOCK_WAIT)
    }

    pub(crate) fn key(&self, side: Side) -> Result<String, Failure> {
        let address = match self.address(side)? {
            known if known == self.name => self.fetch_address()?,
            elsewhere => elsewhere.to_owned(),
        };
        Ok(remote_key(&address, self.repo.root()))
    }

    /// The remote that git would take for that branch.
    pub(crate) fn find_usual(&self, branch: &str, side: Side) -> Option<String> {
        self.settings.usual(Some(branch), side).ok()
    }

    /// The branch there that git pulls this one from.
    pub(crate) fn find_upstream(&self, branch: &str) -> Option<&str> {
        let merge = self.settings.last(&format!("branch.{branch}.merge"))?;
        merge.strip_prefix("refs/heads/")
    }
}

/// git's settings that say where remotes are.
#[derive(Debug)]
struct Settings(BTreeMap<String, Vec<String>>);

impl Settings {
    fn read(git: &Git) -> Result<Self, Failure> {
        let call = Call::new("config --list -z");
        let answer = git.answer(call, "git does not tell its settings")?;
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in answer.split('\0') {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            let is_ours = ["remote.", "branch.", "url."]
                .iter()
                .any(|begin| key.starts_with(begin));
            if is_ours {
                found
                    .entry(key.to_owned())
                    .or_default()
                    .push(value.to_owned());
            }
        }
        Ok(Self(found))
    }

    fn last(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.last().map(String::as_str)
    }

    fn remotes(&self) -> impl Iterator<Item = &str> {
        let names = self.0.keys().filter_map(|key| {
            let name = key.strip_prefix("remote.")?;
            name.strip_suffix(".url")
                .or_else(|| name.strip_suffix(".pushurl"))
        });
        // Keys are sorted, and a remote may have both.
        let mut before = None;
        names.filter(move |name| before.replace(*name) != Some(*name))
    }

    fn pushes_elsewhere(&self, name: &str) -> bool {
        self.0.contains_key(&format!("remote.{name}.pushurl"))
            || self.0.keys().any(|key| key.ends_with(".pushinsteadof"))
    }

    /// A name that is configured, or an address.
    fn check(&self, name: &str, dir: &Path) -> Result<String, Failure> {
        let known = self.remotes().any(|remote| remote == name);
        let is_address = name.contains([':', '/']) || dir.join(name).is_dir();
        if known || (is_address && !name.starts_with('-') && !name.contains('\n')) {
            return Ok(name.to_owned());
        }
        let shown = redact(&clean(name, Lines::Fold));
        Err(Failure::new(
            cook_protocol::diagnostic::FailureKind::Usage,
            Code::RemoteUnknown,
            format!("there is no remote `{shown}`{}", self.others()),
        ))
    }

    fn others(&self) -> String {
        let names: Vec<String> = self.remotes().map(|name| format!("`{name}`")).collect();
        match names.is_empty() {
            true => ", and none is configured".to_owned(),
            false => format!("; there is {}", names.join(", ")),
        }
    }

    fn usual(&self, branch: Option<&str>, side: Side) -> Result<String, Failure> {
        let of_branch = |key: &str| self.last(&format!("branch.{}.{key}", branch?));
        let push = match side {
            Side::Push => of_branch("pushremote").or_else(|| self.last("remote.pushdefault")),
            Side::Fetch => None,
        };
        let named = push
            .or_else(|| of_branch("remote"))
            .filter(|name| *name != ".");
        if let Some(name) = named {
            return Ok(name.to_owned());
        }
        let mut remotes = self.remotes();
        match (remotes.next(), remotes.next()) {
            (Some(only), None) => Ok(only.to_owned()),
            (Some(_), Some(_)) if self.remotes().any(|name| name == "origin") => {
                Ok("origin".to_owned())
            }
            (None, _) => Err(Failure::state(
                Code::RemoteUnknown,
                "no remote is configured for this repository",
            )),
            _ => Err(Failure::state(
                Code::RemoteUnknown,
                format!(
                    "several remotes are configured, and none is this branch's{}",
                    self.others()
                ),
            )),
        }
    }
}

/// An address as one part of the name of a ref in this clone's log.
pub(crate) fn remote_key(address: &str, dir: &Path) -> String {
    // git takes a path of this machine in more than one form.
    let path = std::fs::canonicalize(dir.join(address.strip_prefix("file://").unwrap_or(address)));
    let digest = match &path {
        Ok(path) => Sha256::digest(path.as_os_str().as_encoded_bytes()),
        Err(_) => Sha256::digest(address.as_bytes()),
    };
    let digest = hex(&digest);
    digest.get(..20).unwrap_or(&digest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_becomes_one_harmless_part() {
        let dir = Path::new("/");
        let key = remote_key("https://example.org/a.git", dir);
        assert!(key.len() == 20 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(key, remote_key("https://example.org/b.git", dir));
        assert_eq!(remote_key("file:///tmp/", dir), remote_key("tmp", dir));
    }
}
