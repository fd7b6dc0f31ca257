//! What the log's histories still say: the user's words, and the work of slices.

use super::workspace::{Workspace, list_tests};
use crate::trial::Bundle;
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use cook_protocol::model::{
    BriefRecord, Cause, CheckpointKind, Event, PROMPT_ID, SliceRecord, SliceRecordType, Snapshot,
};
use cook_repo::store::History;
use std::collections::BTreeMap;

impl Workspace {
    /// What the user said, by message id: what `cook resume --answer` and `cook brief say` kept, without
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
                    .with_cause(&error)
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

    /// Who judges did not do the work, where the sessions are known.
    ///
    /// # Errors
    /// `judge_not_independent`, a log that cannot be read.
    pub fn check_independent(&self, event: &Event) -> Result<(), Failure> {
        let (Some(role), Some(submission)) = (event.role(), event.submission()) else {
            return Ok(());
        };
        let (true, Some(session)) = (role.is_independent(), &submission.session) else {
            return Ok(());
        };
        let built = |record: &SliceRecord| {
            record.kind == SliceRecordType::Implemented && record.session.as_ref() == Some(session)
        };
        let records = self.slice_records(|line| line.contains("\"session\""))?;
        match records.iter().find(|record| built(record)) {
            None => Ok(()),
            Some(record) => Err(Refusal::new(
                Code::JudgeNotIndependent,
                format!(
                    "the session that did the work on `{}` is no {role} of it",
                    record.slice_id
                ),
            )
            .into()),
        }
    }

    /// Records of the slices' history, of the lines that may hold what is looked for.
    pub(super) fn slice_records(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<SliceRecord>, Failure> {
        let mut records = Vec::new();
        let Some(store) = &self.store else {
            return Ok(records);
        };
        for line in store.history_lines(History::Slice)? {
            let line = line?;
            if is_wanted(&line) {
                records.push(serde_json::from_str(&line).map_err(|error| {
                    Failure::state(Code::LogUnreadable, "a line of the slices' history")
                        .with_cause(&error)
                })?);
            }
        }
        Ok(records)
    }

    /// Tests that were accepted, by the id of their bundle; none where the log does not hold them.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub(crate) fn read_kept_tests(&self, id: &str) -> Result<Option<Bundle>, Failure> {
        if let Some(made) = self.made_tests.borrow().get(id) {
            return Bundle::from_bytes(made).map(Some);
        }
        let Some(store) = &self.store else {
            return Ok(None);
        };
        match store.read_kept_tests(id)? {
            Some(bytes) => Bundle::from_bytes(&bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Tests that the documents name for the first time, by their digest.
    pub(super) fn list_new_tests(
        &self,
        before: Option<&Snapshot>,
        next: &Snapshot,
    ) -> Vec<(String, Vec<u8>)> {
        let known = before.map(list_tests).unwrap_or_default();
        let made = self.made_tests.borrow();
        let new = list_tests(next)
            .into_iter()
            .filter(|id| !known.contains(id));
        new.filter_map(|id| Some((id.clone(), made.get(&id)?.clone())))
            .collect()
    }
}
