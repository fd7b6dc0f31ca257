//! `cook demo`: where the repository is, and who was caught at what.

use super::next::Dispatched;
use super::{Page, Show, Tone, count, to_json};
use crate::demo::{CaughtViolation, Culprit, Told};
use cook_core::machine::quoted;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// What `cook demo` answers when the work was done and the culprit, if any, was caught.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Demonstrated<'a> {
    /// The repository, which stays.
    directory: String,
    /// Who misbehaved; null when nobody did.
    culprit: Option<Culprit>,
    /// What it did, in order.
    caught: &'a [CaughtViolation],
    /// Sessions that were held.
    sessions: u64,
    /// Wall time of the sessions.
    milliseconds: u64,
    /// Commands that look at what it left.
    commands: Vec<String>,
    next: Dispatched<'a>,
}

/// What a demonstration came to.
#[derive(Debug)]
pub struct DemoAnswer(pub Told);

impl DemoAnswer {
    /// The commands that look at what it left.
    fn commands(&self) -> Vec<String> {
        vec![
            format!("cd {}", quoted(&self.0.root.display().to_string())),
            "cook status".to_owned(),
            "cook log".to_owned(),
            "cook verify --strict".to_owned(),
        ]
    }

    fn outcome(&self) -> String {
        let millis = u64::try_from(self.0.took.as_millis()).unwrap_or(u64::MAX);
        format!(
            "done at {}, after {} in {}",
            self.0
                .head
                .commit
                .as_deref()
                .map_or("no commit", |commit| commit.get(..12).unwrap_or(commit)),
            count(self.0.outcome.sessions as usize, "session"),
            humantime::format_duration(Duration::from_millis(millis)),
        )
    }
}

impl Show for DemoAnswer {
    fn human(&self, page: &mut Page) {
        page.row("ended", &self.outcome());
        for catch in &self.0.catches {
            caught(page, catch);
        }
        page.row("left in", &self.0.root.display().to_string());
        page.line("look at it:");
        for command in self.commands() {
            page.line(&format!("  {command}"));
        }
    }

    fn json(&self) -> Value {
        let told = &self.0;
        to_json(&Demonstrated {
            directory: told.root.display().to_string(),
            culprit: told.culprit,
            caught: &told.catches,
            sessions: told.outcome.sessions,
            milliseconds: u64::try_from(told.took.as_millis()).unwrap_or(u64::MAX),
            commands: self.commands(),
            next: Dispatched::of(&told.outcome.next, Some(&told.snapshot), &told.head, None),
        })
    }
}

fn caught(page: &mut Page, catch: &CaughtViolation) {
    page.toned(Tone::Good, "caught");
    page.line(&format!("     the {} {}", catch.role.short(), catch.did));
    page.line(&format!(
        "           in the log as #{}, {}",
        catch.seq, catch.code
    ));
    for noticed in &catch.noticed {
        page.line(&format!("           noticed: {noticed}"));
    }
    for kept in &catch.kept {
        let command = match kept.strip_prefix("refs/") {
            Some(_) => format!("git show {kept}"),
            None => format!("cook rescue show {kept}"),
        };
        page.line(&format!("           kept: `{command}`"));
    }
}
