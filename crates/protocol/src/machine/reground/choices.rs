//! What a block may say now. `apply` refuses by these conditions and a prompt offers by them, so that
//! nothing is offered that is refused whatever stands beside it.

use crate::machine::rule::Rule;
use crate::machine::{slices, wave};
use crate::model::{ActiveStatus, Slice, SliceStatus, Snapshot};

/// What a block may say, or not, whatever the repository holds besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// `reconcile` with `accepted`.
    Accept,
    /// `reconcile` with `reopened`.
    SendBack,
    /// `reopen` of a done slice.
    Reopen,
    /// `drop_criteria` in a plan's `change`.
    DropCriteria,
    /// `evidence`.
    Evidence,
    /// `conclude` with `go_on`.
    GoOn,
    /// `conclude` with `stop`.
    Stop,
    /// `answers`.
    Answers,
    /// `answers_to`.
    AnswersTo,
    /// `select`.
    Select,
}

impl Choice {
    /// All of them.
    pub const ALL: [Choice; 10] = [
        Choice::Accept,
        Choice::SendBack,
        Choice::Reopen,
        Choice::DropCriteria,
        Choice::Evidence,
        Choice::GoOn,
        Choice::Stop,
        Choice::Answers,
        Choice::AnswersTo,
        Choice::Select,
    ];

    /// Whether a report under this rule may say it; `held` = nothing can be selected, nor the project
    /// ended, as the repository is.
    pub fn is_open(self, rule: Rule, snapshot: &Snapshot, held: bool) -> bool {
        let mut slices = snapshot.plan.candidate_slices.iter();
        match self {
            Choice::Accept => may_accept(rule, snapshot),
            Choice::SendBack => may_send_back(rule, snapshot),
            Choice::Reopen => slices.any(|slice| slice.status == SliceStatus::Done),
            Choice::DropCriteria => slices.any(|slice| may_drop_criterion(snapshot, slice)),
            Choice::Evidence => slices.any(|slice| slice.status != SliceStatus::Cancelled),
            Choice::GoOn => is_wave_over(rule),
            Choice::Stop => !held && may_stop(rule, snapshot),
            Choice::Answers => {
                !wave::list_owed(snapshot).is_empty()
                    || wave::find_audit_to_answer(snapshot).is_some()
            }
            Choice::AnswersTo => !snapshot.ledger.answers.is_empty(),
            Choice::Select => !held && may_select(rule, snapshot),
        }
    }
}

/// A committed slice with its review and audit waits for a decision.
pub(super) fn is_to_be_reconciled(rule: Rule, snapshot: &Snapshot) -> bool {
    rule == Rule::Reconcile && snapshot.find_slice_in_work().is_some()
}

fn may_accept(rule: Rule, snapshot: &Snapshot) -> bool {
    is_to_be_reconciled(rule, snapshot) && is_accepted_by_review(snapshot)
}

/// The review in hand says yes, to the criteria as they stand.
pub(super) fn is_accepted_by_review(snapshot: &Snapshot) -> bool {
    slices::current_review(snapshot).is_some_and(|review| !review.rejects())
}

/// The slice in work may be taken up again: it is to be reconciled, a review rejects it, or it was
/// committed when the repository moved.
pub(super) fn may_send_back(rule: Rule, snapshot: &Snapshot) -> bool {
    is_to_be_reconciled(rule, snapshot)
        || slices::rejection(snapshot).is_some()
        || rule == Rule::Recover && was_reported(snapshot)
}

/// Every judge of the wave says yes, and no slice is open. The votes of a full wave are of HEAD.
fn may_stop(rule: Rule, snapshot: &Snapshot) -> bool {
    let votes = &snapshot.ledger.wave.votes;
    let head = votes.last().map(|vote| vote.head.as_str());
    let is_closed = snapshot.plan.open_slices().next().is_none();
    is_wave_over(rule) && is_closed && wave::unanimous(snapshot, head)
}

/// No committed slice waits, or the report has to decide on it.
fn may_select(rule: Rule, snapshot: &Snapshot) -> bool {
    is_free(snapshot) || is_to_be_reconciled(rule, snapshot)
}

/// A criterion of the slice may be dropped, with proof that it holds.
fn may_drop_criterion(snapshot: &Snapshot, slice: &Slice) -> bool {
    slice.status.is_open() && !snapshot.is_committed(&slice.slice_id)
}

/// The slice in work is committed, or was and is in progress again.
fn was_reported(snapshot: &Snapshot) -> bool {
    let ledger = snapshot
        .find_slice_in_work()
        .and_then(|id| snapshot.ledger.slices.get(id));
    ledger.is_some_and(|ledger| ledger.reported.is_some())
        && matches!(
            snapshot.active.status,
            ActiveStatus::Committed | ActiveStatus::InProgress
        )
}

/// No committed slice waits to be reconciled before another is selected.
pub(super) fn is_free(snapshot: &Snapshot) -> bool {
    snapshot.active.status != ActiveStatus::Committed
}

/// All votes are in.
pub(super) fn is_wave_over(rule: Rule) -> bool {
    rule == Rule::Conclude
}
