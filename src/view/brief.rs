//! `cook brief` and its commands.

use super::page::{Page, Tone};
use super::{Exit, Show, count};
use crate::walk::CheckedAnchor;
use cook_core::brief::Filled;
use cook_core::diagnostic::Finding;
use cook_core::model::{BriefRecord, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An entry as it is listed.
#[derive(Debug)]
pub struct ShownEntry {
    /// Its id.
    pub id: String,
    /// Its list.
    pub slot: &'static str,
    /// Who added it.
    pub by: String,
    /// The entry as it is rendered.
    pub text: String,
}

impl From<&Filled> for ShownEntry {
    fn from(entry: &Filled) -> Self {
        Self {
            id: entry.id.clone(),
            slot: entry.line.slot().id(),
            by: entry.by.clone(),
            text: cook_core::brief::line_text(&entry.line),
        }
    }
}

fn entries_json(entries: &[ShownEntry]) -> Value {
    let one = |entry: &ShownEntry| json!({"id": entry.id, "slot": entry.slot, "by": entry.by, "text": entry.text});
    entries.iter().map(one).collect()
}

/// A rendered brief: the same bytes wherever it is shown.
#[derive(Debug)]
pub struct BriefAnswer {
    /// The rendering; no trailing newline.
    pub text: String,
    /// How many entries did not fit.
    pub left_out: usize,
    /// Every entry, those that did not fit among them.
    pub entries: Vec<ShownEntry>,
    /// The file it was written into.
    pub written: Option<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for BriefAnswer {
    fn human(&self, page: &mut Page) {
        // Its fields hold nothing hidden; not even a change of tone may come in between.
        page.verbatim(&self.text);
        page.newline();
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "text": self.text,
            "left_out": self.left_out,
            "entries": entries_json(&self.entries),
            "written": self.written,
            "findings": self.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// `cook brief --ids`.
#[derive(Debug)]
pub struct BriefIdsAnswer(pub BriefAnswer);

impl Show for BriefIdsAnswer {
    fn human(&self, page: &mut Page) {
        for entry in &self.0.entries {
            page.toned(Tone::Strong, &entry.id);
            page.line(&format!(
                "  {:<11} {:<11} {}",
                entry.slot, entry.by, entry.text
            ));
        }
        if self.0.entries.is_empty() {
            page.line("the brief has no entries");
        }
    }

    fn json(&self) -> Value {
        self.0.json()
    }

    fn findings(&self) -> &[Finding] {
        self.0.findings()
    }
}

/// `cook brief export`: the artifact itself.
#[derive(Debug)]
pub struct ArtifactAnswer(pub Value);

impl Show for ArtifactAnswer {
    fn human(&self, page: &mut Page) {
        page.json(&self.0);
    }

    fn json(&self) -> Value {
        self.0.clone()
    }
}

/// A change of the brief, or a message.
#[derive(Debug)]
pub struct BriefChangeAnswer {
    /// The log commit; none when nothing had to change.
    pub operation: Option<String>,
    /// Log sequence.
    pub seq: u64,
    /// What the history gained.
    pub records: Vec<BriefRecord>,
    /// One line that says what was done.
    pub summary: String,
    /// The file that follows the brief, when it was written.
    pub written: Option<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for BriefChangeAnswer {
    fn human(&self, page: &mut Page) {
        match &self.operation {
            Some(_) => page.toned(Tone::Good, &format!("recorded #{}", self.seq)),
            None => page.toned(Tone::Dim, "nothing to record"),
        }
        page.line(&format!("  {}", self.summary));
        for record in &self.records {
            let kind = json!(record.kind);
            let kind = kind.as_str().unwrap_or_default();
            page.line(&format!("  {kind:<10} {}  {}", record.id, record.text));
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "recorded": self.operation.is_some(),
            "operation": self.operation,
            "seq": self.seq,
            "summary": self.summary,
            "records": self.records,
            "written": self.written,
            "findings": self.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// `cook brief check`.
#[derive(Debug)]
pub struct BriefCheckAnswer(pub Vec<CheckedAnchor>);

impl BriefCheckAnswer {
    fn required(&self) -> impl Iterator<Item = &CheckedAnchor> {
        self.0.iter().filter(|anchor| anchor.required)
    }

    fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for anchor in &self.0 {
            *counts.entry(anchor.verdict.id()).or_default() += 1;
        }
        counts
    }

    /// No anchor is lost, and when there are any, one at least could be checked.
    fn holds(&self) -> bool {
        let lost = |anchor: &CheckedAnchor| {
            matches!(
                anchor.verdict,
                Verdict::Changed | Verdict::Missing | Verdict::Malformed
            )
        };
        let checked = |anchor: &CheckedAnchor| anchor.verdict != Verdict::Unverifiable;
        let none = self.required().next().is_none();
        none || (!self.required().any(lost) && self.required().any(checked))
    }
}

impl Show for BriefCheckAnswer {
    fn human(&self, page: &mut Page) {
        for anchor in &self.0 {
            let tone = match anchor.verdict {
                Verdict::Verified => Tone::Good,
                Verdict::Moved | Verdict::Stale | Verdict::Unverifiable => Tone::Warn,
                Verdict::Changed | Verdict::Missing | Verdict::Malformed => Tone::Bad,
            };
            page.toned(tone, &format!("{:<12}", anchor.verdict.id()));
            let now = match &anchor.now {
                Some(now) => format!(" → {now}"),
                None => String::new(),
            };
            let free = if anchor.required { "" } else { " (mentioned)" };
            page.line(&format!(
                " {}  {}{now}: {}{free}",
                anchor.id, anchor.anchor, anchor.why
            ));
        }
        let counts = self.counts();
        let counts: Vec<String> = counts
            .iter()
            .map(|(word, number)| format!("{number} {word}"))
            .collect();
        match (self.0.len(), self.holds()) {
            (0, _) => page.line("the brief has no anchors"),
            (number, true) => page.line(&format!(
                "{}: {}",
                count(number, "anchor"),
                counts.join(", ")
            )),
            (number, false) => {
                let what = format!("{}: {}", count(number, "anchor"), counts.join(", "));
                page.toned(Tone::Bad, "does not hold");
                page.line(&format!("  {what}"));
            }
        }
    }

    fn json(&self) -> Value {
        let anchors: Vec<Value> = self
            .0
            .iter()
            .map(|anchor| {
                json!({
                    "id": anchor.id,
                    "slot": anchor.place,
                    "anchor": anchor.anchor,
                    "basis": anchor.basis,
                    "required": anchor.required,
                    "verdict": anchor.verdict,
                    "why": anchor.why,
                    "now": anchor.now,
                })
            })
            .collect();
        json!({
            "schema_version": 1,
            "holds": self.holds(),
            "counts": self.counts(),
            "anchors": anchors,
        })
    }

    fn exit(&self) -> Exit {
        if self.holds() {
            Exit::Ok
        } else {
            Exit::CheckFailed
        }
    }
}

/// `cook brief guide`.
#[derive(Debug)]
pub struct GuideAnswer {
    /// The file.
    pub path: String,
    /// Why the update is proposed.
    pub reason: String,
    /// Who proposed it.
    pub by: String,
    /// What it changes; empty = nothing.
    pub diff: String,
    /// It was written.
    pub applied: bool,
}

impl Show for GuideAnswer {
    fn human(&self, page: &mut Page) {
        page.text(&self.diff);
        let what = match (self.diff.is_empty(), self.applied) {
            (true, _) => format!("`{}` says that already", self.path),
            (false, true) => format!("`{}` is written", self.path),
            (false, false) => format!("proposed by {}: {}", self.by, self.reason),
        };
        page.toned(Tone::Dim, &what);
        page.newline();
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "path": self.path,
            "reason": self.reason,
            "by": self.by,
            "diff": self.diff,
            "applied": self.applied,
        })
    }
}
