//! What stands in a part of a prompt: a line, a section, a list.

use super::fit::{cut, fit};
use super::quote::Quoted;
use super::reports::{REPORTS, rejection};
use super::slices::PLAN;
use crate::diagnostic::{Finding, without_attribution};
use crate::model::{AnsweredRejection, SliceStatus, Snapshot, UserAnswer};

/// Parts of a prompt, each below a title of cook's own; one that holds nothing is left out. Roles'
/// words stand in lines, sections and lists, and none of them reads as what cook wrote down of the
/// user's.
#[derive(Default)]
pub(super) struct Parts(pub(super) Vec<(&'static str, Quoted)>);

impl Parts {
    pub(super) fn add(&mut self, title: &'static str, part: Option<Quoted>) {
        self.0.extend(part.map(|part| (title, part)));
    }

    pub(super) fn line(&mut self, title: &'static str, text: Option<&str>) {
        let text = text.filter(|text| !text.trim().is_empty());
        self.add(
            title,
            text.map(|text| Quoted::line(&without_attribution(text))),
        );
    }

    pub(super) fn section(&mut self, title: &'static str, text: &str) {
        self.add(title, cooks_own(&without_attribution(text)));
    }

    pub(super) fn list(&mut self, title: &'static str, items: Vec<String>) {
        let shown = items.iter().map(|item| without_attribution(item));
        self.add(title, (!items.is_empty()).then(|| Quoted::list(shown)));
    }
}

/// What cook has put together, anchors of the user's words among it.
pub(super) fn cooks_own(text: &str) -> Option<Quoted> {
    (!text.trim().is_empty()).then(|| Quoted::section(text))
}

pub(super) fn answers(answers: &[UserAnswer]) -> Option<Quoted> {
    let concerns = |answer: &UserAnswer| match answer.slices.is_empty() {
        true => String::new(),
        false => format!(" (of {})", answer.slices.join(", ")),
    };
    let items = answers.iter().map(|answer| {
        // The question is a role's.
        let shown = UserAnswer {
            question: without_attribution(&answer.question),
            ..answer.clone()
        };
        let text = format!("{}{}", shown.note(), concerns(answer));
        (text, format!("cook log {}", answer.seq.0))
    });
    (!answers.is_empty()).then(|| Quoted::items(items))
}

/// A rejection with what was answered to it.
pub(super) fn tell_answered(answered: &AnsweredRejection) -> String {
    format!("{}; answer: {}", rejection(&answered.no), answered.answer)
}

pub(super) const TAKEN_UP: &str =
    "Rejections that this slice takes up, with what was answered to each:";

/// Rejections that were answered with the slice in work: it is to mend what they name.
pub(super) fn list_taken_up(snapshot: &Snapshot) -> Vec<String> {
    let told: Vec<String> = find_taken_up(snapshot).map(tell_answered).collect();
    fit(&told, REPORTS)
}

pub(super) fn list_ids_taken_up(snapshot: &Snapshot) -> Vec<String> {
    let ids = find_taken_up(snapshot).map(|answered| answered.no.id.clone());
    ids.collect()
}

fn find_taken_up(snapshot: &Snapshot) -> impl Iterator<Item = &AnsweredRejection> {
    let slice = snapshot.find_slice_in_work();
    let answered = snapshot.ledger.answered_rejections.iter();
    answered.filter(move |it| it.slices.iter().any(|id| Some(id.as_str()) == slice))
}

pub(super) fn slices(snapshot: &Snapshot) -> Vec<String> {
    let slices = snapshot.plan.candidate_slices.iter();
    slices
        .map(|slice| {
            let known = snapshot.ledger.slices.get(&slice.slice_id);
            let head = known.and_then(|slice| slice.head.as_ref().or(slice.last_head.as_ref()));
            format!(
                "`{}` ({}{}): {}",
                slice.slice_id,
                slice.status.id(),
                head.map_or_else(String::new, |head| format!(", commit {head}")),
                slice.goal
            )
        })
        .collect()
}

/// What else is planned or done, a line each, for whoever looks at one slice alone.
pub(super) fn other_slices(snapshot: &Snapshot) -> Vec<String> {
    let in_work = snapshot.find_slice_in_work();
    let slices = snapshot.plan.candidate_slices.iter().filter(|slice| {
        slice.status != SliceStatus::Cancelled && Some(slice.slice_id.as_str()) != in_work
    });
    let lines = slices.map(|slice| {
        let line = format!(
            "`{}` ({}): {}: {}",
            slice.slice_id,
            slice.status.id(),
            slice.goal,
            slice.acceptance_criteria.join("; ")
        );
        cut(&line, OTHER, PLAN)
    });
    fit(&lines.collect::<Vec<_>>(), PLAN)
}

/// Bytes of a slice that is only told of.
const OTHER: usize = 300;

pub(super) fn amendments(snapshot: &Snapshot) -> Vec<String> {
    let amendments = snapshot.ledger.amendments.iter();
    amendments
        .map(|amendment| {
            format!(
                "`{}`: was \"{}\", is \"{}\", because {}",
                amendment.slice_id, amendment.old, amendment.new, amendment.reason
            )
        })
        .collect()
}

pub(super) fn remarks(snapshot: &Snapshot) -> Vec<String> {
    let remarks = snapshot.ledger.remarks.iter();
    let remarks: Vec<String> = remarks
        .map(|remark| match remark.slice_id.as_str() {
            "" => format!("`{}`: {}", remark.code, remark.what),
            id => format!("`{}` (slice `{id}`): {}", remark.code, remark.what),
        })
        .collect();
    fit(&remarks, "`cook log` and `cook log N` name them")
}

pub(super) fn finding(finding: &Finding) -> String {
    let place = finding.place.as_deref();
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    format!("`{}`: {}{place}", finding.code, finding.message)
}
