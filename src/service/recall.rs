//! What the log's histories still say: the user's words, and the work of slices.

use super::workspace::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::CONTRACT_TEXTS;
use cook_core::model::{
    BriefRecord, Cause, CheckpointKind, Count, Own, PROMPT_ID, Profile, SliceRecord,
    SliceRecordType, Snapshot,
};
use cook_core::schema;
use cook_os::disk::{self, Links};
use cook_store::store::History;
use std::collections::BTreeMap;

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

    /// What the user said, by message id: what `cook brief say` kept, without what
    /// `cook undo` took back, and what agents reported as typed.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn messages(&self) -> Result<BTreeMap<String, String>, Failure> {
        let Some(store) = &self.store else {
            return Ok(BTreeMap::new());
        };
        let undone = store.snapshot()?.undone.seqs;
        let mut messages = BTreeMap::new();
        for line in store.history_lines(History::Brief)? {
            let record: BriefRecord = serde_json::from_str(&line?).map_err(|error| {
                Failure::state(Code::LogUnreadable, "a line of the brief's history")
                    .caused_by(&error)
            })?;
            if record.kind == Cause::Said && !undone.contains(&record.seq.0) {
                messages.insert(record.id, record.text);
            }
        }
        for entry in store.checkpoints(usize::MAX)?.entries {
            // What a hook kept never stands in for what was said to cook itself.
            if entry.kind == CheckpointKind::Prompt && entry.id.starts_with(PROMPT_ID) {
                messages.entry(entry.id).or_insert(entry.text);
            }
        }
        Ok(messages)
    }

    /// The work that the transition of this sequence accepted, by its record.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn accepted_work(&self, seq: u64) -> Result<Option<Own>, Failure> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        for line in store.history_lines(History::Slice)? {
            let line = line?;
            if !line.contains("\"own\"") {
                continue;
            }
            let record: SliceRecord = serde_json::from_str(&line).map_err(|error| {
                Failure::state(Code::LogUnreadable, "a line of the slices' history")
                    .caused_by(&error)
            })?;
            if record.kind == SliceRecordType::Accepted && record.seq == Some(Count(seq)) {
                return Ok(record.own);
            }
        }
        Ok(None)
    }
}
