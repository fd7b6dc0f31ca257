//! A transition while it is computed, and its result.

use super::facts::Facts;
use super::rule::{Dispatch, Rule};
use crate::model::{Records, Remark, SliceRecord, StopRecord, StopRecordType, Timestamp};
use crate::prelude::*;

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

    /// HEAD's commit. Refuses if HEAD is unborn.
    pub fn head(&self) -> Result<String, Refusal> {
        self.facts
            .head()?
            .commit
            .clone()
            .ok_or_else(|| Refusal::new(Code::NoCommitYet, "the repository has no commit yet"))
    }

    pub fn next_head(&self) -> Option<String> {
        self.facts
            .head
            .as_ref()
            .and_then(|head| head.commit.clone())
    }

    /// Sequence number of the transition in progress.
    pub fn seq(&self) -> Count {
        Count(self.before.ledger.seq.0 + 1)
    }

    /// The slice's entry in the plan.
    pub fn find_planned(&mut self, id: &str) -> Result<&mut Slice, Refusal> {
        let slice = self.next.plan.slice_mut(id);
        slice.ok_or_else(|| refusal!(Code::SliceUnknown, "no slice `{id}` in the plan"))
    }

    /// The slice's ledger entry, created if missing.
    pub fn ledger(&mut self, id: &str) -> &mut SliceLedger {
        self.next.ledger.slices.entry(id.to_owned()).or_default()
    }

    /// Adds a finding about a slice or another place.
    pub fn note(&mut self, code: Code, place: impl Into<String>, what: impl Into<String>) {
        self.findings.push(Finding::new(code, what).at(place));
    }

    /// Adds a finding that reviewers, auditors and judges are told of too. An empty id stands for no slice.
    pub fn remark(&mut self, code: Code, slice_id: &str, what: impl Into<String>) {
        let mut finding = Finding::new(code, what);
        if !slice_id.is_empty() {
            finding = finding.at(slice_id);
        }
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
}

/// An accepted transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The documents after the transition.
    pub snapshot: Snapshot,
    /// The records to append to the histories.
    pub records: Records,
    /// The rule that answered before the transition.
    pub rule: Rule,
    /// The dispatch after the transition.
    pub next: Dispatch,
    /// The findings of the transition.
    pub findings: Vec<Finding>,
    /// Whether edits made outside cook are set aside and the log's version is restored.
    pub displace: bool,
}

// What a transition appends to the histories.

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

/// Adds the report and its source to a record.
pub(super) fn attach(record: &mut SliceRecord, submission: &Submission) {
    let report: &ReportRecord = &submission.report;
    record.role = Some(report.role);
    record.report = Some(report.clone());
    record.report_sha256 = Some(submission.report_sha256.clone());
    record.session = submission.session.clone();
}

// The causes of a due re-ground, which the regrounder is told.

/// Maximum number of causes that are kept; the newest stay.
const KEPT: usize = 5;

/// Makes a re-ground due, and adds this cause to the earlier ones.
pub(super) fn require_reground(next: &mut Snapshot, cause: String) {
    next.state.requires_reground = true;
    let causes = &mut next.ledger.due_for;
    causes.retain(|known| *known != cause);
    causes.push(cause);
    let over = causes.len().saturating_sub(KEPT);
    causes.drain(..over);
}

/// Quotes a word in single quotes for pasting into a shell.
pub fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
