//! Re-grounds that cook derives itself, and an estimate of the sessions that a workflow still needs.

use super::assurance::AuditRule;
use super::facts::{ConfigFacts, Head};
use super::rule::{Dispatch, Rule};
use super::slices::{current_audit, current_review, list_named_commands};
use super::wave::list_votes;
use super::work::Work;
use super::{reground, slices, wave};
use crate::model::{EvidenceClaim, Reconcile};
use crate::prelude::*;

// cook re-grounds itself only under a profile below `strict` and only if nothing is left to weigh
// (`docs/assurance.md`). Block and conditions are derived again whenever the event is applied, so that a log with
// another block is not derivable.

/// Maximum number of consecutive re-grounds by cook.
pub const MOST_BY_COOK: u64 = 10;

/// Returns the re-ground that cook would make itself under this rule, as far as the log tells.
///
/// # Errors
/// The reason why a model must re-ground.
pub fn derive(
    snapshot: &Snapshot,
    due: &Dispatch,
    head: &Head,
) -> Result<(ByCook, Reground), String> {
    require_quiet(snapshot, due, head)?;
    let mut block = Reground::default();
    match due.rule {
        Rule::Select => {
            block.select = Some(find_first_in_order(snapshot)?);
            Ok((ByCook::Select, block))
        }
        Rule::Reconcile => {
            accept(snapshot, &mut block)?;
            Ok((ByCook::Accept, block))
        }
        Rule::Conclude => {
            require_agreement(snapshot, head)?;
            block.conclude = Some(Conclude::Stop);
            Ok((ByCook::Stop, block))
        }
        rule => Err(format!("rule {rule} applies here")),
    }
}

/// Requires that nothing in the log needs the judgement of a model or the user.
fn require_quiet(snapshot: &Snapshot, due: &Dispatch, head: &Head) -> Result<(), String> {
    let ledger = &snapshot.ledger;
    if snapshot.assurance().is_strict() {
        return Err("the profile in force is `strict`".to_owned());
    }
    if ledger.assured.by_cook.0 >= MOST_BY_COOK {
        return Err(format!(
            "cook has already re-grounded {MOST_BY_COOK} times in a row"
        ));
    }
    match ledger.assured.remarks_seen {
        None => {
            let what = "an agent has yet to re-ground under this profile without a blocker or deviation, and the plan did not come from the user";
            return Err(what.to_owned());
        }
        Some(seen) if seen.0 != ledger.remarks.len() as u64 => {
            return Err("a remark was added after an agent last re-grounded".to_owned());
        }
        Some(_) => {}
    }
    if let Some(finding) = due.findings.first() {
        return Err(finding.message.clone());
    }
    let owes = !wave::list_unanswered(snapshot, head).is_empty() || !ledger.unanswered.is_empty();
    if owes || ledger.returned.is_some() {
        return Err("a rejection or a returned slice waits for an answer".to_owned());
    }
    if ledger.answered.is_some() || ledger.stopped_for.is_some() {
        return Err("a message of the user is waiting for a re-ground".to_owned());
    }
    let slice = snapshot.find_slice_in_work();
    let slice_head = slice.and_then(|id| ledger.slices.get(id)?.head.as_ref());
    let at = head.commit.as_ref();
    if at.is_none() || at != ledger.head_seen.as_ref() && at != slice_head {
        return Err("HEAD has moved since the last transition".to_owned());
    }
    Ok(())
}

/// The first slice in order of work. All slices that it waits for must be done.
fn find_first_in_order(snapshot: &Snapshot) -> Result<String, String> {
    let plan = &snapshot.plan;
    let first = slices::ready(plan).into_iter().next();
    let first = first.and_then(|id| plan.slice(&id));
    let Some(slice) = first else {
        return Err("no open slice can be selected".to_owned());
    };
    let is_done = |id: &String| plan.is_done(id);
    if !slice.blocked_on.iter().all(is_done) {
        return Err(format!(
            "slice `{}` waits for a slice that is not done",
            slice.slice_id
        ));
    }
    Ok(slice.slice_id.clone())
}

/// Accepts the slice, if review and audit leave nothing open and the implementer named proof of each criterion.
fn accept(snapshot: &Snapshot, block: &mut Reground) -> Result<(), String> {
    let id = snapshot.find_slice_in_work().unwrap_or_default();
    let accepts = current_review(snapshot).is_some_and(|review| {
        !review.rejects()
            && review.concerns.is_empty()
            && review.findings.is_empty()
            && review.follow_up.is_none()
    });
    if !accepts {
        return Err(format!("the review of slice `{id}` names an open point"));
    }
    let ledger = snapshot.find_ledger(id);
    if ledger.is_some_and(|ledger| ledger.find_unheard_no().is_some()) {
        return Err(format!("an earlier review of slice `{id}` said no"));
    }
    let audit = current_audit(snapshot);
    let is_open = audit.is_some_and(AuditNote::names_something);
    let is_last = snapshot.plan.open_slices().count() <= 1;
    if is_last && audit.is_none() && wave::open_audit(snapshot).is_some() {
        return Err("an open point of the last audit is waiting for an answer".to_owned());
    }
    let named =
        ledger.is_some_and(|ledger| ledger.earlier_audit.is_some() || ledger.remarked.is_some());
    if is_open || named {
        return Err(format!(
            "an audit or the implementer of slice `{id}` names an open point"
        ));
    }
    let offered = ledger.map_or(&[][..], |ledger| ledger.offered.as_slice());
    if offered.is_empty() {
        return Err(format!(
            "the report of slice `{id}` has no evidence in the form that its prompt asks for"
        ));
    }
    let reviewer = current_review(snapshot).and_then(|review| review.session.as_ref());
    let implementer = ledger.and_then(|ledger| ledger.offered_by.as_ref());
    // Reports typed by hand name no session. If both were typed, another one by hand would not show it either.
    let are_typed = reviewer.is_none() && implementer.is_none();
    if !are_typed && (reviewer.is_none() || implementer.is_none() || reviewer == implementer) {
        return Err(format!(
            "the log does not show that slice `{id}` was implemented and reviewed in two different sessions"
        ));
    }
    block.evidence = offered
        .iter()
        .map(|offer| EvidenceClaim::of_offer(id, offer))
        .collect();
    block.reconcile = Some(Reconcile {
        slice_id: id.to_owned(),
        decision: Decision::Accepted,
        findings: Vec::new(),
    });
    Ok(())
}

/// Requires that every judge said yes and named nothing.
fn require_agreement(snapshot: &Snapshot, head: &Head) -> Result<(), String> {
    let mut votes = wave::list_votes(snapshot, head);
    match wave::unanimous(snapshot, head.commit.as_deref())
        && votes.all(|vote| vote.concerns.is_empty())
    {
        true => Ok(()),
        false => Err("at least one judge said no or named a concern".to_owned()),
    }
}

/// Applies the block, if cook derives the same one and the repository meets the conditions.
pub(super) fn apply(work: &mut Work, kind: ByCook, block: &Reground) -> Result<(), Refusal> {
    let head = work.facts.head()?.clone();
    let derived = derive(work.before, &work.due, &head).map_err(refuse_by_cook)?;
    if derived != (kind, block.clone()) {
        return Err(refuse_by_cook("cook derives a different block".to_owned()));
    }
    let commands = list_named_commands(work.before, block);
    if let Some(command) = work.facts.list_untrusted(&commands)?.first() {
        return Err(refuse_by_cook(format!("`{command}` is not trusted")));
    }
    reground::apply(work, block, None)?;
    require_nothing_new(work)?;
    work.next.ledger.assured.by_cook.0 += 1;
    Ok(())
}

/// Refuses if the re-ground raised a finding for a model to weigh, such as a remark, lost proof or an unclean
/// worktree.
fn require_nothing_new(work: &Work) -> Result<(), Refusal> {
    match work.findings.iter().find(|finding| weighs(finding.code)) {
        Some(finding) => Err(refuse_by_cook(finding.message.clone())),
        None => Ok(()),
    }
}

/// Whether a finding with this code needs a model. A rebound slice does not.
fn weighs(code: Code) -> bool {
    code != Code::Rebound
}

fn refuse_by_cook(why: String) -> Refusal {
    Refusal::new(Code::NotByCook, why)
}

// An estimate of the sessions that a workflow still needs if every verdict is a yes.

/// The estimated sessions by role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionEstimate {
    /// Number of sessions for each role that has any.
    pub sessions: BTreeMap<Role, u64>,
    /// Number of open slices that are counted.
    pub slices: u64,
    /// Whether there is no plan yet, so that one slice is counted.
    pub is_planless: bool,
}

impl SessionEstimate {
    fn add(&mut self, role: Role, count: u64) {
        if count > 0 {
            *self.sessions.entry(role).or_default() += count;
        }
    }
}

/// Counts the sessions from here to the end, if no report is refused, no gate is red, every verdict is a yes, and
/// cook re-grounds itself wherever it may.
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
    let required = snapshot.count_required_judges();
    estimate.add(Role::StopJudge, required.saturating_sub(have));
    estimate.add(Role::Regrounder, u64::from(is_strict));
    estimate
}
