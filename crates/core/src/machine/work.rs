//! A transition while it is computed: the snapshot before, the one to come, and
//! what is appended.

use super::facts::Facts;
use super::rule::Dispatch;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{
    ActiveSlice, ActiveStatus, Count, Handoff, Records, Remark, ReportRecord, Role, SchemaVersion,
    Slice, SliceLedger, SliceRecord, SliceRecordType, SliceStatus, Snapshot, StopRecord,
    StopRecordType, Submission, Timestamp, Verdicts,
};

pub(super) struct Work<'a> {
    pub before: &'a Snapshot,
    pub next: Snapshot,
    pub facts: &'a Facts,
    pub due: Dispatch,
    pub records: Records,
    pub findings: Vec<Finding>,
    pub displace: bool,
}

impl<'a> Work<'a> {
    pub fn new(before: &'a Snapshot, facts: &'a Facts, due: Dispatch) -> Self {
        Self {
            before,
            next: before.clone(),
            facts,
            due,
            records: Records::default(),
            findings: Vec::new(),
            displace: false,
        }
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::Text(self.facts.now.clone())
    }

    /// HEAD's commit; unborn is refused.
    pub fn head(&self) -> Result<String, Refusal> {
        self.facts
            .head()?
            .commit
            .clone()
            .ok_or_else(|| Refusal::new(Code::NoCommitYet, "the repository has no commit yet"))
    }

    /// The active slice's id and ledger, while one is in work.
    pub fn active_id(&self) -> Option<String> {
        super::drift::in_work(&self.next)
            .then(|| self.next.active.slice_id.clone())
            .flatten()
    }

    /// The ledger entry of a slice, made when it is not there yet.
    pub fn ledger(&mut self, id: &str) -> &mut SliceLedger {
        self.next.ledger.slices.entry(id.to_owned()).or_default()
    }

    /// Sequence of the transition that is being made.
    pub fn seq(&self) -> Count {
        Count(self.before.ledger.seq.0 + 1)
    }

    /// Appends to `slice-history.jsonl`.
    pub fn slice_record(
        &mut self,
        kind: SliceRecordType,
        id: &str,
        commit: &str,
    ) -> &mut SliceRecord {
        let record = SliceRecord {
            schema_version: SchemaVersion,
            kind,
            recorded_at: self.now(),
            slice_id: id.to_owned(),
            commit_sha: commit.to_owned(),
            head_sha: self.next_head().unwrap_or_else(|| commit.to_owned()),
            seq: Some(self.seq()),
            role: None,
            report: None,
            report_sha256: None,
            session: None,
            receipts: None,
            claimed: None,
            criteria_sha256: None,
            findings: None,
        };
        self.records.slice.push(record);
        let last = self.records.slice.len() - 1;
        &mut self.records.slice[last]
    }

    fn next_head(&self) -> Option<String> {
        self.facts
            .head
            .as_ref()
            .and_then(|head| head.commit.clone())
    }

    /// Appends to `stop-check-history.jsonl`.
    pub fn stop_record(&mut self, head: &str, verdicts: &Verdicts, submission: &Submission) {
        let record = StopRecord {
            schema_version: SchemaVersion,
            kind: StopRecordType::Judgment,
            recorded_at: self.now(),
            head_sha: head.to_owned(),
            can_stop: verdicts.positive,
            blocker_count: verdicts.blocker_count,
            high_value_gap_count: verdicts.high_value_gap_count,
            stop_wave_id: Some(self.next.state.current_stop_wave_id),
            seq: Some(self.seq()),
            role: Some(Role::StopJudge),
            report: Some(submission.report.clone()),
            report_sha256: Some(submission.report_sha256.clone()),
            session: submission.session.clone(),
        };
        self.records.stop.push(record);
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

    /// A finding that reviewers, auditors and judges are told of as well.
    pub fn remark(&mut self, code: Code, slice_id: &str, what: impl Into<String>) {
        let finding = Finding::new(code, what).at(slice_id);
        let remark = Remark {
            slice_id: slice_id.to_owned(),
            code: code.id().to_owned(),
            what: finding.message.clone(),
        };
        if !self.next.ledger.remarks.contains(&remark) {
            self.next.ledger.remarks.push(remark);
        }
        self.findings.push(finding);
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
        let ledger = self.ledger(id);
        let commit = ledger
            .head
            .take()
            .or_else(|| ledger.last_head.clone())
            .unwrap_or(fallback);
        ledger.last_head = Some(commit.clone());
        ledger.review = None;
        ledger.audit = None;
        ledger.receipts.clear();
        ledger.head_tree = None;
        let record = self.slice_record(SliceRecordType::Reopened, id, &commit);
        record.findings = Some(findings.clone());
        if let Some(submission) = submission {
            attach(record, submission);
        }
        if let Some(slice) = self.next.plan.slice_mut(id) {
            slice.must_fix_findings = Some(findings);
            slice.status = if active {
                SliceStatus::InProgress
            } else {
                SliceStatus::Planned
            };
        }
        if active {
            self.next.active.status = ActiveStatus::InProgress;
            self.sync_handoff();
        } else if was_last {
            self.go_idle();
        }
    }
}

/// Writes down whose report a record transcribes.
pub(super) fn attach(record: &mut SliceRecord, submission: &Submission) {
    let report: &ReportRecord = &submission.report;
    record.role = Some(report.role);
    record.report = Some(report.clone());
    record.report_sha256 = Some(submission.report_sha256.clone());
    record.session = submission.session.clone();
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
