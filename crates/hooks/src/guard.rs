//! What a role may not do, told before the tool runs. Pure.

use super::event::{Action, Tool};
use super::facts::Situation;
use super::recovery::data;
use super::shell::{segments, tracker_word};
use cook_core::model::{CONTRACT_FILES, Policy, Role, SETTINGS_FILES, surface_matches};

/// Why the call is refused; none = it may run. `role` is none where no role binds
/// the session.
pub(super) fn refusal(role: Option<Role>, tool: &Tool, facts: &Situation) -> Option<String> {
    match tool.action {
        Action::Edit => role.and_then(|role| edit(role, facts)),
        Action::Shell => {
            let line = tool.command.as_deref().unwrap_or_default();
            role.and_then(|role| commit(role, line).or_else(|| edit(role, facts)))
                .or_else(|| close(line, facts))
        }
        Action::Other => None,
    }
}

fn edit(role: Role, facts: &Situation) -> Option<String> {
    if role.is_read_only()
        && let Some(path) = facts.tracked.first()
    {
        return Some(format!(
            "cook: {role} is due, and it changes no tracked file: `{}` stays as it is. {}",
            data(path, 200),
            way_out(role)
        ));
    }
    let surfaces = facts
        .workflow
        .as_ref()
        .map(|workflow| workflow.surfaces.as_slice())
        .unwrap_or_default();
    let ours = facts.paths.iter().find(|path| {
        is_cooks(path)
            && !surfaces
                .iter()
                .any(|surface| surface_matches(surface, path))
    })?;
    Some(format!(
        "cook: `{}` is written by cook alone. Hand what you know in with `cook record {}`, or keep it with `cook brief checkpoint`.",
        data(ours, 200),
        role.short()
    ))
}

/// The state of the work, and its contract.
fn is_cooks(path: &str) -> bool {
    const STATE: [&str; 7] = [
        ".agent/state.json",
        ".agent/plan.json",
        ".agent/active-slice.json",
        ".agent/verification-evidence.json",
        ".agent/slice-history.jsonl",
        ".agent/stop-check-history.jsonl",
        ".agent/checkpoints.jsonl",
    ];
    STATE.contains(&path) || CONTRACT_FILES.contains(&path) || SETTINGS_FILES.contains(&path)
}

fn commit(role: Role, line: &str) -> Option<String> {
    let writes = role.is_read_only() && segments(line).iter().any(|s| s.writes_history());
    writes.then(|| {
        format!(
            "cook: {role} is due, and it commits nothing and moves no branch. {}",
            way_out(role)
        )
    })
}

fn way_out(role: Role) -> String {
    format!(
        "Hand its report in with `cook record {}`; `cook next` says what it needs, `cook pause` suspends the work.",
        role.short()
    )
}

/// Closing an issue while what it did is not committed.
fn close(line: &str, facts: &Situation) -> Option<String> {
    let stopped = facts
        .workflow
        .as_ref()
        .is_some_and(|workflow| workflow.policy != Policy::Continue);
    let dirty = facts
        .dirty
        .as_ref()
        .filter(|dirty| !dirty.is_empty() && !stopped)?;
    let segment = segments(line)
        .into_iter()
        .find(|segment| tracker_word(segment) == Some("close"))?;
    let shown: Vec<String> = dirty.iter().take(5).map(|path| data(path, 100)).collect();
    let more = match dirty.len().saturating_sub(shown.len()) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(format!(
        "cook: commit first, then run `{} close`: {}{more} {} not committed.",
        segment.program,
        shown.join(", "),
        if dirty.len() == 1 { "is" } else { "are" }
    ))
}
