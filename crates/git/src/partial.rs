//! A clone that left blobs at its remote: what a commit needs of them.

use super::Repo;
use super::program::Call;
use cook_core::diagnostic::Failure;

impl Repo {
    /// Fetches the objects that a commit names and a partial clone left out. False when the
    /// repository is whole.
    ///
    /// # Errors
    /// When git does not answer, or the remote does not.
    pub fn fetch_missing(&self, commit: &str) -> Result<bool, Failure> {
        let promisors = Call::new(&["config", "--bool", "--name-only"])
            .arg("--get-regexp")
            .arg(r"^remote\..*\.promisor$");
        let Some(name) = self.program.line(promisors)? else {
            return Ok(false);
        };
        let name = name.lines().next().unwrap_or_default();
        let remote = name
            .strip_prefix("remote.")
            .and_then(|name| name.strip_suffix(".promisor"));
        let Some(remote) = remote else {
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
        let fetch = Call::new(&[
            "-c",
            "fetch.negotiationAlgorithm=noop",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--recurse-submodules=no",
            "--filter=blob:none",
            "--stdin",
            "--",
        ]);
        let ids = missing.join("\n") + "\n";
        self.program
            .answer(fetch.arg(remote).stdin(ids.into_bytes()))?;
        Ok(true)
    }
}
