//! How many sessions a workflow still takes where every verdict is a yes.

use super::assurance::AuditRule;
use super::by_cook::derive;
use super::facts::{ConfigFacts, Head};
use super::rule::{Dispatch, Rule};
use super::slices::{current_audit, current_review};
use super::wave::list_votes;
use crate::model::{ActiveStatus, Policy, Role, Snapshot};
use std::collections::BTreeMap;

/// Sessions by role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionEstimate {
    /// Of each role that has one.
    pub sessions: BTreeMap<Role, u64>,
    /// Open slices that it counts.
    pub slices: u64,
    /// No plan is there yet: it counts one slice.
    pub is_planless: bool,
}

impl SessionEstimate {
    fn add(&mut self, role: Role, count: u64) {
        if count > 0 {
            *self.sessions.entry(role).or_default() += count;
        }
    }
}

/// Counts the sessions from here to the end: no report is refused, no gate is red, every verdict is
/// a yes, and where cook may re-ground itself it does.
pub fn estimate(
    snapshot: &Snapshot,
    due: &Dispatch,
    head: &Head,
    config: Option<&ConfigFacts>,
) -> SessionEstimate {
    let mut estimate = SessionEstimate::default();
    if due.policy == Policy::Done {
        return estimate;
    }
    let is_strict = snapshot.assurance().is_strict();
    let audits = AuditRule::of(snapshot.assurance(), config);
    let open = snapshot.plan.open_slices().count() as u64;
    estimate.is_planless = !snapshot.ledger.regrounded && open == 0;
    estimate.slices = open.max(u64::from(estimate.is_planless));
    let in_work = snapshot.find_slice_in_work().is_some();
    let by_cook = derive(snapshot, due, head).is_ok();
    let plans = !snapshot.ledger.regrounded && !by_cook || due.rule == Rule::Recover;
    estimate.add(
        Role::Regrounder,
        u64::from(plans || is_strict && open > 0 && !in_work),
    );
    let mut unaudited = snapshot.ledger.assured.unaudited.0;
    for place in 0..estimate.slices {
        let is_first = in_work && place == 0;
        let is_committed = is_first
            && snapshot.active.status == ActiveStatus::Committed
            && due.rule != Rule::Implement;
        let is_reviewed = is_committed && current_review(snapshot).is_some();
        let is_audited = is_reviewed && current_audit(snapshot).is_some();
        let audit_due = audits.is_due(unaudited, place + 1 == estimate.slices);
        estimate.add(Role::Implementer, u64::from(!is_committed));
        estimate.add(Role::Reviewer, u64::from(!is_reviewed));
        estimate.add(Role::Auditor, u64::from(audit_due && !is_audited));
        estimate.add(Role::Regrounder, u64::from(is_strict));
        unaudited = match audit_due {
            true => 0,
            false => unaudited + 1,
        };
    }
    let have = match open {
        0 => list_votes(snapshot, head).count() as u64,
        _ => 0,
    };
    let required = snapshot.profile.required_stop_judges.0;
    estimate.add(Role::StopJudge, required.saturating_sub(have));
    estimate.add(Role::Regrounder, u64::from(is_strict));
    estimate
}
