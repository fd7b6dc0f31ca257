//! The old plan and the old slice cursor.

use super::fields::{Fields, Notes};
use cook_core::diagnostic::Code;
use cook_core::model::{
    ActiveSlice, ActiveStatus, Evidence, Handoff, Plan, Priority, SchemaVersion, Slice, SliceStatus,
};
use serde_json::Value;

/// The backlog. A slice keeps what it says; what it lacks is filled in with what
/// says least (no criteria, no contracts, its place in the list as its priority).
pub(super) fn plan(value: Value, anchor: &str, notes: &mut Notes) -> Option<Plan> {
    let mut fields = Fields::new(value, "plan.json", notes)?;
    fields.ignore(&["schema_version", "revision", "mission_anchor"]);
    let last_reground_at = fields.take_typed("last_reground_at");
    let plan_basis = fields.text("plan_basis").unwrap_or_default();
    let slices = fields.list("candidate_slices");
    fields.finish();
    let candidate_slices = slices
        .into_iter()
        .enumerate()
        .filter_map(|(index, value)| slice(value, index, notes))
        .collect();
    Some(Plan {
        schema_version: SchemaVersion,
        mission_anchor: anchor.to_owned(),
        last_reground_at,
        plan_basis,
        candidate_slices,
    })
}

fn slice(value: Value, index: usize, notes: &mut Notes) -> Option<Slice> {
    let mut fields = Fields::new(value, "plan.json#/candidate_slices", notes)?;
    let Some(slice_id) = fields.text("slice_id") else {
        let what = format!("entry {index} has no `slice_id` and was not taken in");
        fields.note(Code::DocumentInvalid, &what);
        return None;
    };
    let slice = Slice {
        goal: fields.text("goal").unwrap_or_else(|| slice_id.clone()),
        acceptance_criteria: fields.texts("acceptance_criteria").unwrap_or_default(),
        contract_ids: fields.texts("contract_ids").unwrap_or_default(),
        priority: fields
            .number("priority")
            .map_or_else(|| Priority::from(index as u64 + 1), Priority),
        status: fields.take_typed("status").unwrap_or(SliceStatus::Planned),
        why_now: fields.text("why_now").unwrap_or_default(),
        blocked_on: fields.texts("blocked_on").unwrap_or_default(),
        evidence: fields.list("evidence").into_iter().map(evidence).collect(),
        implementation_surfaces: fields.texts("implementation_surfaces"),
        verification_commands: fields.texts("verification_commands"),
        locked_notes: fields.texts("locked_notes"),
        must_fix_findings: fields.texts("must_fix_findings"),
        basis_commit: fields.text("basis_commit"),
        remaining_contract_ids_before: fields.texts("remaining_contract_ids_before"),
        release_blocker_count_before: fields.count("release_blocker_count_before"),
        high_value_gap_count_before: fields.count("high_value_gap_count_before"),
        // Nobody measured it here.
        slice_id,
    };
    fields.finish();
    Some(slice)
}

/// Evidence of elsewhere is text, whoever says that it was checked: nobody checked it here.
fn evidence(value: Value) -> Evidence {
    match serde_json::from_value::<Evidence>(value.clone()) {
        Ok(Evidence::Record(record)) => {
            Evidence::Text(format!("{}: {}", record.criterion, record.anchor))
        }
        Ok(text) => text,
        Err(_) => Evidence::Text(value.to_string()),
    }
}

/// The slice cursor. One that is not idle and lacks part of its handoff is not
/// taken in: nobody can tell what it was about, and the next re-ground selects anew.
pub(super) fn active(value: Value, anchor: &str, notes: &mut Notes) -> Option<ActiveSlice> {
    let mut fields = Fields::new(value, "active-slice.json", notes)?;
    fields.ignore(&["schema_version", "revision", "mission_anchor"]);
    let status: ActiveStatus = fields.take_typed("status").or_else(|| {
        fields.note(Code::DocumentInvalid, "no known `status`; not taken in");
        None
    })?;
    let mut active = ActiveSlice::idle(anchor);
    active.status = status;
    active.slice_id = fields.text("slice_id");
    active.goal = fields.text("goal");
    active.contract_ids = fields.texts("contract_ids").unwrap_or_default();
    let handoff = handoff(&mut fields);
    if status == ActiveStatus::Idle {
        active.slice_id = None;
        active.goal = None;
    } else if active.slice_id.is_none() || active.goal.is_none() || handoff.is_none() {
        let what = "the exact handoff is incomplete; the slice cursor was not taken in";
        fields.note(Code::HandoffIncomplete, what);
        return None;
    } else {
        active.handoff = handoff;
    }
    fields.finish();
    Some(active)
}

/// Every field is taken, so that none of them counts as unknown.
fn handoff(fields: &mut Fields<'_>) -> Option<Handoff> {
    let acceptance_criteria = fields.texts("acceptance_criteria");
    let priority = fields.number("priority");
    let why_now = fields.text("why_now");
    let blocked_on = fields.texts("blocked_on");
    let locked_notes = fields.texts("locked_notes");
    let must_fix_findings = fields.texts("must_fix_findings");
    let basis_commit = fields.text("basis_commit");
    let remaining_contract_ids_before = fields.texts("remaining_contract_ids_before");
    let release_blocker_count_before = fields.count("release_blocker_count_before");
    let high_value_gap_count_before = fields.count("high_value_gap_count_before");
    let implementation_surfaces = fields.texts("implementation_surfaces");
    let verification_commands = fields.texts("verification_commands");
    Some(Handoff {
        acceptance_criteria: acceptance_criteria?,
        priority: Priority(priority?),
        why_now: why_now?,
        blocked_on: blocked_on?,
        locked_notes: locked_notes?,
        must_fix_findings: must_fix_findings?,
        basis_commit: basis_commit?,
        remaining_contract_ids_before: remaining_contract_ids_before?,
        release_blocker_count_before: release_blocker_count_before?,
        high_value_gap_count_before: high_value_gap_count_before?,
        implementation_surfaces,
        verification_commands,
    })
}
