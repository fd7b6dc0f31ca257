//! What a transition appends to the histories.

use super::work::Work;
use crate::model::{
    ReportRecord, Role, SchemaVersion, SliceRecord, SliceRecordType, StopRecord, StopRecordType,
    Submission, Verdicts,
};

impl Work<'_> {
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
            by: None,
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
}

/// Writes down whose report a record transcribes.
pub(super) fn attach(record: &mut SliceRecord, submission: &Submission) {
    let report: &ReportRecord = &submission.report;
    record.role = Some(report.role);
    record.report = Some(report.clone());
    record.report_sha256 = Some(submission.report_sha256.clone());
    record.session = submission.session.clone();
}
