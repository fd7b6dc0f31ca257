//! The contract's texts in the worktree, held against the log's.

use super::workspace::Workspace;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::CONTRACT_TEXTS;
use cook_protocol::model::{Profile, Snapshot};
use cook_protocol::schema;
use cook_repo::disk::{self, Links};

/// Largest contract text that is read.
const MAX_TEXT: u64 = 4 << 20;

impl Workspace {
    /// Contract texts that are there and say something else than the log.
    ///
    /// # Errors
    /// When one cannot be read although it is a file: what it says is not known then.
    pub fn contract_differs(&self, snapshot: Option<&Snapshot>) -> Result<Vec<String>, Failure> {
        let Some(snapshot) = snapshot else {
            return Ok(Vec::new());
        };
        let [mission, profile] = CONTRACT_TEXTS;
        let mut differ = Vec::new();
        if !snapshot.mission.is_empty()
            && let Some(bytes) = self.read_contract_text(mission)?
            && String::from_utf8_lossy(&bytes).trim() != snapshot.mission.trim()
        {
            differ.push(mission.to_owned());
        }
        if let Some(bytes) = self.read_contract_text(profile)?
            && schema::read_document::<Profile>(&bytes, schema::MAX_DOCUMENT_BYTES)
                .map_or(true, |found| found != snapshot.profile)
        {
            differ.push(profile.to_owned());
        }
        Ok(differ)
    }

    /// One of [`CONTRACT_TEXTS`] as the worktree has it; none where no file stands there.
    ///
    /// # Errors
    /// When it cannot be read although it is a file.
    pub fn read_contract_text(&self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let read = disk::read_if_plain(&self.repo.root().join(path), MAX_TEXT, Links::Refuse);
        read.map_err(|error| {
            let what = format!("`{path}` cannot be read");
            Failure::state(Code::InputUnreadable, what).with_cause(&error)
        })
    }
}
