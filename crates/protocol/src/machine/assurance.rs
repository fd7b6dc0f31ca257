//! What the profile in force requires (`docs/assurance.md`): when an audit is due, when a changed profile takes
//! effect, and the lowest profile on record.

use super::facts::ConfigFacts;
use super::slices::{current_audit, current_review};
use super::work::Work;
use crate::model::{Assurance, Assured, Bound};
use crate::prelude::*;
use crate::report::list_deviations;

/// Number of slices that may be accepted under `standard` before an audit is due, in logs that do not state one.
pub const AUDIT_EVERY: u64 = 3;

/// Decides whether an audit is due, by profile and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditRule {
    assurance: Assurance,
    asked: bool,
    /// `None` if only the last open slice is audited.
    every: Option<u64>,
}

impl AuditRule {
    /// The rule for the profile in force. If the settings cannot be read, every audit is due.
    pub fn of(assurance: Assurance, config: Option<&ConfigFacts>) -> Self {
        Self {
            assurance: config.map_or(Assurance::Strict, |_| assurance),
            asked: config.is_some_and(|config| config.audit),
            every: match config {
                Some(config) if config.audit_last => None,
                config => {
                    let stated = config.and_then(|config| config.audit_every);
                    Some(stated.map_or(AUDIT_EVERY, |every| every.get()))
                }
            },
        }
    }

    /// Whether a slice with an accepting review is audited.
    pub fn is_due(&self, unaudited: u64, is_last: bool) -> bool {
        match self.assurance {
            Assurance::Strict => true,
            Assurance::Standard => is_last || self.every.is_some_and(|every| unaudited >= every),
            Assurance::Lite => is_last && self.asked,
            Assurance::Goal => false,
        }
    }
}

/// Whether rule 6 may answer for the committed slice. Below `strict` an audit waits for a review that says yes.
pub(super) fn audit_is_due(snapshot: &Snapshot, config: Option<&ConfigFacts>) -> bool {
    let rule = AuditRule::of(snapshot.assurance(), config);
    let accepts = current_review(snapshot).is_some_and(|review| !review.rejects());
    let is_last = snapshot.plan.open_slices().count() <= 1;
    rule.assurance.is_strict()
        || accepts && rule.is_due(snapshot.ledger.assured.unaudited.0, is_last)
}

/// Whether the settings decide who is next after the event.
pub(super) fn reads_settings(snapshot: &Snapshot, event: &Event) -> bool {
    let lowered = |snapshot: &Snapshot| !snapshot.assurance().is_strict();
    let brings = match event {
        Event::Bootstrapped { profile, .. } => !profile.assurance.is_strict(),
        Event::Undone { to, .. } => lowered(to),
        _ => false,
    };
    brings || lowered(snapshot) && snapshot.active.status == ActiveStatus::Committed
}

/// Takes in a changed profile. A higher one binds at once; a lower one binds from the next selected slice, and
/// never within a wave.
pub(super) fn take_in(work: &mut Work, profile: &Profile) {
    let held = work.before.assurance();
    let is_lower = profile.assurance < held;
    let slice_id = work.before.find_slice_in_work().map(str::to_owned);
    let binds = is_lower && (slice_id.is_some() || work.before.ledger.wave.running);
    work.next.ledger.assured.bound = binds.then_some(Bound {
        assurance: held,
        slice_id,
    });
}

/// Releases a higher profile once its slice or wave is over.
pub(super) fn let_go(next: &mut Snapshot) {
    let Some(bound) = &next.ledger.assured.bound else {
        return;
    };
    let holds = match &bound.slice_id {
        Some(id) => next.find_slice_in_work() == Some(id),
        None => next.ledger.wave.running,
    };
    if !holds {
        next.ledger.assured.bound = None;
    }
}

/// Notes whether the accepted slice was audited, and the profile that it was accepted under.
pub(super) fn note_accepted(work: &mut Work) {
    let is_audited = current_audit(work.before).is_some();
    let assured = &mut work.next.ledger.assured;
    assured.unaudited = match is_audited {
        true => Count(0),
        false => Count(assured.unaudited.0 + 1),
    };
    note_lowest(work);
}

/// Notes the lowest profile that an acceptance or a vote rests on.
pub(super) fn note_lowest(work: &mut Work) {
    let now = work.before.assurance();
    let lowest = &mut work.next.ledger.assured.lowest;
    *lowest = now.min(*lowest);
}

/// Notes a re-ground by a model, which has seen all earlier remarks. If it names a blocker or deviation, a model
/// must take that back.
pub(super) fn note_reground(work: &mut Work, submission: &Submission) {
    let is_strict = work.next.assurance().is_strict();
    let remarks = work.next.ledger.remarks.len() as u64;
    let is_quiet = list_deviations(&submission.report).is_empty();
    let assured = &mut work.next.ledger.assured;
    assured.by_cook = Count(0);
    assured.remarks_seen = (!is_strict && is_quiet).then_some(Count(remarks));
}

/// Clears the record for a new mission, of which nothing was accepted yet.
pub(super) fn forget(next: &mut Snapshot) {
    next.ledger.assured = Assured::default();
}
