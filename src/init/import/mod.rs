//! Taking in the execution state that an older writer left in `.agent/`.
//!
//! Tolerant: what cook knows is taken as it stands, what it does not know is left
//! out and named. Nothing is changed on disk, and whatever is not taken in is a
//! finding; the originals are kept by whoever writes the new state.

mod documents;
mod fields;
mod history;

use super::error::Error;
use super::files::{Tree, is_directory};
use cook_protocol::diagnostic::{Code, Finding};
use cook_protocol::model::{Import, Policy};
use cook_protocol::schema::{Document, MAX_DOCUMENT_BYTES};
use fields::{Notes, read_object};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// The layout of package 0.1.26: everything directly in `.agent/`.
pub const FLAT: &str = "agent-0.1.26";
/// The later layout: the same files under `.agent/current/`.
pub const CURRENT: &str = "agent-current";

/// Files that make a directory a layout.
const EXECUTION_STATE: [&str; 5] = [
    "state.json",
    "plan.json",
    "active-slice.json",
    "slice-history.jsonl",
    "stop-check-history.jsonl",
];

/// What was found and what could not be taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// For the first `Bootstrapped` event.
    pub import: Import,
    /// The mission anchor that the old documents carry.
    pub mission_anchor: Option<String>,
    /// `import_dropped`, `trail_torn`, and documents that could not be read.
    pub findings: Vec<Finding>,
}

/// Reads the older state in that directory (`.agent/` of a worktree); none when it
/// holds none. Where both layouts stand side by side the later one is read.
///
/// # Errors
/// A link, a file that is too large, or one that cannot be read.
pub fn read(agent_dir: &Path) -> Result<Option<Imported>, Error> {
    if !is_directory(agent_dir, ".agent")? {
        return Ok(None);
    }
    let tree = Tree::new(agent_dir);
    let holds = |prefix: &str| -> Result<bool, Error> {
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
    fn take_in(&self, layout: &str, mut notes: Notes) -> Result<Imported, Error> {
        let state = self.document(Document::State, &mut notes)?;
        let plan = self.document(Document::Plan, &mut notes)?;
        let active = self.document(Document::ActiveSlice, &mut notes)?;
        let anchor = [&state, &plan, &active].into_iter().find_map(|document| {
            let anchor = document.as_ref()?.get("mission_anchor")?.as_str()?;
            cook_protocol::model::mission_anchor(anchor)
        });
        let shown_anchor = anchor.as_deref().unwrap_or("(not stated)");
        let (policy, reason) = read_stopped_policy(state);
        let import = Import {
            layout: layout.to_owned(),
            plan: plan.and_then(|plan| documents::plan(plan, shown_anchor, &mut notes)),
            active: active.and_then(|active| documents::active(active, shown_anchor, &mut notes)),
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
            mission_anchor: anchor,
            findings: notes.into_findings(),
        })
    }

    fn bytes(&self, document: Document) -> Result<Option<Vec<u8>>, Error> {
        let path = format!("{}{}", self.prefix, document.file());
        self.tree.bytes(&path, MAX_DOCUMENT_BYTES as u64)
    }

    /// A document as JSON; one that is none is a finding and is not taken in.
    fn document(&self, document: Document, notes: &mut Notes) -> Result<Option<Value>, Error> {
        let Some(bytes) = self.bytes(document)? else {
            return Ok(None);
        };
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        match serde_json::from_slice::<Value>(bytes) {
            Ok(value @ Value::Object(_)) => return Ok(Some(value)),
            Ok(_) => notes.add(Code::DocumentInvalid, document.file(), "not a JSON object"),
            Err(error) => {
                notes.add(
                    Code::DocumentUnreadable,
                    document.file(),
                    &error.to_string(),
                );
            }
        }
        Ok(None)
    }

    fn records<T: DeserializeOwned>(
        &self,
        document: Document,
        notes: &mut Notes,
    ) -> Result<Vec<T>, Error> {
        let path = format!("{}{}", self.prefix, document.file());
        let bytes = self.tree.bytes(&path, history::MAX_BYTES)?;
        let bytes = bytes.unwrap_or_default();
        Ok(history::read_records(&bytes, document, notes))
    }
}

/// A stopped policy that still binds. `done` does not: it has to be proved again.
fn read_stopped_policy(state: Option<Value>) -> (Option<Policy>, String) {
    let mut unused = Notes::default();
    let object = state.and_then(|state| read_object(state, "state.json", &mut unused));
    let object = object.unwrap_or_default();
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let policy = match text("continuation_policy") {
        "await_user_input" => Policy::AwaitUserInput,
        "blocked" => Policy::Blocked,
        "paused" => Policy::Paused,
        _ => return (None, String::new()),
    };
    (Some(policy), text("continuation_reason").to_owned())
}
