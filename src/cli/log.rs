//! `cook log`: the transitions, newest first; one of them; what changed between two.

use super::context::{Answer, Context, answer};
use super::event_summary::{find_accepted, summarize, summarize_taken};
use crate::view::{Page, Show, Tone};
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Lines, clean};
use cook_core::model::{Event, Receipt, Records, ReportRecord, RubricVerdict, Snapshot};
use cook_core::report::fields;
use cook_os::clock::Clock;
use cook_store::store::{Meta, Store, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Show one of them (a number, an id, `@` or `@-`), or what changed between two (`A..B`)
    #[arg(value_name = "ID", conflicts_with_all = ["limit", "all_worktrees"])]
    pub operation: Option<String>,
    /// At most this many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub limit: usize,
    /// The logs of all worktrees, removed ones among them
    #[arg(long)]
    pub all_worktrees: bool,
}

pub(super) fn log(context: &Context, args: &LogArgs) -> Answer {
    if let Some(operation) = &args.operation {
        return match operation.split_once("..") {
            Some((from, to)) => diff(context, from, if to.is_empty() { "@" } else { to }),
            None => show(context, operation),
        };
    }
    let workspace = context.workspace()?;
    let mut worktrees = Vec::new();
    if args.all_worktrees {
        for other in Store::all_worktrees(&workspace.place())? {
            let place = if other.here {
                "here"
            } else {
                "another worktree"
            };
            if let Some(store) = Store::open_other(workspace.place(), &other.id)? {
                worktrees.push(list_worktree(&store, other.id, place, args.limit)?);
            }
        }
        worktrees.sort_by_key(|tree| tree.place != "here");
    } else {
        let store = workspace.store()?;
        let id = store.id().to_owned();
        worktrees.push(list_worktree(store, id, "here", args.limit)?);
    }
    answer(LogAnswer { worktrees })
}

fn list_worktree(
    store: &Store,
    id: String,
    place: &str,
    limit: usize,
) -> Result<WorktreeLog, Failure> {
    // Transitions are numbered from 1 without gaps.
    let all = store.tip()?.map_or(0, |tip| tip.seq);
    let transitions = rows(store, limit)?;
    Ok(WorktreeLog {
        id,
        place: place.to_owned(),
        left_out: all.saturating_sub(transitions.len() as u64),
        transitions,
    })
}

fn rows(store: &Store, limit: usize) -> Result<Vec<LogRow>, Failure> {
    let undone = store.snapshot()?.undone.seqs;
    let mut rows = Vec::new();
    for meta in store.entries()?.take(limit) {
        let meta = meta?;
        let happened = store.event(&meta.commit);
        // What became of a slice that a report accepts, its event does not say.
        let accepted = happened.as_ref().ok().and_then(find_accepted);
        let entry = accepted.and_then(|_| store.entry(&meta.commit).ok());
        if let Some(entry) = entry {
            let summary = summarize_taken(&entry.event, &entry.records);
            rows.push(row(&meta, Ok(summary), &undone));
            continue;
        }
        let happened = happened.map(|event| match event {
            Event::Reviewed { .. } | Event::Audited { .. } => {
                format!("{}: {}", meta.subject, summarize(&event))
            }
            _ => summarize(&event),
        });
        rows.push(row(&meta, happened, &undone));
    }
    Ok(rows)
}

fn row(meta: &Meta, happened: Result<String, StoreError>, undone: &[u64]) -> LogRow {
    // A log that is damaged in one place is listed all the same.
    let summary = happened.unwrap_or_else(|error| format!("cannot be read: {error}"));
    LogRow {
        summary,
        seq: meta.seq,
        operation: meta.commit.clone(),
        time: Clock::of_epoch(meta.epoch_seconds),
        event: meta.event.clone(),
        rule: meta.rule.clone(),
        actor: meta.actor.clone(),
        subject: meta.subject.clone(),
        undone: undone.contains(&meta.seq),
    }
}

pub(super) fn show(context: &Context, operation: &str) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let entry = store.entry(operation)?;
    let before = match &entry.parent {
        Some(parent) => Some(store.entry(parent)?.snapshot),
        None => None,
    };
    answer(EntryAnswer {
        summary: summarize_taken(&entry.event, &entry.records),
        report: entry.event.submission().map(|from| from.report.clone()),
        head: entry
            .facts
            .head
            .as_ref()
            .and_then(|head| head.commit.clone()),
        gates: entry.receipts.iter().map(GateRun::of).collect(),
        changes: changes(before.as_ref(), &entry.snapshot)?,
        seq: entry.seq,
        event: to_fields(&entry.event)?,
        facts: to_fields(&entry.facts)?,
        records: entry.records,
        operation: entry.commit,
        time: entry.time,
        rule: entry.rule,
        actor: format!("{:?}", entry.actor).to_lowercase(),
        subject: entry.subject,
    })
}

pub(super) fn diff(context: &Context, from: &str, to: &str) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let from = store.entry(from)?;
    let to = store.entry(to)?;
    answer(DiffAnswer {
        from: from.seq,
        to: to.seq,
        changes: changes(Some(&from.snapshot), &to.snapshot)?,
    })
}

/// The same value in another form.
pub(super) fn to_fields<T: DeserializeOwned>(of: &impl serde::Serialize) -> Result<T, Failure> {
    serde_json::to_value(of)
        .and_then(serde_json::from_value)
        .map_err(|error| Failure::state(Code::LogUnreadable, error.to_string()))
}

/// Fields that differ between two snapshots, deepest place first named.
pub(super) fn changes(before: Option<&Snapshot>, after: &Snapshot) -> Result<Vec<Change>, Failure> {
    let before = match before {
        Some(snapshot) => to_fields(snapshot)?,
        None => Value::Object(serde_json::Map::new()),
    };
    let mut changes = Vec::new();
    compare("", Some(&before), Some(&to_fields(after)?), &mut changes);
    Ok(changes)
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    if before == after {
        return;
    }
    let join = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match (before, after) {
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            let keys: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
            for key in keys {
                compare(&join(key), one.get(key), two.get(key), changes);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) => {
            for index in 0..one.len().max(two.len()) {
                compare(
                    &format!("{path}[{index}]"),
                    one.get(index),
                    two.get(index),
                    changes,
                );
            }
        }
        _ => changes.push(Change {
            path: path.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

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
