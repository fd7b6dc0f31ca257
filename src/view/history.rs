//! `cook log`, `show`, `diff`, `rescue`: what happened, and what was set aside.

use super::{Page, Show, Tone};
use cook_core::diagnostic::{Lines, clean};
use serde_json::{Value, json};

/// One row of `cook log`.
#[derive(Debug)]
pub struct LogRow {
    /// Log sequence.
    pub seq: u64,
    /// Log commit.
    pub operation: String,
    /// When, RFC 3339.
    pub time: String,
    /// The event's name.
    pub event: String,
    /// The rule that answered before it.
    pub rule: String,
    /// Who caused it.
    pub actor: String,
    /// Slice or mission.
    pub subject: String,
    /// Its records no longer count.
    pub undone: bool,
}

/// The transitions of one worktree.
#[derive(Debug)]
pub struct LogAnswer {
    /// By worktree id; the current one first, with a word on where it is.
    pub worktrees: Vec<(String, String, Vec<LogRow>)>,
}

impl Show for LogAnswer {
    fn human(&self, page: &mut Page) {
        for (id, place, rows) in &self.worktrees {
            if self.worktrees.len() > 1 {
                page.toned(Tone::Strong, &format!("worktree {id} ({place})"));
                page.newline();
            }
            for row in rows {
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

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "worktrees": self.worktrees.iter().map(|(id, place, rows)| json!({
                "id": id,
                "place": place,
                "transitions": rows.iter().map(|row| json!({
                    "seq": row.seq,
                    "operation": row.operation,
                    "time": row.time,
                    "event": row.event,
                    "rule": row.rule,
                    "actor": row.actor,
                    "subject": row.subject,
                    "undone": row.undone,
                })).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    }
}

/// One transition, in full.
#[derive(Debug)]
pub struct EntryAnswer {
    /// Its row.
    pub row: LogRow,
    /// `event.json` without the facts.
    pub event: Value,
    /// The facts it was judged by.
    pub facts: Value,
    /// Records it appended.
    pub records: Value,
    /// What it changed in the documents.
    pub changes: Vec<Change>,
}

/// One field that differs.
#[derive(Debug)]
pub struct Change {
    /// `state.continuation_policy`, `plan.candidate_slices[0].status`, …
    pub path: String,
    /// Before; none = absent.
    pub before: Option<Value>,
    /// After; none = absent.
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
        page.toned(Tone::Strong, &format!("  {}", change.path));
        page.newline();
        page.toned(
            Tone::Bad,
            &format!("    - {}", short(change.before.as_ref())),
        );
        page.newline();
        page.toned(
            Tone::Good,
            &format!("    + {}", short(change.after.as_ref())),
        );
        page.newline();
    }
}

fn changes_json(changes: &[Change]) -> Value {
    changes
        .iter()
        .map(|change| json!({"path": change.path, "before": change.before, "after": change.after}))
        .collect()
}

/// What an event carries beside its name; what it leaves open is left out.
fn brought(event: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let is_open = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    event
        .as_object()
        .into_iter()
        .flatten()
        .map(|(field, value)| (field.as_str(), value))
        .filter(move |(field, value)| *field != "event" && !is_open(value))
}

impl Show for EntryAnswer {
    fn human(&self, page: &mut Page) {
        page.toned(
            Tone::Strong,
            &format!("#{} {}", self.row.seq, self.row.event),
        );
        page.newline();
        page.row("operation", &self.row.operation);
        page.row("time", &self.row.time);
        page.row("rule", &self.row.rule);
        page.row("actor", &self.row.actor);
        page.row("subject", &self.row.subject);
        for (field, value) in brought(&self.event) {
            page.row(field, &short(Some(value)));
        }
        page.line("changed:");
        change_lines(page, &self.changes);
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "seq": self.row.seq,
            "operation": self.row.operation,
            "time": self.row.time,
            "rule": self.row.rule,
            "actor": self.row.actor,
            "subject": self.row.subject,
            "event": self.event,
            "facts": self.facts,
            "records": self.records,
            "changes": changes_json(&self.changes),
        })
    }
}

/// What lies between two transitions.
#[derive(Debug)]
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

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "from": self.from,
            "to": self.to,
            "changes": changes_json(&self.changes),
        })
    }
}

/// One kept copy: id, kind, when, files with their sizes.
pub type RescueRow = (String, String, String, Vec<(String, u64)>);

/// A file of a copy that was set aside.
#[derive(Debug)]
pub struct RescuedFile {
    /// The copy.
    pub id: String,
    /// Its path there.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// What it holds; none = no text.
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

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "id": self.id,
            "path": self.path,
            "bytes": self.bytes,
            "text": self.text,
        })
    }
}

/// Copies that were set aside.
#[derive(Debug)]
pub struct RescueAnswer {
    /// Newest last.
    pub copies: Vec<RescueRow>,
    /// Refs in the user's repository that hold commits which were taken back, or parked
    /// changes: name and object.
    pub refs: Vec<(String, String)>,
}

impl Show for RescueAnswer {
    fn human(&self, page: &mut Page) {
        if self.copies.is_empty() && self.refs.is_empty() {
            page.line("nothing was set aside");
        }
        for (id, kind, time, files) in &self.copies {
            page.toned(Tone::Strong, id);
            page.line(&format!("  {kind}  {time}"));
            for (file, size) in files {
                page.line(&format!("    {file}  {size} bytes"));
            }
        }
        for (name, object) in &self.refs {
            page.toned(Tone::Strong, name);
            page.line(&format!("  {object:.12}  `git show {name}` shows it"));
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "refs": self.refs.iter().map(|(name, object)| json!({"name": name, "object": object})).collect::<Vec<_>>(),
            "copies": self.copies.iter().map(|(id, kind, time, files)| json!({
                "id": id,
                "kind": kind,
                "time": time,
                "files": files.iter().map(|(file, size)| json!({"path": file, "bytes": size})).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    }
}
