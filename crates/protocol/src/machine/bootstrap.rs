//! `Bootstrapped`: the first documents of a log. A later one repairs the contract.

use super::facts::Facts;
use super::finish::{Before, finish};
use super::goal_transitions;
use super::rule::{Dispatch, Rule};
use super::work::require_reground;
use crate::model::{
    Assurance, Counters, GOAL_SLICE, Goal, Import, PlanSource, Remark, State, Undone,
    mission_anchor,
};
use crate::prelude::*;

/// Placeholder for the mission until the user states it.
pub const NO_MISSION: &str = "(the mission is not known yet)";

/// Creates the first snapshot. Records of an import belong to the event: nothing is added to them.
pub(super) fn first(
    facts: &Facts,
    mission: Option<&str>,
    profile: &Profile,
    branch: Option<&str>,
    settings: Option<&BTreeMap<String, String>>,
    import: Option<&Import>,
) -> Result<(Snapshot, Dispatch), Refusal> {
    goal_transitions::check_profile(profile, false)?;
    facts.worktree()?;
    let anchor = match mission {
        Some(text) => mission_anchor(text)
            .ok_or_else(|| Refusal::new(Code::MissionMissing, "the mission has no line of text"))?,
        None => NO_MISSION.to_owned(),
    };
    let mut next = empty(mission.unwrap_or_default(), &anchor, profile.clone());
    next.ledger.branch = branch.map(str::to_owned);
    next.ledger.settings = settings.cloned().unwrap_or_default();
    if let Some(import) = import {
        take_in(&mut next, import, &anchor);
    }
    if mission.is_none() {
        let what = "what is the mission of this repository? name the whole job in a few sentences";
        let (policy, kind) = (Policy::AwaitUserInput, WaitingKind::Question);
        next.wait(policy, kind, what, "cook resume --answer 'TEXT'");
    }
    let facts = with_contract(facts, &next.ledger.settings);
    let dispatch = finish(&mut next, &facts, &BEGUN)?;
    Ok((next, dispatch))
}

/// The state before the first transition of a log.
const BEGUN: Before = Before {
    rule: Rule::Bootstrap,
    in_wave: false,
    spends_step: false,
    displace: true,
    marks: true,
};

/// Creates the first snapshot of a goal, whose one slice is in work from the start.
pub(super) fn first_of_goal(
    facts: &Facts,
    goal: &Goal,
    branch: &str,
) -> Result<(Snapshot, Dispatch), Refusal> {
    facts.worktree()?;
    let anchor = mission_anchor(&goal.words)
        .ok_or_else(|| Refusal::new(Code::MissionMissing, "the goal has no line of text"))?;
    let mut profile = Profile::new(GOAL_SLICE);
    profile.assurance = Assurance::Goal;
    let mut next = empty(&goal.words, &anchor, profile);
    next.ledger.branch = Some(branch.to_owned());
    goal_transitions::begin(&mut next, goal);
    let dispatch = finish(&mut next, facts, &BEGUN)?;
    Ok((next, dispatch))
}

/// Adjusts the facts: the contract files are in the worktree when this event is applied.
pub(super) fn with_contract(facts: &Facts, settings: &BTreeMap<String, String>) -> Facts {
    let mut facts = facts.clone();
    facts.contract_missing = Some(Vec::new());
    facts.settings.get_or_insert_with(|| settings.clone());
    facts.outside_edits.get_or_insert_default();
    facts
}

fn empty(mission: &str, anchor: &str, profile: Profile) -> Snapshot {
    Snapshot {
        brief: None,
        mission: mission.to_owned(),
        state: State {
            mission_anchor: anchor.to_owned(),
            remaining_stop_judges: profile.required_stop_judges,
            contract_status: "bootstrapped".to_owned(),
            task_type: profile.task_type.clone(),
            evaluation_profile: profile.evaluation_profile.clone(),
            ..State::default()
        },
        plan: Plan {
            mission_anchor: anchor.to_owned(),
            ..Plan::default()
        },
        active: ActiveSlice::idle(anchor),
        evidence: VerificationEvidence::default(),
        ledger: Ledger::default(),
        counters: Counters::default(),
        undone: Undone::default(),
        profile,
    }
}

/// Takes in an older state or a plan. A done slice stays done only if its newest record says that it was accepted.
fn take_in(next: &mut Snapshot, import: &Import, anchor: &str) {
    if let Some(plan) = &import.plan {
        next.plan = plan.clone();
        next.plan.mission_anchor = anchor.to_owned();
    }
    if let Some(path) = &import.path {
        next.ledger.plan_source = Some(PlanSource {
            kind: import.layout.clone(),
            path: path.clone(),
        });
    }
    for (id, source) in &import.tasks {
        if next.plan.slice(id).is_some() {
            let entry = next.ledger.slices.entry(id.clone()).or_default();
            entry.source = Some(source.clone());
        }
    }
    for slice in &mut next.plan.candidate_slices {
        if slice.status != SliceStatus::Done {
            continue;
        }
        let newest = import.find_newest(&slice.slice_id);
        let accepted = newest.is_some_and(|record| record.kind == SliceRecordType::Accepted);
        let what = if accepted {
            "came in done and was accepted elsewhere; its evidence must be anchored again"
        } else {
            slice.status = SliceStatus::Planned;
            "came in done with no record that it was accepted, and is planned again"
        };
        next.ledger.remarks.push(Remark {
            slice_id: slice.slice_id.clone(),
            code: Code::SliceImported.id().to_owned(),
            what: what.to_owned(),
        });
    }
    if let Some(active) = &import.active {
        next.active = active.clone();
        next.active.mission_anchor = anchor.to_owned();
    }
    if let Some(id) = next.active.slice_id.clone() {
        let newest = import
            .find_newest(&id)
            .filter(|record| record.kind != SliceRecordType::Reopened);
        let entry = next.ledger.slices.entry(id).or_default();
        entry.basis = next
            .active
            .handoff
            .as_ref()
            .map(|handoff| handoff.basis_commit.clone());
        if next.active.status == ActiveStatus::Committed {
            entry.head = newest.map(|record| record.commit_sha.clone());
            entry.claimed = entry.head.iter().cloned().collect();
        }
    }
    let is_brought = is_brought_plan(next, import);
    if !is_brought {
        let from = match &import.path {
            Some(path) => format!("the plan in `{path}`"),
            None => "the state that stood in `.agent/`".to_owned(),
        };
        let cause = format!("`cook init` took in {from}, and nobody has weighed it here");
        require_reground(next, cause);
    }
    next.ledger.assured.remarks_seen = is_brought.then_some(Count(0));
    if let Some(policy @ (Policy::Paused | Policy::Blocked | Policy::AwaitUserInput)) =
        import.policy
    {
        let what = match import.reason.as_str() {
            "" => "stopped before it was imported",
            reason => reason,
        };
        next.wait(policy, WaitingKind::Outside, what, "cook resume");
    }
}

/// Whether the plan was brought by the user and none of its slices was begun or claimed as done. Below `strict`,
/// no model has to weigh such a plan before its first slice is selected.
fn is_brought_plan(next: &Snapshot, import: &Import) -> bool {
    let mut slices = next.plan.candidate_slices.iter();
    import.path.is_some()
        && import.active.is_none()
        && import.policy.is_none()
        && !next.assurance().is_strict()
        && slices.all(|slice| slice.status == SliceStatus::Planned)
        && !import.tasks.values().any(|task| task.ticked)
}
