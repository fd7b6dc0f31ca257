//! Issues that slices carry (`issue:<id>` among their contract ids): the claim
//! follows the selection, the close follows the acceptance, never before.
//!
//! What is owed is read from the documents each time, so a tracker that was away
//! gets it at the next report; what is settled is remembered and not asked again.

use super::error::TrackerError;
use super::interface::Tracker;
use super::issue::is_id;
use super::memory::{Memory, MemoryError};
use cook_core::model::{Plan, Slice, SliceStatus};
use std::collections::BTreeSet;

/// How a contract id names an issue.
const PREFIX: &str = "issue:";

/// What the plan owes the tracker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum TrackerAction {
    /// The slice is selected.
    Claim { issue: String, slice: String },
    /// The slice is accepted.
    Close { issue: String, slice: String },
}

impl TrackerAction {
    fn key(&self) -> String {
        match self {
            Self::Claim { issue, slice } => format!("claim {issue} {slice}"),
            Self::Close { issue, slice } => format!("close {issue} {slice}"),
        }
    }

    fn perform(&self, tracker: &dyn Tracker) -> Result<(), TrackerError> {
        match self {
            Self::Claim { issue, .. } => tracker.claim(issue).map(|_| ()),
            Self::Close { issue, slice } => {
                let reason = format!("slice {slice} is accepted");
                tracker.close(issue, &reason).map(|_| ())
            }
        }
    }
}

/// What a round of claims and closes brought.
#[derive(Debug, Default)]
pub struct FollowReport {
    /// Actions that are done now.
    pub done: Vec<TrackerAction>,
    /// Actions that are still owed, with the reason.
    pub owed: Vec<(TrackerAction, TrackerError)>,
}

/// The issues a slice carries.
pub fn list_issues(slice: &Slice) -> impl Iterator<Item = &str> {
    let ids = slice.contract_ids.iter();
    ids.filter_map(|id| id.strip_prefix(PREFIX).filter(|id| is_id(id)))
}

fn is_selected(slice: &Slice) -> bool {
    matches!(
        slice.status,
        SliceStatus::Selected | SliceStatus::InProgress
    )
}

/// Slices that carry an issue and are neither done nor cancelled.
fn open_carriers<'a>(plan: &'a Plan, issue: &'a str) -> impl Iterator<Item = &'a Slice> {
    plan.open_slices()
        .filter(move |slice| list_issues(slice).any(|carried| carried == issue))
}

/// The slice for whose selection a claim has to wait, if there is one.
pub fn may_claim<'a>(plan: &'a Plan, issue: &'a str) -> Result<(), &'a str> {
    let mut carriers = open_carriers(plan, issue).peekable();
    match carriers.peek().map(|slice| slice.slice_id.as_str()) {
        Some(first) if !carriers.any(is_selected) => Err(first),
        _ => Ok(()),
    }
}

/// The slice for whose acceptance a close has to wait, if there is one.
pub fn may_close<'a>(plan: &'a Plan, issue: &'a str) -> Result<(), &'a str> {
    match open_carriers(plan, issue).next() {
        Some(slice) => Err(&slice.slice_id),
        None => Ok(()),
    }
}

/// What the plan owes the tracker, whether it has had it already or not.
pub fn list_owed(plan: &Plan) -> BTreeSet<TrackerAction> {
    let mut actions = BTreeSet::new();
    for slice in &plan.candidate_slices {
        for issue in list_issues(slice) {
            let (issue, name) = (issue.to_owned(), slice.slice_id.clone());
            if is_selected(slice) {
                actions.insert(TrackerAction::Claim { issue, slice: name });
            } else if slice.status == SliceStatus::Done && may_close(plan, &issue).is_ok() {
                actions.insert(TrackerAction::Close { issue, slice: name });
            }
        }
    }
    actions
}

/// Does what is owed and not settled yet; at the first outage the rest waits.
///
/// # Errors
/// When it cannot be remembered.
pub fn settle(
    tracker: &dyn Tracker,
    memory: &mut Memory,
    owed: &BTreeSet<TrackerAction>,
) -> Result<FollowReport, MemoryError> {
    memory.of_tracker(tracker.name());
    let keys: BTreeSet<String> = owed.iter().map(TrackerAction::key).collect();
    memory.now.settled.retain(|key| keys.contains(key));
    let mut report = FollowReport::default();
    for action in owed {
        if memory.now.settled.contains(&action.key()) {
            continue;
        }
        match action.perform(tracker) {
            Ok(()) => {
                memory.now.settled.insert(action.key());
                report.done.push(action.clone());
            }
            Err(error) => {
                let outage = error.is_outage();
                report.owed.push((action.clone(), error));
                if outage {
                    break;
                }
            }
        }
    }
    memory.save()?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(slices: &[(&str, &str, &[&str])]) -> Plan {
        let slices: Vec<_> = slices
            .iter()
            .map(|(id, status, contracts)| {
                json!({"slice_id": id, "goal": "g", "acceptance_criteria": ["c"],
                    "contract_ids": contracts, "priority": 1, "status": status,
                    "why_now": "", "blocked_on": [], "evidence": []})
            })
            .collect();
        serde_json::from_value(json!({"schema_version": 1, "mission_anchor": "m",
            "last_reground_at": null, "plan_basis": "", "candidate_slices": slices}))
        .unwrap()
    }

    #[test]
    fn the_claim_follows_the_selection_and_the_close_the_acceptance() {
        let all = &["C-1", "issue:x-1", "issue:", "issue:--help", "ISSUE:x-9"];
        for (status, expected) in [
            ("planned", ""),
            ("blocked", ""),
            ("cancelled", ""),
            ("selected", "claim x-1 a"),
            ("in_progress", "claim x-1 a"),
            ("done", "close x-1 a"),
        ] {
            let keys: Vec<String> = list_owed(&plan(&[("a", status, all)]))
                .iter()
                .map(TrackerAction::key)
                .collect();
            assert_eq!(keys.join(","), expected, "{status}");
        }
    }

    #[test]
    fn an_issue_of_two_slices_stays_open_until_both_are_accepted() {
        let one = plan(&[("a", "done", &["issue:x"]), ("b", "planned", &["issue:x"])]);
        assert!(list_owed(&one).is_empty());
        assert_eq!(may_close(&one, "x"), Err("b"));
        assert_eq!(may_claim(&one, "x"), Err("b"));
        let next = plan(&[("a", "done", &["issue:x"]), ("b", "selected", &["issue:x"])]);
        assert_eq!(may_claim(&next, "x"), Ok(()));
        assert_eq!(may_close(&next, "x"), Err("b"));
        let both = plan(&[
            ("a", "done", &["issue:x"]),
            ("b", "cancelled", &["issue:x"]),
        ]);
        assert_eq!(may_close(&both, "x"), Ok(()));
        assert_eq!(list_owed(&both).len(), 1);
        assert_eq!(may_claim(&both, "y"), Ok(()));
    }
}
