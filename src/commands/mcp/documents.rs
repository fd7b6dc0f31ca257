//! The resources: what the log and the repository hold, for reading.

use super::super::context::Context;
use crate::service::{self, DEFAULT_BYTES};
use cook_protocol::diagnostic::{Code, Failure};
use cook_repo::disk::{self, Links};
use rmcp::model::{Resource, ResourceContents};
use serde::Serialize;
use serde_json::json;

/// Bytes of a mission that are read.
const MAX_MISSION: u64 = 1 << 20;

/// URI, name, media type, what it is.
const DOCUMENTS: [(&str, &str, &str, &str); 4] = [
    (
        "cook://mission",
        "mission",
        "text/markdown",
        "What the project is to become, in the user's words",
    ),
    (
        "cook://plan",
        "plan",
        "application/json",
        "The plan as the log holds it: slices, their order and where they stand",
    ),
    (
        "cook://criteria",
        "criteria",
        "application/json",
        "The acceptance criteria of every slice, with the evidence that they have",
    ),
    (
        "cook://brief",
        "brief",
        "text/markdown",
        "What the next session must know",
    ),
];

/// As they are listed.
pub(super) fn list() -> Vec<Resource> {
    let listed = DOCUMENTS.iter().map(|(uri, name, kind, says)| {
        Resource::new(*uri, *name)
            .with_description(*says)
            .with_mime_type(*kind)
    });
    listed.collect()
}

/// One of them; none when there is none of that URI.
pub(super) fn read(context: &Context, uri: &str) -> Result<Option<ResourceContents>, Failure> {
    let Some((uri, name, kind, _)) = DOCUMENTS.iter().find(|(known, ..)| *known == uri) else {
        return Ok(None);
    };
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let text = match *name {
        "mission" => {
            let path = workspace.repo.root().join(".agent/mission.md");
            let text = disk::read_text(&path, MAX_MISSION, Links::Refuse);
            text.map_err(|error| {
                let what = "`.agent/mission.md` cannot be read";
                Failure::state(Code::InputUnreadable, what).with_cause(&error)
            })?
            .unwrap_or_default()
        }
        "plan" => pretty(&snapshot.plan),
        "criteria" => {
            let slices = snapshot.plan.candidate_slices.iter().map(|slice| {
                json!({
                    "slice_id": slice.slice_id,
                    "status": slice.status,
                    "acceptance_criteria": slice.acceptance_criteria,
                    "evidence": slice.evidence,
                })
            });
            pretty(&slices.collect::<Vec<_>>())
        }
        _ => {
            service::assemble(&workspace)?
                .within(Some(DEFAULT_BYTES))
                .text
        }
    };
    Ok(Some(
        ResourceContents::text(text, *uri).with_mime_type(*kind),
    ))
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
