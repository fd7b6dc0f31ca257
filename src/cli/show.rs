//! `cook log ID`: one transition.

use super::context::{Answer, Context, answer};
use super::diff::{changes, fields};
use crate::view::{EntryAnswer, GateRun, summarize_taken};

pub(super) fn show(context: &Context, operation: &str) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let entry = store.entry(operation)?;
    let before = match &entry.parent {
        Some(parent) => Some(store.entry(parent)?.snapshot),
        None => None,
    };
    answer(EntryAnswer {
        summary: summarize_taken(&entry.event, &entry.records),
        report: entry.event.submission().map(|from| from.report.clone()),
        head: entry
            .facts
            .head
            .as_ref()
            .and_then(|head| head.commit.clone()),
        gates: entry.receipts.iter().map(GateRun::of).collect(),
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
