//! Words that a prompt shows otherwise than they stand, and a report gives back as it saw them.

use crate::diagnostic::without_tags;
use crate::model::{Event, Snapshot};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Mission, ids, goals, criteria, notes, paths and commands in an event as the documents have them: what a role read
/// without tags it names without tags. The report itself stays what was handed in.
pub fn in_own_words(event: &Event, snapshot: &Snapshot) -> Event {
    let slices = snapshot.plan.candidate_slices.iter();
    let texts = slices.flat_map(|slice| {
        let notes = slice.locked_notes.iter().flatten();
        let own = std::iter::once(&slice.goal).chain(&slice.acceptance_criteria);
        let paths = slice.implementation_surfaces.iter().flatten();
        let commands = slice.verification_commands.iter().flatten();
        own.chain(notes)
            .chain(&slice.contract_ids)
            .chain(paths)
            .chain(commands)
    });
    let state = &snapshot.state;
    let known = std::iter::once(&state.mission_anchor)
        .chain(&state.unsatisfied_contract_ids)
        .chain(&state.release_blocker_ids)
        .chain(&snapshot.ledger.high_value_gaps)
        .chain(texts);
    let known: BTreeSet<&String> = known.collect();
    // Of two that are shown alike each is meant by its own words.
    let own: BTreeMap<String, &String> = known
        .iter()
        .map(|text| (without_tags(text), *text))
        .filter(|(shown, _)| !known.contains(shown))
        .collect();
    if own.is_empty() {
        return event.clone();
    }
    let replaced = serde_json::to_value(event).map(|mut value| {
        replace(&mut value, &own);
        serde_json::from_value(value)
    });
    match replaced {
        Ok(Ok(event)) => event,
        _ => event.clone(),
    }
}

fn replace(value: &mut Value, own: &BTreeMap<String, &String>) {
    match value {
        Value::String(text) => {
            if let Some(known) = own.get(text) {
                text.clone_from(known);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, own)),
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(key, _)| *key != "report")
            .for_each(|(_, item)| replace(item, own)),
        _ => {}
    }
}
