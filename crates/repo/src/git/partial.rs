//! A clone that left blobs at its remote: what a commit needs of them.

use super::Repo;
use super::program::Call;
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;

impl Repo {
    /// The remote that a partial clone left objects at; none where the repository is whole.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn promisor(&self) -> Result<Option<String>, Failure> {
        self.known.promisor.recall("", || self.read_promisor())
    }

    fn read_promisor(&self) -> Result<Option<String>, Failure> {
        let promisors = Call::new("config --bool --name-only")
            .arg("--get-regexp")
            .arg(r"^remote\..*\.promisor$");
        let names = self.program.line(promisors)?.unwrap_or_default();
        let name = names.lines().next().unwrap_or_default();
        let remote = name
            .strip_prefix("remote.")
            .and_then(|name| name.strip_suffix(".promisor"));
        Ok(remote.map(str::to_owned))
    }

    /// Fetches what a partial clone left out: the files of a commit, and the whole history of these.
    /// False when nothing is missing, or the repository names no remote that has it.
    ///
    /// # Errors
    /// When git does not answer, or the remote does not.
    pub fn fetch_missing(&self, commit: &str, history: &[&str]) -> Result<bool, Failure> {
        let Some(remote) = self.promisor()? else {
            return Ok(false);
        };
        let mut before = BTreeSet::new();
        loop {
            let missing = self.list_missing(commit, history)?;
            // A directory that comes may name others.
            if missing.is_empty() || missing == before {
                return Ok(!before.is_empty());
            }
            self.fetch_objects(&remote, &missing)?;
            before = missing;
        }
    }

    /// Whether the files of a commit, and the whole history of these, are here.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn has_all(&self, commit: &str, history: &[&str]) -> Result<bool, Failure> {
        Ok(self.list_missing(commit, history)?.is_empty())
    }

    fn list_missing(&self, commit: &str, history: &[&str]) -> Result<BTreeSet<String>, Failure> {
        let mut missing = self.missing(&["--no-walk"], commit)?;
        if !history.is_empty() {
            missing.append(&mut self.missing(&[], &history.join("\n"))?);
        }
        Ok(missing)
    }

    /// Objects that are not here and these lead to.
    fn missing(&self, how: &[&str], lines: &str) -> Result<BTreeSet<String>, Failure> {
        let mut list = Call::new("rev-list --objects --missing=print --stdin");
        list.arguments.extend(how.iter().map(Into::into));
        let list = list.env("GIT_NO_REPLACE_OBJECTS", "1");
        let listed = self.program.lines(list.stdin(lines.as_bytes().to_vec()))?;
        let missing = listed.iter().filter_map(|line| line.strip_prefix('?'));
        Ok(missing.map(str::to_owned).collect())
    }

    /// The one call that reaches a remote, by the program that every remote has.
    fn fetch_objects(&self, remote: &str, ids: &BTreeSet<String>) -> Result<(), Failure> {
        let uploader = format!("remote.{remote}.uploadpack");
        let fetch = Call::new("fetch --quiet --no-tags --no-write-fetch-head --recurse-submodules=no --filter=blob:none --stdin --")
        .env("GIT_NO_LAZY_FETCH", "0")
        .env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
        .env("GIT_CONFIG_COUNT", "2")
        .env("GIT_CONFIG_KEY_0", "fetch.negotiationAlgorithm")
        .env("GIT_CONFIG_VALUE_0", "noop")
        .env("GIT_CONFIG_KEY_1", uploader)
        .env("GIT_CONFIG_VALUE_1", "git-upload-pack");
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let ids = ids.join("\n") + "\n";
        self.program
            .answer(fetch.arg(remote).stdin(ids.into_bytes()))?;
        Ok(())
    }
}
