//! `cook demo`: where the repository is, and who was caught at what.

use super::next::dispatch_json;
use super::{Page, Show, Tone, count};
use crate::demo::{Catch, Told};
use cook_core::machine::quoted;
use serde_json::{Value, json};
use std::time::Duration;

/// What a demonstration came to.
#[derive(Debug)]
pub struct DemoAnswer(pub Told);

impl DemoAnswer {
    /// The commands that look at what it left.
    fn commands(&self) -> [String; 4] {
        [
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
        let catches: Vec<Value> = told
            .catches
            .iter()
            .map(|catch| {
                json!({
                    "role": catch.role.id(),
                    "did": catch.did,
                    "code": catch.code,
                    "seq": catch.seq,
                    "noticed": catch.noticed,
                    "kept": catch.kept,
                })
            })
            .collect();
        json!({
            "schema_version": 1,
            "directory": told.root.display().to_string(),
            "culprit": told.culprit.map(|culprit| culprit.id()),
            "caught": catches,
            "sessions": told.outcome.sessions,
            "milliseconds": u64::try_from(told.took.as_millis()).unwrap_or(u64::MAX),
            "commands": self.commands(),
            "next": dispatch_json(&told.outcome.next, Some(&told.snapshot), &told.head, None),
        })
    }
}

fn caught(page: &mut Page, catch: &Catch) {
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
