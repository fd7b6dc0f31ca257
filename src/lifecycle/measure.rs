//! Measures what an event is judged by: the fast facts always, the slower ones
//! when [`cook_hooks::wants`] asks for them.

use super::issues::key;
use super::tracker::{Tracker, Wanted};
use crate::service::{self, Workspace};
use crate::tracker::list_issues;
use cook_core::diagnostic::Failure;
use cook_core::machine::{Dispatch, Head, Rule};
use cook_core::model::{ActiveStatus, Checkpoint, Role, Snapshot};
use cook_hooks::{CHECKPOINTS, Due, Item, Recovery, Workflow, ago, first_line};
use cook_os::clock::Clock;
use cook_os::disk::{self, Links};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// How much of a transcript's end is read.
const TRANSCRIPT: u64 = 64 << 10;
/// Entries of the trail that are looked through.
pub(super) const LOOK_BACK: usize = 2_000;

/// The slice in work.
pub(super) fn find_slice_in_work(snapshot: &Snapshot) -> Option<&str> {
    let in_work = matches!(
        snapshot.active.status,
        ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
    );
    snapshot.active.slice_id.as_deref().filter(|_| in_work)
}

/// The workflow as the log has it.
pub(super) fn workflow(snapshot: &Snapshot, head: &Head) -> Workflow {
    let state = &snapshot.state;
    let role = state.next_mandatory_role.0;
    let proofs: usize = snapshot
        .plan
        .candidate_slices
        .iter()
        .map(|s| s.evidence.len())
        .sum();
    let handoff = snapshot.active.handoff.as_ref();
    Workflow {
        policy: state.continuation_policy,
        role,
        slice: find_slice_in_work(snapshot).map(str::to_owned),
        surfaces: handoff
            .and_then(|handoff| handoff.implementation_surfaces.clone())
            .unwrap_or_default(),
        progress: format!(
            "{} {} {} {} {proofs}",
            head.commit.as_deref().unwrap_or("unborn"),
            state.continuation_policy,
            role.map_or("none", Role::id),
            snapshot.counters.steps.0,
        ),
    }
}

/// Who is due now.
///
/// # Errors
/// As [`service::dispatch_now`].
pub(super) fn due(workspace: &Workspace, snapshot: &Snapshot) -> Result<(Due, Dispatch), Failure> {
    let (dispatch, _) = service::dispatch_now(workspace, Some(snapshot))?;
    let due = Due {
        policy: dispatch.policy,
        role: dispatch.role,
        action: dispatch.action.clone(),
        command: command(&dispatch),
    };
    Ok((due, dispatch))
}

/// The exact next command.
pub fn command(dispatch: &Dispatch) -> String {
    match (&dispatch.blocking_command, dispatch.role, dispatch.rule) {
        (Some(command), _, _) => command.clone(),
        (None, None, _) => "cook status".to_owned(),
        (None, Some(Role::Bootstrapper), _) | (None, Some(_), Rule::Bootstrap) => {
            "cook init".to_owned()
        }
        (None, Some(role), _) => format!(
            "cook next --prompt --take, do what it says, then cook record {} REPORT",
            role.short()
        ),
    }
}

/// The rules, most important first: at most 600 bytes with their heading.
pub(super) fn rules() -> Vec<String> {
    [
        "Agents report, cook decides: `cook next` names the one role that is due, `cook record ROLE REPORT` hands its report in.",
        "Keep progress where it survives: `cook brief checkpoint 'DONE: …; NEXT: …'` after each step.",
        "`cook brief` shows what earlier sessions established, with proof.",
        "Put `Cook-Slice: ID` at the end of each commit message; commit small.",
        "Files under `.agent/` are cook's: read them, never edit them.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Everything the recovery message shows. `claimed` is the issue that the session
/// claimed; `kept` are entries of a worktree without a workflow.
///
/// # Errors
/// A repository or a log that cannot be read.
pub(super) fn recovery(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    tracker: Option<&dyn Tracker>,
    claimed: Option<&str>,
    kept: Vec<Checkpoint>,
) -> Result<Recovery, Failure> {
    let mut recovery = Recovery {
        rules: rules(),
        ..Recovery::default()
    };
    if let Some(snapshot) = snapshot {
        let (due, dispatch) = due(workspace, snapshot)?;
        recovery.role = match due.role {
            Some(role) => format!("{role} is due (rule {}): {}", dispatch.rule, due.action),
            None => format!("Nobody is due ({}): {}", due.policy, dispatch.reason),
        };
        recovery.command = due.command;
        recovery.item = item(snapshot);
    } else {
        recovery.role = "No workflow is set up here; the issue tracker has the work.".to_owned();
        recovery.command = "cook issue ready".to_owned();
    }
    let mut entries = match &workspace.store {
        Some(store) => store.checkpoints(LOOK_BACK)?.entries,
        None => kept,
    };
    if let Some(tracker) = tracker {
        let carried = snapshot.and_then(find_carried);
        ask_tracker(tracker, carried, claimed, &mut recovery, &mut entries);
    }
    let now = workspace.clock.now();
    recovery.checkpoints = recovery
        .item
        .as_ref()
        .map(|item| read_trail(&entries, &item.id, &now))
        .unwrap_or_default();
    let status = workspace.repo.status()?.worktree;
    recovery.uncommitted = status.dirty;
    recovery.uncommitted_more = status.more;
    Ok(recovery)
}

/// The issue whose comments belong to the slice in work.
fn find_carried(snapshot: &Snapshot) -> Option<&str> {
    let slice = snapshot.plan.slice(find_slice_in_work(snapshot)?)?;
    list_issues(slice).next()
}

/// The tracker's issue comes before the slice when the session claimed it, and
/// stands in for one when there is none; the issue that the slice carries adds what
/// is kept with it.
fn ask_tracker(
    tracker: &dyn Tracker,
    carried: Option<&str>,
    claimed: Option<&str>,
    recovery: &mut Recovery,
    entries: &mut Vec<Checkpoint>,
) {
    let wanted = match (claimed, &recovery.item, carried) {
        (Some(claimed), ..) => Wanted::Claimed(claimed),
        (None, Some(_), Some(carried)) => Wanted::Carried(carried),
        (None, Some(_), None) => return,
        (None, None, _) => Wanted::Any,
    };
    let mut picture = tracker.picture(wanted);
    if let (Wanted::Carried(_), Some(slice)) = (wanted, &recovery.item) {
        for entry in &mut picture.trail {
            entry.item = Some(slice.id.clone());
        }
    }
    merge(entries, picture.trail);
    if picture.item.is_some() {
        recovery.item = picture.item;
    }
    recovery.ready = picture.ready;
    recovery.notes.extend(picture.notes);
}

/// One entry per key, in the order of their times.
fn merge(entries: &mut Vec<Checkpoint>, more: Vec<Checkpoint>) {
    let known: BTreeSet<String> = entries.iter().map(|entry| key(&entry.id)).collect();
    entries.extend(more.into_iter().filter(|entry| !known.contains(&entry.id)));
    entries.sort_by_key(|entry| Clock::parse_seconds(&entry.at.display()));
}

/// The newest entries of one item, oldest first, with how long ago they were.
fn read_trail(entries: &[Checkpoint], item: &str, now: &str) -> Vec<(String, String)> {
    let now = Clock::parse_seconds(now).unwrap_or_default();
    let mut shown: Vec<(String, String)> = entries
        .iter()
        .rev()
        .filter(|entry| entry.item.as_deref() == Some(item))
        .take(CHECKPOINTS)
        .map(|entry| {
            let at = Clock::parse_seconds(&entry.at.display()).unwrap_or(now);
            (ago(now - at), entry.text.clone())
        })
        .collect();
    shown.reverse();
    shown
}

/// The slice in work, as the message shows it.
fn item(snapshot: &Snapshot) -> Option<Item> {
    let id = find_slice_in_work(snapshot)?;
    let slice = snapshot.plan.slice(id)?;
    let waits = |other: &&cook_core::model::Slice| other.blocked_on.iter().any(|entry| entry == id);
    Some(Item {
        id: id.to_owned(),
        title: slice.goal.clone(),
        status: snapshot.active.status.id().to_owned(),
        kind: "slice".to_owned(),
        priority: slice.priority.rank().to_string(),
        parent: None,
        unblocks: snapshot
            .plan
            .open_slices()
            .filter(waits)
            .map(|other| format!("{} — {}", other.slice_id, other.goal))
            .collect(),
        others: 0,
        is_issue: false,
    })
}

/// First line of the assistant's last message in a transcript of JSON lines.
pub(super) fn last_line(path: &Path) -> Option<String> {
    let mut file = disk::open_regular(path, Links::Follow).ok()??;
    let bytes = disk::read_tail(&mut file, TRANSCRIPT).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|entry| assistant_text(&entry))
        .and_then(|text| first_line(&text))
}

/// The text of an assistant's message, in the layouts that were seen.
fn assistant_text(entry: &Value) -> Option<String> {
    let message = match (&entry["message"], &entry["payload"]) {
        (Value::Object(_), _) => &entry["message"],
        (_, Value::Object(_)) => &entry["payload"],
        _ => entry,
    };
    let says = |value: &Value| {
        ["assistant", "model", "gemini"]
            .iter()
            .any(|word| value == word)
    };
    if !says(&entry["type"]) && !says(&message["role"]) {
        return None;
    }
    let content = match &message["content"] {
        Value::Null => &message["parts"],
        content => content,
    };
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => parts
            .iter()
            .find_map(|part| part["text"].as_str())
            .map(str::to_owned),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}
