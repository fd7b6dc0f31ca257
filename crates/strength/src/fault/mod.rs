//! Faults that whoever reads a change can see, each as the file that has it: what judges are measured
//! with. They are texts as planted defects are, and nothing says whether a gate passes them.

mod docs;
mod line;
mod secret;
mod suites;

use crate::class::{Class, Edited};
use crate::lines;
use crate::mutant::{Operator, plant, without_change};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of an id.
const ID: usize = 16;
/// Defects that are looked for in one change.
const MOST_DEFECTS: usize = 60;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A criterion is not met: changed lines, or a whole file, are as they were.
    Unmet,
    /// A test is gone.
    TestDeleted,
    /// A document says what is not so.
    FalseDocs,
    /// An error does not stop anything.
    ErrorIgnored,
    /// Secrets are printed.
    SecretPrinted,
    /// The code does another thing.
    Defect,
}

impl FaultKind {
    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unmet => "a criterion is not met",
            Self::TestDeleted => "a test is gone",
            Self::FalseDocs => "a document says what is not so",
            Self::ErrorIgnored => "an error does not stop anything",
            Self::SecretPrinted => "secrets are printed",
            Self::Defect => "the code does another thing",
        }
    }
}

/// A fault that can be planted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The same for the same fault in the same text.
    pub id: String,
    /// What is wrong.
    pub kind: FaultKind,
    /// The file that has it.
    pub path: String,
    /// The file's text with it; none = the file is not there.
    pub text: Option<String>,
}

/// Faults of a change: each kind gives one before any gives its second, and within a kind chance
/// decides by `seed`.
pub fn faults(edits: &[Edited], seed: &str) -> Vec<Fault> {
    let mut found: BTreeMap<FaultKind, Vec<(String, Fault)>> = BTreeMap::new();
    let mut seen: BTreeSet<(String, Option<String>)> = BTreeSet::new();
    let mut add = |kind: FaultKind, path: &str, text: Option<String>| {
        let is_new = seen.insert((path.to_owned(), text.clone()));
        let is_other = edits
            .iter()
            .any(|edit| edit.path == path && edit.after != text.as_deref());
        if is_new && is_other {
            let id = digest(&[path, text.as_deref().unwrap_or("\0")]);
            let fault = Fault {
                id: id.clone(),
                kind,
                path: path.to_owned(),
                text,
            };
            found
                .entry(kind)
                .or_default()
                .push((digest(&[seed, &id]), fault));
        }
    };
    for edit in edits {
        let Some(after) = edit.after else { continue };
        let changed = list_changed_lines(edit.before.unwrap_or_default(), after);
        for text in suites::without_a_test(edit, after, &changed) {
            add(FaultKind::TestDeleted, edit.path, Some(text));
        }
        match edit.class {
            Class::Docs => {
                for text in docs::false_texts(after, &changed) {
                    add(FaultKind::FalseDocs, edit.path, Some(text));
                }
            }
            Class::Source => {
                for text in secret::printing_texts(edit.path, after, &changed) {
                    add(FaultKind::SecretPrinted, edit.path, Some(text));
                }
                if let Some(text) = without_change(edit.path, edit.before, edit.after) {
                    add(FaultKind::Unmet, edit.path, text);
                }
            }
            Class::Test | Class::Gate => {}
        }
    }
    for mutant in plant(edits, seed, MOST_DEFECTS).mutants {
        let kind = match mutant.operator {
            Operator::HunkReverted => FaultKind::Unmet,
            Operator::ErrorIgnored => FaultKind::ErrorIgnored,
            _ => FaultKind::Defect,
        };
        add(kind, &mutant.path, Some(mutant.text));
    }
    take_turns(found)
}

/// One of each kind, then the second of each, and so on.
fn take_turns(found: BTreeMap<FaultKind, Vec<(String, Fault)>>) -> Vec<Fault> {
    let mut placed: Vec<(usize, FaultKind, Fault)> = Vec::new();
    for (kind, mut of_kind) in found {
        of_kind.sort_by(|a, b| a.0.cmp(&b.0));
        let turns = of_kind.into_iter().enumerate();
        placed.extend(turns.map(|(turn, (_, fault))| (turn, kind, fault)));
    }
    placed.sort_by_key(|(turn, kind, _)| (*turn, *kind));
    placed.into_iter().map(|(_, _, fault)| fault).collect()
}

/// Lines of now, from 0, that a change brought.
fn list_changed_lines(before: &str, after: &str) -> BTreeSet<usize> {
    let (old, new) = (lines::split(before), lines::split(after));
    let hunks = lines::hunks(&old, &new);
    hunks.into_iter().flat_map(|hunk| hunk.after).collect()
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let hex = digest[..ID / 2].iter().map(|byte| format!("{byte:02x}"));
    hex.collect()
}

#[cfg(test)]
mod tests;
