//! `cook brief` and its commands.

use super::page::{Page, Tone};
use super::transition::Recorded;
use super::{Exit, Show};
use crate::service::CheckedAnchor;
use cook_core::brief::Filled;
use cook_core::diagnostic::{Finding, count_noun};
use cook_core::model::{BriefRecord, Slot, Verdict};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// An entry as it is listed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownEntry {
    /// Its id; `c…` for what cook fills in itself.
    pub id: String,
    /// Its list.
    pub slot: Slot,
    /// Who added it.
    pub by: String,
    /// As it is rendered.
    pub text: String,
}

impl From<&Filled> for ShownEntry {
    fn from(entry: &Filled) -> Self {
        Self {
            id: entry.id.clone(),
            slot: entry.line.slot(),
            by: entry.by.clone(),
            text: cook_core::brief::line_text(&entry.line),
        }
    }
}

/// The brief as it is printed, and its entries.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefAnswer {
    /// `--ids`: people see the entries, not the text.
    #[serde(skip)]
    pub ids: bool,
    /// The rendering, without the newline that ends what is printed.
    pub text: String,
    /// Entries that did not fit.
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
        if !self.ids {
            page.verbatim(&self.text);
            page.newline();
            return;
        }
        for entry in &self.entries {
            page.add_toned(Tone::Strong, &entry.id);
            let (slot, by) = (entry.slot.id(), &entry.by);
            page.line(&format!("  {slot:<11} {by:<11} {}", entry.text));
        }
        if self.entries.is_empty() {
            page.line("the brief has no entries");
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// `cook brief export`: the artifact itself.
#[derive(Debug, Serialize)]
pub struct ArtifactAnswer(pub Value);

impl Show for ArtifactAnswer {
    fn human(&self, page: &mut Page) {
        page.json(&self.0);
    }

    fn has_json(&self) -> bool {
        false
    }
}

/// What changed in the brief.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefChangeAnswer {
    /// The log commit; null when nothing had to change.
    #[serde(flatten)]
    pub operation: Recorded,
    /// Log sequence.
    pub seq: u64,
    /// What `brief-history.jsonl` gained.
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
        match self.operation.recorded {
            true => page.add_toned(Tone::Good, &format!("recorded #{}", self.seq)),
            false => page.add_toned(Tone::Dim, "nothing to record"),
        }
        page.line(&format!("  {}", self.summary));
        for record in &self.records {
            let kind = json!(record.kind);
            let kind = kind.as_str().unwrap_or_default();
            page.line(&format!("  {kind:<10} {}  {}", record.id, record.text));
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Every anchor of the brief and of the plan's evidence, with what it is worth now.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefCheckAnswer {
    /// False makes exit 1.
    holds: bool,
    /// By verdict; those that no anchor has are left out.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("propertyNames" = cook_core::schema::published::describe::<Verdict>()))
    )]
    counts: BTreeMap<Verdict, NonZeroUsize>,
    anchors: Vec<CheckedAnchor>,
}

impl BriefCheckAnswer {
    /// It holds when no anchor is lost, and, where there are any, one at least could be checked.
    pub fn of(anchors: Vec<CheckedAnchor>) -> Self {
        use Verdict::{Changed, Malformed, Missing, Unverifiable};
        let mut counts = BTreeMap::new();
        for anchor in &anchors {
            let count = counts.entry(anchor.verdict);
            count
                .and_modify(|count: &mut NonZeroUsize| *count = count.saturating_add(1))
                .or_insert(NonZeroUsize::MIN);
        }
        let required = anchors.iter().filter(|anchor| anchor.required);
        let mut required = required.map(|anchor| anchor.verdict).peekable();
        let is_lost = |verdict| matches!(verdict, Changed | Missing | Malformed);
        let holds = required.peek().is_none()
            || (!required.clone().any(is_lost) && required.any(|verdict| verdict != Unverifiable));
        Self {
            holds,
            counts,
            anchors,
        }
    }
}

impl Show for BriefCheckAnswer {
    fn human(&self, page: &mut Page) {
        for anchor in &self.anchors {
            let tone = match anchor.verdict {
                Verdict::Verified => Tone::Good,
                Verdict::Moved | Verdict::Stale | Verdict::Unverifiable => Tone::Warn,
                Verdict::Changed | Verdict::Missing | Verdict::Malformed => Tone::Bad,
            };
            page.add_toned(tone, &format!("{:<12}", anchor.verdict.id()));
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
        let mut counts: Vec<String> = self
            .counts
            .iter()
            .map(|(verdict, number)| format!("{number} {}", verdict.id()))
            .collect();
        counts.sort_by(|one, two| one.split(' ').nth(1).cmp(&two.split(' ').nth(1)));
        let what = format!(
            "{}: {}",
            count_noun(self.anchors.len() as u64, "anchor"),
            counts.join(", ")
        );
        match (self.anchors.is_empty(), self.holds) {
            (true, _) => page.line("the brief has no anchors"),
            (_, true) => page.line(&what),
            (_, false) => {
                page.add_toned(Tone::Bad, "does not hold");
                page.line(&format!("  {what}"));
            }
        }
    }

    fn exit(&self) -> Exit {
        if self.holds {
            Exit::Ok
        } else {
            Exit::CheckFailed
        }
    }
}

/// The proposed update of the agent guide.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideAnswer {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
    /// Who proposed it.
    pub by: String,
    /// A unified diff; empty when nothing would change.
    pub diff: String,
    /// It was written.
    pub applied: bool,
}

impl Show for GuideAnswer {
    fn human(&self, page: &mut Page) {
        if !self.diff.is_empty() {
            page.lines(self.diff.trim_end_matches('\n'));
        }
        let what = match (self.diff.is_empty(), self.applied) {
            (true, _) => format!("`{}` says that already", self.path),
            (false, true) => format!("`{}` is written", self.path),
            (false, false) => format!("proposed by {}: {}", self.by, self.reason),
        };
        page.add_toned_line(Tone::Dim, &what);
    }
}
