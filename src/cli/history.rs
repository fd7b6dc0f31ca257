//! `cook log`, `cook show`, `cook diff`.

use super::args::{DiffArgs, LogArgs, ShowArgs};
use super::{Answer, Context, answer};
use crate::view::{Change, DiffAnswer, EntryAnswer, LogAnswer, LogRow, WorktreeLog};
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::Snapshot;
use cook_os::clock::Clock;
use cook_store::store::{Meta, Store};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

fn row(meta: &Meta, undone: &[u64]) -> LogRow {
    LogRow {
        seq: meta.seq,
        operation: meta.commit.clone(),
        time: Clock::of_epoch(meta.epoch_seconds),
        event: meta.event.clone(),
        rule: meta.rule.clone(),
        actor: meta.actor.clone(),
        subject: meta.subject.clone(),
        undone: undone.contains(&meta.seq),
    }
}

fn rows(store: &Store, limit: usize) -> Result<Vec<LogRow>, Failure> {
    let undone = store.snapshot()?.undone.seqs;
    let mut rows = Vec::new();
    for meta in store.entries()?.take(limit) {
        rows.push(row(&meta?, &undone));
    }
    Ok(rows)
}

pub(super) fn log(context: &Context, args: &LogArgs) -> Answer {
    let workspace = context.workspace()?;
    let mut worktrees = Vec::new();
    if args.all_worktrees {
        for other in Store::all_worktrees(&workspace.place())? {
            let place = if other.here {
                "here"
            } else {
                "another worktree"
            };
            if let Some(store) = Store::open_other(workspace.place(), &other.id)? {
                worktrees.push(WorktreeLog {
                    id: other.id,
                    place: place.to_owned(),
                    transitions: rows(&store, args.limit)?,
                });
            }
        }
        worktrees.sort_by_key(|tree| tree.place != "here");
    } else {
        let store = workspace.store()?;
        worktrees.push(WorktreeLog {
            id: store.id().to_owned(),
            place: "here".to_owned(),
            transitions: rows(store, args.limit)?,
        });
    }
    answer(LogAnswer { worktrees })
}

pub(super) fn show(context: &Context, args: &ShowArgs) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let entry = store.entry(&args.operation)?;
    let before = match &entry.parent {
        Some(parent) => Some(store.entry(parent)?.snapshot),
        None => None,
    };
    answer(EntryAnswer {
        changes: changes(before.as_ref(), &entry.snapshot)?,
        seq: entry.seq,
        event: fields(&entry.event)?,
        facts: fields(&entry.facts)?,
        records: entry.records,
        operation: entry.commit,
        time: entry.time,
        rule: entry.rule,
        actor: format!("{:?}", entry.actor).to_lowercase(),
        subject: entry.subject,
    })
}

pub(super) fn diff(context: &Context, args: &DiffArgs) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let from = store.entry(&args.from)?;
    let to = store.entry(&args.to)?;
    answer(DiffAnswer {
        from: from.seq,
        to: to.seq,
        changes: changes(Some(&from.snapshot), &to.snapshot)?,
    })
}

fn value(of: &impl serde::Serialize) -> Result<Value, Failure> {
    fields(of)
}

/// The same value in another form.
fn fields<T: DeserializeOwned>(of: &impl serde::Serialize) -> Result<T, Failure> {
    serde_json::to_value(of)
        .and_then(serde_json::from_value)
        .map_err(|error| Failure::state(Code::LogUnreadable, error.to_string()))
}

/// Fields that differ between two snapshots, deepest place first named.
fn changes(before: Option<&Snapshot>, after: &Snapshot) -> Result<Vec<Change>, Failure> {
    let before = match before {
        Some(snapshot) => value(snapshot)?,
        None => Value::Object(serde_json::Map::new()),
    };
    let mut changes = Vec::new();
    compare("", Some(&before), Some(&value(after)?), &mut changes);
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
