//! `cook log A..B`: what changed between two transitions.

use super::context::{Answer, Context, answer};
use crate::view::{Change, DiffAnswer};
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::Snapshot;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn diff(context: &Context, from: &str, to: &str) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let from = store.entry(from)?;
    let to = store.entry(to)?;
    answer(DiffAnswer {
        from: from.seq,
        to: to.seq,
        changes: changes(Some(&from.snapshot), &to.snapshot)?,
    })
}

/// The same value in another form.
pub(super) fn fields<T: DeserializeOwned>(of: &impl serde::Serialize) -> Result<T, Failure> {
    serde_json::to_value(of)
        .and_then(serde_json::from_value)
        .map_err(|error| Failure::state(Code::LogUnreadable, error.to_string()))
}

/// Fields that differ between two snapshots, deepest place first named.
pub(super) fn changes(before: Option<&Snapshot>, after: &Snapshot) -> Result<Vec<Change>, Failure> {
    let before = match before {
        Some(snapshot) => fields(snapshot)?,
        None => Value::Object(serde_json::Map::new()),
    };
    let mut changes = Vec::new();
    compare("", Some(&before), Some(&fields(after)?), &mut changes);
    Ok(changes)
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    if before == after {
        return;
    }
    let join = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match (before, after) {
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            let keys: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
            for key in keys {
                compare(&join(key), one.get(key), two.get(key), changes);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) => {
            for index in 0..one.len().max(two.len()) {
                compare(
                    &format!("{path}[{index}]"),
                    one.get(index),
                    two.get(index),
                    changes,
                );
            }
        }
        _ => changes.push(Change {
            path: path.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}
