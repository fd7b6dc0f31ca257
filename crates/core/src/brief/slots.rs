//! The lists of a brief while they are filled.

use super::field::{normalise, settle};
use super::identity::line_digest;
use super::material::{Filled, Origin};
use super::render::Weight;
use crate::diagnostic::{without_attribution, without_tags};
use crate::model::{BriefLine, MAX_ENTRIES, MAX_FIELD_CHARS, Slot};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Slots(pub(super) BTreeMap<Slot, Vec<Filled>>);

impl Slots {
    /// Adds what cook says itself; a text that says nothing is not an entry.
    pub(super) fn add(&mut self, line: BriefLine, weight: Weight) {
        self.add_from(Origin::State, line, weight);
    }

    /// Adds a question, with what would answer it.
    pub(super) fn ask(&mut self, question: String, verifies: impl Into<String>, weight: Weight) {
        self.add(BriefLine::new(Slot::Open, question, verifies), weight);
    }

    /// The same of what some role's prompt shows in a part of its own.
    pub(super) fn add_from(&mut self, origin: Origin, mut line: BriefLine, weight: Weight) {
        unsay(&mut line);
        self.insert(origin, line, weight);
    }

    /// What the user said, as cook wrote it down.
    pub(super) fn add_said(&mut self, line: BriefLine, weight: Weight) {
        self.insert(Origin::State, line, weight);
    }

    fn insert(&mut self, origin: Origin, mut line: BriefLine, weight: Weight) {
        for (_, text) in line.texts_mut() {
            match normalise(&cut(text)) {
                Ok(kept) => *text = without_tags(&settle(&kept)),
                Err(_) => return,
            }
        }
        let list = self.0.entry(line.slot).or_default();
        if !list.iter().any(|known| known.line == line) {
            list.push(Filled {
                id: line_digest(&line),
                by: "cook".to_owned(),
                origin,
                line,
                weight,
            });
        }
    }

    /// Keeps the newest of a slot that could grow without end.
    pub(super) fn keep_newest(&mut self, slot: Slot) {
        if let Some(list) = self.0.get_mut(&slot)
            && list.len() > MAX_ENTRIES
        {
            list.drain(..list.len() - MAX_ENTRIES);
        }
    }
}

/// A role's words do not read as what cook wrote down of the user's; a source and an anchor are
/// held against that.
pub(super) fn unsay(line: &mut BriefLine) {
    for (name, text) in line.texts_mut() {
        if !matches!(name, "source" | "evidence") {
            *text = without_attribution(text);
        }
    }
}

/// A text that fits a field, said so when it does not.
pub(super) fn cut(text: &str) -> String {
    /// Room for the mark.
    const LONGEST: usize = MAX_FIELD_CHARS - 4;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// The beginning of an id, for a reader.
pub(super) fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
