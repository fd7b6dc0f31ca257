//! What is kept at once, as one event of the record, and what all events together say.
//!
//! Invariant: the order in which events are taken in does not matter: a ref and a mark of a
//! sealed window are what was said of them first, a name of the user's what was said last.

use super::hash::ContentHash;
use super::reference::Ref;
use super::stored::{Entry, Object};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is kept at once: all of it or nothing.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Values; one that is there already stays as it is.
    pub objects: Vec<Object>,
    /// Refs; one that is there already stays as it is.
    pub entries: Vec<Entry>,
    /// A window that was compacted, and the chain that goes on.
    pub sealed: Option<(Ref, Ref)>,
    /// A name of the user's, and what it stands for from now on.
    pub label: Option<(String, Ref)>,
    /// A line of the record of calls.
    pub line: Option<Value>,
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
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    pub(super) hash: ContentHash,
    pub(super) at: Held,
}

/// One event of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    /// Its number, from 1.
    pub(super) seq: u64,
    /// The number of the event that began the chain of commits it is in.
    pub(super) base: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) objects: Vec<Stored>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) entries: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<(Ref, Ref)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<(String, Ref)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<Value>,
}

impl Event {
    /// Its number is given when it is written.
    pub(super) fn of(batch: &Batch, objects: Vec<Stored>) -> Self {
        Self {
            seq: 0,
            base: 0,
            objects,
            entries: batch.entries.clone(),
            sealed: batch.sealed,
            label: batch.label.clone(),
            line: batch.line.clone(),
        }
    }

    /// One that says nothing, to begin a chain with.
    pub(super) fn nothing() -> Self {
        Self::of(&Batch::default(), Vec::new())
    }

    /// Whether it is the first of its chain of commits.
    pub(super) fn begins(&self) -> bool {
        self.seq == self.base
    }

    /// Whether it says nothing any more.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
            && self.entries.is_empty()
            && self.sealed.is_none()
            && self.label.is_none()
            && self.line.is_none()
    }

    /// The blobs that its values are in.
    pub(super) fn blobs(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().filter_map(|stored| match &stored.at {
            Held::Blob(id) => Some(id.as_str()),
            Held::Value(_) => None,
        })
    }

    /// The moments at which the refs that it says something of were given.
    pub(super) fn moments(&self) -> impl Iterator<Item = u64> {
        let entries = self.entries.iter().map(|entry| entry.name);
        let sealed = self.sealed.iter().map(|(window, _)| *window);
        entries.chain(sealed).map(Ref::given_at_ms)
    }

    /// What it is, for whoever reads the log with git.
    pub(super) fn subject(&self) -> String {
        match (&self.label, self.entries.first(), &self.line) {
            (Some((label, name)), _, _) => format!("{label} stands for {name}"),
            (None, Some(entry), _) => format!("keep {}", entry.name),
            (None, None, Some(line)) if line["expired"].is_array() => "let go of refs".to_owned(),
            (None, None, Some(_)) => "a call that left no ref".to_owned(),
            (None, None, None) => "keep".to_owned(),
        }
    }
}

/// What the events that were taken in say.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: BTreeMap<Ref, (u64, Entry)>,
    naming: HashMap<ContentHash, BTreeSet<Ref>>,
    sealed: BTreeMap<Ref, (u64, Ref)>,
    labels: BTreeMap<String, (u64, Ref)>,
    lines: BTreeMap<u64, Value>,
    /// Values by their hash.
    pub(super) objects: HashMap<ContentHash, Held>,
}

impl Index {
    pub(super) fn take_in(&mut self, event: Event) {
        let seq = event.seq;
        for stored in event.objects {
            self.objects.entry(stored.hash).or_insert(stored.at);
        }
        for entry in event.entries {
            if is_newer(self.entries.get(&entry.name), seq) {
                continue;
            }
            let naming = self.naming.entry(entry.hash.clone()).or_default();
            naming.insert(entry.name);
            self.entries.insert(entry.name, (seq, entry));
        }
        if let Some((window, series)) = event.sealed
            && !is_newer(self.sealed.get(&window), seq)
        {
            self.sealed.insert(window, (seq, series));
        }
        if let Some((label, name)) = event.label {
            let held = self.labels.entry(label).or_insert((seq, name));
            if held.0 <= seq {
                *held = (seq, name);
            }
        }
        if let Some(line) = event.line {
            self.lines.insert(seq, line);
        }
    }

    pub(super) fn entry(&self, name: Ref) -> Option<&Entry> {
        self.entries.get(&name).map(|(_, entry)| entry)
    }

    /// All refs with what they name, oldest first of each kind.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().map(|(_, entry)| entry)
    }

    pub(super) fn beginning_with(&self, prefix: &str) -> Vec<Ref> {
        let fits = |name: &&Ref| name.to_string().starts_with(prefix);
        self.entries.keys().filter(fits).copied().collect()
    }

    /// Refs that name this object, oldest first.
    pub(super) fn naming(&self, hash: &ContentHash) -> Vec<Ref> {
        let names = self.naming.get(hash);
        names.into_iter().flatten().copied().collect()
    }

    pub(super) fn sealed(&self, window: Ref) -> Option<Ref> {
        self.sealed.get(&window).map(|(_, series)| *series)
    }

    /// Sealed windows, each with the chain that goes on.
    pub(super) fn all_sealed(&self) -> impl Iterator<Item = (Ref, Ref)> {
        self.sealed
            .iter()
            .map(|(window, (_, name))| (*window, *name))
    }

    pub(super) fn labelled(&self, label: &str) -> Option<Ref> {
        self.labels.get(label).map(|(_, name)| *name)
    }

    /// Names of the user's, sorted, with what they stand for.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, Ref)> {
        let labels = self.labels.iter();
        labels.map(|(label, (_, name))| (label.as_str(), *name))
    }

    /// The number of the event that gave a name its meaning.
    pub(super) fn label_seq(&self, label: &str) -> Option<u64> {
        self.labels.get(label).map(|(seq, _)| *seq)
    }

    /// The record of calls, oldest first.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Value> {
        self.lines.values()
    }
}

/// Whether something earlier is known already.
fn is_newer<T>(known: Option<&(u64, T)>, seq: u64) -> bool {
    known.is_some_and(|(first, _)| *first < seq)
}
