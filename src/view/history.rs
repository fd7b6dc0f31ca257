//! `cook log`, `show`, `diff`, `rescue`: what happened, and what was set aside.

use super::{Page, Show, Tone};
use cook_core::diagnostic::{Lines, clean};
use cook_core::model::{Receipt, Records, ReportRecord, RubricVerdict};
use cook_core::report::fields;
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
    /// What was asked, found, voted or answered, in a sentence.
    pub summary: String,
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
    /// Older ones that are not listed.
    #[serde(skip)]
    pub left_out: u64,
}

/// Characters of a sentence in the list; `cook log ID` has it whole.
const SUMMARY_CHARS: usize = 100;

fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

impl Show for LogAnswer {
    fn human(&self, page: &mut Page) {
        for WorktreeLog {
            id,
            place,
            transitions,
            left_out,
        } in &self.worktrees
        {
            if self.worktrees.len() > 1 {
                page.add_toned_line(Tone::Strong, &format!("worktree {id} ({place})"));
            }
            for row in transitions {
                page.add_toned(Tone::Strong, &format!("#{:<4}", row.seq));
                page.add_toned(Tone::Dim, &format!(" {} ", row.time));
                let undone = if row.undone { "  (taken back)" } else { "" };
                // A role's report is the rule; who else caused it is said.
                let by = match row.actor.as_str() {
                    "role" => String::new(),
                    actor => format!(" by {actor}"),
                };
                let what = cut(&clean(&row.summary, Lines::Fold), SUMMARY_CHARS);
                page.line(&format!("{}{by}: {what}{undone}", row.event));
            }
            if *left_out > 0 {
                let all = transitions.len() as u64 + left_out;
                let text = format!("{left_out} older not shown: `cook log -n {all}` lists all");
                page.add_toned_line(Tone::Dim, &text);
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
    /// What was asked, found, voted or answered, in a sentence.
    pub summary: String,
    /// The report that came with it.
    #[serde(skip)]
    pub report: Option<ReportRecord>,
    /// HEAD as it was measured.
    #[serde(skip)]
    pub head: Option<String>,
    /// The gates that ran for it.
    #[serde(skip)]
    pub gates: Vec<GateRun>,
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
    value.map_or("(absent)".to_owned(), |value| cut(&value.to_string(), 120))
}

fn change_lines(page: &mut Page, changes: &[Change]) {
    for change in changes {
        page.add_toned_line(Tone::Strong, &format!("  {}", change.path));
        page.add_toned_line(
            Tone::Bad,
            &format!("    - {}", short(change.before.as_ref())),
        );
        page.add_toned_line(
            Tone::Good,
            &format!("    + {}", short(change.after.as_ref())),
        );
    }
}

/// A gate that ran for a transition.
#[derive(Debug)]
pub struct GateRun {
    command: String,
    exit_code: Option<i32>,
    timed_out: bool,
    milliseconds: u64,
}

impl GateRun {
    /// What its receipt says.
    pub fn of(receipt: &Receipt) -> Self {
        Self {
            command: receipt.command.clone(),
            exit_code: receipt.exit_code,
            timed_out: receipt.timed_out,
            milliseconds: receipt.duration_ms.0,
        }
    }

    fn line(&self, page: &mut Page) {
        let (tone, ended) = match (self.exit_code, self.timed_out) {
            (_, true) => (Tone::Bad, "ended at its timeout".to_owned()),
            (Some(0), _) => (Tone::Good, "green".to_owned()),
            (Some(code), _) => (Tone::Bad, format!("red, exit {code}")),
            (None, _) => (Tone::Bad, "ended by a signal".to_owned()),
        };
        let seconds = self.milliseconds as f64 / 1e3;
        page.text("  ");
        page.add_toned(tone, &ended);
        page.line(&format!(
            " in {seconds:.1} s  {}",
            clean(&self.command, Lines::Fold)
        ));
    }
}

impl EntryAnswer {
    fn event_name(&self) -> &str {
        self.event
            .get("event")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn report_lines(&self, page: &mut Page, report: &ReportRecord) {
        page.newline();
        page.add_toned_line(
            Tone::Strong,
            &format!("the {}'s report", report.role.short()),
        );
        let mut say = |label: &str, text: &str| {
            page.add_toned(Tone::Dim, &format!("  {label}: "));
            page.line(&clean(text, Lines::Fold));
        };
        for field in fields(report.role) {
            if let Some(text) = report.fields.get(field.key) {
                say(field.label, text);
            }
        }
        for (key, entry) in report.rubric.iter().flatten() {
            let verdict = match entry.verdict {
                RubricVerdict::Pass => "pass",
                RubricVerdict::Concern => "concern",
                RubricVerdict::Fail => "fail",
            };
            say(&key.replace('_', " "), &format!("{verdict}: {}", entry.why));
        }
    }
}

impl Show for EntryAnswer {
    fn human(&self, page: &mut Page) {
        page.add_toned(
            Tone::Strong,
            &format!("#{} {}", self.seq, self.event_name()),
        );
        let head = self.head.as_deref().unwrap_or("no commit");
        page.line(&format!(
            " by {} at {}, under rule {}, on {}, HEAD {head:.12}",
            self.actor, self.time, self.rule, self.subject
        ));
        page.line(&self.summary);
        if let Some(report) = &self.report {
            self.report_lines(page, report);
        }
        if !self.gates.is_empty() {
            page.newline();
            page.add_toned_line(Tone::Strong, "gates that cook ran");
            self.gates.iter().for_each(|gate| gate.line(page));
        }
        page.newline();
        page.add_toned_line(
            Tone::Dim,
            &format!(
                "log commit {}; what it changed in the documents: `cook log {}..{}`; all of it: \
                 `cook log {} --json`",
                self.operation,
                self.seq.saturating_sub(1),
                self.seq,
                self.seq
            ),
        );
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
                "{} bytes that are not text; `cook doctor rescue restore {} --to DIR` writes them",
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
            page.add_toned(Tone::Strong, &copy.id);
            page.line(&format!("  {}  {}", copy.kind, copy.time));
            for file in &copy.files {
                page.line(&format!("    {}  {} bytes", file.path, file.bytes));
            }
        }
        for kept in &self.refs {
            page.add_toned(Tone::Strong, &kept.name);
            let (object, shown_by) = (&kept.object, &kept.shown_by);
            page.line(&format!("  {object:.12}  `{shown_by}` shows it"));
        }
    }
}
