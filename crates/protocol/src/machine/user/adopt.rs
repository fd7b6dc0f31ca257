//! What was changed outside becomes the log's, or goes.

use super::refusal;
use crate::diagnostic::{Code, Finding, Refusal, list_with_verb};
use crate::machine::due::require_reground;
use crate::machine::work::Work;
use crate::machine::{planning, wave};
use crate::model::{
    Plan, PlanBlock, PlannedSlice, Reground, ReportRecord, Role, Slice, SliceStatus, Submission,
};
use std::collections::BTreeMap;

/// An edited `plan.json`, when it is a legal successor of the log's.
pub(in crate::machine) fn adopt(work: &mut Work, plan: &Plan) -> Result<(), Refusal> {
    let block = Reground {
        plan: Some(PlanBlock {
            plan_basis: plan.plan_basis.clone(),
            candidate_slices: plan.candidate_slices.iter().map(as_planned).collect(),
            ..PlanBlock::default()
        }),
        ..Reground::default()
    };
    let merged = block
        .plan
        .as_ref()
        .map(|plan| planning::merge(work, plan, &block));
    if let Some(Err(refusal)) = merged {
        let finding = Finding::new(refusal.code, refusal.message.clone());
        return Err(Refusal::new(
            Code::AdoptIllegal,
            format!(
                "the edited plan cannot follow the plan of the log: {}",
                refusal.message
            ),
        )
        .with(vec![finding]));
    }
    for edited in &plan.candidate_slices {
        let Some(taken) = work.next.plan.slice(&edited.slice_id) else {
            continue;
        };
        let fields = cook_owned_differences(edited, taken);
        if !fields.is_empty() {
            return Err(Refusal::new(
                Code::AdoptIllegal,
                format!(
                    "slice `{}`: only cook sets {}",
                    edited.slice_id,
                    fields.join(", ")
                ),
            ));
        }
    }
    if plan.mission_anchor != work.before.plan.mission_anchor {
        return Err(
            Refusal::new(Code::AdoptIllegal, "the mission anchor was edited")
                .hint("run `cook plan refocus --mission TEXT`"),
        );
    }
    take_up_again(work, plan)?;
    let again = wave::take_back_answers(&mut work.next, &work.before.plan);
    wave::owe(&mut work.next.ledger.unanswered, again);
    work.displace = true;
    let changed = list_changed(work);
    let cause = format!("the user edited the plan, and `cook plan adopt` took that in: {changed}");
    require_reground(&mut work.next, cause);
    Ok(())
}

/// What the edit changed, by slice.
fn list_changed(work: &Work) -> String {
    let before = &work.before.plan;
    let slices = work.next.plan.candidate_slices.iter();
    let changed = slices.filter(|slice| before.slice(&slice.slice_id) != Some(slice));
    let named: Vec<String> = changed
        .map(|slice| format!("`{}`", slice.slice_id))
        .collect();
    match named.len() {
        0 => "no slice is another, but perhaps their order".to_owned(),
        1..=NAMED => format!("{} new or changed", list_with_verb(&named)),
        more => format!("{more} slices are new or changed"),
    }
}

/// Slices that are named.
const NAMED: usize = 10;

/// A done slice that the user's edit calls planned is taken up again; no other closed slice changes.
fn take_up_again(work: &mut Work, plan: &Plan) -> Result<(), Refusal> {
    let ignored = Code::PlanStatusIgnored;
    work.findings.retain(|finding| finding.code != ignored);
    let submission = user_submission(work);
    for edited in &plan.candidate_slices {
        let id = &edited.slice_id;
        let taken = work.next.plan.slice(id).map(|slice| slice.status);
        match (taken, edited.status) {
            (Some(SliceStatus::Done), SliceStatus::Planned) => {
                let why = "the user edited the plan".to_owned();
                work.reopen(id, vec![why], Some(&submission));
            }
            (Some(is), wanted) if is != wanted => {
                return Err(Refusal::new(
                    Code::AdoptIllegal,
                    format!("slice `{id}` is {} and stays it", is.id()),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The user's own edit, in the shape in which records name their source.
fn user_submission(work: &Work) -> Submission {
    Submission {
        report: ReportRecord {
            role: Role::Regrounder,
            fields: BTreeMap::new(),
            rubric: None,
        },
        report_sha256: String::new(),
        session: None,
        ticket: None,
        began_at: None,
        mission_anchor: work.before.state.mission_anchor.clone(),
        remaining_contract_ids: Vec::new(),
        worktree_clean: None,
    }
}

fn as_planned(slice: &Slice) -> PlannedSlice {
    PlannedSlice {
        slice_id: slice.slice_id.clone(),
        goal: slice.goal.clone(),
        acceptance_criteria: slice.acceptance_criteria.clone(),
        contract_ids: Some(slice.contract_ids.clone()),
        priority: slice.priority.clone(),
        status: Some(slice.status),
        why_now: slice.why_now.clone(),
        blocked_on: Some(slice.blocked_on.clone()),
        implementation_surfaces: Some(slice.implementation_surfaces.clone().unwrap_or_default()),
        verification_commands: Some(slice.verification_commands.clone().unwrap_or_default()),
        locked_notes: Some(slice.locked_notes.clone().unwrap_or_default()),
        reason: Some("the user edited the plan".to_owned()),
    }
}

fn cook_owned_differences(edited: &Slice, taken: &Slice) -> Vec<&'static str> {
    let mut fields = Vec::new();
    if edited.evidence != taken.evidence {
        fields.push("evidence");
    }
    if edited.must_fix_findings.as_deref().unwrap_or_default()
        != taken.must_fix_findings.as_deref().unwrap_or_default()
    {
        fields.push("must_fix_findings");
    }
    if edited.basis_commit != taken.basis_commit {
        fields.push("basis_commit");
    }
    if edited.remaining_contract_ids_before != taken.remaining_contract_ids_before
        || edited.release_blocker_count_before != taken.release_blocker_count_before
        || edited.high_value_gap_count_before != taken.high_value_gap_count_before
    {
        fields.push("the counts at selection");
    }
    fields
}

/// The workflow goes on on the branch that is checked out.
pub(in crate::machine) fn adopt_branch(work: &mut Work) -> Result<(), Refusal> {
    let branch = work.facts.head()?.branch.clone();
    if branch == work.before.ledger.branch {
        return Err(refusal("this branch is the workflow's already"));
    }
    let name = |branch: &Option<String>| {
        let name = branch.as_deref();
        name.map_or_else(|| "a detached HEAD".to_owned(), |name| format!("`{name}`"))
    };
    let cause = format!(
        "the user moved the work from {} to {} with `cook plan adopt --branch`",
        name(&work.before.ledger.branch),
        name(&branch)
    );
    work.next.ledger.branch = branch;
    require_reground(&mut work.next, cause);
    Ok(())
}

/// Puts back the log's version of every edited file.
pub(in crate::machine) fn restore(work: &mut Work) -> Result<(), Refusal> {
    if work.facts.outside_edits()?.is_empty() {
        return Err(refusal("nothing in `.agent/` differs from the log"));
    }
    work.displace = true;
    Ok(())
}
