//! Which transition `cook init` leads to: the first one, a repair, or settings that the user takes in.

use super::caller;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding, list_with_verb};
use cook_core::model::{Event, Import, Profile, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// What a set-up found in the worktree.
pub(super) struct Found {
    pub mission: Option<String>,
    pub profile: Profile,
    pub import: Option<Box<Import>>,
}

/// The transition that init leads to, if there is anything to write down.
pub(super) fn make_event(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    found: Found,
    repaired: bool,
    user: bool,
    (lines, findings): (&mut Vec<String>, &mut Vec<Finding>),
) -> Result<Option<Event>, Failure> {
    let Found {
        mission,
        mut profile,
        import,
    } = found;
    let settings = workspace.repo.settings()?;
    let Some(snapshot) = snapshot else {
        let branch = workspace.repo.head()?.branch;
        return Ok(Some(Event::Bootstrapped {
            mission,
            profile,
            branch,
            settings: Some(settings),
            import,
        }));
    };
    let edited = list_edited(&snapshot.ledger.settings, &settings);
    let settings = Some(settings).filter(|_| !edited.is_empty());
    if settings.is_some() && !user {
        let what = format!(
            "{} not as the user left it; `cook init` in the user's own terminal, or `cook init --as-user` in a script of theirs, takes that in as the user's",
            list_with_verb(&edited)
        );
        findings.push(Finding::new(Code::ContractEdited, what));
    }
    let settings = settings.filter(|_| user);
    if settings.is_some() {
        lines.push(format!("took in {} as you left it", edited.join(", ")));
    }
    if profile != snapshot.profile && caller::agent_around().is_some() {
        findings.push(
            Finding::new(
                Code::ContractEdited,
                "the profile differs from the log's; only a person's `cook init` takes it in",
            )
            .at(".agent/profile.json"),
        );
        profile = snapshot.profile.clone();
    }
    let learned = snapshot.mission.is_empty() && mission.is_some();
    if !repaired && !learned && profile == snapshot.profile && settings.is_none() {
        return Ok(None);
    }
    let branch = snapshot.ledger.branch.clone();
    Ok(Some(Event::Bootstrapped {
        mission,
        profile,
        branch,
        settings,
        import: None,
    }))
}

/// The settings files that differ, came or went.
fn list_edited(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let files: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let edited = files
        .into_iter()
        .filter(|file| before.get(*file) != now.get(*file));
    edited.map(|file| format!("`{file}`")).collect()
}
