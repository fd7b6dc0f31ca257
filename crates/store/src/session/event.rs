//! What is kept at once, as one event of the record, and what all events together say.
//!
//! Invariant: events are taken in oldest first: a ref and a mark of a sealed window are what was
//! said of them first, a name of the user's what was said last.

use super::calls::{CallRecord, without_nulls};
use super::hash::ContentHash;
use super::reference::Ref;
use super::stored::{Entry, Object};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, HashMap};

/// What is kept at once: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Batch {
    /// Values; one that is there already stays as it is.
    #[serde(skip)]
    pub objects: Vec<Object>,
    /// Refs; one that is there already stays as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    /// A window that was compacted, and the chain that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<(Ref, Ref)>,
    /// A name of the user's, and what it stands for from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<(String, Ref)>,
    /// A line of the record of calls.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_line")]
    pub line: Option<CallRecord>,
}

fn write_line<S: Serializer>(line: &Option<CallRecord>, serializer: S) -> Result<S::Ok, S::Error> {
    match line {
        Some(line) => without_nulls(line, serializer),
        None => serializer.serialize_none(),
    }
}

/// Where a value is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Held {
    /// Here.
    Value(Object),
    /// In a blob of the log.
    Blob(String),
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) hash: ContentHash,
    pub(super) at: Held,
}

/// One event of the record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Event {
    /// Its number, from 1; given when it is written.
    pub(super) seq: u64,
    /// The number of the event that began the chain of commits it is in.
    pub(super) base: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) objects: Vec<Stored>,
    /// What it says beside them.
    #[serde(flatten)]
    pub(super) batch: Batch,
}

impl Event {
    /// Whether it says nothing any more.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.batch == Batch::default()
    }

    /// The blobs that its values are in.
    pub(super) fn blobs(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().filter_map(|stored| match &stored.at {
            Held::Blob(id) => Some(id.as_str()),
            Held::Value(_) => None,
        })
    }

    /// What it is, for whoever reads the log with git.
    pub(super) fn subject(&self) -> String {
        let Batch {
            label,
            entries,
            line,
            ..
        } = &self.batch;
        match (label, entries.first(), line) {
            (Some((label, name)), _, _) => format!("{label} stands for {name}"),
            (None, Some(entry), _) => format!("keep {}", entry.name),
            (None, None, Some(line)) if line.expired.is_some() => "let go of refs".to_owned(),
            (None, None, Some(_)) => "a call that left no ref".to_owned(),
            (None, None, None) => "keep".to_owned(),
        }
    }
}

/// What the events that were taken in say.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// What each ref names, oldest first of each kind.
    pub(super) entries: BTreeMap<Ref, Entry>,
    /// Sealed windows, each with the chain that goes on.
    pub(super) sealed: BTreeMap<Ref, Ref>,
    /// Names of the user's.
    pub(super) labels: BTreeMap<String, Ref>,
    /// The record of calls, oldest first.
    pub(super) lines: Vec<CallRecord>,
    /// Values by their hash.
    pub(super) objects: HashMap<ContentHash, Held>,
}

impl Index {
    pub(super) fn take_in(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            for stored in event.objects {
                self.objects.entry(stored.hash).or_insert(stored.at);
            }
            for entry in event.batch.entries {
                self.entries.entry(entry.name).or_insert(entry);
            }
            if let Some((window, series)) = event.batch.sealed {
                self.sealed.entry(window).or_insert(series);
            }
            self.labels.extend(event.batch.label);
            self.lines.extend(event.batch.line);
        }
    }

    /// Whether a ref was let go of.
    pub(super) fn is_expired(&self, text: &str) -> bool {
        let mut names = self
            .lines
            .iter()
            .flat_map(|line| line.expired.iter())
            .flatten();
        names.any(|name| name.to_string() == text)
    }
}
