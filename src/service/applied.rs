//! What an event did.

use cook_core::diagnostic::Finding;
use cook_core::machine::{self, Step};
use cook_core::model::{ANSWER_NOTE, Slice, SliceStatus};
use cook_store::store::Tip;

/// What an event did.
#[derive(Debug)]
pub struct Applied {
    /// The log commit; none for a dry run.
    pub tip: Option<Tip>,
    /// The event's name.
    pub event: &'static str,
    /// The accepted step.
    pub step: Step,
    /// HEAD it was taken at.
    pub head: machine::Head,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
    /// The slices as they were before it.
    pub before: Vec<Slice>,
}

impl Applied {
    /// What became of slices, in words: `added s3`, `reopened s1`.
    pub fn slice_changes(&self) -> Vec<String> {
        let slices = &self.step.snapshot.plan.candidate_slices;
        let named = |word: &str, is: &dyn Fn(Option<&Slice>, &Slice) -> bool| {
            let before = |id: &str| self.before.iter().find(|slice| slice.slice_id == id);
            let found = slices
                .iter()
                .filter(|slice| is(before(&slice.slice_id), slice));
            let names: Vec<String> = found.map(|slice| format!("`{}`", slice.slice_id)).collect();
            (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")))
        };
        let became = |before: Option<&Slice>, now: &Slice, status: SliceStatus| {
            now.status == status && before.is_some_and(|before| before.status != status)
        };
        let changes = [
            named("added", &|before, _| before.is_none()),
            named("reopened", &|before, now| {
                now.status.is_open() && before.is_some_and(|before| !before.status.is_open())
            }),
            named("cancelled", &|before, now| {
                became(before, now, SliceStatus::Cancelled)
            }),
            named("blocked", &|before, now| {
                became(before, now, SliceStatus::Blocked)
            }),
            named("changed", &|before, now| {
                let same = |before: &Slice| {
                    before.status != now.status || as_planned(before) == as_planned(now)
                };
                before.is_some_and(|before| !same(before))
            }),
            named("less proof for", &|before, now| {
                let is_done = now.status == SliceStatus::Done;
                is_done && before.is_some_and(|before| before.evidence.len() > now.evidence.len())
            }),
        ];
        let mut changes: Vec<String> = changes.into_iter().flatten().collect();
        changes.extend(self.new_order());
        changes
    }

    /// The open slices in order, where the ones of before come in another.
    fn new_order(&self) -> Option<String> {
        let open = |slices: &[Slice]| -> Vec<String> {
            let open = slices.iter().filter(|slice| slice.status.is_open());
            open.map(|slice| slice.slice_id.clone()).collect()
        };
        let now = open(&self.step.snapshot.plan.candidate_slices);
        let before = open(&self.before);
        let same = |ids: &[String], others: &[String]| -> Vec<String> {
            ids.iter()
                .filter(|id| others.contains(id))
                .cloned()
                .collect()
        };
        let is_other = same(&now, &before) != same(&before, &now);
        is_other.then(|| format!("order is now {}", now.join(", ")))
    }
}

/// A slice without what cook sets: evidence, where it began, what must be fixed, the user's answers.
fn as_planned(slice: &Slice) -> Slice {
    let list = |of: &Option<Vec<String>>| Some(of.clone().unwrap_or_default());
    let mut notes = slice.locked_notes.clone().unwrap_or_default();
    notes.retain(|note| !note.starts_with(ANSWER_NOTE));
    Slice {
        evidence: Vec::new(),
        basis_commit: None,
        must_fix_findings: None,
        locked_notes: Some(notes),
        implementation_surfaces: list(&slice.implementation_surfaces),
        verification_commands: list(&slice.verification_commands),
        ..slice.clone()
    }
}
