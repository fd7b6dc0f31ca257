//! The slice in work: the active document is a copy of its plan entry, and a reopened slice
//! comes back into it.

use super::answers;
use super::asked;
use super::records::attach;
use super::work::Work;
use crate::model::{
    ActiveSlice, ActiveStatus, Handoff, SchemaVersion, Slice, SliceRecordType, SliceStatus,
    Submission,
};

impl Work<'_> {
    /// The active slice's id and ledger, while one is in work.
    pub fn active_id(&self) -> Option<String> {
        super::drift::in_work(&self.next)
            .then(|| self.next.active.slice_id.clone())
            .flatten()
    }

    /// Makes the active document a copy of its plan entry again.
    pub fn sync_handoff(&mut self) {
        let Some(id) = self.active_id() else {
            return;
        };
        let status = self.next.active.status;
        if let Some(slice) = self.next.plan.slice(&id) {
            self.next.active = active_from(slice, status, &self.next.state.mission_anchor);
        }
    }

    /// Closes the active slice's cursor.
    pub fn go_idle(&mut self) {
        self.next.active = ActiveSlice::idle(&self.next.state.mission_anchor);
    }

    /// Reopens a slice: `in_progress` while it is the active one, `planned` when it
    /// was done. Writes the record; what must be fixed goes into the plan.
    pub fn reopen(&mut self, id: &str, findings: Vec<String>, submission: Option<&Submission>) {
        let active = self.active_id().as_deref() == Some(id);
        let was_last = self.next.active.slice_id.as_deref() == Some(id) && !active;
        let fallback = self
            .next
            .plan
            .slice(id)
            .and_then(|slice| slice.basis_commit.clone())
            .or_else(|| self.next_head())
            .unwrap_or_else(|| "unborn".to_owned());
        // Whoever takes it up again, the review that stood is shown to the next attempt.
        let review = self.ledger(id).review.clone();
        self.keep_no(id);
        let mut must = self.take_review(id);
        asked::add_new(&mut must, findings);
        self.keep_audit(id);
        let ledger = self.ledger(id);
        ledger.sent_back = review.or(ledger.sent_back.take());
        let commit = ledger
            .head
            .take()
            .or_else(|| ledger.last_head.clone())
            .unwrap_or(fallback);
        ledger.last_head = Some(commit.clone());
        let said = std::mem::take(&mut ledger.fixes);
        if !said.is_empty() {
            ledger.fixes_before = said;
        }
        ledger.offered.clear();
        ledger.offered_by = None;
        ledger.receipts.clear();
        ledger.head_tree = None;
        ledger.holds = None;
        // What was built stays the slice's: its next commit comes after the same basis.
        if let Some(accepted) = ledger.accepted.take() {
            ledger.basis = Some(accepted.basis);
        }
        let record = self.slice_record(SliceRecordType::Reopened, id, &commit);
        record.findings = Some(must.clone());
        if let Some(submission) = submission {
            attach(record, submission);
        }
        self.must_fix(id, must);
        if let Some(slice) = self.next.plan.slice_mut(id) {
            slice.status = if active {
                SliceStatus::InProgress
            } else {
                SliceStatus::Planned
            };
        }
        answers::note(self);
        if active {
            self.next.active.status = ActiveStatus::InProgress;
            self.sync_handoff();
        } else if was_last {
            self.go_idle();
        }
    }
}

/// The active document of a plan entry.
pub(super) fn active_from(slice: &Slice, status: ActiveStatus, anchor: &str) -> ActiveSlice {
    ActiveSlice {
        schema_version: SchemaVersion,
        revision: None,
        status,
        slice_id: Some(slice.slice_id.clone()),
        goal: Some(slice.goal.clone()),
        contract_ids: slice.contract_ids.clone(),
        mission_anchor: anchor.to_owned(),
        handoff: Some(Handoff {
            acceptance_criteria: slice.acceptance_criteria.clone(),
            priority: slice.priority.clone(),
            why_now: slice.why_now.clone(),
            blocked_on: slice.blocked_on.clone(),
            locked_notes: slice.locked_notes.clone().unwrap_or_default(),
            must_fix_findings: slice.must_fix_findings.clone().unwrap_or_default(),
            basis_commit: slice.basis_commit.clone().unwrap_or_default(),
            remaining_contract_ids_before: slice
                .remaining_contract_ids_before
                .clone()
                .unwrap_or_default(),
            release_blocker_count_before: slice.release_blocker_count_before.unwrap_or_default(),
            high_value_gap_count_before: slice.high_value_gap_count_before.unwrap_or_default(),
            implementation_surfaces: slice.implementation_surfaces.clone(),
            verification_commands: slice.verification_commands.clone(),
        }),
    }
}
