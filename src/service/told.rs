//! What reports told that no document holds any more: deviations and risks of slices that are closed,
//! blockers that a later report cleared, what `cook undo` took back with a re-ground.

use super::past::{Passed, Past};
use cook_protocol::diagnostic::{Lines, clean, without_attribution};
use cook_protocol::model::{Event, Role, Snapshot};
use cook_protocol::prompt::cut;
use cook_protocol::report::{list_items, return_reason};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is named of each kind, and bytes of each.
const NAMED: usize = 20;
const WHAT: usize = 400;

const DEVIATIONS: &str = "canonical_blockers_or_deviations";
const HANDOFF: &str = "exact_handoff_payload";

/// Adds what whoever judges the whole reads of it; a regrounder reads what was taken back, the rest
/// stands in its own parts.
pub(super) fn list_told(text: &mut String, snapshot: &Snapshot, past: &Past, role: Role) {
    let of_regrounds = list_deviations(past, role);
    if role != Role::Regrounder {
        let title =
            "what implementers told of the plan and of risks (judge whether each is settled):";
        add(text, title, &list_remarks(snapshot, past));
    }
    let title = "what re-grounds told as blockers or deviations (judge whether each is settled):";
    add(text, title, &of_regrounds);
    let title = "what re-grounds named as missing and what became of it:";
    add(text, title, &list_cleared(snapshot, past));
}

fn add(text: &mut String, title: &str, newest: &[String]) {
    if newest.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}");
    for line in newest.iter().take(NAMED) {
        let _ = writeln!(text, "  {line}");
    }
    if newest.len() > NAMED {
        let more = newest.len() - NAMED;
        let _ = writeln!(
            text,
            "  and {more} before them (`cook log` lists the reports, `cook log N` shows one)"
        );
    }
}

/// A role's words, and what shows the rest of them.
fn words(what: &str, seq: u64) -> String {
    let what = without_attribution(&clean(what, Lines::Fold));
    cut(&what, WHAT, &format!("`cook log {seq}` shows the whole"))
}

/// By slice, newest first; the one in work stands in a part of its own.
fn list_remarks(snapshot: &Snapshot, past: &Past) -> Vec<String> {
    let mut lines = Vec::new();
    let mut seen = Vec::new();
    for passed in past.events.iter().rev() {
        let Some(submission) = passed.event.submission() else {
            continue;
        };
        let report = &submission.report;
        let (Role::Implementer, Some(said)) = (report.role, return_reason(report)) else {
            continue;
        };
        let id = report.fields.get("slice_id").cloned().unwrap_or_default();
        let is_earlier = past.is_of_earlier_mission(passed.seq);
        let is_in_work = snapshot.find_slice_in_work() == Some(id.as_str()) && !is_earlier;
        let key = (id, said);
        if is_in_work || seen.contains(&key) {
            continue;
        }
        let (id, said) = &key;
        let status = snapshot.plan.slice(id).map(|slice| slice.status.id());
        let status = match (is_earlier, status) {
            (true, _) => "of an earlier mission",
            (false, Some(status)) => status,
            (false, None) => "no more in the plan",
        };
        lines.push(format!(
            "slice {} ({status}), in {}{}: {}",
            clean(id, Lines::Fold),
            passed.seq,
            mark_undone(past, passed.seq),
            words(said, passed.seq)
        ));
        seen.push(key);
    }
    lines
}

fn mark_undone(past: &Past, seq: u64) -> &'static str {
    match past.is_undone(seq) {
        true => " (taken back with `cook undo`)",
        false => "",
    }
}

/// Newest first. What the last re-ground tells stands in an auditor's prompt as its advice; a regrounder
/// is told those that stand in no report that counts.
fn list_deviations(past: &Past, role: Role) -> Vec<String> {
    let is_reground = |passed: &&Passed| {
        matches!(passed.event, Event::Regrounded { .. }) && !past.is_undone(passed.seq)
    };
    let last = past.events.iter().rev().find(is_reground);
    let last = last
        .map(|passed| passed.seq)
        .filter(|_| role == Role::Auditor);
    let mut lines = Vec::new();
    let mut seen = Vec::new();
    for passed in past.events.iter().rev() {
        let Event::Regrounded { submission, .. } = &passed.event else {
            continue;
        };
        for item in list_items(&submission.report, DEVIATIONS) {
            if seen.contains(&item) {
                continue;
            }
            let is_wanted = role != Role::Regrounder || past.is_undone(passed.seq);
            if is_wanted && last != Some(passed.seq) {
                lines.push(format!(
                    "in {}{}: {}",
                    passed.seq,
                    mark_undone(past, passed.seq),
                    words(&item, passed.seq)
                ));
            }
            seen.push(item);
        }
    }
    lines
}

/// A blocker or a gap, by what it says.
type Names = BTreeMap<(&'static str, String), u64>;

/// What was named and is not any more, newest first: by whom it was cleared, and why.
fn list_cleared(snapshot: &Snapshot, past: &Past) -> Vec<String> {
    let mut named = Names::new();
    let mut cleared: Vec<((&'static str, String), String)> = Vec::new();
    for passed in &past.events {
        let seq = passed.seq;
        let before = named.clone();
        let by = match &passed.event {
            Event::Regrounded { block, submission } => {
                take(&mut named, BLOCKER, block.release_blocker_ids.as_ref(), seq);
                take(&mut named, GAP, block.high_value_gaps.as_ref(), seq);
                let why = list_items(&submission.report, HANDOFF).join("; ");
                match why.is_empty() {
                    true => format!("the re-ground {seq}, which says nothing of why"),
                    false => format!("the re-ground {seq}, which says: {}", words(&why, seq)),
                }
            }
            Event::RegroundedByCook { block, .. } => {
                take(&mut named, BLOCKER, block.release_blocker_ids.as_ref(), seq);
                take(&mut named, GAP, block.high_value_gaps.as_ref(), seq);
                format!("cook itself in {seq}")
            }
            Event::Refocused { .. } => {
                named.clear();
                format!("the user with `cook plan refocus` in {seq}")
            }
            Event::Undone { to, .. } => {
                take(
                    &mut named,
                    BLOCKER,
                    Some(&to.state.release_blocker_ids),
                    seq,
                );
                take(&mut named, GAP, Some(&to.ledger.high_value_gaps), seq);
                format!("the user with `cook undo` in {seq}")
            }
            _ => continue,
        };
        for (name, at) in before.iter().filter(|(name, _)| !named.contains_key(*name)) {
            let (kind, what) = name;
            let line = format!(
                "{kind} `{}`, named in {at}, was cleared by {by}",
                words(what, *at)
            );
            // What was cleared again was named again.
            cleared.retain(|(before, _)| before != name);
            cleared.push((name.clone(), line));
        }
    }
    let stands = |(kind, what): &(&str, String)| match *kind {
        BLOCKER => snapshot.state.release_blocker_ids.contains(what),
        _ => snapshot.ledger.high_value_gaps.contains(what),
    };
    let gone = cleared.into_iter().rev().filter(|(name, _)| !stands(name));
    gone.map(|(_, line)| line).collect()
}

const BLOCKER: &str = "release blocker";
const GAP: &str = "high-value gap";

/// A list that is given takes the place of the one before.
fn take(named: &mut Names, kind: &'static str, given: Option<&Vec<String>>, seq: u64) {
    let Some(given) = given else { return };
    named.retain(|(of, what), _| *of != kind || given.contains(what));
    for what in given {
        named.entry((kind, what.clone())).or_insert(seq);
    }
}
