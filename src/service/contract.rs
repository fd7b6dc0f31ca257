//! The contract's texts in the worktree, held against the log's.

use super::workspace::Workspace;
use cook_core::machine::CONTRACT_TEXTS;
use cook_core::model::{Profile, Snapshot};
use cook_core::schema;
use cook_os::disk::{self, Links};

/// Largest contract text that is read.
const MAX_TEXT: u64 = 4 << 20;

impl Workspace {
    /// Contract texts that are there and say something else than the log.
    pub fn contract_differs(&self, snapshot: Option<&Snapshot>) -> Vec<String> {
        let Some(snapshot) = snapshot else {
            return Vec::new();
        };
        let [mission, profile] = CONTRACT_TEXTS;
        let read = |path: &str| disk::read(&self.repo.root().join(path), MAX_TEXT, Links::Refuse);
        let mut differ = Vec::new();
        if !snapshot.mission.is_empty()
            && let Ok(Some(bytes)) = read(mission)
            && String::from_utf8_lossy(&bytes).trim() != snapshot.mission.trim()
        {
            differ.push(mission.to_owned());
        }
        if let Ok(Some(bytes)) = read(profile)
            && schema::read_document::<Profile>(&bytes, schema::MAX_DOCUMENT_BYTES)
                .map_or(true, |found| found != snapshot.profile)
        {
            differ.push(profile.to_owned());
        }
        differ
    }
}
