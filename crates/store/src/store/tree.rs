//! The tree of one log commit (`protocol/store.md`): which file holds
//! what, and the exact text of each.

use super::error::{During, StoreError};
use cook_core::digest::hex;
use cook_core::machine::Facts;
use cook_core::model::{
    Actor, BriefRecord, Event, Record, Records, SliceRecord, Snapshot, StopRecord, Trail,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The format this build writes.
pub const FORMAT: u32 = 4;

pub(super) const FORMAT_FILE: &str = "format";
pub(super) const EVENT: &str = "event.json";
pub(super) const HISTORIES: &str = "histories.json";
pub(super) const APPENDED: &str = "appended";
pub(super) const RECEIPTS: &str = "receipts";
pub(super) const EXCHANGES: &str = "exchanges";
/// Tests that proofs of this transition show.
pub(super) const TESTS: &str = "tests";
/// The checkpoint trail, in `.agent/` and under `appended/`.
pub(super) const TRAIL: &str = "checkpoints.jsonl";

/// Documents of a snapshot in the log's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Document {
    Active,
    Brief,
    Counters,
    Ledger,
    Mission,
    Plan,
    Profile,
    State,
    Undone,
    Evidence,
}

impl Document {
    pub(super) const ALL: [Document; 10] = [
        Document::Active,
        Document::Brief,
        Document::Counters,
        Document::Ledger,
        Document::Mission,
        Document::Plan,
        Document::Profile,
        Document::State,
        Document::Undone,
        Document::Evidence,
    ];

    /// Those that `.agent/` shows, in the order in which they are written: the
    /// file that outside readers poll comes last.
    pub(super) const SHOWN: [Document; 5] = [
        Document::Brief,
        Document::Plan,
        Document::Evidence,
        Document::Active,
        Document::State,
    ];

    pub(super) fn file(self) -> &'static str {
        match self {
            Document::Active => "active-slice.json",
            Document::Brief => "brief.json",
            Document::Counters => "counters.json",
            Document::Ledger => "ledger.json",
            Document::Mission => "mission.md",
            Document::Plan => "plan.json",
            Document::Profile => "profile.json",
            Document::State => "state.json",
            Document::Undone => "undone.json",
            Document::Evidence => "verification-evidence.json",
        }
    }

    /// Documents that a workflow may do without.
    pub(super) fn is_optional(self) -> bool {
        self == Document::Brief
    }

    /// The document's exact bytes; none for an optional one that is not there.
    pub(super) fn text(self, snapshot: &Snapshot) -> Result<Option<Vec<u8>>, StoreError> {
        match (self, &snapshot.brief) {
            (Document::Brief, None) => Ok(None),
            _ => self.some_text(snapshot).map(Some),
        }
    }

    fn some_text(self, snapshot: &Snapshot) -> Result<Vec<u8>, StoreError> {
        match self {
            Document::Active => pretty(&snapshot.active),
            Document::Brief => pretty(&snapshot.brief),
            Document::Counters => pretty(&snapshot.counters),
            Document::Ledger => pretty(&snapshot.ledger),
            Document::Mission => Ok(snapshot.mission.clone().into_bytes()),
            Document::Plan => pretty(&snapshot.plan),
            Document::Profile => pretty(&snapshot.profile),
            Document::State => pretty(&snapshot.state),
            Document::Undone => pretty(&snapshot.undone),
            Document::Evidence => pretty(&snapshot.evidence),
        }
    }

    /// Whether two snapshots hold the same in it; cheaper than comparing texts.
    pub(super) fn same(self, a: &Snapshot, b: &Snapshot) -> bool {
        match self {
            Document::Active => a.active == b.active,
            Document::Brief => a.brief == b.brief,
            Document::Counters => a.counters == b.counters,
            Document::Ledger => a.ledger == b.ledger,
            Document::Mission => a.mission == b.mission,
            Document::Plan => a.plan == b.plan,
            Document::Profile => a.profile == b.profile,
            Document::State => a.state == b.state,
            Document::Undone => a.undone == b.undone,
            Document::Evidence => a.evidence == b.evidence,
        }
    }
}

/// The append-only histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum History {
    /// `slice-history.jsonl`.
    Slice,
    /// `stop-check-history.jsonl`.
    Stop,
    /// `brief-history.jsonl`; there from its first line on.
    Brief,
}

impl History {
    /// All of them.
    pub const ALL: [History; 3] = [History::Slice, History::Stop, History::Brief];

    /// Something of each, in the order of [`History::ALL`].
    pub(super) fn each<T>(
        get: impl Fn(Self) -> Result<T, StoreError>,
    ) -> Result<[T; 3], StoreError> {
        Ok([get(Self::Slice)?, get(Self::Stop)?, get(Self::Brief)?])
    }

    /// The file's name, in `.agent/` and under `appended/`.
    pub fn file(self) -> &'static str {
        match self {
            History::Slice => "slice-history.jsonl",
            History::Stop => "stop-check-history.jsonl",
            History::Brief => "brief-history.jsonl",
        }
    }

    /// The lines that a transition adds to it: what its event imports as it stands, then
    /// the records it produces.
    pub(super) fn list_added(self, event: &Event, records: &Records) -> Result<Lines, StoreError> {
        let import = match event {
            Event::Bootstrapped { import, .. } => import.as_deref(),
            _ => None,
        };
        match self {
            History::Slice => lines(import.map(|import| &import.slice_history), &records.slice),
            History::Stop => lines(import.map(|import| &import.stop_history), &records.stop),
            History::Brief => plain_lines(&records.brief),
        }
    }
}

/// Records as they stand in a history.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) count: u64,
    pub(super) bytes: Arc<Vec<u8>>,
}

impl From<Vec<u8>> for Lines {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            count: bytes.iter().filter(|byte| **byte == b'\n').count() as u64,
            bytes: Arc::new(bytes),
        }
    }
}

fn lines<T: Record>(imported: Option<&Trail<T>>, records: &[T]) -> Result<Lines, StoreError> {
    let mut trail = imported.cloned().unwrap_or_default();
    for record in records {
        trail.push(record).writing("a record")?;
    }
    Ok(Lines {
        count: trail.len(),
        bytes: Arc::clone(trail.text()),
    })
}

/// Lines of a history that no layout brings with it.
fn plain_lines<T: Serialize>(records: &[T]) -> Result<Lines, StoreError> {
    let mut bytes = Vec::new();
    for record in records {
        serde_json::to_writer(&mut bytes, record).writing("a record")?;
        bytes.push(b'\n');
    }
    Ok(bytes.into())
}

/// Reads a history's lines back.
pub(super) fn records(appended: [Vec<u8>; 3]) -> Result<Records, StoreError> {
    let [slice, stop, brief] = appended;
    Ok(Records {
        slice: parse_lines::<SliceRecord>(&slice)?,
        stop: parse_lines::<StopRecord>(&stop)?,
        brief: parse_lines::<BriefRecord>(&brief)?,
    })
}

fn parse_lines<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, StoreError> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).reading("a record"))
        .collect()
}

/// How much of a history the log holds up to one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryDigest {
    /// Lines.
    pub records: u64,
    /// Bytes of the concatenation.
    pub bytes: u64,
    /// The chain: SHA-256 of the link before it (32 bytes) and what was
    /// appended; 64 zeros before anything was.
    pub sha256: String,
}

impl Default for HistoryDigest {
    fn default() -> Self {
        Self {
            records: 0,
            bytes: 0,
            sha256: "0".repeat(64),
        }
    }
}

impl HistoryDigest {
    /// Nothing was ever appended.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The next link. Nothing appended = the same link.
    pub(super) fn extend(&self, added: &Lines) -> Result<Self, StoreError> {
        if added.bytes.is_empty() {
            return Ok(self.clone());
        }
        let before = unhex(&self.sha256)
            .ok_or_else(|| StoreError::from_malformed("a history's digest is not a SHA-256"))?;
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(added.bytes.as_slice());
        Ok(Self {
            records: self.records + added.count,
            bytes: self.bytes + added.bytes.len() as u64,
            sha256: hex(&hash.finalize()),
        })
    }
}

/// `histories.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Histories {
    #[serde(rename = "slice-history")]
    pub(super) slice: HistoryDigest,
    #[serde(rename = "stop-check-history")]
    pub(super) stop: HistoryDigest,
    #[serde(
        rename = "brief-history",
        default,
        skip_serializing_if = "HistoryDigest::is_empty"
    )]
    pub(super) brief: HistoryDigest,
    #[serde(default, skip_serializing_if = "TrailDigest::is_empty")]
    pub(super) checkpoints: TrailDigest,
}

/// How much of the checkpoint trail the log holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrailDigest {
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// Id of the last line that was taken in.
    pub(super) last: Option<String>,
}

impl TrailDigest {
    fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// The next link. Nothing taken in = the same link.
    pub(super) fn extend(&self, added: &Lines, last: Option<&str>) -> Result<Self, StoreError> {
        if added.bytes.is_empty() {
            return Ok(self.clone());
        }
        let before = HistoryDigest {
            records: self.records,
            bytes: self.bytes,
            sha256: match self.is_empty() {
                true => HistoryDigest::default().sha256,
                false => self.sha256.clone(),
            },
        };
        let after = before.extend(added)?;
        Ok(Self {
            records: after.records,
            bytes: after.bytes,
            sha256: after.sha256,
            last: last.map(str::to_owned),
        })
    }
}

impl Histories {
    pub(super) fn of(&self, history: History) -> &HistoryDigest {
        match history {
            History::Slice => &self.slice,
            History::Stop => &self.stop,
            History::Brief => &self.brief,
        }
    }

    /// With what one commit added to each history, and what it took in of the trail: its
    /// lines, and the id of the last one.
    pub(super) fn extend(
        &self,
        added: &[Lines; 3],
        taken: &Lines,
        last: Option<&str>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            slice: self.slice.extend(&added[0])?,
            stop: self.stop.extend(&added[1])?,
            brief: self.brief.extend(&added[2])?,
            checkpoints: self.checkpoints.extend(taken, last)?,
        })
    }
}

/// `event.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventFile {
    pub(super) seq: u64,
    pub(super) actor: Actor,
    pub(super) rule: String,
    pub(super) subject: String,
    pub(super) lease_epoch: u64,
    pub(super) version: String,
    /// Names the process that wrote it: two that decide the same in the same second write two
    /// commits.
    pub(super) writer: String,
    pub(super) facts: Facts,
    #[serde(serialize_with = "without_imported_histories")]
    pub(super) event: Event,
}

/// Imported histories are what the commit appends, so `event.json` does not repeat
/// them; [`with_imported_histories`] puts them back.
fn without_imported_histories<S: serde::Serializer>(
    event: &Event,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut event = event.clone();
    if let Event::Bootstrapped {
        import: Some(import),
        ..
    } = &mut event
    {
        import.slice_history = Trail::default();
        import.stop_history = Trail::default();
    }
    event.serialize(serializer)
}

/// Completes an event that was read from `event.json`. `appended` gives what its commit
/// added to a history.
pub(super) fn with_imported_histories(
    event: &mut Event,
    appended: impl Fn(History) -> Result<Vec<u8>, StoreError>,
) -> Result<(), StoreError> {
    fn trail<T: Record>(history: History, text: Vec<u8>) -> Result<Trail<T>, StoreError> {
        Trail::read(text).map_err(|line| StoreError::NoRecord {
            file: format!("{APPENDED}/{}", history.file()),
            line,
        })
    }
    if let Event::Bootstrapped {
        import: Some(import),
        ..
    } = event
    {
        import.slice_history = trail(History::Slice, appended(History::Slice)?)?;
        import.stop_history = trail(History::Stop, appended(History::Stop)?)?;
    }
    Ok(())
}

/// Pretty-printed, keys in the order of the types, one final line feed.
pub(super) fn pretty<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    let mut bytes = serde_json::to_vec_pretty(value).writing("a document")?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads one JSON file of the log.
pub(super) fn parse<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).reading(name)
}

/// Assembles a snapshot from the files that `read` returns.
pub(super) fn snapshot(
    mut read: impl FnMut(&str) -> Result<Vec<u8>, StoreError>,
    is_there: impl Fn(&str) -> bool,
) -> Result<Snapshot, StoreError> {
    fn one<T: DeserializeOwned>(
        read: &mut impl FnMut(&str) -> Result<Vec<u8>, StoreError>,
        document: Document,
    ) -> Result<T, StoreError> {
        parse(document.file(), &read(document.file())?)
    }
    let mission =
        String::from_utf8(read(Document::Mission.file())?).reading(Document::Mission.file())?;
    let brief = match is_there(Document::Brief.file()) {
        true => Some(one(&mut read, Document::Brief)?),
        false => None,
    };
    Ok(Snapshot {
        brief,
        mission,
        profile: one(&mut read, Document::Profile)?,
        state: one(&mut read, Document::State)?,
        plan: one(&mut read, Document::Plan)?,
        active: one(&mut read, Document::Active)?,
        evidence: one(&mut read, Document::Evidence)?,
        ledger: one(&mut read, Document::Ledger)?,
        counters: one(&mut read, Document::Counters)?,
        undone: one(&mut read, Document::Undone)?,
    })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}
