//! What the log's histories still say: the user's words, and the work of slices.

use super::workspace::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::{
    BriefRecord, Cause, CheckpointKind, Count, Own, PROMPT_ID, SliceRecord, SliceRecordType,
};
use cook_store::store::History;
use std::collections::BTreeMap;

impl Workspace {
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
