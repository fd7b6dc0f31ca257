//! What was learned under this mission, as the brief tells it.

use super::going_on::fill_said;
use super::material::{Material, Origin};
use super::render::Weight;
use super::slots::{Slots, short};
use crate::model::{BriefLine, Slot};
use std::collections::BTreeMap;

pub(super) fn fill_learned(material: &Material, slots: &mut Slots) {
    let mut lessons: Vec<(u64, BriefLine, Origin)> = Vec::new();
    for record in material.reopened {
        let findings = record.findings.clone().unwrap_or_default();
        let why = findings.join("; ");
        let seq = record.seq.map_or(0, |seq| seq.0);
        let lesson = format!("Slice `{}` was reopened: {why}", record.slice_id);
        let commit = short(&record.commit_sha);
        let source = format!("transition #{seq}, reopened at commit:{commit}");
        let line = BriefLine::new(Slot::Learned, lesson, source);
        lessons.push((seq, line, Origin::Findings(findings)));
    }
    // What failed in the same way again is told once, with how often.
    let mut failed: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for attempt in material.attempts {
        let slice = match &attempt.slice_id {
            Some(id) => format!("An attempt at slice `{id}`"),
            None => "An attempt".to_owned(),
        };
        let lesson = format!("{slice} failed ({}): {}", attempt.class, attempt.line);
        failed.entry(lesson).or_default().push(attempt.seq);
    }
    for (lesson, seqs) in failed {
        let last = seqs.last().copied().unwrap_or_default();
        let source = match seqs.len() {
            1 => format!("transition #{last}"),
            times => format!("transition #{last}, the last of {times}"),
        };
        let line = BriefLine::new(Slot::Learned, lesson, source);
        lessons.push((last, line, Origin::State));
    }
    lessons.sort_by_key(|(seq, ..)| *seq);
    for (seq, line, origin) in lessons {
        slots.add_from(origin, line, Weight::Learned(seq));
    }
    for answered in &material.snapshot.ledger.answered_rejections {
        let by = match answered.no.is_users() {
            true => "No slice holds to it".to_owned(),
            false => format!("{} said no", answered.no.by().replacen('a', "A", 1)),
        };
        let (what, answer) = (answered.no.what.join("; "), &answered.answer);
        let lesson = format!("{by}: {what}; the answer was: {answer}");
        let line = BriefLine::new(Slot::Learned, lesson, format!("`{}`", answered.no.id));
        let origin = Origin::Rejection(answered.no.id.clone());
        slots.add_from(origin, line, Weight::Learned(u64::MAX));
    }
    for amendment in &material.snapshot.ledger.amendments {
        let lesson = format!(
            "A criterion of slice `{}` proved false and was amended: it said \"{}\" and says \"{}\", because {}",
            amendment.slice_id, amendment.old, amendment.new, amendment.reason
        );
        let source = "the user, by `cook plan criteria amend`";
        let line = BriefLine::new(Slot::Learned, lesson, source);
        slots.add_from(Origin::Amendment, line, Weight::Learned(u64::MAX));
    }
    if let Some(last) = &material.checkpoint {
        fill_said(last, slots);
    }
    slots.keep_newest(Slot::Learned);
}
