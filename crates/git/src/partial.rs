//! A clone that left blobs at its remote: what a commit needs of them.

use super::Repo;
use super::program::Call;
use cook_core::diagnostic::Failure;

impl Repo {
    /// The remote that a partial clone left objects at; none where the repository is whole.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn promisor(&self) -> Result<Option<String>, Failure> {
        let promisors = Call::new(&["config", "--bool", "--name-only"])
            .arg("--get-regexp")
            .arg(r"^remote\..*\.promisor$");
        let names = self.program.line(promisors)?.unwrap_or_default();
        let name = names.lines().next().unwrap_or_default();
        let remote = name
            .strip_prefix("remote.")
            .and_then(|name| name.strip_suffix(".promisor"));
        Ok(remote.map(str::to_owned))
    }

    /// Fetches the objects that a commit names and a partial clone left out. False when nothing is
    /// missing.
    ///
    /// # Errors
    /// When git does not answer, or the remote does not.
    pub fn fetch_missing(&self, commit: &str) -> Result<bool, Failure> {
        let Some(remote) = self.promisor()? else {
            return Ok(false);
        };
        let list = Call::new(&["rev-list", "--objects", "--missing=print", "--no-walk"]);
        let listed = self.program.lines(list.arg(commit))?;
        let missing: Vec<&str> = listed
            .iter()
            .filter_map(|line| line.strip_prefix('?'))
            .collect();
        if missing.is_empty() {
            return Ok(false);
        }
        // The one call that reaches a remote, by the program that every remote has.
        let uploader = format!("remote.{remote}.uploadpack");
        let fetch = Call::new(&[
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--recurse-submodules=no",
            "--filter=blob:none",
            "--stdin",
            "--",
        ])
        .env("GIT_NO_LAZY_FETCH", "0")
        .env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
        .env("GIT_CONFIG_COUNT", "2")
        .env("GIT_CONFIG_KEY_0", "fetch.negotiationAlgorithm")
        .env("GIT_CONFIG_VALUE_0", "noop")
        .env("GIT_CONFIG_KEY_1", uploader)
        .env("GIT_CONFIG_VALUE_1", "git-upload-pack");
        let ids = missing.join("\n") + "\n";
        self.program
            .answer(fetch.arg(remote).stdin(ids.into_bytes()))?;
        Ok(true)
    }
}
