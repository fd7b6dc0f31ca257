//! `cook log`: the transitions, newest first.

use super::context::{Answer, Context, answer};
use super::diff::diff;
use super::show::show;
use crate::view::{LogAnswer, LogRow, WorktreeLog, find_accepted, summarize, summarize_taken};
use clap::Args;
use cook_core::diagnostic::Failure;
use cook_core::model::Event;
use cook_os::clock::Clock;
use cook_store::store::{Meta, Store, StoreError};

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Show one of them (a number, an id, `@` or `@-`), or what changed between two (`A..B`)
    #[arg(value_name = "ID", conflicts_with_all = ["limit", "all_worktrees"])]
    pub operation: Option<String>,
    /// At most this many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub limit: usize,
    /// The logs of all worktrees, removed ones among them
    #[arg(long)]
    pub all_worktrees: bool,
}

pub(super) fn log(context: &Context, args: &LogArgs) -> Answer {
    if let Some(operation) = &args.operation {
        return match operation.split_once("..") {
            Some((from, to)) => diff(context, from, if to.is_empty() { "@" } else { to }),
            None => show(context, operation),
        };
    }
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
                worktrees.push(list_worktree(&store, other.id, place, args.limit)?);
            }
        }
        worktrees.sort_by_key(|tree| tree.place != "here");
    } else {
        let store = workspace.store()?;
        let id = store.id().to_owned();
        worktrees.push(list_worktree(store, id, "here", args.limit)?);
    }
    answer(LogAnswer { worktrees })
}

fn list_worktree(
    store: &Store,
    id: String,
    place: &str,
    limit: usize,
) -> Result<WorktreeLog, Failure> {
    // Transitions are numbered from 1 without gaps.
    let all = store.tip()?.map_or(0, |tip| tip.seq);
    let transitions = rows(store, limit)?;
    Ok(WorktreeLog {
        id,
        place: place.to_owned(),
        left_out: all.saturating_sub(transitions.len() as u64),
        transitions,
    })
}

fn rows(store: &Store, limit: usize) -> Result<Vec<LogRow>, Failure> {
    let undone = store.snapshot()?.undone.seqs;
    let mut rows = Vec::new();
    for meta in store.entries()?.take(limit) {
        let meta = meta?;
        let happened = store.event(&meta.commit);
        // What became of a slice that a report accepts, its event does not say.
        let accepted = happened.as_ref().ok().and_then(find_accepted);
        let entry = accepted.and_then(|_| store.entry(&meta.commit).ok());
        if let Some(entry) = entry {
            let summary = summarize_taken(&entry.event, &entry.records);
            rows.push(row(&meta, Ok(summary), &undone));
            continue;
        }
        let happened = happened.map(|event| match event {
            Event::Reviewed { .. } | Event::Audited { .. } => {
                format!("{}: {}", meta.subject, summarize(&event))
            }
            _ => summarize(&event),
        });
        rows.push(row(&meta, happened, &undone));
    }
    Ok(rows)
}

fn row(meta: &Meta, happened: Result<String, StoreError>, undone: &[u64]) -> LogRow {
    // A log that is damaged in one place is listed all the same.
    let summary = happened.unwrap_or_else(|error| format!("cannot be read: {error}"));
    LogRow {
        summary,
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
