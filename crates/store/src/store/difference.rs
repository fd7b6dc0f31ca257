//! What tells a file of the view from what cook showed there.

use super::tree::{Document, History};
use cook_core::diagnostic::{Code, Finding};
use cook_core::machine::OutsideEdit;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How a file of the view differs from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// It is gone.
    Missing,
    /// It is not a regular file.
    NotAFile,
    /// It is larger than cook reads.
    TooLarge,
    /// It is not valid JSON.
    NotJson,
    /// A history whose last line is incomplete, otherwise as in the log.
    Torn,
    /// It says something else.
    Edited,
}

/// One file of the view that is not what cook showed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// File name under `.agent/`.
    pub file: String,
    /// How it differs.
    pub kind: DifferenceKind,
    /// Top-level fields that differ; slice ids for a plan; `line N` for a history.
    pub fields: Vec<String>,
}

impl Difference {
    /// As `verify` and `fsck` report it.
    pub fn finding(&self) -> Finding {
        let history = is_history(&self.file);
        let (code, what) = match self.kind {
            DifferenceKind::Missing => (Code::DocumentMissing, "is missing"),
            DifferenceKind::NotAFile => (Code::DocumentUnreadable, "is not a regular file"),
            DifferenceKind::TooLarge => (Code::DocumentTooLarge, "is larger than cook reads"),
            DifferenceKind::NotJson => (Code::DocumentUnreadable, "is not valid JSON"),
            DifferenceKind::Torn => (Code::HistoryTorn, "ends in the middle of a line"),
            DifferenceKind::Edited if history => (Code::HistoryForged, "is not the log's"),
            DifferenceKind::Edited if self.file == Document::State.file() => {
                (Code::StateForged, "is not the log's")
            }
            DifferenceKind::Edited => (Code::EditedOutside, "is not the log's"),
        };
        let mut message = format!("`{}` {what}", self.file);
        if !self.fields.is_empty() {
            message.push_str(": ");
            message.push_str(&self.fields.join(", "));
        }
        Finding::new(code, message).at(format!(".agent/{}", self.file))
    }
}

impl From<Difference> for OutsideEdit {
    fn from(difference: Difference) -> Self {
        Self {
            missing: difference.kind == DifferenceKind::Missing,
            file: difference.file,
            fields: difference.fields,
        }
    }
}

pub(super) fn is_history(name: &str) -> bool {
    History::ALL.iter().any(|history| history.file() == name)
}

pub(super) fn missing(name: &str) -> Difference {
    plain(name, DifferenceKind::Missing)
}

pub(super) fn plain(name: &str, kind: DifferenceKind) -> Difference {
    Difference {
        file: name.to_owned(),
        kind,
        fields: Vec::new(),
    }
}

/// Names of the top-level fields that differ; in a plan, ids of the slices that do.
pub(super) fn list_changed_fields(ours: &Value, theirs: &Value) -> Vec<String> {
    let (Value::Object(ours), Value::Object(theirs)) = (ours, theirs) else {
        return Vec::new();
    };
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let mut changed = Vec::new();
    for name in names {
        let (our, their) = (ours.get(name), theirs.get(name));
        if our == their {
            continue;
        }
        match (name.as_str(), our, their) {
            ("candidate_slices", Some(Value::Array(our)), Some(Value::Array(their))) => {
                changed.extend(list_changed_slices(our, their));
            }
            _ => changed.push(name.clone()),
        }
    }
    changed
}

fn list_changed_slices(ours: &[Value], theirs: &[Value]) -> Vec<String> {
    fn by_id(slices: &[Value]) -> Option<BTreeMap<&str, &Value>> {
        let map: BTreeMap<&str, &Value> = slices
            .iter()
            .map(|slice| Some((slice.get("slice_id")?.as_str()?, slice)))
            .collect::<Option<_>>()?;
        (map.len() == slices.len()).then_some(map)
    }
    let (Some(our), Some(their)) = (by_id(ours), by_id(theirs)) else {
        return vec!["candidate_slices".to_owned()];
    };
    let ids: BTreeSet<&str> = our.keys().chain(their.keys()).copied().collect();
    let changed: Vec<String> = ids
        .into_iter()
        .filter(|id| our.get(id) != their.get(id))
        .map(str::to_owned)
        .collect();
    if changed.is_empty() {
        // The same slices in another order.
        return vec!["candidate_slices".to_owned()];
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_that_differ_are_named() {
        let ours = json!({"a": 1, "b": 2, "candidate_slices": [{"slice_id": "x", "n": 1}, {"slice_id": "y"}]});
        let theirs = json!({"a": 1, "b": 3, "c": 0, "candidate_slices": [{"slice_id": "x", "n": 2}, {"slice_id": "y"}]});
        assert_eq!(list_changed_fields(&ours, &theirs), ["b", "c", "x"]);
        assert!(list_changed_fields(&ours, &ours).is_empty());
        assert!(list_changed_fields(&ours, &json!([])).is_empty());
    }

    #[test]
    fn reordered_or_duplicated_slices_are_named_as_a_whole() {
        let ours = json!({"candidate_slices": [{"slice_id": "x"}, {"slice_id": "y"}]});
        let swapped = json!({"candidate_slices": [{"slice_id": "y"}, {"slice_id": "x"}]});
        let twice = json!({"candidate_slices": [{"slice_id": "x"}, {"slice_id": "x"}]});
        assert_eq!(list_changed_fields(&ours, &swapped), ["candidate_slices"]);
        assert_eq!(list_changed_fields(&ours, &twice), ["candidate_slices"]);
    }
}
