//! The mission that a workflow begins with.

use super::caller;
use super::context::Context;
use crate::scaffold;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::model::Snapshot;
use std::io::{BufRead, Read};

/// Bytes of an answer that are read.
const MAX_LINE: u64 = 64 << 10;

/// Where the repository states it.
const MISSION: &str = ".agent/mission.md";

/// The mission: the log's, else what is given, else what the repository says.
pub(super) fn find_mission(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    given: Option<String>,
    lines: &mut Vec<String>,
) -> Result<Option<String>, Failure> {
    if let Some(snapshot) = snapshot.filter(|snapshot| !snapshot.mission.is_empty()) {
        return Ok(Some(snapshot.mission.clone()));
    }
    let found = scaffold::find_mission(workspace.repo.root())?;
    if let Some(given) = given {
        let file = found.filter(|found| found.source == MISSION);
        return match file.is_some_and(|file| file.text.trim() != given.trim()) {
            true => Err(Refusal::new(
                Code::DoesNotApply,
                format!("`{MISSION}` states another mission"),
            )
            .hint(format!(
                "run `cook init` to take that one, or change `{MISSION}` first"
            ))
            .into()),
            false => Ok(Some(given)),
        };
    }
    if let Some(found) = &found {
        lines.push(format!("mission taken from {}", found.source));
    }
    Ok(found.map(|found| found.text))
}

/// Asks a person for the mission, where nothing states it.
pub(super) fn ask(context: &Context, workspace: &Workspace) -> Result<Option<String>, Failure> {
    let (_, snapshot) = workspace.current()?;
    let is_known = snapshot.is_some_and(|snapshot| !snapshot.mission.is_empty())
        || scaffold::find_mission(workspace.repo.root())?.is_some();
    if is_known || context.screen.json || !caller::is_attended() {
        return Ok(None);
    }
    context.screen.note(
        "What is this repository to become? Say it in a line; an empty one leaves it for later.",
    );
    let mut line = String::new();
    let read = std::io::stdin().lock().take(MAX_LINE).read_line(&mut line);
    let said = read.map(|_| line.trim().to_owned()).unwrap_or_default();
    Ok(Some(said).filter(|said| !said.is_empty()))
}
