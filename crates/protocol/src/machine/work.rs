//! A transition while it is computed, and what it is once it is accepted.

use super::facts::Facts;
use super::rule::{Dispatch, Rule};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{Count, Records, Remark, Slice, SliceLedger, Snapshot, Timestamp};

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

    pub fn next_head(&self) -> Option<String> {
        self.facts
            .head
            .as_ref()
            .and_then(|head| head.commit.clone())
    }

    /// Sequence of the transition that is being made.
    pub fn seq(&self) -> Count {
        Count(self.before.ledger.seq.0 + 1)
    }

    /// The plan's entry.
    pub fn find_planned(&mut self, id: &str) -> Result<&mut Slice, Refusal> {
        let slice = self.next.plan.slice_mut(id);
        slice
            .ok_or_else(|| Refusal::new(Code::SliceUnknown, format!("no slice `{id}` in the plan")))
    }

    /// The ledger entry of a slice, made when it is not there yet.
    pub fn ledger(&mut self, id: &str) -> &mut SliceLedger {
        self.next.ledger.slices.entry(id.to_owned()).or_default()
    }

    /// A finding that reviewers, auditors and judges are told of as well; of no slice, where the id
    /// is empty.
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
    /// The documents to come.
    pub snapshot: Snapshot,
    /// What the histories gain.
    pub records: Records,
    /// The rule that answered before.
    pub rule: Rule,
    /// What `dispatch` says now.
    pub next: Dispatch,
    /// Judges come next, and no gate has run at this HEAD in a clean room: with that fact the step
    /// says whether they are asked.
    pub wants_room: bool,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
    /// Edits made outside cook are put aside and the log's version put back.
    pub displace: bool,
}
