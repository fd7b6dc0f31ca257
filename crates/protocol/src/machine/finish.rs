//! The end of every transition: derived fields, the wave, the budgets, the sequence number.

use super::dispatch::find_due;
use super::facts::{Facts, Range};
use super::rule::{Dispatch, Rule};
use super::{assurance, drift, goal_transitions, wave};
use crate::model::RoleSlot;
use crate::prelude::*;

/// How the transition began, as far as its end depends on it.
pub(super) struct Before {
    /// The rule that answered before the transition.
    pub rule: Rule,
    /// Whether judges were being asked.
    pub in_wave: bool,
    /// Whether the event is a role's and spends a step.
    pub spends_step: bool,
    /// Whether this transition sets edits made outside cook aside.
    pub displace: bool,
    /// Whether everything so far is accounted for: it was re-grounded or implemented, or a mission begins.
    pub marks: bool,
}

/// Completes `next`, and returns its dispatch.
pub(super) fn finish(
    next: &mut Snapshot,
    facts: &Facts,
    before: &Before,
) -> Result<Dispatch, Refusal> {
    let head = facts.head()?.clone();
    next.ledger.seq.0 += 1;
    next.ledger.aside.0 = 0;
    next.ledger.head_seen = head.commit.clone();
    let accounted = |since| drift::is_accounted_for(next, since);
    let marks =
        before.marks || next.ledger.mark.is_none() || facts.since.as_ref().is_some_and(accounted);
    if marks {
        next.ledger.mark = head.commit.clone();
    }
    next.ledger.last_at = Some(facts.now.clone());
    if let Some(worktree) = &facts.worktree {
        next.ledger.status_seen = Some(worktree.digest.clone());
    }
    if before.spends_step {
        next.counters.steps.0 += 1;
    }
    prune(next);
    assurance::let_go(next);
    if !drift::end_is_near(next) {
        next.ledger.room = None;
    }
    spend_budget(next, facts, before)?;

    let facts = after(next, facts, before.displace, marks)?;
    let mut dispatch_now = find_due(next, &facts)?;
    let is_known = |next: &Snapshot| wave::find_room(next, &head).is_some();
    if dispatch_now.rule == Rule::Judge && !is_known(next) {
        wave::keep_room(next, facts.room.as_ref());
        dispatch_now = find_due(next, &facts)?;
    }
    let judged =
        |dispatch: &Dispatch, next: &Snapshot| dispatch.rule == Rule::Judge && is_known(next);
    let resumed_wave = before.rule == Rule::Stopped
        && next.ledger.wave.opened_at == head.commit
        && next.ledger.wave.running;
    if judged(&dispatch_now, next) && !before.in_wave && !resumed_wave {
        // A no of the previous wave is answered before the next wave opens.
        wave::void(next);
        dispatch_now = find_due(next, &facts)?;
        if dispatch_now.rule == Rule::Judge {
            wave::open(next, &head);
            dispatch_now = find_due(next, &facts)?;
        }
    }
    next.ledger.wave.running = next.ledger.wave.opened.0 > 0
        && matches!(
            dispatch_now.rule,
            Rule::Judge | Rule::Conclude | Rule::Stopped
        );
    derive(next, &dispatch_now);
    Ok(dispatch_now)
}

/// Sets the fields that follow from the rest.
fn derive(next: &mut Snapshot, dispatch: &Dispatch) {
    let open_ids = next.plan.list_open_contracts();
    let head = next.ledger.head_seen.clone();
    let have = next
        .ledger
        .wave
        .votes
        .iter()
        .filter(|vote| Some(&vote.head) == head.as_ref())
        .count() as u64;
    let required = next.count_required_judges();
    let waiting = next.ledger.waiting.clone();
    let state = &mut next.state;
    state.revision = Some(next.ledger.seq);
    state.unsatisfied_contract_ids = open_ids;
    state.remaining_stop_judges = Count(required.saturating_sub(have));
    state.current_phase = dispatch.phase;
    state.next_mandatory_role = RoleSlot(dispatch.role);
    state.next_mandatory_action = dispatch.action.clone();
    state.continuation_reason = match waiting {
        Some(waiting) if state.continuation_policy != Policy::Continue => waiting.what,
        _ => dispatch.reason.clone(),
    };
    state.project_done = state.continuation_policy == Policy::Done;
    state.contract_status = match (state.continuation_policy, dispatch.rule) {
        (Policy::Done, _) if next.ledger.goal.is_some() => goal_transitions::REACHED,
        (Policy::Done, _) => "satisfied",
        (Policy::Paused, _) if state.contract_status == "cancelled" => "cancelled",
        _ if !next.ledger.regrounded => "bootstrapped",
        (_, Rule::Judge | Rule::Conclude) => "stop_wave",
        _ => "in_work",
    }
    .to_owned();
    next.active.revision = Some(next.ledger.seq);
}

/// The facts as they are once this transition is in the log.
fn after(next: &Snapshot, facts: &Facts, displace: bool, marks: bool) -> Result<Facts, Refusal> {
    let mut facts = facts.clone();
    let head = facts.head()?.clone();
    let nothing_new = Range {
        resolves: true,
        ancestor: true,
        ..Range::default()
    };
    if marks || facts.since.is_none() {
        facts.since = Some(nothing_new.clone());
    }
    if displace {
        facts.outside_edits = Some(Vec::new());
    }
    if let Some(handoff) = &next.active.handoff
        && next.is_in_work()
    {
        let basis = &handoff.basis_commit;
        if !facts.ranges.contains_key(basis) {
            let rebased = facts
                .ranges
                .values()
                .find(|range| range.merge_base.as_ref() == Some(basis))
                .map(|range| Range {
                    commits: range.commits.clone(),
                    ..nothing_new.clone()
                });
            let range = match rebased {
                Some(range) => Some(range),
                None if head.commit.as_ref() == Some(basis) => Some(nothing_new),
                None => None,
            };
            if let Some(range) = range {
                facts.ranges.insert(basis.clone(), range);
            }
        }
        if next.active.status == ActiveStatus::Committed
            && let Some(commit) = &facts.commit
            && let Some(id) = &commit.id
        {
            facts.on_head.insert(id.clone(), commit.on_head);
        }
    }
    Ok(facts)
}

/// Drops the ledgers of slices that are not in the plan: no later decision reads them.
fn prune(next: &mut Snapshot) {
    let slices = next.plan.candidate_slices.iter();
    let planned: BTreeSet<&String> = slices.map(|slice| &slice.slice_id).collect();
    next.ledger.slices.retain(|id, _| planned.contains(id));
}

/// Stops the work if a budget (`[limits]` of `cook.toml`) is spent.
fn spend_budget(next: &mut Snapshot, facts: &Facts, before: &Before) -> Result<(), Refusal> {
    if !before.spends_step || next.state.continuation_policy != Policy::Continue {
        return Ok(());
    }
    let limits = &facts.config()?.limits;
    let granted = &next.counters.granted;
    let steps = limits.steps().saturating_add(granted.steps.unwrap_or(0));
    let attempts = limits.add_attempts(granted);
    let spent_slice = next
        .active
        .slice_id
        .as_ref()
        .filter(|_| next.is_in_work() && next.active.status != ActiveStatus::Committed)
        .and_then(|id| next.counters.attempts.get_key_value(id))
        .filter(|(_, spent)| spent.0 >= attempts);
    let (what, exit) = if let Some((id, spent)) = spent_slice {
        (
            format!("slice `{id}` has spent {} of {attempts} attempts", spent.0),
            "cook resume --add attempts=2",
        )
    } else if next.counters.steps.0 >= steps {
        (
            format!(
                "the workflow has taken {} of {steps} steps",
                next.counters.steps.0
            ),
            "cook resume --add steps=20",
        )
    } else {
        return Ok(());
    };
    next.wait(Policy::Blocked, WaitingKind::Budget, what, exit);
    Ok(())
}
