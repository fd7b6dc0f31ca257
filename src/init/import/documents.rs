//! The old plan and the old slice cursor.

use super::fields::{Notes, Object, read_known, read_object};
use cook_protocol::diagnostic::Code;
use cook_protocol::model::{
    ActiveSlice, ActiveStatus, Evidence, Handoff, Plan, Priority, SchemaVersion, Slice,
};
use serde_json::{Value, json};

/// The plan; mission and revision are cook's to write.
pub(super) fn plan(value: Value, anchor: &str, notes: &mut Notes) -> Option<Plan> {
    let mut object = read_object(value, "plan.json", notes)?;
    let slices = match object.remove("candidate_slices") {
        Some(Value::Array(slices)) => slices,
        other => other.into_iter().collect(),
    };
    object.remove("revision");
    object.insert("schema_version".to_owned(), json!(SchemaVersion));
    object.insert("mission_anchor".to_owned(), json!(anchor));
    let defaults = json!({"plan_basis": "", "candidate_slices": []});
    let mut plan: Plan = read_known(object, defaults, "plan.json", notes).ok()?;
    let slices = slices.into_iter().enumerate();
    plan.candidate_slices = slices
        .filter_map(|(index, value)| slice(value, index, notes))
        .collect();
    Some(plan)
}

fn slice(value: Value, index: usize, notes: &mut Notes) -> Option<Slice> {
    let place = "plan.json#/candidate_slices";
    let mut object = read_object(value, place, notes)?;
    let Some(slice_id) = object.get("slice_id").cloned() else {
        let what = format!("entry {index} has no `slice_id` and was not taken in");
        notes.add(Code::DocumentInvalid, place, &what);
        return None;
    };
    if let Some(Value::Array(evidence)) = object.get_mut("evidence") {
        for value in evidence {
            *value = Value::String(tell_evidence(value));
        }
    }
    let mut defaults = json!(Slice::default());
    defaults["goal"] = slice_id;
    defaults["priority"] = json!(Priority::from(index as u64 + 1));
    let read = read_known(object, defaults.clone(), place, notes);
    match read {
        Ok(slice) => Some(slice),
        Err(what) => {
            let what = format!("entry {index} was not taken in: {what}");
            notes.add(Code::DocumentInvalid, place, &what);
            None
        }
    }
}

/// Evidence is a text until an event of cook's own has checked it.
fn tell_evidence(value: &Value) -> String {
    match serde_json::from_value(value.clone()) {
        Ok(Evidence::Record(record)) => format!("{}: {}", record.criterion, record.anchor),
        Ok(Evidence::Text(text)) => text,
        Err(_) => value.to_string(),
    }
}

/// The slice cursor, where it names a slice with an exact handoff, or none.
pub(super) fn active(value: Value, anchor: &str, notes: &mut Notes) -> Option<ActiveSlice> {
    let place = "active-slice.json";
    let mut object = read_object(value, place, notes)?;
    let mut active = ActiveSlice::idle(anchor);
    let status = object.remove("status");
    let status = status.and_then(|status| serde_json::from_value(status).ok());
    let Some(status) = status else {
        notes.add(
            Code::DocumentInvalid,
            place,
            "no known `status`; not taken in",
        );
        return None;
    };
    active.status = status;
    active.slice_id = take_text(&mut object, "slice_id");
    active.goal = take_text(&mut object, "goal");
    let contracts = object.remove("contract_ids");
    let contracts = contracts.and_then(|contracts| serde_json::from_value(contracts).ok());
    active.contract_ids = contracts.unwrap_or_default();
    for known in ["schema_version", "revision", "mission_anchor"] {
        object.remove(known);
    }
    let handoff = read_known::<Handoff>(object, Value::Null, place, notes).ok();
    if status == ActiveStatus::Idle {
        active.slice_id = None;
        active.goal = None;
    } else if active.slice_id.is_none() || active.goal.is_none() || handoff.is_none() {
        let what = "the exact handoff is incomplete; the slice cursor was not taken in";
        notes.add(Code::HandoffIncomplete, place, what);
        return None;
    } else {
        active.handoff = handoff;
    }
    Some(active)
}

fn take_text(object: &mut Object, name: &str) -> Option<String> {
    let text = object.remove(name)?.as_str()?.to_owned();
    (!text.is_empty()).then_some(text)
}
