//! Imports the execution state that an older program left in `.agent/`.
//!
//! Tolerant: known data is taken in unchanged; unknown data is left out and becomes a finding. Nothing is changed on
//! disk: the code that writes the new state keeps the originals.

use super::text_files::{Tree, is_directory};
use crate::prelude::*;
use cook_protocol::model::{ActiveSlice, Handoff, Import, Priority};
use cook_protocol::schema::{Document, MAX_DOCUMENT_BYTES};
use serde::de::DeserializeOwned;

/// The layout of package 0.1.26: everything directly in `.agent/`.
pub const FLAT: &str = "agent-0.1.26";
/// The later layout: the same files under `.agent/current/`.
pub const CURRENT: &str = "agent-current";

/// Files whose presence identifies a layout.
const EXECUTION_STATE: [&str; 5] = [
    "state.json",
    "plan.json",
    "active-slice.json",
    "slice-history.jsonl",
    "stop-check-history.jsonl",
];

/// The imported state, and what could not be imported.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// For the first `Bootstrapped` event.
    pub import: Import,
    /// `import_dropped`, `trail_torn`, and documents that cannot be read.
    pub findings: Vec<Finding>,
}

/// Reads the older state in that directory (the `.agent/` of a worktree); `None` if there is none. If both layouts
/// exist, the later one is read.
///
/// # Errors
/// A link, or a file that is too large or cannot be read.
pub fn read(agent_dir: &Path) -> Result<Option<Imported>> {
    if !is_directory(agent_dir, ".agent")? {
        return Ok(None);
    }
    let tree = Tree::new(agent_dir);
    let holds = |prefix: &str| -> Result<bool> {
        for file in EXECUTION_STATE {
            if tree.has_file(&format!("{prefix}{file}"))? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let flat = holds("")?;
    let current = tree.has_directory("current")? && holds("current/")?;
    let (layout, prefix) = match (flat, current) {
        (false, false) => return Ok(None),
        (_, true) => (CURRENT, "current/"),
        (true, false) => (FLAT, ""),
    };
    let mut notes = Notes::default();
    if flat && current {
        let what = "the files directly in `.agent/` are older than those in `current/` and were not taken in";
        notes.add(Code::ImportDropped, ".agent", what);
    }
    let source = Source { tree, prefix };
    source.take_in(layout, notes).map(Some)
}

/// One layout on disk.
struct Source<'a> {
    tree: Tree<'a>,
    prefix: &'static str,
}

impl Source<'_> {
    fn take_in(&self, layout: &str, mut notes: Notes) -> Result<Imported> {
        let state = self.document(Document::State, &mut notes)?;
        let plan = self.document(Document::Plan, &mut notes)?;
        let active = self.document(Document::ActiveSlice, &mut notes)?;
        let (policy, reason) = read_stopped_policy(state);
        let import = Import {
            layout: layout.to_owned(),
            plan: plan.and_then(|plan| read_plan(plan, &mut notes)),
            active: active.and_then(|active| read_active(active, &mut notes)),
            policy,
            reason,
            slice_history: self.records(Document::SliceRecord, &mut notes)?,
            stop_history: self.records(Document::StopRecord, &mut notes)?,
            ..Import::default()
        };
        if self.bytes(Document::VerificationEvidence)?.is_some() {
            let what = "the old verification is not taken in; cook runs the gates itself";
            notes.add(
                Code::ImportDropped,
                Document::VerificationEvidence.file(),
                what,
            );
        }
        Ok(Imported {
            import,
            findings: notes.into_findings(),
        })
    }

    fn bytes(&self, document: Document) -> Result<Option<Vec<u8>>> {
        let path = format!("{}{}", self.prefix, document.file());
        self.tree.bytes(&path, MAX_DOCUMENT_BYTES as u64)
    }

    /// A document as a JSON object; one that is not becomes a finding and is not imported.
    fn document(&self, document: Document, notes: &mut Notes) -> Result<Option<Object>> {
        let Some(bytes) = self.bytes(document)? else {
            return Ok(None);
        };
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(object)) => return Ok(Some(without_nulls(object))),
            Ok(_) => notes.add(Code::DocumentInvalid, document.file(), "not a JSON object"),
            Err(error) => {
                let what = error.to_string();
                notes.add(Code::DocumentUnreadable, document.file(), &what);
            }
        }
        Ok(None)
    }

    fn records<T: DeserializeOwned>(
        &self,
        document: Document,
        notes: &mut Notes,
    ) -> Result<Vec<T>> {
        let path = format!("{}{}", self.prefix, document.file());
        let bytes = self.tree.bytes(&path, MAX_BYTES)?.unwrap_or_default();
        Ok(read_records(&bytes, document, notes))
    }
}

/// A stopped policy that is still in force. `done` is not: it has to be proved again.
fn read_stopped_policy(state: Option<Object>) -> (Option<Policy>, String) {
    let mut state = state.unwrap_or_default();
    let policy = state.remove("continuation_policy");
    let policy = policy.and_then(|policy| serde_json::from_value(policy).ok());
    let binds = [Policy::AwaitUserInput, Policy::Blocked, Policy::Paused];
    match policy.filter(|policy| binds.contains(policy)) {
        None => (None, String::new()),
        policy => {
            let reason = take_text(&mut state, "continuation_reason");
            (policy, reason.unwrap_or_default())
        }
    }
}

// Reading an old object field by field: values that do not fit are left out and named.

/// Maximum number of findings of an import; the rest is counted.
const MAX_FINDINGS: usize = 200;
/// Maximum number of characters of a message.
const MAX_MESSAGE: usize = 300;

/// The findings: each is listed once, with the number of its occurrences.
#[derive(Debug, Default)]
struct Notes {
    seen: BTreeMap<(Code, String, String), usize>,
    more: usize,
}

impl Notes {
    fn add(&mut self, code: Code, place: &str, what: &str) {
        let line = |text| clean(text, Lines::Fold).chars().take(MAX_MESSAGE).collect();
        let key = (code, line(place), line(what));
        if self.seen.len() < MAX_FINDINGS || self.seen.contains_key(&key) {
            *self.seen.entry(key).or_default() += 1;
        } else {
            self.more += 1;
        }
    }

    fn into_findings(self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self
            .seen
            .into_iter()
            .map(|((code, place, what), times)| {
                let times = if times > 1 {
                    format!(" ({times} times)")
                } else {
                    String::new()
                };
                Finding::new(code, format!("{what}{times}")).at(place)
            })
            .collect();
        if self.more > 0 {
            let what = format!("{} more things were not taken in", self.more);
            findings.push(Finding::new(Code::ImportDropped, what));
        }
        findings
    }
}

/// A JSON object from an older program.
type Object = Map<String, Value>;

/// The object without its null fields.
fn without_nulls(mut object: Object) -> Object {
    object.retain(|_, value| !value.is_null());
    object
}

/// Deserializes the fields of an object that the type knows; `defaults` replace missing values. A value with an
/// unexpected shape is converted to the nearest shape that fits.
///
/// # Errors
/// The message about a required field that is missing or unreadable.
fn read_known<T: DeserializeOwned>(
    mut object: Object,
    defaults: Value,
    place: &str,
    notes: &mut Notes,
) -> Result<T, String> {
    let mut defaults = match defaults {
        Value::Object(defaults) => defaults,
        _ => Object::new(),
    };
    for (key, value) in &defaults {
        object.entry(key).or_insert_with(|| value.clone());
    }
    // The shapes of each field that are still to be tried.
    let mut shapes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    loop {
        let value = Value::Object(object.clone());
        let error = match serde_path_to_error::deserialize::<_, T>(value) {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        let key = match error.path().iter().next() {
            Some(serde_path_to_error::Segment::Map { key }) => key.clone(),
            _ => return Err(error.inner().to_string()),
        };
        let Some(given) = object.remove(&key) else {
            return Err(error.inner().to_string());
        };
        if error.inner().to_string().starts_with("unknown field") {
            let what = format!("unknown field `{key}`");
            notes.add(Code::ImportDropped, place, &what);
            continue;
        }
        let left = shapes
            .entry(key.clone())
            .or_insert_with(|| list_shapes(&given));
        match left.pop() {
            Some(other) => drop(object.insert(key, other)),
            None => {
                let place = format!("{place}/{key}");
                let what = "not in a shape that can be read";
                notes.add(Code::ImportDropped, &place, what);
                object.extend(defaults.remove_entry(&key));
            }
        }
    }
}

/// Other shapes of a value, the nearest one last.
fn list_shapes(value: &Value) -> Vec<Value> {
    let as_text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match value {
        Value::String(text) => {
            let parsed = serde_json::from_str(text.trim()).ok();
            let list = Value::Array(vec![value.clone()]);
            [Some(list), parsed].into_iter().flatten().collect()
        }
        Value::Number(_) | Value::Bool(_) => vec![Value::String(value.to_string())],
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null()).map(as_text);
            let items = items.filter(|text| !text.is_empty()).map(Value::String);
            vec![Value::Array(items.collect())]
        }
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

// The old histories, line by line. A line that is not a record becomes a finding with its line number; the others are
// imported.

/// Maximum size in bytes of a history.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The records of a history.
fn read_records<T: DeserializeOwned>(
    bytes: &[u8],
    document: Document,
    notes: &mut Notes,
) -> Vec<T> {
    let mut records = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        match read_line(line, document, notes) {
            Ok(record) => records.push(record),
            Err(what) => {
                let place = format!("{}:{}", document.file(), index + 1);
                notes.add(Code::TrailTorn, &place, &what);
            }
        }
    }
    records
}

fn read_line<T: DeserializeOwned>(
    line: &[u8],
    document: Document,
    notes: &mut Notes,
) -> Result<T, String> {
    let value = serde_json::from_slice::<Value>(line)
        .map_err(|error| format!("not valid JSON, not taken in: {error}"))?;
    let Value::Object(object) = value else {
        return Err("not a JSON object, not taken in".to_owned());
    };
    let mut object = without_nulls(object);
    object.insert("schema_version".to_owned(), json!(SchemaVersion));
    // Fields that only cook may set.
    for own in ["seq", "by"] {
        object.remove(own);
    }
    read_known(object, Value::Null, document.file(), notes)
        .map_err(|what| format!("{what}; the record was not taken in"))
}

// The old plan and the old active slice.

/// Placeholder for the mission anchor, until the first transition writes the real one.
const UNSTATED: &str = "(not stated)";

/// The plan; cook sets its mission and revision.
fn read_plan(mut object: Object, notes: &mut Notes) -> Option<Plan> {
    let slices = match object.remove("candidate_slices") {
        Some(Value::Array(slices)) => slices,
        other => other.into_iter().collect(),
    };
    object.remove("revision");
    object.insert("schema_version".to_owned(), json!(SchemaVersion));
    object.insert("mission_anchor".to_owned(), json!(UNSTATED));
    let defaults = json!({"plan_basis": "", "candidate_slices": []});
    let mut plan: Plan = read_known(object, defaults, "plan.json", notes).ok()?;
    let slices = slices.into_iter().enumerate();
    plan.candidate_slices = slices
        .filter_map(|(index, value)| read_slice(value, index, notes).map(Into::into))
        .collect();
    Some(plan)
}

fn read_slice(value: Value, index: usize, notes: &mut Notes) -> Option<Slice> {
    let place = "plan.json#/candidate_slices";
    let Value::Object(object) = value else {
        notes.add(Code::ImportDropped, place, "not a JSON object");
        return None;
    };
    let mut object = without_nulls(object);
    let Some(slice_id) = object.get("slice_id").cloned() else {
        let what = format!("entry {index} has no `slice_id` and was not taken in");
        notes.add(Code::DocumentInvalid, place, &what);
        return None;
    };
    if let Some(Value::Array(evidence)) = object.get_mut("evidence") {
        for value in evidence {
            *value = Value::String(tell_evidence(value));
        }
    }
    let mut defaults = json!(Slice::default());
    defaults["goal"] = slice_id;
    defaults["priority"] = json!(Priority::from(index as u64 + 1));
    match read_known(object, defaults, place, notes) {
        Ok(slice) => Some(slice),
        Err(what) => {
            let what = format!("entry {index} was not taken in: {what}");
            notes.add(Code::DocumentInvalid, place, &what);
            None
        }
    }
}

/// Evidence counts only as text until an event of cook has checked it.
fn tell_evidence(value: &Value) -> String {
    match serde_json::from_value(value.clone()) {
        Ok(Evidence::Record(record)) => format!("{}: {}", record.criterion, record.anchor),
        Ok(Evidence::Text(text)) => text,
        Err(_) => value.to_string(),
    }
}

/// The active slice, if it names a slice with a complete handoff, or none.
fn read_active(mut object: Object, notes: &mut Notes) -> Option<ActiveSlice> {
    let place = "active-slice.json";
    let mut active = ActiveSlice::idle(UNSTATED);
    let status = object.remove("status");
    let status = status.and_then(|status| serde_json::from_value(status).ok());
    let Some(status) = status else {
        let what = "no known `status`; not taken in";
        notes.add(Code::DocumentInvalid, place, what);
        return None;
    };
    active.status = status;
    active.slice_id = take_text(&mut object, "slice_id");
    active.goal = take_text(&mut object, "goal");
    let contracts = object.remove("contract_ids");
    let contracts = contracts.and_then(|contracts| serde_json::from_value(contracts).ok());
    active.contract_ids = contracts.unwrap_or_default();
    for known in ["schema_version", "revision", "mission_anchor"] {
        object.remove(known);
    }
    let handoff = read_known::<Handoff>(object, Value::Null, place, notes).ok();
    if status == ActiveStatus::Idle {
        active.slice_id = None;
        active.goal = None;
    } else if active.slice_id.is_none() || active.goal.is_none() || handoff.is_none() {
        let what = "the exact handoff is incomplete; the slice cursor was not taken in";
        notes.add(Code::HandoffIncomplete, place, what);
        return None;
    } else {
        active.handoff = handoff;
    }
    Some(active)
}

fn take_text(object: &mut Object, name: &str) -> Option<String> {
    let text = object.remove(name)?.as_str()?.to_owned();
    (!text.is_empty()).then_some(text)
}
