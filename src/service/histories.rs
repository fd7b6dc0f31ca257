//! What the log's histories still say: the user's words, and the work of slices.

use super::workspace::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::{
    BriefRecord, Cause, CheckpointKind, Own, PROMPT_ID, SliceRecord, SliceRecordType,
};
use cook_store::store::History;
use std::collections::BTreeMap;

impl Workspace {
    /// What the user said, by message id: what `cook answer` and `cook brief say` kept, without
    /// what `cook undo` took back, and what agents reported as typed.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn messages(&self) -> Result<BTreeMap<String, String>, Failure> {
        let Some(store) = &self.store else {
            return Ok(BTreeMap::new());
        };
        let snapshot = store.snapshot()?;
        let undone = snapshot.undone.seqs;
        let answers = snapshot.ledger.answers.into_iter();
        let mut messages: BTreeMap<String, String> =
            answers.map(|answer| (answer.id(), answer.answer)).collect();
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

    /// The work that transitions accepted, by their sequence.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn accepted_works(&self) -> Result<BTreeMap<u64, Own>, Failure> {
        let mut works = BTreeMap::new();
        let Some(store) = &self.store else {
            return Ok(works);
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
            if let (SliceRecordType::Accepted, Some(seq), Some(own)) =
                (record.kind, record.seq, record.own)
            {
                works.entry(seq.0).or_insert(own);
            }
        }
        Ok(works)
    }
}
