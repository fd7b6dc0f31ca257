//! `cook log`, `show`, `diff`, `rescue`: what happened, and what was set aside.

use super::{Page, Show, Tone};
use cook_core::diagnostic::{Lines, clean};
use cook_core::model::Records;
use serde::Serialize;
use serde_json::{Map, Value};

/// One row of `cook log`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogRow {
    /// Log sequence.
    pub seq: u64,
    /// Log commit.
    pub operation: String,
    /// RFC 3339, UTC.
    pub time: String,
    /// What happened.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = cook_core::model::Event::NAMES)))]
    pub event: String,
    /// The rule that answered before it.
    #[cfg_attr(feature = "schema", schemars(with = "cook_core::machine::Rule"))]
    pub rule: String,
    /// Who caused it; a script is one that said `--as-user`.
    #[cfg_attr(feature = "schema", schemars(with = "cook_core::model::Actor"))]
    pub actor: String,
    /// Slice or mission.
    pub subject: String,
    /// Its records no longer count.
    pub undone: bool,
}

/// The transitions of each workflow, newest first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogAnswer {
    /// The current one first.
    pub worktrees: Vec<WorktreeLog>,
}

/// The transitions of one worktree.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeLog {
    /// Its id.
    pub id: String,
    /// A word on where it is.
    pub place: String,
    /// Newest first.
    pub transitions: Vec<LogRow>,
}

impl Show for LogAnswer {
    fn human(&self, page: &mut Page) {
        for WorktreeLog {
            id,
            place,
            transitions,
        } in &self.worktrees
        {
            if self.worktrees.len() > 1 {
                page.toned_line(Tone::Strong, &format!("worktree {id} ({place})"));
            }
            for row in transitions {
                page.toned(Tone::Strong, &format!("#{:<4}", row.seq));
                page.toned(
                    Tone::Dim,
                    &format!(
                        " {} {} ",
                        &row.operation.get(..12).unwrap_or(&row.operation),
                        row.time
                    ),
                );
                let undone = if row.undone { "  (taken back)" } else { "" };
                page.line(&format!(
                    "{:<17} rule {} by {:<7} {}{undone}",
                    row.event, row.rule, row.actor, row.subject
                ));
            }
        }
    }
}

/// One transition in full.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryAnswer {
    /// Log sequence.
    pub seq: u64,
    /// Log commit.
    pub operation: String,
    /// RFC 3339, UTC.
    pub time: String,
    /// The rule that answered before it.
    #[cfg_attr(feature = "schema", schemars(with = "cook_core::machine::Rule"))]
    pub rule: String,
    /// Who caused it; a script is one that said `--as-user`.
    #[cfg_attr(feature = "schema", schemars(with = "cook_core::model::Actor"))]
    pub actor: String,
    /// Slice or mission.
    pub subject: String,
    /// The event with all it carries.
    #[cfg_attr(feature = "schema", schemars(extend("required" = ["event"])))]
    pub event: Map<String, Value>,
    /// What was measured for it.
    pub facts: Map<String, Value>,
    /// History records it added.
    pub records: Records,
    /// What it changed in the documents.
    pub changes: Vec<Change>,
}

/// One field that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Document, field and place, joined with dots.
    pub path: String,
    /// The value before; null when there was none.
    pub before: Option<Value>,
    /// The value after; null when there is none.
    pub after: Option<Value>,
}

fn short(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "(absent)".to_owned();
    };
    let text = value.to_string();
    if text.chars().count() > 120 {
        let head: String = text.chars().take(117).collect();
        format!("{head}…")
    } else {
        text
    }
}

fn change_lines(page: &mut Page, changes: &[Change]) {
    for change in changes {
        page.toned_line(Tone::Strong, &format!("  {}", change.path));
        page.toned_line(
            Tone::Bad,
            &format!("    - {}", short(change.before.as_ref())),
        );
        page.toned_line(
            Tone::Good,
            &format!("    + {}", short(change.after.as_ref())),
        );
    }
}

/// What an event carries beside its name; what it leaves open is left out.
fn list_fields(event: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let is_open = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    event
        .iter()
        .map(|(field, value)| (field.as_str(), value))
        .filter(move |(field, value)| *field != "event" && !is_open(value))
}

impl EntryAnswer {
    fn event_name(&self) -> &str {
        self.event
            .get("event")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

impl Show for EntryAnswer {
    fn human(&self, page: &mut Page) {
        page.toned_line(
            Tone::Strong,
            &format!("#{} {}", self.seq, self.event_name()),
        );
        page.row("operation", &self.operation);
        page.row("time", &self.time);
        page.row("rule", &self.rule);
        page.row("actor", &self.actor);
        page.row("subject", &self.subject);
        for (field, value) in list_fields(&self.event) {
            page.row(field, &short(Some(value)));
        }
        page.line("changed:");
        change_lines(page, &self.changes);
    }
}

/// What lies between two transitions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffAnswer {
    /// The earlier one.
    pub from: u64,
    /// The later one.
    pub to: u64,
    /// Fields that differ.
    pub changes: Vec<Change>,
}

impl Show for DiffAnswer {
    fn human(&self, page: &mut Page) {
        if self.changes.is_empty() {
            page.line(&format!(
                "#{} and #{} hold the same documents",
                self.from, self.to
            ));
        }
        change_lines(page, &self.changes);
    }
}

/// A file of a copy that was set aside.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RescuedFile {
    /// The copy.
    pub id: String,
    /// Its path there.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// What it holds; null where it is no text.
    pub text: Option<String>,
}

impl Show for RescuedFile {
    fn human(&self, page: &mut Page) {
        match &self.text {
            Some(text) => page.verbatim(&clean(text, Lines::Keep)),
            None => page.line(&format!(
                "{} bytes that are not text; `cook rescue restore {} --to DIR` writes them",
                self.bytes, self.id
            )),
        }
    }
}

/// Copies that were set aside.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RescueAnswer {
    /// Newest last.
    pub copies: Vec<RescueRow>,
    /// Refs that hold commits which were taken back, or parked changes.
    pub refs: Vec<RescueRef>,
}

/// One kept copy.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RescueRow {
    /// Its id.
    pub id: String,
    /// What was set aside, and why.
    pub kind: String,
    /// When.
    pub time: String,
    /// What it holds.
    pub files: Vec<RescueFile>,
}

/// A file of a kept copy.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RescueFile {
    /// Its path there.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

/// A ref of the user's repository, or of the log.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RescueRef {
    /// Its name.
    pub name: String,
    /// What it points at.
    pub object: String,
    /// What shows it.
    pub shown_by: String,
}

impl Show for RescueAnswer {
    fn human(&self, page: &mut Page) {
        if self.copies.is_empty() && self.refs.is_empty() {
            page.line("nothing was set aside");
        }
        for copy in &self.copies {
            page.toned(Tone::Strong, &copy.id);
            page.line(&format!("  {}  {}", copy.kind, copy.time));
            for file in &copy.files {
                page.line(&format!("    {}  {} bytes", file.path, file.bytes));
            }
        }
        for kept in &self.refs {
            page.toned(Tone::Strong, &kept.name);
            let (object, shown_by) = (&kept.object, &kept.shown_by);
            page.line(&format!("  {object:.12}  `{shown_by}` shows it"));
        }
    }
}
